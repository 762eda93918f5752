"""Rolled loops as XLA programs: what they compute."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import autojit
from autojit.compile.executable import Executable
from autojit.ir.build import Builder
from autojit.ir.evaluate import evaluate
from autojit.ir.graph import Graph
from autojit.ir.index import Index, Place, Slice
from autojit.ir.spec import Spec
from autojit.ops.chapters import TABLE
from autojit.ops.loop_bodies import tidy
from tests.helpers import check

INT = Spec((), np.dtype(np.int64), "python")
FLOAT = Spec((), np.dtype(np.float64), "scalar")
BOOL = Spec((), np.dtype(np.bool_), "scalar")


def _halving(stop: int, exits: bool, found: bool = False) -> tuple[Graph, list[Any]]:
    """Halve `x` until it is below 1."""
    inner = Builder()
    _, x, _ = (inner.input(spec) for spec in (INT, FLOAT, BOOL))
    (half,) = inner.add(TABLE["np.multiply"], [x, inner.const(0.5)])
    (small,) = inner.add(TABLE["np.less"], [half, inner.const(1.0)])
    body = Graph("body", tuple(inner.inputs), tuple(inner.nodes), (half, small))
    outer = Builder()
    start, last, x = outer.input(INT), outer.input(INT), outer.input(FLOAT)
    done = outer.input(BOOL)
    params = {"body": body, "step": 1, "carried": 2} | ({"exits": True} if exits else {})
    outputs = outer.add(TABLE["loop"], [start, last, x, done], params)
    return Graph("halving", tuple(outer.inputs), tuple(outer.nodes), outputs), [
        0,
        stop,
        np.float64(40.0),
        np.bool_(found),
    ]


@pytest.mark.parametrize(
    ("stop", "exits", "found"), [(100, True, False), (3, True, False), (9, False, False), (9, True, True)]
)
def test_a_loop_that_exits(stop: int, exits: bool, found: bool) -> None:
    graph, arguments = _halving(stop, exits, found)
    wanted = evaluate(graph, arguments)
    results = Executable(graph).run(arguments)
    assert [result.item() for result in results] == [value.item() for value in wanted]
    steps = 0 if found else 6 if exits and stop == 100 else stop
    assert results[0].item() == 40.0 * 0.5**steps


def test_what_ends_a_loop_is_a_bool() -> None:
    inner = Builder()
    _, x = inner.input(INT), inner.input(FLOAT)
    (half,) = inner.add(TABLE["np.multiply"], [x, inner.const(0.5)])
    body = Graph("body", tuple(inner.inputs), tuple(inner.nodes), (half,))
    with pytest.raises(TypeError, match="not a bool"):
        TABLE["loop"].infer((INT, INT, FLOAT), {"body": body, "step": 1, "carried": 1, "exits": True})


# ---- reads and writes of one array that follow each other


def _accesses(seed: int) -> tuple[Graph, list[Any]]:
    """A body that reads and writes rows, elements and windows of one array at places near `index`."""
    rng = np.random.default_rng(seed)
    builder = Builder()
    index, array, total = builder.input(INT), builder.input(Spec((5, 6), np.dtype(np.float64))), builder.input(FLOAT)
    value = array
    for _ in range(rng.integers(3, 9)):
        operands: list[Any] = []

        def moved() -> int:
            shift = builder.const(int(rng.integers(-3, 4)))
            operands.append(builder.add(TABLE["py_add"], [index, shift])[0])
            return len(operands) - 1

        entries: tuple[Any, ...] = (Place(moved()),) if rng.random() < 0.7 else (int(rng.integers(-5, 5)),)
        kind = rng.integers(4)
        if kind == 0:
            entries += (Place(moved()),)
        elif kind == 1:
            entries += (Slice(int(rng.integers(0, 3)), int(rng.integers(3, 6)), None),)
        elif kind == 2 and rng.random() < 0.5:
            entries += (Slice(None, None, -2),)
        if rng.random() < 0.5:
            (value,) = builder.add(TABLE["setitem"], [value, total, *operands], {"index": Index(entries)})
        else:
            (part,) = builder.add(TABLE["getitem"], [value, *operands], {"index": Index(entries)})
            if part.spec.kind == "array":
                (part,) = builder.add(TABLE["np.sum"], [part])
            (total,) = builder.add(TABLE["np.add"], [part, total])
            (total,) = builder.add(TABLE["np.multiply"], [total, builder.const(0.75)])
    body = Graph("body", tuple(builder.inputs), tuple(builder.nodes), (value, total))
    return body, [rng.standard_normal((5, 6)), np.float64(rng.standard_normal())]


@pytest.mark.parametrize("seed", range(60))
def test_tidy_bodies_do_the_same(seed: int) -> None:
    body, arguments = _accesses(seed)
    tidied = tidy(body)
    for index in range(-2, 3):
        try:
            wanted = evaluate(body, [index, *arguments])
        except IndexError:
            with pytest.raises(IndexError):
                evaluate(tidied, [index, *arguments])
            continue
        for value, other in zip(wanted, evaluate(tidied, [index, *arguments]), strict=True):
            np.testing.assert_array_equal(value, other)


def test_tidy_drops_what_is_covered_and_forwards() -> None:
    builder = Builder()
    index, array = builder.input(INT), builder.input(Spec((9,), np.dtype(np.float64)))
    place = {"index": Index((Place(0),))}
    (x,) = builder.add(TABLE["getitem"], [array, index], place)
    (one,) = builder.add(TABLE["np.add"], [x, builder.const(1.0)])
    (first,) = builder.add(TABLE["setitem"], [array, one, index], place)
    (y,) = builder.add(TABLE["getitem"], [first, index], place)
    (before,) = builder.add(TABLE["py_subtract"], [index, builder.const(1)])
    (z,) = builder.add(TABLE["getitem"], [first, before], place)
    (two,) = builder.add(TABLE["np.divide"], [y, z])
    (second,) = builder.add(TABLE["setitem"], [first, two, index], place)
    body = tidy(Graph("body", tuple(builder.inputs), tuple(builder.nodes), (second,)))
    names = [node.op.name for node in body.nodes]
    assert names == ["getitem", "np.add", "py_subtract", "getitem", "np.divide", "setitem"]
    assert all(node.inputs[0] is array for node in body.nodes if node.op.name in ("getitem", "setitem"))


def _stores_a_python_number(stored: Any, sums: Any, small: Any, steps: int) -> None:
    while steps:
        stored[0] = 0.1
        sums += stored[0] * small
        steps -= 1


def test_a_python_number_read_back_is_of_the_array_s_dtype() -> None:
    compiled = autojit.jit_compile(_stores_a_python_number)
    results = [np.zeros(5), np.zeros(5)]
    for function, sums in zip((_stores_a_python_number, compiled), results, strict=True):
        function(np.zeros(1), sums, np.arange(5, dtype=np.float32), 7)
    np.testing.assert_array_equal(*results)


def test_a_python_number_written_and_compared() -> None:
    builder = Builder()
    _, array = builder.input(INT), builder.input(Spec((3,), np.dtype(np.int64)))
    place = {"index": Index((0,))}
    (stored,) = builder.add(TABLE["setitem"], [array, builder.const(1)], place)
    (read,) = builder.add(TABLE["getitem"], [stored], place)
    (less,) = builder.add(TABLE["np.less"], [read, builder.const(3)])
    body = tidy(Graph("body", tuple(builder.inputs), tuple(builder.nodes), (stored, less)))
    assert [node.op.name for node in body.nodes] == ["setitem", "as_scalar", "np.less"]
    assert evaluate(body, [0, np.zeros(3, np.int64)])[1]


def test_a_loop_over_elements_is_one_machine_function() -> None:
    def sweep(a: np.ndarray) -> None:
        for i in range(1, 50):
            for j in range(1, 50):
                a[i, j] += a[i, j - 1]
                a[i, j] /= 3.0

    fast = autojit.autocluster(policy="eager")(sweep)
    a = np.random.default_rng(0).standard_normal((50, 50))
    b = a.copy()
    fast(a)
    sweep(b)
    np.testing.assert_array_equal(a, b)
    text = fast.get_compiler_ir(b)(stage="optimized_hlo")
    assert "xla_cpu_small_call" in text
    assert not re.search(r"f64\[50,50\]\S* copy\(%get-tuple-element", text)


# ---- expensive values that end up in larger arrays


def test_expensive_values_are_not_computed_per_element_of_a_larger_array() -> None:
    def spread(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return np.repeat(np.exp(1j * x), 100) * y

    rng = np.random.default_rng(1)
    x, y = rng.standard_normal(40), rng.standard_normal(4000)
    fast = autojit.autocluster(policy="eager")(spread)
    np.testing.assert_allclose(fast(x, y), spread(x, y), rtol=1e-14)
    assert re.search(r" call\(.*inlineable=\"false\"", fast.get_compiler_ir(x, y)(stage="optimized_hlo"))
    x[3] = np.inf
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(fast(x, y), spread(x, y))


def test_values_of_one_size_stay_fused() -> None:
    def same(x: np.ndarray) -> np.ndarray:
        return np.sin(x) * 2.0 + np.cos(x)

    x = np.random.default_rng(1).standard_normal(400)
    fast = autojit.autocluster(policy="eager")(same)
    np.testing.assert_allclose(fast(x), same(x), rtol=1e-14)
    assert "inlineable" not in fast.get_compiler_ir(x)(stage="optimized_hlo")


# ---- arrays that a loop updates stay where they are


def unordered(a: np.ndarray) -> Any:
    s = 0.0
    for i in range(1, 900):
        a[i] = s * 0.5
        s = s + a[i + 1]
    return s


def two_writes(a: np.ndarray) -> Any:
    s = 0.0
    for i in range(1, 900):
        v = a[i - 1]
        a[i] = v + s
        a[i + 1] = v * 0.5
        s = v
    return s


def write_read_write(a: np.ndarray) -> Any:
    s = 1.0
    for i in range(1, 900):
        a[i] = s
        a[i + 1] = a[i // 2] * 0.5
        s = s * 0.999
    return s


def rows(a: np.ndarray) -> Any:
    b = a.reshape(30, 40)
    s = 0.0
    for i in range(1, 29):
        s = s + b[i - 1].sum()
        b[i] = b[i] * 0.5 + b[i + 1]
        for j in range(1, 39):
            b[i, j] = b[i, j - 1] * 0.25 + b[i - 1, j]
        s = s + b[i, 3]
    return s


@pytest.mark.parametrize("function", [unordered, two_writes, write_read_write, rows])
def test_carried_arrays_are_not_copied(function: Any) -> None:
    fast = autojit.autocluster(policy="eager")(function)
    a = np.random.default_rng(2).standard_normal(1200)
    b = a.copy()
    result, wanted = fast(a), function(b)
    np.testing.assert_allclose(result, wanted, rtol=1e-12)
    np.testing.assert_allclose(a, b, rtol=1e-12)
    text = fast.get_compiler_ir(b)(stage="optimized_hlo")
    assert fast.explain(b).is_whole
    assert not re.findall(r"f64\[(?:1200|30,40)\]\S* copy\(", text[: text.index("\nENTRY")])


def test_reads_of_an_old_version_come_first() -> None:
    builder = Builder()
    index, array = builder.input(INT), builder.input(Spec((9,), np.dtype(np.float64)))
    place = {"index": Index((Place(0),))}
    (first,) = builder.add(TABLE["setitem"], [array, builder.const(1.0), index], place)
    (before,) = builder.add(TABLE["py_subtract"], [index, builder.const(1)])
    (x,) = builder.add(TABLE["getitem"], [first, before], place)
    (y,) = builder.add(TABLE["getitem"], [array, builder.add(TABLE["py_int_add"], [before, before])[0]], place)
    old = Graph("body", tuple(builder.inputs), tuple(builder.nodes), (first, x, y))
    body = tidy(old)
    assert [node.op.name for node in body.nodes][-1] == "setitem"
    arguments = [4, np.arange(9.0)]
    for one, other in zip(evaluate(body, arguments), evaluate(old, arguments), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.complex128])
def test_long_sums_in_loops_are_accurate(dtype: Any) -> None:
    def sums(x: np.ndarray) -> np.ndarray:
        r = np.zeros(6, x.dtype)
        for i in range(6):
            r[i] = np.sum(x * i)
        return r

    x = np.full(400_000, 0.1, dtype)
    wanted = sums(x)
    np.testing.assert_allclose(autojit.autocluster(policy="eager")(sums)(x), wanted, rtol=64 * np.finfo(dtype).eps)


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("step", [-3, -2, 2, 3, 7])
def test_steps_that_do_not_divide_the_distance(step, known):
    for start in (0, 1, -2):
        for stop in range(-5, 6):
            inner = Builder()
            _, x = inner.input(INT), inner.input(FLOAT)
            more = inner.add(TABLE["np.add"], [x, inner.const(1.0)])
            body = Graph("body", tuple(inner.inputs), tuple(inner.nodes), more)
            outer = Builder()
            bounds = [outer.const(start), outer.const(stop)] if known else [outer.input(INT), outer.input(INT)]
            x = outer.input(FLOAT)
            results = outer.add(TABLE["loop"], [*bounds, x], {"body": body, "step": step, "carried": 1})
            graph = Graph("counting", tuple(outer.inputs), tuple(outer.nodes), results)
            values = [np.float64(0.0)] if known else [start, stop, np.float64(0.0)]
            assert Executable(graph).run(values)[0] == len(range(start, stop, step))


def test_one_iteration_of_a_longer_step():
    def program(a, b, n):
        for i in range(0, n, 2):
            a[0, i : i + 3] += b[i:3]
        return a

    for n in (1, 3, 1):
        check(program, np.ones((4, 3)), np.array([3.0, -2.0, 1.0]), n)
