"""Whether two captures of the same statements, for arrays of two lengths, differ in nothing but the number of rows.

A length that Python was told as a number would show here: in an array that is neither of a fixed shape nor of as many
rows as the others, in a check, in a name's value. Two lengths tell all between them: what is left of an array is the
same for both, or has all rows; and a slice of fixed bounds that leaves as many elements of the fewest rows as of the
most leaves as many of any number.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autojit.capture.capture import Capture
from autojit.capture.lengths import RowCount
from autojit.capture.results import Constant, Container, FromPrologue, Recipe, Result, Unset, ViewOf
from autojit.capture.row_rules import Refused
from autojit.ir.build import exact_key

_PLAIN = (int, bool, float, complex, str, bytes, slice, range, type(None))


def check_same_way(few: Capture, many: Capture) -> None:
    """Compare all but the graphs.

    Raises:
        Refused: They differ.
    """
    assert few.rows is not None and many.rows is not None
    _check_shapes(few.rows.shapes, many.rows.shapes, (few.rows.size, many.rows.size))
    lines = [
        [(line.name, _without_limits(line.text, rows), line.soft) for line in one.prologue.lines]
        for one, rows in ((few, few.rows), (many, many.rows))
    ]
    constants = [one.prologue.constants for one in (few, many)]
    are_equal = (
        (few.exit, few.input_names, few.cuts, few.draws) == (many.exit, many.input_names, [], ())
        and lines[0] == lines[1]
        and constants[0].keys() == constants[1].keys()
        and all(_is_same(value, constants[1][name]) for name, value in constants[0].items())
        and [one[:2] for one in few.assigned] == [other[:2] for other in many.assigned]
        and len(few.recipes) == len(many.recipes)
    )
    pairs = zip(_recipes(few), _recipes(many), strict=False)
    if not are_equal or not all(_is_same_recipe(one, other) for one, other in pairs):
        raise Refused("another length leads to other operations")


def _without_limits(text: str, rows: RowCount) -> str:
    """A check without the numbers of rows that a plan is for, where it says so."""
    least, most = f"{rows.least} < len(", f") <= {rows.most}"
    return text.replace(least, "< len(").replace(most, ") <=") if least in text and text.endswith(most) else text


def _check_shapes(few: list[tuple[int, ...]], many: list[tuple[int, ...]], sizes: tuple[int, int]) -> None:
    if len(few) != len(many):
        raise Refused("another length leads to other operations")
    for one, other in zip(few, many, strict=True):
        if len(one) != len(other):
            raise Refused("another length leads to other operations")
        for pair in zip(one, other, strict=True):
            if pair[0] != pair[1] and pair != sizes:
                raise Refused("the shape of an array depends on the length in another way")
            if pair[0] == pair[1] and pair[0] in sizes:
                raise Refused("an array has by chance as many elements as others have rows")


def _recipes(captured: Capture) -> list[Recipe]:
    return [*captured.recipes, *(recipe for _, _, recipe in captured.assigned)]


def _is_same_recipe(one: Recipe, other: Recipe) -> bool:
    if isinstance(one, Container) and isinstance(other, Container):
        same = (one.kind, len(one.parts)) == (other.kind, len(other.parts)) and _is_same(one.keys, other.keys)
        return same and all(map(_is_same_recipe, one.parts, other.parts))
    if isinstance(one, ViewOf) and isinstance(other, ViewOf):
        steps = [[(step.op.name, *step.params) for step in view.steps] for view in (one, other)]
        return exact_key(tuple(steps[0])) == exact_key(tuple(steps[1])) and _is_same_recipe(one.base, other.base)
    if isinstance(one, Result) and isinstance(other, Result):
        return (one.number, one.spec.dtype, one.spec.kind) == (other.number, other.spec.dtype, other.spec.kind)
    if isinstance(one, FromPrologue) and isinstance(other, FromPrologue):
        return one.name == other.name
    if isinstance(one, Constant) and isinstance(other, Constant):
        return _is_same(one.value, other.value)
    return isinstance(one, Unset) and isinstance(other, Unset)


def _is_same(one: Any, other: Any) -> bool:
    """Whether two objects are one, or numbers or texts that nobody can tell apart."""
    if one is other:
        return True
    if type(one) is not type(other):
        return False
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(_is_same, one, other))
    if isinstance(one, np.ndarray):
        return exact_key(one) == exact_key(other)
    return isinstance(one, (*_PLAIN, np.generic, np.dtype)) and exact_key(one) == exact_key(other)
