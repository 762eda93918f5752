"""Writing through views: how a new value of a view becomes a new value of what it is a view of."""

from __future__ import annotations

from typing import Any

import numpy as np

from autojit.capture.values import ViewStep
from autojit.errors import CannotCapture
from autojit.ir.graph import Operand
from autojit.ir.op import Op
from autojit.ir.spec import Spec
from autojit.ops.chapters import TABLE

#: Functions whose views NumPy does not let anybody write to.
READONLY_VIEWS = ("np.broadcast_to", "np.diagonal", "np.lib.stride_tricks.sliding_window_view")


def inverse(step: ViewStep, base: Spec) -> tuple[Op, tuple[Operand, ...], dict[str, Any]]:
    """The op that puts a new value of a view back into its base.

    Raises:
        CannotCapture: NumPy makes such views read-only.
    """
    params = dict(step.params)
    name = step.op.name
    if name == "getitem":
        return TABLE["setitem"], step.operands, params
    if name == "np.transpose":
        return step.op, (), {"axes": tuple(int(axis) for axis in np.argsort(params["axes"]))}
    if name == "np.reshape":
        return step.op, (), {"shape": base.shape}
    if name in ("np.real", "np.imag"):
        return TABLE["set_" + name[3:]], (), {}
    raise CannotCapture("read-only", f"a view made by `{name}` is read-only")
