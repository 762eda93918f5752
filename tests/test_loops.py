"""Rolled loops: a `for` over a range as one node of the graph."""

from __future__ import annotations

import numpy as np
import pytest

import autojit as aj
from tests.helpers import check

RNG = np.random.default_rng(11)


def rand(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape)


def test_in_place_stencil() -> None:
    def jacobi(steps, a, b):
        for _ in range(1, steps):
            b[1:-1] = 0.33 * (a[:-2] + a[1:-1] + a[2:])
            a[1:-1] = 0.33 * (b[:-2] + b[1:-1] + b[2:])

    check(jacobi, 40, rand(30), rand(30), whole=True)


def test_one_program_serves_every_trip_count() -> None:
    def power(x, n):
        for _ in range(n):
            x = np.tanh(x) * 1.01
        return x

    decorated = aj.autocluster(policy="eager")(power)
    x = rand(20)
    for n in (50, 60, 7, 1000):
        np.testing.assert_allclose(decorated(x, n), power(x, n), rtol=1e-12)
    assert decorated.cache_info().compiles == 1
    np.testing.assert_array_equal(decorated(x, 0), x)


def test_index_in_the_body() -> None:
    def columns(u, p):
        n = u.shape[0]
        for j in range(1, n - 1):
            p[1 : n - 1, j] = -0.5 / (0.3 * p[1 : n - 1, j - 1] + 2.0)
            u[j, 1:-1] = u[j - 1, 1:-1] + p[j, 1 : n - 1] * j
        return p.sum()

    def backwards(v):
        for j in range(v.shape[0] - 2, -1, -1):
            v[j] = v[j] * 0.5 + v[j + 1]

    def windows(x, k):
        out = np.empty(x.shape[0] - k + 1)
        for i in range(x.shape[0] - k + 1):
            out[i] = np.sum(x[i : i + k] * 2)
        return out

    check(columns, rand(12, 12), rand(12, 12), whole=True)
    check(backwards, rand(10, 3), whole=True)
    check(windows, rand(40), 5, whole=True)


def test_nested() -> None:
    def gram(a):
        q = np.zeros_like(a)
        r = np.zeros((a.shape[1], a.shape[1]))
        for k in range(a.shape[1]):
            r[k, k] = np.sqrt(np.dot(a[:, k], a[:, k]))
            q[:, k] = a[:, k] / r[k, k]
            for j in range(k + 1, a.shape[1]):
                r[k, j] = np.dot(q[:, k], a[:, j])
                a[:, j] -= q[:, k] * r[k, j]
        return q, r

    check(gram, rand(9, 7), whole=True)


def test_scalars_are_carried() -> None:
    def trace(a):
        total = 0.0
        for i in range(a.shape[0]):
            total += np.tanh(a[i, i])
        return a + total

    def recurrence(x, n, dt):
        t = 0.0
        s = x.sum()
        last = x
        for i in range(n):
            s = s * 0.9 + t
            t += dt
            last = x * s
        return s, t, last

    check(trace, rand(30, 30), whole=True)
    check(recurrence, rand(4), 25, 0.1, whole=True)


def test_temporaries_and_copies() -> None:
    def wave(u, n):
        un = np.empty_like(u)
        for _ in range(n):
            un = u.copy()
            u[1:-1] = un[1:-1] + 0.1 * (un[2:] - 2 * un[1:-1] + un[:-2])
        return un

    def gather(pos, n):
        energy = np.zeros(n + 1)
        energy[0] = np.sum(pos**2)
        for i in range(n):
            pos += 0.5
            r = pos[:, None] - pos
            r[r > 0] = 1.0 / r[r > 0]
            energy[i + 1] = r.sum()
        return energy

    check(wave, rand(20), 30, whole=True)
    check(gather, rand(6), 9, whole=True)


def test_what_cannot_be_rolled_still_runs() -> None:
    def swap(u, v, n):
        for _ in range(n):
            u, v = v, u
            u += 1
        return u

    def ragged(a, n):
        for i in range(n):
            a[i] = a[:i].sum()

    def early(x, n):
        for i in range(n):
            x = x * 1.5
            if i == 20:
                break
        return x

    def lists(x, n):
        out = []
        for _ in range(n):
            x = x * 0.5
            out.append(x.sum())
        return out

    def alias(x, n):
        y = x
        for _ in range(n):
            y += 1
            y = y * 2
        return x, y

    def changes_dtype(n):
        x = np.arange(4)
        for _ in range(n):
            x = x / 2
        return x

    check(swap, rand(4), rand(4), 33)
    check(ragged, rand(40), 40)
    check(early, rand(4), 40)
    check(lists, rand(4), 40)
    check(alias, rand(4), 40)
    check(changes_dtype, 40, whole=True)


@pytest.mark.parametrize("n", [0, 1, 2, 40])
def test_names_after_the_loop(n: int) -> None:
    def f(x, n):
        y = x
        for i in range(n):
            y = x * i
        return y, n

    def g(x, n):
        i = -1
        for i in range(3, n):
            x = x + i
        return x, i

    check(f, rand(3), n)
    check(g, rand(3), n)


def test_indices_out_of_range_are_numpys() -> None:
    def f(a, n):
        for i in range(n):
            a[i] += 1.0

    check(f, rand(50), 50, whole=True)
    check(f, rand(50), 60)
    check(f, rand(0), 60)


def test_other_dtypes() -> None:
    def f(x, n):
        for i in range(n):
            x[i % 3] += i
            x *= 2
        return x

    def g(x, n):
        for i in range(n):
            x += i
            x[1] = x[0] * i
        return x

    check(f, np.zeros(4, np.int32), 20)
    for dtype in (np.int64, np.float32, np.float64, np.complex128, np.uint8):
        check(g, np.ones(4, dtype), 20)


def test_aliases_of_carried_names() -> None:
    def first_array_is_written(x, n):
        y = x
        total = 0.0
        for _ in range(n):
            x += 1
            total += y.sum()
            y = y * 2
        return total, y

    def closure_sees_the_moment(x, n):
        t = x * 0

        def doubled():
            return t * 2

        for _ in range(n):
            a = doubled()
            t = a + 1
        return t

    def iterator(x, n):
        it = iter([1.0, 2.0, 3.0] * 20)
        for _ in range(n):
            x = x * 0.5 + next(it)
        return x

    def views(a, n):
        row = a[1]
        for i in range(n):
            row += a[0]
            a[2] = row * i
        return a

    check(first_array_is_written, rand(4), 40)
    check(closure_sees_the_moment, rand(4), 40)
    check(iterator, rand(4), 40)
    check(views, rand(3, 4), 40, whole=True)


class Field:
    """Arrays as attributes, first met inside the loop."""

    def __init__(self) -> None:
        self.u = rand(20)
        self.rate = 0.1

    def run(self, n):
        for _ in range(n):
            self.u[1:-1] += self.rate * (self.u[2:] - 2 * self.u[1:-1] + self.u[:-2])
        return self.u.sum()


def test_attributes_in_the_body() -> None:
    check(Field.run, Field(), 50, whole=True)


def test_negative_and_stepped_ranges() -> None:
    def f(a, n):
        for i in range(n - 1, 0, -2):
            a[i] = a[i - 1] + a[i - n]
        for i in range(-5, 40, 3):
            a[i % 4] += 1.0
        return a

    def g(a, n):
        for i in range(n - 1, 0, -2):
            a[i] = a[i - 1] + a[i - n] * i
        return a, i

    check(f, rand(50), 50)
    check(g, rand(50), 50)


def test_memory_order_of_what_a_loop_carries():
    def turns(b, n):
        for k in range(n):
            b = b.T
            b = b + k
        return b

    def keeps(b, n):
        for k in range(n):
            b = b * 2 + k
        return b

    for function, array in ((turns, np.ones((5, 5))), (keeps, np.ones((5, 6)).T), (keeps, np.ones((5, 6)))):
        for n in (40, 41):
            decorated = aj.autocluster(function, policy="eager")
            for _ in range(3):
                assert decorated(array, n).strides == function(array, n).strides


def written_then_bound_anew(x, steps):
    y = np.zeros(x.size)
    for k in range(steps):
        y += x * k
        y[0] = 1
        y = np.where(np.abs(y) > 10, 0.5 * y, y)
    return y


def test_an_array_of_the_functions_own_may_be_written_and_bound_anew():
    fast = check(written_then_bound_anew, np.arange(5.0), 9, whole=True)
    assert fast.cache_info().hits
    check(written_then_bound_anew, np.arange(5.0), 0)
    check(written_then_bound_anew, np.arange(5.0), 1)

    def seen_elsewhere(x, steps):
        y = np.zeros(x.size)
        z = y
        for k in range(steps):
            y += x * k
            y = y * 0.5
        return y, z

    check(seen_elsewhere, np.arange(5.0), 9)

    def a_view_of_it(x, steps):
        y = np.zeros(x.size)
        z = y[1:]
        for k in range(steps):
            y += x * k
            y = y * 0.5
        return y, z

    check(a_view_of_it, np.arange(5.0), 9)

    def the_callers(y, x, steps):
        for k in range(steps):
            y += x * k
            y = y * 0.5
        return y

    check(the_callers, np.ones(5), np.arange(5.0), 9)

    def kept_in_a_list(x, steps):
        y = np.zeros(x.size)
        kept = [y]
        for k in range(steps):
            y += x * k
            y = y * 0.5
        return y, kept

    check(kept_in_a_list, np.arange(5.0), 9)

    def handed_on(x, steps):
        y, z = np.zeros(x.size), np.zeros(x.size)
        for k in range(steps):
            y += x * k
            z += y
            y, z = z, y * 0.5
        return y, z

    check(handed_on, np.arange(5.0), 9)
    check(handed_on, np.arange(5.0), 10)

    def seen_later(x, steps):
        y = np.zeros(x.size)
        out = np.zeros((steps, x.size))
        for k in range(steps):
            y -= x
            out[k] = y
            last = y
            y = y * 0.5
        return y, out, last

    check(seen_later, np.arange(5.0), 9)
