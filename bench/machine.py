"""What a result must say of the machine it was measured on, and nothing that names the machine."""

from __future__ import annotations

import importlib.metadata
import os
import platform
from pathlib import Path


def describe() -> dict[str, object]:
    """Processor, cores, memory, load, operating system and versions; no names, no paths. Ask before measuring."""
    packages = ("autojit", "jax", "jaxlib", "numpy", "scipy", "numba")
    return {
        "processor": _processor(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "memory_gib": _memory(),
        "load": round(os.getloadavg()[0], 1),
        "system": platform.system(),
        "python": platform.python_version(),
        "versions": {name: version for name in packages if (version := _version(name))},
    }


def sentence(machine: dict[str, object]) -> str:
    """The description as one line."""
    versions = machine["versions"]
    assert isinstance(versions, dict)
    named = ", ".join(f"{name} {version}" for name, version in versions.items())
    return (
        f"{machine['processor']}, {machine['cores']} cores, {machine['memory_gib']} GiB, "
        f"load before {machine['load']}, {machine['system']}, Python {machine['python']}, {named}"
    )


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    fields = dict(reversed([[part.strip() for part in line.split(":", 1)] for line in lines if ":" in line]))
    name = fields.get("model name") or platform.processor() or platform.machine()
    wide = " (AVX-512)" if "avx512f" in fields.get("flags", "").split() else ""
    return name + wide


def _memory() -> int | None:
    try:
        return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30)
    except (ValueError, OSError, AttributeError):
        return None


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None
