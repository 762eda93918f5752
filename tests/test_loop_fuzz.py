"""Random loop programs: NumPy and autojit agree bit by bit, cold and warm, in shapes that were met and in others."""

from __future__ import annotations

import random

import numpy as np
import pytest

import autojit as aj
from tests import loop_templates
from tests.evaluated import evaluated
from tests.fuzz import main
from tests.helpers import check
from tests.loop_judge import Immoderate, judge_loops, moderate
from tests.loop_programs import make_loop_program
from tests.name_programs import make_name_program
from tests.programs_strategy import Program

#: Seeds of the programs that every run of the tests tries; `python -m tests.fuzz --loops` tries others.
SEEDS, MORE_SEEDS = range(30), range(30, 100)


def made(seed: int) -> Program:
    return make_loop_program(random.Random(seed))


def judge_seed(seed: int) -> None:
    program = made(seed)
    try:
        judge_loops(program)
    except AssertionError as error:
        raise AssertionError(f"seed {seed}: {error}\n{program}") from None


@pytest.mark.parametrize("seed", SEEDS)
def test_random_loops(seed):
    judge_seed(seed)


@pytest.mark.parametrize("seed", MORE_SEEDS)
def test_what_capture_makes_of_random_loops(seed):
    """The captured programs, run in NumPy."""
    with evaluated():
        judge_seed(seed)


@pytest.mark.parametrize("seed", range(40))
def test_random_names(seed):
    program = make_name_program(random.Random(seed))
    try:
        judge_loops(program)
    except AssertionError as error:
        raise AssertionError(f"seed {seed}: {error}\n{program}") from None


def test_same_seed_same_program():
    assert repr(made(5)) == repr(made(5)) != repr(made(6))


def test_programs_end_and_do_not_round():
    for seed in range(20):
        program = made(seed)
        for call in program.calls:
            moderate(program.source, call)
    for line in ("while True: pass", "s = a * 1e9", "s = a / 3", "s = 2 ** 40 + 0"):
        with pytest.raises(Immoderate):
            moderate(of_lines(line).source, ARGUMENTS)


ARGUMENTS = np.array([1.0, 2.0, 4.0]), np.array([3, 1, 2]), np.eye(3), 3, 1, []


def of_lines(*lines: str) -> Program:
    return Program(loop_templates.MODULE, ("a", "b", "A", "n", "k", "log"), lines, (ARGUMENTS,))


def wrong(change):
    """A decorator whose functions do something else as well."""

    def decorator(function):
        decorated = aj.autocluster(policy="eager")(function)

        def odd(*args):
            result = decorated(*args)
            return change(result, *args)

        odd.cache_info = decorated.cache_info
        return odd

    return decorator


def test_the_judge_sees_differences():
    program = of_lines("for i in range(n):", "    a[i] += 0.5", "print(n)", "return a.sum() * 0, a[0]")
    judge_loops(program)

    def last_place(result, a, *_):
        a[0] = np.nextafter(a[0], 9)
        return result

    for change, message in (
        (lambda result, *_: (result[0], float(result[1])), "instead of"),
        (lambda result, *_: (-result[0], result[1]), "the sign of a zero"),
        (lambda result, *_: print() or result, "printed"),
        (last_place, "argument"),
    ):
        with pytest.raises(AssertionError, match=message):
            judge_loops(program, decorator=wrong(change))


def test_the_command(capsys):
    assert main(["--loops", "--seed", "3", "--count", "2"]) == 0
    printed = capsys.readouterr().out
    assert "2 programs from seed 3, " in printed and " compiled, " in printed and ", 0 failed" in printed


# ---- what random loops have found


ROW = np.arange(5.0) + 10


def test_arrays_without_axes_are_carried():
    def f(a, n):
        s = np.where(a[0], 0, a[1])
        for _ in range(n):
            s += a[1]
        return s

    check(f, ROW, 3)


@pytest.mark.parametrize("n", [1, 2, 3, 40])
def test_names_that_trade_arrays(n):
    def written_outside(a, b, n):
        for i in range(n):
            for _ in range(n):
                a, b = b, a
            a[1:] = i

    def returned(a, b, n):
        for _ in range(n):
            a, b = b, a
        return b

    def written_afterwards(a, b, n):
        for _ in range(n):
            a, b = b, a
        b[0] += 1

    def written_by_another_loop(a, b, n):
        for _ in range(n):
            a, b = b, a
        for i in range(n):
            b[0] += i

    for f in (written_outside, returned, written_afterwards, written_by_another_loop):
        check(f, ROW.copy(), -ROW, n)


def test_names_that_trade_arrays_behind_a_break():
    def f(a, b):
        w = 0
        while True:
            if w:
                break
            w += 1
            a, b = b, a
        return a, b

    check(f, ROW.copy(), -ROW)


@pytest.mark.parametrize("n", [2, 40])
def test_the_truth_of_loop_variables(n):
    def f(a, n):
        for i in range(n):
            a += bool(i)
            if not i:
                a[0] += 9
            if i:
                a[1] += 9
            a[2] += (i and 2) + (i or 7) + (5 if i else 3)

    check(f, ROW.copy(), n)


@pytest.mark.parametrize("n", [0, 2, 11])
def test_numbers_that_stay_pythons(n):
    def broken_off(a, n):
        s = 0
        for i in range(n):
            for _ in range(n):
                if i != a[0]:
                    break
                s = a[-1] * 0.5
        return s

    def no_trips(a, n):
        s = 0
        for i in range(n):
            for _ in range(i, 0):
                s = a.max() - a.min()
        return s

    def least(a, n):
        s = 0
        for _ in range(n):
            s = min(a[0], s)
        for _ in range(n):
            s += s
        return s

    def least_of_nested(a, n):
        s = 0
        for _ in range(n):
            for _ in range(n):
                s = min(a.max() - a[1], s)
        return s

    def one_of_two(a, n):
        s = a[0] and n
        for _ in range(n):
            s = -s
        return s

    def while_never(a, n):
        s = 0.0
        for i in range(n):
            while i == a[4] + 99:
                s = a @ a
        for _ in range(n):
            s -= 0
        return s

    failed = []
    for f in (broken_off, no_trips, least, least_of_nested, one_of_two, while_never):
        try:
            check(f, ROW, n)
        except AssertionError as error:
            failed.append(f"{f.__name__}: {error}")
    assert not failed, "\n".join(failed)


def test_numbers_that_become_floats_inside():
    def in_while(a, n):
        s = 0
        while s <= a[0]:
            for _ in range(n):
                s += a.sum()
        return s

    def in_while_never(a, n):
        s = 0
        for _ in range(n):
            while not np.any(a):
                s += max(a)
        return s

    def in_for_never(a, n):
        s = 0
        for _ in range(n):
            for _ in range(-n):
                s += a[0]
        return s

    def rounded(a, n):
        s = round(a.sum())
        for _ in range(n):
            s = a[0] + s
        return s

    for f in (in_while, in_while_never, in_for_never, rounded):
        check(f, ROW, 3)


def test_containers_behind_continue():
    def appended(a):
        out = []
        for i in range(4):
            if a[i] < 0:
                continue
            out.append(a[i] * 2)
        return out

    def stored(a):
        out = {}
        for i in range(4):
            if a[i] < 0:
                continue
            out[i] = i
            if a[i] > 4:
                break
        return out

    def behind_return(a, log):
        for i in range(4):
            log.append(i)
            if a[i] < 0:
                return i
            log.append(-i)
        return None

    check(appended, np.array([-1.0, 5, -2, 3]))
    check(stored, np.array([1.0, -5, -2, 7, 8]))
    check(behind_return, np.array([1.0, 5, -2, 3]), [])


def test_names_that_trade_arrays_before_continue():
    def f(a, b, n):
        for i in range(n):
            if a[0]:
                a, b = b, a
                continue
            if i:
                continue

    check(f, ROW.copy(), -ROW, 4)


def test_rows_out_of_range_that_nothing_reads():
    def f(A, b, k):
        b *= 1
        for i in range(k, k + 3):
            s = A[i]  # noqa: F841 -- a row that nobody reads is the point

    check(f, np.eye(3), ROW.copy(), 1)


def test_else_of_a_loop_that_breaks_on_data():
    def f(a, n):
        for i in range(n):
            while n:
                if a[0] <= 0:
                    break
            else:
                if i:
                    continue

    check(f, -ROW, 4)
