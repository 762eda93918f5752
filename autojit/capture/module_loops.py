"""Loops among a module's own statements: bodies of functions that nobody calls, whose local names are the module's."""

from __future__ import annotations

import ast
import copy
import symtable
import sys
import types
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from autojit.capture.assigned import assigned_before
from autojit.capture.frames import asks_for_names
from autojit.capture.names import TEMPORARY, Flow, names
from autojit.capture.probes import MARK, TWINS
from autojit.capture.regions import leaving
from autojit.capture.source import FunctionSource
from autojit.ir.warned import asked

_NAME = "autojit_loop"
#: Modules that capture knows.
_KNOWN = ("numpy", "scipy", "math")
#: What is not the same in a function, or makes functions that read the loop's names later.
_REFUSED = (
    ast.Global, ast.Nonlocal, ast.AnnAssign, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.AsyncFor,
    ast.AsyncWith, ast.Await, ast.Yield, ast.YieldFrom,
)  # fmt: skip
#: Scopes that end before the statement does in which they stand.
_AT_ONCE = ("listcomp", "setcomp", "dictcomp")


class Loop(NamedTuple):
    """A loop of a module.

    Attributes:
        statement: It.
        parameters: The names it binds that certainly have a value before.
        usual: Those that have one usually (see `assigned_before`).
    """

    statement: ast.For | ast.While
    parameters: tuple[str, ...]
    usual: frozenset[str]


def loops_of(module: ast.Module, text: str, file: str) -> list[Loop]:
    """The outermost loops that mean the same as a function's body.

    Names that they only read are globals there, too. Names that they bind are local names, which no function of the
    module may know, and nobody who asks for all names.

    Args:
        module: The module's syntax.
        text: Its source.
        file: Its file's name.
    """
    if asks_for_names(module) or _asks_for_module(module):
        return []
    table, _ = asked(lambda: symtable.symtable(text, file, "exec"))  # it warns when the module itself is compiled
    shared = frozenset(_shared(table, True))
    bound, usual = (assigned_before(module.body, frozenset(), usually) for usually in (False, True))
    return list(_loops(module.body, bound, usual, shared))


def source_of_loop(loop: Loop, module: ast.Module, file: str, namespace: dict[str, Any]) -> FunctionSource:
    """A function with the loop as its body.

    Args:
        loop: The loop.
        module: The module around it.
        file: Its file's name.
        namespace: The module's names, as far as they are there.
    """
    place = loop.statement
    arguments = ast.arguments([], [ast.arg(name) for name in loop.parameters], None, [], [], None, [])
    node = ast.copy_location(ast.FunctionDef(_NAME, arguments, [place], [], None, None), place)
    for argument in arguments.args:
        ast.copy_location(argument, place)
    alone = ast.fix_missing_locations(ast.Module([node], []))
    whole, _ = asked(lambda: compile(alone, file, "exec", dont_inherit=True))  # as above
    (code,) = [const for const in whole.co_consts if isinstance(const, types.CodeType)]
    code = code.replace(co_name="<module>", co_qualname="<module>")
    return FunctionSource(types.FunctionType(code, namespace, "<module>"), node, "", (), _expected(module), True)


def in_module(statements: Sequence[ast.stmt], mark: str) -> list[ast.stmt]:
    """Statements with probes as they may stand in a module: names of ours are attributes of the constant `mark`.

    That has `put(name, value)`, which gives the value back. Other constants of ours begin with `mark`.
    """
    place = _InModule(mark)
    return [place.visit(copy.deepcopy(statement)) for statement in statements]


class _InModule(ast.NodeTransformer):
    def __init__(self, mark: str) -> None:
        self.mark = mark

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        if isinstance(node.value, str) and (node.value.startswith(MARK) or node.value == TWINS):
            return ast.copy_location(ast.Constant(self.mark + node.value), node)
        return node

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if not node.id.startswith(TEMPORARY):
            return node
        return ast.copy_location(ast.Attribute(self._mark(node), node.id, node.ctx), node)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> ast.AST:
        value = self.visit(node.value)
        if not node.target.id.startswith(TEMPORARY):
            node.value = value
            return node
        put = ast.copy_location(ast.Attribute(self._mark(node), "put", ast.Load()), node)
        name = ast.copy_location(ast.Constant(node.target.id), node)
        return ast.copy_location(ast.Call(put, [name, value], []), node)

    def _mark(self, node: ast.AST) -> ast.expr:
        return ast.copy_location(ast.Constant(self.mark), node)


_Bound = Mapping[int, frozenset[str]]


def _loops(block: Sequence[ast.stmt], bound: _Bound, usual: _Bound, shared: frozenset[str]) -> Iterator[Loop]:
    for statement in block:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        is_seen = id(statement) in bound and id(statement) in usual
        if is_seen and isinstance(statement, ast.For | ast.While) and _is_like_a_body(statement, usual, shared):
            binds, certain = names([statement]).binds, bound[id(statement)]
            yield Loop(statement, tuple(sorted(binds & certain)), frozenset(binds & usual[id(statement)] - certain))
            continue
        for part in ("body", "orelse", "finalbody"):
            yield from _loops(getattr(statement, part, ()), bound, usual, shared)
        for part in (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
            yield from _loops(part.body, bound, usual, shared)


def _is_like_a_body(loop: ast.For | ast.While, usual: _Bound, shared: frozenset[str]) -> bool:
    nodes = list(ast.walk(loop))
    if any(isinstance(node, _REFUSED) or (isinstance(node, ast.alias) and node.name == "*") for node in nodes):
        return False
    if any(isinstance(node, ast.Name) and node.id.startswith(TEMPORARY) for node in nodes):
        return False
    binds = frozenset(names([loop]).binds)
    if binds & shared or any(name.startswith("__") for name in binds) or any(True for _ in leaving(loop)):
        return False
    # A name that a function does not know raises there; in a module it may be a builtin.
    return Flow([loop], binds).entry([loop], frozenset()) & binds <= usual[id(loop)]


def _shared(table: symtable.SymbolTable, is_outermost: bool) -> Iterator[str]:
    """The module's names that its functions know.

    A comprehension among the module's statements ends before the statement does; one in a function is the function's.
    """
    for child in table.get_children():
        at_once = is_outermost and child.get_name() in _AT_ONCE and ".0" in child.get_identifiers()
        if not at_once:
            yield from (one.get_name() for one in child.get_symbols() if one.is_global() or not one.is_local())
        yield from _shared(child, at_once)


def _asks_for_module(module: ast.Module) -> bool:
    """Whether a program may reach its module's names other than by their names."""
    for node in ast.walk(module):
        if isinstance(node, ast.Name) and node.id in ("globals", "__builtins__", "__import__"):
            return True
        if isinstance(node, ast.Attribute) and node.attr in ("modules", "import_module", "__globals__"):
            return True
        if isinstance(node, ast.alias) and node.name in ("__main__", "modules", "import_module"):
            return True
    return False


def _expected(module: ast.Module) -> dict[str, object]:
    """What `import` will bind, of what capture knows."""
    found: dict[str, object] = {}
    for node in ast.walk(module):
        if isinstance(node, ast.Import):
            for alias in node.names:
                root = alias.name.partition(".")[0]
                if root in _KNOWN:
                    name = alias.name if alias.asname else root
                    found[alias.asname or root] = sys.modules.get(name) or types.ModuleType(name)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] in _KNOWN and not node.level:
            values = vars(sys.modules[node.module]) if node.module in sys.modules else {}
            for alias in node.names:
                if alias.name in values:
                    found[alias.asname or alias.name] = values[alias.name]
    return found
