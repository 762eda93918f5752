"""Programs that nobody wrote: NumPy and autojit do the same with them, cold and warm."""

import random
import time

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings

import autojit as aj
from tests.fuzz import failure, main, minimise
from tests.programs_judge import judge
from tests.programs_strategy import MODULES, Program, load, make_program, programs

#: Failing programs are made smaller by `python -m tests.fuzz`, which is better at statements than at choices.
_SETTINGS = settings(
    max_examples=60, deadline=None, derandomize=True, database=None, phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)  # fmt: skip


@_SETTINGS
@given(programs())
def test_random_programs(program):
    judge(program)


def program(*lines, calls, parameters=("a", "b")):
    return Program(MODULES[0], parameters, lines, calls)


def test_the_judge_sees_differences():
    array = np.array([1.0, 0.1])
    good = program("a += b", "return a.sum()", calls=((array, array),))
    judge(good)

    def broken(function):
        decorated = aj.autocluster(policy="eager")(function)

        def wrong(a, b):
            result = decorated(a, b)
            a[0] += 1e-9
            return result

        wrong.cache_info = decorated.cache_info
        return wrong

    with pytest.raises(AssertionError, match="argument"):
        judge(good, decorator=broken)


def test_the_judge_knows_what_rounding_can_change():
    array = np.array([0.1, 0.2, 0.3])
    unstable = program("c = np.exp(a) - 1", "d = np.floor((c - c.sum() / 3) * 1e16)", "return d, d > 0", calls=((array, array),))

    def other(function):
        def rounds_otherwise(a, b):
            return load(unstable.source.replace("c.sum() / 3", "(c[2] + c[1] + c[0]) / 3"))(a, b)

        rounds_otherwise.cache_info = aj.CacheInfo
        return rounds_otherwise

    judge(unstable, decorator=other)


def test_programs_are_made_smaller():
    big = program("c = a + 1", "d = np.sqrt(b) * 2 + a", "for k in range(2):\n    c = c * d", "return c, d", calls=((1, 2), (3, 4)))
    small = minimise(big, lambda smaller: "sqrt" in smaller.source, seconds=5)
    assert "np.sqrt" in small.source and len(small.lines) == 1 and len(small.calls) == 1
    assert failure(program("return a", calls=((1, 2),))) is None


def test_the_command(capsys):
    start = time.monotonic()
    assert main(["--seed", "7", "--count", "1"]) == 0
    assert "1 programs from seed 7, 0 failed" in capsys.readouterr().out
    assert time.monotonic() - start < 60


def test_same_choices_same_program():
    one, two = (repr(programs_of(5)) for _ in range(2))
    assert one == two


def programs_of(seed):
    return make_program(random.Random(seed))
