"""Loops that are rolled, unrolled or left to Python: names, storages and indices from one iteration to the next."""

from __future__ import annotations

import inspect
import warnings

import numpy as np

import autojit as aj
from tests.attacks import rand, sequence
from tests.helpers import check

TRIPS = (6, 0, 1, 2, 5, 40, -3)


def every(programs, *arguments, trips=TRIPS, rounds=1) -> None:
    """Compare programs of `n` and some arrays for many trip counts; all that fail are named."""
    failed = []
    for program in programs:
        calls = [(n, *(argument() for argument in arguments)) for n in trips]
        try:
            with warnings.catch_warnings():
                # NumPy's floating point warnings, which compiled code does not repeat.
                warnings.simplefilter("ignore", RuntimeWarning)
                sequence(program, *calls, rounds=rounds, rtol=1e-9)
        except Exception as error:
            failed.append(f"{program.__name__}: {' '.join(str(error).split())[:400]}")
    assert not failed, "\n".join(failed)


def vector():
    return rand(50)


def square():
    return rand(7, 7)


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


def test_indices() -> None:
    def read_write(n, x):
        for i in range(n):
            x[i] = x[i + 1] * 2
        return x

    def backwards(n, x):
        for i in range(n, 0, -1):
            x[i] = x[i - 1] + 1
        return x

    def steps(n, x):
        for i in range(1, n, 3):
            x[i] += i
        return x

    def negative_index(n, x):
        for i in range(n):
            x[-i] += 1
            x[-i - 1] *= 2
        return x

    def slices(n, x):
        for i in range(1, n):
            x[i : i + 3] += x[i - 1 : i + 2]
        return x

    def growing(n, x):
        for i in range(n):
            x[i] = x[:i].sum() + x[i:].max()
        return x

    def shrinking(n, x):
        for i in range(n):
            x[i:] = x[i:] * 0.5 + i
        return x

    def tail(n, x):
        for i in range(n):
            x[: -i or None] += 1
        return x

    def reversed_slice(n, x):
        for i in range(1, n):
            x[i::-1] = x[: i + 1]
        return x

    def modulo(n, x):
        for i in range(n):
            x[(i * 7) % 50] = i // 2
        return x

    def arithmetic(n, x):
        for i in range(n):
            x = x + i / 2 + i**2 - (-i) % 3 + (i << 1) + (i & 3) + abs(3 - i) + min(i, 2) + max(i, 4)
        return x

    def floats(n, x):
        for i in range(n):
            x = x * (1.0 / (i + 1)) + float(i) + np.float32(i) + np.sqrt(i) + int(i * 1.5)
        return x

    def integer_arrays(n, x):
        k = np.arange(50)
        for i in range(n):
            k = k * i + (k > i)
            x[k % 50] += 1
        return x, k

    def compare(n, x):
        for i in range(n):
            x = np.where(x > i, x, i)
        return x

    def out_of_range(n, x):
        for i in range(n):
            x[i * 10] = i
        return x

    def index_array(n, x):
        order = np.array([3, 1, 2, 0, 4])
        for i in range(n):
            x[order[i % 5]] += i
            x[order] *= 0.5
        return x

    def computed(n, x):
        for i in range(n):
            k = int(x.argmax())
            x[k] = -i
        return x

    def row_of_table(n, x):
        t = np.arange(250.0).reshape(5, 50)
        for i in range(n):
            x += t[i % 5]
            t[i % 5, 0] = i
        return x, t

    def big_step(n, x):
        for i in range(0, n * 10, 7):
            x[i % 50] = i
        return x

    def two_ranges(n, x):
        for i in range(n):
            for j in range(i):
                x[i] += x[j] * 0.5
        return x

    def inner_depends(n, x):
        for i in range(n):
            for j in range(i + 1, 8):
                x[j] = x[i] - x[j]
            y = x[: j + 1] if n > 0 else x
        return x, y.sum() if n > 0 else 0

    def nested_rebinding(n, x):
        total = 0.0
        for i in range(n):
            part = 0.0
            for j in range(3):
                part += x[j] * i
            total += part
        return total

    def break_on_index(n, x):
        for i in range(n):
            x = x + i
            if i == 3:
                break
        return x, i if n > 0 else 0

    def break_on_data(n, x):
        for i in range(n):
            x = x * 0.5
            if np.abs(x).max() < 0.3:
                break
        return x, i if n > 0 else 0

    def continue_on_index(n, x):
        for i in range(n):
            if i % 2:
                continue
            x = x + i
        return x

    def else_clause(n, x):
        for i in range(n):
            x = x + i
        else:
            x = x * 2
        return x

    def return_inside(n, x):
        for i in range(n):
            x = x + i
            if i == 4:
                return x * 100
        return x

    def while_loop(n, x):
        k = 0
        while k < n:
            x = x + k
            k += 1
        return x, k

    def while_data(n, x):
        k = 0
        while x.sum() < n:
            x = x + 0.1
            k += 1
        return x, k

    def length(n, x):
        for i in range(len(x) - n):
            x[i + n] += x[i] if n > 0 else 1
        return x

    def names_of_bounds(n, x):
        start, stop = 1, n - 1
        for i in range(start, stop):
            x[i] = (x[i - 1] + x[i + 1]) / 2
        return x, i if stop > start else None

    programs = [value for name, value in list(locals().items()) if inspect.isfunction(value)]
    every(programs, vector)


def test_two_dimensions() -> None:
    def rows(n, a):
        for i in range(min(abs(n), 7)):
            a[i] -= a[i].mean()
            a[:, i] *= 2
        return a

    def lu(n, a):
        for k in range(min(abs(n), 7)):
            for i in range(k + 1, 7):
                a[i, k] /= a[k, k]
                a[i, k + 1 :] -= a[i, k] * a[k, k + 1 :]
        return a

    def stencil(n, a):
        b = a.copy()
        for t in range(n):
            b[1:-1, 1:-1] = 0.25 * (a[1:-1, 2:] + a[1:-1, :-2] + a[2:, 1:-1] + a[:-2, 1:-1])
            a[:] = b
        return a, b

    def swapped(n, a):
        b = np.zeros_like(a)
        for t in range(n):
            b[1:-1, 1:-1] = a[1:-1, 2:] + a[2:, 1:-1]
            a, b = b, a
        return a, b

    def row_view(n, a):
        r = a[0]
        for i in range(min(abs(n), 7)):
            r = a[i]
            r[0] = i
        return r, a

    def transposed(n, a):
        t = a.T
        for i in range(min(abs(n), 7)):
            t[i] = a[i] + t[0]
        return a, t

    def triangle(n, a):
        for i in range(min(abs(n), 7)):
            for j in range(i + 1):
                a[i, j] = a[j, i] + i - j
        return a

    def gather(n, a):
        out = np.zeros((7, 7))
        for i in range(min(abs(n), 7)):
            out[:, i] = a[i, ::-1]
            out[i, i:] = a[i:, i]
        return out

    def gram(n, a):
        q = np.zeros_like(a)
        for k in range(min(abs(n), 7)):
            q[:, k] = a[:, k] / np.sqrt(np.sum(a[:, k] ** 2))
            for j in range(k + 1, 7):
                a[:, j] -= q[:, k] * np.dot(q[:, k], a[:, j])
        return q, a

    def over_rows(n, a):
        total = 0.0
        for row in a:
            row += 1
            total += row.max() * n
        return total, a

    def over_items(n, a):
        for i, row in enumerate(a):
            for j, value in enumerate(row):
                a[i, j] = value * i - j + n
        return a

    def over_zip(n, a):
        for p, q in zip(a, a[::-1], strict=True):
            p += q
        return a

    def solve(n, a):
        x = np.zeros(7)
        for i in range(min(abs(n), 7)):
            x[i] = (1.0 - a[i, :i] @ x[:i]) / a[i, i]
        return x

    def cumulative(n, a):
        for i in range(1, min(abs(n), 7)):
            a[i] += a[i - 1]
        return a, i if abs(n) > 1 else 0

    def diagonal(n, a):
        for i in range(min(abs(n), 7)):
            a[i, i] += i
            a[i, -i - 1] = 0
        return a, np.trace(a)

    programs = [value for name, value in list(locals().items()) if inspect.isfunction(value)]
    every(programs, lambda: rand(7, 7) + 4 * np.eye(7), trips=(6, 0, 1, 2, 9))


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
