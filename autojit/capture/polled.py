"""Flags that a loop asks again and again, and does not set: a signal's handler or another thread may end it so."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterable, Iterator
from types import ModuleType
from typing import Any

import numpy as np

from autojit.capture.names import names
from autojit.capture.regions import leaving
from autojit.capture.values import Items, Known
from autojit.ir.syntax import walk

_LEAVES = (ast.Break, ast.Return, ast.Raise)
#: What a name means.
Look = Callable[[str], Any]


def tests_of(node: ast.For | ast.While) -> Iterator[ast.expr]:
    """The parts of a loop's text that may be such flags: operands of the test of a `while`, and the tests of each `if`
    of which one way leaves the loop.
    """
    if isinstance(node, ast.While) and not isinstance(node.test, ast.Constant):
        yield node.test
        yield from _operands(node.test)
    for statement in node.body:
        for inner in walk(statement, into_scopes=False):
            if isinstance(inner, ast.If) and _leaves(inner) and not _refuses_modes(inner):
                yield inner.test
                if isinstance(inner.test, ast.UnaryOp) and isinstance(inner.test.op, ast.Not):
                    yield from _operands(inner.test.operand)  # of a `while` in other words


def _leaves(node: ast.If) -> bool:
    if isinstance(node.body[-1], _LEAVES):
        return True
    return bool(node.orelse) and isinstance(node.orelse[-1], ast.Break | ast.Return)  # `raise` is for wrong modes


def _refuses_modes(node: ast.If) -> bool:
    """Whether it raises for what is no word of a list: for a wrong mode, and not for a flag."""
    if not (isinstance(node.body[-1], ast.Raise) and isinstance(node.test, ast.Compare)):
        return False
    others = [other for other in node.test.comparators if isinstance(other, ast.Tuple | ast.List | ast.Set)]
    return any(all(isinstance(item, ast.Constant) for item in other.elts) for other in others)


def _operands(test: ast.expr) -> list[ast.expr]:
    return test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) else []


def is_endless(node: ast.For | ast.While) -> bool:
    """Whether no iteration leaves a loop for what stands behind it."""
    if not (isinstance(node, ast.While) and isinstance(node.test, ast.Constant) and node.test.value):
        return False
    return not any(isinstance(way, ast.Break) for statement in node.body for way in leaving(statement))


def places_of(test: ast.expr, look: Look) -> list[ast.expr] | None:
    """The names, attributes and items that a test asks for, or compares; `None` if it is about more.

    What an array has (`x.size`, `x.shape[0]`) is more: others do not change it.

    Args:
        test: It.
        look: What the names mean.
    """
    if isinstance(test, ast.Name):
        return [test]
    if isinstance(test, ast.Constant):
        return []
    if isinstance(test, ast.UnaryOp):
        return places_of(test.operand, look)
    if isinstance(test, ast.Compare):
        return _places_of_all([test.left, *test.comparators], look)
    if isinstance(test, ast.Tuple | ast.List | ast.Set):
        return _places_of_all(test.elts, look)
    if isinstance(test, ast.Attribute):
        return [test] if not hasattr(np.ndarray, test.attr) or _object_of(test.value, look) else None
    if isinstance(test, ast.Subscript) and places_of(test.slice, look) is not None:
        return [test] if _has_word(test) or places_of(test.value, look) else None
    return None


def _places_of_all(nodes: Iterable[ast.expr], look: Look) -> list[ast.expr] | None:
    found = [places_of(node, look) for node in nodes]
    return None if None in found else [place for places in found for place in places or ()]


def _has_word(item: ast.Subscript) -> bool:
    """Whether the key of an item is a string: of a dict, not of a tuple or an array."""
    return isinstance(getattr(item.slice, "value", None), str)


def _object_of(owner: ast.expr, look: Look) -> Known | None:
    """What an attribute is asked of, where that is known before the run, and no array."""
    if isinstance(owner, ast.Name):
        found = look(owner.id)
    elif isinstance(owner, ast.Attribute) and (known := _object_of(owner.value, look)):
        found = Known(inspect.getattr_static(known.value, owner.attr, None))
    else:
        return None
    # What has `__get__` stands for something else, which only code of the program can find.
    is_other = not isinstance(found, Known) or found.value is None or hasattr(type(found.value), "__get__")
    return None if is_other or isinstance(found.value, np.ndarray | np.generic) else found


def _names_of(place: ast.expr, test: ast.expr) -> set[str]:
    """The names that a place is found by, keys among them; a loop that binds them asks for several places in turn.

    An attribute that is asked alone, or compared with a constant, is a flag whosever it is.
    """
    is_item = isinstance(place, ast.Subscript) and not _has_word(place)
    if not (is_item or isinstance(place, ast.Name) or _compares(test)):
        return set()
    return {part.id for part in ast.walk(place) if isinstance(part, ast.Name)}


def _compares(test: ast.expr) -> bool:
    """Whether a test compares with what is written as no constant."""
    if isinstance(test, ast.UnaryOp):
        return _compares(test.operand)
    return isinstance(test, ast.Compare) and not all(isinstance(other, ast.Constant) for other in test.comparators)


class Polled:
    """What the tests of a loop were when they were last evaluated, by id: whether a flag from outside decides them."""

    def __init__(self) -> None:
        # The places that decide, a flag among them, and the function's own names that do; nothing for other tests.
        self._decided: dict[int, tuple[list[ast.expr], set[str]]] = {}

    def note(self, test: ast.expr, value: Any, own: frozenset[str], look: Look) -> None:
        """A test has been evaluated.

        Args:
            test: It.
            value: A bool, if no data decides it.
            own: The names that nobody outside can bind.
            look: What the names mean.
        """
        self._decided.pop(id(test), None)
        places = places_of(test, look) if isinstance(value, bool) else None
        outer = [place for place in places or () if not _is_own(place, own, look)]
        if places and len(outer) < len(places):
            # What the function has itself is compared with constants that have names.
            outer = [place for place in outer if not _is_constant(place, look)]
        if places and outer:
            self._decided[id(test)] = places, {name for place in places for name in _names_of(place, test)} & own

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


def _is_own(place: ast.expr, own: frozenset[str], look: Look) -> bool:
    """Whether nobody outside can change what a place means."""
    if isinstance(place, ast.Subscript) and isinstance(place.value, ast.Name) and not _has_word(place):
        value = look(place.value.id) if place.value.id in own else None
        return isinstance(value, Items) or (isinstance(value, Known) and isinstance(value.value, tuple))
    return isinstance(place, ast.Name) and place.id in own


def _is_constant(place: ast.expr, look: Look) -> bool:
    """Whether a place is an attribute of a class, as the members of an enumeration are, or of a module."""
    owner = _object_of(place.value, look) if isinstance(place, ast.Attribute) else None
    return owner is not None and isinstance(owner.value, type | ModuleType)


def _is_set(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute | ast.Subscript) and isinstance(node.ctx, ast.Store)


def _target_of(flag: ast.AST) -> tuple[type, object]:
    """What is set where a flag is: whosever it is, if it has a name, and else with whose it is."""
    if isinstance(flag, ast.Attribute):
        return ast.Attribute, flag.attr
    if isinstance(flag, ast.Subscript) and not _has_word(flag):
        return ast.Subscript, (ast.unparse(flag.value), ast.unparse(flag.slice))
    return type(flag), getattr(flag.slice, "value", None) if isinstance(flag, ast.Subscript) else flag
