"""The printed graph: what it looks like, and that it runs to the same results."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import autojit.ops.chapters  # noqa: F401 -- fills the table
from autojit.errors import Reason
from autojit.ir.build import Builder
from autojit.ir.evaluate import evaluate
from autojit.ir.graph import Graph, Node, Value
from autojit.ir.index import Index, Slice, Window
from autojit.ir.spec import Spec, spec_of
from autojit.ir.text import constants_of, node_text, print_graph, run_text, to_text
from autojit.ops import text_helpers
from autojit.ops.table import TABLE
from tests.graphs import FLOAT3, OPS, arguments_of, assert_same, const, graph_of, graphs, make, outcome


def returns(value):
    """A graph that returns one constant."""
    return Graph("f", (), (), (const(value),))


def test_golden():
    graph = graph_of(
        "a = square(x); b, c = divmod(a, 2.0); d = concatenate(a, b, axis=0); e = lib.tools.spread(d) -> c, e; x := b"
    )
    expected = """\
def f(x):  # float64[3]
    a = np.square(x)  # float64[3] | demo.py:1
    b, c = np.divmod(a, 2.0)  # float64[3], float64[3] | demo.py:2
    d = np.concatenate([a, b], axis=0)  # float64[6] | demo.py:3
    e = lib.tools.spread(d)  # float64[3] | demo.py:4
    return c, e, b  # writes: x
"""
    assert to_text(graph) == expected
    assert to_text(graph) == to_text(graph)


def test_cluster_and_reason_are_comments():
    value = Value("v0", FLOAT3)
    node = Node(OPS["square"], (value,), (), (Value("v1", FLOAT3),), None, "cluster_0")
    assert to_text(Graph("f", (value,), (node,), ())).splitlines()[1].endswith("# float64[3] | cluster_0")
    node = Node(OPS["sort"], (value,), (), (Value("v1", FLOAT3),), None, None, Reason("host-op", "`np.sort`"))
    assert to_text(Graph("f", (value,), (node,), ())).splitlines()[1].endswith("# float64[3] | host-op")


@pytest.mark.parametrize(
    ("results", "line"),
    [("-> ", "return ()"), ("-> x", "return x"), ("-> x, x", "return x, x"), ("-> x, 1", "return x, 1"),
     ("-> ; x := x", "return x  # writes: x")],
)  # fmt: skip
def test_return(results, line):
    graph = graph_of(results)
    assert to_text(graph).splitlines()[-1].strip() == line
    assert len(run_text(graph, arguments_of(graph))) == len(graph.results)


SCALARS = [
    True, False, 0, -5, 2**80, 1.5, -0.0, float("nan"), -float("nan"), float("inf"), -float("inf"), 5e-324,
    complex(-0.0, -0.0), complex(float("nan"), 1), complex(0, -float("inf")), np.True_, np.int8(-128),
    np.uint64(2**64 - 1), np.float16(0.1), np.float32(0.1), np.float32("-nan"), np.float64(1) / 3,
    np.complex64(1 - 0j), np.complex128(complex(-0.0, float("nan"))), np.longlong(3), np.longdouble(1) / 3,
    np.datetime64("2020-01-01"),
]  # fmt: skip


@pytest.mark.parametrize("value", SCALARS, ids=lambda value: f"{type(value).__name__} {value}")
def test_scalars_come_back(value):
    assert_same(run_text(returns(value), ()), (value,))


ARRAYS = [
    np.array([1.0, -0.0, np.nan, np.inf]), np.array(3, np.int8), np.array(1j), np.zeros((0, 3), np.float32),
    np.array([[True, False]]), np.arange(4, dtype=np.uint16).reshape(2, 2)[:, ::-1], np.arange(1000.0),
    np.ones((2, 2), np.complex64), np.array([np.float16(0.1)]),
]  # fmt: skip


@pytest.mark.parametrize("value", ARRAYS, ids=lambda value: f"{value.dtype} {value.shape}")
def test_arrays_come_back(value):
    graph = returns(value)
    assert_same(run_text(graph, ()), (value,))
    assert bool(constants_of(graph)) == (value.size > 16)


def test_a_large_constant_is_bound_once():
    large = const(np.arange(100.0))
    builder = Builder()
    x = builder.input(spec_of(large.value), "c0")
    (y,) = builder.add(OPS["add"], [x, large])
    (z,) = builder.add(OPS["multiply"], [y, large])
    printed = print_graph(builder.graph("f", [z]))
    assert list(printed.constants) == ["c0_"]
    expected = (large.value * 2 * large.value,)
    assert_same(run_text(printed.text, [large.value], printed.constants), expected)


PARAMS = [
    None, True, 3, -1.5, float("nan"), "ij,jk->ik", (1,), (), (0, (1, None)), ..., slice(1, None, 2), np.dtype("f4"),
    np.dtype(">f8"), float, np.float32, np.int64(3), Index((0, None, ..., Slice(1, None, -1), Window(0, 3))), np.add,
]  # fmt: skip


@pytest.mark.parametrize("value", PARAMS, ids=str)
def test_params_come_back(value):
    seen = []
    op = make("tell", lambda x, what: seen.append(what) or x, infer=lambda specs, params: specs)
    builder = Builder()
    x = builder.input(FLOAT3, "x")
    (v,) = builder.add(op, [x], {"what": value} if not isinstance(value, slice) else {"what": (value,)})
    run_text(builder.graph("f", [v]), [np.zeros(3)])
    wanted = (value,) if isinstance(value, slice) else value
    assert type(seen[0]) is type(wanted)
    assert repr(seen[0]) == repr(wanted)


def test_a_row_prints_itself():
    def text(inputs, params):
        return f"{inputs[0]}[{params['index'].text(inputs[1:])}] + {inputs[-1]}"

    op = make("get", lambda x, i, index: x[index.fill([i])] + i, infer=lambda specs, params: specs[:1], text=text)
    builder = Builder()
    x = builder.input(FLOAT3, "x")
    (v,) = builder.add(op, [x, const(-2)], {"index": Index((Window(0, 1),))})
    (w,) = builder.add(op, [v, const(np.uint8(0))], {"index": Index((Window(0, 1),))})
    graph = builder.graph("f", [v, w])
    assert "v0 = x[aj.window_slice((-2), 1, 1)] + (-2)" in to_text(graph)
    assert_same(run_text(graph, [np.arange(3.0)]), evaluate(graph, [np.arange(3.0)]))


@pytest.mark.parametrize("name", ["<lambda>", "f.<locals>.g", "class", "np", "1x", "größe", "a b", ""])
def test_any_name_is_printed(name):
    value = Value(name, FLOAT3)
    node = Node(OPS["square"], (value,), (), (Value("np_", FLOAT3),))
    graph = Graph(name, (value,), (node,), node.outputs)
    assert_same(run_text(graph, [np.arange(3.0)]), (np.arange(3.0) ** 2,))


def test_functions_that_share_a_name_are_kept_apart():
    names = ["demo.<lambda>", "demo.<lambda>", "demo.run", "demo.run.go", "demo", "f.g", "run", "x.y", "class.def"]
    builder = Builder()
    total = builder.input(FLOAT3, "x")
    for number, name in enumerate(names, 1):
        call = lambda x, number=number: x * 10 + number
        (total,) = builder.add(make(name, call, "host", infer=lambda specs, params: specs), [total])
    graph = builder.graph("f", [total])
    assert_same(run_text(graph, [np.zeros(3)]), (np.full(3, 123456789.0),))
    assert "_ = demo._lambda_(x)" not in to_text(graph)
    assert "demo._lambda__(v0)" in to_text(graph)


def test_names_that_meet_are_kept_apart():
    graph = graph_of("a = square(x) -> a")
    values = tuple(Value(name, FLOAT3) for name in ("a b", "a_b", "a-b"))
    graph = Graph("f", values, (), values)
    arguments = [np.full(3, number) for number in range(3)]
    assert_same(run_text(graph, arguments), tuple(arguments))


def test_inner_graphs_are_shown():
    inner = graph_of("b = negative(y) -> b", name="body")
    op = make("loop", lambda x, body: evaluate(body, [x])[0], infer=lambda specs, params: specs)
    builder = Builder()
    (v,) = builder.add(op, [builder.input(FLOAT3, "x")], {"body": inner})
    graph = builder.graph("f", [v])
    assert "    #     b = np.negative(y)  # float64[3]" in to_text(graph)
    assert_same(run_text(graph, [np.ones(3)]), (-np.ones(3),))


def test_a_namespace_is_passed_in():
    text = "def f(x):\n    return aj.twice(x), lib.g(x), aj.Index\n"

    class aj:
        twice = staticmethod(lambda x: 2 * x)

    class lib:
        g = staticmethod(lambda x: x + 1)

    assert run_text(text, [3], namespace={"aj": aj, "lib": lib}) == (6, 4, Index)


def test_node_text():
    (node,) = graph_of("a = sum(x, axis=0) -> a").nodes
    assert node_text(node) == "a = np.sum(x, axis=0)"
    assert node_text(Node(OPS["zeros"], (), (("shape", 3),), ())) == "_ = np.zeros(shape=3)"


def test_scalar_kinds_are_told():
    spec = Spec((), np.dtype(float), "python")
    assert to_text(Graph("f", (Value("x", spec),), (), ())).startswith("def f(x):  # python float64[]\n")


SAMPLED = sorted(name for name, row in TABLE.rows.items() if row.samples is not None and row.infer is not None)


@pytest.mark.parametrize("name", SAMPLED)
def test_every_row_runs_as_printed(name, rng):
    row = TABLE[name]
    for arguments, params in row.samples(rng):
        builder = Builder()
        outputs = builder.add(row, [builder.input(spec_of(argument)) for argument in arguments], params)
        graph = builder.graph("f", outputs)
        assert_same(run_text(graph, arguments, namespace={"aj": text_helpers}), evaluate(graph, arguments))


@given(graphs(), st.integers(0, 3))
@settings(max_examples=150, deadline=None)
def test_random_graphs_run_as_printed(graph, seed):
    arguments = arguments_of(graph, seed)
    assert_same(outcome(run_text, graph, arguments), outcome(evaluate, graph, arguments))
    lines = to_text(graph).splitlines()
    assert len(lines) == len(graph.nodes) + 2
    assert not any(re.search(r"\bc\d+\b", line) for line in lines)
