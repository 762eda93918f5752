"""How long chains of elementwise operations are, and how many operations XLA may fuse into one."""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from operator import or_
from typing import Any

from jax.extend import core

#: The longest chain of a segment, in operations on arrays of at least `_FEW` elements. Chains of `np.exp`, `np.tanh`,
#: `np.arcsin`, quotients and choices take 0.5 to 1 times as long with 64 as with 128 where there are many elements,
#: and up to 1.5 times as long with 32 or where there are few.
LIMIT = 64
_FEW = 64
#: The most operations that may be fused into one. XLA runs out of memory between 700 and 1500.
MOST = 256

#: How many times the operations of a segment may be computed: each reduction computes what is fused into it.
AGAIN = 2

#: Operations that only say where elements lie, or that vanish.
_FREE = {"broadcast_in_dim", "copy", "iota", "optimization_barrier", "reshape", "slice", "squeeze", "stop_gradient"}
#: Operations that become a polynomial or a call, and what they count.
_LONG = {
    "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "cos", "cosh", "digamma", "erf", "erf_inv",
    "erfc", "exp", "exp2", "expm1", "lgamma", "log", "log1p", "logistic", "pow", "rem", "sin", "sinh", "tan", "tanh",
}  # fmt: skip
_LONG_WEIGHT = 16
#: Operations whose results XLA stores: a chain ends with them.
_STORED = {
    "argmax", "argmin", "cholesky", "conv_general_dilated", "dot_general", "eig", "eigh", "fft", "lu", "qr", "reduce",
    "reduce_and", "reduce_max", "reduce_min", "reduce_or", "reduce_prod", "reduce_sum", "reduce_window", "reduce_xor",
    "scatter", "scatter_add", "sort", "svd", "top_k", "triangular_solve",
}  # fmt: skip
#: Operations with programs of their own, which are compiled by themselves.
_APART = {"cond", "scan", "while"}


class Chains:
    """The chains of equations that are taken one after the other.

    Attributes:
        is_half_full: Whether a chain, or what may be fused into one operation, is half as long as it may be.
    """

    def __init__(self) -> None:
        self.is_half_full = False
        self._depths: dict[Any, int] = {}
        self._fused: dict[Any, int] = {}  # the operations that may be fused into the one that makes a variable: bits
        self._total = 0
        self._computed = 0

    def take(self, equation: core.JaxprEqn) -> bool:
        """Take an equation more, unless a chain would become too long; returns whether it was taken."""
        given = [variable for variable in variables(equation.invars) if variable in self._depths]
        above = max((self._depths[variable] for variable in given), default=0)
        depth = above + weight(equation) if any(size(v) >= _FEW for v in equation.outvars) else above
        count = _count(equation)
        bits = reduce(or_, (self._fused[variable] for variable in given), (1 << count) - 1 << self._total)
        end = _is_stored(equation)
        computed = self._computed + (bits.bit_count() if end else 0)
        again = computed / max(self._total + count, LIMIT // 4) / AGAIN
        fill = max(depth / LIMIT, bits.bit_count() / MOST, again)
        if fill > 1 and bits.bit_count() > count:
            return False
        self._total += count
        self._computed = computed
        self.is_half_full |= fill >= 0.5
        for variable in equation.outvars:
            self._depths[variable], self._fused[variable] = (0, 0) if end else (depth, bits)
        return True


def variables(atoms: Any) -> Iterator[Any]:
    """The variables among an equation's inputs, or a program's outputs."""
    return (atom for atom in atoms if isinstance(atom, core.Var))


def size(variable: Any) -> int:
    """How many elements a variable has."""
    return variable.aval.size


def is_apart(equation: core.JaxprEqn) -> bool:
    """Whether an equation is, or calls, a loop or a conditional."""
    inner = _inner(equation)
    return equation.primitive.name in _APART or (inner is not None and any(map(is_apart, inner.eqns)))


def weight(equation: core.JaxprEqn) -> int:
    """How many operations an equation adds to a chain."""
    name, inner = equation.primitive.name, _inner(equation)
    if inner is not None:
        return _longest(inner)
    return 0 if name in _FREE else _LONG_WEIGHT if name in _LONG else 1


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
    """The program that an equation calls, or `None`."""
    inner = equation.params.get("jaxpr") or equation.params.get("call_jaxpr")
    return getattr(inner, "jaxpr", inner)
