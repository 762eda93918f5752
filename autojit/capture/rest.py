"""The rest of a loop that runs: a region that can be entered at each of its iterations."""

from __future__ import annotations

import ast
import builtins
import copy
from collections.abc import Iterator
from typing import Any

from autojit.capture.assigned import deleted_in
from autojit.capture.names import TEMPORARY, names
from autojit.capture.regions import SCOPES, Native, Region, RegionTree, leaving
from autojit.ir.syntax import parse


def add_rest(tree: RegionTree, native: Native, moving: frozenset[str]) -> None:
    """Give a native `for i in range(a, b, c)` or `while` loop a region for its rest, where that can stand for it.

    The rest of the `for` loop is `for i in range(i, stop, c)`, entered where an iteration begins, with any `stop`.
    Control goes back to the loop, which has nothing left to do or goes on at `stop`. With a `break` it is

        left = True
        for i in range(i, stop, c):
            ...
        else:
            left = False

    and the loop is told to break if it was left. `while test` counts as `for k in range(k, stop)` that breaks where
    `not test`, so that the test is asked as often as Python would.

    Where the data decides when the loop is left, more can be said of a run of iterations in which it is not: which name
    has which array after `u, v = v, u`. For such runs there is a second form, which raises instead: then NumPy takes
    the run.

    Args:
        tree: The regions of the function.
        native: The loop.
        moving: Names that loops around it rebind.
    """
    loop = native.statement
    if not isinstance(loop, ast.For | ast.While) or not _range_is_builtin(tree):
        return
    stop = f"{TEMPORARY}_stop_{len(tree.regions)}"
    found = names([loop])
    if any(isinstance(leaver, ast.Return) for leaver in leaving(loop)):
        return  # the data would decide how the region is left
    if isinstance(loop, ast.While):
        if loop.orelse:  # that is left by another way
            return
        counter, steps, body, place = f"{stop}_k", [], [exit_of(loop), *loop.body], loop.test
        before = tree.bound[id(loop)] - deleted_in(loop)  # by earlier iterations
    else:
        if not isinstance(loop.target, ast.Name) or not _is_range(loop.iter):
            return
        counter, steps, body, place = loop.target.id, loop.iter.args[2:], loop.body, loop.iter  # type: ignore[attr-defined] -- a call
        before = tree.bound[id(loop.body[0])]
    if (found.binds & (tree.flow.captured | tree.free_names | tree.late_names)) or found.binds - tree.local_names:
        return
    native.stop, native.counter = stop, counter
    text = f"{stop}_left = True\nfor {counter} in range({counter}, {stop}):\n    pass\nelse:\n    {stop}_left = False"
    statements: list[Any] = parse(text).body
    for node in _nodes(statements):
        if hasattr(node, "lineno"):
            ast.copy_location(node, loop if isinstance(node, ast.stmt) else place)
    rest = statements[-1]
    rest.iter.args += steps
    rest.body = body
    if any(isinstance(leaver, ast.Break) for statement in body for leaver in leaving(statement)):
        native.left = f"{stop}_left"
    else:
        rest.orelse = []
        statements = [rest]
    tree.flow.after[id(rest)] = tree.flow.after[id(loop.body[-1])] | tree.flow.after[id(loop)]
    tree.flow.raised[id(statements[0])] = tree.flow.raised.get(id(loop), frozenset())
    tree.bound[id(statements[0])] = before | {stop, counter}
    region = tree.rest_region(statements, {stop, counter}, moving | found.binds)
    region.dropped = ()
    if not region.late:
        native.rest, region.is_rest = region, True
        region.may_be_left = bool(native.left)


def steady(rest: Region) -> Region:
    """The rest of a loop that may be left, with statements that do the same as long as it is not, and else raise.

    They are written when they are asked for: most loops end before.
    """
    made = copy.copy(rest)
    made.statements = [_Raising().visit(copy.deepcopy(statement)) for statement in rest.statements]
    return made


class _Raising(ast.NodeTransformer):
    """Has a loop raise where it breaks; loops in it, and functions, stay as they are."""

    def __init__(self) -> None:
        self._depth = 0

    def visit(self, node: ast.AST) -> Any:
        """The node, changed."""
        if isinstance(node, SCOPES):
            return node
        if isinstance(node, ast.Break) and self._depth == 1:
            return ast.copy_location(ast.Raise(), node)
        if not isinstance(node, ast.For | ast.While | ast.AsyncFor):
            return self.generic_visit(node)
        self._depth += 1
        node.body = [self.visit(statement) for statement in node.body]
        self._depth -= 1
        node.orelse = [self.visit(statement) for statement in node.orelse]
        return node


def exit_of(loop: ast.While, test: ast.expr | None = None) -> ast.stmt:
    """`if not test: break`, which stands before the body of a `while` loop that counts.

    Args:
        loop: The loop.
        test: What to ask instead of its own test.
    """
    leave = ast.If(ast.UnaryOp(ast.Not(), loop.test if test is None else test), [ast.Break()], [])
    for node in (leave, leave.test, leave.body[0]):
        ast.copy_location(node, loop.test)
    return leave


def _nodes(statements: list[ast.stmt]) -> Iterator[ast.AST]:
    for statement in statements:
        yield from ast.walk(statement)


def _range_is_builtin(tree: RegionTree) -> bool:
    is_builtin = "range" not in tree.local_names and tree.source.function.__globals__.get("range", range) is range
    return is_builtin and getattr(builtins, "range", None) is range


def _is_range(node: Any) -> bool:
    """Whether an expression is a call of `range`, with a step that the text tells."""
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "range"):
        return False
    if node.keywords or not 1 <= len(node.args) <= 3:
        return False
    if any(isinstance(a, ast.Starred | ast.NamedExpr) for a in ast.walk(node)):
        return False
    step = node.args[2] if len(node.args) == 3 else ast.Constant(1)
    if isinstance(step, ast.UnaryOp) and isinstance(step.op, ast.USub):
        step = step.operand
    return isinstance(step, ast.Constant) and type(step.value) is int and step.value != 0
