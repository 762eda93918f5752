"""Hoisting: what leaves a loop, what stays, and that the numbers are the same."""

import numpy as np
import pytest

from autojit.errors import Trapped
from autojit.ir.build import exact_key
from autojit.ir.evaluate import evaluate
from autojit.ir.verify import verify
from autojit.passes.bodies import bodies
from autojit.passes.hoist import hoist
from tests.helpers import check
from tests.loop_graphs import arrays, captured, function_of, loops_in
from tests.vector_programs import Maker


def names(text):
    """The operations in the bodies of all loops after hoisting; the results are compared."""
    found = captured(function_of(text), arrays())
    assert found is not None
    graph, inputs = found
    after = hoist(bodies(graph))
    verify(after)
    assert exact_key(evaluate(after, inputs)) == exact_key(evaluate(graph, inputs))
    return [node.op.name for loop in loops_in(after) for node in loop.keywords["body"].nodes]


def test_constant_work_leaves():
    assert "np.sqrt" not in names("for i in range(6):\n    a[i + 1] = a[i] + np.sqrt(abs(c)).sum()")
    assert "np.sum" not in names("for i in range(6):\n    a[i + 1] = a[i] + np.sum(c * 2)")


def test_out_of_two_loops():
    text = "for i in range(6):\n    for j in range(5):\n        a[j + 1] = a[j] + np.sum(b * 2) + np.sum(A[i] * 2)"
    found = captured(function_of(text), arrays())
    assert found is not None
    outer, inner = loops_in(hoist(bodies(found[0])))
    assert [node.op.name for node in outer.keywords["body"].nodes].count("np.sum") == 1
    assert "np.sum" not in [node.op.name for node in inner.keywords["body"].nodes]
    names(text)


def test_changing_work_stays():
    assert "np.sum" in names("for i in range(6):\n    a[i + 1] = a[i] + np.sum(a * 2)")
    assert "np.sum" in names("for i in range(6):\n    a[i + 1] = a[i] + np.sum(A[i])")


def test_what_may_raise_stays_in_a_loop_that_may_not_run():
    text = "for i in range({}):\n    a[i + 1] = a[i] + np.sum(b // np.abs(c).astype(int)[1])"
    names(text.format(6))

    def divide(x, y, n):
        for i in range(n):
            x[i + 1] = x[i] + np.linalg.inv(y).sum()

    check(divide, np.ones(9), np.zeros((3, 3)), 0)
    check(divide, np.ones(9), np.eye(3), 5)


@pytest.mark.parametrize("seed", range(200, 260))
def test_random_loops(seed):
    found = captured(function_of(Maker(seed).program()), arrays(seed))
    if found is None:
        return
    graph, inputs = found
    after = hoist(bodies(graph))
    verify(after)
    try:
        expected = evaluate(graph, inputs)
    except (IndexError, RuntimeError):
        with pytest.raises((IndexError, RuntimeError, Trapped)):
            evaluate(after, inputs)
        return
    assert exact_key(evaluate(after, inputs)) == exact_key(expected)
