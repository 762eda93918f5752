"""The disk cache of this process: where it lies, and what its programs depend on beside their keys."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import platform
import sys
from collections.abc import Iterator

import numpy as np

from autojit.compile.disk import DiskCache
from autojit.config import Config
from autojit.errors import expected
from autojit.files import open_file
from autojit.jax_names import jax_version, version_file


def disk_cache(flags: Config) -> DiskCache | None:
    """The cache that the flags ask for, or `None`."""
    return opened(flags.cache_dir) if flags.disk_cache else None


def default_directory() -> str | None:
    """Where programs are kept if `--cache_dir` does not say: the platform's place for files that can be made again.

    `None` for a user without a home, such as a number that a container was started with.
    """
    base = _base()
    return os.path.join(base, "autojit") if os.path.isabs(base) else None


def _base() -> str:
    if sys.platform == "win32":
        given, below = os.environ.get("LOCALAPPDATA"), "AppData/Local"
    elif sys.platform == "darwin":
        given, below = None, "Library/Caches"
    else:
        given, below = os.environ.get("XDG_CACHE_HOME"), ".cache"
    return given if given and os.path.isabs(given) else os.path.expanduser(os.path.normpath(f"~/{below}"))


@functools.lru_cache(maxsize=8)
def opened(directory: str) -> DiskCache | None:
    """The cache in a directory; an empty name means the default, which not every user has.

    A relative one is looked for from where the process is when it is first asked for.
    """
    root = os.path.expanduser(directory) if directory else default_directory()
    if root is None or root.startswith("~"):  # of nobody whose home is known
        return None
    with expected(OSError):  # the process may be in a folder that is gone
        root = os.path.join(os.getcwd(), root)
    return DiskCache(root, version, loose=_loosely())


@functools.cache
def _loosely() -> str:
    """What decides how fast programs are, as far as that is found at once: a new installation has a new folder."""
    parts = [
        f"jax {jax_version()} numpy {np.__version__}",
        str(os.stat(os.path.dirname(os.path.dirname(__file__))).st_mtime_ns),
        *_environment(),
        _system(),
        str(processors()),
    ]
    return "\n".join(parts)


def _environment() -> list[str]:
    found = [f"{name}={os.environ.get(name)}" for name in ("XLA_FLAGS", "LIBXLA_FLAGS", "NPROC")]
    file = os.environ.get("XLA_FLAGS", "").strip()
    if file and not file.startswith("-"):  # the flags stand there
        with contextlib.suppress(OSError, ValueError), open_file(file, "rb") as stream:
            found.append(hashlib.sha256(stream.read()).hexdigest())
    return found


def processors() -> int:
    """How many processors the process may use; XLA divides a program among so many when it compiles it."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@functools.cache
def version() -> str:
    """A digest of what decides how a graph becomes machine code: autojit, jax, NumPy, XLA's flags, the processor."""
    parts = [
        *sources(),
        f"jax {jax_version()} numpy {np.__version__}",
        version_file("jaxlib")[1],
        *_environment(),
        _system(),
        _processor(),
        str(processors()),
    ]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


@functools.cache
def sources() -> tuple[str, ...]:
    """Name, size and time of autojit's sources when this was first asked, which is before those that compile are read.

    An upgrade in a running process changes the files, and not what compiles.
    """
    return tuple(sorted(_files(os.path.dirname(os.path.dirname(__file__)))))


def _files(folder: str, inside: str = "") -> Iterator[str]:
    """Name, size and time of the sources in a folder, in a third of the time of `Path.rglob`."""
    with os.scandir(folder) as entries:
        for entry in entries:
            name = f"{inside}{entry.name}"
            if entry.name.endswith(".py"):
                status = entry.stat()
                yield f"{name} {status.st_size} {status.st_mtime_ns}"
            elif entry.is_dir(follow_symlinks=False) and entry.name != "__pycache__":
                yield from _files(entry.path, f"{name}/")


def _system() -> str:
    """The operating system; `platform.platform()` would look for the C library's version, too."""
    if not hasattr(os, "uname"):
        return platform.platform()
    system = os.uname()
    return f"{system.sysname} {system.release} {system.machine}"


def _processor() -> str:
    """The kind of processor and its instruction sets."""
    try:
        with open_file("/proc/cpuinfo") as file:
            lines = file.read().splitlines()
    except OSError:
        return f"{platform.machine()} {platform.processor()}"
    return "\n".join(sorted({line for line in lines if line.startswith(("model name", "flags", "Features", "CPU "))}))
