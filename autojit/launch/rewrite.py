"""A module's code in which each definition arms the function that it makes."""

from __future__ import annotations

import ast
import types
from collections.abc import Callable
from typing import Any

#: The names of what arms, in the module; no user's name is like them.
ARM, ARM_LOOPS = "__autojit_arm__", "__autojit_arm_loops__"


def code_of(source: bytes | str, file: str) -> types.CodeType:
    """Compile a module. Its namespace must know `ARM` and `ARM_LOOPS`; lines and names are the file's.

    Args:
        source: Its text.
        file: Its file's name.

    Raises:
        SyntaxError: The text is not Python.
    """
    tree = compile(source, file, "exec", ast.PyCF_ONLY_AST, dont_inherit=True)
    return compile(_Arm().visit(tree), file, "exec", dont_inherit=True)


class _Arm(ast.NodeTransformer):
    """Decorates the functions of a module and of its classes, outermost: what other decorators have made is seen."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        name = ARM_LOOPS if any(map(_is_loop, _own(node))) else ARM
        place = node.decorator_list[0] if node.decorator_list else node
        node.decorator_list.insert(0, ast.copy_location(ast.Name(name, ast.Load()), place))
        return node

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AsyncFunctionDef:
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.Lambda:
        return node


def _own(node: ast.AST) -> list[ast.AST]:
    """The nodes of a function, without those of functions and classes inside it."""
    found = [node]
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            found += _own(child)
    return found


def _is_loop(node: ast.AST) -> bool:
    return isinstance(node, ast.For | ast.While)


def names(arm: Callable[[Any, bool], Any]) -> dict[str, Any]:
    """What a rewritten module has to know.

    Args:
        arm: `arm(value, loops)` arms a function and gives the value back.
    """
    return {ARM: lambda value: arm(value, False), ARM_LOOPS: lambda value: arm(value, True)}
