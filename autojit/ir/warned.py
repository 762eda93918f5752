"""The warnings of what NumPy is asked during capture, kept from the user.

`warnings.catch_warnings` is not for this: filters are the process's, so that leaving it in one thread undoes what
another one has set meanwhile, or leaves it set for good.
"""

from __future__ import annotations

import contextlib
import functools
import os
import re
import sys
import threading
import types
import warnings
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

T = TypeVar("T")
#: How often to ask again when another thread has changed the filters meanwhile.
_TRIES = 5


class _Here(threading.local):
    """The `message` of a filter that holds in threads that ask only.

    Others find a method in C that matches nothing: none of Python's code runs there, so that no thread takes its turn
    while CPython goes through the filters by their index.
    """

    match = re.compile("(?!)").match


_runtime, _any = _Here(), _Here()
_FILTERS: list[Any] = [("ignore", _runtime, RuntimeWarning, None, 0), ("ignore", _any, Warning, None, 0)]


#: What warns here is theirs. A warning that a module has shown before would not be heard.
_LIBRARIES = ("autojit", "jax", "jaxlib", "numpy", "scipy")

_lock = threading.RLock()
#: What asks now, with its thread. A count would stay too high for ever where a signal's handler raises in between.
_asking: dict[object, int] = {}


def _begin() -> None:
    global _lock
    _lock = threading.RLock()
    _asking.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin)  # threads that asked are not in the child


def unheard(call: Callable[[], T]) -> T:
    """What a call returns, of whose warnings nobody hears."""
    with _filtered(_heed_nothing):
        return call()


def asked(call: Callable[[], T], *, runtime: bool = True) -> tuple[T, list[str]]:
    """What a call returns, and the warnings that it gives in this thread, which nobody else hears.

    Args:
        call: It may be called again when another thread has changed the filters meanwhile.
        runtime: Whether a `RuntimeWarning` is among them.
    """
    for _ in range(_TRIES - 1):
        result, heard, is_sure = _ask(call, runtime)
        if is_sure:
            return result, heard
    result, heard, is_sure = _ask(call, runtime)
    return result, heard if is_sure else [*heard, "another thread changes the filters of warnings again and again"]


def _ask(call: Callable[[], T], runtime: bool) -> tuple[T, list[str], bool]:
    """The result, what was heard, and whether that is all."""
    heard: list[str] = []
    # Python asks each filter for the text before it looks at the class.
    with _lock, _forgotten(), _filtered(lambda text: heard.append(text) or True, runtime):
        return call(), heard, _are_first()


@contextlib.contextmanager
def _forgotten() -> Iterator[None]:
    """Libraries have shown no warning yet; `_lock` is held, so that no two threads put back what the other one took."""
    shown = [(registry, dict(registry)) for registry in _registries()]
    for registry, _ in shown:
        registry.clear()
    try:
        yield
    finally:
        for registry, before in shown:
            registry.clear()
            registry.update(before)


def _registries() -> list[dict[Any, Any]]:
    """What Python remembers of the warnings that libraries have shown. The program's own modules keep theirs."""
    found = [
        module.__dict__.get("__warningregistry__")
        for name, module in list(sys.modules.items())
        if _is_librarys(name) and isinstance(module, types.ModuleType)
    ]
    return [registry for registry in found if registry]


@functools.cache
def _is_librarys(name: str) -> bool:
    return name.partition(".")[0] in _LIBRARIES


@contextlib.contextmanager
def _filtered(heed: Callable[[str], bool], runtime: bool = True) -> Iterator[None]:
    """In this thread, warnings are given to `heed` alone."""
    around = [dict(vars(here)) for here in (_runtime, _any)]
    me = object()
    try:
        _enter(me, is_inner=bool(around[1]))
        vars(_runtime)["match"] = _Here.match if runtime else _heed_nothing
        vars(_any)["match"] = heed
        yield
    finally:
        for here, before in zip((_runtime, _any), around, strict=True):
            vars(here).clear()
            vars(here).update(before)
        _leave(me)


def _heed_nothing(text: str) -> bool:
    return True


def _are_first() -> bool:
    return warnings.filters[: len(_FILTERS)] == _FILTERS


def _enter(one: object, is_inner: bool) -> None:
    thread = threading.get_ident()
    with _lock:
        if not is_inner:  # what this thread has not left was interrupted
            for other in [other for other, theirs in _asking.items() if theirs == thread]:
                del _asking[other]
        _asking[one] = thread
        if not _are_first():
            warnings.filters[:0] = _FILTERS  # type: ignore[index] -- a list


def _leave(one: object) -> None:
    with _lock:
        _asking.pop(one, None)
        if not _asking:
            filters: list[Any] = warnings.filters  # type: ignore[assignment] -- a list
            for ours in _FILTERS:
                while ours in filters:
                    filters.remove(ours)
