"""Arrays of many lengths: a plan for up to so many rows, where calls bring one number of rows after another.

Behind the rows of a call the last one is repeated until there are as many as the plan is for. Nothing in the program
may tell the difference, which `capture/rowwise.py` makes sure of; what Python is told of a length would, so that the
capture of such a plan ends where a length is asked for.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from autojit.capture.values import Arr, Storage, make_dummy
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
        names: The prologue's names of the arrays whose first axis holds the rows.
        outputs: The numbers of the graph's outputs that have rows.
    """

    count: int
    least: int
    most: int
    names: set[str] = field(default_factory=set)
    outputs: frozenset[int] = frozenset()

    def hold(self, value: Any) -> bool:
        """Whether the first axis of an array from outside holds the rows."""
        return type(value) is np.ndarray and value.ndim > 0 and value.shape[0] == self.count


def wrap_rows(recorder: Recorder, value: np.ndarray, name: str, what: str) -> Arr:
    """The abstract value of an array from outside that has rows; adds its guard, but for the dtype's.

    Raises:
        CannotCapture: NumPy would give results another layout than for rows one behind the other.
    """
    rows, check = recorder.rows, recorder.prologue.check
    assert rows is not None
    if not _is_in_order(value):
        raise CannotCapture("moving-shape", f"the rows of `{what}` do not stand one behind the other")
    rest = value.shape[1:]
    check(
        f"{name}.ndim == {value.ndim} and {name}.shape[1:] == {rest!r} and {rows.least} < len({name}) <= {rows.most}",
        f"`{what}` has more than {rows.least} and at most {rows.most} rows",
    )
    other = next((storage.path for storage in recorder.arrays if storage.path in rows.names), None)
    if other is not None:
        check(f"len({name}) == len({other})", f"`{what}` has as many rows as the others")
    order = f"{name}.flags.c_contiguous" if value.ndim > 1 else f"{name}.strides[0] >= 0"
    check(order, f"the rows of `{what}` stand one behind the other")
    rows.names.add(name)
    spec = Spec((rows.most, *rest), value.dtype, "array")
    graph_input = recorder.add_input(spec, name, None)
    storage = Storage(graph_input, spec, graph_input, name)
    recorder.arrays.append(storage)
    return Arr(storage, (), make_dummy(spec.shape, value.dtype, None), "array", readonly=True)


def _is_in_order(value: np.ndarray) -> bool:
    return value.flags.c_contiguous if value.ndim > 1 else value.strides[0] >= 0


def refuse_length(recorder: Recorder, array: Arr) -> None:
    """Python asks for the shape of an array: it must not be told how many rows there are.

    Raises:
        CannotCapture: One of the axes has as many elements.
    """
    if recorder.rows is not None and recorder.rows.most in array.dummy.shape:
        raise CannotCapture("moving-shape", "the number of rows")
