"""The builder: names, equal nodes, taking back."""

import numpy as np
import pytest

from autojit.errors import SourceLine
from autojit.ir.build import Builder, exact_key
from autojit.ir.graph import Write
from autojit.ir.index import Index, Window
from autojit.ir.spec import Spec
from autojit.ir.verify import verify
from tests.graphs import FLOAT3, OPS, I, make


@pytest.fixture
def builder():
    return Builder()


def test_names_are_fixed_and_free_of_collisions(builder):
    x = builder.input(FLOAT3, "x")
    again = builder.input(FLOAT3, "x")
    v1 = builder.input(FLOAT3, "v1")
    (first,) = builder.add(OPS["square"], [x])
    (second,) = builder.add(OPS["square"], [again])
    assert [value.name for value in (x, again, v1, first, second)] == ["x", "v0", "v1", "v2", "v3"]
    assert len(builder) == 2
    verify(builder.graph("f", [first, second], [Write(x, second)]))


def test_equal_nodes_are_one(builder):
    x = builder.input(FLOAT3, "x")
    mask = builder.add(OPS["sum"], [x], {"axis": 0, "keepdims": True}, SourceLine("f.py", 1))
    same = builder.add(OPS["sum"], [x], {"keepdims": True, "axis": 0}, SourceLine("f.py", 2))
    assert mask is same
    assert len(builder) == 1
    assert builder.add(OPS["divmod"], [x, builder.const(2.0)]) is builder.add(OPS["divmod"], [x, builder.const(2.0)])


APART = [
    1, 1.0, True, 1 + 0j, np.int64(1), np.int32(1), np.float64(1), np.float32(1), np.longlong(1), np.bool_(True),
    np.array(1), np.array([1]), np.array([1], np.int8), np.array([[1]]), np.array([np.nan]), float("nan"),
    0.0, -0.0, complex(0, -0.0), complex(-0.0, 0), np.float32(-0.0), np.float32(0.0),
    "1", None, (1,), (1.0,), (True,), ((1,),), slice(1), slice(1, None), slice(1.0),
    np.dtype("f4"), np.dtype(">f4"), np.float64, float,
    I[1], I[True], I[1:], Index((Window(1, 2),)), Index((Window(1, 2, 2),)),
]  # fmt: skip


def test_exact_keys_are_apart():
    keys = [exact_key(value) for value in APART]
    assert len(set(keys)) == len(APART)
    assert keys == [exact_key(value) for value in APART]


@pytest.mark.parametrize(
    "make_value", [lambda: float("nan"), lambda: np.float32("nan"), lambda: np.arange(3), lambda: I[1:, None]]
)
def test_exact_keys_are_equal(make_value):
    assert exact_key(make_value()) == exact_key(make_value())


def test_constants_are_told_apart_in_nodes(builder):
    x = builder.input(FLOAT3, "x")
    outputs = {builder.add(OPS["add"], [x, builder.const(value)])[0].name for value in (1, 1.0, True, 0.0, -0.0)}
    assert len(outputs) == 5


def test_rollback_frees_names_and_numbers(builder):
    x = builder.input(FLOAT3, "x")
    (kept,) = builder.add(OPS["square"], [x])
    before = builder.graph("f", [kept])
    mark = builder.mark()
    y = builder.input(FLOAT3, "y")
    (gone,) = builder.add(OPS["add"], [kept, y])
    builder.rollback(mark)
    after = builder.graph("f", [kept])
    assert (before.inputs, before.nodes) == (after.inputs, after.nodes)
    assert builder.input(FLOAT3, "y").name == "y"
    (again,) = builder.add(OPS["add"], [kept, y])
    assert (again.name, len(builder)) == (gone.name, 2)
    assert builder.add(OPS["square"], [x])[0] is kept


def test_nested_marks(builder):
    x = builder.input(FLOAT3, "x")
    outer = builder.mark()
    (a,) = builder.add(OPS["square"], [x])
    inner = builder.mark()
    builder.add(OPS["negative"], [a])
    builder.rollback(inner)
    assert len(builder) == 1
    builder.rollback(outer)
    assert len(builder) == 0


def test_a_graph_is_a_snapshot(builder):
    x = builder.input(FLOAT3, "x")
    (a,) = builder.add(OPS["square"], [x])
    graph = builder.graph("f", [a])
    builder.add(OPS["negative"], [a])
    assert len(graph.nodes) == 1


def test_numpy_raises_for_bad_operands(builder):
    x, y = builder.input(FLOAT3), builder.input(Spec((2,), np.dtype(float)))
    with pytest.raises(ValueError, match="broadcast"):
        builder.add(OPS["add"], [x, y])
    assert len(builder) == 0


def test_unknown_results_need_specs(builder):
    op = make("np.unique", np.unique, "host", infer=None)
    x = builder.input(FLOAT3)
    with pytest.raises(TypeError, match=r"`np.unique` is known only after a run"):
        builder.add(op, [x])
    (value,) = builder.add(op, [x], specs=[FLOAT3])
    assert value.spec == FLOAT3


def test_params_must_be_hashable(builder):
    with pytest.raises(TypeError):
        builder.add(OPS["sum"], [builder.input(FLOAT3)], {"axis": [0]})
    assert len(builder) == 0
