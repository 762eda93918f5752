"""Values that are no arrays: members of enums, decimals, texts, scalars, lists and dicts of types of their own."""

from __future__ import annotations

import collections
import decimal
import enum
import fractions
import inspect

import numpy as np

from tests.attacks import rand, sequence
from tests.helpers import check


class Mode(enum.Enum):
    """Members of one type."""

    DOUBLE = 1
    TRIPLE = 2


class Flag(enum.IntEnum):
    """Members that are ints."""

    OFF = 0
    ON = 1
    MORE = 2


class Options(enum.Flag):
    """Members that combine."""

    A = 1
    B = 2


def test_enums() -> None:
    def equal(x, mode):
        if mode == Mode.DOUBLE:
            return x * 2
        return x * 3

    def identical(x, mode):
        return x * 2 if mode is Mode.DOUBLE else x * 3

    def value(x, mode):
        return x * mode.value

    def name(x, mode):
        return {"DOUBLE": x * 2, "TRIPLE": x * 3}[mode.name]

    def member(x, mode):
        return x * {Mode.DOUBLE: 2, Mode.TRIPLE: 3}[mode]

    def contained(x, mode):
        return x * 2 if mode in (Mode.DOUBLE,) else x * 3

    def integers(x, flag):
        return x * flag if flag else x + 1

    def bits(x, options):
        return x * 2 if Options.A in options else x * 3

    for function in (equal, identical, value, name, member, contained):
        sequence(function, (rand(3), Mode.DOUBLE), (rand(3), Mode.TRIPLE), (rand(3), Mode.DOUBLE))
        sequence(function, (rand(3), Mode.TRIPLE), (rand(3), Mode.DOUBLE))
    sequence(integers, (rand(3), Flag.OFF), (rand(3), Flag.ON), (rand(3), Flag.MORE), (rand(3), 2), (rand(3), True))
    sequence(bits, (rand(3), Options.A), (rand(3), Options.B), (rand(3), Options.A | Options.B))


def test_other_values() -> None:
    def compare(x, value, other):
        return x * 2 if value == other else x * 3

    def truth(x, value):
        return x * 2 if value else x * 3

    def length(x, value):
        return x * len(value)

    def contains(x, value):
        return x * 2 if 1 in value else x * 3

    def multiply(x, value):
        return x * float(value)

    sequence(compare, (rand(3), decimal.Decimal(1), 1), (rand(3), decimal.Decimal(2), 1), (rand(3), fractions.Fraction(1), 1))
    sequence(compare, (rand(3), (1, 2), (1, 2)), (rand(3), (1, 3), (1, 2)), (rand(3), [1, 2], [1, 2]))
    sequence(compare, (rand(3), {1, 2}, {1, 2}), (rand(3), {1, 3}, {1, 2}))
    sequence(compare, (rand(3), {"a": 1}, {"a": 1}), (rand(3), {"a": 2}, {"a": 1}), (rand(3), {"a": 2, "b": 1}, {"a": 2}))
    sequence(compare, (rand(3), "a", "a"), (rand(3), "a", "b"), (rand(3), b"a", "a"), (rand(3), None, None))
    sequence(truth, (rand(3), set()), (rand(3), {1}), (rand(3), decimal.Decimal(0)), (rand(3), decimal.Decimal(1)))
    sequence(truth, (rand(3), {}), (rand(3), {"a": 1}), (rand(3), []), (rand(3), [0]), (rand(3), 0.0), (rand(3), ""))
    sequence(truth, (rand(3), collections.deque()), (rand(3), collections.deque([1])))
    sequence(length, (rand(3), {1}), (rand(3), {1, 2}), (rand(3), {1: 2}), (rand(3), {1: 2, 3: 4}), (rand(3), "ab"))
    sequence(length, (rand(3), collections.deque([1])), (rand(3), collections.deque([1, 2])), (rand(3), range(4)))
    sequence(contains, (rand(3), {1}), (rand(3), {2}), (rand(3), [1]), (rand(3), [2]), (rand(3), {2: 1}), (rand(3), range(9)))
    sequence(contains, (rand(3), frozenset([1])), (rand(3), frozenset([2])))
    sequence(multiply, (rand(3), decimal.Decimal(2)), (rand(3), decimal.Decimal(3)), (rand(3), fractions.Fraction(1, 2)))


def test_scalar_attributes() -> None:
    def f(x, s):
        return x * s.real + s.imag, x * s.numerator if isinstance(s, int) else x

    def g(x, s):
        return x * s.T, s.item() * x, s.dtype.name

    def conjugate(x, s):
        return x * s.conjugate(), x * s.bit_length() if isinstance(s, int) else x

    sequence(f, (rand(3), 2), (rand(3), 3), (rand(3), 2.5), (rand(3), 1 + 2j), (rand(3), 2 + 5j))
    sequence(g, (rand(3), np.float64(2)), (rand(3), np.float64(3)), (rand(3), np.int8(3)))
    sequence(conjugate, (rand(3), 2), (rand(3), 3), (rand(3), 7), (rand(3), 1j), (rand(3), 2j))


def helper(x, k=2, *, shift=0):
    return x * k + shift


class MyList(list):
    """A list that iterates backwards."""

    def __iter__(self):
        return reversed(list(super().__iter__()))

    def __getitem__(self, key):
        return super().__getitem__(key) * 2


class MyDict(dict):
    """A dict with its own look-up."""

    def __getitem__(self, key):
        return super().__getitem__(key) * 2

    def __missing__(self, key):
        return 7.0

    def values(self):
        return [5.0]


class OnlyLonger(list):
    """A list by another name."""


def test_containers_of_other_types() -> None:
    functions = [
        lambda x, c: [x * v for v in c],
        lambda x, c: x * c[0],
        lambda x, c: x * len(c),
        lambda x, c: sum([x * v for v in c]),
        lambda x, c: x + np.array(c).sum(),
        lambda x, c: x[: len(c)],
        lambda x, c: np.sum(c) + x,
        lambda x, c: x if c else -x,
        lambda x, c: list(c) + [x * 2],
        lambda x, c: x * max(c),
    ]
    for function in functions:
        sequence(function, (rand(3), MyList([1.0, 2.0])), (rand(3), MyList([1.0, 3.0, 5.0])), (rand(3), MyList([2.0])))
        sequence(function, (rand(3), OnlyLonger([1.0])), (rand(3), OnlyLonger([1.0, 3.0])), (rand(3), OnlyLonger([4.0])))
        sequence(function, (rand(3), collections.deque([1.0])), (rand(3), collections.deque([3.0, 4.0])))
        sequence(function, (rand(3), (1.0, 2.0)), (rand(3), [1.0, 2.0]), (rand(3), [1.0]), (rand(3), [1, 2.0]))


def test_dicts_of_other_types() -> None:
    functions = [
        lambda x, d: x * d["a"],
        lambda x, d: x * d["b"],
        lambda x, d: [x * d[k] for k in d],
        lambda x, d: [x * v for v in d.values()],
        lambda x, d: {k: x * v for k, v in d.items()},
        lambda x, d: x * d.get("b", 3.0),
        lambda x, d: x * len(d),
        lambda x, d: x * 2 if "b" in d else x,
        lambda x, d: {**d, "x": x * 2},
        lambda x, d: list(d) + [x * 2],
        lambda x, d: helper(x, **d) if "k" in d else x * 3,
    ]
    dicts = [
        {"a": 1.0},
        {"a": 1.0, "b": 2.0},
        {"b": 2.0, "a": 1.0},
        MyDict(a=2.0),
        MyDict(a=2.0, b=5.0),
        collections.OrderedDict(a=1.0, b=3.0),
        collections.OrderedDict(b=3.0, a=1.0),
        collections.defaultdict(lambda: 9.0, a=4.0),
        collections.Counter("aab"),
        {"k": 3.0},
        {1: 2.0, "a": 3.0},
        {(1, 2): 2.0, "a": 3.0},
    ]
    for function in functions:
        try:
            sequence(function, *[(rand(3), d) for d in dicts[:7]], rounds=1)
            sequence(function, *[(rand(3), d) for d in dicts[7:]], rounds=1)
        except AssertionError as error:
            line = inspect.getsource(function).strip()
            raise AssertionError(f"{line}: {error}") from error


def test_keys_of_made_dicts() -> None:
    def f(x, k):
        return {1: x * 2, "b": x, (1, 2): 3, None: 4, k: x + 1, 2.5: x, np.int64(7): 1, Mode.DOUBLE: x, True: 5}

    check(f, rand(3), "key")
    sequence(f, (rand(3), "key"), (rand(3), "other"), (rand(3), 5), (rand(3), 6))
