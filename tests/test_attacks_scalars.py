"""Arithmetic of Python and NumPy scalars around array work, and regions that hand values to each other."""

from __future__ import annotations

import inspect
import math
import operator
import warnings

import numpy as np

import autojit as aj
from tests.attacks import rand, sequence
from tests.helpers import check

NOTES: list = []


def note(value):
    """Something only Python can do."""
    NOTES.append(value)


def each(functions, *calls) -> None:
    """Compare functions of an array and scalars for one call after the other; all that fail are named."""
    failed = []
    for function in functions:
        try:
            with warnings.catch_warnings():
                # NumPy's floating point warnings, which compiled code does not repeat.
                warnings.simplefilter("ignore", RuntimeWarning)
                sequence(function, *calls, rounds=1)
        except Exception as error:
            failed.append(f"{inspect.getsource(function).strip()}: {' '.join(str(error).split())[:400]}")
    assert not failed, "\n".join(failed)


def test_python_arithmetic() -> None:
    functions = [
        lambda x, a, b: x * (a + b),
        lambda x, a, b: x * (a // b),
        lambda x, a, b: x * (a % b),
        lambda x, a, b: x * (a / b),
        lambda x, a, b: x * (a**b).real,
        lambda x, a, b: x[: abs(a) % 3 + 1] * (a - b),
        lambda x, a, b: x + math.sqrt(abs(a)) + math.floor(b),
        lambda x, a, b: x + round(a, 1) + int(b) + float(a),
        lambda x, a, b: x + max(a, b) - min(a, b, 1),
        lambda x, a, b: x * (a > b) + (a == b),
        lambda x, a, b: x if a and b else -x,
        lambda x, a, b: x * (a or b),
        lambda x, a, b: x + divmod(a, b)[1],
        lambda x, a, b: x + abs(-a) + -b + +a,
        lambda x, a, b: np.array([a, b, a + b]) * x,
        lambda x, a, b: (a + b, a * 2, a < b, x * 1),
        lambda x, a, b: x * operator.add(a, b),
        lambda x, a, b: x * sum([a, b]) + sum((a, b), 1.5),
        lambda x, a, b: [x * a, a, [b, (a, x)]],
        lambda x, a, b: x * complex(a, 1).real,
        lambda x, a, b: x + bool(a) + int(a > 0),
        lambda x, a, b: x * pow(a, 2) + pow(2, 3, 5),
        lambda x, a, b: x * (a if a > b else b),
        lambda x, a, b: x * (1 < a <= 3),
        lambda x, a, b: str(a) + repr(b) + f"{a:.2f}|{b!r}|{x.shape}",
        lambda x, a, b: x * (2**a if abs(a) < 100 else 1),
        lambda x, a, b: x * np.float32(a) + np.int16(b),
        lambda x, a, b: np.float64(a) / b * x,
        lambda x, a, b: x + np.sqrt(a) + np.abs(b) + np.minimum(a, b),
        lambda x, a, b: np.arange(int(a)) if 0 < a < 9 else x,
        lambda x, a, b: x + math.copysign(1, a) + math.atan2(a, b) + math.fmod(a, 3),
        lambda x, a, b: isinstance(a, int) * x + isinstance(b, float),
        lambda x, a, b: type(a)(3) * x + type(a + b)(1),
        lambda x, a, b: x + hash(a) % 7,
        lambda x, a, b: x + (a.__class__ is int) + (x.__class__ is np.ndarray),
        lambda x, a, b: {a: x, b: x * 2},
        lambda x, a, b: x + len({a, b, 1}),
        lambda x, a, b: x.sum() * a + x[0] * b,
        lambda x, a, b: float(x.sum()) * a,
        lambda x, a, b: int(x.sum() * 10) + a,
        lambda x, a, b: x.max() > a,
        lambda x, a, b: a if x.max() > a else b,
        lambda x, a, b: np.full((2,), a) + np.full_like(x[:2], b),
        lambda x, a, b: np.where(x > a, x, b) * np.clip(x, min(a, b), max(a, b)),
        lambda x, a, b: x + ((a, b) == (1, 2)) + ([a] < [b]),
        lambda x, a, b: x * np.power(a, 2) + np.power(2.0, b),
        lambda x, a, b: math.isclose(a, b) or x * 2,
        lambda x, a, b: x + a.bit_length() if isinstance(a, int) else x - a.is_integer(),
        lambda x, a, b: x + (a << 2 if isinstance(a, int) else a) + (~int(b) if isinstance(b, int) else b),
        lambda x, a, b: x + np.hypot(a, b) + np.maximum(x, a) + np.add(a, b, dtype=float),
        lambda x, a, b: math.prod([a, b]) * x + math.fsum([a, b]),
    ]
    numbers = [(2, 3), (2.5, 3), (3, 2), (0, 2), (1, 0), (-2, 3), (-1, 0.5), (True, 2), (2, True), (2, 3)]
    each(functions, *[(rand(3), a, b) for a, b in numbers])
    large = [(2**40, 2**10), (2**62, 2), (2**63, 1), (2**70, 3), (1e308, 10.0), (math.inf, 1.0), (math.nan, 1), (-0.0, 0.0)]
    each(functions, *[(rand(3), a, b) for a, b in large])


def test_numpy_arithmetic() -> None:
    functions = [
        lambda x, a, b: x * (a + b),
        lambda x, a, b: (a + b, a * b, a - b, a / b, a // b, a % b),
        lambda x, a, b: (a**2, -a, abs(a), a > b, a == b, x * a),
        lambda x, a, b: np.add(a, b) * x,
        lambda x, a, b: a * 2.5 + b * 3,
        lambda x, a, b: x[: int(abs(a)) % 3 + 1],
        lambda x, a, b: x[int(a) % 3] * b,
        lambda x, a, b: (a.dtype, b.dtype, (a + b).dtype, a.item(), x + a.astype(np.float32)),
        lambda x, a, b: x + (a if a > b else b),
        lambda x, a, b: np.array([a, b]) + x[:2],
        lambda x, a, b: np.full(3, a) * b + x,
        lambda x, a, b: float(a) * x + int(b),
        lambda x, a, b: max(a, b) * x,
        lambda x, a, b: x + sum([a, b]),
        lambda x, a, b: [a, b, x * 1],
        lambda x, a, b: a + 200,
        lambda x, a, b: np.zeros(2, a.dtype) + b,
        lambda x, a, b: a.sum() + b.max() + x,
        lambda x, a, b: x + a[()] + b.real,
        lambda x, a, b: np.where(a > b, x, 0),
        lambda x, a, b: (a and b, a or b, not a),
        lambda x, a, b: round(a, 1) * x if a.dtype.kind == "f" else x,
        lambda x, a, b: a.reshape(1) + x,
        lambda x, a, b: np.isnan(a) | (x > b),
        lambda x, a, b: f"{a} {b!r} {x.shape}",
    ]
    kinds = [np.float64, np.float32, np.int64, np.int8, np.uint8, np.float16]
    pairs = [(p(3), q(2)) for p in kinds for q in kinds[:: (1 if p is np.float64 else 3)]]
    each(functions, *[(rand(3), a, b) for a, b in pairs])
    more = [(np.int8(100), np.int8(100)), (np.uint8(3), np.uint8(5)), (np.bool_(True), np.bool_(False)), (np.int64(2**62), np.int64(4))]
    each(functions, *[(rand(3), a, b) for a, b in more])


def test_values_between_regions() -> None:
    def views(x, log):
        b = x * 2
        c = b[1:]
        d = c[::-1]
        log.append(b.shape)
        b += 1
        log.append(float(d[0]))
        d[0] = 100
        log.append(float(b.sum()))
        return b, c, d

    def kinds(x, log):
        a, b, c = x.sum(), x[0], float(x[1])
        d, e, f = x.shape, x[:0], np.float32(c)
        g = {"a": a, "b": [b, x], "c": (c, None)}
        log.append(str(type(a)) + str(type(b)) + str(type(c)))
        h = a + b + c + d[0] + e.size + f
        log.append(sorted(g))
        return h, g["b"][1] * 2, g, type(c) is float

    def data_branches(x, log):
        y = np.sin(x) + 1
        if y.sum() > 3:
            z = y * 2
            if z[0] > 1:
                w = z + y
                log.append("a")
            else:
                w = z - y
        elif y.max() > 0.5:
            z = w = y * 3
            log.append("b")
        else:
            return y, None
        w[0] = -1
        while w.max() > 1:
            w = w * 0.5
            log.append("c")
        return z, w, z is w

    def replaced(x, log):
        y = x
        y = y * 2
        log.append(1)
        y = y + x
        x = y
        log.append(2)
        y -= 1
        return x, y

    def lists(x, log):
        out = [x * k for k in range(3)]
        log.append(len(out))
        out[0] += 1
        out.append(out[0] * 2)
        log.append(len(out))
        total = sum(out)
        out = out[1:]
        return out, total

    def deleted(x, log):
        y, z = x * 2, x + 1
        log.append(1)
        w = y + z
        del y
        log.append(2)
        y = w * z
        del w, z
        return y

    def shadowing(x, log):
        sum = x * 2
        log.append(1)
        max = sum + 1
        return sum * max

    def early(x, log):
        y = x * 2
        if len(log) > 100:
            return y
        log.append(1)
        if x.ndim == 2:
            return y + 1
        z = y * x
        log.append(2)
        return z if z.sum() > 0 else y

    def caller_array(x, log):
        x += 1
        log.append(x.copy())
        y = x[::2]
        y *= 2
        log.append(x)
        x[0] = 0
        return y, log[-1] is x

    def identities(x, log):
        y = x * 1
        z = y
        w = [y, z]
        log.append(y is z)
        v = w[0]
        v += 1
        log.append(v is y)
        return w[0] is w[1], y, z

    def late_closure(x, log):
        scale = 2.0

        def g():
            return scale * x

        y = g()
        log.append(1)
        scale = 3.0
        z = g() + y
        log.append(2)
        x = x + 1
        return g() + z

    def strings(x, log):
        name = "a" + str(x.ndim)
        log.append(name)
        y = {"a1": x * 2, "a2": x * 3}[name]
        log.append(name.upper())
        return y, name * 2

    def nothing_left(x, log):
        y = x * 2
        log.append(y.shape)

    programs = [value for name, value in list(locals().items()) if inspect.isfunction(value)]
    failed = []
    for program in programs:
        for size in (4, 9000):
            try:
                sequence(program, (rand(size), []), (rand(size) * 0.01, []), (rand(size) - 5, []), (rand(size + 1), []))
            except Exception as error:
                failed.append(f"{program.__name__} {size}: {' '.join(str(error).split())[:300]}")
    assert not failed, "\n".join(failed)


def test_values_of_many_results() -> None:
    def f(x):
        return (
            x, x[0], x[:1], x.sum(), x.T, x.shape, x.dtype, x.size, len(x), x.tolist(), float(x[0]), bool(x.any()), None, ...,
            "text", b"bytes", 3, 2.5, 1j, True, (), [], {}, (1, (2, x * 1)), [x * 2, [x]], {"k": x, 1: (x,)}, range(3), slice(1, 2),
            np.float32, np.sin, np.pi, len, int, math.pi, x.dtype.type, np.float32(1.5), np.newaxis, {1, 2}, frozenset([1]),
            np.array([1, 2]), np.array(5), np.dtype("f4"), type(x), np.inf, -0.0, 10**30, NotImplemented,
        )  # fmt: skip

    check(f, rand(3))
    one = aj.autocluster(policy="eager")(f)
    first, second = one(rand(3)), one(rand(3))
    for a, b in zip(first, second, strict=True):
        if isinstance(a, list | dict | set | np.ndarray):
            assert a is not b


def test_cells_that_are_bound_in_a_region() -> None:
    def rebound(x):
        scale = 2.0

        def g(v):
            return v * scale

        note(1)
        y = g(x)
        scale = 5.0
        return y, g(x), (lambda: scale)()

    def array(x):
        w = x * 1

        def g():
            return w.sum()

        note(1)
        before = g()
        w = w + 1
        middle = g()
        w += 1
        return before, middle, g()

    def passed(x):
        k = 1

        def g(v):
            return v + k

        def h(function, v):
            return function(v) * 2

        note(1)
        k = 3
        y = h(g, x)
        for k in range(3):
            y = y + g(x)
        return y

    def stored(x):
        k = 1.0
        functions = [lambda v: v * k, lambda v: v + k]
        note(1)
        k = 2.5
        y = functions[0](x)
        k = k + 1
        return functions[1](y)

    def parameter(x):
        def g():
            return x * 2

        note(1)
        x = x + 1
        y = g()
        x += 1
        return y, g()

    for program in (rebound, array, passed, stored, parameter):
        sequence(program, (rand(4),), (rand(9000),))


def test_astype_of_arrays_made_from_scalars():
    """Arrays of no axes stay arrays, whatever their values were before."""

    def f(x):
        s = np.vdot(x, x)
        array, copied = np.asarray(s), np.array(s, copy=None)
        back = array.astype("float32")
        back[...] = 7
        return array.astype(np.float16), copied.astype(int), back, array.astype(float), s.astype("float32"), array + 1

    check(f, np.array([1.0, 2.0]))
    got = aj.autocluster(policy="eager")(f)(np.array([1.0, 2.0]))
    assert [type(value) for value in got] == [type(value) for value in f(np.array([1.0, 2.0]))]
