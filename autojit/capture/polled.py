"""Flags that a loop asks again and again, and does not set: a signal's handler or another thread may end it so."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from autojit.capture.names import names
from autojit.capture.regions import leaving
from autojit.capture.values import Items, Known
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


def places_of(test: ast.expr, env: Mapping[str, Any]) -> list[ast.expr] | None:
    """The names, attributes and items that a test asks for, or compares; `None` if it is about more.

    What an array has (`x.size`, `x.shape[0]`) is more: others do not change it.

    Args:
        test: It.
        env: What the names mean.
    """
    if isinstance(test, ast.Name):
        return [test]
    if isinstance(test, ast.Constant):
        return []
    if isinstance(test, ast.UnaryOp):
        return places_of(test.operand, env)
    if isinstance(test, ast.Compare):
        return _places_of_all([test.left, *test.comparators], env)
    if isinstance(test, ast.Tuple | ast.List | ast.Set):
        return _places_of_all(test.elts, env)
    if isinstance(test, ast.Attribute):
        is_object = isinstance(test.value, ast.Name) and isinstance(env.get(test.value.id), Known)
        return [test] if is_object or not hasattr(np.ndarray, test.attr) else None
    if isinstance(test, ast.Subscript) and places_of(test.slice, env) is not None:
        return [test] if _has_word(test) or places_of(test.value, env) else None
    return None


def _places_of_all(nodes: Iterable[ast.expr], env: Mapping[str, Any]) -> list[ast.expr] | None:
    found = [places_of(node, env) for node in nodes]
    return None if None in found else [place for places in found for place in places or ()]


def _has_word(item: ast.Subscript) -> bool:
    """Whether the key of an item is a string: of a dict, not of a tuple or an array."""
    return isinstance(getattr(item.slice, "value", None), str)


def _names_of(place: ast.expr) -> set[str]:
    """The names that a place is found by, keys among them; a loop that binds them asks for several places in turn."""
    is_item = isinstance(place, ast.Subscript) and not _has_word(place)
    if not (is_item or isinstance(place, ast.Name)):
        return set()
    return {part.id for part in ast.walk(place) if isinstance(part, ast.Name)}


class Polled:
    """What the tests of a loop were when they were last evaluated, by id: whether a flag from outside decides them."""

    def __init__(self) -> None:
        # The places that decide, a flag among them, and the function's own names that do; nothing for other tests.
        self._decided: dict[int, tuple[list[ast.expr], set[str]]] = {}

    def note(self, test: ast.expr, value: Any, own: frozenset[str], env: Mapping[str, Any]) -> None:
        """A test has been evaluated.

        Args:
            test: It.
            value: A bool, if no data decides it.
            own: The names that nobody outside can bind.
            env: What the names mean.
        """
        self._decided.pop(id(test), None)
        places = places_of(test, env) if isinstance(value, bool) else None
        if places and not all(_is_own(place, own, env) for place in places):
            self._decided[id(test)] = places, {name for place in places for name in _names_of(place)} & own

    def of(self, node: ast.For | ast.While) -> ast.expr | None:
        """The first test of a loop that such a flag decides, if there is one."""
        return next((test for test, _ in self._decided_of(node)), None)

    def of_others(self, node: ast.For | ast.While) -> ast.expr | None:
        """The same, but for flags that the loop itself sets."""
        own = {_target_of(part) for statement in node.body for part in walk(statement) if _is_set(part)}
        tests = self._decided_of(node)
        return next((test for test, places in tests if own.isdisjoint(map(_target_of, places))), None)

    def _decided_of(self, node: ast.For | ast.While) -> Iterator[tuple[ast.expr, list[ast.expr]]]:
        """The tests that a flag decides, and nothing that the loop goes through; with their places."""
        for test in tests_of(node):
            places, own = self._decided.get(id(test), ([], set()))
            if places and not (own and own & names([node]).binds):
                yield test, places


def _is_own(place: ast.expr, own: frozenset[str], env: Mapping[str, Any]) -> bool:
    """Whether nobody outside can change what a place means."""
    if isinstance(place, ast.Subscript) and isinstance(place.value, ast.Name) and not _has_word(place):
        value = env.get(place.value.id)
        is_tuple = isinstance(value, Known) and isinstance(value.value, tuple)
        return place.value.id in own and (is_tuple or isinstance(value, Items))
    return isinstance(place, ast.Name) and place.id in own


def _is_set(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute | ast.Subscript) and isinstance(node.ctx, ast.Store)


def _target_of(flag: ast.AST) -> tuple[type, object]:
    """What is set where a flag is, whosever it is."""
    if isinstance(flag, ast.Attribute):
        return ast.Attribute, flag.attr
    return type(flag), getattr(flag.slice, "value", None) if isinstance(flag, ast.Subscript) else flag
