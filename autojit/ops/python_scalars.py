"""Python's own arithmetic on numbers that come out of arrays or loops: Python numbers in, a Python number out.

Ints here are those of loops, whose bounds keep them far from 64 bits.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from autojit.ir.op import Op
from autojit.ir.spec import PYTHON_DTYPES, Spec
from autojit.ops import exact
from autojit.ops.families import row, small_dummy


def _infer(call: Callable[..., Any]) -> Callable[..., tuple[Spec, ...]]:
    def infer(specs: Sequence[Spec], params: dict[str, Any]) -> tuple[Spec, ...]:
        if any(spec.kind != "python" for spec in specs):
            raise TypeError("Python arithmetic on an array")
        return (Spec((), PYTHON_DTYPES[type(call(*(small_dummy(spec) for spec in specs)))], "python"),)

    return infer


def _lower(rule: Callable[..., Any]) -> Callable[..., Any]:
    def lower(node: Any, xs: Sequence[Any], trap: Callable[[Any], None]) -> Any:
        dtype = node.outputs[0].spec.dtype
        return (rule(*(x.astype(dtype) for x in xs)),)

    return lower


def _divide(node: Any, xs: Sequence[Any], trap: Callable[[Any], None]) -> Any:
    x, y = (value.astype(np.float64) for value in xs)
    trap(y == 0)  # Python raises ZeroDivisionError
    return (exact.divide(x, y),)


def _row(name: str, symbol: str, call: Callable[..., Any], lower: Callable[..., Any], traps: bool = False) -> Op:
    operands = ("x1", "x2") if symbol.count("{}") == 2 else ("x",)
    return row(
        name, call, "elementwise", operands, infer=_infer(call), lower=lower, numpy=(), traps=traps,
        text=lambda inputs, params: symbol.format(*inputs), sharding="elementwise",
    )  # fmt: skip


ROWS: tuple[Op, ...] = (
    _row("py_add", "({} + {})", operator.add, _lower(exact.add)),
    _row("py_subtract", "({} - {})", operator.sub, _lower(exact.subtract)),
    _row("py_multiply", "({} * {})", operator.mul, _lower(exact.multiply)),
    _row("py_divide", "({} / {})", operator.truediv, _divide, traps=True),
    _row("py_negative", "(-{})", operator.neg, _lower(jnp.negative)),
)
