"""Lanes: the values of a loop's body for all trips at once, and the graph that computes them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from autojit.errors import CannotCapture, SourceLine
from autojit.ir.build import Builder
from autojit.ir.graph import Const, Graph, Operand, Value
from autojit.ir.index import Index, Slice
from autojit.ir.op import Op
from autojit.ir.spec import Spec
from autojit.ops.chapters import TABLE
from autojit.passes.access import Refused
from autojit.passes.affine import Affine, Trips, form_of

#: A batched value of more bytes than this keeps its loop.
LARGEST_BATCH = 64 << 20

WHOLE = Slice(None, None, None)


class TooLarge(Refused):
    """A batched value is too large, or there are too many trips; `size` is its bytes, at least one a trip."""

    def __init__(self, text: str, size: int) -> None:
        super().__init__(text)
        self.size = size


class Emitter(Builder):
    """Nodes in the place of a loop: their names are free in the graph around it.

    Args:
        taken: The names that are in use there.
    """

    def __init__(self, taken: Iterable[str]) -> None:
        super().__init__()
        self._names = set(taken)


def names_of(graph: Graph) -> set[str]:
    """The names of all values of a graph."""
    return {value.name for value in graph.inputs} | {value.name for node in graph.nodes for value in node.outputs}


@dataclass(frozen=True, slots=True)
class Lane:
    """A value of the body.

    Attributes:
        operand: In all trips the same value, or an array with one row per trip; `None` for integers that are made
            from their form when they are asked for.
        spec: What it is in one trip.
        batched: Whether there is a row per trip.
        form: For an integer, its affine form, if it has one.
        behind: The number of its own axes behind the axis of the trips; all of them when `None`.
    """

    operand: Operand | None
    spec: Spec
    batched: bool
    form: Affine | None = None
    behind: int | None = None

    @property
    def tail(self) -> int:
        """The number of its own axes behind the axis of the trips."""
        return self.spec.ndim if self.behind is None else self.behind

    @property
    def place(self) -> int:
        """The axis of the trips."""
        return self.spec.ndim - self.tail


class Batch:
    """Computes lanes.

    Args:
        emitter: Takes the nodes.
        trips: The trips of the loop.
        symbols: The operands, outside the loop, behind the symbols of affine forms.
    """

    def __init__(self, emitter: Emitter, trips: Trips, symbols: dict[str, Operand]) -> None:
        self.emitter, self.trips, self.symbols = emitter, trips, symbols
        self.source: SourceLine | None = None
        self.largest = 0

    @property
    def count(self) -> int:
        return self.trips.count

    def call(self, name: str, inputs: Sequence[Operand], **params: Any) -> Value:
        """The result of one operation."""
        (value,) = self.calls(TABLE[name], inputs, params)
        return value

    def calls(self, op: Op, inputs: Sequence[Operand], params: dict[str, Any]) -> tuple[Value, ...]:
        """The results of one operation.

        Raises:
            Refused: It does not take these operands, or the result is too large.
        """
        try:
            values = self.emitter.add(op, inputs, params, self.source)
        except (TypeError, ValueError, IndexError, CannotCapture) as error:
            raise Refused(f"`{op.name}` has no batched form here: {error}") from None
        if op.name != "setitem":  # that is as large as the array in which it writes
            self.largest = max(self.largest, *(value.spec.nbytes for value in values))
        if self.largest > LARGEST_BATCH:
            raise TooLarge(f"all iterations of `{op.name}` at once take {self.largest >> 20} MiB", self.largest)
        return values

    def const(self, value: Any) -> Const:
        """A constant."""
        return self.emitter.const(value)

    def rows(self, lane: Lane) -> Value:
        """A row per trip."""
        if lane.operand is None:
            return self._indices(lane)
        if lane.batched:
            axes = (lane.place, *(axis for axis in range(lane.spec.ndim + 1) if axis != lane.place))
            value = self.transpose(lane.operand, axes)
            assert isinstance(value, Value)
            return value
        filled = self.array(lane.operand)
        return self.call("np.broadcast_to", [filled], shape=(self.count, *lane.spec.shape))

    def array(self, operand: Operand, dtype: np.dtype | None = None) -> Operand:
        """A Python scalar as an array without axes, of a dtype: it takes no part in promotion any more as such."""
        if operand.spec.kind != "python":
            return operand
        return self.call("np.full", [operand], shape=(), dtype=operand.spec.dtype if dtype is None else dtype)

    def _indices(self, lane: Lane) -> Value:
        assert lane.form is not None
        first, change = self.trips.at(lane.form)
        stop = first + change * self.count
        value = self.call("np.arange", [], start_or_stop=first, stop=stop, step=change, dtype=np.dtype(np.int64))
        for name, factor in lane.form.symbols:
            operand = self.symbols[name]
            if factor != 1:
                operand = self.call("py_multiply", [operand, self.const(factor)])
            value = self.call("np.add", [value, operand])
        return value

    def aligned(self, lane: Lane, tail: int) -> Operand:
        """The value with `tail` axes behind the axis of the trips, so that it broadcasts as in one trip."""
        if not lane.batched:
            assert lane.operand is not None
            front = lane.spec.ndim - tail
            if front <= 0:
                return lane.operand
            return self.reshape(lane.operand, (*lane.spec.shape[:front], 1, *lane.spec.shape[front:]))
        if lane.operand is not None and lane.tail == tail:
            return lane.operand
        rows, shape = self.rows(lane), lane.spec.shape
        if tail >= len(shape):
            return self.reshape(rows, (self.count, *(1,) * (tail - len(shape)), *shape))
        front = len(shape) - tail
        return self.transpose(rows, (*range(1, front + 1), 0, *range(front + 1, len(shape) + 1)))

    def common(self, lanes: Sequence[Lane]) -> int:
        """Where the axis of the trips does best for all of these lanes: where it is in the largest."""
        batched = [lane for lane in lanes if lane.batched and lane.operand is not None]
        return max(batched, key=lambda lane: (lane.spec.size, lane.spec.ndim)).tail if batched else 0

    def reshape(self, value: Operand, shape: Sequence[int]) -> Operand:
        """The value in another shape."""
        if value.spec.shape == tuple(shape):
            return value
        return self.call("np.reshape", [value], shape=tuple(int(length) for length in shape))

    def transpose(self, value: Operand, axes: Sequence[int]) -> Operand:
        """The value with its axes in another order."""
        if tuple(axes) == tuple(range(value.spec.ndim)):
            return value
        return self.call("np.transpose", [value], axes=tuple(axes))

    def cast(self, value: Operand, dtype: np.dtype) -> Operand:
        """The value, not a Python scalar, in another dtype."""
        return value if value.spec.dtype == dtype else self.call("astype", [value], dtype=dtype)

    def strong(self, lane: Lane, dtype: np.dtype, tail: int, by_array: bool = False) -> Operand:
        """The aligned value; a Python number becomes what NumPy's promotion makes of it, `by_array` by way of an array.

        Raises:
            Refused: An integer that does not fit.
        """
        value = self.aligned(lane, tail)
        if not lane.batched or not lane.spec.weak or value.spec.dtype == dtype:
            return value
        if dtype == np.bool_:
            raise Refused("of a Python number beside arrays only its truth would be left")
        self.check_fits(lane, dtype)
        return self.cast(value if by_array else self.as_python_float(lane, value, dtype), dtype)

    def as_python_float(self, lane: Lane, value: Operand, dtype: np.dtype) -> Operand:
        """A lane's value that is about to become a `dtype`: of Python ints NumPy makes Python floats on the way."""
        is_number = lane.batched and lane.spec.weak and lane.spec.dtype.kind == "i"
        if not is_number or dtype.kind not in "fc" or dtype in (np.float64, np.complex128):
            return value
        return value if self.is_exact(lane) else self.call("each_number", [value], function="float")

    def is_exact(self, lane: Lane) -> bool:
        """Whether an integer is known to be one of those that float64 has all of."""
        if lane.form is None or lane.form.symbols:
            return False
        return max(map(abs, self.trips.bounds(lane.form))) <= 2**53

    def check_fits(self, lane: Lane, dtype: np.dtype) -> None:
        """Require that an integer which is no array fits a dtype: NumPy raises where it does not, and casts arrays.

        Raises:
            Refused: It may not fit.
        """
        spec = lane.spec
        if spec.kind == "array" or spec.dtype.kind not in "iu" or dtype.kind not in "iu":
            return
        if np.can_cast(spec.dtype, dtype):
            return
        if isinstance(lane.operand, Const):
            low = high = int(lane.operand.value)
        elif lane.form is None or lane.form.symbols:
            raise Refused("an integer of unknown size meets a small dtype")
        else:
            low, high = self.trips.bounds(lane.form)
        info = np.iinfo(dtype)
        if low < info.min or high > info.max:
            raise Refused("an integer does not fit the dtype that it meets")

    def last(self, lane: Lane) -> Operand:
        """What the lane is in the last trip, as the kind of object that it is there."""
        spec = lane.spec
        if not lane.batched:
            assert lane.operand is not None
            return lane.operand
        value = self.rows(lane) if lane.operand is None else lane.operand
        entries = (*(WHOLE,) * lane.place, -1, *(() if spec.shape or spec.kind != "array" else (Ellipsis,)))
        value = self.call("getitem", [value], index=Index(entries))
        if spec.kind == "python":
            return self.call("item", [value])
        return value

    def lane(self, operand: Operand, spec: Spec, tail: int | None = None) -> Lane:
        """A batched lane, checked.

        Raises:
            Refused: It is not of the wanted dtype and shape.
        """
        place = 0 if tail is None else spec.ndim - tail
        wanted = (*spec.shape[:place], self.count, *spec.shape[place:])
        if operand.spec.shape != wanted or operand.spec.dtype != spec.dtype:
            raise Refused(f"a batched value would be {operand.spec}, not rows of {spec}")
        return Lane(operand, spec, True, None, tail)


def constant_lane(operand: Operand, form: Affine | None = None) -> Lane:
    """A lane that is the same in all trips."""
    return Lane(operand, operand.spec, False, form if form is not None else form_of(operand, {}))
