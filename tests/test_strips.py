"""Loops of too many iterations for one batch: strips of them, with the same numbers."""

import numpy as np
import pytest

import autojit as aj
from autojit.ir.evaluate import evaluate
from autojit.ir.verify import verify
from autojit.passes import vectorize as module
from autojit.passes.bodies import bodies
from autojit.passes.vectorize import vectorize
from tests.helpers import check
from tests.loop_graphs import arrays, captured, function_of, loops_in
from tests.test_vectorize import TEXTS, loop, run
from tests.vector_programs import Maker


@pytest.fixture(params=[16, 24])
def small(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    """Two or three numbers are a strip, whatever it costs."""
    monkeypatch.setattr("autojit.passes.lanes.LARGEST_BATCH", 40)
    monkeypatch.setattr(module, "STRIP", request.param)
    monkeypatch.setattr(module, "LEAST_STRIP", 2)
    monkeypatch.setattr(module, "nodes_cost", lambda nodes, inside: 0.0)
    monkeypatch.setattr(module, "strips_cost", lambda nodes: 0.0)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("name", TEXTS)
def test_the_same_numbers(name: str) -> None:
    run(TEXTS[name])


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("seed", range(60))
def test_random_loops(seed: int) -> None:
    run(Maker(seed).program(), (float, float, np.float32, np.int64)[seed % 4], seed)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("over", ["range(6)", "range(7)", "range(8, 1, -1)", "range(1, 12, 2)", "range(12, 1, -2)"])
@pytest.mark.parametrize("line", ["a[i] = b[i + 1] * 2 + i", "a[i] += b[i]", "s += a[i] * b[i]", "x = b[i]; s = x"])
def test_ranges(over: str, line: str) -> None:
    found = captured(function_of(loop(line, over=over)), arrays())
    assert found is not None
    graph, inputs = found
    rungs: list[module.Rung] = []
    after = vectorize(bodies(graph), rungs)
    verify(after)
    assert [rung.taken for rung in rungs] == ["vectorized"], rungs
    (left,) = loops_in(after)
    assert not loops_in(left.keywords["body"])
    for one, other in zip(evaluate(graph, inputs), evaluate(after, inputs), strict=True):
        np.testing.assert_array_equal(one, other)


def test_by_default() -> None:
    """More iterations than one batch may have."""

    def weighted(x):
        total = 0.0
        for i in range(len(x)):
            total += x[i] * i
        return total

    x = np.random.default_rng(1).integers(0, 4, module.MOST_TRIPS + 1001).astype(float)
    fast = aj.jit_compile(weighted)
    assert fast(x) == np.sum(x * np.arange(len(x)))
    (found,) = fast.explain(x).loops
    assert found.rung == "vectorized"


def test_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("autojit.passes.lanes.LARGEST_BATCH", 1024)
    monkeypatch.setattr(module, "STRIP", 512)
    monkeypatch.setattr(module, "LEAST_STRIP", 2)
    monkeypatch.setattr(module, "nodes_cost", lambda nodes, inside: 0.0)
    monkeypatch.setattr(module, "strips_cost", lambda nodes: 0.0)

    def program(a, b):
        total = 0.0
        largest = b[0]
        for i in range(2, len(a) - 1):
            b[i] = a[i - 2] * 2 + a[i + 1]
            total += b[i] * i
            largest = max(largest, b[i])
        return total, largest, i

    check(program, np.arange(301.0), np.zeros(301))
    check(program, np.arange(5.0), np.zeros(5))
