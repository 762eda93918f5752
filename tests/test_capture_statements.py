"""Whole functions: errors, loops, branches, masks, generators and bad input, compared with NumPy."""

from __future__ import annotations

import numpy as np

import autojit as aj
from tests.helpers import check, check_call, outcome

RNG = np.random.default_rng(7)
RNG.bit_generator.advance(2825)  # past the numbers of `test_capture_programs.py`


def rand(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape)


def test_exceptions_are_numpys() -> None:
    def shapes(a, b):
        c = a * 2
        return c + b

    def index(a, n):
        a[0] = 5
        return a[n] + np.sum(a)

    def key(d, x):
        return d["missing"] + x

    check(shapes, rand(3), rand(4))
    check(index, rand(3), 7)
    check(key, {"there": 1}, rand(3))
    assert isinstance(outcome(shapes, (rand(3), rand(4)), {}).error, ValueError)


def test_data_errors_leave_partial_effects() -> None:
    def f(a, m):
        a += 1
        x = np.linalg.inv(m)
        a[:2] = x[0]
        return x

    check(f, rand(4), np.zeros((2, 2)))
    check(f, rand(4), np.eye(2) * 3)

    def gather(a, i):
        a[0] = 9
        return a[i] * 2

    check(gather, rand(5), np.array([1, 2, 4]))
    check(gather, rand(5), np.array([1, 2, 5]))


def test_loops() -> None:
    def short(x, n):
        for k in range(n):
            x = x * 2 + k
        return x

    def long(x, n):
        total = 0.0
        for k in range(n):
            x = np.sin(x) + k
            total += x[k % 3]
            if k == n - 2:
                break
        else:
            total = -1.0
        return x, total

    def while_loop(x):
        k = 0
        while k < 5:
            x = x / 2 + k
            k += 1
        return x

    def nested(a):
        out = np.zeros_like(a)
        for i in range(a.shape[0]):
            for j in range(a.shape[1]):
                out[i, j] = a[i, :j].sum() + a[: i + 1, j].max()
        return out

    check(short, rand(4), 4, whole=True)
    check(long, rand(4), 300)
    check(while_loop, rand(4), whole=True)
    check(nested, rand(12, 12))
    check(nested, rand(3, 4))


def test_data_branches_stay_python() -> None:
    def f(x):
        y = np.sqrt(np.abs(x)) + 1
        if y.sum() > 3:
            y = y * 2
        else:
            y = y * 3
        return y + 1

    check(f, rand(4))
    check(f, np.zeros(2))


def test_masks() -> None:
    def write(x):
        x[x > 0] = 0.0
        return x.sum()

    def read(x):
        y = x[x > 0]
        return y * 2, y.sum()

    check(write, rand(10), whole=True)
    check(read, rand(10))


def test_try_and_with() -> None:
    def f(x, n):
        try:
            y = np.sum(x * 2)
            y = y + x[n]
        except IndexError:
            y = np.sum(x) * 0.5
        finally:
            x += 1
        with np.errstate(all="ignore"):
            z = np.log(x - 100) + y
        return z

    check(f, rand(4), 2)
    check(f, rand(4), 9)


def test_generators_and_comprehensions() -> None:
    def generator(x):
        for k in range(3):
            y = np.sin(x) * k + 1
            yield y.sum()

    def comprehension(xs):
        return [np.sum(x * 2) for x in xs if x.ndim == 1], sum(x.sum() for x in xs)

    check(lambda x: list(aj.autocluster(policy="eager")(generator)(x)), rand(4))
    check(comprehension, [rand(3), rand(4)], whole=True)


def test_bad_input() -> None:
    def f(x, y):
        z = x * 2 + y
        return z.sum()

    good = np.array([0.5, -1.5, 2.0, -0.25])  # with all elements masked the sum is no number
    check(f, np.array([1, 2, None], dtype=object)[:2], np.array([1, 2]))
    check(f, np.ma.masked_array(good, good > 0), good)
    check(f, rand(0), rand(0))
    check(f, np.array(2.0), np.array(3.0))
    check(f, good.astype(">f8"), good)
    check(f, rand(8)[::2], good[::-1])
    check(f, np.asfortranarray(rand(3, 4)), rand(3, 4))
    check(f, np.float32(3), 2)
    check(f, True, np.array([1, 2], np.int8))
    check(f, "text", good)
    check(f, None, good)
    check(f, [1.0, 2.0, 3.0, 4.0], good)


def test_overlapping_and_read_only_arguments() -> None:
    def f(a, b):
        a[:] = b + 1
        a += b
        return b.sum()

    base = rand(10)
    check(f, base[:5], base[5:])
    check(f, base[:5], base[2:7])
    check(f, base, base)
    frozen = rand(5)
    frozen.flags.writeable = False
    check(f, rand(5), frozen)
    check(f, frozen, rand(5))
    decorated = aj.autocluster(policy="eager")(f)
    for args in ((frozen, rand(5)), (rand(5), rand(5)), (base[:5], base[2:7]), (rand(5), rand(5))):
        check_call(decorated, f, *args)


def test_masked_reads_written_back() -> None:
    def inverse(x):
        x[x > 0] = 1.0 / x[x > 0]
        return x

    def chain(z, c, limit):
        inside = np.abs(z) < limit
        z[inside] = z[inside] ** 2 + c[inside]
        z[~inside] *= 0.5
        return np.sum(inside)

    def names(x, y):
        m = x > y
        a = x[m]
        b = np.sqrt(np.abs(a)) + 2
        y[m] = b
        x[m] = 0
        return y

    def other_mask(x, y):
        y[y > 0] = x[x > 0]

    def integers(a):
        a[a > 2] += 1.0

    x = rand(6, 5)
    check(inverse, x, whole=True)
    check(chain, x + 1j, rand(6, 5) * 1j, 1.0, whole=True)
    check(names, x, rand(6, 5), whole=True)
    check(other_mask, x, np.abs(x) * np.sign(x))
    check(integers, np.arange(6))
    check(integers, np.arange(6.0), whole=True)
    check(inverse, rand(0, 3), whole=True)


def test_einsum_and_rotations() -> None:
    def f(a, b):
        return np.einsum("ij,jk->ik", a, b), np.einsum("ii", a), np.rot90(a), np.rot90(a, 2), np.rot90(a, -1)

    def g(a):
        np.rot90(a)[0] = 7.0
        return a

    check(f, rand(4, 4), rand(4, 4), whole=True)
    check(g, rand(3, 4), whole=True)


def test_a_name_assigned_twice_in_one_statement():
    """Also on Python before 3.11.4, which does it in the wrong order."""

    def twice(u, v):
        u, u = v * 2, u + v
        for k in range(3):
            v, w, v = v + k, u, u * k
        return u, v, w

    check(twice, rand(5), rand(5))
