"""A module's code in which each definition with a loop arms the function that it makes; a script's own loops, too."""

from __future__ import annotations

import ast
import contextlib
import functools
import types
import warnings
from collections.abc import Callable
from importlib.util import decode_source
from typing import Any

from autojit.config import Config
from autojit.errors import AutojitWarning
from autojit.ir.syntax import has_loop
from autojit.launch.module_loops import arm_loops
from autojit.logs import log
from autojit.runtime.twins import FILES

_MARK, _DECORATED = "\0autojit arm", "\0autojit arm decorated"  # what nobody has in a program
#: The decorators of which everybody knows what they do.
_PLAIN = frozenset(("classmethod", "property", "staticmethod"))


def is_plain(decorator: ast.expr) -> bool:
    """Whether everybody knows what a decorator does."""
    return isinstance(decorator, ast.Name) and decorator.id in _PLAIN


def script_code_of(
    source: bytes | str, file: str, arm: Callable[[Any], Any], namespace: dict[str, Any], config: Config
) -> types.CodeType:
    """`code_of` a module that runs once, in `namespace`: its own loops have probes."""
    FILES.add(file)
    try:
        text = source if isinstance(source, str) else decode_source(source)
    except UnicodeDecodeError as error:  # which the compiler accepts in comments, and Python does not in scripts
        is_file = namespace.get("__spec__") is None  # not what `-m` finds, or what lies in a folder or an archive
        if error.encoding != "utf-8" or not is_file:  # another one is declared, of which the compiler tells
            return code_of(source, file, arm)
        raise _not_utf8(error, file) from None
    except SyntaxError:  # an encoding that nobody knows
        return code_of(source, file, arm)
    code, told = None, []
    # CPython takes 20 blocks inside each other, and probes need some; expressions may be deeper than recursion goes.
    try:
        with contextlib.suppress(SyntaxError, RecursionError), warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            tree: Any = compile(source, file, "exec", ast.PyCF_ONLY_AST, dont_inherit=True)
            placed, constants = arm_loops(tree, text, file, namespace, config)
            code = compile(_Arm().visit(placed), file, "exec", dont_inherit=True)
    except (TypeError, ValueError) as error:  # a mistake of ours in the tree is no reason to end the program
        log.debug("the loops of %s stay as they are", file, exc_info=error)
    if code is None:
        return code_of(source, file, arm)
    for one in told:
        if issubclass(one.category, AutojitWarning):
            warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)
    if told:  # the compiler warns of the program's text once, whose loops have probes in copies
        compile(source, file, "exec", dont_inherit=True)
    return _with(code, {**_marks(arm), **constants})


def _not_utf8(error: UnicodeDecodeError, file: str) -> SyntaxError:
    """What Python raises for a script that is not in UTF-8 and declares nothing else."""
    byte, line = error.object[error.start], error.object.count(b"\n", 0, error.start) + 1
    return SyntaxError(
        f"Non-UTF-8 code starting with '\\x{byte:02x}' in file {file} on line {line}, but no encoding declared; "
        "see https://peps.python.org/pep-0263/ for details"
    )


def code_of(source: bytes | str, file: str, arm: Callable[[Any], Any]) -> types.CodeType:
    """Compile a module; lines and names are the file's.

    Args:
        source: Its text.
        file: Its file's name.
        arm: Arms what a definition has made, and gives it back. It is a constant of the code, so that the module's
            names are the user's alone.

    Raises:
        SyntaxError: The text is not Python.
    """
    FILES.add(file)
    # What the compiler can take may be deeper than trees and those who walk them: nothing is armed, or a part.
    try:
        tree: Any = compile(source, file, "exec", ast.PyCF_ONLY_AST, dont_inherit=True)
        with contextlib.suppress(RecursionError):
            tree = _Arm().visit(tree)
        code = compile(tree, file, "exec", dont_inherit=True)
    except RecursionError:
        return compile(source, file, "exec", dont_inherit=True)
    return _with(code, _marks(arm))


def _marks(arm: Callable[..., Any]) -> dict[str, Any]:
    return {_MARK: arm, _DECORATED: functools.partial(arm, is_decorated=True)}


def _with(code: types.CodeType, objects: dict[str, Any]) -> types.CodeType:
    """Put objects into the place of constants."""

    def resolve(const: object) -> object:
        if isinstance(const, types.CodeType):
            return _with(const, objects)
        return objects.get(const, const) if isinstance(const, str) else const

    return code.replace(co_consts=tuple(map(resolve, code.co_consts)))


class Definitions(ast.NodeTransformer):
    """Comes by the functions of a module and of its classes, not by those inside of functions and coroutines."""

    def generic_visit(self, node: ast.AST) -> ast.AST:
        """As ever, but that no definition stands in an expression, which may be deeper than recursion goes."""
        return node if isinstance(node, ast.expr) else super().generic_visit(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AsyncFunctionDef:
        return node


class _Arm(Definitions):
    """Decorates the functions with loops, outermost: what other decorators have made is seen."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        if has_loop(node.body):
            place = node.decorator_list[0] if node.decorator_list else node
            mark = ast.Constant(_MARK if all(map(is_plain, node.decorator_list)) else _DECORATED)
            node.decorator_list.insert(0, ast.copy_location(mark, place))
        return node
