"""A region as a function of its own that Python runs: what a plan is compared with."""

from __future__ import annotations

import ast
import builtins
import copy
import types
from collections.abc import Callable
from typing import Any

from autojit.capture.regions import BREAK, CONTINUE, END, RETURN, Region, RegionTree, without_callees
from autojit.capture.source import compile_body

_MARK = "autojit reference"


class _Namespace:
    """Stands in the code for `locals`, which the user may have given another meaning."""

    locals = staticmethod(builtins.locals)


def reference(
    tree: RegionTree, region: Region, function: types.FunctionType
) -> Callable[..., tuple[int, Any, dict[str, Any]]] | None:
    """The statements of a region as a function, or `None` where they cannot stand alone.

    Args:
        tree: The function's regions.
        region: The region.
        function: The user's function; functions that share a definition differ in their closures.

    Returns:
        Takes the values of the region's live-ins, in order; returns the exit code, the returned value, and the local
        names with what they are bound to.
    """
    source = tree.source
    code = function.__code__
    free = dict(zip(code.co_freevars, function.__closure__ or (), strict=True))
    parameters = [name for name in region.live_in if name not in free]
    declared = [node for node in ast.walk(source.node) if isinstance(node, ast.Global | ast.Nonlocal)]
    body = [_Exits().visit(copy.deepcopy(statement)) for statement in without_callees(region.statements)]
    first = region.statements[0]
    arguments = ast.arguments([], [ast.arg(name) for name in parameters], None, [], [], None, [])
    name = "autojit_lambda" if isinstance(source.node, ast.Lambda) else source.node.name
    made = ast.FunctionDef(name, arguments, [*copy.deepcopy(declared), *body, _leave(END, first)], [], None, None)
    for node in ast.walk(made):
        if "lineno" in node._attributes and not hasattr(node, "lineno"):
            ast.copy_location(node, first)
    ast.fix_missing_locations(made)
    try:
        compiled = compile_body(made, code.replace(co_name=name), source.enclosing_class, source.imports)
    except SyntaxError:  # a name is a parameter here and declared to be somebody else's
        return None
    if compiled is None or not set(compiled.co_freevars) <= set(free):
        return None
    constants = tuple(_Namespace if constant == _MARK else constant for constant in compiled.co_consts)
    compiled = compiled.replace(co_consts=constants)
    closure = tuple(free[name] for name in compiled.co_freevars)
    alone = types.FunctionType(compiled, function.__globals__, name, None, closure)
    used = [number for number, name in enumerate(region.live_in) if name not in free]

    def run(*values: Any) -> tuple[int, Any, dict[str, Any]]:
        return alone(*[values[number] for number in used])

    return run


class _Exits(ast.NodeTransformer):
    """Every way out of the region becomes a `return` with its exit code."""

    def __init__(self) -> None:
        self._loops = 0

    def visit_Return(self, node: ast.Return) -> ast.stmt:
        return _leave(RETURN, node, node.value)

    def visit_Break(self, node: ast.Break) -> ast.stmt:
        return node if self._loops else _leave(BREAK, node)

    def visit_Continue(self, node: ast.Continue) -> ast.stmt:
        return node if self._loops else _leave(CONTINUE, node)

    def visit_For(self, node: ast.For | ast.While) -> ast.stmt:
        self._loops += 1
        node.body = [self.visit(statement) for statement in node.body]
        self._loops -= 1
        node.orelse = [self.visit(statement) for statement in node.orelse]
        return node

    visit_While = visit_For

    def visit_Global(self, node: ast.Global | ast.Nonlocal) -> ast.stmt:
        return ast.copy_location(ast.Pass(), node)  # the function declares its names first

    visit_Nonlocal = visit_Global

    def _skip(self, node: ast.AST) -> ast.AST:
        return node

    visit_FunctionDef = visit_AsyncFunctionDef = visit_ClassDef = visit_Lambda = _skip


def _leave(code: int, where: ast.stmt, value: ast.expr | None = None) -> ast.stmt:
    """`return (code, value, locals())`."""
    names = ast.Call(ast.Attribute(ast.Constant(_MARK), "locals", ast.Load()), [], [])
    parts = [ast.Constant(code), value or ast.Constant(None), names]
    return ast.copy_location(ast.Return(ast.Tuple(parts, ast.Load())), where)
