"""Whether arrays that a plan writes lie in the memory of others."""

from __future__ import annotations

import numpy as np


def apart(written: np.ndarray, *others: np.ndarray) -> bool:
    """Whether no element of an array lies in the memory of another one, or of another array."""
    flags = written.flags
    if not flags.forc and _may_overlap_itself(written):
        return False
    if written.base is None and flags.owndata:  # without a base it may be over memory of somebody's C code
        for other in others:
            is_foreign = other.base is not None or not other.flags.owndata
            if other is written or (is_foreign and np.may_share_memory(written, other)):
                return False
        return True
    return not any(other is written or np.may_share_memory(written, other) for other in others)


def _may_overlap_itself(array: np.ndarray) -> bool:
    """Whether two elements may be one, as in a broadcast array or in sliding windows."""
    reach = array.itemsize
    for step, length in sorted((abs(step), length) for step, length in zip(array.strides, array.shape)):
        if length > 1:
            if step < reach:
                return True
            reach += step * (length - 1)
    return False
