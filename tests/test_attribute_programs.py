"""Random programs that assign attributes: NumPy and autojit agree bit by bit."""

from __future__ import annotations

import random

import pytest

from tests.attribute_programs import make_attribute_program
from tests.evaluated import evaluated
from tests.loop_judge import judge_loops


def judge_seed(seed: int) -> None:
    program = make_attribute_program(random.Random(seed))
    try:
        judge_loops(program)
    except AssertionError as error:
        raise AssertionError(f"seed {seed}: {error}\n{program}") from None


@pytest.mark.parametrize("seed", range(20))
def test_random_attributes(seed):
    judge_seed(seed)


@pytest.mark.parametrize("seed", range(20, 120))
def test_what_capture_makes_of_random_attributes(seed):
    """The captured programs, run in NumPy."""
    with evaluated():
        judge_seed(seed)


def test_the_programs_differ():
    made = [repr(make_attribute_program(random.Random(seed))) for seed in (5, 5, 6)]
    assert made[0] == made[1] != made[2]
    assert any("p." in text for text in made)
