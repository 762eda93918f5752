"""The program around compiled functions: threads that wait, warnings that were shown, calls near the limit of recursion."""

import subprocess
import sys
import threading
import time
import warnings

import numpy as np
import pytest

import autojit as aj
from tests.helpers import check_calls


@pytest.mark.parametrize("error", [ValueError, IndexError, KeyError])
def test_what_waits_for_another_threads_compilation_runs_once(error):
    log = []

    def function(k):
        a = np.arange(4.0)
        for _ in range(2):
            a = np.sin(a) + k
        if k:
            log.append(k)
            raise error("bad job")
        return a * 2

    decorated = aj.autocluster(function, policy="eager")
    with warnings.catch_warnings():
        warnings.simplefilter("error", aj.AutojitWarning)
        failures = []

        def go(k):
            try:
                decorated(k)
            except error:
                pass
            except BaseException as other:
                failures.append(other)

        threads = [threading.Thread(target=go, args=(k,)) for k in (0, 1, 2, 3)]
        for thread in threads:
            thread.start()
            time.sleep(0.02)
        for thread in threads:
            thread.join()
    assert sorted(log) == [1, 2, 3]
    assert not failures


def step(x):
    for _ in range(4):
        x = np.sin(x) + 0.5
    return x.mean() + np.mean(x[:0]) * 0


def test_warnings_that_were_shown_are_not_shown_again():
    decorated = aj.autocluster(step, policy="eager")
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("default")
        for k in range(6):
            warnings.warn("the step size is large", stacklevel=1)
            decorated(np.ones(10 + k // 2))
    assert [str(one.message) for one in seen].count("the step size is large") == 1


def test_values_of_what_numpy_has_warned_of():
    """A warning that was shown before keeps nothing from the capture; no others are given."""
    x = np.ones(5)

    def function(x):
        return np.std(x, ddof=7) + x.sum()

    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("default")
        expected = function(x)
        texts = {str(one.message) for one in seen}
        for _ in range(2):
            np.testing.assert_array_equal(aj.autocluster(function, policy="eager")(x), expected)
    assert texts and {str(one.message) for one in seen} == texts


def test_functions_that_are_left_to_numpy_warn_once():
    def fit(x, y):
        return np.polyfit(x * 1, y, 6) * 2

    decorated = aj.autocluster(fit, policy="eager", check=False)  # which runs NumPy once more
    for count in (1, 2, 3):
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("default")
            decorated(np.ones(3), np.ones(3))
        assert len([one for one in seen if "poorly" in str(one.message)]) == 1, count


def test_calls_near_the_limit_of_recursion_are_no_trouble(tmp_path):
    program = tmp_path / "program.py"
    program.write_text("""
import sys, warnings
import numpy as np
import autojit as aj

warnings.simplefilter("error", aj.AutojitWarning)

def leaf(x):
    for i in range(3):
        x = x * 2 + i
    return x

leaf = aj.autocluster(leaf, policy="eager")

def descend(n, x):
    return leaf(x) if n == 0 else descend(n - 1, x)

for n in range(900, 990, 5):
    try:
        assert descend(n, np.ones(3)).tolist() == [12.0] * 3
    except RecursionError:
        pass
assert leaf(np.ones(3)).tolist() == [12.0] * 3
""")
    done = subprocess.run([sys.executable, program], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert "AutojitWarning" not in done.stderr


@aj.host_op
def found(x):
    return None if x[0] > 5 else x * 2


def test_a_host_operation_that_gives_none_at_times():
    def function(x):
        y = x + 1
        z = found(y)
        return (z, y) if z is None else (z * 3, y)

    with warnings.catch_warnings():
        warnings.simplefilter("error", aj.AutojitWarning)
        check_calls(function, (np.ones(3),), (np.full(3, 9.0),), (np.ones(3),))


def skipping(x, seed):
    rng = np.random.default_rng(seed)
    for _ in range(100):
        rng.random()
    written = []
    written.append(seed)
    return x * rng.random(), written


def skipping_between(x, rng, log):
    log.append(1)
    z = rng.random() * x
    z = log.append(2)
    return x * rng.random(), z


def skipping_at_the_end(x, rng, log):
    for _ in range(100):
        rng.random()
    log.append(1)


@pytest.mark.parametrize("function", [skipping_between, skipping_at_the_end])
def test_draws_that_nobody_needs(function):
    decorated = aj.autocluster(function, policy="eager")
    with warnings.catch_warnings():
        warnings.simplefilter("error", aj.AutojitWarning)
        check_calls(skipping, (np.arange(4.0), 1), (np.arange(4.0), 2))
        for _ in range(3):
            outcomes = []
            for f in (function, decorated):
                rng, log = np.random.default_rng(1), []
                result = f(np.arange(4.0), rng, log)
                outcomes.append(
                    (result and [part if part is None else part.tolist() for part in result], log, rng.random())
                )
            assert outcomes[0] == outcomes[1]


COMMITS = "a name of the program's"


def test_the_program_may_have_any_name():
    def function(x):
        y = np.sin(x)
        for _ in range(2):
            y = y + found(x)
        return y

    check_calls(function, (np.ones(3),), rtol=1e-15)
