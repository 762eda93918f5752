"""Whether there is memory for a large array. Linux promises more than it has, and ends a process that uses it: NumPy
may do in place what a compiled program needs a second array for.
"""

from __future__ import annotations

from math import inf
from time import perf_counter

from autojit.compile import heap
from autojit.compile.pool import RESULTS, STAGING
from autojit.errors import NoRoom, expected
from autojit.files import open_file

#: What takes fewer bytes is not asked about: to ask takes some 0.3 ms, to touch so much memory a hundred times that.
ASKED = 256 << 20

#: For so many seconds nobody frees again what is kept, if that did not help.
_WAITS = 1.0
_again = [0.0]
_SYSTEM = "/proc/meminfo"
#: Of the first and the second version of control groups, as a container sees its own.
_GROUPS = (
    ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current", "/sys/fs/cgroup/memory.stat"),
    (
        "/sys/fs/cgroup/memory/memory.limit_in_bytes",
        "/sys/fs/cgroup/memory/memory.usage_in_bytes",
        "/sys/fs/cgroup/memory/memory.stat",
    ),
)


def make_room(nbytes: int) -> None:
    """See that `nbytes` more bytes are there: if not, what is kept for later calls is freed.

    Raises:
        NoRoom: They are not there.
    """
    if nbytes < ASKED or nbytes <= (left := available()):
        return
    if perf_counter() >= _again[0]:
        RESULTS.clear()
        STAGING.clear()
        heap.trim()
        if nbytes <= (left := available()):
            return
        _again[0] = perf_counter() + _WAITS
    raise NoRoom(f"{nbytes / 1e9:.2f} GB more are needed, and {left / 1e9:.2f} GB are there")


def available() -> float:
    """The bytes that can be had without taking any from another program; infinite where nobody tells."""
    left = 1024.0 * _numbers(_SYSTEM).get("MemAvailable:", inf)
    for limit, used, details in _GROUPS:
        bound, taken = _number(limit), _number(used)
        if bound is not None and taken is not None:
            found = _numbers(details)  # what lies in files is given up
            files = sum(found.get(f"total_{kind}", found.get(kind, 0)) for kind in ("inactive_file", "active_file"))
            left = min(left, bound - taken + files)
    return left


def _number(path: str) -> int | None:
    text = _text(path).strip()
    return int(text) if text.isdigit() else None  # or "max"


def _numbers(path: str) -> dict[str, int]:
    rows = (line.split() for line in _text(path).splitlines())
    return {row[0]: int(row[1]) for row in rows if len(row) > 1 and row[1].isdigit()}


def _text(path: str) -> str:
    with expected(OSError), open_file(path) as file:
        return file.read()
    return ""
