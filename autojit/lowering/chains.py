"""How long chains of elementwise operations are, and how many operations XLA may fuse into one."""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from operator import or_
from typing import Any

from autojit.jax_names import core

#: The longest chain of a segment, in operations on arrays of at least `_FEW` elements. Chains of `np.exp`, `np.tanh`,
#: `np.arcsin`, quotients and choices take 0.5 to 1 times as long with 64 as with 128 where there are many elements,
#: and up to 1.5 times as long with 32 or where there are few.
LIMIT = 64
_FEW = 64
#: The most operations that may be fused into one. XLA runs out of memory between 700 and 1500.
MOST = 256

#: How often the operations of a segment may be computed on average: each reduction computes what is fused into it.
AGAIN = 2

#: Operations that only say where elements lie, or that vanish.
_FREE = {
    "bitcast_convert_type", "broadcast_in_dim", "copy", "dynamic_slice", "iota", "optimization_barrier", "reshape",
    "rev", "slice", "squeeze", "transpose",
}  # fmt: skip
#: Operations that cost no more than to read what they would have stored.
_PLAIN = {
    *(_FREE - {"dynamic_slice"}), "abs", "add", "and", "ceil", "clamp", "convert_element_type", "div", "eq", "floor",
    "ge", "gt", "integer_pow", "is_finite", "le", "lt", "max", "min", "mul", "ne", "neg", "not", "or", "round",
    "select_n", "sign", "sqrt", "square", "sub", "xor",
}  # fmt: skip
#: Operations that become a polynomial or a call, and what they count.
_LONG = {
    "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "cos", "cosh", "digamma", "erf", "erf_inv",
    "erfc", "exp", "exp2", "expm1", "lgamma", "log", "log1p", "logistic", "pow", "rem", "sin", "sinh", "tan", "tanh",
}  # fmt: skip
_LONG_WEIGHT = 16
#: What is done to the bits of a number costs little beside what is done to numbers.
_OF_BITS = {"and", "convert_element_type", "eq", "not", "or", "xor"}
#: Operations whose results XLA stores: a chain ends with them.
_STORED = {
    "argmax", "argmin", "cholesky", "conv_general_dilated", "dot_general", "eig", "eigh", "fft", "lu", "qr", "reduce",
    "reduce_and", "reduce_max", "reduce_min", "reduce_or", "reduce_prod", "reduce_sum", "reduce_window", "reduce_xor",
    "scatter", "scatter-add", "scatter-max", "scatter-min", "scatter-mul", "sort", "svd", "top_k", "triangular_solve",
}  # fmt: skip
#: Calls, and where their programs stand.
_CALLS = {"closed_call": "call_jaxpr", "custom_jvp_call": "call_jaxpr", "custom_vjp_call": "call_jaxpr", "jit": "jaxpr"}
#: Operations with programs of their own, which are compiled by themselves.
_APART = {"cond", "scan", "while"}
#: Operations that a loop does in place. An array that goes into a conditional and comes out of it is copied.
_IN_PLACE = {"dynamic_update_slice", "scatter", "scatter-add", "scatter-max", "scatter-min", "scatter-mul"}


class Chains:
    """The chains of equations that are taken one after the other.

    Attributes:
        is_half_full: Whether a chain, or what may be fused into one operation, is half as long as it may be.
        is_too_long: Whether a chain is longer than is good.
    """

    def __init__(self) -> None:
        self.is_half_full = self.is_too_long = False
        self._depths: dict[Any, int] = {}
        self._fused: dict[Any, int] = {}  # the operations that may be fused into the one that makes a variable: bits
        self._total = self._largest = 0
        self._computed = 0.0

    def take(self, equation: core.JaxprEqn) -> bool:
        """Take an equation more, unless too much might be fused into one operation; returns whether it was taken."""
        given = [variable for variable in variables(equation.invars) if variable in self._depths]
        above = max((self._depths[variable] for variable in given), default=0)
        depth = above + weight(equation) if any(size(v) >= _FEW for v in equation.outvars) else above
        count = _count(equation)
        bits = reduce(or_, (self._fused[variable] for variable in given), ((1 << count) - 1) << self._total)
        fused = bits.bit_count()
        if fused > MOST and fused > count:
            return False
        end = _is_stored(equation)
        self._total += count
        read = max(map(size, variables(equation.invars)), default=0)
        self._largest = max(self._largest, read)
        # What a reduction stage reads of a rest that does not fill the rows is little.
        self._computed += fused * read / max(self._largest, 1) if end else 0.0
        # Few operations may be computed again more often.
        fill = max(depth / LIMIT, self._computed / max(self._total, LIMIT // 4, 1) / AGAIN)
        self.is_half_full |= max(fill, fused / MOST) >= 0.5
        self.is_too_long |= fill > 1 and fused > count
        for variable in equation.outvars:
            self._depths[variable], self._fused[variable] = (0, 0) if end else (depth, bits)
        return True


def variables(atoms: Any) -> Iterator[Any]:
    """The variables among an equation's inputs, or a program's outputs."""
    return (atom for atom in atoms if isinstance(atom, core.Var))


def size(variable: Any) -> int:
    """How many elements a variable has."""
    return variable.aval.size


def is_apart(equation: core.JaxprEqn, in_loop: bool = False) -> bool:
    """Whether an equation is no part of a segment: a loop or a conditional, or a write in a loop."""
    inner = _inner(equation)
    if inner is not None:
        return any(is_apart(other, in_loop) for other in inner.eqns)
    return equation.primitive.name in (_APART | _IN_PLACE if in_loop else _APART)


def is_plain(equation: core.JaxprEqn) -> bool:
    """Whether an equation does no more than plain arithmetic, element by element."""
    inner = _inner(equation)
    return all(map(is_plain, inner.eqns)) if inner is not None else equation.primitive.name in _PLAIN


def weight(equation: core.JaxprEqn) -> int:
    """How many operations an equation adds to a chain."""
    name, inner = equation.primitive.name, _inner(equation)
    if inner is not None:
        return _longest(inner)
    if name in _FREE or (name in _OF_BITS and all(map(_is_of_bits, equation.invars))):
        return 0
    return _LONG_WEIGHT if name in _LONG else 1


def _is_of_bits(atom: Any) -> bool:
    return atom.aval.dtype.kind in "ub"


def _count(equation: core.JaxprEqn) -> int:
    """How many operations an equation is."""
    inner = _inner(equation)
    return sum(map(_count, inner.eqns)) if inner is not None else int(equation.primitive.name not in _FREE)


def _longest(jaxpr: core.Jaxpr) -> int:
    depths: dict[Any, int] = {}
    for equation in jaxpr.eqns:
        above = max((depths.get(variable, 0) for variable in variables(equation.invars)), default=0)
        depths.update((variable, above + weight(equation)) for variable in equation.outvars)
    return max(depths.values(), default=0)


def _is_stored(equation: core.JaxprEqn) -> bool:
    inner = _inner(equation)
    return equation.primitive.name in _STORED or (inner is not None and any(map(_is_stored, inner.eqns)))


def _inner(equation: core.JaxprEqn) -> Any:
    """The program that an equation calls, whose operations stand in its place, or `None`."""
    program = equation.params.get(_CALLS.get(equation.primitive.name, ""))
    return getattr(program, "jaxpr", program)
