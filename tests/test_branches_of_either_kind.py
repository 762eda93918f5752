"""Names that mean one thing or another after a branch or a loop: numbers of either kind, swapped arrays, early returns."""

from __future__ import annotations

import linecache

import numpy as np
import pytest

import autojit as aj
from tests.helpers import check


def test_l1() -> None:
    def L1(a, n):
        s = np.where(a[0], 0, a[1])
        for i in range(n):
            s += a[1]
        return s

    check(L1, np.arange(4.0), 6)


def test_p1() -> None:
    def p1(a, b, n):
        for i in range(n):
            for j in range(n):
                a, b = b, a
            a[1:] = i

    for n in (1, 2, 3, 6):
        check(p1, np.arange(5.0), -np.arange(5.0), n)


def test_f3() -> None:
    def f3(b, n):
        for i in range(n):
            if i:
                b[0] += 9
            b[1] += bool(i)

    check(f3, np.arange(5.0), 7)


def test_f4() -> None:
    def f4(a, b, n):
        for i in range(n):
            a, b = b, a
        b[0] += 1

    for n in (1, 2, 3, 6, 40):
        check(f4, np.arange(5.0), -np.arange(5.0), n)


def test_l7() -> None:
    def l7(a, n):
        s = 0
        while s <= a[0]:
            for j in range(n):
                s += a.sum()
        return s

    check(l7, np.arange(5.0) + 4, 7)
    check(l7, np.arange(5.0) - 4, 7)


def test_l9() -> None:
    def l9(a, b):
        w = 0
        while True:
            if w:
                break
            w += 1
            a, b = b, a
        return a, b

    check(l9, np.arange(5.0), -np.arange(5.0))


def test_l10() -> None:
    def l10(a, n):
        t = round(a.sum())
        for i in range(n):
            t = a[0] + t
        return t

    check(l10, np.arange(5.0), 7)


def test_l11c() -> None:
    def l11c(a, n):
        s = 0
        for i in range(n):
            for j in range(n):
                if i != a[0]:
                    break
                s = a[-1] * 0.5
        return s

    check(l11c, np.arange(5.0) + 10, 11)
    check(l11c, np.arange(5.0) + 10, 5)
    check(l11c, np.arange(5.0), 7)


def test_l12() -> None:
    def l12(b, A, k):
        s = 0
        for i in range(k):
            s = min(b[0], s)
        for i, x in enumerate(A.sum(axis=1)):
            s += s
        return s

    check(l12, np.array([6.0, 3.0]), np.ones((6, 3)), 7)
    check(l12, np.array([-6.0, 3.0]), np.ones((6, 3)), 7)


def test_l13() -> None:
    def l13(b, n):
        s = 0
        for i in range(n):
            for j in range(i, 0, 1):
                s = min(b.max() - b.min(), s)
        return s

    check(l13, np.arange(4), 6)


def test_l14() -> None:
    def l14(a, n):
        s = 0
        for i in range(len(a)):
            while not np.any(a):
                s += max(a)
        return s

    check(l14, np.arange(6.0), 6)


def test_l16() -> None:
    def l16(a, n, c):
        s1 = np.min(a) and c
        for j in range(n):
            s1 = -s1
        return s1

    check(l16, np.arange(6.0) + 1, 6, 0)
    check(l16, np.arange(6.0), 6, 0)


def test_finally_after_a_return_that_data_decides() -> None:
    def found(x):
        try:
            for i in range(10):
                if x[i] > 3:
                    return i
        finally:
            x[0] = -1
        return -1

    check(found, np.arange(12.0))
    check(found, np.zeros(12))


def test_large_ints_beside_numbers_of_either_kind() -> None:
    def compare(x, n):
        s = 2.0**60
        for i in range(n):
            if x[i] > 5:
                s = x[i]
        return s == 2**60 + 1, s < 2**60 + 1

    check(compare, np.zeros(7), 7)
    check(compare, np.arange(7.0) * 3, 7)


def test_an_index_beside_a_number_of_either_kind() -> None:
    def scaled(b, A, n):
        s = 0.0
        for i in range(n):
            s = max(s, b[0])
            A += i * s
        return s

    check(scaled, np.array([1, 1, 5]), np.ones((3, 3)), 7)
    check(scaled, np.array([1.0, 1.0, 5.0]), np.ones((3, 3)), 7)


def test_blocks_in_blocks_are_found_by_the_first_call() -> None:
    def nested(a, A, n, k):
        if n:
            a = a + 1
        elif k:
            A = a
        else:
            for i in range(2):
                for j in range(2):
                    A[i, j] -= 1
                    if np.any(a > i + 4):
                        return A[i] * 2
        print(end="")
        return a

    fast = aj.autocluster(policy="eager")(nested)
    captures = []
    for _ in range(3):
        A = np.ones((3, 3))
        np.testing.assert_array_equal(fast(np.arange(6.0), A, 0, 0), [0, 2, 2])
        captures.append(fast.cache_info().captures)
    assert captures[0] == captures[2]
    check(nested, np.arange(6.0), np.ones((3, 3)), 0, 0)
    check(nested, np.arange(3.0), np.ones((3, 3)), 0, 0)


def test_rows_that_do_not_fit_are_assigned_in_a_branch():
    def program(a, b, n):
        for i in range(n):
            for j in range(n, i, -1):
                if np.all(b):
                    break
                a[[j, j]] = a

    for b in (np.ones(3), np.zeros(3)):
        check(program, np.ones((7, 7)), b, 2)
        check(program, np.ones((7, 7)), b, 7)


def test_a_host_call_behind_data_that_is_numpys():
    def program(a):
        s = a[0]
        for _ in range(4):
            s = max(s, 1)
            b = float(s)
            if np.any(a):
                c = 0
            elif b:
                a, c = np.sort(b), 1
        return a, c

    check(program, np.array([0.0, -4.0, 5.0]))
    check(program, np.array([2.0, -4.0, 5.0]))


@pytest.mark.parametrize("dtype", [float, np.float32, np.int64, np.int8, bool, complex])
@pytest.mark.parametrize("assigned", ["0", "1.5", "300", "True", "i", "v", "int(v)", "2j", "-1", "v > 0.2", "x[i]"])
def test_numbers_assigned_in_a_branch(assigned, dtype):
    text = f"def f(x, out):\n    for i in range(len(x)):\n        v = x[i].item()\n        if v > 0.5:\n            out[i] = {assigned}\n"
    text += "        else:\n            out[i] = out[i]\n    return out\n"
    file, scope = f"<{assigned} assigned to {dtype}>", {}
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    exec(compile(text, file, "exec"), {"np": np}, scope)
    x = np.random.default_rng(2).random(40)
    fast = check(scope["f"], x, np.zeros(40, dtype))
    raises = (assigned == "2j" and dtype is not complex and dtype is not bool) or (
        assigned == "300" and dtype is np.int8
    )
    if not raises and not (dtype is np.int8 and assigned in ("i", "int(v)")):
        assert fast.cache_info().hits and not fast.cache_info().traps, fast.cache_info()


def test_a_number_of_python_returned_early_stays_pythons():
    def early(x):
        if x[0] > 0:
            return 0.0
        return x.sum()

    def in_turn(x):
        if x[0] > 0:
            return 1
        if x[1] > 0:
            return x[1] * 2
        return 0.5

    def of_a_helper(x):
        return early(x), early(-x)

    for function in (early, in_turn, of_a_helper):
        for x in (np.ones(3), -np.ones(3), np.array([-1.0, 2.0, 0.0])):
            check(function, x)
