"""Which names a statement reads, binds and deletes, and what is one object in Python: read, mended."""

from __future__ import annotations

import dataclasses
import datetime
import types

import numpy as np
import pytest

import autojit as aj
from tests.helpers import check, check_call, check_calls


def fills_at_an_index(x, rows):
    a, i = np.zeros(3), 1
    y = x * 2.0
    total = y.sum()
    print(end="")
    kept = [a[i] for a[i] in rows]
    return total, kept, a


def unpacks_at_an_index(x, rows):
    a, k = np.zeros(3), 2
    y = x * 2.0
    print(end="")
    return [v + a[k] for a[k], v in zip(rows, y)], a


def keeps_in_many_items(x, rows):
    a, i = np.zeros(300), 7
    a[0] = 5.0
    kept = [a[i] * 2 for a[i] in range(200)]
    return kept, a, i


@pytest.mark.parametrize("function", [fills_at_an_index, unpacks_at_an_index, keeps_in_many_items])
def test_the_index_of_a_comprehension_s_target_is_read(function):
    check(function, np.arange(4.0), [1.0, 2.0, 3.0, 4.0])


def deletes_in_a_loop(x, n):
    k, shift, v = 0, 0.5, x.copy()
    while k < n:
        if k < 10:
            v += shift
            if k == 9:
                del shift
        v[1:-1] = (v[:-2] + v[2:]) * 0.5
        k += 1
    return v, k


def forgets_an_error(x, n):
    k, error, v = 0, None, x.copy()
    while k < n:
        if k < 10:
            v += error is None
            try:
                raise ValueError
            except ValueError as error:
                v += 1.0
            error = k
            if k == 9:
                try:
                    raise ValueError
                except ValueError as error:
                    v += isinstance(error, ValueError)
        v[1:-1] = (v[:-2] + v[2:]) * 0.5
        k += 1
    return v, k


@pytest.mark.usefixtures("watched")
@pytest.mark.parametrize("function", [deletes_in_a_loop, forgets_an_error])
def test_a_loop_that_deletes_a_name_is_taken_over(function):
    fast, x = aj.autocluster(function), np.linspace(0.0, 1.0, 1000)
    check_call(fast, function, x, 100_000)


class Box:
    kept: float


def chooses_for_a_tuple(a):
    x, y = 1.5, 2.5
    pair = (x if a[0] > 0 else y, a * 2)
    print(end="")
    return pair[0] is x, pair[0] is y, pair[1]


def chooses_for_an_attribute(a):
    box, x, y = Box(), 1.5, 2.5
    print(end="")
    box.kept = x if a[0] > 0 else y
    b = a * 2
    print(end="")
    return box.kept is x, box.kept is y, b


def chooses_an_int(a):
    x, y = 1000, 2000
    s = x if a[0] > 0 else y
    b = a * 2
    print(end="")
    return s is x, s is y, b


def fills_with_a_number(a):
    x, xs = float(a[0]), []
    for _ in range(200):
        xs.append(x)
    print(end="")
    return xs[0] is x, xs[0] is xs[1], a * 2


@pytest.mark.parametrize(
    "function", [chooses_for_a_tuple, chooses_for_an_attribute, chooses_an_int, fills_with_a_number]
)
def test_a_number_that_is_kept_is_the_same_object(function):
    up = np.arange(1.0, 5.0)
    check_calls(function, (up,), (-up,))


class Maker:
    @classmethod
    def make(cls):
        return 1


NOW = datetime.datetime.now


def looks_up_twice(a):
    return Maker.make is Maker.make, a * 2


def looks_up_in_c_twice(a):
    return datetime.datetime.now is datetime.datetime.now, a * 2


def looks_up_once(a):
    make = Maker.make
    return make is make, make is Maker.make, NOW is NOW, NOW is datetime.datetime.now, a * 2


@pytest.mark.parametrize("function", [looks_up_twice, looks_up_in_c_twice, looks_up_once])
def test_a_method_is_made_at_each_look_up(function):
    check_calls(function, (np.ones(3),))


def takes_a_method(a):
    now = datetime.datetime.now
    return a * 2, now


def test_a_method_of_c_code_is_a_value():
    fast = aj.autocluster(policy="eager")(takes_a_method)
    for _ in range(3):
        assert fast(np.ones(3))[1] == NOW
    assert fast.cache_info().hits >= 2


@dataclasses.dataclass(eq=False)
class Point:
    _fields = ("x", "y")
    x: float
    y: float

    def norm(self):
        return self.x + self.y


def unpacks_a_record(a):
    x, _ = Point(1.0, a * 2)
    return x


def counts_a_record(a):
    return len(Point(1.0, 2.0)), a * 2


def indexes_a_record(a):
    return Point(a * 2, a)["x"]


def finds_in_a_record(a):
    return "x" in Point(1.0, 2.0), a * 2


def asks_whether_a_record_is_true(a):
    return bool(Point(1.0, 2.0)), not Point(1.0, 2.0), a * 2


@pytest.mark.parametrize(
    "function",
    [unpacks_a_record, counts_a_record, indexes_a_record, finds_in_a_record, asks_whether_a_record_is_true],
)
def test_fields_make_no_named_tuple(function):
    check(function, np.ones(3))


def asks_for_a_method_s_type(a):
    point = Point(1.0, 2.0)
    return type(point.norm) is types.MethodType, isinstance(point.norm, types.BuiltinMethodType), type([a].append), a + 1


RNG = np.random.default_rng(0)


def asks_for_a_generator_s_method(a):
    return type(RNG.normal), isinstance(RNG.normal, types.MethodType), a + 1


def test_the_type_of_a_method():
    check(asks_for_a_method_s_type, np.ones(3))
    check(asks_for_a_generator_s_method, np.ones(3))
