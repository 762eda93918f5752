"""`exact=True`: which operations may be recorded, and what is recorded behind them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from autojit.ir.graph import Const, Operand
from autojit.ir.op import Op
from autojit.ops.flushing import is_subnormal

#: float16 is computed in float32, where none of its numbers is subnormal.
_FLUSHED = frozenset(np.dtype(name) for name in "float32 float64 complex64 complex128".split())


def flushes(dtype: np.dtype) -> bool:
    """Whether XLA:CPU takes the subnormal numbers of a dtype for zeros."""
    return dtype in _FLUSHED


def is_rounded(op: Op, dtype: np.dtype) -> bool:
    """Whether a result of this dtype goes through the row `rounded`."""
    return (flushes(dtype) and bool(op.rounds)) or (dtype.kind == "f" and op.rounds in ("zeros", "extreme"))


def why_inexact(op: Op, inputs: Sequence[Operand], outputs: Sequence[Operand], params: dict[str, Any]) -> str | None:
    """Why the compiled form of a call is not known to give NumPy's bits, or `None` when it is."""
    if op.lower is None:
        return f"`{op.name}` runs on the host, on copies whose memory order may change its result"
    operands = (*inputs, *outputs)
    if not op.is_bitwise(operand.spec.dtype for operand in operands):
        kinds = dict.fromkeys(operand.spec.dtype.name for operand in operands if operand.spec.dtype.kind in "fc")
        return f"`{op.name}` of {', '.join(kinds)} does not give NumPy's bits"
    for operand in inputs:
        if isinstance(operand, Const) and operand.spec.dtype.kind in "fc" and _holds_subnormal(operand, operands):
            return f"`{op.name}` with a subnormal constant"
    partners = {output.spec.dtype for output in outputs if flushes(output.spec.dtype)}
    if partners and any(is_subnormal(number, *partners).any() for number in _numbers(params.values())):
        return f"`{op.name}` with a subnormal constant"
    if op.family == "elementwise" and params.get("dtype") is not None and op.name != "astype":
        return f"`{op.name}` with `dtype=` of floating point numbers" if _has_floats(operands) else None
    if op.name != "astype" and any(_narrows(operand, outputs) for operand in inputs):
        return f"`{op.name}` rounds an operand to fewer bits"
    return None


def narrow_partner(operand: Operand, operands: Sequence[Operand]) -> np.dtype | None:
    """The dtype of single precision to which NumPy casts a Python number of the graph, if any."""
    if not operand.spec.weak or operand.spec.dtype.kind not in "fc" or isinstance(operand, Const):
        return None
    partners = {other.spec.dtype for other in operands if not other.spec.weak and other.spec.dtype.kind in "fc"}
    return np.dtype(np.float32) if partners & {np.dtype(np.float32), np.dtype(np.complex64)} else None


def _has_floats(operands: Sequence[Operand]) -> bool:
    return any(operand.spec.dtype.kind in "fc" for operand in operands)


def _holds_subnormal(constant: Const, operands: Sequence[Operand]) -> bool:
    """Whether a constant is subnormal, or would be in the dtype of another operand."""
    partners = {other.spec.dtype for other in operands if flushes(other.spec.dtype)} if constant.spec.weak else set()
    return flushes(constant.spec.dtype) and bool(is_subnormal(constant.value, *partners).any())


def _numbers(params: Iterable[Any]) -> Iterator[Any]:
    """The floating point numbers among parameters."""
    for value in params:
        if isinstance(value, list | tuple):
            yield from _numbers(value)
        elif isinstance(value, float | complex | np.inexact):
            yield value


def _narrows(operand: Operand, outputs: Sequence[Operand]) -> bool:
    """Whether a number with a dtype of its own is rounded to fewer bits."""
    spec = operand.spec
    if spec.weak or spec.dtype.kind not in "fc":
        return False
    return any(_bits(output.spec.dtype) < _bits(spec.dtype) for output in outputs if output.spec.dtype.kind in "fc")


def _bits(dtype: np.dtype) -> int:
    return np.finfo(dtype).bits
