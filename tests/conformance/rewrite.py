"""Import NumPy's test modules with their calls of NumPy functions handed to the driver."""

from __future__ import annotations

import ast
import builtins
import importlib.abc
import importlib.machinery
import sys
import types
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

NUMPY = Path(np.__file__).resolve().parent

#: What the calls are handed to, a builtin while the tests run.
DRIVE = "__autojit_drive__"


def is_test(name: str) -> bool:
    """Whether a module is a test by its name; some of NumPy's stand in no package."""
    return name.split(".")[-1].startswith("test_")


class Finder(importlib.abc.MetaPathFinder):
    """Finds NumPy's test modules, to be rewritten."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if not is_test(fullname):
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, path, target)
        loader = None if spec is None else spec.loader
        if isinstance(loader, importlib.machinery.SourceFileLoader) and NUMPY in Path(loader.path).parents:
            spec.loader = Loader(loader.name, loader.path)
        return spec


class Loader(importlib.machinery.SourceFileLoader):
    """Loads a module whose calls are rewritten, without the bytecode of the original."""

    def get_code(self, fullname: str) -> types.CodeType:
        path = self.get_filename(fullname)
        return compile(rewritten(self.get_data(path).decode()), path, "exec", dont_inherit=True)


def rewritten(source: str) -> ast.Module:
    """A module in which `np.f(x)` is `drive(np.f, x)`; so are calls of names that come from NumPy."""
    tree = ast.parse(source)
    return ast.fix_missing_locations(_Calls(_from_numpy(tree)).visit(tree))


def _from_numpy(tree: ast.Module) -> frozenset[str]:
    """The names at the top of a module that come from NumPy."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {one.asname or one.name.split(".")[0] for one in node.names if one.name.split(".")[0] == "numpy"}
        elif isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "numpy":
            found |= {one.asname or one.name for one in node.names}
    return frozenset(found)


class _Calls(ast.NodeTransformer):
    def __init__(self, names: frozenset[str]) -> None:
        self._names = names

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        root = node.func
        while isinstance(root, ast.Attribute):
            root = root.value
        if not isinstance(root, ast.Name) or root.id not in self._names:
            return node
        drive = ast.copy_location(ast.Name(DRIVE, ast.Load()), node.func)
        return ast.copy_location(ast.Call(drive, [node.func, *node.args], node.keywords), node)


def install(drive: Callable[..., Any]) -> None:
    """Rewrite the test modules that are imported from now on."""
    setattr(builtins, DRIVE, drive)
    sys.meta_path.insert(0, Finder())
