"""What autojit tells: every reason why something is not compiled, explanations, compiler IR."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy import ndimage

import autojit as aj
from tests.helpers import clone

X = np.arange(6.0) + 1
LOG: list[float] = []
EAGER = aj.autocluster(policy="eager")


# ---- programs that are not one program; the line that is meant says so


def effect(x):
    y = x * 2
    LOG.append(float(y[0]))  # here
    return y


def statement(x):
    global COUNT
    COUNT = 1  # here
    return x + 1


def unknown_value(x):
    shift = LOG.pop()
    return x + shift


def data_branch(x):
    y = x * 2
    if y.sum() > 1:  # here
        return y
    return x


def data_shape(x):
    return np.diff(x[x > 2])  # here


def moving_shape(x, names):
    total = 0.0
    for k in range(40):
        print(end="")  # here
        total += x[: k % 6].sum()  # here
    return total


def data_value(x):
    return np.zeros(int(x[0])) + 1  # here


def long_loop(x):
    for k in range(5000):  # here
        x = x + (1, 2, 3)[k % 3]  # here
    return x


def budget(x):
    x = np.sin(np.cos(np.tan(np.exp(x))))  # here
    return x


def argument_type(x):
    return x * 2  # here


def keyword(x):
    return np.add(x, 1, casting="unsafe")  # here


def raises(x):
    y = x * 2
    return y + np.zeros(4)  # here


def read_only(x):
    x += 1  # here
    return x


def unsupported_syntax(x):
    return x + (lambda *numbers: 2)()  # here


def no_row(x):
    return np.busday_count(x, x)  # here


def host_op(x):
    return np.unique(x) * 2  # here


def excluded(x):
    return np.cos(x) * 2  # here


FROZEN = X.copy()
FROZEN.flags.writeable = False
CASES = {
    "effect": (effect, (X,), {}),
    "statement": (statement, (X,), {}),
    "data-branch": (data_branch, (X,), {}),
    "data-shape": (data_shape, (X,), {}),
    "moving-shape": (moving_shape, (X, []), {}),
    "data-value": (data_value, (X,), {}),
    "long-loop": (long_loop, (X,), {}),
    "budget": (budget, (X,), {"max_cluster_size": 3}),
    "argument-type": (argument_type, (np.ma.array(X),), {}),
    "keyword": (keyword, (X,), {}),
    "raises": (raises, (X,), {}),
    "read-only": (read_only, (FROZEN,), {}),
    "unsupported-syntax": (unsupported_syntax, (X,), {}),
    "no-row": (no_row, (X,), {}),
    "host-op": (host_op, (X,), {}),
    "excluded": (excluded, (X,), {"cluster_exclude_ops": "cos"}),
}
#: Reasons that no call of `jit_compile` meets: they are about native calls of `autocluster`, or have tests of their own.
ELSEWHERE = {"unknown-value", "no-source", "not-a-function", "overlap", "errstate", "unbound", "too-many-plans", "changing-shape", "changing-value", "changing-kind", "too-small", "slower",
             "inexact", "trapped", "internal"}  # fmt: skip


def test_all_reasons_are_here():
    assert set(CASES) | ELSEWHERE == set(aj.REASONS)


@pytest.mark.parametrize("id", CASES)
def test_reasons_say_what_where_why_and_what_to_do(id):
    function, arguments, flags = CASES[id]
    LOG[:] = [1.0]
    with pytest.raises(aj.UncompilableError) as caught:
        aj.jit_compile(function, **flags)(*arguments)
    assert LOG == [1.0]
    error = caught.value
    assert id in [reason.id for reason in error.reasons], str(error)
    text = str(error)
    assert text.startswith(f"`{function.__name__}` cannot be compiled as a whole, for {len(error.reasons)} reason(s):")
    assert text.endswith("use `@autocluster` to compile what compiles and run the rest in NumPy")
    lines = Path(__file__).read_text().split("\n")
    marked = set()
    for reason in error.reasons:
        kind = aj.REASONS[reason.id]
        assert reason.source.file == __file__ and reason.source.function == function.__name__
        assert reason.source.text == lines[reason.source.line - 1].strip()
        for part in (
            f"{__file__}:{reason.source.line}: [{reason.id}] {reason.detail}",
            reason.source.text,
            kind.why,
            kind.hint,
        ):
            assert part in text
        marked.add(reason.source.line)
    first = function.__code__.co_firstlineno
    wanted = {n for n in range(first, first + 12) if lines[n - 1].endswith("# here")}
    end = next(n for n in range(first, len(lines)) if not lines[n].startswith(" ") and lines[n])
    assert marked == {n for n in wanted if n <= end}, text
    assert [r.source.line for r in error.reasons] == sorted(r.source.line for r in error.reasons)


def test_what_follows_from_a_native_line_is_told_apart():
    explanation = EAGER(unknown_value).explain(X)
    first = unknown_value.__code__.co_firstlineno
    assert [(r.id, r.source.line - first) for r in explanation.native_statements] == [("effect", 1)]
    assert [(r.id, r.source.line - first) for r in explanation.unknown] == [("unknown-value", 2)]
    assert "known after a first run: lines " in str(explanation)


def test_a_function_without_source():
    space = {"np": np}
    exec("def made(x):\n    return x * 2", space)
    strict = aj.jit_compile(space["made"])
    with pytest.raises(aj.UncompilableError, match=r"\[no-source\]") as caught:
        strict(X)
    assert aj.REASONS["no-source"].hint in str(caught.value)
    with pytest.raises(aj.UncompilableError):
        strict.get_compiler_ir(X)
    with pytest.raises(aj.UncompilableError, match=r"\[no-source\]"):
        strict.get_compiler_ir(X)("hlo")
    native = EAGER(space["made"])
    np.testing.assert_array_equal(native(X), X * 2)
    assert [r.id for r in native.explain(X).native_statements] == ["no-source"]
    aj.set_jit("off")
    try:
        np.testing.assert_array_equal(strict(X), X * 2)
    finally:
        aj.set_jit("autoclustering")


# ---- explain


CALLS: list[int] = []


def spy(x):
    CALLS.append(1)
    return x


def with_effects(x, log):
    """A docstring."""
    y = np.sin(x) * 2
    log.append(1)
    z = spy(y + 1)
    x += 5
    z = ndimage.gaussian_filter(z, 1.0)
    return z * 2


class Angry:
    """Any use of this counts."""

    def __getattr__(self, name):
        CALLS.append(1)
        raise AttributeError(name)

    def __len__(self):
        CALLS.append(1)
        return 3

    def __iter__(self):
        CALLS.append(1)
        return iter(())

    def __eq__(self, other):
        CALLS.append(1)
        return True

    __hash__ = None

    def __bool__(self):
        CALLS.append(1)
        return True


def test_explain_runs_nothing_of_the_users():
    decorated = EAGER(with_effects)
    CALLS.clear()
    x, log = X.copy(), []
    explanation = decorated.explain(x, log)
    assert not CALLS and not log and np.array_equal(x, X)
    assert decorated.cache_info().captures == decorated.cache_info().compiles == 0
    for argument in (Angry(), [Angry()], {"a": Angry()}):
        EAGER(lambda a, x: (len(a), x * 2, a == 1, bool(a))).explain(argument, x)
    assert not CALLS
    assert not explanation.is_whole and len(explanation.clusters) >= 2


def test_explanation_as_text():
    decorated = EAGER(with_effects)
    explanation = decorated.explain(X, [])
    text = str(explanation)
    first = with_effects.__code__.co_firstlineno
    assert text.startswith("with_effects: ")
    assert f'| {first + 1:4}     """A docstring."""' in text and f"{first + 3:4}     log.append(1)" in text
    assert re.search(rf"^native: effect +\| {first + 3:4}", text, re.MULTILINE)
    assert re.search(rf"^\w*cluster_0 +\| {first + 2:4}", text, re.MULTILINE)
    whole = EAGER(lambda x: x * 2 + 1).explain(X)
    assert whole.is_whole and "one program" in str(whole)


def test_explanation_as_data():
    data = EAGER(with_effects).explain(X, []).to_dict()
    assert json.loads(json.dumps(data)) == data
    assert data["function"] == "with_effects" and data["is_whole"] is False
    for reason in data["native_statements"] + data["host_nodes"]:
        assert reason["file"] == __file__ and reason["source"] and reason["why"] and reason["hint"] and reason["title"]
    for cluster in data["clusters"]:
        assert cluster["graph"].startswith("def ") and cluster["operations"] > 0 and cluster["lines"]


@pytest.mark.parametrize("id", CASES)
def test_every_explanation_is_data(id):
    function, arguments, flags = CASES[id]
    explanation = aj.autocluster(policy="eager", **flags)(function).explain(*clone(arguments))
    assert json.loads(json.dumps(explanation.to_dict())) == explanation.to_dict()
    assert explanation.is_whole == (id == "budget") and str(explanation)


def test_explain_of_other_types_and_wrong_arguments():
    decorated = EAGER(lambda x, y=2: x * y)
    assert decorated.explain(aj.ArraySpec((3, 4), np.float32)).is_whole
    assert decorated.explain(X, y=aj.ArraySpec(6)).is_whole
    assert not decorated.explain("text").clusters
    with pytest.raises(TypeError, match="missing a required argument: 'x'"):
        decorated.explain()
    with pytest.raises(TypeError, match="unexpected keyword argument 'z'"):
        decorated.explain(X, z=1)


def test_explain_knows_current_defaults_and_cells():
    scale = 2.0

    def f(x, y=1.0):
        return x * scale + y

    decorated = EAGER(f)
    assert decorated.explain(X).is_whole
    scale = "text"
    assert not decorated.explain(X).is_whole
    scale = 3.0
    decorated.__defaults__ = (np.ones(5),)
    assert [r.id for r in decorated.explain(X).native_statements] == ["raises"]


# ---- compiler IR


def model(x, w, scale):
    h = np.tanh(x @ w)
    return h.sum() * scale


@pytest.fixture(scope="module")
def decorated_model():
    return aj.jit_compile(model)


def test_stages(decorated_model):
    x, w = np.ones((3, 4)), np.ones((4, 5))
    show = decorated_model.get_compiler_ir(x, w, 2.0)
    assert decorated_model.cache_info().hits == 0
    for stage in aj.STAGES:
        got = show(stage=stage)
        assert isinstance(got, bytes if stage.endswith("serialized") else str) and got, stage
    assert show() == show("optimized_hlo")
    assert show("graph").startswith("def cluster_0(") and "np.tanh(" in show("graph")
    compiles = decorated_model.cache_info().compiles
    assert compiles == 1
    decorated_model(x, w, 2.0)
    graphs = [stage for stage in show.stages if stage.startswith("graph:")]
    assert graphs[0] == "graph:captured" and graphs[-1] == "graph:partition" and len(graphs) > 3
    for stage in graphs:
        assert "np.tanh(" in show(stage), stage
    assert "| cluster_0 |" in show("graph:partition") and "| cluster_0 |" not in show("graph:captured")
    assert show("plan").lstrip().startswith("def ")
    show("hlo"), decorated_model.get_compiler_ir(x, w, 3.0)("hlo")
    assert decorated_model.cache_info().compiles == compiles, "what is cached is not compiled again"


def test_values_and_specs_may_be_mixed(decorated_model):
    x, w = aj.ArraySpec((3, 4)), np.ones((4, 5))
    texts = {
        decorated_model.get_compiler_ir(*arguments)("hlo_no_metadata")
        for arguments in [
            (x, w, 2.0),
            (np.ones((3, 4)), aj.ArraySpec((4, 5), float), 7.0),
            (x, aj.ArraySpec((4, 5)), 1.5),
        ]
    }
    assert len(texts) == 1
    assert "f32[3,4]" in decorated_model.get_compiler_ir(aj.ArraySpec((3, 4), "float32"), w.astype("f"), 2.0)("hlo")
    assert decorated_model.get_compiler_ir(x=x, w=w, scale=2.0)("hlo")


def test_the_users_file_and_line(decorated_model):
    text = decorated_model.get_compiler_ir(aj.ArraySpec((3, 4)), aj.ArraySpec((4, 5)), 2.0)("hlo")
    first = model.__code__.co_firstlineno
    assert __file__ in text and re.search(rf"line={first + 1}\b", text) and re.search(rf"line={first + 2}\b", text)
    assert "site-packages" not in text and "/autojit/" not in text.replace(__file__, "")


def test_wrong_stages_and_clusters(decorated_model):
    show = decorated_model.get_compiler_ir(aj.ArraySpec((3, 4)), aj.ArraySpec((4, 5)), 2.0)
    with pytest.raises(ValueError, match="unknown stage 'optimised_hlo'") as caught:
        show("optimised_hlo")
    assert all(repr(stage) in str(caught.value) for stage in aj.STAGES)
    with pytest.raises(ValueError, match="`model` has no cluster `cluster_7`; it has `cluster_0`"):
        show("hlo", cluster="cluster_7")
    with pytest.raises(TypeError):
        decorated_model.get_compiler_ir(X)


def test_several_clusters():
    decorated = EAGER(with_effects)
    show = decorated.get_compiler_ir(X, [])
    names = [cluster.name for cluster in decorated.explain(X, []).clusters]
    assert len(names) == len(set(names)) >= 2
    with pytest.raises(
        ValueError, match=rf"`with_effects` has {len(names)} clusters; choose one with `cluster=`"
    ) as caught:
        show()
    for name in names:
        assert f"`{name}`" in str(caught.value)
        assert name in show("hlo", cluster=name) and show("graph", cluster=name)


def test_differences_of_stages_and_of_signatures(decorated_model):
    spec = aj.ArraySpec
    one = decorated_model.get_compiler_ir(spec((3, 4)), spec((4, 5)), 2.0)
    other = decorated_model.get_compiler_ir(spec((7, 4)), spec((4, 5)), 2.0)
    assert one.diff("graph", "graph") == "" and one.diff("hlo", one) == ""
    text = one.diff("hlo_no_metadata", other)
    assert re.search(r"^-.*f64\[3,4\]", text, re.MULTILINE) and re.search(r"^\+.*f64\[7,4\]", text, re.MULTILINE)
    assert text.startswith("--- hlo_no_metadata of model\n+++ hlo_no_metadata of model, the other call")
    assert one.diff("hlo", "optimized_hlo").startswith("--- hlo\n+++ optimized_hlo\n")
    with pytest.raises(ValueError, match="'hlo_serialized' is not text"):
        one.diff("hlo_serialized", other)


def test_all_stages_in_files(decorated_model, tmp_path, monkeypatch):
    ir = decorated_model.get_compiler_ir(np.ones((3, 4)), np.ones((4, 5)), 2.0)
    files = ir.save(tmp_path / "ir")
    assert len(files) == len(ir.stages) and all(file.stat().st_size for file in files)
    assert (tmp_path / "ir" / "cluster_0.graph.fold.py").read_text() == ir("graph:fold")
    assert (tmp_path / "ir" / "cluster_0.stablehlo_serialized.mlirbc").read_bytes() == ir("stablehlo_serialized")
    monkeypatch.setitem(sys.modules, "capstone", None)
    assert len(ir.save(tmp_path / "ir")) == len(ir.stages) - 1


def test_a_function_without_decorator():
    ir = aj.get_compiler_ir(model, aj.ArraySpec((3, 4)), aj.ArraySpec((4, 5)), scale=2.0)
    assert ir.clusters == ("cluster_0",) and "HloModule" in ir() and "model" in repr(ir)
    assert ir.cost().flops >= 2 * 3 * 4 * 5
    assert "HloModule" in aj.get_compiler_ir(aj.autocluster(model), np.ones((3, 4)), np.ones((4, 5)), 2.0)()
    with pytest.raises(TypeError):
        aj.get_compiler_ir(3)


class Doubler:
    def plain(self, x=2.0):
        return x * 2

    @EAGER
    def decorated(self, x=2.0):
        return x * 2


@pytest.mark.parametrize("method", [Doubler().plain, Doubler().decorated])
def test_methods_know_their_object(method):
    graph = aj.get_compiler_ir(method, X)("graph")
    assert graph.startswith("def cluster_0(a0):") and "np.multiply(a0, 2)" in graph


def test_the_cost_of_a_loop_is_not_taken_for_all_of_it():
    def f(x):
        for k in range(1000):
            x = np.sin(x) + k
        return x

    cost = aj.get_compiler_ir(f, X).cost()
    assert cost.has_loops and "bodies count once" in str(cost) and "bound by" not in str(cost)


def test_nothing_to_show():
    with pytest.raises(aj.AutojitError, match="nothing of `.*` compiles for these arguments"):
        EAGER(lambda x: LOG.append(x)).get_compiler_ir(X)
    with pytest.raises(aj.UncompilableError, match=r"\[host-op\]"):
        aj.jit_compile(host_op).get_compiler_ir(X)


def many_loops(a, b, n):
    for i in range(a.shape[0]):
        b[i] = a[i] * 2
    for i in range(1, a.shape[0]):
        a[i] += a[i - 1] * np.cos(a[i])
    for k in range(2):
        b = b + k
    return a, b


def test_the_rung_of_each_loop():
    explanation = aj.autocluster(policy="eager")(many_loops).explain(np.ones((40, 50)), np.ones((40, 50)), 3)
    first = many_loops.__code__.co_firstlineno
    assert explanation.is_whole
    rungs = {loop.source.line - first: (loop.rung, bool(loop.reason)) for loop in explanation.loops}
    assert rungs == {1: ("vectorized", False), 3: ("rolled", True), 5: ("unrolled", True)}
    assert explanation.to_dict()["loops"][0]["line"] == first + 1
    assert f"loop, line {first + 3}: rolled (" in str(explanation)


def ways_that_raise(x, options):
    y = x * 2
    if x[0] > 0:
        y = y + options["missing"]
    elif x[1] > 3:
        raise ValueError("too large")
    for i in range(x.size):
        if x[i] > 100:
            y = y @ np.ones((3, 3))
    return y + 1


def test_branches_that_raise_are_named():
    first = ways_that_raise.__code__.co_firstlineno
    decorated = aj.autocluster(policy="eager")(ways_that_raise)
    explanation = decorated.explain(-np.ones(9), {})
    assert explanation.is_whole
    left = [(reason.source.line - first, reason.detail) for reason in explanation.left]
    assert [line for line, _ in left] == [3, 5, 8]
    assert left[0][1] == "KeyError: 'missing'" and "np.matmul" in left[2][1]
    assert [entry["line"] for entry in explanation.to_dict()["left"]] == [first + 3, first + 5, first + 8]
    assert f":{first + 5}: [raises] a `raise` statement is reached" in str(explanation)
    # The same function where no way raises.
    assert len(decorated.explain(-np.ones(3), {"missing": 1}).left) == 1 and decorated(-np.ones(9), {}).size == 9
    with pytest.raises(KeyError):
        decorated(np.ones(9), {})


def breaks(u, n):
    a = np.sin(u) + 1
    print("", end="")
    b = np.unique(a * 2)
    return (b + 1).sum() + np.cos(a).sum() * n


def test_what_breaks_cost(tmp_path):
    fast, u = aj.autocluster(policy="eager", check=False)(breaks), np.linspace(0, 1, 100_000)
    explanation = fast.explain(u, 3)
    native, host = explanation.losses
    assert (native.reason.id, host.reason.id) == ("effect", "host-op")
    assert native.seconds is None and host.seconds is None
    # 800 kB that are written, and read again; what is on the way through `np.unique`, too.
    assert 5e-5 < native.break_seconds < 5e-3 and 5e-5 < host.break_seconds < 5e-3
    larger = fast.explain(np.linspace(0, 1, 10_000_000), 3).losses
    assert all(30 < other.break_seconds / loss.break_seconds < 300 for loss, other in zip((native, host), larger, strict=True))
    assert str(explanation).count("a call (estimated)") == 2
    fast(u, 3)
    with aj.profile(tmp_path):
        fast(u, 3)
        fast(u, 3)
    explanation = fast.explain(u, 3)
    native, host = explanation.losses
    assert 0 < native.seconds < host.seconds < 1
    assert f"takes {native.seconds * 1e3:.3g} ms a call (measured)" in str(explanation)
    assert "a call (measured)" in explanation.to_html()
    assert explanation.to_dict()["losses"][1]["seconds"] == host.seconds
