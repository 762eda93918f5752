"""Attributes that a function assigns: a plan sets them at its end, and later statements read them before."""

from __future__ import annotations

import contextlib
import dataclasses
import types

import numpy as np
import pytest

import autojit as aj
from tests.helpers import assert_same, check


def rand(*shape, seed=5):
    """Positive numbers, others for each seed."""
    return np.random.default_rng(seed).random(shape) + 0.5


class Body:
    """A plain object."""

    scale = 2.0

    def __init__(self, n=5, seed=0):
        self.x, self.v = rand(n, seed=seed), rand(n, seed=seed + 1)
        self.time, self.steps, self.other = 0.0, 0, None

    def step(self, dt):
        self.v = self.v - dt * self.x
        self.x = self.x + dt * self.v
        self.time += dt
        self.steps += 1
        return self.x


class Slotted:
    """An object without a dict."""

    __slots__ = ("n", "x")

    def __init__(self):
        self.x = rand(4)

    def __eq__(self, other):
        return np.array_equal(self.x, other.x) and self.n == other.n

    __hash__ = None


class Pair:
    def __init__(self, one=None, two=None):
        self.one, self.two = one or Body(seed=3), two or Body(seed=4)


def method(body, dt):
    return body.step(dt) * 2


def read_after_write(body):
    body.x = np.tanh(body.x)
    return body.x + body.x.sum(), body


def twice(body):
    body.x = body.x * 2
    body.x = body.x + 1


def new_attribute(body):
    body.energy = (body.v**2).sum()
    body.label = "done"
    return body.energy * 2


def same_object(body):
    body.x = body.v = np.sqrt(body.x)
    return body.x


def views(body):
    y = body.x * 2
    body.x, body.v = y[1:], y[::-1]
    return y


def parts(body):
    body.one, body.rest = [np.exp(body.x), 3], {"v": body.v + 1, "t": (body.time, None)}


def in_place(body):
    body.x += body.v
    body.x[1:] *= 2
    body.v = body.x[:2]
    body.v += 1


def of_the_class(body):
    body.scale *= 3
    return body.x * body.scale


def nested(pair):
    pair.one.x = pair.one.x + pair.two.x
    pair.two = pair.one
    pair.two.v = pair.two.x * 3
    return pair.one.v


def swapped(pair):
    pair.one.x, pair.two.x = pair.two.x, pair.one.x
    pair.one.v = pair.one.x + 1


def exchanged(body):
    body.x, body.v = body.v, body.x
    return body.x - body.v


def numbers(body):
    body.time = body.time + 0.5
    body.steps = body.steps + 1 if body.steps > 3 else -1
    body.mean = float(body.x.mean())
    body.best = body.x.max()
    return np.full(3, body.time) + body.x[0]


def slotted(thing):
    thing.n = thing.x.shape[0]
    thing.x = thing.x * thing.n


def kept(body, y):
    body.x = y
    body.v = y.T
    return np.exp(y)


def short_loop(body):
    for k in range(3):
        body.x = body.x * k + 1
    return body.x


@pytest.mark.parametrize(
    "function",
    [
        read_after_write, twice, new_attribute, same_object, views, parts, in_place, of_the_class, exchanged, numbers,
        short_loop,
    ],
)  # fmt: skip
def test_a_function_that_assigns_attributes_is_one_program(function) -> None:
    check(function, Body(), whole=True)


def test_methods_and_nested_objects_are_one_program() -> None:
    check(method, Body(), 0.25, whole=True)
    check(nested, Pair(), whole=True)
    check(swapped, Pair(), whole=True)
    check(slotted, Slotted(), whole=True)
    check(kept, Body(), rand(3, 3), whole=True)


@pytest.mark.parametrize("function", [nested, swapped])
def test_objects_that_are_one_are_not_taken_for_two(function) -> None:
    decorated = check(function, Pair())
    one = Body(seed=7)
    for _ in range(2):
        plain, fast = Pair(one, one), Pair(Body(seed=7))
        fast.two = fast.one
        plain.one.__dict__.update(Body(seed=7).__dict__)
        assert_same(decorated(fast), function(plain), 1e-14)
        np.testing.assert_allclose(fast.one.v, plain.one.v, rtol=1e-14)
        np.testing.assert_array_equal(fast.one.x, plain.one.x)
        assert fast.two is fast.one


def aliased(one, two):
    one.x = one.x + 1
    a = two.x * 2
    two.x = a - 3
    one.x = one.x * 5
    return a


def test_arguments_that_are_one_object_or_two() -> None:
    decorated = check(aliased, Body(seed=1), Body(seed=2), whole=True)
    body, plain = Body(), Body()
    for _ in range(3):
        np.testing.assert_allclose(decorated(body, body), aliased(plain, plain), rtol=1e-14)
        np.testing.assert_allclose(body.x, plain.x, rtol=1e-14)
    check(aliased, Body(seed=1), Body(seed=2))


def all_of_them(bodies):
    for body in bodies:
        body.x = body.x * 2
        body.v = body.v + bodies[0].x
    return bodies[-1].x


def test_many_objects_are_told_apart_at_once() -> None:
    decorated = check(all_of_them, [Body(seed=n) for n in range(4)], whole=True)
    one, two = Body(seed=8), Body(seed=8)
    for _ in range(2):
        assert np.array_equal(decorated([one, Body(), one, Body()]), all_of_them([two, Body(), two, Body()]))
        np.testing.assert_array_equal(one.x, two.x)
        np.testing.assert_allclose(one.v, two.v, rtol=1e-14)


def test_the_order_in_which_attributes_came_is_numpys() -> None:
    def function(body):
        body.b = body.x + 1
        body.a = body.x + 2
        body.x = body.a * body.b
        body.b = body.a

    plain, fast = Body(), Body()
    decorated = aj.autocluster(policy="eager")(function)
    function(plain)
    decorated(fast)
    assert list(vars(fast)) == list(vars(plain))
    assert fast.b is fast.a
    assert decorated.cache_info().hits == 1


class Watched:
    """Its classes decide what assigning does."""

    def __init__(self):
        self.x, self.log = rand(3), []
        self._y = None

    @property
    def y(self):
        return self._y

    @y.setter
    def y(self, value):
        self.log.append("y")
        self._y = value


class Own(Body):
    def __setattr__(self, name, value):
        object.__setattr__(self, name, value)
        object.__setattr__(self, "last", name)


class Descriptor:
    def __get__(self, owner, kind=None):
        return owner.__dict__.get("hidden", 0.0)

    def __set__(self, owner, value):
        owner.__dict__["hidden"] = value * 2


class Described(Body):
    y = Descriptor()


@dataclasses.dataclass(frozen=True)
class Frozen:
    x: np.ndarray


@dataclasses.dataclass
class Record:
    x: np.ndarray
    n: int = 0


def assign_y(thing):
    thing.y = np.exp(thing.x)
    return thing.y * 2


def assign_x(thing):
    a = np.exp(thing.x)
    thing.x = a
    return a * 2


def test_classes_that_decide_what_assigning_does() -> None:
    check(assign_y, Watched(), whole=False)
    check(assign_y, Own(), whole=False)
    check(assign_y, Described(), whole=False)
    check(assign_x, Frozen(rand(3)), whole=False)
    check(assign_x, Record(rand(3)), whole=True)
    check(assign_x, types.SimpleNamespace(x=rand(3)), whole=True)
    with pytest.raises(AttributeError):
        aj.autocluster(policy="eager")(assign_y)(Slotted())


def test_a_class_that_changes_is_heeded() -> None:
    class Late(Body):
        pass

    decorated = check(assign_y, Late(), whole=True)
    Late.y = Descriptor()
    check(assign_y, Late())
    one, two = Late(), Late()
    np.testing.assert_allclose(decorated(one), assign_y(two), rtol=1e-14)
    assert one.__dict__.keys() == two.__dict__.keys()

    class Later(Body):
        pass

    decorated = check(assign_x, Later(), whole=True)
    seen = []

    def set_and_tell(self, name, value):
        seen.append(name)
        object.__setattr__(self, name, value)

    Later.__setattr__ = set_and_tell
    thing = Later.__new__(Later)
    vars(thing).update(x=rand(3))
    decorated(thing)
    assert seen == ["x"]


def records(x):
    made = Record(x * 2)
    made.n = 3
    made.x = made.x + made.n
    return made


def test_records_made_inside() -> None:
    check(records, rand(4), whole=True)


def fails(body, i):
    body.x = body.x + 1
    body.v = body.v / body.v[i]
    return body.x[i]


def test_what_numpy_raises_leaves_numpys_partial_effects() -> None:
    check(fails, Body(), 2)
    check(fails, Body(), 7)
    decorated = aj.autocluster(policy="eager")(fails)
    for i in (2, 9, 1):
        plain, fast = Body(), Body()
        for function, body in ((fails, plain), (decorated, fast)):
            with pytest.raises(IndexError) if i == 9 else contextlib.nullcontext():
                function(body, i)
        np.testing.assert_array_equal(fast.x, plain.x)
        np.testing.assert_array_equal(fast.v, plain.v)


def on_data(body):
    if body.x.sum() > 0:
        body.x = body.x * 2
    else:
        body.v = body.v + 1
    return body.x + body.v


def left_early(body):
    if body.x.sum() > 1e9:
        return body.x
    body.x = body.x * 2
    return body.x + 1


def long_loop(body, n):
    for _ in range(n):
        body.x = np.sin(body.x) + 0.1
    return body.x


def long_loop_of_calls(body, n):
    for _ in range(n):
        body.step(0.01)
    return body.x


def until(body):
    while body.time < 0.5:
        body.step(0.01)


@pytest.mark.parametrize("function", [on_data, left_early, until])
def test_assigned_as_the_data_decides(function) -> None:
    check(function, Body())
    negative = Body()
    negative.x = -negative.x
    check(function, negative)


@pytest.mark.parametrize("n", [0, 1, 2, 40, 100])
@pytest.mark.parametrize("function", [long_loop, long_loop_of_calls])
def test_assigned_in_loops(function, n) -> None:
    check(function, Body(), n)


def history(body, n):
    body.log = []
    log = body.log
    for k in range(n):
        log.append(body.x[0] * k)
    return len(body.log)


def fills(body, n):
    body.rows = np.zeros((n, 5))
    for k in range(n):
        body.rows[k] = body.x * k
    return body.rows.sum()


@pytest.mark.parametrize("n", [0, 3, 200])
def test_what_an_attribute_holds_changes_in_a_loop(n) -> None:
    check(history, Body(), n)
    check(fills, Body(), n, whole=True)


def asks(body):
    had = hasattr(body, "energy")
    body.energy = body.x.sum()
    return had, hasattr(body, "energy"), getattr(body, "energy") + 1  # noqa: B009 -- what is tested


def counts(body, rows):
    rows[body.steps] = body.x * 2
    body.steps += 1


def test_attributes_that_are_asked_for() -> None:
    decorated = check(asks, Body())
    body = Body()
    for wanted in (False, True):
        assert decorated(body)[:2] == (wanted, True)


def test_an_index_that_is_counted_up_does_not_make_a_plan_each() -> None:
    rows, wanted = np.zeros((40, 5)), np.zeros((40, 5))
    decorated = aj.autocluster(policy="eager")(counts)
    plain, fast = Body(), Body()
    for _ in range(40):
        counts(plain, wanted)
        decorated(fast, rows)
    np.testing.assert_array_equal(rows, wanted)
    assert fast.steps == 40
    assert decorated.cache_info().plans <= 2


def callback(body, tell):
    body.x = body.x + 1
    tell(body)
    body.v = body.v * body.x
    return body.v


def test_native_statements_see_the_attributes() -> None:
    seen = []
    decorated = aj.autocluster(policy="eager")(callback)
    plain, fast = Body(), Body()
    for _ in range(3):
        callback(plain, lambda body: None)
        decorated(fast, lambda body: seen.append(body.x.copy()))
        np.testing.assert_array_equal(seen[-1], plain.x)
        np.testing.assert_array_equal(fast.v, plain.v)


def test_the_check_undoes_what_the_statements_assign(recwarn) -> None:
    decorated = aj.autocluster(policy="eager", check=True)(method)
    also_new = aj.autocluster(policy="eager", check=True)(new_attribute)
    of_class = aj.autocluster(policy="eager", check=True)(of_the_class)
    plain, fast = Body(), Body()
    for _ in range(3):
        method(plain, 0.5)
        decorated(fast, 0.5)
        new_attribute(plain)
        also_new(fast)
        of_the_class(plain)
        of_class(fast)
    assert (fast.time, fast.steps, fast.scale, list(vars(fast))) == (
        plain.time,
        plain.steps,
        plain.scale,
        list(vars(plain)),
    )
    np.testing.assert_allclose(fast.x, plain.x, rtol=1e-14)
    assert not [warning for warning in recwarn if issubclass(warning.category, aj.AutojitWarning)]


def test_jit_compile_takes_methods() -> None:
    body, plain = Body(), Body()
    compiled = aj.jit_compile(Body.step)
    for _ in range(3):
        assert compiled(body, 0.125) is body.x
        plain.step(0.125)
    np.testing.assert_allclose(body.x, plain.x, rtol=1e-14)
    assert (body.time, body.steps) == (plain.time, plain.steps)
