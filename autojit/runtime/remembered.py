"""What earlier processes have measured, kept beside their programs in the disk cache."""

from __future__ import annotations

import atexit
import hashlib
import json
import threading
import types
from typing import Any, NamedTuple

from autojit.capture.regions import Region, region_key
from autojit.capture.source import text_of_constant
from autojit.compile.disk import NOTE, DiskCache
from autojit.compile.stored import Stored
from autojit.runtime.alive import Alive

#: How many verdicts on one function are kept; the oldest go first.
MOST = 256


class Verdict(NamedTuple):
    """How one kind of calls of a region did.

    Attributes:
        wins: Whether the plan was kept.
        numpy_seconds: NumPy's time for one call.
        compiled_seconds: The plan's.
        capture_seconds: How long capturing took, which every process has to do for itself.
        choice: The choice of options with which this was measured.
        is_tuned: Whether all others were tried, too.
        cuts: Which statements of the region kept it from being captured as a whole, by their places in it.
    """

    wins: bool
    numpy_seconds: float
    compiled_seconds: float
    capture_seconds: float
    choice: str = ""
    is_tuned: bool = False
    cuts: tuple[int, ...] = ()

    @classmethod
    def read(cls, fields: dict[str, Any]) -> Verdict:
        """A verdict from a file.

        Raises:
            TypeError: It is none.
        """
        verdict = cls(**fields)
        if type(verdict.choice) is not str or not all(type(cut) is int for cut in verdict.cuts):
            raise TypeError(f"a choice is a str, and cuts are ints, not {verdict.choice!r} and {verdict.cuts!r}")
        return verdict._replace(cuts=tuple(verdict.cuts))  # JSON has lists

    @property
    def pays_at_once(self) -> bool:
        """Whether a call that waits for the capture is not slower than NumPy's."""
        return self.wins and self.capture_seconds + self.compiled_seconds < self.numpy_seconds


class Remembered:
    """The verdicts on one function: one file, read when the first verdict is asked.

    Args:
        disk: Where it lies.
        key: Its key there.
    """

    def __init__(self, disk: DiskCache, key: str) -> None:
        self._disk = disk
        self._key = key
        self._known: dict[str, Verdict] | None = None
        self._unsaved: dict[str, Verdict] = {}
        self._lock = threading.RLock()

    def get(self, kind: str) -> Verdict | None:
        """What is known of a kind of call, if anything is."""
        if self._known is None:
            self._known = self._load()
        return self._known.get(kind)

    def has_won(self, region: Region) -> bool:
        """Whether calls of any kind of a region were faster compiled."""
        self.get("")
        words = f"{region_key(region)} "
        return any(verdict.wins for kind, verdict in (self._known or {}).items() if kind.startswith(words))

    def put(self, kind: str, verdict: Verdict) -> None:
        """Note a verdict, to be saved soon."""
        self._unsaved[kind] = verdict  # without the lock: who saves may wait for a finalizer
        _UNSAVED.add(self)

    def save(self) -> None:
        """Write what was noted into the file, beside what other processes have written meanwhile."""
        with self._lock:
            _UNSAVED.discard(self)
            unsaved = {}
            for kind in list(self._unsaved):
                unsaved[kind] = self._unsaved.pop(kind)
            if unsaved:
                known = {kind: verdict for kind, verdict in self._load().items() if kind not in unsaved}
                latest = dict([*known.items(), *unsaved.items()][-MOST:])
                text = json.dumps({kind: verdict._asdict() for kind, verdict in latest.items()})
                self._disk.store(self._key, Stored((), text.encode()))

    def _load(self) -> dict[str, Verdict]:
        stored = self._disk.load(self._key)
        if stored is None:
            return {}
        try:
            return {kind: Verdict.read(fields) for kind, fields in json.loads(stored.code).items()}
        except (ValueError, TypeError, AttributeError):
            self._disk.remove(self._key)
            return {}


def key_of(function: types.FunctionType, options: str) -> str:
    """The key of a function's verdicts: its code, where it stands, and what decides how it is compiled."""
    words = _words_of(function.__code__), function.__module__, function.__qualname__, options
    return f"{NOTE}verdicts " + hashlib.sha256(repr(words).encode()).hexdigest()


def _words_of(code: types.CodeType) -> tuple[Any, ...]:
    """What code does, wherever it stands: `ast.dump` of its syntax takes milliseconds."""
    return code.co_code, code.co_names, code.co_varnames, code.co_freevars, [*map(_constant, code.co_consts)]


def _constant(value: object) -> object:
    return _words_of(value) if isinstance(value, types.CodeType) else text_of_constant(value)


def kind_of(region: Region, kind: tuple[Any, ...]) -> str:
    """A kind of call of a region, in words."""
    words = [part if isinstance(part, tuple) else (part.__module__, part.__qualname__) for part in kind]
    return f"{region_key(region)} {words}"


_UNSAVED: Alive[Remembered] = Alive()


def _save_all() -> None:
    for remembered in list(_UNSAVED):
        remembered.save()


atexit.register(_save_all)
