"""Pools, locks, folders and processes that compiled programs need, where other code comes in between."""

from __future__ import annotations

import ctypes
import itertools
import os
import random
import shutil
import stat
import subprocess
import sys
import threading
import time
import types
import weakref
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autojit as aj
from autojit.compile import pool, service, transfer, uninitialized
from autojit.compile import remains as remains_module
from autojit.compile.disk import DiskCache
from autojit.compile.outside import has_arrived
from autojit.compile.persistent import opened
from autojit.compile.pool import Pool
from autojit.compile.remains import UNIT, Remains
from autojit.compile.service import Service
from autojit.compile.stored import Stored
from autojit.compile.wire import wires
from autojit.runtime import arguments, check

posix = pytest.mark.skipif(os.name != "posix", reason="of POSIX")


class Late(Exception):
    pass


def interrupt() -> None:
    """What a watchdog in another thread does, at a known place."""
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(threading.get_ident()), ctypes.py_object(Late))


def test_a_pool_that_finalizers_use_in_the_middle_of_its_own_calls() -> None:
    used = Pool[bytes](100)
    numbers = random.Random(1)

    def come_in(frame: Any, event: str, _: Any) -> None:
        if event in ("c_call", "c_return", "call") and frame.f_code.co_filename == pool.__file__:
            used.give(numbers.randrange(1, 60), b"")
            used.take(numbers.randrange(1, 60))

    before = sys.getprofile()
    sys.setprofile(come_in)
    try:
        for _ in range(300):
            used.give(numbers.randrange(1, 60), b"")
            used.take(numbers.randrange(1, 60))
    finally:
        sys.setprofile(before)
    held = {nbytes: buffers for nbytes, buffers in used._free.items() if buffers}
    assert used.nbytes == sum(nbytes * len(buffers) for nbytes, buffers in held.items()) <= 100
    used.clear()
    assert used.nbytes == 0 and not used._free


class Owner:
    """Of memory that is watched."""

    def __init__(self, remains: Remains[Any], units: float, buffer: Any) -> None:
        self.watch = remains.watch(self, int(units * UNIT), buffer)


def test_memory_of_what_is_gone_is_bounded() -> None:
    remains = Remains[str](8 * UNIT)
    owners = [Owner(remains, 2, f"{number}") for number in range(20)]
    assert remains.nbytes == 0 and remains.take(2 * UNIT) is None
    while owners:
        del owners[0]
    assert remains.nbytes == 8 * UNIT
    found = [remains.take(2 * UNIT) for _ in range(5)]
    assert sorted(filter(None, found)) == ["16", "17", "18", "19"] and remains.nbytes == 0
    Owner(remains, 3, "small")
    Owner(remains, 9, "too large")
    assert remains.nbytes == 3 * UNIT and remains.take(9 * UNIT) is None
    remains.clear()
    assert remains.nbytes == 0 and remains.take(3 * UNIT) is None


def test_memory_that_is_dropped_is_free_at_once() -> None:
    """Nothing of what is kept to find it again holds it."""
    remains, buffers = Remains[Any](4 * UNIT), [type("Buffer", (), {})() for _ in range(3)]
    alive = [weakref.ref(buffer) for buffer in buffers]
    for buffer in buffers:
        Owner(remains, 1, buffer)
    del buffer
    buffers.clear()
    assert remains.take(2 * UNIT) is None and all(each() is not None for each in alive)
    Owner(remains, 4, "large")
    assert [each() for each in alive] == [None] * 3
    assert remains.take(UNIT) is None and remains.take(4 * UNIT) == "large"


def test_memory_of_other_sizes_is_bounded_too() -> None:
    """The unit that is dropped of a buffer does not leave the rest of it."""
    remains, numbers = Remains[Any](16 * UNIT), random.Random(4)
    alive: list[weakref.ref[Any]] = []
    for units in [16, 15.5, *(numbers.choice([0.5, 3, 7.5, 10, 16]) for _ in range(500))]:
        buffer = type("Buffer", (), {"units": units})()
        alive.append(weakref.ref(buffer))
        Owner(remains, units, buffer)
        del buffer
        held = sum(each().units for each in alive if each() is not None)
        assert held * UNIT == remains.nbytes <= remains.limit
        found = remains.take(int(numbers.choice([0.5, 3, 16]) * UNIT))
        assert found is None or found.units in (0.5, 3, 16)
        del found


def test_memory_of_many_sizes_is_found_and_nothing_piles_up() -> None:
    remains, numbers = Remains[int](64 * UNIT), random.Random(2)
    sizes = [0.5, 1, 1.5, 3, 7]
    taken = 0
    for number in range(5000):
        units = numbers.choice(sizes)
        taken += remains.take(int(units * UNIT)) is not None
        Owner(remains, units, number)
    assert taken > 4900
    assert len(remains._gone) <= 64 and sum(map(len, remains._found.values())) < 400


def test_memory_is_given_to_one_only_where_other_code_comes_in() -> None:
    remains, numbers = Remains[Any](16 * UNIT), random.Random(3)
    fresh = itertools.count()
    held: list[tuple[int, int]] = []

    def use() -> None:
        units = numbers.choice([1, 1, 2, 3])
        buffer = remains.take(units * UNIT)
        number = next(fresh) if buffer is None else buffer
        assert number not in [each for each, _ in held]
        held.append((number, units))
        if len(held) > 5:
            number, units = held.pop(numbers.randrange(len(held)))
            Owner(remains, units, number)

    def come_in(frame: Any, event: str, _: Any) -> None:
        if frame.f_code.co_filename == remains_module.__file__ and numbers.random() < 0.1:
            use()

    before = sys.getprofile()
    sys.setprofile(come_in)
    try:
        for _ in range(3000):
            use()
    finally:
        sys.setprofile(before)
    assert next(fresh) < 3000  # most were found


@pytest.mark.usefixtures("no_collection")  # jax is called back, in Python, when garbage is collected
def test_no_code_runs_when_a_result_is_gone() -> None:
    """What a signal's handler raised there would be lost."""
    fast = aj.jit_compile(lambda x: np.sin(x) + x)
    for size in (20_000, 200_000):
        x = np.ones(size)
        y = fast(x)
        ran: list[Any] = []
        before = sys.getprofile()
        sys.setprofile(lambda frame, event, _: ran.append(frame.f_code.co_name) if event == "call" else None)
        try:
            y = y + x
        finally:
            sys.setprofile(before)
        assert not ran
        np.testing.assert_allclose(y, np.sin(1) + 2)


def test_results_that_die_without_another_call_leave_no_more_than_the_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    small = Remains[Any](4 << 20)
    monkeypatch.setattr(transfer, "RESULTS", small)
    fast = aj.jit_compile(lambda x: x * 2 + 1)
    results = [fast(np.full(1 << 17, float(number))) for number in range(12)]
    assert all((result == 2 * number + 1).all() for number, result in enumerate(results))
    results.clear()
    assert small.nbytes == 4 << 20


@posix
def test_folders_above_the_cache_are_the_user_s_alone_too(tmp_path: Path) -> None:
    before = os.umask(0o002)
    try:
        disk = DiskCache(tmp_path / ".cache" / "more" / "autojit", "1")
        disk.store("key", Stored((), b"code"))
    finally:
        os.umask(before)
    assert disk.trouble is None and disk.load("key") == Stored((), b"code")
    for name in (".cache", ".cache/more", ".cache/more/autojit"):
        assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o700


def test_a_file_in_the_place_of_the_cache_is_told(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("")
    disk = DiskCache(tmp_path / "cache", "1")
    assert disk.load("key") is None and "cannot be used" in (disk.trouble or "")


def test_a_relative_cache_stays_where_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened.cache_clear()
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path / "one")
    disk = opened("cache")
    assert disk is not None
    monkeypatch.chdir(tmp_path / "other")
    disk.store("key", Stored((), b"code"))
    assert opened("cache") is disk and disk.load("key") == Stored((), b"code")
    assert (tmp_path / "one" / "cache").is_dir() and not (tmp_path / "other" / "cache").exists()
    opened.cache_clear()


@posix
def test_a_relative_cache_in_a_folder_that_is_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened.cache_clear()
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    disk = opened("cache")
    assert disk is not None and disk.load("key") is None and "cannot be used" in (disk.trouble or "")
    opened.cache_clear()


def test_memory_while_another_thread_makes_its_allocator(monkeypatch: pytest.MonkeyPatch) -> None:
    """What makes it may run a finalizer, and that may want a lock of a thread that wants memory."""
    begun, wanted = threading.Event(), threading.Event()
    real, waited = uninitialized.Program, []

    class Interrupted(real):  # type: ignore[misc, valid-type] -- a class in a variable
        def __init__(self, *arguments: Any, **options: Any) -> None:
            if threading.current_thread() is first:
                begun.set()
                waited.append(wanted.wait(60))
            super().__init__(*arguments, **options)

    monkeypatch.setattr(uninitialized, "Program", Interrupted)
    uninitialized.allocator.cache_clear()
    first = threading.Thread(target=uninitialized.allocate, args=(4096 + 64,), daemon=True)
    first.start()
    assert begun.wait(60)
    second = threading.Thread(target=lambda: (uninitialized.allocate(4096 + 128), wanted.set()), daemon=True)
    second.start()
    for thread in (first, second):
        thread.join(120)
    assert waited == [True] and not first.is_alive() and not second.is_alive()
    uninitialized.allocator.cache_clear()


def test_a_stored_program_is_not_removed_for_what_another_thread_sets(tmp_path: Path) -> None:
    class Made:
        def to_stored(self) -> Stored:
            return Stored((), b"code")

    def make(stored: Stored | None) -> Made:
        if stored is not None:
            interrupt()
            time.sleep(0)
        return Made()

    disk = DiskCache(tmp_path, "1")
    disk.obtain("key", make)
    with pytest.raises(Late):
        disk.obtain("key", make)
    assert disk.has("key")


def test_what_arrives_is_told_from_what_is_raised() -> None:
    def found(function: Any) -> bool:
        try:
            function()
        except Late as error:
            return has_arrived(error)
        raise AssertionError

    def arrives() -> None:
        interrupt()
        time.sleep(0)

    def spins() -> None:
        interrupt()
        while True:
            pass

    def raises() -> None:
        raise Late

    def raises_again() -> None:
        try:
            raise Late
        except Late as error:
            raise error

    assert [found(function) for function in (arrives, spins, raises, raises_again)] == [True, True, False, False]


@posix
@pytest.mark.parametrize("arrives", [True, False])
def test_an_exception_while_the_compiler_process_starts(monkeypatch: pytest.MonkeyPatch, arrives: bool) -> None:
    def run(*_: Any, **__: Any) -> None:
        if not arrives:
            raise Late("no processes here")
        interrupt()
        time.sleep(0)

    monkeypatch.setattr(subprocess, "run", run)
    started = Service(True)
    if arrives:
        with pytest.raises(Late):
            started.start()
        assert not started.trouble
    else:  # what the program has put there raises
        started.start()
        assert "no processes here" in started.trouble
    assert not started._lines


@pytest.mark.parametrize("place", ["statements", "comparison"])
def test_an_exception_in_a_check(monkeypatch: pytest.MonkeyPatch, place: str) -> None:
    is_armed = False

    def interrupting(real: Any) -> Any:
        def run(*arguments: Any) -> Any:
            if is_armed:
                interrupt()
                time.sleep(0)
            return real(*arguments)

        return run

    if place == "statements":
        real = check.reference
        monkeypatch.setattr(check, "reference", lambda *arguments: interrupting(real(*arguments)))
    else:
        monkeypatch.setattr(check.Check, "_got", interrupting(check.Check._got))
    fast = aj.autocluster(lambda x: np.exp(x) * 2 + 1, policy="eager", check=True)
    x = np.linspace(0.0, 1.0, 100)
    fast(x)
    is_armed = True
    with pytest.raises(Late):
        fast(x)
    is_armed = False
    np.testing.assert_allclose(fast(x), np.exp(x) * 2 + 1)


@pytest.mark.parametrize(("line", "gives"), [("raise Late", True), ("interrupt(); sleep(0)", False)])
def test_an_exception_while_a_plan_s_arguments_are_found(line: str, gives: bool) -> None:
    prologue = types.SimpleNamespace(parameters=["x"], render=lambda: [f"    {line}"])
    names = {"Late": Late, "interrupt": interrupt, "sleep": time.sleep}
    # The checker is right: this stands for a capture.
    found = arguments._function(types.SimpleNamespace(prologue=prologue), names, [], ["x"])  # type: ignore[arg-type]
    if gives:
        assert found(1) is None
    else:
        with pytest.raises(Late):
            found(1)


class Leisurely(Service):
    """Of its processes those at leisure never get the time to start."""

    def __init__(self) -> None:
        super().__init__(True)
        self.is_wanted = True
        self.began: list[bool] = []
        self.theirs: list[Any] = []

    def _started(self, leisurely: bool) -> Any:
        if not self._lines:
            self._is_leisurely = leisurely
            self.began.append(leisurely)
            pairs = {name: wires() for name in ("now", "later", "end")}
            self._lines = {name: service._Line(mine) for name, (mine, _) in pairs.items()}
            self.theirs.append({name: other for name, (_, other) in pairs.items()})
            if not leisurely:
                pairs["later"][1].send_bytes(service.READY)
                for name in ("now", "later"):
                    pairs[name][1].send_bytes(b"answer")
        return self._lines


@posix
@pytest.mark.parametrize("is_patient", [False, True])
def test_who_waits_does_not_wait_for_a_start_at_leisure(monkeypatch: pytest.MonkeyPatch, is_patient: bool) -> None:
    monkeypatch.setattr(service, "LEISURE", 0.5)
    # The answer is there before the question.
    monkeypatch.setattr(service._Line, "ask", lambda self, question, patience=None: self._wire.recv_bytes())
    started = Leisurely()
    assert not started.is_ready() and started.began == [True]
    answers: list[bytes] = []

    def ask() -> None:
        if is_patient:
            started.patient = threading.get_ident()
        answers.append(started.ask(b"question"))

    asking = threading.Thread(target=ask, daemon=True)
    asking.start()
    asking.join(60)
    assert answers == [b"answer"] and started.began == [True, False]


@posix
def test_who_waits_does_not_wait_for_one_who_is_patient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "LEISURE", 1000.0)
    monkeypatch.setattr(service._Line, "ask", lambda self, question, patience=None: self._wire.recv_bytes())
    started = Leisurely()
    looked = threading.Event()
    real = started._look
    monkeypatch.setattr(started, "_look", lambda: (real(), looked.set()))

    def later() -> None:
        started.patient = threading.get_ident()
        started.ask(b"later")

    assert not started.is_ready()
    patient = threading.Thread(target=later, daemon=True)
    looked.clear()
    patient.start()
    assert looked.wait(60)
    answers: list[bytes] = []
    asking = threading.Thread(target=lambda: answers.append(started.ask(b"now")), daemon=True)
    asking.start()
    asking.join(60)
    assert answers == [b"answer"]
    patient.join(60)
    assert not patient.is_alive()


_UPGRADED = """
import os, sys
import autojit as aj
from autojit.compile.persistent import version
from autojit.runtime.door import DOOR

DOOR.open()
if "upgrade" in sys.argv:
    os.utime(os.path.join(os.path.dirname(aj.__file__), "lowering", "cluster.py"), (1, 1))
print(version())
"""


def test_an_upgrade_in_a_running_process_does_not_change_the_version_of_its_programs(tmp_path: Path) -> None:
    shutil.copytree(Path(aj.__file__).parent, tmp_path / "autojit", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "script.py").write_text(_UPGRADED)
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": str(tmp_path)}

    def found(*words: str) -> str:
        command = [sys.executable, tmp_path / "script.py", *words]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout

    before = found()
    assert found("upgrade") == before
    assert found() != before
