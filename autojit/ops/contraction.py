"""Products that sum over shared axes: `np.dot`, `@`, `np.einsum` and their relatives."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autojit.errors import CannotCapture
from autojit.ir.op import Infer, Lower, Op
from autojit.ir.spec import Spec
from autojit.jax_names import jnp, lax
from autojit.ops import exact
from autojit.ops.crossing import cross
from autojit.ops.inference import by_shape, common_dtype, printed, public_name

Trap = Callable[[Any], None]

_HIGHEST = "highest"


def lower_product(rule: Callable[..., Any], *, sums: bool = True) -> Lower:
    """Apply `rule` in the operands' common dtype, with NumPy's way of adding up each dtype."""

    def lower(node: Any, xs: Sequence[Any], trap: Trap) -> Any:
        dtype = node.outputs[0].spec.dtype
        # NumPy adds float16 products up in float32, and bool products by `or`.
        wide = np.int32 if dtype == np.bool_ else np.float32 if dtype == np.float16 and sums else dtype
        terms = [exact.cast(x, common_dtype(node.specs)).astype(wide) for x in xs]
        result = exact.wrapping(lambda *xs: rule(*xs, **node.keywords), *terms)
        if sums:
            trap_on_overflow(result, terms, trap)
        return (result != 0 if dtype == np.bool_ else exact.cast(result, dtype),)

    return lower


def _largest(x: Any) -> Any:
    """The largest finite size of an element; 1 at least."""
    return jnp.max(jnp.where(jnp.isfinite(x), abs(x), 0), initial=1)


def trap_on_overflow(result: Any, terms: Sequence[Any], trap: Trap) -> None:
    """Leave sums that overflow on the way to NumPy: infinite or not a number, by their order.

    Infinities and NaNs among the operands make the same of a sum in any order, unless other products overflow.
    BLAS multiplies sums of complex numbers by one, too, so that an infinity makes the other part no number.
    """
    if not exact.is_inexact(result) or result.size == 0:
        return
    overflown = ~jnp.all(jnp.isfinite(result))
    if result.dtype.kind == "c":
        trap(overflown)
        return

    def may_overflow() -> Any:
        most = map(_largest, terms)
        count = 2.0 * math.prod(x.size for x in terms)  # twice as many as there are: sums are rounded
        return ~jnp.isfinite(functools.reduce(jnp.multiply, most, jnp.asarray(count, result.dtype)))

    trap(lax.cond(overflown, may_overflow, lambda: jnp.asarray(False)))


def _product(
    function: Any, rule: Callable[..., Any], operands: tuple[str, ...], params: tuple[str, ...] = (), **more: Any
) -> Op:
    more.setdefault("samples", lambda rng: [])
    more.setdefault("numpy", (function,))
    sums = more.pop("sums", True)
    more.setdefault("traps", sums)
    call = more.pop("call", function)
    lower = more.pop("lower", None) or lower_product(rule, sums=sums)
    dtype, scalars = more.pop("dtype", call), more.pop("scalars", True)
    infer = by_shape(public_name(function), call, rule, dtype, scalars=scalars)
    return Op(
        name=public_name(function),
        call=call,
        family="contraction",
        operands=operands,
        params=params,
        infer=more.pop("infer", lambda given: given)(infer),
        lower=lower,
        **more,
    )


def _of_space(infer: Infer) -> Infer:
    """`np.cross`: vectors of two elements are NumPy's, which warns of them."""

    def checked(specs: Sequence[Spec], params: dict[str, Any]) -> tuple[Spec, ...]:
        for spec, name in zip(specs, ("axisa", "axisb"), strict=True):
            axis = params.get("axis", params.get(name, -1))
            if -spec.ndim <= axis < spec.ndim and spec.shape[axis] == 2:
                raise CannotCapture("keyword", "`np.cross` of vectors of two elements, which is deprecated")
        if common_dtype(specs) == np.float16:
            raise CannotCapture("argument-type", "`np.cross` of float16")
        return infer(specs, params)

    return checked


def _dot_samples(rng: Any) -> list[Any]:
    a, b, v = rng.random((3, 4)), rng.random((4, 2)), rng.random(4)
    small = rng.integers(-100, 100, (4, 4))
    return [
        ((a, b), {}),
        ((a, v), {}),
        ((v, b), {}),
        ((v, v), {}),
        ((small.astype(np.int8), small.astype(np.int8)), {}),
        ((small > 0, small > 0), {}),
        ((small.astype(np.uint32), small), {}),
        ((a.astype(np.float32), b), {}),
        ((a.astype(np.complex64), b.astype(np.complex64) * 1j), {}),
        ((a[:, :0], b[:0]), {}),
    ]


def _dot_more(rng: Any) -> list[Any]:
    x = rng.random((2, 3, 4))
    return [
        *_dot_samples(rng),
        ((x, 2.5), {}),
        ((np.float32(2), x[0]), {}),
        ((x, rng.random((2, 4, 5))), {}),
        ((2.0, 3.0), {}),
    ]


def _matmul_samples(rng: Any) -> list[Any]:
    x = rng.random((2, 3, 4))
    return [*_dot_samples(rng), ((x, rng.random((4, 5))), {}), ((x[:, None], rng.random((5, 4, 1))), {})]


def _pairs(rng: Any) -> list[Any]:
    a, b = rng.random((3, 4)), rng.random((3, 4))
    return [((a, b), {}), ((a * 1j, b), {}), ((a[0], b[1]), {}), ((np.arange(4), b[0]), {})]


def matmul_rule(x1: Any, x2: Any) -> Any:
    rows = x1.shape[-2] if x1.ndim > 1 else 1
    columns = x2.shape[-1] if x2.ndim > 1 else 1
    return _of_terms(x1.shape[-1], rows, columns, jnp.matmul(x1, x2, precision=_HIGHEST))


def _vecdot(x1: Any, x2: Any) -> Any:
    return _of_terms(x1.shape[-1], 1, 1, jnp.vecdot(x1, x2, precision=_HIGHEST))


def _vdot(a: Any, b: Any) -> Any:
    return _of_terms(a.size, 1, 1, jnp.vdot(a, b, precision=_HIGHEST))


def _dot(a: Any, b: Any) -> Any:
    return jnp.dot(a, b, precision=_HIGHEST)


def _inner(a: Any, b: Any) -> Any:
    return jnp.inner(a, b, precision=_HIGHEST)


def _tensordot(a: Any, b: Any, axes: Any = 2) -> Any:
    return jnp.tensordot(a, b, axes, precision=_HIGHEST)


def _as_dot(rule: Callable[..., Any], reshapes: bool = False) -> Lower:
    """As `_of_terms`, except where `np.dot` and its relatives only multiply by a single number.

    Args:
        rule: What computes the product.
        reshapes: Whether NumPy makes matrices of the operands first.
    """
    lower = lower_product(rule)

    def adding(node: Any, xs: Sequence[Any], trap: Trap) -> Any:
        (result,) = lower(node, xs, trap)
        a, b = (spec.shape for spec in node.specs)
        sizes = math.prod(a), math.prod(b)
        blas = result.dtype != jnp.float16 and (reshapes or max(len(a), len(b)) <= 2)
        scalar = not reshapes and not (a and b)
        if (sizes == (1, 1) and (blas or scalar)) or (scalar and not blas):
            return (result,)
        if blas and 1 in sizes and exact.is_inexact(result):
            # BLAS adds a multiple of the other operand to zeros, and nothing where the factor is zero: no NaN either.
            (factor,) = xs[sizes.index(1)].reshape(-1)
            return (jnp.where(factor == 0, jnp.zeros_like(result), exact.plus_zero(result)),)
        # Of m x k and k x n elements, m x n remain.
        shared = math.isqrt(sizes[0] * sizes[1] // result.size) if result.size else 0
        return (_of_terms(shared, sizes[0] // max(shared, 1), sizes[1] // max(shared, 1), result),)

    return adding


def _of_terms(shared: int, rows: int, columns: int, result: Any) -> Any:
    """Sums of `shared` products, which NumPy adds to zero: a sum of negative zeros is zero.

    XLA does the same in products of matrices, but not with a vector.
    """
    return exact.plus_zero(result) if 1 in (shared, rows, columns) else result


#: `np.tensordot` makes matrices of its operands.
_ANY = 64

PRODUCTS = (
    _product(np.dot, _dot, ("a", "b"), methods=("dot",), samples=_dot_more, lower=_as_dot(_dot), blas_axes=2),
    _product(
        np.matmul,
        matmul_rule,
        ("x1", "x2"),
        numpy=(np.matmul, np.linalg.matmul),
        blas_axes=2,
        samples=_matmul_samples,
    ),
    _product(
        np.vecdot,
        _vecdot,
        ("x1", "x2"),
        samples=_pairs,
    ),
    _product(
        np.inner,
        _inner,
        ("a", "b"),
        lower=_as_dot(_inner),
        blas_axes=2,
        samples=lambda rng: [*_pairs(rng), ((rng.random((2, 3)), 2.0), {})],
    ),
    _product(np.vdot, _vdot, ("a", "b"), samples=_pairs, blas_axes=2),
    _product(
        np.outer,
        lambda a, b: exact.rounded_product(jnp.outer(a, b)),
        ("a", "b"),
        sums=False,
        samples=lambda rng: [
            *_pairs(rng),
            ((2.5, rng.random(3)), {}),
            ((rng.random((2, 2)) > 0.5, np.array([True])), {}),
        ],
    ),
    _product(
        np.tensordot,
        _tensordot,
        ("a", "b"),
        ("axes",),
        lower=_as_dot(_tensordot, reshapes=True),
        blas_axes=_ANY,
        dtype=lambda a, b, axes=2: np.dot(a.reshape(-1)[:0], b.reshape(-1)[:0]),
        scalars=False,
        samples=lambda rng: [
            ((rng.random((2, 3, 4)), rng.random((3, 4, 5))), {}),
            ((rng.random((2, 3)), rng.random((3, 4))), {"axes": 1}),
            ((rng.random((2, 3)), rng.random((3, 2))), {"axes": ((0, 1), (1, 0))}),
            ((rng.random(2), rng.random(3)), {"axes": 0}),
        ],
    ),
    _product(
        np.kron,
        lambda a, b: exact.rounded_product(jnp.kron(a, b)),
        ("a", "b"),
        sums=False,
        samples=lambda rng: [((rng.random((2, 3)), rng.random((2, 2))), {}), ((np.arange(3), rng.random((2, 2))), {})],
    ),
    _product(
        np.cross, cross, ("a", "b"), ("axisa", "axisb", "axisc", "axis"),
        dtype=lambda a, b, **axes: np.subtract(*[np.multiply(a.reshape(-1)[:0], b.reshape(-1)[:0])] * 2),
        infer=_of_space,
        sums=False,
        samples=lambda rng: [
            ((rng.random((5, 3)), rng.random((5, 3))), {}),
            ((rng.random((3, 5)), rng.random((3, 5))), {"axis": 0}),
            ((rng.random(3), rng.random((4, 3))), {"axisc": 0}),
        ],
    ),
)


# ---- einsum


def _einsum(*operands: Any, subscripts: str, optimize: Any = False) -> Any:
    return np.einsum(subscripts, *operands, optimize=optimize)


def _einsum_rule(*operands: Any, subscripts: str, optimize: Any = False) -> Any:
    result = jnp.einsum(subscripts, *operands, precision=_HIGHEST, optimize="optimal" if len(operands) < 5 else "auto")
    # NumPy adds products to zero, also one alone, but where it multiplies arrays that no label is summed over.
    only_multiplies = len(operands) == 1 or (len(operands) == 2 and optimize)
    return result if only_multiplies and not summed(subscripts) else exact.plus_zero(result)


def labels(subscripts: str) -> tuple[list[str], set[str]]:
    """The terms, and the labels of the result."""
    inputs, arrow, output = subscripts.replace(" ", "").partition("->")
    if not arrow:
        output = "".join(label for label in inputs if inputs.count(label) == 1)
    return inputs.split(","), set(output) - set(".,")


def summed(subscripts: str) -> set[str]:
    """The labels over which `np.einsum` adds up."""
    terms, output = labels(subscripts)
    return set("".join(terms)) - output - {"."}


def _einsum_dtype(*operands: Any, subscripts: str, optimize: Any = False) -> Any:
    # Axes of length 1 broadcast against each other, so the small arrays fit whatever the subscripts are.
    return np.einsum(subscripts, *operands)


_einsum_specs = by_shape("np.einsum", _einsum, _einsum_rule, _einsum_dtype)


def _lengths(term: str, shape: tuple[int, ...]) -> list[tuple[str, int]]:
    """The labels of a term with the lengths of their axes."""
    before, dots, after = term.partition("...")
    front = [*zip(before, shape, strict=False)]
    return front + ([*zip(after, shape[len(shape) - len(after) :], strict=False)] if dots else [])


def _einsum_infer(specs: Sequence[Spec], params: dict[str, Any]) -> tuple[Spec, ...]:
    for term, spec in zip(labels(params["subscripts"])[0], specs, strict=False):
        found = _lengths(term, spec.shape)
        if len(dict(found)) < len(set(found)):
            raise ValueError("dimensions in operand for collapsing index don't match")  # jax would take the diagonal
    if common_dtype(specs) == np.float16:
        raise TypeError("`np.einsum` of float16 is not compiled: where NumPy rounds depends on the memory order")
    (spec,) = _einsum_specs(specs, params)
    if params.get("optimize") and len(specs) > 1 and not spec.shape:
        raise TypeError("`np.einsum` of a single number with `optimize=` is not compiled: the path decides its type")
    return (spec,)


def trap_on_non_finite(xs: Sequence[Any], trap: Trap) -> None:
    """Leave infinities and NaNs to NumPy: in BLAS it depends on the kernel what becomes of them."""
    for x in xs:
        if exact.is_inexact(x):
            trap(~jnp.all(jnp.isfinite(x)))


def _einsum_lower(node: Any, xs: Sequence[Any], trap: Trap) -> Any:
    if node.keywords.get("optimize") and any(x.size == 1 for x in xs):
        trap_on_non_finite(xs, trap)
    shapes = [x.shape for x in xs]
    if len(xs) > 1 and exact.is_inexact(node.outputs[0].spec) and _adds_before(node.keywords["subscripts"], shapes):
        for x in xs:  # NaN comes through in any order
            if exact.is_inexact(x):
                trap(jnp.any(jnp.isinf(x)))
        if len(xs) > 2:
            _trap_on_range([x for x in xs if x.size], node.outputs[0].spec.dtype, trap)
    return lower_product(_einsum_rule, sums=bool(summed(node.keywords["subscripts"])))(node, xs, trap)


def _adds_before(subscripts: str, shapes: Sequence[tuple[int, ...]]) -> bool:
    """Whether terms are added up before all operands are multiplied, which hides zero times infinity.

    An axis of length 1 is as good as none.
    """
    terms = [
        {label for label, length in _lengths(term, shape) if length != 1}
        for term, shape in zip(labels(subscripts)[0], shapes, strict=True)
    ]
    return len(terms) > 2 or any(sum(label in term for term in terms) == 1 for label in summed(subscripts))


def _trap_on_range(xs: Sequence[Any], dtype: np.dtype, trap: Trap) -> None:
    """Leave products to NumPy that may overflow or underflow on the way, for it multiplies from left to right."""
    least, most, count = jnp.ones(()), jnp.ones(()), 2.0
    for x in xs:
        x = x.astype(jnp.float64) if not exact.is_inexact(x) else x
        sizes = [abs(part).astype(jnp.float64) for part in ((x.real, x.imag) if x.dtype.kind == "c" else (x,))]
        for size in sizes:
            least = least * jnp.min(jnp.where(size > 0, size, 1), initial=1)
            most = most * _largest(size)
        count *= 2.0 * x.size
    info = np.finfo(dtype)
    trap(~((least >= float(info.tiny)) & (most * count <= float(info.max))))


EINSUM = Op(
    name="np.einsum",
    call=_einsum,
    family="contraction",
    operands=("*operands",),
    params=("subscripts", "optimize"),
    infer=_einsum_infer,
    lower=_einsum_lower,
    numpy=(np.einsum,),
    traps=True,
    text=lambda inputs, params: (
        f"np.einsum({', '.join([repr(params['subscripts']), *inputs])}"
        + (f", optimize={printed(params['optimize'])})" if "optimize" in params else ")")
    ),
    samples=lambda rng: [
        ((rng.random((2, 3)), rng.random((3, 4))), {"subscripts": "ij,jk->ik"}),
        ((rng.random((3, 3)),), {"subscripts": "ii"}),
        ((rng.random((3, 3)),), {"subscripts": "ii->i"}),
        ((rng.random((2, 3)),), {"subscripts": "ij->ji"}),
        ((rng.random((2, 3, 4)), rng.random((2, 4, 5))), {"subscripts": "bij,bjk", "optimize": True}),
        ((rng.random((2, 3, 4)), rng.random(4)), {"subscripts": "...i,i->..."}),
        ((np.arange(6).reshape(2, 3), np.arange(3)), {"subscripts": "ij,j->"}),
        ((rng.random(2), rng.random(3), rng.random((2, 3))), {"subscripts": "i,j,ij->ij"}),
    ],
    note="the subscripts are static; the form with lists of axes is not compiled",
)


# ---- convolution

#: Kernels of at most this many elements are sums of shifted arrays.
SHORT_KERNEL = 32


def _correlate_full(a: Any, v: Any) -> Any:
    """All places where `v` overlaps `a`: element k is the sum of `a[k - len(v) + 1 + i] * v[i]`."""
    length = a.shape[0] + v.shape[0] - 1
    if v.shape[0] <= SHORT_KERNEL:
        padded = jnp.pad(a, v.shape[0] - 1)
        total = jnp.zeros(length, a.dtype)
        for place in range(v.shape[0]):
            total = total + padded[place : place + length] * v[place]
        return exact.plus_zero(total)
    if a.dtype.kind == "c":  # jax would multiply three times, and lose the smaller part of a number
        real = _correlate_full(a.real, v.real) - _correlate_full(a.imag, v.imag)
        return lax.complex(real, _correlate_full(a.real, v.imag) + _correlate_full(a.imag, v.real))
    pads = [(v.shape[0] - 1, v.shape[0] - 1)]
    found = lax.conv_general_dilated(a[None, None], v[None, None], (1,), pads, precision=_HIGHEST)
    return found[0, 0]


def _in_mode(full: Any, n: int, m: int, mode: str) -> Any:
    """The part of a full correlation of lengths `n >= m` that NumPy's mode keeps."""
    if mode == "full":
        return full
    length, start = (n - m + 1, m - 1) if mode == "valid" else (n, m - 1 - m // 2)
    return full[start : start + length]


def _convolve_rule(a: Any, v: Any, mode: str = "full") -> Any:
    a, v = jnp.atleast_1d(a), jnp.atleast_1d(v)
    _check_vectors(a, v, mode)
    if v.shape[0] > a.shape[0]:
        a, v = v, a
    return _in_mode(_correlate_full(a, v[::-1]), a.shape[0], v.shape[0], mode)


def _correlate_rule(a: Any, v: Any, mode: str = "valid") -> Any:
    a, v = jnp.atleast_1d(a), jnp.atleast_1d(v)
    _check_vectors(a, v, mode)
    if v.shape[0] > a.shape[0]:
        full = _correlate_full(jnp.conj(v), a)[::-1]
        return _in_mode(full[::-1], v.shape[0], a.shape[0], mode)[::-1]
    return _in_mode(_correlate_full(a, jnp.conj(v)), a.shape[0], v.shape[0], mode)


def _check_vectors(a: Any, v: Any, mode: str) -> None:
    if a.ndim != 1 or v.ndim != 1 or not a.size or not v.size or mode not in ("full", "valid", "same"):
        raise TypeError("not two vectors with elements, or an unknown mode")


def _convolve_samples(rng: Any) -> list[Any]:
    cases = [(rng.random(7), rng.random(3)), (rng.random(4), rng.random(6)), (np.arange(5), rng.random(2))]
    cases += [(rng.random(80), rng.random(41)), (rng.random(5) * 1j, rng.random(4) + 1j), (np.arange(9), np.arange(4))]
    return [(case, {"mode": mode}) for mode in ("full", "same", "valid") for case in cases]


def _with_finite_kernel(rule: Callable[..., Any]) -> Lower:
    """The zeros around the longer operand, times an infinite element of the shorter one, would be NaN.

    Where a part of a sum overflows, the order decides.
    """
    lower = lower_product(rule)

    def checked(node: Any, xs: Sequence[Any], trap: Trap) -> Any:
        a, v = xs
        shorter, longer = (a, v) if a.size < v.size else (v, a)
        trap_on_non_finite([shorter], trap)
        (result,) = lower(node, xs, trap)
        if result.dtype.kind == "c":
            trap_on_non_finite([result], trap)
        elif exact.is_inexact(result):
            trap(jnp.all(jnp.isfinite(longer)) & ~jnp.all(jnp.isfinite(result)))
        return (result,)

    return checked


CONVOLUTIONS = tuple(
    _product(
        function, rule, ("a", "v"), ("mode",), samples=_convolve_samples, traps=True, lower=_with_finite_kernel(rule)
    )
    for function, rule in ((np.convolve, _convolve_rule), (np.correlate, _correlate_rule))
)

ROWS = (*PRODUCTS, EINSUM, *CONVOLUTIONS)
