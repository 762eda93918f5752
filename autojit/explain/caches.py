"""The sizes of the processor's caches: arrays that one does not hold may take longer for each element."""

from __future__ import annotations

import functools
from pathlib import Path

#: Where Linux tells of the caches of the first core, one folder each.
_SYSTEM = "/sys/devices/system/cpu/cpu0/cache"
#: The level up to which one core, or a few, have a cache for themselves.
_NEAR = 2
_UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


@functools.cache
def cache_sizes(system: str = _SYSTEM) -> tuple[int, int]:
    """The bytes of the second-level cache, and of the largest of all; 0 where nobody tells."""
    sizes = [found for folder in Path(system).glob("index*") if (found := _size(folder))]
    near = max((size for level, size in sizes if level <= _NEAR), default=0)
    return near, max((size for _, size in sizes), default=0)


def _size(folder: Path) -> tuple[int, int] | None:
    """The level and the bytes of a cache that holds data."""
    try:
        level, kind, size = ((folder / name).read_text().strip() for name in ("level", "type", "size"))
        return None if kind == "Instruction" else (int(level), int(size[:-1]) * _UNITS[size[-1]])
    except (OSError, ValueError, LookupError):  # another system, or one that writes it in another way
        return None
