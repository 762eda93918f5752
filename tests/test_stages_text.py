"""Every stage of the pipeline prints as NumPy code; the text, the graph and the function itself give the same results."""

from __future__ import annotations

import random
import warnings

import numpy as np
import pytest

from autojit.capture.capture import capture
from autojit.capture.options import Options
from autojit.capture.regions import RegionTree
from autojit.capture.results import Constant, Container, FromPrologue, Result
from autojit.capture.source import source_of
from autojit.config import Config
from autojit.errors import CannotCapture
from autojit.ir.evaluate import evaluate
from autojit.ir.graph import Graph
from autojit.ir.text import run_text, to_text
from autojit.ir.verify import verify
from autojit.ops import text_helpers
from autojit.passes.pipeline import PIPELINE
from autojit.runtime.compiler import Prepared, prepare
from autojit.runtime.plan_writer import native_plan
from bench.programs import PROGRAMS
from tests.helpers import assert_same, clone
from tests.programs_strategy import load, make_program


def helper(a, b, power=2):
    c = a - b
    return c**power, np.abs(c)


def helpers(x, y):
    square, distance = helper(x, y)
    cube, _ = helper(x, y, power=3)
    return square.sum() + cube.mean(), distance


def views(a):
    b = a[::2].reshape(2, -1)
    b += 1
    c = a.T
    c[0] = 5
    return b.sum(), a


def host_nodes(a, m):
    values, vectors = np.linalg.eig(m)
    return np.unique(np.round(a * 3)), np.abs(values).sum() * a


def scalars(x, n, s):
    return np.sum(x), x[0], x.max() * 2, n + 1, s * 2.0, np.float32(s), x.shape[0] * n, float(np.sum(x))


def masks(x, y):
    x[x > 0] = 0.0
    y[y < 1] *= 2
    return x.sum(), np.where(y > 0, x, y)


def integers(i, u):
    i //= 3
    i[1:] += u[:-1] % 4
    return (i << 1) ^ 5, i.argmax(), u.astype(np.int32).cumsum()


def loops(x, n):
    out = np.zeros_like(x)
    for k in range(n):
        out[k] = x[: k + 1].sum() * k
    return out


def shapes(a, b):
    both = np.concatenate([a, b], axis=1)
    return np.stack([both, both.copy()]), both.T @ both, np.transpose(both)[None], np.repeat(both, 2, axis=0)


def matrices(a, b):
    q = np.linalg.solve(a @ a.T + np.eye(3) * 3, b)
    return q, np.einsum("ij,j->i", a, b), np.outer(b, q), np.dot(a, b) - a.diagonal()


RNG = np.random.default_rng(3)
CASES = {
    "helpers": (helpers, (RNG.random(8), RNG.random(8))),
    "views": (views, (RNG.random(8),)),
    "host_nodes": (host_nodes, (RNG.random(5), RNG.random((3, 3)))),
    "scalars": (scalars, (RNG.random(5).astype(np.float32), 3, 1.5)),
    "masks": (masks, (RNG.standard_normal(9), RNG.standard_normal(9))),
    "integers": (integers, (np.arange(-4, 5), np.arange(9, dtype=np.uint8))),
    "loops": (loops, (RNG.random(6), 4)),
    "shapes": (shapes, (RNG.random((3, 2)), np.arange(12).reshape(3, 4))),
    "matrices": (matrices, (RNG.random((3, 3)), RNG.random(3))),
    **{name: (program.run, program.make(program.small)) for name, program in PROGRAMS.items() if name != "kmeans_step"},
}


class NotWhole(Exception):
    """A function has no graph for all of it and these arguments."""


def prepared(function, arguments, **flags) -> tuple[Prepared, list]:
    """The stages of a function that is captured as a whole, and the graph's inputs for these arguments."""
    tree = RegionTree(source_of(function))
    values = dict(zip(function.__code__.co_varnames, arguments, strict=False))
    captured = capture(tree, tree.root, values, Options())
    if captured.cuts or not set(tree.root.live_in) <= set(values):
        raise NotWhole(captured.cuts)
    live = [values[name] for name in tree.root.live_in]
    lines = [f"def inputs({', '.join(captured.prologue.parameters)}):", *captured.prologue.render()]
    lines.append(f"    return [{', '.join(captured.input_names)}]")
    namespace = dict(native_plan(captured, None).call.__globals__)
    exec("\n".join(lines), namespace)
    inputs = namespace["inputs"](*live)
    if not isinstance(inputs, list):
        raise NotWhole("the arguments overlap")
    return prepare(captured, Config(**flags)), inputs


def check_stages(function, arguments, **flags) -> tuple[Prepared, int]:
    """Run every stage as a graph and as text, and compare with the function; how many results that compares."""
    expected_arguments = clone(arguments)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # NumPy's own warnings are not what is judged
        expected = function(*expected_arguments)
        result, inputs = prepared(function, arguments, **flags)
        before = clone(inputs)
        stages = {stage.name: stage.graph for stage in result.stages} | {"partitioned": result.graph}
        reference = None
        for name, graph in stages.items():
            verify(graph)
            ran = evaluate(graph, inputs)
            assert_same(list(run_text(graph, inputs, namespace={"aj": text_helpers})), list(ran), rtol=0, where=f"text after {name}")
            assert_same(inputs, before, rtol=0, where=f"inputs after {name}")
            if reference is not None:
                assert_same(list(ran), list(reference), where=f"graph after {name}")
            reference = ran
            assert "def " in to_text(graph)
    return result, _compare_with_function(result, ran, inputs, expected, expected_arguments, arguments)


def _compare_with_function(result, ran, inputs, expected, expected_arguments, arguments) -> int:
    """The recipes' results, where they are plain, are what the function returned; the writes are what it wrote."""
    graph: Graph = result.graph
    outputs = ran[: len(graph.outputs)]

    def build(recipe):
        if isinstance(recipe, Result):
            return outputs[recipe.number]
        if isinstance(recipe, Constant):
            return recipe.value
        if isinstance(recipe, Container) and recipe.keys is None:
            return recipe.kind([build(part) for part in recipe.parts])
        if isinstance(recipe, FromPrologue) and recipe.name in names:
            return written.get(recipe.name, inputs[names.index(recipe.name)])
        return _ELSEWHERE

    names = list(result.capture.input_names)
    by_value = {value.name: name for value, name in zip(graph.inputs, names, strict=True)}
    values = ran[len(graph.outputs) :]
    written = {by_value[write.target.name]: value for write, value in zip(graph.writes, values, strict=True)}
    compared = len(written) + sum(_compare_built(build(recipe), expected) for recipe in result.capture.recipes)
    for given, wanted in zip(arguments, expected_arguments, strict=True):
        for name, value in zip(names, inputs, strict=True):
            if value is given and isinstance(given, np.ndarray):
                assert_same(np.asarray(written.get(name, given)), wanted, where=f"argument {name}")
    return compared


class _Elsewhere:
    pass


_ELSEWHERE = _Elsewhere()


def _compare_built(built, expected) -> int:
    if built is _ELSEWHERE:
        return 0
    if isinstance(built, list | tuple) and isinstance(expected, list | tuple):
        return sum(_compare_built(one, other) for one, other in zip(built, expected, strict=True))
    assert_same(np.array(built), np.array(expected), where="result")  # scalars are made by the plan
    return 1


@pytest.mark.parametrize("name", CASES)
def test_stages(name):
    result, compared = check_stages(*CASES[name])
    assert compared
    assert [stage.name for stage in result.stages] == ["captured", *(step.__name__ for step in PIPELINE)]


@pytest.mark.parametrize("name", ["helpers", "matrices", "softmax", "standardize", "blur"])
@pytest.mark.parametrize("flags", [{"max_cluster_size": 3}, {"cluster_exclude_ops": ("reduction",)}, {"clustering_fuel": 0}])
def test_partitions(name, flags):
    assert check_stages(*CASES[name], **flags)[1]


def test_random_programs():
    checked = compared = 0
    for seed in range(500, 560):
        program = make_program(random.Random(seed))
        function = load(program.source)
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # NumPy's own warnings are not what is judged
            try:
                function(*clone(program.calls[0]))
            except Exception:
                continue
            try:
                prepared(function, program.calls[0])
            except (CannotCapture, NotWhole):
                continue
        compared += check_stages(function, program.calls[0])[1] > 0
        checked += 1
    assert checked >= 15 and compared >= checked / 2, (checked, compared)
