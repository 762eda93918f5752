"""A capture for many lengths, where the calls of a region bring arrays of one length after another."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from autojit.capture.buckets import FEWEST, bucket
from autojit.capture.capture import Capture
from autojit.capture.lengths import RowCount
from autojit.capture.options import Options
from autojit.capture.regions import Region, region_key
from autojit.capture.results import Constant, Container, FromPrologue, Recipe, Result, Unset, ViewOf
from autojit.capture.row_rules import Refused
from autojit.capture.rowwise import check_rowwise
from autojit.capture.same_way import check_same_way
from autojit.capture.values import ViewStep
from autojit.errors import CannotCapture
from autojit.ir.graph import Graph
from autojit.ir.index import Index, Slice
from autojit.ir.spec import Spec

#: A region for which that has failed so often, one time after the other, is captured for one length at a time.
_MOST_FAILURES = 3


@dataclass(slots=True)
class Lengths:
    """What is known of the lengths of a region's arrays.

    Attributes:
        last: What the graph of the last capture takes.
        changes: How often it took another number of rows than the one before.
        failures: How often, one time after the other, there was no plan for several lengths.
        trouble: Why the last time.
        general: Of the captures for several lengths that for the fewest rows, if there is one.
    """

    last: tuple[Spec, ...]
    changes: int = 0
    failures: int = 0
    trouble: str = ""
    general: Capture | None = None

    @property
    def is_closed(self) -> bool:
        """Whether nobody tries any more."""
        return self.failures >= _MOST_FAILURES


def capture_rows(
    captured: Capture, options: Options, capture: Callable[[RowCount], Capture], count: int = 0
) -> Capture:
    """What was captured of a call, or a capture for more numbers of rows, if the calls before had other ones.

    Args:
        captured: The capture for the arrays as they are.
        options: What is known of the region's calls.
        capture: Does the same for more numbers of rows.
        count: How many rows the call has, if calls that were not captured have shown that this changes.
    """
    if captured.graph is None or options.exact:
        return captured
    specs = tuple(value.spec for value in captured.graph.inputs)
    known = options.lengths.setdefault(region_key(captured.region), Lengths(specs))
    last, known.last = known.last, specs
    changed = _changed(last, specs)
    known.changes += changed > 0
    if known.changes >= options.lengths_before_many:
        count = changed or count
    if count <= FEWEST or known.is_closed:
        return captured
    rows = RowCount(count, *_sizes(captured.graph, count, count))
    try:
        general = capture(rows)
        _compare(general, lambda: _few(rows, capture))
    except (Refused, CannotCapture) as error:
        known.failures += 1
        known.trouble = getattr(error, "detail", str(error))
        return captured
    known.failures, known.trouble = 0, ""
    _keep(known, general)
    return general


def capture_more_rows(
    region: Region, options: Options, capture: Callable[[RowCount], Capture], values: dict[str, Any]
) -> Capture | None:
    """A capture for more numbers of rows, where there is one for others: the two are compared.

    Args:
        region: The region.
        options: What is known of its calls.
        capture: As `capture_rows` has it.
        values: The live-ins.

    Returns:
        `None` where there is no other one, or this one says something else.
    """
    known = options.lengths.get(region_key(region))
    if known is None or known.general is None or known.is_closed:
        return None
    count = _count(known.general, values)
    if count <= FEWEST:
        return None
    other, known.general = known.general, None
    assert other.graph is not None and other.rows is not None
    rows = RowCount(count, *_sizes(other.graph, other.rows.size, count))
    try:
        general = capture(rows)
        if rows.names != other.rows.names:
            raise Refused("other arrays hold the rows")
        # What is the same for two lengths is for those between them.
        is_less = other.rows.size <= rows.least + 1
        _compare(general, lambda: other if is_less else _few(rows, capture))
    except (Refused, CannotCapture):
        return None
    known.general = other
    _keep(known, general)
    return general


def _count(general: Capture, values: dict[str, Any]) -> int:
    """How many rows a call has; 0 where no live-in holds them."""
    assert general.rows is not None
    for line in general.prologue.lines:
        value = values.get(line.text.removeprefix("L_")) if line.name in general.rows.names else None
        if type(value) is np.ndarray and value.ndim:
            return len(value)
    return 0


def _few(rows: RowCount, capture: Callable[[RowCount], Capture]) -> Capture:
    """The capture for the fewest rows that are a plan's."""
    return capture(RowCount(rows.count, rows.least, rows.most, rows.least + 1))


def _keep(known: Lengths, general: Capture) -> None:
    other = known.general
    if other is None or (general.rows is not None and other.rows is not None and general.rows.size < other.rows.size):
        known.general = general


def _compare(general: Capture, make_few: Callable[[], Capture]) -> None:
    """Make sure that two captures for several lengths differ in nothing else, and note which outputs have rows.

    Args:
        general: The one that a plan is made of.
        make_few: Gives one for fewer rows.

    Raises:
        Refused: They do, or there is no such plan.
    """
    if general.cuts:
        raise Refused(general.cuts[0].reason.detail)
    if general.draws:
        raise Refused("random numbers are drawn")
    few = make_few()
    if few.graph is None or general.graph is None:
        raise Refused("another length leads to other operations")
    assert few.rows is not None and general.rows is not None
    check_same_way(few, general)
    rows, names = general.rows, zip(general.graph.inputs, general.input_names, strict=True)
    counts = frozenset(value.name for value, name in names if name in rows.scalars)
    rows.outputs = check_rowwise(few.graph, general.graph, (few.rows.size, rows.size), rows.least, counts)
    for recipe in (*general.recipes, *(recipe for _, _, recipe in general.assigned)):
        _check_recipe(recipe, rows)


def _sizes(graph: Graph, own: int, count: int) -> tuple[int, int, int]:
    """For more than how many rows, and for at most how many, a plan is, and how many there are with those filled up.

    Neither the fewest rows nor those with what is filled up are as many as other arrays have elements by chance.

    Args:
        graph: The statements, captured for arrays of one length.
        own: That length.
        count: How many rows the call has.
    """
    values = [*graph.inputs, *(value for node in graph.nodes for value in (*node.inputs, *node.outputs))]
    taken = {length for value in values for length in value.spec.shape} - {own}
    least, most = bucket(count)
    while least + 1 in taken and least + 1 < count:
        least += 1
    size = most
    while size in taken:
        size += 1
    return least, most, size


def _changed(last: tuple[Spec, ...], now: tuple[Spec, ...]) -> int:
    """How many rows a call has, if it differs from the one before in that alone; else 0."""
    if len(last) != len(now):
        return 0
    found = set()
    for one, other in zip(last, now, strict=True):
        if (one.dtype, one.kind, one.ndim, one.shape[1:]) != (other.dtype, other.kind, other.ndim, other.shape[1:]):
            return 0
        if one.shape != other.shape:
            found.add(other.shape[0])
    return found.pop() if len(found) == 1 else 0


def _check_recipe(recipe: Recipe, rows: RowCount) -> None:
    if isinstance(recipe, Container):
        for part in recipe.parts:
            _check_recipe(part, rows)
    elif isinstance(recipe, ViewOf):
        _check_recipe(recipe.base, rows)
        if not all(map(_is_of_any_length, recipe.steps)):
            raise Refused("a view is handed on")
    elif isinstance(recipe, Result):
        if recipe.strides is not None and recipe.number in rows.outputs:
            raise Refused("the rows of a result do not stand one behind the other")
    elif not isinstance(recipe, Constant | FromPrologue | Unset):  # the caller's arrays are as they are
        raise Refused("a list of rows is handed on")


def _is_of_any_length(step: ViewStep) -> bool:
    """Whether NumPy makes a view of arrays of any length."""
    if step.op.name != "getitem":
        return step.op.name in ("np.transpose", "np.real", "np.imag")
    index: Index = dict(step.params)["index"]
    return all(entry is None or entry is Ellipsis or isinstance(entry, Slice) for entry in index.entries)
