"""Temporaries whose memory NumPy reuses: `a.T * 2 + b` lies in memory as `a.T * 2` does, when that is large."""

from __future__ import annotations

import ast
from functools import cache
from typing import Any

import numpy as np

from autojit.capture.layout import set_strides
from autojit.capture.values import Arr
from autojit.errors import CannotCapture

#: Arrays of so many bytes are worth it to NumPy (`temp_elide.c`).
LEAST_BYTES = 256 * 1024
#: The operators that it applies in place: whether their operands may be exchanged.
_IN_PLACE: dict[type, bool] = {
    ast.Add: True,
    ast.Mult: True,
    ast.BitAnd: True,
    ast.BitOr: True,
    ast.BitXor: True,
    ast.Sub: False,
    ast.Div: False,
    ast.FloorDiv: False,
    ast.LShift: False,
    ast.RShift: False,
}
#: Expressions whose value has a name; that of an attribute may be a property's, or `.real` of a new array.
_HELD = (ast.Name, ast.Constant, ast.NamedExpr)
#: ... and those that always make a new array.
_NEW = (ast.BinOp, ast.UnaryOp, ast.Compare)


def in_reused_memory(operator: type, operands: tuple[Any, Any], nodes: tuple[type, type], result: Any) -> None:
    """Give the result of an operator the strides of the temporary in whose memory NumPy makes it, if it does.

    Args:
        operator: The class of the operator's node.
        operands: The operands.
        nodes: The kinds of expressions that gave them.
        result: The result, with the strides that it has in new memory.

    Raises:
        CannotCapture: The strides depend on whether an operand has a name somewhere, which is not known.
    """
    if operator not in _IN_PLACE or not isinstance(result, Arr) or result.kind != "array" or result.dummy.ndim < 2:
        return
    if result.dummy.nbytes < LEAST_BYTES:
        return
    is_open = False
    pairs = list(zip(operands, operands[::-1], nodes, strict=True))
    for operand, other, node in pairs if _IN_PLACE[operator] else pairs[:1]:
        if issubclass(node, _HELD) or not _fits(operator, operand, other, result):
            continue
        if operand.dummy.strides == result.dummy.strides:
            if issubclass(node, _NEW):
                return
            is_open = True  # it is made here, if nobody holds this operand
        elif is_open or not issubclass(node, _NEW):
            detail = "the memory order of a result, which NumPy may put where the result of a call was"
            raise CannotCapture("unsupported-syntax", detail)
        elif is_done_here():
            set_strides(result, operand.dummy.strides)
            return


def _fits(operator: type, operand: Any, other: Any, result: Arr) -> bool:
    """Whether a result can be made in the memory of an operand, if that has no name."""
    if not isinstance(operand, Arr) or operand.kind != "array" or operand.steps or operand.storage.input is not None:
        return False
    if operand.shape != result.shape or operand.dtype != result.dtype:
        return False
    if operator is ast.Div and operand.dtype.kind not in "fc":
        return False
    if not isinstance(other, Arr):
        return True  # a number
    return other.shape in ((), operand.shape) and np.can_cast(other.dtype, operand.dtype)


@cache
def is_done_here() -> bool:
    """Whether NumPy reuses temporaries on this platform."""
    square = np.zeros((192, 192))
    return not ((square.T * 2.0) + square).flags.c_contiguous
