"""The passes: golden text, what must stay, and random graphs that keep their results."""

import time
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autojit.ir.build import Builder
from autojit.ir.evaluate import evaluate
from autojit.ir.spec import Spec
from autojit.ir.text import run_text, to_text
from autojit.ir.verify import GraphError, verify
from autojit.passes.cse import cse
from autojit.passes.dce import dce
from autojit.passes.fold import fold
from autojit.passes.forward import forward
from autojit.passes.pipeline import PIPELINE, run_pipeline
from tests.graphs import FLOAT3, FLOAT33, OPS, arguments_of, assert_same, const, graph_of, graphs, outcome

INT0 = Spec((), np.dtype(np.int64), "scalar")


def body(graph):
    """The statements and the return, without comments."""
    lines = [line.split("  #")[0].strip() for line in to_text(graph).splitlines()[1:]]
    return "; ".join(line.replace("np.", "").replace("aj.", "").replace("entries=", "") for line in lines)


# before, after; a name in the comment says why
DCE = [
    ("a = square(x); b = negative(x) -> a", "a = square(x); return a"),
    ("a = square(x); b = negative(a); c = sqrt(b) -> ", "return ()"),
    ("a, b = divmod(x, 2.0) -> b", "a, b = divmod(x, 2.0); return b"),
    ("a = square(x) -> ; x := a", "a = square(x); return a"),
    ("a = sort(x) -> x", "a = sort(x); return x"),  # a host function may raise
    ("a = floor_divide(x, 2.0) -> x", "return x"),  # NumPy only warns
    ("a = getitem(x, i, index=Index((Place(0),))) -> x", "a = getitem(x, i, index=Index((Place(0),))); return x"),
    ("a = getitem(x, index=I[1:]) -> x", "return x"),
    ("a = setitem(x, x, index=I[...]) -> x", "return x"),
    ("a = setitem(k, i, index=I[0]) -> x", "a = setitem(k, i, index=Index((0,),)); return x"),  # may not fit
    ("a = setitem(k, 300, index=I[0]) -> x", "a = setitem(k, 300, index=Index((0,),)); return x"),
    ("a = setitem(k, 200, index=I[0]) -> x", "return x"),
]


@pytest.mark.parametrize(("before", "after"), DCE)
def test_dce(before, after):
    graph = dce(graph_of(before, i=INT0, k=Spec((3,), np.dtype(np.uint8))))
    verify(graph)
    assert squeeze(body(graph)) == squeeze(after)


def squeeze(text):
    return text.replace(" ", "").replace(",)", ")")


CSE = [
    ("a = square(x); b = square(x); c = add(a, b) -> c, b", "a = square(x); c = add(a, a); return c, a"),
    ("a = square(x); b = square(x); c = sqrt(a); d = sqrt(b) -> c, d", "a = square(x); c = sqrt(a); return c, c"),
    ("a, b = divmod(x, 2.0); c, d = divmod(x, 2.0) -> a, d", "a, b = divmod(x, 2.0); return a, b"),
    ("a = add(x, 1); b = add(x, 1.0) -> a, b", "a = add(x, 1); b = add(x, 1.0); return a, b"),
    ("a = add(x, 0.0); b = add(x, -0.0) -> a, b", "a = add(x, 0.0); b = add(x, -0.0); return a, b"),
    ("a = add(x, y); b = add(y, x) -> a, b", "a = add(x, y); b = add(y, x); return a, b"),
    ("a = sort(x); b = sort(x) -> a, b", "a = sort(x); return a, a"),
    ("a = square(x); b = square(x) -> ; x := b", "a = square(x); return a"),
]


@pytest.mark.parametrize(("before", "after"), CSE)
def test_cse(before, after):
    graph = cse(graph_of(before))
    verify(graph)
    assert body(graph) == after


FOLD = [
    ("a = square(3.0); b = add(x, a) -> b", "b = add(x, float64(9.0)); return b"),
    ("a = square(2); b = add(x, a) -> b, a", "b = add(x, int64(4)); return b, int64(4)"),
    ("a, b = divmod(7, 2); c = add(a, b); d = add(x, c) -> d", "d = add(x, int64(4)); return d"),
    ("a = add(np.ones(2), 1); b = sum(a); c = add(x, b) -> c", "c = add(x, float64(4.0)); return c"),
    ("a = square(np.ones(64)) -> a", "return c0"),
    ("a = square(np.ones(65)) -> a", "a = square(c0); return a"),
    ("a = zeros(shape=3) -> a", "a = zeros(shape=3); return a"),
    ("a = floor_divide(1, 0); b = add(x, a) -> b", "a = floor_divide(1, 0); b = add(x, a); return b"),  # warns
    ("a = sqrt(-1.0) -> a", "a = sqrt(-1.0); return a"),  # warns
    ("a = sort(np.array([2, 1])) -> a", "a = sort(array([2, 1], dtype='int64')); return a"),  # on the host
    ("a = reshape(x, shape=(3,)); b = square(a) -> b", "b = square(x); return b"),
    ("a = reshape(x, shape=(-1,)); b = square(a) -> b", "b = square(x); return b"),
    ("a = reshape(x, shape=(1, 3)); b = square(a) -> b", "a = reshape(x, shape=(1, 3,)); b = square(a); return b"),
    ("a = reshape(x, shape=(3,)) -> a", "a = reshape(x, shape=(3,)); return a"),  # an array of the caller's own
    ("a = astype(x, dtype=float); b = square(a) -> b", "b = square(x); return b"),
    (
        "a = astype(m, dtype=np.dtype('f4')); b = square(a) -> b",
        "a = astype(m, dtype=dtype('float32')); b = square(a); return b",
    ),
    ("a = transpose(m, axes=(0, 1)); b = square(a) -> b", "b = square(m); return b"),
    ("a = transpose(m, axes=(-2, -1)); b = square(a) -> b", "b = square(m); return b"),
    ("a = transpose(m); b = square(a) -> b", "a = transpose(m); b = square(a); return b"),
    ("a = transpose(x); b = square(a) -> b", "b = square(x); return b"),
    ("a = getitem(x, index=I[:]); b = square(a) -> b", "b = square(x); return b"),
    ("a = getitem(m, index=I[0:, ...]); b = square(a) -> b", "b = square(m); return b"),
]
STAY = ["a = getitem(m, index=I[::-1]); b = square(a) -> b", "a = getitem(x, index=I[::-1]); b = square(a) -> b"]


@pytest.mark.parametrize(("before", "after"), FOLD)
def test_fold(before, after):
    graph = fold(graph_of(before, m=FLOAT33))
    verify(graph)
    assert squeeze(body(graph)) == squeeze(after)


@pytest.mark.parametrize("before", STAY)
def test_fold_keeps(before):
    graph = graph_of(before, m=FLOAT33)
    assert fold(graph) is graph


S = "setitem(x, a, index="
FORWARD = [
    (f"a = square(y); b = {S}I[:]); c = getitem(b, index=I[:]); d = sqrt(c) -> d", "d = sqrt(a)"),
    (f"a = square(y); b = {S}I[:]); c = getitem(b, index=I[...]); d = sqrt(c) -> d", "d = sqrt(c)"),
    ("a = sum(y); b = setitem(x, a, index=I[0]); c = getitem(b, index=I[0]); d = sqrt(c) -> d", "d = sqrt(a)"),
    ("a = sum(y); b = setitem(x, a, index=I[:]); c = getitem(b, index=I[:]); d = sqrt(c) -> d", "d = sqrt(c)"),  # spec
    (
        f"a = square(y); b = {S}I[:]); c = getitem(b, index=I[:]) -> c",
        "c = getitem(b, index=Index((Slice(None, None, None))))",
    ),
    ("b = setitem(x, 1.0, index=I[1]); c = setitem(b, 2.0, index=I[1]) -> c", "c = setitem(x, 2.0, index=Index((1)))"),
    ("b = setitem(x, 1.0, index=I[1]); c = setitem(b, 2.0, index=I[0]) -> c", "c = setitem(b, 2.0, index=Index((0)))"),
]


@pytest.mark.parametrize(("before", "last"), FORWARD)
def test_forward(before, last):
    graph = forward(graph_of(before))
    verify(graph)
    assert squeeze(body(graph).split("; ")[-2]) == squeeze(last)


def test_forward_does_not_follow_running_indices():
    text = (
        "b = setitem(x, y, i, index=Index((Place(0),))); c = getitem(b, i, index=Index((Place(0),))); d = sqrt(c) -> d"
    )
    graph = graph_of(text, i=INT0, y=Spec((), np.dtype(float), "scalar"))
    assert forward(graph) is graph


@pytest.mark.parametrize("step", PIPELINE, ids=lambda step: step.__name__)
def test_passes_return_what_they_do_not_change(step):
    graph = graph_of("a = square(x); b = add(a, y) -> b; x := a")
    assert step(graph) is graph


@pytest.mark.parametrize("step", PIPELINE, ids=lambda step: step.__name__)
@given(graph=graphs(), seed=st.integers(0, 3))
@settings(max_examples=80, deadline=None)
def test_random_graphs_keep_their_results(step, graph, seed):
    changed = step(graph)
    with np.errstate(all="ignore"):
        verify(changed)
    arguments = arguments_of(graph, seed)
    assert_same(outcome(evaluate, changed, arguments), outcome(evaluate, graph, arguments))
    before = Counter(node.op.name for node in graph.nodes)
    assert not Counter(node.op.name for node in changed.nodes) - before
    assert changed.inputs == graph.inputs


@given(graph=graphs(), seed=st.integers(0, 3))
@settings(max_examples=80, deadline=None)
def test_every_stage_runs_as_printed(graph, seed):
    stages = []
    with np.errstate(all="ignore"):
        final = run_pipeline(graph, stages)
        arguments = arguments_of(graph, seed)
    expected = outcome(evaluate, graph, arguments)
    for stage in stages:
        assert_same(outcome(run_text, stage.graph, arguments), expected)
    assert final is stages[-1].graph
    assert [stage.name for stage in stages] == ["captured", *(step.__name__ for step in PIPELINE)]


def test_the_runner_names_the_pass_that_breaks_a_graph():
    def forget(graph):
        return type(graph)(graph.name, graph.inputs, (), graph.outputs)

    with pytest.raises(GraphError) as caught:
        run_pipeline(graph_of("a = square(x) -> a"), passes=(cse, forget))
    assert caught.value.__notes__ == ["after the pass `forget`"]


def test_the_pipeline_is_fast(no_collection):
    builder = Builder()
    value = builder.input(FLOAT3, "x")
    for number in range(2000):
        (value,) = builder.add(OPS["add"], [value, const(float(number))])
    graph = builder.graph("f", [value])
    start = time.thread_time()
    for step in PIPELINE:
        graph = step(graph)
    assert time.thread_time() - start < 0.5
