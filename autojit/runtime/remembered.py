"""What earlier processes have measured, kept beside their programs in the disk cache."""

from __future__ import annotations

import hashlib
import json
import marshal
import types
from dataclasses import asdict, dataclass
from typing import Any

from autojit.capture.capture import region_key
from autojit.capture.regions import Region
from autojit.compile.disk import DiskCache
from autojit.compile.stored import Stored


@dataclass(frozen=True, slots=True)
class Verdict:
    """How one kind of calls of a region did.

    Attributes:
        wins: Whether the plan was kept.
        numpy_seconds: NumPy's time for one call.
        compiled_seconds: The plan's.
        capture_seconds: How long capturing took, which every process has to do for itself.
    """

    wins: bool
    numpy_seconds: float
    compiled_seconds: float
    capture_seconds: float

    @property
    def pays_at_once(self) -> bool:
        """Whether a call that waits for the capture is not slower than NumPy's."""
        return self.wins and self.capture_seconds + self.compiled_seconds < self.numpy_seconds


def recall(disk: DiskCache, key: str) -> Verdict | None:
    """What is known, if anything is."""
    stored = disk.load(key)
    if stored is None:
        return None
    try:
        return Verdict(**json.loads(stored.code))
    except (ValueError, TypeError):
        disk.remove(key)
        return None


def remember(disk: DiskCache, key: str, verdict: Verdict) -> None:
    """Keep a verdict for later processes."""
    disk.store(key, Stored((), json.dumps(asdict(verdict)).encode()))


def digest_of(code: types.CodeType) -> str:
    """A digest of a function's bytecode."""
    return hashlib.sha256(marshal.dumps(code)).hexdigest()


def key_of(digest: str, region: Region, kind: tuple[Any, ...]) -> str:
    """What a verdict is about: the function's bytecode, the region's place in it, and the kind of call."""
    words = [part if isinstance(part, tuple) else (part.__module__, part.__qualname__) for part in kind]
    return "verdict " + hashlib.sha256(f"{digest} {region_key(region)} {words}".encode()).hexdigest()
