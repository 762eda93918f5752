"""The disk cache of this process: where it lies, and what its programs depend on beside their keys."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import platform
import sys
from collections.abc import Iterator
from pathlib import Path

import jaxlib.version
import numpy as np

from autojit.compile.disk import DiskCache
from autojit.config import Config
from autojit.jax_names import jax_version


def disk_cache(flags: Config) -> DiskCache | None:
    """The cache that the flags ask for, or `None`."""
    return opened(flags.cache_dir) if flags.disk_cache else None


def default_directory() -> Path | None:
    """Where programs are kept if `--cache_dir` does not say: the platform's place for files that can be made again.

    `None` for a user without a home, such as a number that a container was started with.
    """
    with contextlib.suppress(RuntimeError):
        return _base() / "autojit"
    return None


def _base() -> Path:
    if sys.platform == "win32":
        given, below = os.environ.get("LOCALAPPDATA"), ("AppData", "Local")
    elif sys.platform == "darwin":
        given, below = None, ("Library", "Caches")
    else:
        given, below = os.environ.get("XDG_CACHE_HOME"), (".cache",)
    return Path(given) if given and Path(given).is_absolute() else Path.home().joinpath(*below)


@functools.lru_cache(maxsize=8)
def opened(directory: str) -> DiskCache | None:
    """The cache in a directory; an empty name means the default, which not every user has."""
    root = Path(directory).expanduser() if directory else default_directory()
    return None if root is None else DiskCache(root, version())


@functools.cache
def version() -> str:
    """A digest of what decides how a graph becomes machine code: autojit, jax, NumPy, XLA's flags, the processor."""
    parts = [
        *sorted(_files(Path(__file__).parents[1])),
        f"jax {jax_version()} jaxlib {jaxlib.version.__version__} numpy {np.__version__}",
        *(f"{name}={os.environ.get(name)}" for name in ("XLA_FLAGS", "LIBXLA_FLAGS")),
        _system(),
        _processor(),
        str(os.cpu_count()),
    ]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def _files(folder: str | Path, inside: str = "") -> Iterator[str]:
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
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return f"{platform.machine()} {platform.processor()}"
    return "\n".join(sorted({line for line in lines if line.startswith(("model name", "flags", "Features", "CPU "))}))
