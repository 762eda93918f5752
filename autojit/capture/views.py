"""Views: indexing, reshaping and the NumPy functions that give another view of the same memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from autojit.capture import layout
from autojit.capture.dummies import make_dummy
from autojit.capture.inverse import READONLY_VIEWS
from autojit.capture.lengths import note_shape
from autojit.capture.lists import MOST, check_axes, from_list, is_index_tuple, is_list
from autojit.capture.overlap import are_in_order, items_are_apart, vector_is_apart
from autojit.capture.recorder import Recorder
from autojit.capture.values import Arr, Items, Known, LoopInt, Opaque, Sym, ViewStep, freeze, plain
from autojit.capture.words import describe
from autojit.errors import CannotCapture, refusal
from autojit.ir.graph import Const, Operand
from autojit.ir.index import Entry, Index, Place, Slice, Window
from autojit.ir.spec import COMPILED_DTYPES, is_compiled
from autojit.ops.chapters import TABLE
from autojit.ops.trust import is_trusted


class SliceParts:
    """A slice expression whose bounds are abstract values."""

    def __init__(self, start: Any, stop: Any, step: Any) -> None:
        self.start, self.stop, self.step = start, stop, step


class Views(Recorder):
    """Indexing and views of abstract arrays."""

    # ---- steps

    def step(self, array: Arr, name: str, params: dict[str, Any], dummy: np.ndarray, **more: Any) -> Arr:
        """A view one step further."""
        step = ViewStep(TABLE[name], tuple((key, freeze(value)) for key, value in params.items()), **more)
        readonly = array.readonly or name in READONLY_VIEWS
        note_shape(self, dummy.shape)
        return Arr(array.storage, (*array.steps, step), dummy, "array", readonly)

    def transpose(self, array: Arr, axes: tuple[int, ...] | None = None) -> Arr:
        """`array.transpose(axes)`."""
        dummy = self.ask(np.transpose, array.dummy, axes)
        if array.kind != "array":
            return array
        order = tuple(range(array.dummy.ndim))[::-1] if axes is None else tuple(a % array.dummy.ndim for a in axes)
        return self.step(array, "np.transpose", {"axes": order}, dummy)

    def permuted(self, array: Arr, function: Callable[..., np.ndarray], *args: Any) -> Arr:
        """`function(array, *args)` for a function that only reorders axes: NumPy tells the order."""
        lengths = tuple(range(2, array.dummy.ndim + 2))
        result = self.ask(function, make_dummy(lengths, np.dtype(bool)), *args)
        return self.transpose(array, tuple(length - 2 for length in result.shape))

    def reshape(self, array: Arr, shape: Any, order: str = "C") -> Arr:
        """`array.reshape(shape)`: a view where NumPy makes one, else a copy."""
        size = make_dummy((array.spec.size,), np.dtype(bool))
        full = self.ask(np.reshape, size, shape).shape
        self.layout_matters(array)
        if order == "A":
            order = "F" if array.dummy.flags.fnc else "C"
        if order not in ("C", "F"):
            raise CannotCapture("raises", f"ValueError: `order={order!r}` of a reshape")
        if order == "F" and max(array.dummy.ndim, len(full)) > 1:
            # The first axis moves fastest: what C order does to the axes in reverse.
            return self.transpose(self.reshape(self.transpose(array), full[::-1]))
        try:
            dummy = np.reshape(array.dummy, full, copy=False)
        except ValueError:
            return self.apply(TABLE["np.reshape"], [array], {"shape": full})
        if array.kind == "scalar":
            return self.apply(TABLE["np.reshape"], [array], {"shape": full}) if full else array
        return self.step(array, "np.reshape", {"shape": full}, dummy)

    def ask(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Let NumPy do it on a dummy.

        Raises:
            CannotCapture: NumPy raises.
        """
        try:
            return function(*args, **kwargs)
        except Exception as error:
            raise refusal(error) from None

    def dtype_of(self, dtype: Any) -> np.dtype:
        """The dtype that an argument stands for.

        Raises:
            CannotCapture: There is none, or it equals a compiled one and is another: `np.longlong`, a user's dtype.
        """
        if isinstance(dtype, type) and not is_trusted(dtype):  # NumPy would look for an attribute `dtype`
            raise CannotCapture("argument-type", f"a dtype that is the class `{dtype.__name__}`")
        found = self.ask(np.dtype, dtype)
        if not is_compiled(found) and any(found == one for one in COMPILED_DTYPES):
            raise CannotCapture("argument-type", f"the type `{(found.type or type(found)).__name__}`")
        return found

    # ---- indexing

    def getitem(self, array: Arr, key: Any) -> Any:
        """`array[key]`."""
        if array.kind == "python":
            raise CannotCapture("raises", f"TypeError: {describe(array)} has no items")
        index, operands, names, example = self.index(array, key)
        if any(isinstance(entry, Place) and operands[entry.operand].spec.shape for entry in index.entries) or any(
            isinstance(entry, Place) and operands[entry.operand].spec.dtype == np.bool_ for entry in index.entries
        ):
            return self._add_getitem(array, index, operands, self._parts(key))
        if example is None:  # an index that is a traced scalar
            return self._add_getitem(array, index, operands)
        # With dots NumPy gives a view of no axes where it would read an element, and a dummy has none to read.
        dots = [] if any(part is Ellipsis for part in example) else [Ellipsis]
        dummy = self.ask(lambda: array.dummy[(*example, *dots)])
        if dots and not dummy.ndim:
            return self._add_getitem(array, index, operands)
        if array.kind == "scalar":
            return self._add_getitem(array, index, operands)
        self._check_places(array, index, operands)
        return self.step(array, "getitem", {"index": index}, dummy, operands=tuple(operands), names=tuple(names))

    def _check_places(self, array: Arr, index: Index, operands: list[Operand]) -> None:
        """NumPy checks the indices of a view when it is made; the program, when the view is read."""
        axis = 0
        taken = sum(entry is not None and entry is not Ellipsis for entry in index.entries)
        for entry in index.entries:
            if entry is Ellipsis:
                axis += array.dummy.ndim - taken
            elif isinstance(entry, Place) and not entry.proven:
                self._check_place(operands[entry.operand], array.shape[axis])
            axis += entry is not None and entry is not Ellipsis

    def _check_place(self, place: Operand, length: int) -> None:
        if place.spec.dtype == np.uint64:
            (above,) = self._node("np.greater_equal", [place, self.builder.const(np.uint64(length))], {})
            self.trap_if(self._node("item_bool", [above], {})[0])
            return
        if place.spec.kind != "python":
            (place,) = self._node("item_int", [place], {})
        (below,) = self._node("py_less", [place, self.builder.const(-length)], {})
        (above,) = self._node("py_greater_equal", [place, self.builder.const(length)], {})
        self.trap_if(self._node("py_or", [below, above], {})[0])

    def _add_getitem(self, array: Arr, index: Index, operands: list[Operand], parts: Sequence[Any] = ()) -> Any:
        (value,) = self._node("getitem", [self.read(array), *operands], {"index": index})
        result = self.fresh(value)
        layout.keep_indexed(array, index, operands, parts, result)
        return result

    def setitem(self, array: Arr, key: Any, value: Any) -> None:
        """`array[key] = value`."""
        if array.kind != "array":
            raise CannotCapture("raises", "TypeError: a NumPy scalar does not support item assignment")
        index, operands, _, _ = self.index(array, key)
        if is_list(value):
            items_are_apart(array, index, operands, self.flatten(value)[1])
            value = from_list(self, value, array.dtype)
            check_axes(self, array, index, operands, value)
        if isinstance(value, Arr) and value.dtype == array.dtype:
            value = plain(value)
        vector_is_apart(array, index, operands, value)
        are_in_order(self, array, index, self._parts(key), value)
        whole, new = self.read(array), self.operand(value)
        if self.builder.predicate is None or any(operand.spec.dtype == np.bool_ for operand in operands):
            self.write(array, self._node("setitem", [whole, new, *operands], {"index": index})[0])
            return
        # In a branch only the part that is assigned is chosen, not all of the array.
        (old,) = self._node("getitem", [whole, *operands], {"index": index})
        if new.spec.kind == "python":
            new = self._assigned(new, array.dtype)
        if new.spec.dtype != array.dtype:
            (new,) = self._node("astype", [new], {"dtype": array.dtype})
        if not _fits(new.spec.shape, old.spec.shape):
            raise CannotCapture("data-branch", "an assignment in a branch that NumPy would broadcast or refuse")
        new = self.where(new, old)
        self.commit(array, self._node("setitem", [whole, new, *operands], {"index": index})[0])

    def _assigned(self, number: Operand, dtype: np.dtype) -> Operand:
        """A Python number as an array without axes, to be assigned to elements of a dtype."""
        if isinstance(number, Const):
            held = np.zeros((), dtype)
            with np.errstate(all="ignore"):
                self.ask(held.__setitem__, (), number.value)
            return self.builder.const(held[()])
        if number.spec.dtype.kind == "i" and dtype.kind in "iu" and dtype != np.int64:
            raise CannotCapture("data-branch", "an assignment in a branch of a Python int that may not fit")
        if number.spec.dtype.kind == "i" and dtype.kind in "fc":  # which may be rounded twice
            return self._node("pack", [number], {"shape": (), "dtype": dtype})[0]
        return self._node("np.broadcast_to", [number], {"shape": ()})[0]

    def _node(self, name: str, inputs: list[Operand], params: dict[str, Any]) -> Any:
        try:
            return self.builder.add(TABLE[name], inputs, params, self.line)
        except CannotCapture:
            raise
        except Exception as error:
            raise refusal(error) from None

    def index(self, array: Arr, key: Any) -> tuple[Index, list[Operand], list[str], Any]:
        """An index expression as static data, its run-time operands, their prologue names, and an example.

        The example is a basic NumPy index for the dummy, or `None` when there is none.
        """
        parts = self._parts(key)
        entries: list[Entry] = []
        operands: list[Operand] = []
        names: list[str] = []
        example: list[Any] | None = []
        used = sum(map(self.axes_used, parts))
        axis = 0
        for part in parts:
            if isinstance(part, Known) and part.value is Ellipsis:
                axis += array.dummy.ndim - used
                entries.append(Ellipsis)
                sample: Any = Ellipsis
            else:
                entry, sample = self._entry(array, part, axis, operands, names)
                entries.append(entry)
                axis += self.axes_used(part)
            if example is not None:
                example = None if sample is _NO_EXAMPLE else [*example, sample]
        return Index(tuple(entries)), operands, names, None if example is None else tuple(example)

    def _parts(self, key: Any) -> Sequence[Any]:
        if isinstance(key, Known) and isinstance(key.value, tuple):
            key = self.open(key)
        return key.values if isinstance(key, Items) and is_index_tuple(key) else [key]

    def axes_used(self, part: Any) -> int:
        """How many axes a part of an index is for: a boolean array is for as many as it has."""
        if isinstance(part, Known) and (part.value is None or part.value is Ellipsis):
            return 0
        if is_list(part):
            shape, items = self.flatten(part)
            return len(shape) if items and all(map(_is_bool, items)) else 1
        return part.dummy.ndim if isinstance(part, Arr) and part.dtype == np.bool_ else 1

    def _entry(self, array: Arr, part: Any, axis: int, operands: list[Operand], names: list[str]) -> tuple[Entry, Any]:
        def place(operand: Operand, name: str = "") -> Place:
            operands.append(operand)
            names.append(name)
            return Place(len(operands) - 1)

        if isinstance(part, SliceParts):
            return self._slice(array, part, axis, operands, names)
        if isinstance(part, Opaque):
            raise part.error()
        if isinstance(part, Known):
            value = part.value
            if value is None:
                return None, None
            if isinstance(value, slice):
                return Slice(*_bounds(value)), value
            if isinstance(value, bool | np.bool_):
                raise CannotCapture("unsupported-syntax", "a bool as an index")
            if isinstance(value, int | np.integer):
                return int(value), int(value)
            if isinstance(value, list | tuple):
                return place(self.operand(self.as_array(part))), _NO_EXAMPLE
            raise CannotCapture("unsupported-syntax", f"an index that is {describe(part)}")
        if isinstance(part, LoopInt):
            length = array.shape[axis] if axis < array.dummy.ndim else 0
            inside = part.low is not None and part.high is not None and part.low >= 0 and part.high < length
            return replace(place(part.value), proven=inside), 0 if length else _NO_EXAMPLE
        if isinstance(part, Sym):
            if not isinstance(part.value, int | np.integer) or isinstance(part.value, bool | np.bool_):
                raise CannotCapture("raises", "an index that is not an integer")
            if not part.moving:
                value = int(self.demand(part))
                return value, value
            length = array.shape[axis] if axis < array.dummy.ndim else 0
            inside = bool(-length <= part.value < length)
            self._require(f"{-length} <= {part.name} < {length}", inside, "an index is inside the array")
            return place(self.operand(part), part.name), int(part.value)
        if isinstance(part, Items):
            return place(self.operand(self.as_array(part))), _NO_EXAMPLE
        if isinstance(part, Arr):
            if part.dtype.kind not in "iub":
                raise CannotCapture("raises", "IndexError: arrays used as indices must be of integer or boolean type")
            if part.kind != "array" and part.dtype.kind != "b":
                # A number taken out of an array: what is left of the axes is a view.
                length = array.shape[axis] if axis < array.dummy.ndim else 0
                return place(self.read(part)), 0 if length else _NO_EXAMPLE
            return place(self.read(part)), _NO_EXAMPLE
        raise CannotCapture("unsupported-syntax", f"an index that is {describe(part)}")

    def _slice(
        self, array: Arr, part: SliceParts, axis: int, operands: list[Operand], names: list[str]
    ) -> tuple[Entry, Any]:
        bounds = (part.start, part.stop, part.step)
        if any(isinstance(bound, LoopInt) for bound in bounds):
            return self._loop_slice(array, part, axis, operands, names)
        moving = [bound for bound in bounds if isinstance(bound, Sym) and bound.moving]
        if not moving:
            value = slice(*(self._bound(bound) for bound in bounds))
            return Slice(*_bounds(value)), value
        length = array.shape[axis] if axis < array.dummy.ndim else 0
        step = self._bound(part.step)
        start = part.start if not _is_none(part.start) else Known(0)
        stop = part.stop if not _is_none(part.stop) else Known(length)
        extent = None if step not in (None, 1) else _difference(stop, start)
        if extent is None or not isinstance(start, Sym):
            raise CannotCapture("moving-shape", "the length of a slice changes with a loop variable")
        stop_text = stop.name if isinstance(stop, Sym) else repr(stop.value)
        inside = 0 <= start.value <= stop.value <= length
        self._require(f"0 <= {start.name} <= {stop_text} <= {length}", inside, "a moving slice is inside the array")
        operands.append(self.operand(start))
        names.append(start.name)
        window = Window(len(operands) - 1, extent, proven=True)
        return window, slice(int(start.value), int(start.value) + extent)

    def _require(self, text: str, holds: bool, why: str) -> None:
        """Check a condition on loop variables; where it does not hold already, calls like this one stay native."""
        self.prologue.check(text if holds else f"not ({text})", why)
        if not holds:
            raise CannotCapture("moving-shape", f"not always: {why}")

    def _loop_slice(
        self, array: Arr, part: SliceParts, axis: int, operands: list[Operand], names: list[str]
    ) -> tuple[Entry, Any]:
        """A slice of fixed length whose start moves with a loop, provably inside the array."""
        length = array.shape[axis] if axis < array.dummy.ndim else 0
        start, stop = part.start, part.stop
        extent = self._extent(start, stop) if self._bound(part.step) in (None, 1) else None
        if extent is None:
            raise CannotCapture("moving-shape", "the length of a slice changes with a loop variable")
        if extent < 0 and (stop.low is None or stop.low < 0):
            raise CannotCapture("moving-shape", "a moving slice may end at a place that is counted from the end")
        extent = max(extent, 0)
        if start.low is None or start.high is None or start.low < 0 or start.high + extent > length:
            raise CannotCapture("moving-shape", "a moving slice may reach over the end of the array")
        operands.append(start.value)
        names.append("")
        return Window(len(operands) - 1, extent, proven=True), slice(0, extent)

    def _extent(self, start: Any, stop: Any) -> int | None:
        """`stop - start` when the loop variables in it cancel, be it negative; scalars that remain are demanded."""
        if not (isinstance(start, LoopInt) and isinstance(stop, LoopInt) and start.affine and stop.affine):
            return None
        terms = dict(stop.affine[0])
        for name, coefficient in start.affine[0]:
            terms[name] = terms.get(name, 0) - coefficient
        extent = stop.affine[1] - start.affine[1]
        for name, coefficient in terms.items():
            if coefficient:
                sym = self.syms.get(name)
                if sym is None:
                    return None
                extent += coefficient * self.demand(sym)
        return extent

    def _bound(self, bound: Any) -> int | None:
        value = self.static(bound)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | np.integer):
            raise CannotCapture("raises", "a slice bound that is not an integer")
        return int(value)

    def as_array(self, value: Any, dtype: np.dtype | None = None) -> Arr:
        """`np.asarray` of nested sequences of scalars and arrays; numbers are rounded to a dtype one by one.

        What is an array already keeps its dtype.
        """
        if isinstance(value, Arr) and value.kind != "python":
            return value
        if isinstance(value, Known) and isinstance(value.value, list | tuple):
            value = self.open(value)
        if isinstance(value, Arr | Sym | LoopInt | Known):  # a number, of which an array is no view
            if dtype is not None:
                return self.apply(TABLE["np.full"], [value], {"shape": (), "dtype": dtype})
            return self.apply(TABLE["np.broadcast_to"], [value], {"shape": ()})
        if not isinstance(value, Items) or isinstance(value.items, dict):
            raise CannotCapture("argument-type", f"{describe(value)} as an array")
        shape, flat = self.flatten(value)
        if len(flat) > MOST and any(isinstance(item, Arr | Sym) for item in flat):
            raise CannotCapture("budget", f"a list of {len(flat)} numbers and arrays as an array")
        if not any(isinstance(item, Arr | Sym) for item in flat):
            return self.fresh_constant(self._of_constants(self.static(value), dtype))
        if any(isinstance(item, Arr) and item.dummy.ndim for item in flat):
            arrays = [self.as_array(item, dtype) for item in value.items]
            if dtype is not None:
                arrays = [self.apply(TABLE["astype"], [array], {"dtype": dtype}) for array in arrays]
            stacked = self.apply(TABLE["np.stack"], arrays, {"axis": 0})
            return self.fresh(self.read(stacked))  # in C order, which that of `np.stack` may not be
        dtype = self._dtype_of_items(flat) if dtype is None else dtype
        return self.apply(TABLE["pack"], flat, {"shape": shape, "dtype": dtype})

    def _of_constants(self, items: Any, dtype: np.dtype | None) -> np.ndarray:
        made = self.ask(np.array, items)
        are_large = made.dtype == object and all(type(item) in (int, float) for item in made.flat)
        if dtype is None or not (are_large or np.can_cast(made.dtype, dtype, "same_kind")):
            return made
        with np.errstate(all="ignore"):
            return self.ask(np.array, items, dtype)

    def _dtype_of_items(self, items: list[Any]) -> np.dtype:
        specs = [self.operand(item).spec for item in items]
        self.ask(np.result_type, *(_sample(spec) for spec in specs))
        if all(spec.kind == "python" for spec in specs):
            return self.ask(lambda: np.array([_sample(spec) for spec in specs]).dtype)
        return self.ask(lambda: np.array([np.asarray(_sample(spec)) for spec in specs]).dtype)

    def fresh_constant(self, array: np.ndarray) -> Arr:
        """An array with known contents, made anew by each run: the user may write to it."""
        made = self.constant(array)
        if not isinstance(made, Arr):
            raise CannotCapture("argument-type", f"an array of dtype `{array.dtype}`")
        return self.fresh(self.read(made))

    def flatten(self, value: Any, depth: int = 0) -> tuple[tuple[int, ...], list[Any]]:
        """The shape of a nested list, and its items."""
        if isinstance(value, Known) and isinstance(value.value, list | tuple):
            value = self.open(value)
        if not isinstance(value, Items) or isinstance(value.items, dict):
            return (), [value]
        if depth > 64:
            raise CannotCapture("argument-type", "a list that is nested deeply, or holds itself")
        shapes, flat = [], []
        for item in value.items:
            shape, inner = self.flatten(item, depth + 1)
            shapes.append(shape)
            flat += inner
        if len(set(shapes)) > 1:
            if any(isinstance(item, Arr) and item.dummy.ndim for item in flat):
                return (len(shapes),), flat
            raise CannotCapture("raises", "ValueError: a ragged nested sequence as an array")
        return (len(shapes), *(shapes[0] if shapes else ())), flat


#: Integers without an `__index__` of the user's.
_SLICE_BOUNDS = frozenset([int, bool, *(dtype.type for dtype in COMPILED_DTYPES if dtype.kind in "iu")])


class _NoExample:
    pass


_NO_EXAMPLE = _NoExample()


def _bounds(value: slice) -> tuple[int | None, int | None, int | None]:
    for part in (value.start, value.stop, value.step):
        if part is not None and type(part) not in _SLICE_BOUNDS:
            raise CannotCapture("raises", f"a slice bound of type `{type(part).__name__}`")
    # The checker cannot know: three parts.
    return tuple(None if part is None else int(part) for part in (value.start, value.stop, value.step))  # type: ignore[return-value]


def _is_none(value: Any) -> bool:
    return isinstance(value, Known) and value.value is None


def _difference(stop: Any, start: Any) -> int | None:
    """`stop - start` when it is the same for all values of the loop variables."""
    if type(stop) is type(start) and isinstance(stop, Sym) and stop.affine and start.affine:
        if stop.affine[0] == start.affine[0]:
            return max(stop.affine[1] - start.affine[1], 0)
    return None


def _sample(spec: Any) -> Any:
    if spec.kind == "python":
        return {"b": True, "i": 1, "f": 1.0, "c": 1j}[spec.dtype.kind]
    return np.zeros((), spec.dtype)[()]


def _fits(shape: tuple[int, ...], target: tuple[int, ...]) -> bool:
    """Whether an array can be broadcast to a shape."""
    ends = zip(reversed(shape), reversed(target), strict=False)
    return len(shape) <= len(target) and all(one in (1, other) for one, other in ends)


def _is_bool(item: Any) -> bool:
    if isinstance(item, Arr):
        return item.dtype == np.bool_
    return isinstance(getattr(item, "value", None), bool | np.bool_)
