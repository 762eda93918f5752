"""The rest of a loop that runs: a region that can be entered at each of its iterations."""

from __future__ import annotations

import ast
import builtins
from typing import Any

from autojit.capture.names import names
from autojit.capture.regions import TEMPORARY, Native, RegionTree, leaving


def add_rest(tree: RegionTree, native: Native, moving: frozenset[str]) -> None:
    """Give a native `for i in range(a, b, c)` the region `for i in range(i, stop, c)`, where that can stand for it.

    The region is entered where an iteration begins, with any `stop`. It has no `else`: control goes back to the loop,
    which has nothing left to do or goes on at `stop`.

    Args:
        tree: The regions of the function.
        native: The loop.
        moving: Names that loops around it rebind.
    """
    loop = native.statement
    if not isinstance(loop, ast.For) or not isinstance(loop.target, ast.Name) or not _is_range(tree, loop.iter):
        return
    if any(isinstance(leaver, ast.Break | ast.Return) for statement in loop.body for leaver in leaving(statement)):
        return  # the data would decide how the region is left
    found = names([loop])
    if (found.binds & (tree.flow.captured | tree.free_names | tree.late_names)) or found.binds - tree.local_names:
        return
    native.stop = stop = f"{TEMPORARY}_stop_{len(tree.regions)}"
    bounds: list[ast.expr] = [ast.Name(loop.target.id, ast.Load()), ast.Name(stop, ast.Load())]
    step = loop.iter.args[2:]  # type: ignore[attr-defined] -- a call
    iterable = ast.Call(ast.Name("range", ast.Load()), [*bounds, *step], [])
    rest = ast.For(ast.Name(loop.target.id, ast.Store()), iterable, loop.body, [])
    for node in (rest, rest.target, iterable, iterable.func, *bounds):
        ast.copy_location(node, loop.iter if node is not rest else loop)
    first, last = loop.body[0], loop.body[-1]
    tree.flow.after[id(rest)] = tree.flow.after[id(last)]
    tree.flow.raised[id(rest)] = tree.flow.raised.get(id(loop), frozenset())
    tree.bound[id(rest)] = tree.bound[id(first)]
    region = tree.rest_region(rest, stop, moving | found.binds | {stop})
    if not region.late and not region.unbound:
        native.rest = region


def _is_range(tree: RegionTree, node: Any) -> bool:
    """Whether an expression is a call of the builtin `range`, with a step that the text tells."""
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "range"):
        return False
    function = tree.source.function
    is_builtin = "range" not in tree.local_names and function.__globals__.get("range", range) is range
    if not is_builtin or getattr(builtins, "range", None) is not range or node.keywords:
        return False
    if not 1 <= len(node.args) <= 3 or any(isinstance(a, ast.Starred | ast.NamedExpr) for a in ast.walk(node)):
        return False
    step = node.args[2] if len(node.args) == 3 else ast.Constant(1)
    if isinstance(step, ast.UnaryOp) and isinstance(step.op, ast.USub):
        step = step.operand
    return isinstance(step, ast.Constant) and type(step.value) is int and step.value != 0
