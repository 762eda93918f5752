"""Loops that are rolled, unrolled or left to Python: indices, bounds and slices that move, in one dimension and two."""

from __future__ import annotations

import inspect

import numpy as np

from tests.attacks import rand
from tests.trips import every, vector


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
