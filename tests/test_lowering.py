"""Lowering: parameters, packs, checks, and the user's lines."""

import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autojit as aj
from autojit.errors import SourceLine
from autojit.ir.evaluate import evaluate
from autojit.ir.graph import Const, Graph, Node, Value
from autojit.ir.spec import Spec, spec_of
from autojit.lowering.cluster import LoweringError, lower
from autojit.lowering.parameters import WINDOW_BYTES
from autojit.lowering.source import call_from
from autojit.ops.families import elementwise, row

ADD, MULTIPLY = elementwise(np.add, jnp.add), elementwise(np.multiply, jnp.multiply)
TOTAL = row("total", np.sum, "reduction", ("a",), lower=lambda node, xs, trap: jnp.sum(xs[0]))
SPLIT = row("split", np.split, "shaping", ("a",), lower=lambda node, xs, trap: tuple(jnp.split(xs[0], 2)))


def value(name, example):
    return Value(name, spec_of(example))


def test_scalars_are_packed_by_dtype():
    inputs = (
        value("i", 1), value("a", np.zeros(3)), value("x", 1.0), value("j", 2), value("f", np.float32(1)),
        value("y", np.float64(2)), value("unused", np.zeros(10**6)),
    )  # fmt: skip
    i, a, x, j, f, y, _ = inputs
    nodes, total = [], a
    for number, operand in enumerate((x, i, y, j, f)):
        out = Value(f"t{number}", a.spec)
        nodes.append(Node(ADD, (total, operand), (), (out,)))
        total = out
    graph = Graph("cluster_0", inputs, tuple(nodes), (total,))
    lowered = lower(graph)
    assert [(p.name, p.shape, p.positions, p.kind) for p in lowered.parameters] == [
        ("a", (3,), (1,), "array"),
        ("int64_scalars", (2,), (0, 3), "pack"),
        ("float64_scalars", (2,), (2, 5), "pack"),
        ("float32_scalars", (1,), (4,), "pack"),
    ]
    values = [1, np.arange(3.0), 10.5, 100, np.float32(0.25), np.float64(7), None]
    with jax.enable_x64(True):
        packs = [np.array([1, 100]), np.array([10.5, 7]), np.array([0.25], np.float32)]
        (result,) = jax.jit(lowered.function)(values[1], *packs)
        np.testing.assert_array_equal(result, evaluate(graph, values)[0])


def test_large_inputs_are_windows_where_everything_fuses():
    n = WINDOW_BYTES // 8
    a, b, c = (Value(name, Spec((n,), np.dtype(np.float64))) for name in "abc")
    t = Value("t", Spec((), np.dtype(np.float64), "scalar"))
    add = Node(ADD, (a, b), (), (c,))
    kinds = [p.kind for p in lower(Graph("g", (a, b), (add,), (c,))).parameters]
    assert kinds == ["window", "window", "offsets"]
    graph = Graph("g", (a, b), (add, Node(TOTAL, (c,), (), (t,))), (t,))
    assert [p.kind for p in lower(graph).parameters] == ["array", "array"]


def test_names_of_parameters_are_distinct():
    names = ["float64_scalars", "offsets", "class", "x.1"]
    inputs = tuple(Value(name, Spec((WINDOW_BYTES,), np.dtype(np.float64))) for name in names)
    s = value("s", 1.0)
    nodes = tuple(Node(ADD, (v, s), (), (Value(f"r{k}", v.spec),)) for k, v in enumerate(inputs))
    parameters = lower(Graph("g", (*inputs, s), nodes, tuple(n.outputs[0] for n in nodes))).parameters
    assert len({p.name for p in parameters}) == len(parameters) == 6
    assert all(p.name.isidentifier() for p in parameters)


def test_several_outputs():
    a = value("a", np.arange(6.0))
    parts = tuple(Value(name, Spec((3,), np.dtype(np.float64))) for name in "xy")
    lowered = lower(Graph("g", (a,), (Node(SPLIT, (a,), (), parts),), parts[::-1]))
    with jax.enable_x64(True):
        high, low = map(np.asarray, lowered.function(jnp.arange(6.0)))
    assert low.tolist() == [0, 1, 2] and high.tolist() == [3, 4, 5]


@pytest.mark.parametrize(
    ("outputs", "message"),
    [
        ((np.zeros(3),), r"gave 2 values, not 1"),
        ((np.zeros(3), np.zeros(4)), r"gave float64\[3\] for `v1`, not float64\[4\]"),
        ((np.zeros(3, np.float32), np.zeros(3)), r"gave float64\[3\] for `v0`, not float32\[3\]"),
    ],
)
def test_a_wrong_lowering_is_an_error(outputs, message):
    a = value("a", np.arange(6.0))
    values = tuple(Value(f"v{k}", spec_of(example)) for k, example in enumerate(outputs))
    node = Node(SPLIT, (a,), (), values, SourceLine("prog.py", 3, "f"))
    lowered = lower(Graph("g", (a,), (node,), values))
    with jax.enable_x64(True), pytest.raises(LoweringError, match=rf"`split` \(prog.py:3\) {message}"):
        lowered.function(jnp.arange(6.0))


def test_a_host_node_is_an_error():
    a = value("a", np.arange(6.0))
    node = Node(row("np.unique", np.unique, "host", ("ar",)), (a,), (), (Value("b", a.spec),))
    with pytest.raises(LoweringError, match=r"`np\.unique` has no lowering"):
        lower(Graph("g", (a,), (node,), node.outputs))


def test_constants_have_their_nodes_dtype():
    a = value("a", np.zeros(2, np.float32))
    b = Value("b", a.spec)
    node = Node(MULTIPLY, (a, Const(3, spec_of(3))), (), (b,))
    with jax.enable_x64(True):
        result = np.asarray(lower(Graph("g", (a,), (node,), (b,))).function(jnp.ones(2, jnp.float32))[0])
    assert result.dtype == np.float32 and result.tolist() == [3, 3]


def test_call_from_the_users_line():
    def look():
        frame = sys._getframe(1)
        return frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name, frame.f_code.co_qualname

    assert call_from(SourceLine("user.py", 41, "C.run"), look) == ("user.py", 41, "run", "C.run")
    assert call_from(SourceLine("user.py", 1, ""), look) == ("user.py", 1, "<module>", "<module>")
    assert call_from(None, int, "3") == 3


@pytest.mark.parametrize("dtype", ["uint8", "bool", "float32", "float64", "complex128"])
def test_what_is_moved_is_read_in_place_or_copied(dtype, rng):
    # Loops that move elements of windows to other places do not become vector code.
    def moved(x, y):
        flat = np.roll(x, 5) ^ y if dtype == "bool" else np.roll(x, 5) + y
        around = np.roll(np.roll(x, -1, axis=0), (1, 700), axis=(1, 0))
        return flat, around, np.pad(x, ((3, 1), (0, 2)), mode="wrap"), np.pad(x, 1, mode="edge"), np.pad(y, 2)

    memory = (rng.random(2 * 701 * 500 + 9) * 200).astype(dtype)
    fast = aj.autocluster(moved, policy="eager")
    for start in range(4):
        x, y = (memory[start + part * 701 * 500 :][: 701 * 500].reshape(701, 500) for part in (0, 1))
        for found, wanted in zip(fast(x, y), moved(x, y), strict=True):
            np.testing.assert_array_equal(found, wanted)
            assert found.dtype == wanted.dtype
    assert fast.cache_info().hits == 4


def test_only_what_is_moved_is_no_window(rng):
    def mixed(x, y):
        return np.roll(x * 2, 1) + y

    x, y = rng.random((300, 300)), rng.random((300, 300))
    fast = aj.autocluster(mixed, policy="eager")
    np.testing.assert_array_equal(fast(x, y), mixed(x, y))
    (plan,) = next(iter(fast.__autojit_controller__.probes.values())).plans
    (executable,) = plan.executables.values()
    assert [parameter.kind for parameter in executable.lowered.parameters] == ["array", "window", "offsets"]
