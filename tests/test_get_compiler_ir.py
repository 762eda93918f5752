"""`get_compiler_ir`: stages, clusters, the user's lines, differences, files, costs."""

from __future__ import annotations

import re
import sys

import numpy as np
import pytest

import autojit as aj

X = np.arange(6.0) + 1
EAGER = aj.autocluster(policy="eager")


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
