"""Loops that are rolled, unrolled or left to Python: names and storages from one iteration to the next, native statements."""

from __future__ import annotations

import inspect
import warnings

import numpy as np

import autojit as aj
from tests.attacks import rand
from tests.helpers import check
from tests.trips import every, vector


def test_names_and_storages() -> None:
    def accumulate(n, x):
        total = np.zeros_like(x)
        for i in range(n):
            total = total + x * i
        return total

    def accumulate_in_place(n, x):
        total = np.zeros_like(x)
        for i in range(n):
            total += x * i
        return total, x

    def python_float(n, x):
        t = 0.0
        for i in range(n):
            t = t + 0.5
            x = x + t
        return t, x

    def python_int(n, x):
        t = 0
        for i in range(n):
            t += i
            x = x + t
        return t, x

    def scalar(n, x):
        t = 0
        for i in range(n):
            t += x[i % 3]
        return t

    def becomes_array(n, x):
        t = 0.0
        for i in range(n):
            t = t + x
        return t

    def dtype_changes(n, x):
        t = np.zeros(50, np.float32)
        for i in range(n):
            t = t * x
        return t

    def swap(n, u):
        v = u * 2
        for _ in range(n):
            u, v = v, u
            u[0] += 1
        return u, v

    def rotate(n, a):
        b, c = a + 1, a + 2
        for i in range(n):
            a, b, c = b, c, a * 0.5
        return a, b, c

    def alias_before(n, x):
        y = x
        for i in range(n):
            y[0] = i
            x = x + 1
        return x, y

    def alias_after(n, x):
        y = x
        for i in range(n):
            x = x + 1
            y[0] = i
        return x, y

    def alias_inside(n, x):
        y = x * 0
        for i in range(n):
            y = x
            x += 1
        return x, y

    def fresh_alias(n, x):
        y = x
        for i in range(n):
            x = x * 0.5
            y = x
            y[1] = i
        return x, y, x is y

    def view_kept(n, x):
        v = x[:5]
        for i in range(n):
            x[i % 7] += 1
            x[0] = v[1] + v[0]
        return v, x

    def view_rebound(n, x):
        v = x[:5]
        for i in range(n):
            v = x[i : i + 5]
            v += 1
        return v, x

    def view_of_fresh(n, x):
        v = x
        for i in range(n):
            y = x * i
            v = y[::2]
            v[0] = 9
        return v * 1, x

    def previous(n, x):
        prev = x
        for i in range(n):
            cur = prev * 0.9 + i
            prev = cur
        return prev

    def previous_of_argument(n, x):
        prev = x
        for i in range(n):
            prev[0] += 1
            prev = prev * 1
        return prev, x

    def last_value(n, x):
        y = None
        for i in range(n):
            y = x * i
            z = y.sum()
        return (y, z) if n > 0 else y

    def conditional_on_index(n, x):
        y = x
        for i in range(n):
            if i == 0:
                y = x * 2
            elif i % 2:
                y = y + i
            else:
                y = y - 1
        return y

    def counter(n, x):
        k = 0
        for i in range(n):
            x = x * 0.5 + k
            k += 2
        return x, k

    def unused(n, x):
        for i in range(n):
            y = x * 2  # noqa: F841 -- a name that nobody reads is the point
        return x

    def target_after(n, x):
        i = -1
        for i in range(n):
            x[i] = i
        return x, i

    def target_shadowed(n, x):
        for i in range(n):
            i = i * 2
            x = x + i
        return x, i if n > 0 else None

    def bounds_change(n, x):
        for i in range(n):
            n = 3
            x = x + n
        return x, n

    def lists(n, x):
        out = []
        for i in range(n):
            out.append(x * i)
        return out

    def list_of_arrays(n, x):
        pair = [x, x * 2]
        for i in range(n):
            pair[0] = pair[1] + i
            pair[1] = pair[0] * 0.5
        return pair

    def tuple_carried(n, x):
        pair = (x, x * 2)
        for i in range(n):
            pair = (pair[1], pair[0] * 0.5)
        return pair

    def dict_carried(n, x):
        d = {"a": x, "b": x * 2}
        for i in range(n):
            d["a"] = d["b"] + 1
            d["b"] = d["b"] * 0.5
        return d

    def closure(n, x):
        def g(v):
            return v + scale

        scale = 1.0
        for i in range(n):
            scale = scale * 0.5
            x = g(x)
        return x, scale

    def strings(n, x):
        s = "a"
        for i in range(n):
            s = s + "b"
            x = x + 1
        return s, x

    def none_carried(n, x):
        best = None
        for i in range(n):
            if best is None:
                best = x * 2
            best = best + 1
        return best

    programs = [value for name, value in list(locals().items()) if inspect.isfunction(value)]
    every(programs, vector)


def test_bodies_with_native_statements() -> None:
    def noted(n, x):
        log = []
        y = x
        for i in range(n):
            y = y * 0.5 + i
            log.append(float(y[0]))
            z = y + 1
            if i == 3:
                break
        return y, log, z if n > 0 else None

    def skipped(n, x):
        log = []
        total = x * 0
        for i in range(n):
            log.append(i)
            y = np.sin(x) * i + total
            if i % 2:
                continue
            total = total + y
        return total, log, y if n > 0 else None

    def stopped_by_data(n, x):
        log = []
        y = x
        for i in range(n):
            log.append(i)
            y = np.cos(y) * 2 + x
            d = np.abs(y - x).max()
            if d > 2.5:
                break
            x = y * 0.5
        else:
            log.append("all")
        return x, y, log

    def written(n, x):
        log = []
        for i in range(n):
            x[1:] += np.tanh(x[:-1]) * 0.1
            log.append(x.sum() > 0)
            x *= 0.9
        return x, log

    def swapping(n, x):
        y = np.zeros_like(x)
        log = []
        for i in range(n):
            y[1:-1] = (x[2:] + x[:-2]) * 0.5
            x, y = y, x
            log.append(i)
        return x, y, log

    def tried(n, x):
        log = []
        for i in range(n):
            try:
                y = np.exp(-(x**2)) + i
                log.append([1, 2, 3][i])
                x = y * 0.5
            except IndexError:
                x = x + y * 0.1
                continue
            finally:
                log.append(float(y[0]) > 0)
        return x, log

    def returned(n, x):
        log = []
        for i in range(n):
            y = np.sqrt(np.abs(x)) * (i + 1) + x
            log.append(i)
            z = y * 2 + x
            if i == 2:
                return z, y, log
            x = z * 0.1
        return x, log

    def nested(n, x):
        log = []
        for i in range(n):
            for j in range(3):
                y = np.sin(x) + i * j
                log.append((i, j))
                if j == 1:
                    break
                x = y * 0.5 + x
            else:
                x = x * 0
            x = x + y * 0.01
        return x, log

    programs = [value for name, value in list(locals().items()) if inspect.isfunction(value)]
    every(programs, lambda: rand(5000), trips=(6, 0, 1, 2, 5), rounds=2)


def test_a_run_that_is_taken_back_leaves_no_numbers_behind():
    """What a dry run of the first loop computed before the call is not known when the second one is met."""

    def modules(b, A, n, k):
        s = 0.0
        for i in range(n):
            for _ in range(n - 1, i, 1):
                s = np
        for i in range(k):
            b += s
            A[i + 1] = 0.5

    def objects(b, n, k):
        w = k + 2
        while w:
            w //= 2
            for j in range(w, 0, -1):
                u = np.ones(len(b), int)
                u[j - 1] = j
            if w:
                break
            for _ in range(n - 1, w, 1):
                if any:
                    b = (b,)

    with warnings.catch_warnings():
        warnings.filterwarnings("error", category=aj.AutojitWarning)
        check(modules, np.ones(7), np.ones((7, 7)), 3, 3)
        check(objects, np.ones(7), 3, 0)
