"""`np.fft`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autojit.errors import CannotCapture, comes_from_a_signal
from autojit.ir.op import Infer, Lower, Op
from autojit.ir.spec import Spec
from autojit.ir.warned import asked
from autojit.jax_names import jnp, lax
from autojit.ops import exact
from autojit.ops.inference import public_name, shapes_by


def _dtype(name: str, spec: Spec) -> np.dtype:
    """Ask NumPy on a line of two elements; the transforms of several axes give the same dtypes."""
    plain = name.rstrip("2n") if name.rstrip("2n") in ("fft", "ifft", "rfft", "irfft") else name
    return getattr(np.fft, plain)(np.ones(2, spec.dtype)).dtype


def _infer(name: str) -> Infer:
    function = getattr(np.fft, name)
    shapes_of = shapes_by(f"np.fft.{name}", getattr(jnp.fft, name))

    def infer(specs: Sequence[Spec], params: dict[str, Any]) -> tuple[Spec, ...]:
        (a,) = specs
        dtype = _dtype(name, a)
        if dtype.itemsize > 16 or a.dtype == np.float16 or 0 in a.shape:
            raise CannotCapture("argument-type", f"`np.fft.{name}` of these arguments is not compiled")
        if params.get("axes") == () or params.get("s") == () or (not a.shape and name in ("fftn", "ifftn")):
            raise CannotCapture("keyword", f"`np.fft.{name}` along no axis, which is its argument")
        # NumPy refuses axes that are missing, and results without elements; which, short axes show.
        _, warned = asked(lambda: function(np.ones([min(length, 2) for length in a.shape], a.dtype), **params))
        if warned:
            raise CannotCapture("keyword", f"`np.fft.{name}` warns: {warned[0]}")
        try:
            (shape,) = shapes_of([Spec(a.shape, np.dtype(np.float64) if a.dtype.kind in "biu" else a.dtype)], params)
        except Exception as error:
            if comes_from_a_signal(error):
                raise
            function(np.broadcast_to(np.ones((), a.dtype), a.shape), **params)
            raise CannotCapture("keyword", f"not compiled for these arguments: {error}") from None
        return (Spec(shape, dtype),)

    return infer


#: The transform back is the conjugate of a transform with the other normalization.
_OTHER_NORM = {None: "forward", "backward": "forward", "ortho": "ortho", "forward": "backward"}


def _ihfft(x: Any, norm: Any = None, **params: Any) -> Any:
    """As NumPy has it, so that the imaginary part of a real element is -0."""
    found = jnp.fft.rfft(x, norm=_OTHER_NORM[norm], **params)
    return lax.complex(lax.real(found), lax.neg(lax.imag(found)))


def _near_overflow(found: Any, count: int) -> Any:
    """Whether a sum of `count` elements on the way to these may have been infinite, or one of them is a NaN.

    Which elements that reaches, and as what, depends on how the length is factorized. The norm of the elements is that
    of the transform but for a factor between 1/count and count, so the results alone show it.
    """
    limit = np.finfo(np.dtype(found.dtype)).max / (4.0 * float(count) ** 2)
    return ~jnp.all(jnp.stack([jnp.all(lax.abs(part) < limit) for part in exact.parts(found)]))


def _in_rows(found: Any) -> Any:
    """The same, with its memory in C order whatever reads it.

    XLA would give a transform the order that the reader asks for, LAPACK's columns for instance, in which the runtime
    refuses to compute it.
    """
    return lax.optimization_barrier(found.reshape(-1)).reshape(found.shape) if found.ndim > 1 else found


def _lower(name: str) -> Lower:
    rule = _ihfft if name == "ihfft" else getattr(jnp.fft, name)

    def lower(node: Any, xs: Sequence[Any], trap: Any) -> Any:
        (x,) = xs
        x = x if exact.is_inexact(x) else x.astype(jnp.float64)
        params = dict(node.keywords)
        axis = params.pop("axis", -1)  # turned here, so that what reads the result may turn it back on its way
        found = jnp.moveaxis(_in_rows(rule(jnp.moveaxis(x, axis, -1), **params)), -1, axis)
        found = exact.cast(found, node.outputs[0].spec.dtype)
        trap(_near_overflow(found, max(found.size, x.size)))
        return (found,)

    return lower


def _samples(name: str) -> Any:
    several = name[-1] in "2n"

    def samples(rng: Any) -> list[Any]:
        x = rng.standard_normal((4, 6))
        if name.startswith(("irfft", "ifft", "fft")):
            x = x + 1j * rng.standard_normal((4, 6))
        size = {"s": (5, 7), "axes": (0, 1)} if several else {"n": 5}
        where = {"axes": (0, 1)} if several else {"axis": 0}
        cases = [((x,), {}), ((x,), size), ((x,), {**where, "norm": "ortho"}), ((x,), {"norm": "forward"})]
        single = x.astype(np.complex64 if x.dtype.kind == "c" else np.float32)
        return [*cases, ((single,), {}), ((np.arange(8).reshape(2, 4),), {})]

    return samples


def _row(name: str) -> Op:
    function = getattr(np.fft, name)
    several = name[-1] in "2n"
    return Op(
        name=public_name(function),
        call=function,
        family="contraction",
        operands=("a",),
        params=("s", "axes", "norm") if several else ("n", "axis", "norm"),
        infer=_infer(name),
        lower=_lower(name),
        numpy=(function,),
        traps=True,
        samples=_samples(name),
    )


NAMES = "fft ifft rfft irfft hfft ihfft fft2 ifft2 fftn ifftn rfft2 irfft2 rfftn irfftn".split()

ROWS = tuple(map(_row, NAMES))
