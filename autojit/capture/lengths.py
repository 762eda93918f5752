"""Arrays of many lengths: a plan for up to so many rows, where calls bring one number of rows after another.

Behind the rows of a call the last one is repeated until there are as many as the plan is for. Nothing in the program
may tell the difference, which `capture/rowwise.py` makes sure of. Where Python asks for a length, it gets a number of
the run's: what decides a branch is checked, and where a shape is made of it there is no such plan.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from autojit.capture.dummies import make_dummy
from autojit.capture.values import Arr, Items, Known, Storage, Sym
from autojit.errors import CannotCapture
from autojit.ir.spec import Spec

if TYPE_CHECKING:
    from autojit.capture.recorder import Recorder


@dataclass(slots=True)
class RowCount:
    """The rows of a plan's arrays.

    Attributes:
        count: How many the call has that is captured.
        least: Calls with more rows are the plan's ...
        most: ... and with at most so many.
        size: How many the plan's arrays are filled up to.
        names: The prologue's names of the arrays whose first axis holds the rows.
        outputs: The numbers of the graph's outputs that have rows.
        scalars: The prologue's names for how many there are.
        is_masking: Whether what only fills arrays up is being taken care of.
        shapes: Of all arrays that the capture has met.
    """

    count: int
    least: int
    most: int
    size: int
    names: set[str] = field(default_factory=set)
    outputs: frozenset[int] = frozenset()
    scalars: set[str] = field(default_factory=set)
    is_masking: bool = False
    shapes: list[tuple[int, ...]] = field(default_factory=list)

    def hold(self, value: Any, name: str) -> bool:
        """Whether the first axis of an array from outside holds the rows."""
        self.names.discard(name)  # which may have been another array's
        return type(value) is np.ndarray and value.ndim > 0 and value.shape[0] == self.count


def wrap_rows(recorder: Recorder, value: np.ndarray, name: str, what: str) -> Arr:
    """The abstract value of an array from outside that has rows; adds its guard, but for the dtype's.

    Raises:
        CannotCapture: The steps from element to element depend on how many rows there are.
    """
    rows, check = recorder.rows, recorder.prologue.check
    assert rows is not None
    if any(abs(step) > abs(value.strides[0]) > 0 for step in value.strides[1:]):
        raise CannotCapture("moving-shape", f"the rows of `{what}` do not stand one behind the other")
    rest = value.shape[1:]
    others = f" and {name}.shape[1:] == {rest!r}" if rest else ""
    check(
        f"{name}.ndim == {value.ndim}{others} and {rows.least} < len({name}) <= {rows.most}",
        f"`{what}` has more than {rows.least} and at most {rows.most} rows",
    )
    other = next((storage.path for storage in recorder.arrays if storage.path in rows.names), None)
    if other is not None:
        check(f"len({name}) == len({other})", f"`{what}` has as many rows as the others")
    if value.flags.c_contiguous:
        check(f"{name}.flags.c_contiguous", f"the rows of `{what}` stand one behind the other")
    else:
        check(f"{name}.strides == {value.strides!r}", f"`{what}` has the strides {value.strides}")
    rows.names.add(name)
    spec = Spec((rows.size, *rest), value.dtype, "array")
    graph_input = recorder.add_input(spec, name, None)
    storage = Storage(graph_input, spec, graph_input, name)
    recorder.arrays.append(storage)
    strides = None if value.flags.c_contiguous else value.strides
    dummy = make_dummy(spec.shape, value.dtype, strides)
    return Arr(storage, (), dummy, "array", readonly=value.__array_interface__["data"][1])


def note_shape(recorder: Recorder, shape: tuple[int, ...]) -> None:
    """An array of that shape is met: two captures, for arrays of two lengths, are compared."""
    if recorder.rows is not None:
        recorder.rows.shapes.append(shape)


def length_of(recorder: Recorder, array: Arr) -> Sym | None:
    """How many rows an array has, which only the run knows; `None` where that is known.

    Raises:
        CannotCapture: Its rows are not the first axis.
    """
    rows, shape = recorder.rows, array.dummy.shape
    if rows is None or rows.size not in shape:
        return None
    if shape.index(rows.size) or rows.size in shape[1:]:
        raise CannotCapture("moving-shape", "the number of rows of an array whose first axis does not hold them")
    return number_of_rows(recorder)


def number_of_rows(recorder: Recorder) -> Sym:
    """How many rows the call has.

    Raises:
        CannotCapture: No array from outside is known to have them.
    """
    rows = recorder.rows
    assert rows is not None
    first = next((storage.path for storage in recorder.arrays if storage.path in rows.names), None)
    if first is None:
        raise CannotCapture("moving-shape", "the number of rows")
    name = recorder.prologue.let("s", f"len({first})")
    sym = recorder.sym(name, rows.count, moving=True)
    rows.scalars.add(name)
    return sym


def filled_up(recorder: Recorder, value: Any) -> Any:
    """A shape or length, where an array is made that has as many rows as others: as many as the plan is for."""
    rows = recorder.rows
    if rows is None:
        return value
    if isinstance(value, Items) and value.kind in (tuple, list) and isinstance(value.items, list):
        return Items(value.kind, [filled_up(recorder, item) for item in value.items])
    return Known(rows.size) if isinstance(value, Sym) and value.name in rows.scalars else value


def refuse_length(recorder: Recorder, array: Arr) -> None:
    """A static function asks for the shape of an array: it must not be told how many rows there are.

    Raises:
        CannotCapture: One of the axes has as many elements.
    """
    if recorder.rows is not None and recorder.rows.size in array.dummy.shape:
        raise CannotCapture("moving-shape", "the number of rows")
