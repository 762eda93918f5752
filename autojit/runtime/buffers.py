"""How results leave a compiled program: as ordinary arrays and scalars of the user's."""

from __future__ import annotations

from typing import Any

import numpy as np

from autojit.compile.transfer import ResultMemory
from autojit.ir.spec import Spec


def own(view: np.ndarray) -> np.ndarray:
    """An ordinary writeable array with the contents of a result.

    Small results are copied. A large one keeps XLA's memory, which is used again when the array is gone.

    Args:
        view: An entry of `Executable.run`'s list. The caller must not use it any more, nor own it twice.
    """
    if isinstance(view.base, ResultMemory):
        # NumPy lets an array that was made read-only be writeable again if its base is a writeable array.
        return view.base.array(writeable=True)[...]
    if view.flags.owndata:  # a copy of an input, or a constant's own array
        view.flags.writeable = True
        return view
    return view.copy()


def to_scalar(view: np.ndarray, spec: Spec) -> Any:
    """The scalar in a result without axes: a NumPy scalar, or a Python scalar for kind "python"."""
    return view.item() if spec.kind == "python" else view[()]
