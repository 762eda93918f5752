"""A function's syntax tree, checked to be the one its bytecode came from."""

from __future__ import annotations

import ast
import linecache
import types
from collections import ChainMap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from autojit.capture.hidden import Hidden
from autojit.capture.private import with_mangled_names
from autojit.errors import CannotCapture, SourceLine
from autojit.ir.syntax import LEAVES, parse, parts_of, statements_of
from autojit.ir.warned import unheard
from autojit.ops.trust import names_of

_FACTORY = "__autojit_factory__"
#: The compiler flags that `from __future__` statements set in a code object.
_POSTPONED = 0x1000000
_FUTURE = _POSTPONED | 0x800000 | 0x400000 | 0x200000 | 0x100000 | 0x80000 | 0x40000 | 0x20000

#: A definition, the name of its class, and the names that its module imports, as in `FunctionSource`.
Syntax = tuple[ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, str, tuple[str, ...]]

#: Nodes that hold no definition.
_SMALL = LEAVES | {ast.Name}
#: Definitions with the names of the classes they stand in, by name and first line.
_Definitions = dict[tuple[str, int], list[tuple[Any, str]]]
#: What was read, by code and file: equal code objects may come from several files.
_syntaxes: dict[tuple[types.CodeType | str | bytes, ...], Syntax | CannotCapture] = {}
_modules: dict[str, _Module] = {}
#: How many are known at most: programs may make functions of ever new text.
_MOST = 1024


class FunctionSource:
    """A function with its syntax tree.

    Attributes:
        function: The user's function.
        node: Its definition, without decorators, defaults and annotations, and with the names that CPython gives
            private names; line numbers are the file's.
        enclosing_class: The name of the class the definition stands in, for private names; or "".
        imports: The names that the module imports at its top: CPython compiles calls on them differently.
        expected: Globals that the module will have, as far as its text tells, where it has not run yet.
        is_in_module: Whether the local names are those of the module, which runs the body as its own.
    """

    def __init__(
        self,
        function: Any,
        node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda,
        enclosing_class: str,
        imports: tuple[str, ...],
        expected: Mapping[str, object] | None = None,
        is_in_module: bool = False,
    ) -> None:
        self.function = function
        self.node = node
        self.enclosing_class = enclosing_class
        self.imports = imports
        self.expected = expected or {}
        self.is_in_module = is_in_module

    @property
    def namespace(self) -> Mapping[str, object]:
        """The function's globals, for guesses."""
        return ChainMap(self.function.__globals__, self.expected)  # type: ignore[arg-type] -- it is only read

    @property
    def file(self) -> str:
        return self.function.__code__.co_filename

    @property
    def name(self) -> str:
        return self.function.__qualname__

    @property
    def postponed(self) -> bool:
        """Whether the annotations of nested functions are not evaluated."""
        return bool(self.function.__code__.co_flags & _POSTPONED)

    def is_own(self, module: types.ModuleType, name: str) -> bool:
        """Whether an attribute of a module is a local name, of whose value a region may be ahead."""
        is_the_module = self.is_own_dict(names_of(module))
        code = self.function.__code__
        return is_the_module and (name == "__dict__" or name in (*code.co_varnames, *code.co_cellvars))

    def is_own_dict(self, namespace: object) -> bool:
        """Whether a dict holds the local names."""
        return self.is_in_module and namespace is self.function.__globals__

    def line(self, node: ast.AST) -> SourceLine:
        """Where a part of the function stands."""
        return source_line(self.file, getattr(node, "lineno", 1), self.name)


def original_of(function: object) -> types.FunctionType | None:
    """The user's function behind a decorated one, or `None`.

    `functools.wraps` copies attributes: a wrapper around a decorated function has the same, and is none. Nor is a
    function any more that has been given other code.
    """
    original = getattr(getattr(function, "__autojit_original__", None), "value", None)
    if original is None or type(function) is not types.FunctionType or not has_own_code(function):
        return None
    is_its = getattr(function, "__wrapped__", None) is original
    return original if is_its or getattr(original, "__autojit_in_place__", None) is function else None


def has_own_code(function: types.FunctionType) -> bool:
    """Whether a function has the code that autojit has given it."""
    hidden = vars(function).get("__autojit_code__")
    return hidden is not None and function.__code__ is hidden.value


def put_code(function: types.FunctionType, code: types.CodeType) -> None:
    """Give a function code of autojit's, or its own back, unless the user has given it other code meanwhile."""
    if "__autojit_code__" not in vars(function) or has_own_code(function):
        function.__autojit_code__ = Hidden(code)  # type: ignore[attr-defined] -- functions take attributes
        function.__code__ = code


def source_line(file: str, line: int, function: str, caller: SourceLine | None = None) -> SourceLine:
    """A place in a file, with the text of the line, and the line that called the function."""
    return SourceLine(file, line, function, linecache.getline(file, line).strip(), caller)


def load(function: types.FunctionType) -> FunctionSource:
    """Find and check the source of a function.

    Raises:
        CannotCapture: There is no source, or it is not the one that the function was compiled from.
    """
    return FunctionSource(function, *syntax_of(function))


def source_of(function: types.FunctionType) -> FunctionSource:
    """The checked source of a function. The syntax is read once for equal code; the rest is the function's own.

    Raises:
        CannotCapture: There is none.
    """
    code = function.__code__
    key = code, code.co_filename, code.co_linetable, code.co_exceptiontable
    known = _syntaxes.get(key)
    if known is None:
        try:
            known = syntax_of(function)
        except CannotCapture as error:
            known = CannotCapture(error.id, error.detail)  # without the frames of this call
        if len(_syntaxes) >= _MOST:
            _syntaxes.clear()
        _syntaxes[key] = known
    if isinstance(known, CannotCapture):
        raise CannotCapture(known.id, known.detail)
    return FunctionSource(function, *known)


def syntax_of(function: types.FunctionType) -> Syntax:
    """What `load` finds that is the same for all functions with this code from this file.

    A file that was edited, and its module loaded again, is read again.

    Raises:
        CannotCapture: As `load`.
    """
    try:
        return _found(function)
    except CannotCapture:
        file = function.__code__.co_filename
        before = linecache.cache.get(file)
        linecache.checkcache(file)
        if linecache.cache.get(file) is before:
            raise
        return _found(function)


def _found(function: types.FunctionType) -> Syntax:
    """As `syntax_of`, in the text that was read last."""
    code = function.__code__
    module = _module(code.co_filename, function.__globals__)
    known = module.imports
    found_there = module.found(code.co_name, code.co_firstlineno)
    candidates = [(with_mangled_names(_bare(node), within), within) for node, within in found_there]
    # A notebook compiles the statements of a cell one by one, so that a definition does not know the cell's imports.
    for imports in (known, ()) if known else ((),):
        for definition, within in candidates:
            found = compile_body(definition, code, within, imports)
            if found is not None and same_code(found, code):
                return definition, within, imports
    raise CannotCapture("no-source", f"the source of `{function.__qualname__}` does not match its bytecode")


class _Module:
    """A file that was parsed.

    Args:
        lines: Its text.
        tree: Its syntax.

    Attributes:
        lines: As above.
        imports: The names that it imports outside of functions and classes.
    """

    def __init__(self, lines: list[str], tree: ast.Module) -> None:
        self.lines = lines
        self.imports = tuple(sorted(set(_imports(tree))))
        self._tree = tree
        self._functions = _by_place(_functions(tree, ""))
        self._lambdas: _Definitions | None = None

    def found(self, name: str, line: int) -> Sequence[tuple[Any, str]]:
        """The functions of a name at a line, with the names of the classes that they stand in."""
        if name != "<lambda>":
            return self._functions.get((name, line), ())
        if self._lambdas is None:  # these stand in expressions, of which there are many
            self._lambdas = _by_place(_lambdas(self._tree, ""))
        return self._lambdas.get((name, line), ())


def _module(file: str, namespace: dict[str, object]) -> _Module:
    lines = linecache.getlines(file, namespace)
    if not lines:
        raise CannotCapture("no-source", f"`{file}` cannot be read")
    known = _modules.get(file)
    if known is not None and known.lines == lines:
        return known
    try:
        tree = parse("".join(lines))
    except SyntaxError as error:
        raise CannotCapture("no-source", f"`{file}` cannot be parsed: {error.msg}") from None
    if len(_modules) >= _MOST:
        _modules.clear()
    made = _modules[file] = _Module(lines, tree)
    return made


def _imports(tree: ast.AST) -> list[str]:
    found = []
    for child in ast.iter_child_nodes(tree):
        if isinstance(child, ast.Import | ast.ImportFrom):
            names = [alias.asname or alias.name.split(".")[0] for alias in child.names]
            found += [name for name in names if name != "*"]
        elif not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.expr):
            found += _imports(child)
    return found


def _by_place(definitions: Iterable[tuple[tuple[str, int], Any, str]]) -> _Definitions:
    found: _Definitions = {}
    for key, node, enclosing_class in definitions:
        found.setdefault(key, []).append((node, enclosing_class))
    return found


def _functions(tree: ast.AST, enclosing_class: str) -> Iterator[tuple[tuple[str, int], Any, str]]:
    """All functions but lambdas, outer ones before those in them."""
    for child in tree.body if isinstance(tree, ast.Module) else statements_of(tree):
        inner = enclosing_class
        if isinstance(child, ast.ClassDef):
            inner = child.name
        elif isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            first = min([child.lineno, *(decorator.lineno for decorator in child.decorator_list)])
            yield (child.name, first), child, enclosing_class
        yield from _functions(child, inner)


def _lambdas(tree: ast.AST, enclosing_class: str) -> Iterator[tuple[tuple[str, int], Any, str]]:
    """All lambdas, outer ones before those in them."""
    for child in parts_of(tree):
        if type(child) in _SMALL:
            continue
        if isinstance(child, ast.Lambda):
            yield ("<lambda>", child.lineno), child, enclosing_class
        yield from _lambdas(child, child.name if isinstance(child, ast.ClassDef) else enclosing_class)


def _bare(
    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda,
) -> ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda:
    """The definition without what the enclosing scope evaluates."""
    old = node.args

    def bare(argument: Any) -> Any:
        return argument and ast.copy_location(ast.arg(argument.arg), argument)

    arguments = ast.arguments(
        [bare(a) for a in old.posonlyargs],
        [bare(a) for a in old.args],
        bare(old.vararg),
        [bare(a) for a in old.kwonlyargs],
        [None] * len(old.kwonlyargs),
        bare(old.kwarg),
        [],
    )
    if isinstance(node, ast.Lambda):
        return ast.copy_location(ast.Lambda(arguments, node.body), node)
    kind = type(node)
    return ast.copy_location(kind(node.name, arguments, node.body, [], None, None), node)


def compile_body(
    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda,
    like: types.CodeType,
    enclosing_class: str,
    imports: tuple[str, ...],
) -> types.CodeType | None:
    """Compile a definition in a scope with the free variables of `like`; the code object of the function.

    All of its nodes have places.
    """
    statement: ast.stmt = ast.copy_location(ast.Expr(node), node) if isinstance(node, ast.Lambda) else node
    body: list[ast.stmt] = [statement]
    if enclosing_class:
        body = [ast.copy_location(ast.ClassDef(enclosing_class, [], [], body, []), node)]
    outermost = enclosing_class or ("" if isinstance(node, ast.Lambda) else node.name)
    if outermost and outermost not in like.co_freevars:
        # A function of a module that calls itself, or a method that names its class, looks it up in the module.
        body.insert(0, ast.copy_location(ast.Global([outermost]), node))
    free = [ast.copy_location(ast.arg(name), node) for name in like.co_freevars if name != "__class__"]
    arguments = ast.arguments([], free, None, [], [], None, [])
    factory = ast.copy_location(ast.FunctionDef(_FACTORY, arguments, body, [], None, None), node)
    top = [ast.copy_location(ast.Import([ast.copy_location(ast.alias(name), node)]), node) for name in imports]
    module = ast.Module([*top, factory], [])
    flags = like.co_flags & _FUTURE
    # It has warned when the user's module was compiled.
    code = unheard(lambda: compile(module, like.co_filename, "exec", flags, dont_inherit=True))
    for name in (_FACTORY, enclosing_class, like.co_name):
        if name:
            inner = [const for const in code.co_consts if isinstance(const, types.CodeType) and const.co_name == name]
            if not inner:
                return None
            code = inner[0]
    return code


#: The flags of code with `*args` and `**kwargs`.
_STARS = 0x04 | 0x08


def same_code(one: types.CodeType, other: types.CodeType) -> bool:
    """Whether two code objects do the same at the same lines."""
    if (
        one.co_code != other.co_code
        or one.co_exceptiontable != other.co_exceptiontable
        or _lines_of(one) != _lines_of(other)
        or (one.co_argcount, one.co_posonlyargcount, one.co_kwonlyargcount, one.co_flags & _STARS)
        != (other.co_argcount, other.co_posonlyargcount, other.co_kwonlyargcount, other.co_flags & _STARS)
        or one.co_names != other.co_names
        or one.co_varnames != other.co_varnames
        or one.co_freevars != other.co_freevars
        or one.co_cellvars != other.co_cellvars
        or len(one.co_consts) != len(other.co_consts)
    ):
        return False
    return all(map(_same_constant, one.co_consts, other.co_consts))


def _lines_of(code: types.CodeType) -> list[tuple[int, int]]:
    """The lines of a function's body, and where each begins; decorators move the first line of the whole."""
    lines = [(start, line) for start, _, line in code.co_lines() if line not in (None, code.co_firstlineno)]
    return [one for one, before in zip(lines, [(0, 0), *lines], strict=False) if one[1] != before[1]]


def _same_constant(one: object, other: object) -> bool:
    if isinstance(one, types.CodeType) and isinstance(other, types.CodeType):
        return same_code(one, other)
    if type(one) is not type(other):
        return False
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(_same_constant, one, other))  # type: ignore[arg-type] -- both are
    return text_of_constant(one) == text_of_constant(other)


def text_of_constant(constant: object) -> str:
    """A constant's text, in each process the same: sets have their own order, and Python prints no large integers."""
    if isinstance(constant, tuple | frozenset):
        items = [*map(text_of_constant, constant)]
        return f"{type(constant).__name__}{sorted(items) if isinstance(constant, frozenset) else items}"
    return hex(constant) if type(constant) is int else repr(constant)
