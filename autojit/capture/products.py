"""Products that sum over axes whose length moves with a loop: `A[i, :i] @ x[:i]`."""

from __future__ import annotations

import string
from typing import Any

import numpy as np

from autojit.capture.einsum import check_subscripts
from autojit.capture.python_numbers import bounds_of
from autojit.capture.reduced import Reductions
from autojit.capture.values import Arr, Items, Known, Ragged, Span
from autojit.errors import CannotCapture
from autojit.ir.graph import Operand
from autojit.ir.op import Op
from autojit.ops.chapters import TABLE

#: The dtypes, as characters, whose products are BLAS's.
_BLAS = "fdFD"
#: Dtypes whose products may be summed by a reduction: the sum has the same dtype.
_SUMMED = ("float32", "float64", "complex64", "complex128", "int64")


class Products(Reductions):
    """Contractions with operands of moving length."""

    def apply_ragged(self, op: Op, operands: list[Any], params: dict[str, Any]) -> Any:
        """A product of slices whose length moves."""
        if op.family != "contraction":
            return super().apply_ragged(op, operands, params)
        if op.name in ("np.dot", "np.inner") and any(_ndim(value) == 0 for value in operands):
            product = self.apply(TABLE["np.multiply"], operands, {})
            if _full(product).dtype.char in _BLAS:
                raise CannotCapture("moving-shape", f"`{op.name}` of a single number, which may be zero, and a slice")
            if _full(product).dtype != np.result_type(*map(self._own_dtype, operands)):
                raise CannotCapture("moving-shape", f"`{op.name}` of a Python number, which is an array to it")
            return product
        if op.name == "np.outer" and [_ndim(value) for value in operands] == [1, 1]:
            column = self.getitem(operands[0], Items(tuple, [Known(Ellipsis), Known(None)]))
            return self.apply(TABLE["np.multiply"], [column, operands[1]], {})
        if not all(isinstance(value, Arr | Ragged) for value in operands):
            return super().apply_ragged(op, operands, params)
        found = labels_of(op, [_ndim(value) for value in operands], params)
        if found is None:
            return super().apply_ragged(op, operands, params)
        labels, result = found
        operands, spans = self._agree(operands, labels)
        outcome = tuple(spans.get(label) for label in result)
        summed = [label for label in spans if label not in result]
        single = self._is_single(op, operands, labels, spans)
        given = list(operands)
        # Where it adds up before it multiplies, `np.einsum` hides zero times infinity.
        gone = set("".join(labels)) - set(result)
        adds_before = op.name == "np.einsum" and any(not gone <= set(own) for own in labels)
        if summed and self._is_small(operands, labels) and op.name != "np.vdot" and not adds_before:
            product = self._summed(operands, labels, result, spans, single)
            if _full(product).dtype.kind == "c":  # BLAS multiplies sums of them by one
                self.trap_unless_finite(_full(product))
            self._trap_on_a_single_zero(op, given, labels, spans, product)
        else:
            for position, (value, own) in enumerate(zip(operands, labels, strict=True)):
                if summed and isinstance(value, Ragged):
                    axes = [axis for axis, label in enumerate(own) if label in summed]
                    operands[position] = self.filled(value, 0, axes)
            product = self.apply(op, [_full(value) for value in operands], params)
            self._trap_on_a_single_zero(op, given, labels, spans, product)
            if single is not None:
                parts, order = self._aligned(given, labels, result)
                firsts = [self._first_term(part, order, result, spans) for part in parts]
                product = self._choose(single, self.apply(TABLE["np.multiply"], firsts, {}), product)
        return Ragged(product, outcome) if any(span is not None for span in outcome) else product

    def _own_dtype(self, value: Any) -> np.dtype:
        """The dtype of an operand as an array of its own."""
        return value.full.dtype if isinstance(value, Ragged) else self.operand(value).spec.dtype

    def _agree(self, operands: list[Any], labels: list[str]) -> tuple[list[Any], dict[str, Span]]:
        """The operands with axes of one label moved to one place, and the spans by label."""
        operands, spans = list(operands), {}
        for label in sorted(set("".join(labels))):
            places = [(n, own.index(label)) for n, own in enumerate(labels) if label in own]
            if any(own.count(label) > 1 for own in labels):
                raise CannotCapture("moving-shape", "a diagonal of a slice whose length changes")
            found = [_axis(operands[n], axis) for n, axis in places]
            if all(span is None for _, span in found):
                continue
            length, span = min(((n, s) for n, s in found if s is not None), key=lambda pair: pair[0])
            if any(other is None or not self.same_length(span, other) for _, other in found):
                raise CannotCapture("moving-shape", "a product of slices whose lengths may differ")
            spans[label] = span
            for (number, axis), (_, other) in zip(places, found, strict=True):
                value = operands[number]
                full = self.moved(value.full, axis, other.start, span.start, length)
                ends = tuple(span if a == axis else s for a, s in enumerate(value.spans))
                operands[number] = Ragged(full, ends)
        return operands, spans

    def _is_small(self, operands: list[Any], labels: list[str]) -> bool:
        """Whether all products together are no more than the elements of the largest operand."""
        if len(operands) != 2 or not (set(labels[0]) <= set(labels[1]) or set(labels[1]) <= set(labels[0])):
            return False
        dtype = np.result_type(*(_full(value).dtype for value in operands))
        return dtype.name in _SUMMED

    def _aligned(self, operands: list[Any], labels: list[str], result: str) -> tuple[list[Any], str]:
        """The operands with axes that broadcast, and the letters of these axes."""
        order = max(labels, key=len)
        if not set("".join(labels)) <= set(order) or result != "".join(label for label in order if label in result):
            order = result + "".join(sorted(set("".join(labels)) - set(result)))
        parts = []
        for value, own in zip(operands, labels, strict=True):
            full = _full(value)
            axes = sorted(range(len(own)), key=lambda axis, own=own: order.index(own[axis]))
            if axes != list(range(len(own))):
                full = self.transpose(full, tuple(axes))
            missing = [Known(slice(None)) if label in own else Known(None) for label in order]
            if len(own) < len(order):
                full = self.getitem(full, Items(tuple, missing))
            parts.append(full)
        return parts, order

    def _summed(
        self, operands: list[Any], labels: list[str], result: str, spans: dict[str, Span], single: Operand | None
    ) -> Any:
        """Multiply, drop what is not meant, add up: one pass over the elements."""
        parts, order = self._aligned(operands, labels, result)
        product = self.apply(TABLE["np.multiply"], parts, {})
        ends = tuple(spans.get(label) if label not in result else None for label in order)
        filled = self.filled(Ragged(product, ends), 0)
        axes = tuple(axis for axis, label in enumerate(order) if label not in result)
        total = self.apply(TABLE["np.sum"], [filled.full], {"axis": axes if len(axes) < len(order) else None})
        return total if single is None else self._choose(single, self._first_term(product, order, result, spans), total)

    # ---- products of one number by another

    def _is_single(self, op: Op, operands: list[Any], labels: list[str], spans: dict[str, Span]) -> Operand | None:
        """Whether each operand is one number; `None` for never.

        Their product may be a negative zero, which a sum of products is not: it begins with zero.
        """
        if not multiplies_single(op, [_full(value) for value in operands]):
            return None
        lengths = self._lengths(1, operands, labels, spans) | self._lengths(0, operands, labels, spans)
        found = self._are_ones(lengths)
        return None if isinstance(found, bool) else found

    def _trap_on_a_single_zero(
        self, op: Op, operands: list[Any], labels: list[str], spans: dict[str, Span], product: Arr
    ) -> None:
        """Leave it to NumPy what BLAS makes of infinities and NaNs where it multiplies them by a single number.

        It adds multiples to zeros, and nothing where the number is zero.
        """
        if set(labels[0]) == set(labels[1]) or not multiplies_single(op, [_full(value) for value in operands]):
            return
        for n in range(2):
            single = self._are_ones(self._lengths(n, operands, labels, spans))
            if single is True:
                raise CannotCapture("moving-shape", f"`{op.name}` of a single number, which may be zero, and a slice")
            if single is not False:
                self.trap_unless_finite(product, single)

    def trap_unless_finite(self, product: Arr, condition: Operand | None = None) -> None:
        """Leave the call to NumPy where `product` has an infinity or a NaN, and `condition` holds if there is one."""
        finite = self.apply(TABLE["np.all"], [self.apply(TABLE["np.isfinite"], [product], {})], {})
        wrong = self.apply(TABLE["np.logical_not"], [finite], {})
        if condition is not None:
            wrong = self.apply(TABLE["np.logical_and"], [self.fresh(condition), wrong], {})
        self.trap_if(self.read(wrong))

    def _lengths(self, n: int, operands: list[Any], labels: list[str], spans: dict[str, Span]) -> dict[str, Any]:
        """How many elements the axes of an operand have, by label."""
        shape = _full(operands[n]).shape
        return {
            label: self.length_of(spans[label]) if label in spans else Known(shape[axis])
            for axis, label in enumerate(labels[n])
        }

    def _are_ones(self, lengths: dict[str, Any]) -> Operand | bool:
        """Whether all of these lengths are one: always, never, or as an operand says."""
        found: Operand | None = None
        for length in lengths.values():
            low, high = bounds_of(length)
            if (low is not None and low > 1) or (high is not None and high < 1):
                return False
            if (low, high) == (1, 1):
                continue
            (flag,) = self.builder.add(TABLE["py_equal"], [self.operand(length), self.builder.const(1)], {}, self.line)
            found = flag if found is None else self.builder.add(TABLE["py_and"], [found, flag], {}, self.line)[0]
        return True if found is None else found

    def _first_term(self, array: Arr, order: str, result: str, spans: dict[str, Span]) -> Any:
        """What an array has for the first place of each axis that is summed over."""
        key: list[Any] = []
        for axis, label in enumerate(order):
            length = array.shape[axis]
            if label in result or label not in spans:
                key.append(Known(slice(None)) if label in result else Known(0))
            else:
                # An array of one element is not empty; for another one the place need only exist.
                key.append(Known(0) if length == 1 else self.clamp(spans[label].start, Known(length - 1)))
        return self.getitem(array, Items(tuple, key))

    def _choose(self, single: Operand, term: Any, total: Any) -> Any:
        if total.kind == "array":
            return self.apply(TABLE["np.where"], [self.fresh(single), term, total], {})
        return self.fresh(self.builder.choose(single, self.read(term), self.read(total), self.line))


def multiplies_single(op: Op, operands: list[Arr]) -> bool:
    """Whether NumPy makes of two arrays of one element their product, and not a sum that begins with zero."""
    dtype = np.result_type(*(array.dtype for array in operands))
    return op.name in ("np.dot", "np.inner") and max(a.dummy.ndim for a in operands) <= 2 and dtype.char in _BLAS


def labels_of(op: Op, ndims: list[int], params: dict[str, Any]) -> tuple[list[str], str] | None:
    """A letter for each axis of each operand, and those of the result; `None` where there is no rule."""
    if op.name == "np.einsum":
        text = params["subscripts"].replace(" ", "")
        check_subscripts(params["subscripts"], ndims)
        if "." in text:
            return None
        given, arrow, result = text.partition("->")
        labels = given.split(",")
        if not arrow:
            result = "".join(sorted(label for label in set(given) - {","} if given.count(label) == 1))
        return labels, result
    if len(ndims) != 2 or 0 in ndims:
        return None
    letters = iter(string.ascii_lowercase[1:])
    one = "".join(next(letters) for _ in range(ndims[0] - 1))
    two = "".join(next(letters) for _ in range(ndims[1] - 1))
    if op.name == "np.vdot" and ndims == [1, 1]:
        return ["a", "a"], ""
    if op.name == "np.inner":
        return [one + "a", two + "a"], one + two
    if op.name == "np.dot" or (op.name == "np.matmul" and max(ndims) <= 2):
        return [one + "a", two[:-1] + "a" + two[-1:]], one + two
    return None


def _full(value: Any) -> Arr:
    return value.full if isinstance(value, Ragged) else value


def _ndim(value: Any) -> int:
    return _full(value).dummy.ndim if isinstance(value, Arr | Ragged) else 0


def _axis(value: Any, axis: int) -> tuple[int, Span | None]:
    return _full(value).shape[axis], value.spans[axis] if isinstance(value, Ragged) else None
