"""Whole NumPy programs, cold and warm, with other values and other shapes: what NumPy does is what they do."""

from __future__ import annotations

import contextlib
import io
import warnings
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autojit as aj
from tests.helpers import Outcome, _compare_outcomes, check, outcome
from tests.programs import (
    automata,
    chance,
    control,
    histories,
    images,
    integers,
    linear,
    particles,
    reaction,
    signals,
    solvers,
    tables,
    words,
)

MODULES = [automata, chance, control, histories, images, integers, linear, particles, reaction, signals, solvers, tables, words]
#: How large the programs' inputs are: at first, and later.
SIZE, OTHER_SIZE = 12, 9


def every_program() -> list[Any]:
    """All programs, each with its generator of inputs and its tolerance."""
    return [
        pytest.param(
            program,
            inputs,
            getattr(module, "RTOL", {}).get(program),
            id=f"{module.__name__.split('.')[-1]}-{program.__name__}",
        )
        for module in MODULES
        for program, inputs in module.PROGRAMS.items()
    ]


def observed(function: Callable[..., Any], args: tuple[Any, ...]) -> tuple[Outcome, str, Any]:
    """What a call did, printed and left as the state of `np.random`."""
    np.random.seed(3)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), warnings.catch_warnings():
        # NumPy's floating point warnings, which compiled code does not repeat.
        warnings.simplefilter("ignore", RuntimeWarning)
        one = outcome(function, args, {})
    return one, printed.getvalue(), np.random.get_state()


def compare(
    decorated: Callable[..., Any], program: Callable[..., Any], args: tuple[Any, ...], rtol: float | None
) -> None:
    """Compare one call with NumPy."""
    got, expected = observed(decorated, args), observed(program, args)
    _compare_outcomes(got[0], expected[0], rtol)
    assert got[1] == expected[1], "printed"
    np.testing.assert_array_equal(got[2][1], expected[2][1], "the state of `np.random`")
    assert got[2][2:] == expected[2][2:], "the state of `np.random`"


# Statements between native ones see many shapes and numbers here; that they then run in NumPy is said once.
@pytest.mark.filterwarnings("ignore:autojit .too-many-plans")  # answers are compared
@pytest.mark.parametrize(("program", "inputs", "rtol"), every_program())
def test_program(program, inputs, rtol):
    rng = np.random.default_rng(zlib.crc32(program.__name__.encode()))
    first, second, other, last = (inputs(rng, size) for size in (SIZE, SIZE, OTHER_SIZE, SIZE))
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        # NumPy's floating point warnings, which compiled code does not repeat.
        warnings.simplefilter("ignore", RuntimeWarning)
        decorated = check(program, *first, rtol=rtol)
    for args in (first, second, second, other, other, last, first):
        compare(decorated, program, args, rtol)


@pytest.mark.parametrize(("program", "inputs", "rtol"), every_program())
def test_program_without_plans(program, inputs, rtol):
    """What the programs themselves do does not depend on instrumentation."""
    args = inputs(np.random.default_rng(1), SIZE)
    compare(aj.autocluster(policy="native")(program), program, args, 0.0)


def global_draws(x, steps):
    """Draws from the global generator inside a loop, between array work."""
    for k in range(steps):
        x += np.random.normal(size=x.shape)
        if x.max() > 3:
            x[np.random.randint(len(x))] = 0.0
        x -= x.mean()
    return x, np.random.rand()


def test_the_global_generator():
    decorated = aj.autocluster(policy="eager")(global_draws)
    for size in (12, 12, 9):
        compare(decorated, global_draws, (np.zeros(size), 20), None)


def test_there_are_enough():
    assert len(every_program()) >= 100
