"""What a loop's names are bound to at the head of an iteration."""

from __future__ import annotations

from typing import Any

import numpy as np

from autojit.capture.branches import Branches
from autojit.capture.build import BodyBuilder
from autojit.capture.dummies import make_dummy
from autojit.capture.ints import carried_ints
from autojit.capture.loop_parts import Course
from autojit.capture.python_numbers import bounds_of
from autojit.capture.values import Arr, Known, LoopInt, Storage, Sym
from autojit.errors import CannotCapture
from autojit.ir.index import ends_of
from autojit.ir.spec import Spec

_INT64 = np.dtype(np.int64)


class Heads(Branches):
    """The index and the carried values of a loop."""

    def index_of(self, course: Course, inner: BodyBuilder) -> LoopInt:
        """The index of a loop, at the head of an iteration."""
        value = inner.input(Spec((), _INT64, "python"), "index")
        static = course.static
        bounds = [course.start, course.stop] if static is None else [Known(end) for end in ends_of(static)]
        self.note_index(value.name, *bounds)
        if static is not None:
            low, high = ends_of(static)
        else:
            self.range_bounds += bounds
            (first, top), (bottom, last) = map(bounds_of, bounds)
            if course.step > 0:
                low, high = first, None if last is None else last - 1
            else:
                low, high = None if bottom is None else bottom + 1, top
        return LoopInt(value, low, high, (((value.name, 1),), 0))

    def head(self, name: str, value: Any, inner: BodyBuilder, dtype: np.dtype | None = None) -> Arr:
        """What a carried name is bound to at the head of an iteration; a NumPy scalar where a `dtype` is given."""
        if dtype is not None:
            slot = inner.input(Spec((), dtype, "scalar"), ascii_name(name))
            flag, ints = inner.input(Spec((), np.dtype(bool), "python")), carried_ints(value)
            return Arr(Storage(slot, slot.spec), (), make_dummy((), dtype), "scalar", python=flag, ints=ints)
        shared = isinstance(value, Arr) and value.kind == "array" and not self.is_private(value)
        if isinstance(value, Known | Sym | LoopInt):
            value = self.as_scalar(value)
        if not isinstance(value, Arr):
            raise CannotCapture("long-loop", "it carries an object that is not an array or number")
        spec = value.spec
        slot = inner.input(spec, ascii_name(name))
        origins = value.storage.origins or (value.storage,) if self.has_chosen else ()
        storage = Storage(slot, spec, shared=shared, origins=origins)
        return Arr(storage, (), make_dummy(spec.shape, spec.dtype), spec.kind, several=True)

    def as_scalar(self, value: Any) -> Arr:
        """A number as an array of no axes."""
        operand = self.operand(value)
        return Arr(Storage(operand, operand.spec), (), make_dummy((), operand.spec.dtype), operand.spec.kind)


def ascii_name(name: str) -> str | None:
    """A user's name that may stand in a graph."""
    return name if name.isascii() else None
