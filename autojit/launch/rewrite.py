"""A module's code in which each definition with a loop in it arms the function that it makes."""

from __future__ import annotations

import ast
import types
from collections.abc import Callable, Iterator
from typing import Any

_MARK = "\0autojit arm"  # what nobody has in a program


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
    tree = compile(source, file, "exec", ast.PyCF_ONLY_AST, dont_inherit=True)
    return _with(compile(_Arm().visit(tree), file, "exec", dont_inherit=True), arm)


def _with(code: types.CodeType, arm: Callable[[Any], Any]) -> types.CodeType:
    def resolve(const: object) -> object:
        if isinstance(const, types.CodeType):
            return _with(const, arm)
        return arm if isinstance(const, str) and const == _MARK else const  # `python -b` warns of bytes

    return code.replace(co_consts=tuple(map(resolve, code.co_consts)))


class Definitions(ast.NodeTransformer):
    """Comes by the functions of a module and of its classes, not by those inside of functions and coroutines."""

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AsyncFunctionDef:
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.Lambda:
        return node


class _Arm(Definitions):
    """Decorates the functions with loops, outermost: what other decorators have made is seen."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        if any(isinstance(inner, ast.For | ast.While) for inner in _own(node)):
            place = node.decorator_list[0] if node.decorator_list else node
            node.decorator_list.insert(0, ast.copy_location(ast.Constant(_MARK), place))
        return node


def _own(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a function, without those of functions and classes inside it."""
    yield node
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            yield from _own(child)
