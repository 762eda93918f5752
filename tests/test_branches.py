"""Branches, `while`, early exits and Python numbers on array data: one program, NumPy's answers."""

from __future__ import annotations

import numpy as np
import pytest

import autojit as aj
from tests.helpers import check
from tests.programs.histories import shortest

RNG = np.random.default_rng(5)


def test_while_tol() -> None:
    def while_tol(x):
        err = 1.0
        n = 0
        while err > 1e-6:
            y = np.cos(x)
            err = np.abs(y - x).max()
            x = y
            n += 1
        return x, n

    check(while_tol, RNG.random(8), whole=True)


def test_brk() -> None:
    def brk(A, b):
        x = np.zeros_like(b)
        for it in range(100):
            x_new = (b - A @ x + np.diag(A) * x) / np.diag(A)
            if np.abs(x_new - x).max() < 1e-10:
                break
            x = x_new
        return x, it

    A = RNG.random((6, 6)) + 6 * np.eye(6)
    check(brk, A, RNG.random(6), whole=True)


def test_ret() -> None:
    def ret(A, x):
        for k in range(200):
            y = A @ x
            y /= np.linalg.norm(y)
            if np.abs(y - x).max() < 1e-9:
                return y, k
            x = y
        return x, -1

    A = RNG.random((6, 6)) + 6 * np.eye(6)
    check(ret, A, RNG.random(6), whole=True)


def test_lcs() -> None:
    def lcs(a, b):
        n, m = a.shape[0], b.shape[0]
        T = np.zeros((n + 1, m + 1), np.int64)
        for i in range(n):
            for j in range(m):
                if a[i] == b[j]:
                    T[i + 1, j + 1] = T[i, j] + 1
                else:
                    T[i + 1, j + 1] = max(T[i, j + 1], T[i + 1, j])
        return T[n, m]

    check(lcs, RNG.integers(0, 3, 12), RNG.integers(0, 3, 15), whole=True)


def test_nus() -> None:
    def nus(N, seq):
        def match(b1, b2):
            if b1 + b2 == 3:
                return 1
            else:
                return 0

        table = np.zeros((N, N), np.int32)
        for i in range(N - 1, -1, -1):
            for j in range(i + 1, N):
                if j - 1 >= 0:
                    table[i, j] = max(table[i, j], table[i, j - 1])
                if i + 1 < N:
                    table[i, j] = max(table[i, j], table[i + 1, j])
                if j - 1 >= 0 and i + 1 < N:
                    if i < j - 1:
                        table[i, j] = max(table[i, j], table[i + 1, j - 1] + match(seq[i], seq[j]))
                    else:
                        table[i, j] = max(table[i, j], table[i + 1, j - 1])
                for k in range(i + 1, j):
                    table[i, j] = max(table[i, j], table[i, k] + table[k + 1, j])
        return table

    check(nus, 12, RNG.integers(0, 4, 12).astype(np.int32), whole=True)


def test_crc16() -> None:
    def crc16(data, poly=0x8408):
        crc = 0xFFFF
        for b in data:
            cur_byte = 0xFF & b
            for _ in range(8):
                if (crc & 0x0001) ^ (cur_byte & 0x0001):
                    crc = (crc >> 1) ^ poly
                else:
                    crc >>= 1
                cur_byte >>= 1
        crc = ~crc & 0xFFFF
        crc = (crc << 8) | ((crc >> 8) & 0xFF)
        return crc & 0xFFFF

    check(crc16, RNG.integers(0, 255, 64).astype(np.uint8), whole=True)


def test_swap() -> None:
    def swap(u, un, n=9):
        for _ in range(9):
            un[1:-1] = 0.5 * (u[:-2] + u[2:])
            u, un = un, u
        return u

    check(swap, RNG.random(10), RNG.random(10), whole=True)


def test_colarr() -> None:
    def colarr(a):
        out = np.zeros(a.shape[0], np.int64)
        for i in range(a.shape[0]):
            n = int(a[i])
            k = 0
            while n != 1:
                if n % 2 == 0:
                    n = n // 2
                else:
                    n = 3 * n + 1
                k += 1
            out[i] = k
        return out

    check(colarr, np.arange(1, 20), whole=True)


def test_forelse() -> None:
    def forelse(a, v):
        for i in range(a.shape[0]):
            if a[i] == v:
                break
        else:
            return -1
        return i

    check(forelse, np.arange(10.0), 3.0, whole=True)
    check(forelse, np.arange(10.0), 33.0, whole=True)


def test_cont() -> None:
    def cont(a):
        s = 0.0
        for x in a:
            if x < 0:
                continue
            s += x
        return s

    check(cont, RNG.standard_normal(20), whole=True)


def test_enum() -> None:
    def enum(a, b):
        s = np.zeros(3)
        for i, (x, y) in enumerate(zip(a, b)):
            s += x * y * i
        return s

    check(enum, RNG.random((12, 3)), RNG.random((12, 3)), whole=True)


def test_channel() -> None:
    def channel(u, v):
        d = 1
        k = 0
        while d > 0.01:
            un = u.copy()
            u[1:-1] = (un[2:] + un[:-2]) / 2
            d = np.abs(u - un).sum()
            k += 1
        return k

    check(channel, RNG.random(12), 1, whole=True)


def test_raising() -> None:
    def raising(a):
        s = 0.0
        for i in range(10):
            if a[i] < 0:
                raise ValueError("negative")
            s += a[i]
        return s

    check(raising, RNG.random(12), whole=True)


def test_condvar() -> None:
    def condvar(a):
        best = 0.0
        at = -1
        for i in range(a.shape[0]):
            if a[i] > best:
                best = a[i]
                at = i
        return at

    check(condvar, RNG.random(12), whole=True)


def test_rows_that_are_exchanged_under_a_condition() -> None:
    def decompose(a):
        a, order = a.copy(), np.arange(len(a))
        for k in range(len(a) - 1):
            m = np.argmax(np.abs(a[k:, k])) + k
            if a[m, k] == 0:
                raise np.linalg.LinAlgError("singular")
            if m != k:
                a[[k, m]] = a[[m, k]]
                order[[k, m]] = order[[m, k]]
            a[k + 1 :, k] /= a[k, k]
            a[k + 1 :, k + 1 :] -= np.outer(a[k + 1 :, k], a[k, k + 1 :])
        return a, order

    check(decompose, RNG.random((12, 12)), whole=True)
    fast = aj.autocluster(decompose, policy="eager")
    with pytest.raises(np.linalg.LinAlgError, match="singular"):
        fast(np.zeros((12, 12)))


def test_masked_writes_under_a_condition() -> None:
    weights = np.where(RNG.random((20, 20)) < 0.3, RNG.random((20, 20)), np.inf)
    check(shortest, weights, 0, whole=True)

    def either(x):
        for k in range(8):
            if x.sum() > 0:
                x[x > k / 10] = -k
            else:
                x[x < 0] += 3
        return x

    def counted(x):
        if x[0] > 0:
            x[x > 0.5] = np.arange(3.0)
        return x

    for _ in range(4):
        check(either, RNG.standard_normal(12), whole=True)
        x = RNG.uniform(-1, 0.4, 12)
        x[[2, 5, 7]] = 1
        check(counted, x)
