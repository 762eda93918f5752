"""Private names: in a class `C`, CPython reads `__name` as `_C__name`."""

from __future__ import annotations

import ast
import copy
from typing import Any

from autojit.errors import CannotCapture
from autojit.ir.syntax import walk


def mangled(name: str, enclosing_class: str) -> str:
    """The name that CPython gives a name in a class; in no class, "", it is the name itself."""
    owner = enclosing_class.lstrip("_")
    is_private = name.startswith("__") and not name.endswith("__")
    return f"_{owner}{name}" if is_private and owner else name


def with_mangled_names(node: Any, enclosing_class: str) -> Any:
    """A definition in a class with the names that CPython gives its names and attributes.

    Raises:
        CannotCapture: It defines or imports something with a private name, which would be told to have another.
    """
    if not enclosing_class or not any(
        mangled(name, enclosing_class) != name for part in walk(node) for name in _names(part)
    ):
        return node
    return ast.NodeTransformer.generic_visit(_Mangler(enclosing_class), copy.deepcopy(node))  # its own name stays


def _names(node: Any) -> list[str]:
    """The names of a node."""
    found = [getattr(node, field, None) for field in ("id", "attr", "rest", "arg", "name", "asname")]
    return [name for name in [*found, *getattr(node, "names", ())] if isinstance(name, str)]


class _Mangler(ast.NodeTransformer):
    """Gives names and attributes the names that CPython gives them. It leaves keywords of calls and patterns alone."""

    def __init__(self, enclosing_class: str) -> None:
        self.enclosing_class = enclosing_class

    def generic_visit(self, node: Any) -> Any:
        for field in ("id", "attr", "rest"):
            self._mangle(node, field)
        if isinstance(node, ast.arg):
            self._mangle(node, "arg")
        if isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar):
            self._mangle(node, "name")
        if isinstance(node, ast.Global | ast.Nonlocal):
            node.names = [mangled(name, self.enclosing_class) for name in node.names]
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            self._refuse(node.name)
        if isinstance(node, ast.alias):
            self._refuse(node.asname or node.name)
        return super().generic_visit(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.ClassDef:
        self._refuse(node.name)
        node.bases = [self.visit(base) for base in node.bases]
        node.keywords = [self.visit(keyword) for keyword in node.keywords]
        node.decorator_list = [self.visit(decorator) for decorator in node.decorator_list]
        inner = _Mangler(node.name)
        node.body = [inner.visit(statement) for statement in node.body]
        return node

    def _mangle(self, node: Any, field: str) -> None:
        name = getattr(node, field, None)
        if isinstance(name, str):
            setattr(node, field, mangled(name, self.enclosing_class))

    def _refuse(self, name: str) -> None:
        if mangled(name, self.enclosing_class) != name:
            raise CannotCapture("no-source", f"`{name}`, which it defines, is a private name of its class")
