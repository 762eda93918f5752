"""Elements that a boolean array selects: `x[mask]` is all of `x`, with the mask beside it."""

from __future__ import annotations

from typing import Any

import numpy as np

from autojit.capture.functions import method_arguments
from autojit.capture.lists import check_single, is_index_tuple
from autojit.capture.overlap import mask_is_apart
from autojit.capture.products import multiplies_single
from autojit.capture.ragged_functions import RaggedFunctions
from autojit.capture.reduced import Part, before_scan
from autojit.capture.values import Arr, Items, Known, LoopInt, Masked, Ragged, Sym
from autojit.capture.views import SliceParts
from autojit.errors import CannotCapture
from autojit.ir.op import Op
from autojit.ops.chapters import TABLE
from autojit.ops.reductions_common import normal_axes

#: Elementwise operations that trap for some elements: those that are not selected are given ones.
_TRAPPING = frozenset(
    "np.floor_divide np.remainder np.divmod np.fmod np.reciprocal np.power np.left_shift np.right_shift astype".split()
)


class MaskedArrays(RaggedFunctions):
    """What can be done with elements whose number the data decides."""

    # ---- reading

    def getitem(self, array: Any, key: Any) -> Any:
        """`array[key]`."""
        if isinstance(array, Masked):
            return self._of_masked(array, key)
        if isinstance(array, Arr):
            found = self._selection(array, key)
            if found is not None:
                whole, mask = found
                return Masked(self.fresh(self.read(whole)), self.read(mask))
        return super().getitem(array, key)

    def _selection(self, array: Arr, key: Any) -> tuple[Arr, Arr] | None:
        """The array and the mask of an index that is a mask of the first axes, and basic indices behind it."""
        parts = key.values if isinstance(key, Items) and is_index_tuple(key) else [key]
        mask, used = self._mask_of(parts)
        if mask is None or array.kind != "array" or mask.shape != array.shape[: mask.dummy.ndim]:
            return None
        if used == len(parts):
            return array, mask
        if not all(_is_basic(part) for part in parts[used:]):
            return None
        rest = [Known(slice(None))] * mask.dummy.ndim
        view = self.getitem(array, Items(tuple, [*rest, *parts[used:]]))
        return (view, mask) if isinstance(view, Arr) and view.kind == "array" else None

    def _mask_of(self, parts: list[Any]) -> tuple[Arr | None, int]:
        """The mask that the first parts of an index stand for, and how many parts that are."""
        first = parts[0] if parts else None
        if isinstance(first, Arr):
            return (first, 1) if first.dtype == np.bool_ and first.dummy.ndim else (None, 0)
        if not isinstance(first, Masked) or first.places is None:
            return None, 0
        count = first.mask.spec.ndim
        for axis, part in enumerate(parts[:count]):
            if not isinstance(part, Masked) or part.places is None or part.mask is not first.mask:
                return None, 0
            numbered, numbers = part.places
            if numbered != axis or part.full.storage.value is not numbers:  # they may have been changed
                return None, 0
        return (self.fresh(first.mask), count) if len(parts) >= count else (None, 0)

    def _of_masked(self, array: Masked, key: Any) -> Any:
        """An index into selected elements: another mask, or indices of the axes behind the first."""
        parts = key.values if isinstance(key, Items) and is_index_tuple(key) else [key]
        if isinstance(key, Masked) and _is_selected_mask(array, key):
            both = self.apply(TABLE["np.logical_and"], [self.fresh(array.mask), key.full], {})
            return Masked(self.copy(array.full), self.read(both))
        if len(parts) > 1 and _is_whole(parts[0]) and all(_is_basic(part) for part in parts[1:]):
            rest = [Known(slice(None))] * array.mask.spec.ndim
            rest += parts[:1] if _is_known(parts[0], Ellipsis) else []  # what follows is of the last axes
            view = self.getitem(array.full, Items(tuple, [*rest, *parts[1:]]))
            if isinstance(view, Arr):
                return Masked(view, array.mask)
        raise self.data_shape("an index into them")

    # ---- writing

    def setitem(self, array: Any, key: Any, value: Any) -> None:
        """`array[key] = value`."""
        if isinstance(array, Masked):
            if isinstance(key, Masked) and _is_selected_mask(array, key):
                self.setitem(array.full, key.full, self._unmasked(value, array))
            elif _is_whole(key):
                self.setitem(array.full, Known(Ellipsis), self._unmasked(value, array))
            else:
                raise self.data_shape("an assignment to some of them")
            return
        found = self._selection(array, key) if isinstance(array, Arr) and array.kind == "array" else None
        mask_is_apart(key, array)
        if isinstance(value, Masked):
            if found is None:
                raise self.data_shape("their assignment to another index")
            self._assign(*found, value)
        elif found is not None and isinstance(key, Items):
            self.setitem(*found, value)
        elif found is not None and isinstance(key, Masked):
            self.setitem(found[0], found[1], value)
        else:
            super().setitem(array, key, value)

    def _unmasked(self, value: Any, like: Masked) -> Any:
        if isinstance(value, Masked) and value.mask is like.mask and value.full.shape == like.full.shape:
            return value.full
        if isinstance(value, Masked | Ragged) or (isinstance(value, Arr) and value.dummy.ndim):
            raise self.data_shape("an array assigned to them")
        check_single(value)
        return value

    def _assign(self, array: Arr, mask: Arr, value: Masked) -> None:
        """`array[mask] = x[mask]`: a choice. The mask must be the same value."""
        if self.read(mask) is not value.mask:
            raise CannotCapture("data-shape", "the data decides how many of the assigned values are used")
        full = value.full
        if full.dtype.kind == "c" and array.dtype.kind != "c":
            raise CannotCapture("raises", "complex values into an array that is not complex")
        if full.dummy.ndim != array.dummy.ndim:
            raise self.data_shape("an array of other axes assigned to them")
        if full.dtype != array.dtype:
            full = self.apply(TABLE["astype"], [value], {"dtype": array.dtype}).full
        wide = self._inside(self.read(mask), array.dummy.ndim)
        chosen = self.apply(TABLE["np.where"], [wide, full, self.fresh(self.read(array))], {})
        if chosen.shape != array.shape:
            raise CannotCapture("raises", "ValueError: shape mismatch in a masked assignment")
        self.write(array, self.read(chosen))

    def inplace(self, kind: type, target: Any, value: Any) -> Any:
        """`target <operator>= value`; the copy `x[mask]` keeps its dtype."""
        if not isinstance(target, Masked):
            return super().inplace(kind, target, value)
        result = self.binary(kind, target, value)
        if not isinstance(result, Masked) or result.mask is not target.mask:
            raise self.data_shape("an operation in place")
        self.store(target.full, result.full)
        return target

    def _inside(self, mask: Any, ndim: int) -> Arr:
        """A mask of the first axes, in a shape that broadcasts against all of them."""
        array = self.fresh(mask)
        missing = ndim - array.dummy.ndim
        if not missing:
            return array
        return self.apply(TABLE["np.reshape"], [array], {"shape": array.shape + (1,) * missing})

    # ---- attributes and functions

    def array_attribute(self, array: Any, name: str) -> Any:
        """`array.name`."""
        if not isinstance(array, Masked):
            return super().array_attribute(array, name)
        ndim = array.mask.spec.ndim
        rest = array.full.shape[ndim:]
        if name == "shape":
            return Items(tuple, [self.count_of(array), *(Known(length) for length in rest)])
        if name == "size":
            count = self.count_of(array)
            return count if not rest else self.operate("Mult", count, Known(int(np.prod(rest, dtype=int))))
        if name in ("dtype", "itemsize"):
            return Known(getattr(array.full.dummy, name))
        if name == "ndim":
            return Known(1 + len(rest))
        if name == "T" and not rest:
            return Masked(array.full, array.mask, array.places)
        if name == "real" and array.full.dtype.kind != "c":
            return array
        if name in ("real", "imag"):
            return Masked(super().array_attribute(array.full, name), array.mask)
        found = super().array_attribute(array.full, name)
        if type(found).__name__ != "Method":
            raise self.data_shape(f"the attribute `.{name}`")
        found.owner = array
        return found

    def count_of(self, array: Masked) -> Arr:
        """How many elements are selected, as a Python int."""
        count = self.apply(TABLE["np.count_nonzero"], [self.fresh(array.mask)], {})
        return self.apply(TABLE["item_int"], [count], {})

    def call_method(self, array: Any, name: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """`array.name(*args, **kwargs)`."""
        if not isinstance(array, Masked):
            if name == "nonzero" and isinstance(array, Arr) and array.dummy.ndim and not args and not kwargs:
                return self.places_of(array)
            return super().call_method(array, name, args, kwargs)
        is_flat = array.full.dummy.ndim == array.mask.spec.ndim
        if not args and not kwargs and (name == "copy" or (name in ("ravel", "flatten") and is_flat)):
            if name == "ravel":
                if not array.full.dummy.flags.c_contiguous:  # a column of selected rows: NumPy makes a copy
                    raise self.data_shape("`.ravel`")
                return Masked(array.full, array.mask, array.places)
            copied, places = self.copy(array.full), array.places
            still = places is not None and array.full.storage.value is places[1]
            return Masked(copied, array.mask, (places[0], copied.storage.value) if still else None)
        if name == "astype" and len(args) == 1 and not kwargs:
            return self.apply(TABLE["astype"], [array], {"dtype": self.dtype_of(self.static(args[0]))})
        if name in ("conj", "conjugate") and not args and not kwargs and array.full.dtype.kind in "biuf":
            return array
        if name == "fill" and len(args) == 1 and not kwargs:
            check_single(args[0])
            self.setitem(array, Known(Ellipsis), args[0])
            return Known(None)
        row = TABLE.method(name)
        if row is None or row.family not in ("reduction", "elementwise", "contraction"):
            raise self.data_shape(f"the method `.{name}`")
        args, kwargs = method_arguments(name, args, kwargs)
        return self.call_row(row, [array, *args], kwargs, row.numpy[0] if row.numpy else None)

    def call_numpy(self, function: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """Call a NumPy function."""
        if len(args) == 1 and not kwargs and isinstance(args[0], Arr) and args[0].dummy.ndim:
            if function is np.where or function is np.nonzero:
                return self.places_of(args[0])
            if function is np.flatnonzero and args[0].dummy.ndim == 1 and self.hidden:
                return self.places_of(args[0]).items[0]
        if args and isinstance(args[0], Masked):
            if len(args) == 1 and not kwargs and (function is np.copy or function is np.array):
                return Masked(self.copy(args[0].full), args[0].mask)
            if function is np.asarray and len(args) == 1 and not kwargs:
                return args[0]
        return super().call_numpy(function, args, kwargs)

    def places_of(self, array: Arr) -> Items:
        """`np.nonzero(array)`: the numbers of the places, as elements that a mask selects."""
        mask = array
        if array.dtype != np.bool_:
            mask = self.apply(TABLE["np.not_equal"], [array, Known(array.dtype.type(0))], {})
        operand = self.read(mask)
        found = []
        for axis, length in enumerate(array.shape):
            numbers = self.places(length)
            shape = tuple(length if a == axis else 1 for a in range(array.dummy.ndim))
            column = self.apply(TABLE["np.reshape"], [numbers], {"shape": shape})
            grid = self.apply(TABLE["np.broadcast_to"], [column], {"shape": array.shape})
            found.append(Masked(grid, operand, (axis, grid.storage.value)))
        return Items(tuple, found)

    # ---- operations

    def apply(self, op: Op, operands: Any, params: dict[str, Any]) -> Any:
        """Add a node, or several for elements that a mask selects."""
        chosen = [value for value in operands if isinstance(value, Masked)]
        if not chosen:
            return super().apply(op, operands, params)
        if any(value.mask is not chosen[0].mask for value in chosen):
            raise self.data_shape(f"`{op.name}` of elements that different arrays select")
        if op.broadcasts:
            return self._each(op, list(operands), params, chosen)
        if op.family == "contraction":
            return self._product(op, list(operands), params)
        if op.name == "np.average" and len(operands) == 2 and _is_known(operands[1], True):
            self._trap_if_none(chosen[0])  # it divides by the number of its results
            op, operands = TABLE["np.mean"], operands[:1]
        if len(operands) == 1 and op.name in ("np.cumsum", "np.cumprod") and chosen[0].full.dummy.ndim == 1:
            filled = self._filled(chosen[0], before_scan(op, chosen[0].full.dtype))
            return Masked(self.apply(op, [filled], params), chosen[0].mask)
        if len(operands) == 1 and self.is_reduction(op):
            return self._reduce_masked(op, chosen[0], params)
        raise self.data_shape(f"`{op.name}`")

    def _each(self, op: Op, operands: list[Any], params: dict[str, Any], chosen: list[Masked]) -> Any:
        ndim = chosen[0].mask.spec.ndim
        rest = {value.full.dummy.ndim - ndim for value in chosen}
        others = [value.dummy.ndim for value in operands if isinstance(value, Arr)]
        if len(rest) > 1 or any(isinstance(value, Ragged) for value in operands) or max(others, default=0) > max(rest):
            raise self.data_shape(f"`{op.name}` with an array of other axes")
        if op.name in _TRAPPING:
            operands = [self._masked_ones(value) if isinstance(value, Masked) else value for value in operands]
        results = self.apply(op, [v.full if isinstance(v, Masked) else v for v in operands], params)
        if isinstance(results, list):
            return [Masked(result, chosen[0].mask) for result in results]
        return Masked(results, chosen[0].mask)

    def _masked_ones(self, value: Masked) -> Masked:
        return Masked(self._filled(value, 1), value.mask)

    def _filled(self, value: Masked, number: Any) -> Arr:
        """The array with a number where nothing is selected."""
        inside = self._inside(value.mask, value.full.dummy.ndim)
        return self.apply(TABLE["np.where"], [inside, value.full, Known(value.full.dtype.type(number))], {})

    def _reduce_masked(self, op: Op, value: Masked, params: dict[str, Any]) -> Any:
        covered, full = value.mask.spec.ndim, value.full
        rest = full.dummy.ndim - covered
        default = 0 if op.name.endswith(".reduce") else None
        wanted = params.get("axis", default)
        if op.name == "np.linalg.norm" and params.get("ord") is not None and (covered > 1 or isinstance(wanted, tuple)):
            raise self.data_shape("a norm that tells rows from columns, or a vector from a matrix,")
        axes = self.ask(normal_axes, wanted, 1 + rest)
        behind = tuple(axis - 1 + covered for axis in axes if axis)
        if 0 not in axes:
            return Masked(self.apply(op, [full], {**params, "axis": behind}), value.mask)
        if params.get("keepdims") and covered > 1:
            raise self.data_shape("a reduction that keeps its axes")
        mask = self.fresh(value.mask)
        if op.name in ("np.argmax", "np.argmin"):
            if rest or params.get("keepdims"):
                raise self.data_shape("the place of an extreme")
            return self._place_of_extreme(op, value)
        count = self.apply(TABLE["np.count_nonzero"], [mask], {})
        if self.needs_elements(op):
            self._trap_if_none(value)
        factor = int(np.prod([full.shape[axis] for axis in behind], dtype=int))
        if factor != 1:
            count = self.apply(TABLE["np.multiply"], [count, Known(factor)], {})
        every = (*range(covered), *behind)
        axis = None if wanted is None and covered + len(behind) == full.dummy.ndim else every
        if axis is not None and len(every) == 1:
            axis = every[0]
        part = Part(full, self._inside(value.mask, full.dummy.ndim), every, count, {**params, "axis": axis})
        return self.reduce_part(op, part)

    def _trap_if_none(self, value: Masked) -> None:
        """Leave the call to NumPy when nothing is selected."""
        operands = [self.operand(self.count_of(value)), self.builder.const(0)]
        self.trap_if(self.builder.add(TABLE["py_equal"], operands, {}, self.line)[0])

    def _place_of_extreme(self, op: Op, value: Masked) -> Any:
        """The number of the extreme among the selected elements: how many are selected in front of it."""
        self._trap_if_none(value)
        full, flat = value.full, (value.full.spec.size,)
        part = Part(full, self.fresh(value.mask), tuple(range(full.dummy.ndim)), None, {})
        place = self.apply(op, [self.only(part, self.worst(op, full.dtype))], {})
        before = self.apply(TABLE["np.less"], [self.places(flat[0]), place], {})
        mask = self.apply(TABLE["np.reshape"], [self.fresh(value.mask)], {"shape": flat})
        both = self.apply(TABLE["np.logical_and"], [before, mask], {})
        return self.apply(TABLE["np.count_nonzero"], [both], {})

    def _product(self, op: Op, operands: list[Any], params: dict[str, Any]) -> Any:
        """A product that sums over the selected elements: the others count as zero."""
        ndims = [v.full.dummy.ndim - v.mask.spec.ndim + 1 if isinstance(v, Masked) else None for v in operands]
        if op.name not in ("np.dot", "np.matmul", "np.inner", "np.vdot") or None in ndims or ndims[0] != 1:
            raise self.data_shape(f"`{op.name}`")
        if ndims[1] != 1 and (op.name not in ("np.dot", "np.matmul") or ndims[1] != 2):
            raise self.data_shape(f"`{op.name}`")
        parts = []
        for value in operands:
            covered = value.mask.spec.ndim
            shape = (value.mask.spec.size, *value.full.shape[covered:])
            parts.append(self.apply(TABLE["np.reshape"], [self._filled(value, 0)], {"shape": shape}))
        result = self.apply(op, parts, params)
        if multiplies_single(op, parts):
            self._trap_if_single_zero(operands[0], result)
        return result

    def _trap_if_single_zero(self, chosen: Masked, product: Arr) -> None:
        """A product with a single number is another one in NumPy.

        Of two single numbers it may be a negative zero, which a sum is not. A single zero makes zeros of infinities.
        """
        count = [self.operand(self.count_of(chosen)), self.builder.const(1)]
        (single,) = self.builder.add(TABLE["py_equal"], count, {}, self.line)
        if product.spec.size > 1:
            self.trap_unless_finite(product, single)
            return
        parts = [product]
        if product.dtype.kind == "c":
            parts = [self.apply(TABLE[name], parts, {}) for name in ("np.real", "np.imag")]
        for part in parts:
            zero = self.apply(TABLE["np.any"], [self.apply(TABLE["np.equal"], [part, Known(0)], {})], {})
            self.trap_if(self.read(self.apply(TABLE["np.logical_and"], [self.fresh(single), zero], {})))

    def data_shape(self, what: str) -> CannotCapture:
        """The refusal of something that needs to know which elements are selected."""
        detail = f"{what}: a boolean array selects a number of elements that the data decides"
        return CannotCapture("data-shape", detail)


def _is_basic(part: Any) -> bool:
    if isinstance(part, Known):
        return part.value is None or isinstance(part.value, int | np.integer | slice)
    return isinstance(part, SliceParts | LoopInt | Sym)


def _is_whole(part: Any) -> bool:
    if isinstance(part, SliceParts):
        return all(_is_known(bound, None) for bound in (part.start, part.stop, part.step))
    return isinstance(part, Known) and (part.value is Ellipsis or part.value == slice(None))


def _is_known(value: Any, constant: Any) -> bool:
    return isinstance(value, Known) and value.value is constant


def _is_selected_mask(array: Masked, key: Masked) -> bool:
    """Whether an index of selected elements is a boolean array that the same mask selects."""
    return key.mask is array.mask and key.full.dtype == np.bool_ and key.full.shape == array.mask.spec.shape
