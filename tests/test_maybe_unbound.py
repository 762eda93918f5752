"""Names that may have no value where a region begins: the region is compiled all the same, and nothing is lost."""

import numpy as np
import pytest

import autojit as aj

LOG = []


def target_of_a_loop(x, n, first):
    if first:
        i = 7
    LOG.append("start")
    for i in range(n):
        x = x * 0.5
    return x, i


def found_by_break(x, n, first):
    found = first
    LOG.append("start")
    for i in range(n):
        x = x * 0.5
        if x.sum() < 1e-2:
            found = i
            break
    LOG.append(found)
    return x, found


def of_the_iteration_before(x, n, first):
    for i in range(n):
        LOG.append(i)
        if i:
            x = x + z  # noqa: F821 -- of the iteration before
        elif first:
            x = x + 1
        z = x * 0.5
    return x, z


def in_an_array_that_is_written(x, n, first):
    if first:
        z = x
    LOG.append("start")
    x[1:] += x[:-1] * 2
    if n > 3:
        z = x * 2
    return x, z


def deleted(x, n, first):
    z = x * 2
    if first:
        del z
    LOG.append("start")
    y = x * 3 + 1
    if n:
        y = y + z
    return y


def in_a_closure(x, n, first):
    if first:
        z = x * 2
    LOG.append("start")
    y = x * 3 + 1
    inner = lambda: z.sum()  # noqa: E731 -- a cell of the function
    if n:
        z = y * 2
    return y, inner()


def handled(x, n, first):
    try:
        if first:
            raise KeyError(3)
        z = x + 1
    except KeyError as error:
        LOG.append(str(error))
    y = x * 3
    if n:
        y = y + z
    return y


FUNCTIONS = [
    target_of_a_loop, found_by_break, of_the_iteration_before, in_an_array_that_is_written, deleted, in_a_closure,
    handled,
]  # fmt: skip


def outcome(function, *arguments):
    LOG.clear()
    try:
        result = function(*arguments)
    except Exception as error:
        result = type(error), str(error)
    return result, arguments[0], list(LOG)


@pytest.mark.parametrize("policy", ["eager", "measured"])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_the_same_as_python(function, policy):
    fast = aj.autocluster(function, policy=policy)
    for n in (50, 0, 2, 50):
        for first in (True, False, True):
            x = np.arange(1000.0)  # whose multiples are exact
            found, expected = outcome(fast, x.copy(), n, first), outcome(function, x.copy(), n, first)
            assert found[2] == expected[2]
            for one, other in zip(found[0], expected[0], strict=True):
                assert type(one) is type(other)
                np.testing.assert_array_equal(one, other)
            np.testing.assert_array_equal(found[1], expected[1])


def test_what_is_compiled():
    fast = aj.autocluster(target_of_a_loop, policy="eager")
    report = fast.explain(np.ones(1000), 50, True)
    assert len(report.native_statements) == 1 and len(report.clusters) == 1
    found, expected = fast(np.arange(1000.0), 50, True), target_of_a_loop(np.arange(1000.0), 50, True)
    np.testing.assert_array_equal(found[0], expected[0])
    assert found[1] == expected[1] and fast.cache_info().hits == 1
