"""Regions for the call that may be the only one: split before anybody knows whether the function can be captured.

A region is captured only where it begins, and the code of a call that runs stays as it is. A call that spends hours in
a loop gains only if there are probes in the loop from the start.
"""

from __future__ import annotations

import ast
import builtins
import types
from collections.abc import Iterator
from typing import Any

import numpy as np

from autojit.capture.regions import Native, Region, RegionTree
from autojit.capture.rest import add_rest
from autojit.ir.syntax import SCOPES, walk
from autojit.ops.trust import home_of

#: Modules that capture knows.
_KNOWN = ("numpy", "scipy", "math")
#: Builtins that act on the world.
_ACTING = frozenset(["print", "input", "open", "next", "setattr", "delattr", "breakpoint", "__import__"])
_LOOPS = (ast.For, ast.While, ast.AsyncFor)
_BLOCKS = (*_LOOPS, ast.If, ast.With, ast.AsyncWith, ast.Try, ast.TryStar, ast.Match)
_ACTS = (ast.With, ast.AsyncWith, ast.AsyncFor, ast.Delete, ast.Yield, ast.YieldFrom, ast.Await)


def split_early(tree: RegionTree) -> None:
    """Give the bodies of loops, and what lies between statements in them that capture is not likely to take, regions.

    These are the `early` parts of the regions around them, which are still asked first. Which statements are cut is a
    guess from the text: a wrong one costs an unneeded probe, or the speed of a first call.
    """
    _split(tree, tree.root)


def early_regions(region: Region) -> Iterator[Region]:
    """The regions that `split_early` has made in a region."""
    for part in region.early or ():
        for inner in [part] if isinstance(part, Region) else part.blocks.values():
            yield inner
            yield from early_regions(inner)


def loops_with_rest(region: Region) -> Iterator[Any]:
    """The early native loops in a region that can be taken over while they run."""
    for part in region.early or ():
        if isinstance(part, Native):
            if part.rest is not None:
                yield part
            for block in part.blocks.values():
                yield from loops_with_rest(block)


def _split(tree: RegionTree, region: Region) -> None:
    cuts = [statement for statement in region.statements if _is_cut(tree, statement, region.depth)]
    if not cuts:
        return
    region.early = tree.parts_of(region, cuts)
    for part in region.early:
        if isinstance(part, Native):
            for block in part.blocks.values():
                block.once = block.depth == 0
                _split(tree, block)
            if region.depth == 0 and not any(_acts(tree, node) for node in walk(part.statement, into_scopes=False)):
                add_rest(tree, part, region.moving)
        else:
            part.once = part.depth == 0


def _is_cut(tree: RegionTree, statement: ast.stmt, depth: int) -> bool:
    """Whether a loop in a body that runs once, or what capture is not likely to take."""
    if isinstance(statement, SCOPES):
        return False
    nodes = list(walk(statement, into_scopes=False))
    if depth == 0 and isinstance(statement, _BLOCKS) and any(isinstance(node, _LOOPS) for node in nodes):
        return True
    return any(_acts(tree, node) for node in nodes)


def _acts(tree: RegionTree, node: ast.AST) -> bool:
    """Whether a part of a statement may do more than array work, or may be a function with loops of its own."""
    if isinstance(node, _ACTS):
        return True
    if not isinstance(node, ast.Call):
        return False
    function, names = node.func, []
    while isinstance(function, ast.Attribute):
        names.append(function.attr)
        function = function.value
    if not isinstance(function, ast.Name):
        return bool(names) and not hasattr(np.ndarray, names[0])
    namespace = tree.source.namespace
    if function.id in tree.local_names or function.id not in namespace:
        if names:
            return not hasattr(np.ndarray, names[0])
        return function.id in tree.local_names or function.id in _ACTING or not hasattr(builtins, function.id)
    value = namespace[function.id]
    if issubclass(type(value), types.ModuleType):
        return home_of(value).partition(".")[0] not in _KNOWN
    if names:
        return not hasattr(np.ndarray, names[0])
    return issubclass(type(value), types.FunctionType) and home_of(value).partition(".")[0] not in _KNOWN
