"""What the frame of a function holds after a plan has answered, and look-ups that change what arguments are made of."""

from __future__ import annotations

import mmap
import weakref
from dataclasses import dataclass
from multiprocessing import shared_memory

import numpy as np
import pytest

import autojit as aj

N = 10_000


def mapped(path, _):
    with open(path, "rb") as f, mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ) as mm:
        x = np.frombuffer(mm, np.float64)
        x = np.sqrt(x) * 0.5 + 1.0
        return float(x.sum())


def shared(_, name):
    memory = shared_memory.SharedMemory(name=name)
    x = np.ndarray((N,), np.float64, memory.buf)
    x = np.sqrt(x) + 1.0
    s = float(x.sum())
    memory.close()
    return s


def packets(path, _):
    buffer, out = bytearray(), []
    for _part in range(2):
        with open(path, "rb") as f:
            buffer.extend(f.read())
        x = np.frombuffer(buffer, np.float64)
        x = np.sqrt(x) * np.sin(x) + 0.5
        rms = np.sqrt(np.mean(x * x))
        out.append(float(rms))
        buffer.clear()
    return sum(out)


@pytest.mark.parametrize("function", [mapped, shared, packets])
def test_memory_that_a_name_had_is_given_back(function, tmp_path):
    path = tmp_path / "numbers"
    np.arange(float(N)).tofile(path)
    memory = shared_memory.SharedMemory(create=True, size=8 * N)
    try:
        np.ndarray((N,), np.float64, memory.buf)[:] = np.arange(float(N))
        fast, expected = aj.autocluster(policy="eager")(function), function(path, memory.name)
        for _ in range(3):
            assert fast(path, memory.name) == pytest.approx(expected, rel=1e-9)
    finally:
        memory.close()
        memory.unlink()


def dropped(x):
    y = np.array(x.tolist())
    gone = weakref.ref(y)
    y = np.sin(y) + 1.0
    s = float(y.sum())
    return round(s, 6), gone() is None


def in_place(x):
    y = np.array(x.tolist())
    there = weakref.ref(y)
    y += 1.0
    s = float(y.sum())
    return round(s, 6), there() is y


def given(x):
    x = x * 2.0
    return float(x.sum())


def left(x):
    for i in range(5):
        y = np.sin(x) * i + np.cos(x)
        if i == 2:
            break
    y.resize(8000)
    return y[:4].tolist()


def ended(x):
    for i in range(5):
        y = np.sin(x) * i + np.cos(x)
        gone = weakref.ref(y)
        if i == 2:
            y = None
            break
    return gone() is None


@pytest.mark.parametrize("function", [dropped, in_place, given, left, ended])
def test_the_frame_holds_what_pythons_would(function):
    fast = aj.autocluster(policy="eager")(function)
    for _ in range(3):
        assert fast(np.arange(1000.0)) == function(np.arange(1000.0))


log = []


@dataclass
class Guard:
    """Says when it is gone."""

    name: str

    def __del__(self):
        log.append(self.name)


def guarded(x):
    guard = Guard("gone")
    return x * len(guard.name)


def test_objects_that_say_when_they_are_gone():
    fast = aj.autocluster(policy="eager")(guarded)
    for count in range(1, 4):
        fast(np.ones(3))
        assert log == ["gone"] * count


class Sink:
    """Keeps what it is given."""

    def __init__(self):
        self.got = []

    def put(self, value):
        self.got.append(value)


class Lazy(Sink):
    """Does what is pending when it is asked for `put`."""

    def __init__(self, state):
        super().__init__()
        self.state = state

    @property
    def put(self):
        self.state += 1.0
        return self.got.append


class Run:
    """Has a sink of one of two kinds."""

    def __init__(self, is_lazy):
        self.state = np.arange(4.0)
        self.sinks = [Sink(), Lazy(self.state)]
        self.sink = self.sinks[is_lazy]


class Model:
    """Has a run."""

    def __init__(self, is_lazy):
        self.run = Run(is_lazy)


def assigned(model, k):
    sim = model.run
    sim.sink = sim.sinks[k]
    sim.sink.put(sim.state * 2.0)



def set_and_put(sim, k):
    sim.sink = sim.sinks[k]
    sim.sink.put(sim.state * 2.0)


def bound_here(model, k):
    run = model.run
    run.sink.put(run.state * 2.0)


@pytest.mark.parametrize("function", [assigned, set_and_put, bound_here])
def test_look_ups_of_what_is_set_before(function):
    fast = aj.autocluster(policy="eager")(function)
    for k in (0, 0, 1, 1, 0, 1):
        found = []
        for one in (function, fast):
            model = Model(k if function is bound_here else 0)
            one(model.run if function is set_and_put else model, k)
            found.append([value.tolist() for value in model.run.sinks[k].got])
        assert found[0] == found[1]
