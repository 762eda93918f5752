"""How far a result may be from NumPy's, with the reason for each bound, and how the distance is measured.

No bound of a function in `bench/ulp_bounds.json`, which is published, is wider than there: `test_ulps.py` checks it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from autojit.ir.graph import Node
from bench.ulps import limits


@dataclass(frozen=True)
class Bound:
    """The largest distance of a row's results from NumPy's, in units in the last place (ulps).

    Attributes:
        reason: Why the row is not exact.
        single: For float32 results, and float16 ones, which are rounded from float32.
        double: For float64.
        complex: For complex results, in ulps of the absolute value.
        scale: What the unit is taken of: "result"; "operands", the largest operand; "sum" and "squares", the number
            of elements that make one result times the largest operand or its square; "product", the result, once
            for each element; "array", the largest element of the operands and the result, once for each row.
        zeros: Whether the signs of zeros must agree.
        complex_zeros: Whether those in complex results must.
    """

    reason: str = "exact"
    single: float = 0
    double: float = 0
    complex: float = 0
    scale: str = "result"
    zeros: bool = True
    complex_zeros: bool = True


EXACT = Bound()
#: NumPy's names of the functions of `math` that have another one.
_NUMPYS = {"asin": "arcsin", "acos": "arccos", "atan": "arctan", "atan2": "arctan2", "asinh": "arcsinh",
           "acosh": "arccosh", "atanh": "arctanh", "pow": "power"}  # fmt: skip
_XLA = "XLA's own approximation"
_PARTS = "built from XLA's functions, with a rounding at each step"
_POWER = _XLA + "; small whole exponents are multiplied out; complex powers lose with the size of the exponent"
_ORDER = "the elements are added in another order"
_FUSED = "products of complex numbers are contracted to fused multiply-adds"
_TIES = "NumPy's own result for zeros of both signs depends on the vector width"

BOUNDS: dict[str, Bound] = {
    "np.multiply": Bound(_FUSED, complex=2),
    "np.outer": Bound(_FUSED, complex=2),
    "np.square": Bound(_FUSED, complex=1),
    "np.divide": Bound(_FUSED, complex=4),
    "np.reciprocal": Bound(_FUSED, complex=3),
    "np.absolute": Bound("NumPy's hypot is correctly rounded, not so its complex64 loop", single=2, double=1),
    "np.hypot": Bound("NumPy's hypot is correctly rounded", single=1, double=1),
    "np.sign": Bound(_PARTS, complex=2),
    "np.maximum": Bound(_TIES, zeros=False),
    "np.minimum": Bound(_TIES, zeros=False),
    "np.fmax": Bound(_TIES, zeros=False),
    "np.fmin": Bound(_TIES, zeros=False),
    "np.clip": Bound(_TIES, zeros=False),
    "np.maximum.reduce": Bound(_TIES, zeros=False),
    "np.minimum.reduce": Bound(_TIES, zeros=False),
    "np.sqrt": Bound(_PARTS, complex=2),
    "np.cbrt": Bound(_XLA, single=2, double=limits("cbrt", np.dtype(float))["numpy"]),
    "np.exp": Bound(_XLA, single=5, double=2, complex=5),
    "np.exp2": Bound(_PARTS, single=3, double=3, complex=8),
    "np.expm1": Bound(_XLA, single=7, double=5),
    "np.log": Bound(_XLA, single=3, double=2, complex=5),
    "np.log2": Bound(_PARTS, single=3, double=2, complex=6),
    "np.log10": Bound(_PARTS, single=3, double=3, complex=6),
    "np.log1p": Bound(_PARTS, single=3, double=2),
    "np.logaddexp": Bound(_PARTS, single=3, double=3, scale="operands"),
    "np.logaddexp2": Bound(_PARTS, single=3, double=3, scale="operands"),
    "np.sin": Bound(_XLA, single=2, double=1, complex=6),
    "np.cos": Bound(_XLA, single=2, double=1, complex=5),
    "np.tan": Bound(_XLA, single=4, double=2, complex=8),
    "np.arcsin": Bound(_XLA, single=4, double=3),
    "np.arccos": Bound(_XLA, single=3, double=2),
    "np.arctan": Bound(_XLA, single=2, double=2, complex=5),
    "np.arctan2": Bound(_XLA, single=4, double=2),
    "np.angle": Bound(_XLA, single=4, double=2),
    "np.sinh": Bound(_PARTS, single=6, double=4, complex=6),
    "np.cosh": Bound(_PARTS, single=4, double=5, complex=5),
    "np.tanh": Bound(_XLA, single=5, double=7, complex=8),
    "np.arcsinh": Bound(_XLA, single=4, double=3, complex=6),
    "np.arccosh": Bound(_XLA, single=4, double=4),
    "np.arctanh": Bound(_PARTS, single=4, double=3, complex=6),
    "np.power": Bound(_POWER, 2, 2, 900),
    "np.float_power": Bound(_POWER, 3, 3, 4096),
    "np.sinc": Bound(_PARTS, single=8, double=8, complex=16, scale="operands"),
    **{
        f"np.{name}": Bound(_ORDER, single=4, double=4, complex=4, scale="sum")
        for name in "sum mean nansum nanmean cumsum nancumsum cumulative_sum trace average".split()
    },
    **{f"np.add.{name}": Bound(_ORDER, 4, 4, 4, scale="sum") for name in ("reduce", "accumulate")},
    **{
        f"np.{name}": Bound("the factors are multiplied in another order", 2, 2, 4, "product", False)
        for name in "prod nanprod cumprod nancumprod cumulative_prod multiply.reduce multiply.accumulate".split()
    },
    **{f"np.{name}": Bound(_ORDER, 8, 8, 8, scale="squares") for name in "var nanvar".split()},
    **{f"np.{name}": Bound(_ORDER, 16, 16, 16, scale="sum") for name in "std nanstd".split()},
    "np.max": Bound(_TIES, zeros=False),
    "np.min": Bound(_TIES, zeros=False),
    "np.ptp": Bound(_TIES, zeros=False),
    "np.nanmax": Bound(_TIES, zeros=False),
    "np.nanmin": Bound(_TIES, zeros=False),
    **{
        f"np.{name}": Bound("the interpolation is contracted to a fused multiply-add", 2, 2, scale="operands")
        for name in "percentile quantile nanpercentile nanquantile median nanmedian interp".split()
    },
    "np.cross": Bound("differences of products are contracted to fused multiply-adds", 2, 2, 4, scale="squares"),
    **{
        f"np.linalg.{name}": Bound("another algorithm than LAPACK's, or other blocks", 64, 64, 64, scale="array")
        for name in """solve inv det slogdet cholesky qr eigh eigvalsh svd svdvals pinv norm lstsq matrix_power
        matrix_rank matrix_norm vector_norm cond tensorinv tensorsolve multi_dot""".split()
    },
    **{
        f"np.fft.{name}": Bound("another factorization of the length", 4, 4, 4, "array", False)
        for name in "fft ifft rfft irfft hfft ihfft fft2 ifft2 fftn ifftn rfft2 irfft2 rfftn irfftn".split()
    },
    # Matrix products: each result is a sum of products.
    **{
        # The sign of a complex sum of zeros depends on its place in the blocks of BLAS.
        f"np.{name}": Bound(_ORDER, 4, 4, 8, scale="squares", complex_zeros=False)
        for name in "matmul dot inner vdot vecdot matvec vecmat tensordot".split()
    },
    **{
        f"np.{name}": Bound(_ORDER, 4, 4, 8, scale="squares")
        for name in "einsum kron convolve correlate".split()
    },
}

#: `math` calls the functions of C, which differ from NumPy's own by one place.
for _name in """exp expm1 log log2 log10 log1p sin cos tan asin acos sinh cosh acosh atanh pow atan tanh asinh atan2
hypot""".split():
    _bound = BOUNDS[f"np.{_NUMPYS.get(_name, _name)}"]
    BOUNDS[f"math.{_name}"] = replace(_bound, double=_bound.double + 1)


def bound_of(name: str) -> Bound:
    """The bound of a row; that of a ufunc's `outer` is the ufunc's."""
    return BOUNDS.get(name) or BOUNDS.get(name.removesuffix(".outer"), EXACT)


def check_close(node: Node, args: tuple[object, ...], wanted: np.ndarray, got: np.ndarray) -> str | None:
    """What differs between NumPy's result and the compiled one, or `None`."""
    if wanted.dtype.kind not in "fc":
        return _first(wanted != got, wanted, got)
    name = node.op.name
    bound = bound_of(name)
    allowed = _allowed(bound, wanted)
    unit = _unit(bound, args, wanted)
    if wanted.dtype.kind == "c":
        both_nan = np.isnan(wanted) & np.isnan(got)
        signs = bound.zeros and bound.complex_zeros
        parts = [distance(w, g, unit, signs) for w, g in _parts(wanted, got)]
        return _first(~(np.maximum(*parts) <= allowed) & ~both_nan, wanted, got)
    wrong = ~(distance(wanted, got, unit, bound.zeros) <= allowed)
    # A subnormal number of an operand's precision is flushed to zero before it becomes one of the result's.
    tiny = max((flushed_below(np.asarray(arg).dtype) for arg in args), default=0.0)
    return _first(wrong & ~((got == 0) & (wanted != 0) & (np.abs(wanted) <= tiny)), wanted, got)


def flushed_below(dtype: np.dtype) -> float:
    """The size of the numbers of a dtype that XLA flushes to zero. There are none in float16."""
    return 0.0 if dtype.kind not in "fc" or dtype == np.float16 else float(np.finfo(dtype).tiny)


def _allowed(bound: Bound, wanted: np.ndarray) -> float:
    if wanted.dtype.kind == "c":
        return bound.complex
    return bound.double if wanted.dtype == np.float64 else bound.single


def _unit(bound: Bound, args: tuple[object, ...], wanted: np.ndarray) -> np.ndarray:
    """The unit of the bound for each result."""
    ulp = _ulp(np.abs(wanted))
    if bound.scale == "result" or not args:
        return ulp
    arrays = [np.asarray(arg) for arg in args]
    count = max(1.0, max(array.size for array in arrays) / max(wanted.size, 1))
    if wanted.size == arrays[0].size:
        count = float(max(arrays[0].shape, default=1))
    if bound.scale == "product":
        return ulp * count
    with np.errstate(all="ignore"):
        largest = max((_largest(array) for array in arrays), default=0.0)
        if bound.scale == "array":
            count, largest = float(max(arrays[0].shape, default=1)), max(largest, _largest(wanted))
        square = float(np.square(largest))
        mass = largest if bound.scale == "operands" else count * (square if bound.scale == "squares" else largest)
        real = np.dtype(wanted.real.dtype)
        mass = min(mass, float(np.finfo(real).max))
        return np.maximum(ulp, np.spacing(np.asarray(mass, real)).astype(float))


def _largest(array: np.ndarray) -> float:
    size = np.abs(array.astype(np.complex128)).ravel()
    return float(max(size[np.isfinite(size)], default=0.0))


def _parts(wanted: np.ndarray, got: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    return [(wanted.real, got.real), (wanted.imag, got.imag)]


def _ulp(size: np.ndarray) -> np.ndarray:
    """The unit in the last place of finite sizes, at least that of the smallest normal number."""
    tiny = np.finfo(size.dtype).tiny
    finite = np.where(np.isfinite(size), size, 1)
    unit = np.spacing(np.minimum(np.maximum(finite, tiny), np.finfo(size.dtype).max / 2))
    return unit.astype(np.float64)


def distance(wanted: np.ndarray, got: np.ndarray, unit: np.ndarray | None = None, zeros: bool = True) -> np.ndarray:
    """The distance in units; infinite where NaNs, infinities or, with `zeros`, the signs of zeros differ."""
    with np.errstate(all="ignore"):
        unit = _ulp(np.abs(wanted)) if unit is None else unit
        result = np.abs(wanted.astype(np.float64) - got.astype(np.float64)) / unit
        tiny = flushed_below(wanted.dtype)
        flushed = (np.abs(wanted) <= tiny) & (wanted != 0) & (np.abs(got) <= tiny)
        result = np.where((wanted == got) | flushed | (np.isnan(wanted) & np.isnan(got)), 0, result)
        signs = (wanted == 0) & (got == 0) & (np.signbit(wanted) != np.signbit(got)) & zeros
        return np.where(np.isnan(result) | signs, np.inf, result)


def _first(bad: np.ndarray, wanted: np.ndarray, got: np.ndarray) -> str | None:
    if not bad.any():
        return None
    where = tuple(int(n) for n in np.argwhere(bad)[0])
    return f"{int(bad.sum())} of {bad.size} differ, first at {where}: NumPy {wanted[where]!r}, compiled {got[where]!r}"
