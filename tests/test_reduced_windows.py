"""Reductions of arrays that begin anywhere: they read the window around the array, and only the array."""

import numpy as np
import pytest

from autojit.compile.executable import Executable
from autojit.compile.transfer import aligned_empty
from autojit.errors import Trapped
from autojit.ir.graph import Const, Graph, Node, Value
from autojit.ir.spec import Spec, spec_of
from autojit.lowering.parameters import WINDOW_BYTES
from autojit.ops.chapters import TABLE

SHAPE = (300, 437)


def node(op, inputs, name, **params):
    row = TABLE[op]
    specs = row.infer([operand.spec for operand in inputs], params)
    return Node(row, tuple(inputs), tuple(params.items()), tuple(Value(name, spec) for spec in specs))


def reduction_of_sum(op, dtypes, **params):
    """`op(x + y * 2)`, or of `x` alone."""
    x, *rest = (Value(f"x{k}", Spec(SHAPE, np.dtype(dtype))) for k, dtype in enumerate(dtypes))
    nodes, value = [], x
    for other in rest:
        nodes.append(node("np.multiply", (other, Const(2, spec_of(2))), f"twice_{other}"))
        nodes.append(node("np.add", (value, nodes[-1].outputs[0]), f"sum_{other}"))
        value = nodes[-1].outputs[0]
    nodes.append(node(op, (value,), "r", **params))
    return Graph("cluster_0", (x, *rest), tuple(nodes), nodes[-1].outputs)


def at_offset(values, offset):
    memory = aligned_empty((values.nbytes + 64,), np.dtype(np.uint8))[offset : offset + values.nbytes]
    array = memory.view(values.dtype).reshape(values.shape)
    array[...] = values
    return array


@pytest.mark.parametrize("offsets", [(0, 0), (16, 16), (16, 0), (48, 8), (24, None), (None, None)])
@pytest.mark.parametrize("dtypes", [("f8", "f8"), ("f8", "f4"), ("i4", "i8"), ("c16", "f8")])
@pytest.mark.parametrize("axis", [None, 0, 1])
def test_mixed_alignments(dtypes, offsets, axis):
    graph = reduction_of_sum("np.sum", dtypes, axis=axis)
    executable = Executable(graph)
    assert {p.kind for p in executable.lowered.parameters} == {"window", "offsets"}
    for _ in range(2):
        arrays = []
        for dtype, offset in zip(dtypes, offsets, strict=True):
            values = (np.random.rand(*SHAPE) * 100).astype(dtype)
            arrays.append(at_offset(values, offset) if offset is not None else np.asfortranarray(values))
        expected = np.sum(arrays[0] + arrays[1] * 2, axis=axis)
        np.testing.assert_allclose(executable.run(arrays)[0], expected, rtol=1e-13)


@pytest.mark.parametrize("op", "np.sum np.prod np.max np.min np.any np.all np.count_nonzero np.nansum np.mean".split())
@pytest.mark.parametrize("dtype", ["f8", "f4", "i8", "?", "u1", "c16"])
def test_every_reduction(op, dtype, rng):
    base = rng.random((4 * SHAPE[0], 4 * SHAPE[1])) * 2
    if op == "np.prod":  # what may overflow on the way is left to NumPy
        base[...] = 1
        places = rng.choice(base.size, 70, replace=False)
        base.flat[places[:30]] = 0.5 if np.dtype(dtype).kind in "fc" else 1
        base.flat[[0, -1, *places[30:]]] = 2
    values = at_offset(base.astype(dtype), 16)
    x = Value("x", spec_of(values))
    graph = Graph("cluster_0", (x,), (node(op, (x,), "r"),), (Value("r", spec_of(TABLE[op].call(values))),))
    executable = Executable(graph)
    assert executable.lowered.parameters[0].kind == "window"
    for value in (None, 0, 1) if op in ("np.any", "np.all", "np.count_nonzero") else (None,):
        if value is not None:
            values[...] = value
        expected = np.asarray(TABLE[op].call(values))
        (result,) = executable.run([values])
        assert result.dtype == expected.dtype
        if op in ("np.sum", "np.nansum", "np.mean"):
            np.testing.assert_allclose(result, expected, rtol=1e-5 if dtype == "f4" else 1e-11)
        else:
            np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize("place", [0, 5, 1000, -1])
def test_every_element_counts_once(place):
    n = WINDOW_BYTES // 8 + 77
    x = Value("x", Spec((n,), np.dtype(np.float64)))
    executable = Executable(Graph("g", (x,), (node("np.sum", (x,), "s"), node("np.max", (x,), "m")), (
        Value("s", Spec((), x.spec.dtype, "scalar")), Value("m", Spec((), x.spec.dtype, "scalar")))))  # fmt: skip
    for offset in range(0, 64, 8):
        values = at_offset(np.zeros(n), offset)
        values[place] = 3
        assert [result[()] for result in executable.run([values])] == [3, 3]
        values[place] = np.nan
        assert all(np.isnan(executable.run([values])))


def test_neighbours_do_not_count():
    """What lies before and behind the array in the window is somebody else's."""
    n = WINDOW_BYTES // 8 + 3
    x = Value("x", Spec((n,), np.dtype(np.float64)))
    executable = Executable(
        Graph("g", (x,), (node("np.sum", (x,), "s"),), (Value("s", Spec((), x.spec.dtype, "scalar")),))
    )
    for offset in range(0, 64, 8):
        memory = aligned_empty((8 * n + 128,), np.dtype(np.uint8)).view(np.float64)
        memory[:] = np.nan
        values = memory[offset // 8 :][:n]
        values[:] = 1
        assert executable.run([values])[0] == n


def test_traps_everywhere():
    x = Value("x", Spec((WINDOW_BYTES,), np.dtype(np.int64)))
    s = Value("s", spec_of(10))
    quotient = node("np.floor_divide", (s, x), "q")
    executable = Executable(
        Graph("g", (x, s), (quotient, total := node("np.sum", quotient.outputs, "t")), total.outputs)
    )
    assert executable.lowered.parameters[0].kind == "window"
    for place in (0, 1000, -1):
        values = np.full(WINDOW_BYTES, 3)
        assert executable.run([values, 10])[0] == 3 * WINDOW_BYTES
        values[place] = 0
        with pytest.raises(Trapped):
            executable.run([values, 10])


def test_what_reads_no_window():
    """XLA would copy it first: products of matrices, running sums, what is small."""
    for graph in (reduction_of_sum("np.cumsum", ["f8"]), reduction_of_sum("np.sum", ["?"])):
        assert {p.kind for p in Executable(graph).lowered.parameters} == {"array"}
    x = Value("x", Spec(SHAPE, np.dtype("f8")))
    product = node("np.matmul", (x, Value("y", Spec(SHAPE[::-1], np.dtype("f8")))), "p")
    total = node("np.sum", (x,), "s")
    graph = Graph("g", (x, product.inputs[1]), (product, total), (*product.outputs, *total.outputs))
    assert {p.kind for p in Executable(graph).lowered.parameters} == {"array"}
