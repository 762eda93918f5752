"""Vectorized loops: the graph before and after gives the same numbers, bit for bit where nothing rounds."""

from typing import Any

import numpy as np
import pytest

import autojit as aj
from autojit.ir.build import exact_key
from autojit.ir.evaluate import evaluate
from autojit.ir.text import run_text, to_text
from autojit.ir.verify import verify
from autojit.ops import text_helpers
from autojit.passes import vectorize as module
from autojit.passes.bodies import bodies
from autojit.passes.pipeline import run_pipeline
from autojit.passes.vectorize import vectorize
from tests.helpers import check
from tests.loop_graphs import arrays, captured, function_of, loops_in
from tests.vector_programs import Maker

#: Numbers above this may round.
LARGEST = {np.dtype(np.float64): 2.0**50, np.dtype(np.float32): 2.0**20}
RNG = np.random.default_rng(7)


@pytest.fixture
def forced(monkeypatch):
    """Vectorize whatever it costs."""
    monkeypatch.setattr(module, "nodes_cost", lambda nodes, inside: 0.0)
    monkeypatch.setattr(module, "strips_cost", lambda nodes: 0.0)


def run(text, dtype: Any = float, seed=0, compared=None):
    """The rungs of the loops, after the graphs before and after were compared; `compared` is given the text then."""
    arguments = arrays(seed, dtype)
    found = captured(function_of(text), arguments)
    if found is None:
        return None
    graph, inputs = found
    rungs = []
    after = vectorize(bodies(graph), rungs)
    verify(after)
    with np.errstate(all="ignore"):
        try:
            expected = evaluate(graph, inputs)
        except (IndexError, RuntimeError):
            for other in (after, run_pipeline(graph)):
                with pytest.raises((IndexError, RuntimeError)):
                    evaluate(other, inputs)
            return None
        got = evaluate(run_pipeline(graph), inputs)
        direct = evaluate(after, inputs)
    sizes = [float(np.abs(np.asarray(value, float)).max(initial=0)) for value in expected]
    if max(sizes) > LARGEST.get(np.dtype(dtype), np.inf):
        return rungs
    assert exact_key(got) == exact_key(expected), text
    assert exact_key(direct) == exact_key(expected), text
    if compared is not None:
        compared.append(text)
    return rungs


def loop(*lines, over="range(6)"):
    return "\n".join([f"for i in {over}:", *(f"    {line}" for line in lines)])


@pytest.mark.parametrize("seed", range(150))
def test_random_loops(forced, seed):
    run(Maker(seed).program(), (float, float, np.float32, np.int64)[seed % 4], seed)


def test_most_random_loops_are_vectorized(forced):
    compared = []
    rungs = [rung for seed in range(60) for rung in run(Maker(seed).program(), compared=compared) or ()]
    assert len(compared) >= 10
    taken = [rung.taken for rung in rungs]
    assert taken.count("vectorized") > len(taken) * 0.3


TEXTS = {
    "elements": loop("a[i] = b[i] * 2 + i"),
    "strides": loop("a[2 * i] = b[13 - 2 * i]"),
    "negative strides": loop("a[9 - i] = b[i]"),
    "rows": loop("A[i] = A[i] * b + c[i]"),
    "columns": loop("A[:, i] = A[:, i] * b + c[i]"),
    "diagonals": loop("A[i, i + 1] = A[i + 7, i] * 2"),
    "windows": loop("a[i] = np.sum(b[i:i + 3] * c[0:3])"),
    "strided windows": loop("a[i] = np.max(b[2 * i:2 * i + 3])"),
    "blocks": loop("a[i] = np.sum(b[2 * i:2 * i + 2])"),
    "windows of two axes": "for i in range(6):\n    for j in range(5):\n        A[i, j] = np.sum(A[i + 7:i + 9, j + 7:j + 10])",
    "nested": "for i in range(6):\n    for j in range(4):\n        A[i, j] = a[i] * b[j] + i * j",
    "matrix times vector": loop("A[i, :6] = A[8:14, 8:14] @ b[i:i + 6]"),
    "vector times matrix": loop("A[i, :6] = b[i:i + 6] @ A[8:14, 8:14]"),
    "dots": loop("a[i] = np.dot(A[i], A[:, i])"),
    "outer": loop("A[8:14, i] = np.outer(b[i:i + 2], c[:3]).reshape(6)"),
    "sum": loop("s += a[i] * b[i]"),
    "maximum": loop("s = np.maximum(s, a[i] * b[i])"),
    "in an element": loop("a[9] += b[i]"),
    "vectors": loop("u += A[i, :6]"),
    "last": loop("x = a[i] * 2", "b[i] = x") + "\ns = x + i",
    "last index": loop("a[3] = b[i]", "c[i] = a[3]"),
    "temporaries": loop("x = np.zeros(3)", "x[1] = b[i]", "x[0] = i", "a[i] = np.sum(x * c[:3])"),
    "where": loop("a[i] = np.where(b[i] > 0, i, b[i])"),
    "joined": loop("A[i, :4] = np.concatenate([b[i:i + 2], c[:2]])"),
    "gather": loop("a[i] = b[int(abs(c[i]))]"),
    "halves": loop("a[i] = b[i // 2] + c[i % 3]"),
    "triangle": loop("A[i, :i] = A[i, :i] * 2 + b[:i]"),
    "both triangles": loop("A[i:, i] = A[i, i:] = b[i:] * c[i]"),
    "rows below": loop("A[i, :6] += A[i + 1:, i] @ A[i + 1:, :6]"),
    "sum under a mask": "for i in range(6):\n    for k in range(8, 14):\n        A[i, :i + 1] += a[k] * b[k] * c[:i + 1]",
}


@pytest.mark.parametrize("dtype", [float, np.float32, np.int64, np.int8])
@pytest.mark.parametrize("name", TEXTS)
def test_vectorized(forced, name, dtype):
    rungs = run(TEXTS[name], dtype)
    if rungs is not None and dtype is float:
        assert [rung.taken for rung in rungs] == ["vectorized"] * len(rungs), rungs


@pytest.mark.parametrize("over", ["range(0)", "range(5, 5, -1)", "range(3, 2)", "range(7)", "range(8, 1, -1)"])
def test_ranges(forced, over):
    assert run(loop("a[i] = b[i + 1] + i", "s += c[i]", over=over)) is not None


def test_no_loop_is_left(forced):
    found = captured(function_of(TEXTS["nested"]), arrays())
    assert found is not None
    assert not loops_in(run_pipeline(found[0]))


def test_text_runs(forced):
    compared = 0
    for name, text in TEXTS.items():
        arguments = arrays()
        found = captured(function_of(text), arguments)
        if found is None:
            continue
        graph, inputs = found
        after = run_pipeline(graph)
        results = run_text(after, inputs, namespace={"aj": text_helpers})
        assert exact_key(tuple(results)) == exact_key(evaluate(graph, inputs)), (name, to_text(after))
        compared += 1
    assert compared >= len(TEXTS) / 2


def test_reasons():
    rungs = run(loop("a[i + 1] = a[i] * 2"))
    assert rungs is not None
    (rung,) = rungs
    assert rung.taken == "rolled" and "earlier one wrote" in str(rung) and rung.source is not None


def test_large_batches_keep_their_loop(forced, monkeypatch):
    monkeypatch.setattr("autojit.passes.lanes.LARGEST_BATCH", 300)
    rungs = run(loop("A[i] = A[i] * 2"))
    assert rungs is not None and "at once take" in rungs[0].reason


def test_endless_loops_are_not_looked_at_whole(forced, monkeypatch):
    found = captured(function_of(loop("s += a[3]", over="range(10 ** 12)")), arrays())
    assert found is not None
    rungs = []
    (left,) = loops_in(vectorize(bodies(found[0]), rungs))
    assert [rung.taken for rung in rungs] == ["vectorized"] and not loops_in(left.keywords["body"])
    monkeypatch.setattr(module, "LEAST_STRIP", 1 << 30)
    vectorize(bodies(found[0]), rungs)
    assert "too many to look at" in rungs[1].reason


def test_batches_of_many_operations_keep_their_loop(forced, monkeypatch):
    monkeypatch.setattr(module, "MOST_NODES", 3)
    rungs = run(TEXTS["rows"])
    assert rungs is not None and "operations" in rungs[0].reason


# ---- as functions of the user


def test_functions(forced):
    def elements(a, b):
        for i in range(a.shape[0]):
            a[i] = np.sqrt(b[i]) * i

    def windows(x, w, out):
        for i in range(out.shape[0]):
            for j in range(out.shape[1]):
                out[i, j] = np.sum(x[i : i + 3, j : j + 3] * w)

    def products(a, b, out):
        for i in range(a.shape[0]):
            for j in range(b.shape[1]):
                out[i, j] = np.dot(a[i], b[:, j])

    def symmetric(data, cov):
        for i in range(data.shape[1]):
            cov[i:, i] = cov[i, i:] = data[:, i] @ data[:, i:]

    def rank(a, c, alpha, beta):
        for i in range(a.shape[0]):
            c[i, : i + 1] *= beta
            for k in range(a.shape[1]):
                c[i, : i + 1] += alpha * a[i, k] * a[: i + 1, k]

    def trace(a):
        total = 0.0
        for i in range(a.shape[0]):
            total += np.tanh(a[i, i])
        return a + total

    def largest(a):
        best = a[0, 0]
        for i in range(a.shape[0]):
            best = np.maximum(best, a[i].sum())
        return best, i

    check(elements, np.zeros(20), RNG.random(20), whole=True)
    check(windows, RNG.random((12, 11)), RNG.random((3, 3)), np.empty((10, 9)), whole=True)
    check(products, RNG.random((7, 9)), RNG.random((9, 8)), np.empty((7, 8)), whole=True)
    check(symmetric, RNG.random((9, 8)), np.zeros((8, 8)), whole=True)
    check(rank, RNG.random((8, 6)), RNG.random((8, 8)), 1.5, 0.5, whole=True)
    check(trace, RNG.random((30, 30)), whole=True)
    check(largest, RNG.random((30, 5)), whole=True)


def test_nan(forced):
    def extremes(a, b):
        low, high = b, b
        for i in range(a.shape[0]):
            low = np.minimum(low, a[i])
            high = np.maximum(high, a[i])
        return low, high

    def triangle(a, b):
        for i in range(a.shape[0]):
            a[i, : i + 1] = b[i, : i + 1] * 2

    values = RNG.random((9, 4))
    values[3, 1] = np.nan
    check(extremes, values, RNG.random(4))
    check(extremes, values[:, 0].copy(), np.float64(np.nan))
    square = RNG.random((9, 9))
    square[2, 5] = square[7, 2] = np.nan
    check(triangle, np.full((9, 9), np.inf), square)


def test_small_integers(forced):
    def add(a, b):
        total = b
        for i in range(a.shape[0]):
            total = total + a[i]
            a[i] = a[i] + i
        return total

    check(add, np.arange(90, 130, dtype=np.int8), np.int8(3))
    check(add, np.arange(200, dtype=np.uint8), np.uint8(3))


def test_out_of_bounds(forced):
    def beyond(a, b):
        for i in range(a.shape[0]):
            a[i] = b[i + 1]

    def data(a, b, where):
        for i in range(a.shape[0]):
            a[i] = b[where[i]]

    check(beyond, np.zeros(9), RNG.random(9))
    check(data, np.zeros(9), RNG.random(9), np.arange(1, 10))


def test_aliases(forced):
    def both(a, b):
        for i in range(8):
            a[i] = b[i + 1] * 2

    x = RNG.random(20)
    check(both, x, x)
    check(both, x[1:], x[:-1])


def test_warm_calls_with_other_shapes(forced):
    @aj.autocluster(policy="eager")
    def scaled(a, b):
        for i in range(a.shape[0]):
            a[i] = b[i] * 3

    for n in (7, 30, 7, 1, 0):
        a, b = np.zeros(n), RNG.random(n)
        scaled(a, b)
        np.testing.assert_array_equal(a, b * 3)
