"""Rows that `exact=True` puts behind other rows: no contraction, and no number that XLA:CPU flushes to zero.

XLA:CPU computes with the processor's flush-to-zero mode, and LLVM contracts a product with the sum that follows. A
product whose bits went through an "or" with a zero that the compiler does not know is out of its reach. What was
flushed shows as a zero that the operands do not explain: the call is left to NumPy.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autojit.ir.graph import Const
from autojit.ir.op import Op
from autojit.ir.spec import Spec
from autojit.jax_names import jnp, lax
from autojit.ops import exact
from autojit.ops.families import row


def _nothing(r: Any) -> Any:
    """Where a result is zero or, if the compiler itself computed it from constants, subnormal."""
    size = exact.bits(r) << 1
    return size < np.dtype(size.dtype).type(1 << (np.finfo(r.dtype).nmant + 1))


def _sum(r: Any, x: Any, y: Any) -> Any:
    return _nothing(r) & (x != -y)


def _difference(r: Any, x: Any, y: Any) -> Any:
    return _nothing(r) & (x != y)


def _product(r: Any, x: Any, y: Any | None = None) -> Any:
    return _nothing(r) & (x != 0) & (True if y is None else y != 0)


def _quotient(r: Any, x: Any, y: Any) -> Any:
    return _nothing(r) & (x != 0) & (lax.abs(y) != jnp.inf)


def _inverse(r: Any, x: Any) -> Any:
    return _nothing(r) & (lax.abs(x) != jnp.inf)


def _cast(r: Any, x: Any) -> Any:
    return _nothing(r) & (x != 0)


def _zeros(r: Any, *xs: Any) -> Any:
    """NumPy's own minimum of zeros of both signs depends on the width of the processor's vectors."""
    first, *others = xs
    tie = jnp.zeros(r.shape, bool)
    for number, one in enumerate(others):
        for other in (first, *others[:number]):
            tie |= (one == 0) & (other == 0) & (exact.signbit(one) != exact.signbit(other))
    return tie


def _extreme(r: Any, x: Any) -> Any:
    """The same for the smallest or largest element of an array."""
    return jnp.any(r == 0) & jnp.any((x == 0) & exact.signbit(x))


#: Where a result is not what NumPy gives, from the result and the operands, by the kind of rounding (`Op.rounds`).
_WRONG: dict[str, Callable[..., Any]] = {
    "sum": _sum, "difference": _difference, "product": _product, "square": _product, "quotient": _quotient,
    "inverse": _inverse, "cast": _cast, "zeros": _zeros, "extreme": _extreme,
}  # fmt: skip


class Flags:
    """Takes the flags of a program that say that its data is NumPy's.

    Attributes:
        met: Those so far, in the order of the program.
    """

    def __init__(self) -> None:
        self.met: list[Any] = []

    def __call__(self, flag: Any) -> None:
        self.met.append(flag)


def any_of(flags: Sequence[Any]) -> Any:
    """Whether any element of any flag is true: one pass for all flags of one shape."""
    shapes: dict[tuple[int, ...], Any] = {}
    for flag in map(jnp.asarray, flags):
        known = shapes.get(flag.shape)
        shapes[flag.shape] = flag if known is None else known | flag
    found = jnp.asarray(False)
    for flag in shapes.values():
        found = found | jnp.any(flag)
    return found


def is_subnormal(x: Any, *dtypes: np.dtype) -> Any:
    """Where a concrete number, or a part of a complex one, is subnormal in its dtype or in one of `dtypes`."""
    array: Any = np.atleast_1d(np.asarray(x))
    parts = (array.real, array.imag) if array.dtype.kind == "c" else (array,)
    tiny = max(float(np.finfo(dtype).tiny) for dtype in (array.dtype, *dtypes))
    return np.logical_or.reduce([(part != 0) & (np.abs(part) < tiny) for part in parts])


def _rounded(zero: Any, result: Any, *operands: Any, of: str) -> Any:
    if is_subnormal(result).any():
        raise FloatingPointError("a subnormal number is left to NumPy")
    return result


def _rounded_infer(specs: Sequence[Spec], params: dict[str, Any]) -> tuple[Spec, ...]:
    return (specs[1],)


def _rounded_lower(node: Any, xs: Sequence[Any], trap: Callable[[Any], None]) -> Any:
    zero, result, *operands = xs
    of = node.keywords["of"]
    wrong = _WRONG[of]
    if of not in ("cast", "extreme"):
        operands = [jnp.broadcast_to(exact.cast(x, result.dtype), result.shape) for x in operands]
    if not _is_safe(of, node.inputs[2:], np.dtype(result.dtype)):
        for part in _parts(result, operands):
            trap(wrong(*part))
    if of in ("product", "square"):
        pattern = exact.bits(result)
        # Done twice, where a product by one is folded away between, this is still done; "exclusive or" would cancel.
        result = exact.from_bits(pattern | zero.astype(pattern.dtype), result.dtype)
    return (result,)


def _is_safe(of: str, operands: Sequence[Any], dtype: np.dtype) -> bool:
    """Whether a constant operand is such that no normal number beside it gives a subnormal one."""
    if dtype.kind != "f" or of not in ("sum", "difference", "product", "quotient"):
        return False
    known = [isinstance(operand, Const) for operand in operands]
    if not any(known) or (of == "quotient" and not known[1]):
        return False
    constant = operands[1 if known[1] else 0].value
    with np.errstate(all="ignore"):
        size = np.abs(np.asarray(constant).astype(dtype))
    if of == "product":
        return not ((size > 0) & (size < 1)).any()
    if of == "quotient":
        return not ((size > 1) & (size < np.inf)).any()
    # Numbers that nearly cancel differ by a multiple of the unit in the last place of either.
    info = np.finfo(dtype)
    return not ((size > 0) & (size < np.ldexp(info.tiny, info.nmant + 2))).any()


def _parts(result: Any, operands: Sequence[Any]) -> list[tuple[Any, ...]]:
    """The real parts and the imaginary parts."""
    if np.dtype(result.dtype).kind != "c":
        return [(result, *operands)]
    return [tuple(part(x) for x in (result, *operands)) for part in (_real, _imag)]


def _real(x: Any) -> Any:
    return lax.real(x) if np.dtype(x.dtype).kind == "c" else x


def _imag(x: Any) -> Any:
    return lax.imag(x) if np.dtype(x.dtype).kind == "c" else jnp.zeros_like(x)


def _normal(x: Any, dtype: Any = None) -> bool:
    if is_subnormal(x, *([] if dtype is None else [dtype])).any():
        raise FloatingPointError("a subnormal number is left to NumPy")
    return True


def _normal_infer(specs: Sequence[Spec], params: dict[str, Any]) -> tuple[Spec, ...]:
    return (Spec((), np.dtype(bool), "python"),)


def _normal_lower(node: Any, xs: Sequence[Any], trap: Callable[[Any], None]) -> Any:
    (x,) = xs
    dtype = node.keywords.get("dtype")
    for part in (_real(x), _imag(x)) if np.dtype(x.dtype).kind == "c" else (x,):
        # Comparisons take subnormal numbers for zeros, so this looks at the bits without the sign.
        size = exact.bits(part) << 1
        first = np.dtype(size.dtype).type(1 << (np.finfo(part.dtype).nmant + 1))
        trap((size - 1) < (first - 1))
        if dtype is not None:
            trap((lax.abs(part) < float(np.finfo(dtype).tiny)) & (part != 0))
    return (jnp.asarray(True),)


def _samples(rng: Any) -> list[Any]:
    x = rng.normal(size=5)
    return [((np.uint64(0), x, x, np.zeros(5)), {"of": "sum"}), ((np.uint64(0), x * x, x), {"of": "square"})]


ROUNDED: Op = row(
    "rounded", _rounded, "elementwise", ("zero", "result", "*operands"), params=("of",), infer=_rounded_infer,
    lower=_rounded_lower, numpy=(), traps=True, samples=_samples, bitwise="fc",
    note="under `exact=True`: a result that is neither contracted nor flushed to zero",
)  # fmt: skip

NORMAL: Op = row(
    "normal", _normal, "indexing", ("x",), params=("dtype",), infer=_normal_infer, lower=_normal_lower, numpy=(),
    traps=True, samples=lambda rng: [((rng.normal(size=5),), {}), ((np.zeros((2, 3), np.complex64),), {})],
    bitwise="fc", note="under `exact=True`: subnormal numbers are left to NumPy",
)  # fmt: skip

UNCONTRACTED: Op = row(
    "uncontracted", lambda product: product, "elementwise", ("product",), infer=lambda specs, params: (specs[0],),
    lower=lambda node, xs, trap: (exact.uncontracted(xs[0]),), numpy=(), sharding="elementwise", bitwise="fc",
    samples=lambda rng: [((rng.normal(size=5),), {}), ((np.float32(1.5),), {}), ((2.5,), {})],
    note="a product that is rounded before anything is added to it",
)  # fmt: skip

ROWS = (ROUNDED, NORMAL, UNCONTRACTED)
