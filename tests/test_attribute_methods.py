"""Methods that assign attributes: decorated ones, inherited ones, properties, objects in loops, several threads."""

from __future__ import annotations

import gc
import threading
import weakref

import numpy as np
import pytest

import autojit as aj
from tests.helpers import check


def rand(*shape, seed=5):
    """Positive numbers, others for each seed."""
    return np.random.default_rng(seed).random(shape) + 0.5


class Wave:
    """A wave on a string, with a decorated method."""

    def __init__(self, n=50):
        self.u, self.v = np.sin(np.linspace(0, 3, n)), np.zeros(n)
        self.time, self.count = 0.0, 0

    @property
    def energy(self):
        return 0.5 * (self.v**2).sum() + self._stretched.sum()

    @property
    def _stretched(self):
        return 0.5 * np.diff(self.u) ** 2

    @aj.autocluster(policy="eager")
    def step(self, dt):
        force = np.zeros_like(self.u)
        force[1:-1] = self.u[2:] - 2 * self.u[1:-1] + self.u[:-2]
        self.v = self.v + dt * force
        self.u = self.u + dt * self.v
        self.time += dt
        self.count += 1
        return self.energy


class Damped(Wave):
    """An heir."""

    rate = 0.1

    def step(self, dt):
        self.v = self.v * (1 - self.rate * dt)
        return Wave.step(self, dt) * 1.0


def same(one, other):
    assert list(vars(one)) == list(vars(other))
    for name, value in vars(one).items():
        np.testing.assert_allclose(getattr(other, name), value, rtol=1e-12, err_msg=name)
        assert type(getattr(other, name)) is type(value), name


#: The method as it is written, undecorated.
plain_step = Wave.step.__wrapped__


def test_a_decorated_method() -> None:
    fast, plain = Wave(), Wave()
    for _ in range(5):
        assert abs(fast.step(0.1) - plain_step(plain, 0.1)) < 1e-12
    same(plain, fast)
    info = Wave.step.cache_info()
    assert info.plans == 1 and info.hits >= 5


def test_an_inherited_method_that_calls_the_decorated_one() -> None:
    fast, plain = Damped(), Damped()
    decorated = aj.autocluster(policy="eager")(Damped.step)
    for _ in range(4):
        plain.v = plain.v * (1 - plain.rate * 0.1)
        assert abs(decorated(fast, 0.1) - plain_step(plain, 0.1)) < 1e-12
    same(plain, fast)


def run(wave, steps):
    energies = []
    for k in range(steps):
        energy = wave.step(0.05)
        if k % 10 == 0:
            energies.append(energy)
    return energies


def test_a_loop_of_calls_that_keeps_a_history() -> None:
    decorated = check(run, Wave(), 60, whole=True)
    assert decorated.cache_info().captures == 1


class Layer:
    """A layer of a network: what it keeps for the way back has no value at first."""

    def __init__(self, seed):
        self.weights = rand(6, 6, seed=seed) - 0.9
        self.inputs = None

    def forward(self, x):
        self.inputs = x
        self.positive = x @ self.weights > 0
        return np.where(self.positive, x @ self.weights, 0.0)

    def backward(self, gradient):
        gradient = gradient * self.positive
        self.gradient = self.inputs.T @ gradient
        return gradient @ self.weights.T


def train(layers, x, rounds):
    loss = 0.0
    for _ in range(rounds):
        y = x
        for layer in layers:
            y = layer.forward(y)
        loss = ((y - 1.0) ** 2).mean()
        gradient = 2.0 * (y - 1.0) / y.size
        for layer in reversed(layers):
            gradient = layer.backward(gradient)
        for layer in layers:
            layer.weights -= 0.1 * layer.gradient
    return loss


def with_new_weights(layers, x, rounds):
    for _ in range(rounds):
        y = x
        for layer in layers:
            y = layer.forward(y)
        gradient = y - 1.0
        for layer in reversed(layers):
            gradient = layer.backward(gradient)
        for layer in layers:
            layer.weights = layer.weights - 0.01 * layer.gradient
    return [layer.inputs for layer in layers]


@pytest.mark.parametrize("rounds", [1, 2, 40])
@pytest.mark.parametrize("function", [train, with_new_weights])
def test_the_training_of_a_network(function, rounds) -> None:
    check(function, [Layer(1), Layer(2), Layer(3)], rand(9, 6), rounds, rtol=1e-10 if rounds > 2 else 1e-12)


def test_a_network_of_layers_is_one_program() -> None:
    check(with_new_weights, [Layer(1), Layer(2)], rand(9, 6), 40, rtol=1e-10, whole=True)


class Cached:
    """What is computed once is kept."""

    def __init__(self):
        self.x, self.known = rand(8), None

    def norm(self):
        if self.known is None:
            self.known = np.sqrt((self.x**2).sum())
        return self.known


def twice_normed(thing):
    return thing.x / thing.norm() + thing.norm()


def test_what_is_computed_once() -> None:
    decorated = check(twice_normed, Cached(), whole=True)
    thing, plain = Cached(), Cached()
    for _ in range(3):
        np.testing.assert_allclose(decorated(thing), twice_normed(plain), rtol=1e-14)
    assert abs(thing.known - plain.known) < 1e-14


class Noisy:
    """Tells when it is freed."""

    freed = 0

    def __init__(self, x):
        self.x = x

    def __del__(self):
        Noisy.freed += 1


def replaces(wave, other):
    wave.held = other
    wave.u = wave.u + other.x


def test_what_an_attribute_held_is_freed() -> None:
    decorated = aj.autocluster(policy="eager")(replaces)
    wave = Wave(5)
    wave.held = Noisy(np.zeros(5))
    before, old = Noisy.freed, weakref.ref(wave.u)
    decorated(wave, Noisy(np.ones(5)))
    gc.collect()
    assert Noisy.freed == before + 1 and old() is None and wave.held.x[0] == 1.0


def test_threads_with_objects_of_their_own() -> None:
    decorated = aj.autocluster(policy="eager")(plain_step)
    waves = [Wave(60) for _ in range(4)]

    def work(wave):
        for _ in range(50):
            decorated(wave, 0.05)

    threads = [threading.Thread(target=work, args=(wave,)) for wave in waves]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    wanted = Wave(60)
    for _ in range(50):
        plain_step(wanted, 0.05)
    for wave in waves:
        same(wanted, wave)


def measured(wave):
    for _ in range(30):
        wave.v = np.tanh(wave.v + wave.u)
        wave.u = np.cos(wave.u * wave.v)
    wave.count += 1


def test_under_measured_every_call_counts_once() -> None:
    decorated = aj.autocluster(policy="measured")(measured)
    fast, plain = Wave(20000), Wave(20000)
    for _ in range(60):
        decorated(fast)
        measured(plain)
    assert fast.count == plain.count == 60
    same(plain, fast)


def in_pieces(wave, n):
    for k in range(n):
        wave.count += 1
        yield wave.u * k
        wave.u = wave.u + 0.5


def test_generators() -> None:
    decorated = aj.autocluster(policy="eager")(in_pieces)
    for _ in range(3):
        fast, plain = Wave(7), Wave(7)
        for one, other in zip(decorated(fast, 4), in_pieces(plain, 4), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-14)
            same(plain, fast)
        same(plain, fast)
