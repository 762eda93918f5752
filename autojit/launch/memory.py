"""What `python -m autojit run` sets for a whole process: memory that is freed stays, for the arrays to come.

By default the C library gives large blocks back to the system when they are freed, and asks for new ones: each array of
an expression touches pages that the system must find and clear first. A library must not decide that for a process; a
launcher may, and says so.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Mapping

#: Blocks up to this size come from the heap and stay there, in bytes; the second is the most that some versions take.
LARGEST = 1 << 30, 32 << 20
#: Free memory at the end of the heap is given back when it is more, in bytes.
KEPT = 512 << 20
# Of `mallopt`, in `malloc.h`.
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
#: Who has set one of these has decided for himself.
_VARIABLES = (
    "MALLOC_MMAP_MAX_",
    "MALLOC_MMAP_THRESHOLD_",
    "MALLOC_TOP_PAD_",
    "MALLOC_TRIM_THRESHOLD_",
)
_TUNABLES = "GLIBC_TUNABLES"


def is_users(environment: Mapping[str, str] = os.environ) -> bool:
    """Whether the user has set how the C library keeps memory."""
    return any(name in environment for name in _VARIABLES) or "glibc.malloc." in environment.get(_TUNABLES, "")


def keep_freed() -> bool:
    """Have the process keep the memory of arrays that are gone.

    Returns:
        Whether that could be done: with glibc, unless the user has set something of the kind.

    Source:
        `man 3 mallopt`.
    """
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):  # another C library
        return False
    if is_users():
        return False
    return any(mallopt(_MMAP_THRESHOLD, size) for size in LARGEST) and bool(mallopt(_TRIM_THRESHOLD, KEPT))
