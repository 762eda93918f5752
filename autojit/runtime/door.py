"""`DOOR`: behind it lies what captures and compiles, which is imported when a program has use for it."""

from __future__ import annotations

import importlib
import math
import operator
import os
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from autojit.compile.service import SERVICE
from autojit.errors import AutojitError
from autojit.runtime import heat
from autojit.runtime.background import making
from autojit.runtime.forks import cuts_off_if
from autojit.runtime.interrupts import deferred

#: Seconds that opening takes.
SECONDS = 0.2
#: Where NumPy is not itself, or nobody is there yet who compiles, it is looked at again after so many seconds.
_PAUSE = 0.1
#: How many kinds of calls are remembered.
_MOST = 256
_MAKER = "autojit.runtime.maker"
#: The modules whose functions the op table lists, as they are when autojit is imported.
_LISTED = {module.__name__: dict(vars(module)) for module in (np, np.linalg, np.fft, np.random, math)}


class Door:
    """Opened once, by the thread that has use for it, while others go on in NumPy.

    Attributes:
        is_open: Whether all that lies behind it has been imported.
        found: Why it could not be opened when somebody last looked; "" for nothing.
    """

    def __init__(self) -> None:
        self.is_open = False
        self.found = ""
        self._maker: Any = None
        self._modules: dict[str, Any] = {}
        self._error = ""  # why it stays closed for ever
        self._looks_again = 0.0
        #: The kinds of calls that are worth a compilation.
        self._hot: dict[heat.Heat, None] = {}
        self._was_half_open = False
        self._renew()

    def _renew(self) -> None:
        # Reentrant: a finalizer may come in while the same thread imports.
        self._lock = threading.RLock()
        self._opens = 0  # the thread that does

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
        if trouble := self._error or _replaced():
            raise AutojitError(trouble)
        before = set(sys.modules)
        with deferred(), making():  # what is called meanwhile is NumPy's
            maker = importlib.import_module(_MAKER)
            self._error = _replaced()  # meanwhile: nobody knows what the table holds
            if self._error:
                raise AutojitError(self._error)
            self._modules = {name: module for name, module in sys.modules.items() if name not in before}
            self._maker, self.is_open = maker, True
            self._hot.clear()

    def find(self, module: str, name: str) -> Any:
        """What a module behind the door holds under a name, with dots between its parts."""
        self.open()
        for each, known in self._modules.items():
            sys.modules.setdefault(each, known)  # a test may have put back an earlier state of it
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
        if self.is_open or time.perf_counter() < self._looks_again:
            return self.is_open
        self._hot[hot] = None
        if len(self._hot) > _MOST:
            del self._hot[next(iter(self._hot))]
        seconds = sum(each.seconds for each in list(self._hot))
        if hot.verdict is not None and hot.verdict.wins:  # an earlier process has found what this very call would gain
            seconds += hot.verdict.numpy_seconds - hot.verdict.compiled_seconds
        return self.is_worth(seconds)

    def is_worth(self, seconds: float) -> bool:
        """Whether to open it for work that has taken NumPy that long."""
        if self.is_open or seconds < min(1.0, heat.WAITS) * SECONDS:
            return self.is_open
        return self._can_open()

    def _can_open(self) -> bool:
        now = time.perf_counter()
        if now < self._looks_again or not self._lock.acquire(blocking=False):  # another thread opens it
            return False
        try:
            self.found = self.trouble() or SERVICE.trouble
            is_free = not self._opens and not self.found and SERVICE.is_ready()
            self._looks_again = 0.0 if is_free else now + _PAUSE
            return is_free
        finally:
            self._lock.release()

    def trouble(self) -> str:
        """Why it cannot be opened now; "" for nothing."""
        return "" if self.is_open else self._error or _replaced()

    def is_half_open(self) -> bool:
        """Whether another thread is importing: a forked process does not have it."""
        return self._was_half_open or self._opens not in (0, threading.get_ident())

    def shut(self) -> None:
        """Keep it closed in a process that was forked in the middle; the thread that holds the lock is not there."""
        self._was_half_open = self.is_half_open()
        if self._was_half_open:
            self._error = "this process was forked while another thread imported what autojit compiles with"
        self._renew()


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
    os.register_at_fork(after_in_child=DOOR.shut)
