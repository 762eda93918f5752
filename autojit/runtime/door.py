"""`DOOR`: behind it lies what captures and compiles, which is imported when a program has use for it."""

from __future__ import annotations

import contextlib
import importlib
import math
import operator
import os
import sys
import threading
from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np

from autojit.compile import present
from autojit.compile.garbage import uncollected
from autojit.compile.persistent import sources
from autojit.compile.service import LEISURE, SERVICE
from autojit.errors import AutojitError
from autojit.runtime import heat
from autojit.runtime.allowance import ALLOWANCE, part_of_compiling
from autojit.runtime.background import BACKGROUND, making
from autojit.runtime.forks import cuts_off_if
from autojit.runtime.interrupts import deferred
from autojit.versions import unsuited

#: Seconds that opening takes.
SECONDS = 0.2
#: ... of the program's own thread, where jax has been imported, ...
OPENING = 0.1
#: ... of a program's own time, if a thread beside it does.
_BESIDE = 0.15
#: Seconds that the process that compiles takes for its own imports.
_SERVICE_STARTS = 1.0
#: Where NumPy is not itself, or nobody is there yet who compiles, it is looked at again after so many seconds.
_PAUSE = 0.1
#: A fork waits so long for the thread that opens: its child would not have that thread, and half of the modules.
_FORK_WAITS = 1.0
#: How many kinds of calls are remembered.
_MOST = 256
_MAKER = "autojit.runtime.maker"
#: The packages whose modules are behind it.
_OURS = ("autojit", "jax", "jaxlib", "ml_dtypes", "opt_einsum")
#: The modules whose functions the op table lists, as they are when autojit is imported.
_LISTED = {module.__name__: dict(vars(module)) for module in (np, np.linalg, np.fft, np.random, math)}


class Door:
    """Opened once, by the thread that has use for it or by the one in the background, while others go on in NumPy.

    Attributes:
        is_open: Whether all that lies behind it has been imported.
        found: Why it could not be opened when somebody last looked; "" for nothing.
    """

    def __init__(self) -> None:
        self.is_open = False
        self.found = ""
        self._maker: Any = None
        self._error = ""  # why it stays closed for ever
        self._looks_again = 0.0
        #: The kinds of calls that are worth a compilation.
        self._hot: dict[heat.Heat, None] = {}
        self._was_half_open = False
        self._is_started = False  # what compiles, for a program that has an allowance
        self._was_ready = False  # likewise
        self._renew()

    def _renew(self) -> None:
        # Reentrant: a finalizer may come in while the same thread imports.
        self._lock = threading.RLock()
        self._opens = 0  # the thread that does
        # The thread that does, and has the lock; twice where a signal handler forks meanwhile.
        self._forks: list[int] = []

    def open(self) -> Any:
        """The module that makes plans.

        Raises:
            AutojitError: A function of NumPy's has been replaced, or this thread is opening already.
        """
        if self._maker is None:
            with self._lock:
                if self._opens:
                    raise AutojitError("autojit was asked while it was being imported")
                self._opens = threading.get_ident()
                try:
                    if self._maker is None:
                        self._import()
                finally:
                    self._opens = 0
        return self._maker

    def _import(self) -> None:
        if trouble := self._error or unsuited() or _replaced():
            raise AutojitError(trouble)
        before = set(sys.modules)
        is_beside = BACKGROUND.is_here()
        # Beside the program garbage is collected as ever: the program may look, or fork.
        collecting = contextlib.nullcontext() if is_beside else uncollected()
        # What is called meanwhile is NumPy's.
        spending = ALLOWANCE.sharing() if is_beside else ALLOWANCE.spending()
        with spending, deferred(), making(), collecting:
            with contextlib.suppress(OSError):
                sources()  # as they are now
            maker = importlib.import_module(_MAKER)
            self._error = _replaced()  # meanwhile: nobody knows what the table holds
            if self._error:
                raise AutojitError(self._error)
            # Other threads may have imported modules of the program's meanwhile.
            new = [name for name in list(sys.modules) if name not in before and name.partition(".")[0] in _OURS]
            present.keep(new)
            self._maker, self.is_open = maker, True
            self._hot.clear()

    def find(self, module: str, name: str) -> Any:
        """What a module behind the door holds under a name, with dots between its parts."""
        self.open()
        present.put_back()
        return operator.attrgetter(name)(importlib.import_module(module))

    def late(self, module: str, name: str) -> Callable[..., Any]:
        """A function of a module behind the door."""

        def call(*args: Any, **kwargs: Any) -> Any:
            return self.find(module, name)(*args, **kwargs)

        call.__name__ = call.__qualname__ = name
        call.__module__ = module
        return call

    def pays(self, hot: heat.Heat) -> bool:
        """Whether to open it for calls that are worth a compilation; an open one costs nothing.

        What NumPy has taken for all such calls counts: they share the import.
        """
        if self.is_open or perf_counter() < self._looks_again:
            return self.is_ready()
        self._hot[hot] = None
        if len(self._hot) > _MOST:
            del self._hot[next(iter(self._hot))]
        seconds = sum(each.seconds for each in list(self._hot))
        if hot.verdict is not None and hot.verdict.wins:  # an earlier process has found what this very call would gain
            return self.is_worth(seconds + hot.verdict.numpy_seconds - hot.verdict.compiled_seconds, is_sure=True)
        return self.is_worth(seconds, promises=any(each.promises for each in list(self._hot)))

    def is_worth(self, seconds: float, is_sure: bool = False, promises: bool = False) -> bool:
        """Whether to open it now for work that has taken NumPy that long.

        Args:
            seconds: How long.
            is_sure: Whether plans are known to be faster. Otherwise a program whose functions nobody has decorated does
                not wait for the import: it is left to the thread in the background.
            promises: Whether one promises to be.
        """
        if self.is_open or seconds < min(1.0, heat.WAITS) * SECONDS:
            return self.is_ready()
        if ALLOWANCE.is_limited and not is_sure:
            if not BACKGROUND.is_busy() and self._may_start_service(promises) and self._can_open(is_early=True):
                if not ALLOWANCE.delay(_BESIDE, promises):
                    BACKGROUND.submit(self._open_beside)
            return False
        return self._can_open()

    def _may_start_service(self, promises: bool) -> bool:
        """Whether the process that compiles may take the time that its start does; where it may, that is spent.

        Many a program ends before the door may be opened: then it has no use for that process.
        """
        if not self._is_started:
            if ALLOWANCE.delay(_SERVICE_STARTS * part_of_compiling() + _BESIDE, promises):
                return False
            self._is_started = True
            ALLOWANCE.spend(_SERVICE_STARTS, part_of_compiling())
        return True

    def _open_beside(self) -> None:
        try:
            self.open()
        except AutojitError:  # NumPy is not itself: that may pass
            raise
        except Exception as error:
            self._error = f"what autojit compiles with could not be imported: {error!r}"

    def is_ready(self) -> bool:
        """Whether it is open, and in a program that leaves all compiling to another process, that is there."""
        if self.is_open and not self._was_ready:
            self._was_ready = _is_served()
            self.found = "" if self._was_ready else SERVICE.trouble
        return self.is_open and self._was_ready

    def _can_open(self, is_early: bool = False) -> bool:
        """Whether it can be opened now; `is_early`: before the process that compiles is there."""
        now = perf_counter()
        if now < self._looks_again or not self._lock.acquire(blocking=False):  # another thread opens it
            return False
        try:
            self.found = self.trouble() or SERVICE.trouble
            is_free = not self._opens and not self.found and (_is_served() or is_early)
            self._looks_again = 0.0 if is_free else now + _PAUSE
            return is_free
        finally:
            self._lock.release()

    @property
    def cost(self) -> float:
        """How many seconds of the program's own opening it takes, with the start of the process that compiles."""
        if self.is_open:
            return 0.0
        return OPENING + (0.0 if LEISURE else _SERVICE_STARTS * part_of_compiling())

    def trouble(self) -> str:
        """Why it cannot be opened now; "" for nothing."""
        return "" if self.is_open else self._error or unsuited() or _replaced()

    def is_half_open(self) -> bool:
        """Whether another thread is importing: a forked process does not have it."""
        return self._was_half_open or self._opens not in (0, threading.get_ident())

    def hold(self) -> None:
        """A fork begins: have nothing half open."""
        me = threading.get_ident()
        if self._opens != me and self._lock.acquire(timeout=_FORK_WAITS):
            self._forks.append(me)

    def release(self) -> None:
        """The fork has been made, in the parent."""
        if self._forks[-1:] == [threading.get_ident()]:
            self._forks.pop()
            self._lock.release()

    def shut(self) -> None:
        """Keep it closed in a process that was forked in the middle; the thread that holds the lock is not there."""
        self._was_half_open = self.is_half_open()
        if self._was_half_open:
            self._error = "this process was forked while another thread imported what autojit compiles with"
        self._renew()


def _is_served() -> bool:
    """Whether the process that compiles is there, which is started where it is not."""
    with making():  # what that takes is imported now, and not from beside the program
        return SERVICE.is_ready()


def _replaced() -> str:
    """What speaks against reading NumPy's functions into the op table now; "" for nothing."""
    for name, before in _LISTED.items():
        now = vars(sys.modules[name]) if name in sys.modules else {}
        for key, value in before.items():
            if not key.startswith("_") and callable(value) and now.get(key) is not value:
                return f"`{name}.{key}` was replaced after `import autojit`, so that everything is left to NumPy"
    return ""


#: The door of the process.
DOOR = Door()
cuts_off_if(DOOR.is_half_open)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=DOOR.hold, after_in_parent=DOOR.release, after_in_child=DOOR.shut)
