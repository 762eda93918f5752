"""Flags that a loop asks again and again, and does not set: a signal's handler or another thread may end it so."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

import numpy as np

from autojit.capture.regions import leaving
from autojit.ir.syntax import walk

_LEAVES = (ast.Break, ast.Return, ast.Raise)


def tests_of(node: ast.For | ast.While) -> Iterator[ast.expr]:
    """The parts of a loop's text that may be such flags: operands of the test of a `while`, and the tests of each `if`
    of which one way leaves the loop.
    """
    if isinstance(node, ast.While) and not isinstance(node.test, ast.Constant):
        yield node.test
        yield from _operands(node.test)
    for statement in node.body:
        for inner in walk(statement, into_scopes=False):
            if isinstance(inner, ast.If) and _leaves(inner):
                yield inner.test
                if isinstance(inner.test, ast.UnaryOp) and isinstance(inner.test.op, ast.Not):
                    yield from _operands(inner.test.operand)  # of a `while` in other words


def _leaves(node: ast.If) -> bool:
    if isinstance(node.body[-1], _LEAVES):
        return True
    return bool(node.orelse) and isinstance(node.orelse[-1], ast.Break | ast.Return)  # `raise` is for wrong modes


def _operands(test: ast.expr) -> list[ast.expr]:
    return test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) else []


def is_endless(node: ast.For | ast.While) -> bool:
    """Whether no iteration leaves a loop for what stands behind it."""
    if not (isinstance(node, ast.While) and isinstance(node.test, ast.Constant) and node.test.value):
        return False
    return not any(isinstance(way, ast.Break) for statement in node.body for way in leaving(statement))


def flag_of(test: ast.expr) -> ast.expr | None:
    """The name, attribute or item with a string for its key that a test is about; `None` if it is about more."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return flag_of(test.operand)
    if isinstance(test, ast.Compare) and all(isinstance(other, ast.Constant) for other in test.comparators):
        test = test.left
    is_item = isinstance(test, ast.Subscript) and isinstance(getattr(test.slice, "value", None), str)
    is_attribute = isinstance(test, ast.Attribute) and not hasattr(np.ndarray, test.attr)
    return test if is_item or is_attribute or isinstance(test, ast.Name) else None


class Polled:
    """What the tests of a loop were when they were last evaluated, by id: whether a flag from outside decides them."""

    def __init__(self) -> None:
        self._decided: dict[int, bool] = {}

    def note(self, test: ast.expr, value: Any, own: frozenset[str]) -> None:
        """A test has been evaluated.

        Args:
            test: It.
            value: A bool, if no data decides it.
            own: The names that nobody outside can bind.
        """
        flag = flag_of(test)
        is_own = isinstance(flag, ast.Name) and flag.id in own
        self._decided[id(test)] = flag is not None and not is_own and isinstance(value, bool)

    def of(self, node: ast.For | ast.While) -> ast.expr | None:
        """The first test of a loop that such a flag decides, if there is one."""
        return next((test for test in tests_of(node) if self._decided.get(id(test))), None)

    def of_others(self, node: ast.For | ast.While) -> ast.expr | None:
        """The same, but for flags that the loop itself sets."""
        own = {_target_of(part) for statement in node.body for part in walk(statement) if _is_set(part)}
        tests = (test for test in tests_of(node) if self._decided.get(id(test)))
        return next((test for test in tests if _target_of(flag_of(test)) not in own), None)


def _is_set(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute | ast.Subscript) and isinstance(node.ctx, ast.Store)


def _target_of(flag: ast.AST | None) -> tuple[type, object]:
    """What is set where a flag is, whosever it is."""
    if isinstance(flag, ast.Attribute):
        return ast.Attribute, flag.attr
    return type(flag), getattr(flag.slice, "value", None) if isinstance(flag, ast.Subscript) else flag
