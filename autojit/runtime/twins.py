"""Twins: user functions that native statements call are instrumented too, without touching the originals."""

from __future__ import annotations

import functools
import inspect
import math
import os
import threading
import types
import weakref
from time import perf_counter
from typing import Any

from autojit.logs import log
from autojit.ops.trust import is_left_alone
from autojit.runtime import heat
from autojit.runtime.alive import Alive
from autojit.runtime.forks import in_child
from autojit.runtime.interrupts import is_the_programs
from autojit.runtime.unasked import reduced
from autojit.runtime.watch import EVERY, WATCH

#: The files of the modules that a launcher has taken, wherever they lie: those of their functions that have loops are
#: armed, which give probes to the others.
FILES: set[str] = set()
_FUNCTION, _METHOD = types.FunctionType, types.MethodType
#: Where installers put modules, below a folder of the user's choice.
_FOLDERS = tuple(f"{os.sep}{name}{os.sep}" for name in ("site-packages", "dist-packages"))
#: What functions have that are instrumented, or will be at their first call.
_ATTRIBUTES = {"__autojit_controller__", "__autojit_original__"}
#: How many functions are known at most.
_MOST = 256
#: For so many seconds after its first call a function has no twin: nothing pays by then.
_EARLY = 0.1
#: After so many calls of functions that are known nobody asks any more ...
_SETTLED = 1000
#: ... for so many seconds, at first and at most.
_NAPS = 1.0, 64.0
#: After so many calls of functions that are too new nobody asks till one of them is not.
_NEW = 32


@functools.cache
def libraries() -> tuple[str, ...]:
    """Where installed modules lie."""
    import site  # some 10 ms that `import autojit` does not take
    import sysconfig

    paths = sysconfig.get_paths()
    found = {paths[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    return tuple({*found, *site.getsitepackages(), site.getusersitepackages()})


def is_installed(file: str) -> bool:
    """Whether a module's file is one of an installed library, be it in a folder that `PYTHONPATH` names."""
    return file.startswith(libraries()) or any(folder in file for folder in _FOLDERS)


def is_looked_into(function: types.FunctionType) -> bool:
    """Whether a function is decorated, or a launcher has armed it: it has probes of its own, or will have."""
    return bool(_ATTRIBUTES & vars(function).keys())


class Known(dict[types.CodeType, tuple[Any, Any, bool]]):
    """What is known of functions, by their code; a controller keeps it, as it does what probes have (`kept.py`).

    The function, its twin, and whether it has parameters that are keywords only; where it is left as it is, a weak
    reference to it, and `None`.
    """

    __slots__ = ("__weakref__", "seen")

    def __init__(self) -> None:
        super().__init__()
        #: When functions were seen first that may wait.
        self.seen: dict[types.CodeType, float] = {}


class Twins:
    """The instrumented twins of the functions that one function calls.

    A function without free variables has one twin for its lifetime. Functions of installed libraries, and functions
    that are made anew at each call, stay as they are. Asking takes 0.3 us, and 2 us in code that has just begun to run:
    where all functions that were called lately are known, and the answer was always the function itself, nobody asks
    for some seconds; where they are too new, for as long as they are.

    Args:
        owner: The function's controller, or what is like it: `owner.twin(function)` instruments a function, and gives
            back the same one, with probes in it, or another one, its twin; `owner.known` keeps what is known of them.
        rests: Whether that may be, or it is asked for ever.

    Attributes:
        asks: Whether calls ask.
        wakes: When asking begins again.
    """

    def __init__(self, owner: Any, rests: bool = False) -> None:
        # This object is a constant of the function's code, as probes are (`kept.py`).
        self._owner, self._kept = weakref.ref(owner), weakref.ref(owner.known)
        self._may_rest = rests
        self.asks = True
        self._asked = 0  # how often, since a function came that was not known
        self._new = 0  # how often for one that was too new, since the last rest
        self._nap = _NAPS[0]
        self.wakes = 0.0
        self.renew_lock()
        _ALL.add(self)

    __reduce__ = reduced

    def renew_lock(self) -> None:
        """Wait for nobody: in a forked process whoever makes a twin is not there."""
        self._lock = threading.RLock()  # a signal handler or finalizer may come in while a twin is made

    @property
    def _known(self) -> Known:
        kept = self._kept()
        return Known() if kept is None else kept

    @property
    def functions(self) -> list[types.FunctionType]:
        """The functions that were asked about."""
        found = (original() if twin is None else original for original, twin, _ in list(self._known.values()))
        return [function for function in found if function is not None]

    def of(self, function: Any) -> Any:
        """What to call instead of `function`: its twin, or the function itself."""
        self._asked += 1
        if self._asked > _SETTLED:
            self._asked = 0
            if self._rest(self._nap):
                self._nap = min(2 * self._nap, _NAPS[1])
        kind = type(function)
        if kind is _FUNCTION:
            return self._of_function(function)
        if kind is _METHOD and type(inner := function.__func__) is _FUNCTION:
            twin = self._of_function(inner)
            return function if twin is inner else _METHOD(twin, function.__self__)
        return function

    def _of_function(self, function: types.FunctionType) -> Any:
        kept = self._kept()
        if kept is None:  # a copy of the code outlives the function
            return function
        known = kept.get(code := function.__code__)
        if known is None:
            if code in kept.seen and (seconds := _early(kept.seen[code])) > 0:
                self._new += 1
                if self._new > _NEW:
                    self._new = 0
                    if seconds > EVERY:  # or it would be asked too late
                        self._rest(seconds - EVERY)
                return function
            known = self._add(function)
        original, twin, has_keywords = known
        if twin is None:
            return function
        # The same code with other defaults or another identity is another function.
        if original is not function or twin.__defaults__ is not function.__defaults__:
            return function
        if has_keywords and twin.__kwdefaults__ is not function.__kwdefaults__:
            return function
        return twin

    def _rest(self, seconds: float) -> bool:
        """Be asked no more for a while, if that changes nothing; whether it does not."""
        if not self._may_rest or not self.asks:
            return False
        if any(twin is not None for _, twin, _ in list(self._known.values())):
            return False  # real twins are always asked for
        self.wakes = perf_counter() + seconds
        self.asks = is_roused = False
        try:
            is_roused = WATCH.rouses(self)
        finally:
            if not is_roused:
                self.rouse()
        return True

    def rouse(self) -> None:
        """Be asked again."""
        self._asked, self.asks = 0, True

    def let_go(self) -> None:
        """Ask nothing any more."""
        self.asks = self._may_rest = False

    def _add(self, function: types.FunctionType) -> tuple[Any, Any, bool]:
        code = function.__code__
        with self._lock:
            self._asked = 0
            if (known := self._known.get(code)) is not None:  # another thread was first
                return known
            is_full = len(self._known) >= _MOST
            twin = function
            if not is_full and self._wanted(function):
                if self._waits(function):
                    return weakref.ref(function), None, False
                twin = self._made(function)
            if twin is function:  # its cells and defaults are the program's
                known = weakref.ref(function), None, False
            else:
                known = function, twin, code.co_kwonlyargcount > 0
            return known if is_full else self._known.setdefault(code, known)

    def _waits(self, function: types.FunctionType) -> bool:
        """Whether no twin is made yet: most functions are not called for long enough for a plan of theirs to pay."""
        owner, seen = self._owner(), self._known.seen
        if not self._may_rest or owner is None:
            return False
        code = function.__code__
        if (first := seen.get(code)) is None:
            if len(seen) >= _MOST:  # ever new ones
                return False
            first = seen[code] = perf_counter() if owner.may_wait(function) else -math.inf
        return _early(first) > 0

    def _made(self, function: types.FunctionType) -> types.FunctionType:
        owner = self._owner()
        try:
            return function if owner is None else owner.twin(function)
        except Exception as error:
            if is_the_programs(error):
                raise
            log.debug("`%s` stays as it is", function.__qualname__, exc_info=error)
            return function

    def _wanted(self, function: types.FunctionType) -> bool:
        file = function.__code__.co_filename
        # Of text without a file there may be other functions at each call; each one has globals of its own.
        is_text = file.startswith("<") and not file.startswith("<ipython-input")
        if file not in FILES and (is_text or is_installed(file)):
            return False
        # One that is made at each call may hold what the program wants freed by then.
        is_anew = function.__closure__ is not None or (
            function.__code__.co_flags & inspect.CO_NESTED and (function.__defaults__ or function.__kwdefaults__)
        )
        return not (is_anew or is_looked_into(function) or is_left_alone(function))


def _early(first: float) -> float:
    """For how many seconds a function that was called first at that time has no twin; at most 0.0 if it may have."""
    return first + min(_EARLY, heat.PAYS_AFTER) - perf_counter()


_ALL: Alive[Twins] = Alive()


@in_child
def _renew_locks() -> None:
    for twins in _ALL:
        twins.renew_lock()
