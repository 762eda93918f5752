"""Signal handlers and finalizers that call compiled functions in the middle of autojit's own work."""

from __future__ import annotations

import gc
import signal
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autojit as aj
from autojit.compile import cache as cache_module
from autojit.compile import xla
from autojit.compile.cache import ExecutableCache
from autojit.compile.executable import Executable
from autojit.compile.pool import Pool
from autojit.runtime.twins import Twins
from tests.test_compile import axpy
from tests.test_twins import Owner


def within(seconds: float, work: Callable[[], Any]) -> Any:
    """The result of some work in a thread of its own, which must end in time."""
    results: list[Any] = []
    thread = threading.Thread(target=lambda: results.append(work()), daemon=True)
    thread.start()
    thread.join(seconds)
    assert not thread.is_alive(), "it hangs"
    return results[0]


def test_a_request_for_what_the_same_thread_is_compiling(monkeypatch) -> None:
    cache, graph = ExecutableCache(), axpy()
    inner: list[Any] = []

    class Interrupted(Executable):
        def __init__(self, graph, **options) -> None:
            if not inner:
                inner.append(None)
                inner[0] = cache.request(graph)
            super().__init__(graph, **options)

    monkeypatch.setattr(cache_module, "Executable", Interrupted)
    executable, is_new = within(60, lambda: cache.request(graph))
    assert is_new and inner[0][1]
    assert cache.info().entries == 1
    assert cache.info().nbytes == executable.nbytes
    assert cache.request(graph) == (executable, False)
    assert not cache._pending and not cache._busy


def test_two_threads_that_each_ask_for_what_the_other_compiles(monkeypatch) -> None:
    cache = ExecutableCache()
    graphs = [axpy((3,)), axpy((4,))]
    both = threading.Barrier(2)
    local = threading.local()

    class Interrupted(Executable):
        def __init__(self, graph, **options) -> None:
            if not getattr(local, "inside", False):
                local.inside = True
                both.wait()
                cache.request(graphs[1 - local.number])
            super().__init__(graph, **options)

    def ask(number: int) -> None:
        local.number = number
        cache.request(graphs[number])

    monkeypatch.setattr(cache_module, "Executable", Interrupted)
    threads = [threading.Thread(target=ask, args=(number,), daemon=True) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not any(thread.is_alive() for thread in threads), "they wait for each other"


def test_a_request_while_the_size_of_a_program_is_asked_for(monkeypatch) -> None:
    cache, graph = ExecutableCache(), axpy()
    seen: list[Any] = []

    class Interrupted(Executable):
        @property
        def nbytes(self) -> int:
            if not seen:
                seen.append(None)
                seen[0] = cache.info().entries, cache.request(graph)
            return super().nbytes

    monkeypatch.setattr(cache_module, "Executable", Interrupted)
    within(60, lambda: cache.request(graph))
    assert seen[0][0] == 0
    assert cache.info().entries == 1


@pytest.mark.parametrize("lock", ["device", "twins", "cache", "pool"])
def test_every_lock_may_be_taken_again_by_its_thread(lock) -> None:
    def take() -> bool:
        locks = {
            "device": xla._LOCK,
            "twins": Twins(Owner())._lock,
            "cache": ExecutableCache()._lock,
            "pool": Pool[Any](1)._lock,
        }
        with locks[lock]:
            again = locks[lock].acquire(blocking=False)
            if again:
                locks[lock].release()
            return again

    assert within(10, take)


def test_a_function_that_is_called_by_a_signal_handler_while_it_is_compiled() -> None:
    calls: list[Any] = []

    def body(x):
        t = np.sin(x) * 2
        u = np.cos(t) + np.exp(-t)
        return (u * t - np.sqrt(u + 1)).sum()

    fast = aj.autocluster(policy="eager")(body)
    x = np.linspace(0, 1, 7)
    is_inside = False

    def handler(*_: Any) -> None:
        nonlocal is_inside
        if not is_inside:
            is_inside = True
            try:
                calls.append(fast(x))
                calls.append(fast(x[1:]))
            finally:
                is_inside = False

    aj.clear_cache()
    before = signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)
    try:
        results = [fast(x) for _ in range(3)]
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert calls
    np.testing.assert_allclose(results, [body(x)] * 3)
    np.testing.assert_allclose(calls[::2], body(x))
    np.testing.assert_allclose(calls[1::2], body(x[1:]))


def test_a_function_that_is_called_by_a_finalizer_while_it_is_compiled() -> None:
    def body(x):
        return np.tanh(x) * 3 + np.exp(x).sum()

    fast = aj.autocluster(policy="eager")(body)
    x = np.linspace(0, 1, 5)
    results: list[Any] = []

    class Node:
        def __init__(self) -> None:
            self.me = self

        def __del__(self) -> None:
            results.append(fast(x))

    aj.clear_cache()
    stop = time.monotonic() + 60
    thresholds = gc.get_threshold()
    gc.set_threshold(50, 2, 2)
    try:
        for _ in range(5):
            Node()
        for size in range(6, 9):
            Node()
            np.testing.assert_allclose(fast(np.linspace(0, 1, size)), body(np.linspace(0, 1, size)))
    finally:
        gc.set_threshold(*thresholds)
    gc.collect()
    assert len(results) == 8 and time.monotonic() < stop
    np.testing.assert_allclose(results, [body(x)] * 8)
