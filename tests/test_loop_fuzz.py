"""Random loop programs: NumPy and autojit agree bit by bit, cold and warm, in shapes that were met and in others."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import autojit as aj
from tests import loop_templates
from tests.fuzz import main
from tests.helpers import check
from tests.loop_judge import Immoderate, judge_loops, moderate
from tests.loop_programs import make_loop_program
from tests.programs_strategy import Program

#: Seeds of the programs that every run of the tests tries; `python -m tests.fuzz --loops` tries others.
SEEDS = range(60)
#: Those that fail, and what is known about them.
KNOWN: dict[int, str] = {14: "a 0-d array that a loop adds to in place"}


def seeds() -> list[Any]:
    """The seeds as parameters of a test."""
    marks = {seed: [pytest.mark.xfail(reason=reason, strict=True)] for seed, reason in KNOWN.items()}
    return [pytest.param(seed, marks=marks.get(seed, [])) for seed in SEEDS]


def made(seed: int) -> Program:
    return make_loop_program(random.Random(seed))


@pytest.mark.parametrize("seed", seeds())
def test_random_loops(seed):
    program = made(seed)
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
    assert "2 programs from seed 3, 0 failed" in capsys.readouterr().out


# ---- what random loops have found


@pytest.mark.xfail(reason="the carry does not fit the body", strict=True)
def test_arrays_without_axes_are_carried():
    def f(a, n):
        s = np.where(a[0], 0, a[1])
        for _ in range(n):
            s += a[1]
        return s

    check(f, np.arange(4.0), 3)


@pytest.mark.xfail(reason="the writes are lost", strict=True)
@pytest.mark.parametrize("n", [1, 2, 3])
def test_names_that_an_inner_loop_swaps(n):
    def f(a, b, n):
        for i in range(n):
            for _ in range(n):
                a, b = b, a
            a[1:] = i

    check(f, np.arange(5.0), -np.arange(5.0), n)
