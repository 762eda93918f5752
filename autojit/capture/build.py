"""The graphs that a capture grows: the region's own, and the bodies of loops. Both know under which condition they are.

Statements under a condition on array data are recorded whether it holds or not: what they write is selected, and what
could raise is given operands that cannot, for the case that it does not hold.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autojit.capture.exactness import is_rounded, narrow_partner, why_inexact
from autojit.errors import CannotCapture, SourceLine
from autojit.ir.build import Builder
from autojit.ir.graph import Const, Operand, Value
from autojit.ir.index import Index, Place, Window
from autojit.ir.op import Op
from autojit.ir.spec import PYTHON_DTYPES, Spec
from autojit.ops.chapters import TABLE
from autojit.ops.python_math import RAISING

#: Operations that raise for some values of one operand: its position, and a value for which they do not.
_HARMLESS: dict[str, tuple[int, int]] = {
    "py_divide": (1, 1), "py_floor_divide": (1, 1), "py_modulo": (1, 1), "np.floor_divide": (1, 1),
    "np.remainder": (1, 1), "np.divmod": (1, 1), "np.power": (1, 0), "py_left_shift": (1, 0), "py_right_shift": (1, 0),
    "py_absolute": (0, 0), "py_invert": (0, 0), "py_int_multiply": (0, 0), "py_int_add": (0, 0),
    "py_int_subtract": (1, 0), "item_int": (0, 0), "item_float": (0, 0), "astype": (0, 0),
    **{f"math.{name}": (0, value) for name, (_, value) in RAISING.items()},
}  # fmt: skip


class CaptureBuilder(Builder):
    """A graph whose new nodes may be under a condition.

    Attributes:
        predicate: The condition, a bool of this graph; `None` when there is none.
        zero: Under `exact=True`, an integer zero that the compiler does not know.
    """

    def __init__(self) -> None:
        super().__init__()
        self.predicate: Operand | None = None
        self.zero: Operand | None = None
        self._wider: dict[int, tuple[Operand, Operand | None]] = {}  # by the `id` of the first, which implies the other

    def add(
        self,
        op: Op,
        inputs: Sequence[Operand],
        params: dict[str, Any] | None = None,
        source: SourceLine | None = None,
        specs: Sequence[Spec] | None = None,
    ) -> tuple[Value, ...]:
        inputs = [self.own(operand) for operand in inputs]
        if self.predicate is not None and (op.traps or op.lower is None):
            inputs = self._harmless(op, inputs, params or {}, source)
        outputs = super().add(op, inputs, params, source, specs)
        return outputs if self.zero is None else self._exactly(op, inputs, params or {}, source, outputs)

    def _exactly(
        self,
        op: Op,
        inputs: Sequence[Operand],
        params: dict[str, Any],
        source: SourceLine | None,
        outputs: tuple[Value, ...],
    ) -> tuple[Value, ...]:
        """The results of an operation, made sure of for `exact=True`.

        Raises:
            CannotCapture: The compiled operation does not give NumPy's bits.
        """
        reason = why_inexact(op, inputs, outputs, params)
        if reason is not None:
            raise CannotCapture("inexact", reason)
        for operand in inputs:
            dtype = narrow_partner(operand, (*inputs, *outputs))
            if dtype is not None:
                super().add(TABLE["normal"], [operand], {"dtype": dtype}, source)
        if not is_rounded(op, outputs[0].spec.dtype):
            return outputs
        assert self.zero is not None
        return super().add(TABLE["rounded"], [self.own(self.zero), outputs[0], *inputs], {"of": op.rounds}, source)

    def own(self, operand: Operand) -> Operand:
        """The operand inside this graph."""
        return operand

    def _plain(self, name: str, inputs: Sequence[Operand], source: SourceLine | None = None) -> Operand:
        """A node of an operation that never raises."""
        return super().add(TABLE[name], [self.own(operand) for operand in inputs], {}, source)[0]

    def choose(self, condition: Operand, one: Operand, other: Operand, source: SourceLine | None = None) -> Operand:
        """`one if condition else other`, for values of one spec."""
        return one if one is other else self._plain("select", [condition, one, other], source)

    def under(self, condition: Operand, negated: bool = False) -> Operand:
        """The condition of a branch inside the present one."""
        if negated:
            condition = self._plain("py_not", [condition])
        if self.predicate is not None:
            condition = self._plain("py_and", [self.predicate, condition])
        self._wider[id(condition)] = condition, self.predicate
        return condition

    def either(self, one: Operand, other: Operand) -> Operand:
        """Whether one of two conditions holds."""
        if one is other:
            return one
        result = self._plain("py_or", [one, other])
        common: Operand | None = one
        while common is not None and not self.implies(other, common):
            common = self._wider_than(common)
        self._wider[id(result)] = result, common
        return result

    def implies(self, one: Operand | None, other: Operand | None) -> bool:
        """Whether a condition was met inside another one; `None` always holds."""
        while one is not other and one is not None:
            one = self._wider_than(one)
        return one is other

    def _wider_than(self, condition: Operand) -> Operand | None:
        return self._wider.get(id(condition), (condition, None))[1]

    def _harmless(
        self, op: Op, inputs: Sequence[Operand], params: dict[str, Any], source: SourceLine | None
    ) -> list[Operand]:
        """Operands with which the operation does not raise where the condition does not hold."""
        made = list(inputs)
        assert self.predicate is not None
        if op.name == "leave_if":
            made[0] = self._plain("py_and", [self.predicate, made[0]])
        elif op.name == "loop":
            made[1] = self.choose(self.predicate, made[1], made[0], source)
        elif op.name in ("getitem", "setitem"):
            first = 1 if op.name == "getitem" else 2
            for entry in params["index"].entries:
                if isinstance(entry, Place | Window) and not entry.proven:
                    number = first + entry.operand
                    if made[number].spec.dtype.kind != "b":
                        made[number] = self._or_else(made[number], 0, source)
                    elif op.name == "getitem" or made[1].spec.size > 1:  # which may be too many
                        raise CannotCapture("data-branch", "a boolean index in a branch")
            if op.name == "setitem" and not _fits(made[1].spec, made[0].spec):
                raise CannotCapture("data-branch", "an assignment in a branch that may raise")
        elif op.name in _HARMLESS:
            number, value = _HARMLESS[op.name]
            if op.name.startswith("np.") and made[number].spec.dtype.kind not in "iu":
                return made  # floats give NaN or infinity
            made[number] = self._or_else(made[number], value, source)
        elif op.name in ("pack", "np.full") and all(_fits(each.spec, _made_of(each.spec, params)) for each in inputs):
            return made
        elif any(isinstance(value, Index) for value in params.values()) or _may_raise(op, inputs):
            raise CannotCapture("data-branch", f"`{op.name}` may raise, in a branch that data decides")
        return made

    def _or_else(self, operand: Operand, value: int, source: SourceLine | None) -> Operand:
        """The operand where the condition holds, and `value` elsewhere."""
        spec = operand.spec
        if isinstance(operand, Const) and spec.kind != "array":
            return operand
        kinds: dict[np.dtype, Callable[[int], Any]] = {dtype: kind for kind, dtype in PYTHON_DTYPES.items()}
        other = self.const(kinds[spec.dtype](value) if spec.kind == "python" else spec.dtype.type(value))
        assert self.predicate is not None
        if not spec.shape and spec.kind != "array":
            return self.choose(self.predicate, operand, other, source)
        return self._plain("np.where", [self.predicate, operand, other], source)


def _may_raise(op: Op, inputs: Sequence[Operand]) -> bool:
    if op.name in ("np.argmax", "np.argmin"):
        return False  # they trap where XLA's roundings differ, which is seldom
    return op.family not in ("elementwise", "contraction") or any(operand.spec.dtype.kind == "O" for operand in inputs)


def _made_of(value: Spec, params: dict[str, Any]) -> Spec:
    """An element of a new array that is given a number."""
    dtype = params.get("dtype")
    return Spec((), value.dtype if dtype is None else np.dtype(dtype))


def _fits(value: Spec, target: Spec) -> bool:
    """Whether an assignment cannot raise or trap for any value."""
    if value.kind == "python" and value.dtype.kind == "i" and target.dtype.kind in "iu":
        return target.dtype == np.int64
    return not (value.dtype.kind in "fc" and target.dtype.kind in "biu")


class BodyBuilder(CaptureBuilder):
    """The graph of a loop's body. Values of the graph around it become inputs when they are first used."""

    def __init__(self, number: int, zero: Operand | None = None) -> None:
        super().__init__()
        self.zero = zero
        self._prefix = f"b{number}_"
        self.captured: dict[str, tuple[Operand, Value]] = {}

    def _fresh(self, wanted: str | None = None) -> str:
        """A name that no graph around has: these call what they have otherwise, and other bodies have other numbers."""
        name = self._prefix + (wanted or str(len(self._names)))
        while name in self._names:
            name = f"{self._prefix}{self._next}"
            self._next += 1
        return super()._fresh(name)

    def owns(self, operand: Operand) -> bool:
        """Whether an operand is made in this body."""
        return isinstance(operand, Value) and operand.name in self._names

    def own(self, operand: Operand) -> Operand:
        """The operand inside the body."""
        if isinstance(operand, Const) or operand.name in self._names:
            return operand
        known = self.captured.get(operand.name)
        if known is None:
            known = self.captured[operand.name] = (operand, self.input(operand.spec, operand.name))
        return known[1]

    def rollback(self, mark: Any) -> None:
        super().rollback(mark)
        left = {id(value) for value in self.inputs}
        self.captured = {name: pair for name, pair in self.captured.items() if id(pair[1]) in left}
