"""A capture for many lengths, where the calls of a region bring arrays of one length after another."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from autojit.capture.buckets import FEWEST, bucket
from autojit.capture.capture import Capture
from autojit.capture.lengths import RowCount
from autojit.capture.options import Options
from autojit.capture.regions import region_key
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
    """

    last: tuple[Spec, ...]
    changes: int = 0
    failures: int = 0
    trouble: str = ""

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
    least, most, size = _sizes(captured.graph, count)
    rows = RowCount(count, least, most, size)
    try:
        general = capture(rows)
        if general.cuts:
            raise Refused(general.cuts[0].reason.detail)
        if general.draws:
            raise Refused("random numbers are drawn")
        few = capture(RowCount(count, least, most, least + 1))
        if few.graph is None or general.graph is None:
            raise Refused("another length leads to other operations")
        check_same_way(few, general)
        names = zip(general.graph.inputs, general.input_names, strict=True)
        counts = frozenset(value.name for value, name in names if name in rows.scalars)
        rows.outputs = check_rowwise(few.graph, general.graph, (least + 1, size), least, counts)
        for recipe in (*general.recipes, *(recipe for _, _, recipe in general.assigned)):
            _check_recipe(recipe, rows)
    except (Refused, CannotCapture) as error:
        known.failures += 1
        known.trouble = getattr(error, "detail", str(error))
        return captured
    known.failures, known.trouble = 0, ""
    return general


def _sizes(graph: Graph, count: int) -> tuple[int, int, int]:
    """For more than how many rows, and for at most how many, a plan is, and how many there are with those filled up.

    Neither the fewest rows nor those with what is filled up are as many as other arrays have elements by chance.
    """
    values = [*graph.inputs, *(value for node in graph.nodes for value in (*node.inputs, *node.outputs))]
    taken = {length for value in values for length in value.spec.shape} - {count}
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
