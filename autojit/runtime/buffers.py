"""How results leave a compiled program: as ordinary arrays and scalars of the user's."""

from __future__ import annotations

from typing import Any

import numpy as np

from autojit.ir.spec import Spec

#: Results up to this size are copied; larger ones keep XLA's memory.
COPY_BYTES = 64 * 1024


class _Memory:
    """Keeps the memory of a result alive, and shows it to NumPy as writeable."""

    __slots__ = ("__array_interface__", "view")

    def __init__(self, view: np.ndarray) -> None:
        self.view = view
        interface = dict(view.__array_interface__)
        interface["data"] = (interface["data"][0], False)
        self.__array_interface__ = interface


def own(view: np.ndarray) -> np.ndarray:
    """An ordinary writeable array with the contents of a result.

    Args:
        view: An entry of `Executable.run`'s list. It must not be used any more, nor be owned twice.
    """
    if view.nbytes <= COPY_BYTES:
        return view.copy()
    return np.asarray(_Memory(view))


def to_scalar(view: np.ndarray, spec: Spec) -> Any:
    """The scalar in a result without axes: a NumPy scalar, or a Python scalar for kind "python"."""
    return view.item() if spec.kind == "python" else view[()]
