"""The checker refuses every kind of malformed graph, and names the lines."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings

from autojit.errors import AutojitError, Reason
from autojit.ir.graph import Const, Graph, Node, Value, Write
from autojit.ir.spec import Spec
from autojit.ir.verify import GraphError, verify
from tests.graphs import FLOAT3, FLOAT33, OPS, const, graph_of, graphs, make

X, A, B = (Value(name, FLOAT3) for name in "xab")
GOOD = graph_of("a = square(x); b = add(a, 2.0) -> b; x := a")


def node(*inputs, out=A, op="square", params=()):
    return Node(OPS[op], inputs, params, (out,))


def graph(*nodes, inputs=(X,), outputs=(), writes=()):
    return Graph("f", inputs, nodes, outputs, writes)


BAD = {
    "two inputs are named `x`": graph(inputs=(X, X)),
    "`a` is assigned twice": graph(node(X), node(X)),
    "`x` is assigned twice": graph(node(X, out=X)),
    "`b` is used before it is assigned": graph(node(B)),
    "`a` is used before it is assigned": graph(outputs=(A,)),
    "`x` is float64[3] where it is assigned and float64[3,3] here": graph(outputs=(Value("x", FLOAT33),)),
    "`np.square` gives float64[3], but the node says float64[3,3]": graph(node(X, out=Value("a", FLOAT33))),
    "`np.sum` gives scalar float64[], but the node says float64[]": graph(
        node(X, op="sum", out=Value("a", Spec((), np.dtype(float))))
    ),
    "`np.add` does not take these operands": graph(
        node(X, const(np.ones(2)), op="add"),
    ),
    "parameter `axis` cannot be hashed": graph(node(X, op="sum", params=(("axis", [0]),))),
    "a constant is python int64[], but says float64[3]": graph(outputs=(Const(1, FLOAT3),)),
    "a constant is no array or scalar": graph(outputs=(Const("text", FLOAT3),)),
    "`np.sort` has no lowering but is in `cluster_0`": graph(replace(node(X, op="sort"), cluster="cluster_0")),
    "`nonsense` is not a reason": graph(replace(node(X), reason=Reason("nonsense", ""))),
    "`a` is written but is not an input": graph(node(X), writes=(Write(A, X),)),
    "`x` is written twice": graph(writes=(Write(X, X), Write(X, X))),
    "`x` is float64[3] but is written with python int64[]": graph(writes=(Write(X, const(1)),)),
    "`s` is written but is not an array": graph(
        inputs=(Value("s", Spec((), np.dtype(float), "scalar")),),
        writes=(Write(Value("s", Spec((), np.dtype(float), "scalar")), const(np.float64(1))),),
    ),
    "`x` has axes, but is a scalar": graph(inputs=(Value("x", Spec((3,), np.dtype(float), "scalar")),)),
    "`x` has the shape (-1,), not a tuple of lengths": graph(inputs=(Value("x", Spec((-1,), np.dtype(float))),)),
    "`x` has the shape [3], not a tuple of lengths": graph(inputs=(Value("x", Spec([3], np.dtype(float))),)),
    "`x` has a dtype that is not an `np.dtype`": graph(inputs=(Value("x", Spec((3,), float)),)),
    "`x` has the unknown kind `list`": graph(inputs=(Value("x", Spec((3,), np.dtype(float), "list")),)),
}


@pytest.mark.parametrize("message", BAD, ids=str)
def test_refuses(message):
    with pytest.raises(GraphError) as caught:
        verify(BAD[message])
    assert isinstance(caught.value, AutojitError)
    assert str(caught.value).startswith(f"graph `f`: {message}")


def test_accepts():
    verify(GOOD)
    verify(graph())


def test_names_the_lines():
    nodes = (GOOD.nodes[0], replace(GOOD.nodes[1], outputs=(Value("b", FLOAT33),)))
    with pytest.raises(GraphError) as caught:
        verify(replace(GOOD, nodes=nodes))
    assert "\n    in the graph: b = np.add(a, 2.0)\n" in str(caught.value)
    assert str(caught.value).endswith("in the program: /home/user/demo.py:2  b = add(a, 2.0)")
    assert caught.value.node is nodes[1]


def test_a_node_that_does_not_print_is_named():
    broken = make("get", lambda x: x, text=lambda inputs, params: params["index"].text(inputs))
    with pytest.raises(GraphError, match=r"in the graph: a = get\(\.\.\.\)"):
        verify(graph(Node(broken, (B,), (), (A,))))


def test_looks_into_inner_graphs():
    inner = graph(outputs=(A,))
    with pytest.raises(GraphError, match="`a` is used before"):
        verify(graph(node(X, params=(("body", inner),))))


@given(graphs())
@settings(max_examples=100, deadline=None)
def test_accepts_what_the_builder_builds(built):
    with np.errstate(all="ignore"):
        verify(built)
