"""Classes of the program's own that look like Python's or NumPy's: named tuples, numbers, text, callable objects."""

from __future__ import annotations

import collections
import linecache
import warnings
from typing import NamedTuple

import numpy as np
import pytest

import autojit as aj
from tests.attacks import sequence

RNG = np.random.default_rng(0)


class Shape(collections.namedtuple("Shape", "rows columns")):
    """Is told its sides in the other order."""

    __slots__ = ()

    def __new__(cls, width, height):
        return super().__new__(cls, height, width)


class Square(collections.namedtuple("Square", "rows columns")):
    """Is told one side."""

    __slots__ = ()

    def __new__(cls, n):
        return super().__new__(cls, n, n)


def blank(x, shape):
    return np.zeros(shape) + x[0]


def folded(x, shape):
    return x.reshape(shape) * 2.0


def compared(x, shape):
    y = x.reshape(2, 3)
    return y * 2.0 if y.shape == shape else y * 3.0


@pytest.mark.parametrize("function", [blank, folded, compared])
def test_a_named_tuple_is_not_made_anew(function):
    with warnings.catch_warnings():
        warnings.simplefilter("error", aj.AutojitWarning)
        sequence(function, (np.arange(1.0, 7.0), Shape(3, 2)))
        sequence(blank, (np.arange(1.0, 7.0), Square(2)))


class Box(NamedTuple):
    """Wraps points."""

    low: float
    high: float

    def __mod__(self, x):
        return self.low + (x - self.low) % (self.high - self.low)

    def __rfloordiv__(self, x):
        return (x - self.low) // (self.high - self.low)


class Colour(NamedTuple):
    """Is an array of numbers up to 1."""

    r: int
    g: int
    b: int

    def __array__(self, dtype=None, copy=None):
        return np.array([self.r, self.g, self.b], np.float64) / 255


def wrapped(x, box):
    return (box % x) * 1.0


def tinted(x, colour):
    return x * colour + 1.0


def made(x, _):
    return (Box(0.0, 4.0) % x) * 1.0


def test_named_tuples_with_operators():
    points = np.array([[5.0, 6.0], [7.0, 9.5]])
    sequence(wrapped, (points, Box(1.0, 4.0)))
    sequence(made, (points, None))
    sequence(tinted, (np.ones((2, 3)), Colour(255, 51, 0)))


class Angle(np.float64):
    """Degrees between 0 and 360."""

    def __new__(cls, value):
        return super().__new__(cls, value % 360.0)


def total(x):
    return Angle(np.sum(x) * 2.0)


def test_heirs_of_numpys_scalars():
    result = aj.autocluster(policy="eager")(total)(np.full(5, 50.0))
    assert type(result) is Angle and result == 140.0


class Site(int):
    """A number of a lattice site."""


class Axes(str):
    """Names of axes."""


def picked(x, site):
    x[site] = -1.0
    return x[site] * 2.0, x * 1.0


def turned(x, axes):
    x = x.reshape(1, -1)
    return x.T * 2.0 if axes[0] == "y" else x * 2.0


def ordered(x, axes):
    found = 0.0
    for n, name in enumerate(axes):
        found = found + x[n] * (10.0 if name == "y" else 1.0)
    return found


def test_heirs_of_pythons_numbers_and_text():
    x = np.arange(1.0, 4.0)
    sequence(picked, *((x, Site(n)) for n in (0, 1, 2)))
    for function in (turned, ordered):
        sequence(function, *((x, Axes(text)) for text in ("yx", "yx", "xy")))


class MissingParameter(Exception):
    """A parameter has no value."""


class Model:
    """Its parameters are attributes."""

    def __init__(self, **parameters):
        self.__dict__["parameters"] = parameters

    def __getattr__(self, name):
        try:
            return self.__dict__["parameters"][name]
        except KeyError:
            raise MissingParameter(name) from None

    def __call__(self, x):
        return self.a * x + self.b


class Simple(Model):
    """Raises what a dict raises."""

    def __getattr__(self, name):
        return self.__dict__["parameters"][name]


class Lenient(Model):
    """Has any attribute."""

    def __getattr__(self, name):
        return self.__dict__["parameters"].get(name)


def applied(model, x):
    y = x * 2.0
    return model(y) + 1.0


@pytest.mark.parametrize("kind", [Model, Simple, Lenient])
def test_callable_objects_are_not_asked_for_names(kind):
    with warnings.catch_warnings():
        warnings.simplefilter("error", aj.AutojitWarning)
        for decorated in (aj.autocluster(policy="eager")(applied), applied):
            for _ in range(2):
                assert decorated(kind(a=2.0, b=1.0), np.ones(3))[0] == 6.0


seen = []


class Traced:
    """Notes what it is asked for."""

    def __init__(self, a):
        self.a = a

    def __getattribute__(self, name):
        seen.append(name)
        return object.__getattribute__(self, name)


def used(x, traced):
    return x * 2.0 + traced.a


def test_objects_are_not_asked_for_their_class():
    fast, traced = aj.autocluster(policy="eager")(used), Traced(1.0)
    for _ in range(3):
        seen.clear()
        fast(np.ones(3), traced)
        assert seen == ["a"]


def polynomial(x, p):
    return x * p.order + p.coeffs[0], len(p)


def test_polynomials_may_change():
    fast, p = aj.autocluster(policy="eager")(polynomial), np.poly1d([1.0, 2.0, 3.0])
    for _ in range(3):
        got, expected = fast(np.ones(3), p), polynomial(np.ones(3), p)
        assert got[0][0] == expected[0][0] and got[1] == expected[1]
        p[len(p) + 2] = 7.0


SPAN = """
import collections
class Span(collections.namedtuple("Span", "low high")):
    __slots__ = ()
    def __new__(cls, low, high):
        return super().__new__(cls, min(low, high), max(low, high))
"""


def test_a_named_tuple_typed_into_a_shell():
    file, space = "<ipython-input-3-0123456789ab>", {"__name__": "__main__"}
    linecache.cache[file] = (len(SPAN), None, SPAN.splitlines(True), file)
    exec(compile(SPAN, file, "exec"), space)
    kind = space["Span"]

    def width(x):
        s = kind(5.0, 2.0)
        return x * (s.high - s.low)

    sequence(width, (np.ones(2),))


def test_a_class_of_executed_text_is_the_programs():
    space = {}
    exec("class Config:\n    dt = 0.1\n", space)
    config = space["Config"]

    def step(x):
        return x + config.dt

    fast = aj.autocluster(policy="eager")(step)
    for dt in (0.1, 0.1, 0.5, 1.0):
        config.dt = dt
        assert fast(np.ones(2))[0] == 1.0 + dt


def test_lambdas_of_one_line_with_other_parameters():
    one, both = (lambda x: np.sum(x) * 2.0), (lambda *x: np.sum(x) * 2.0)
    sequence(one, (np.ones(3),))
    sequence(both, (np.ones(3), np.ones(3)), (np.ones(3),))
