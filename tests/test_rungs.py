"""The policy `measured` corrects the rung of a loop: what loses against NumPy is tried the other way, once."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest

import autojit as aj
from autojit.ir.graph import Graph
from autojit.passes.pipeline import PIPELINE, run_pipeline, with_rung
from autojit.passes.vectorize import keep_rolled, vectorize, vectorize_always
from autojit.runtime.background import BACKGROUND
from autojit.runtime.heat import Heat
from autojit.runtime.maker import Maker


def columns(a, out):
    for i in range(a.shape[1]):
        out[:, i] = a[:, i] * i
    return out


@pytest.fixture
def slow_numpy(monkeypatch: pytest.MonkeyPatch):
    """NumPy takes a tenth of a second, by the trial's clock."""
    monkeypatch.setattr("autojit.runtime.heat.PAYS_AFTER", 1e-9)
    monkeypatch.setattr("autojit.runtime.heat.WAITS", 0.0)
    add = Heat.add
    monkeypatch.setattr(Heat, "add", lambda self, _seconds: add(self, 0.1))


def slowed(monkeypatch: pytest.MonkeyPatch, *which: int) -> list[Any]:
    """The plans of the body with these numbers take longer than NumPy; returns the graphs that are compiled for it.

    Where both rungs have lost, the loop's body may be tried by itself, which is no rung of the loop's.
    """
    compile_plan, graphs = Maker.compile, []

    def compiled(self: Maker, prepared: Any, probe: Any) -> Any:
        plan = compile_plan(self, prepared, probe)
        if probe.region is not self.controller.tree.root:
            return plan
        call, number = plan.call, len(graphs)
        graphs.append(prepared.graph)

        def late(*values: Any) -> Any:
            if number in which:
                time.sleep(0.2)
            return call(*values)

        plan.call = late
        return plan

    monkeypatch.setattr(Maker, "compile", compiled)
    return graphs


def run(function: Any, calls: int = 16) -> Any:
    fast = aj.autocluster(policy="measured", check=False)(function)  # under a check no plan is given up
    a = np.arange(600.0).reshape(20, 30)
    wanted = function(a, np.zeros_like(a))
    for _ in range(calls):
        np.testing.assert_array_equal(fast(a, np.zeros_like(a)), wanted)
        BACKGROUND.wait()
    return fast, fast.explain(a, np.zeros_like(a))


def has_loop(graph: Graph) -> bool:
    return any(node.op.name == "loop" for node in graph.nodes)


@pytest.mark.usefixtures("slow_numpy")
def test_the_other_rung_where_the_first_one_loses(monkeypatch: pytest.MonkeyPatch) -> None:
    graphs = slowed(monkeypatch, 0)
    fast, explanation = run(columns)
    assert [has_loop(graph) for graph in graphs] in ([False, True], [True, False])
    (loop,) = explanation.loops
    assert loop.rung == ("rolled" if has_loop(graphs[1]) else "vectorized")
    assert "measured" in str(loop) or loop.rung == "vectorized"
    probe = fast.__autojit_controller__.probes[0]
    assert not probe.plans[0].is_native


@pytest.mark.usefixtures("slow_numpy")
def test_numpy_where_both_lose(monkeypatch: pytest.MonkeyPatch) -> None:
    graphs = slowed(monkeypatch, 0, 1)
    fast, _ = run(columns)
    assert len(graphs) == 2
    probe = fast.__autojit_controller__.probes[0]
    assert probe.plans[0].reason.id == "slower"
    assert not fast.__autojit_controller__.recipes


@pytest.mark.usefixtures("slow_numpy")
def test_a_rung_that_wins_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    graphs = slowed(monkeypatch)
    run(columns)
    assert len(graphs) == 1


def test_the_passes_that_choose() -> None:
    a = np.ones((20, 30))
    captured = aj.jit_compile(columns).explain(a, a.copy()).clusters[0].prepared.stages[0].graph
    assert has_loop(captured)
    for choose, loops, taken in ((vectorize_always, False, "vectorized"), (keep_rolled, True, "rolled")):
        stages: list[Any] = []
        assert has_loop(run_pipeline(captured, stages, with_rung(choose))) == loops
        assert [rung.taken for stage in stages for rung in stage.rungs] == [taken]
    assert with_rung(vectorize) == PIPELINE
