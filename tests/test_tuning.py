"""The policy `measured` tries XLA's options: for plans that are kept, and for those that would lose without."""

from __future__ import annotations

import threading
import time
from typing import Any

import numpy as np
import pytest

import autojit as aj
from autojit.compile import options
from autojit.compile.cache import CACHE
from autojit.compile.key import cluster_key
from autojit.compile.options import FUSED, WIDE, compile_options, next_option
from autojit.ir.graph import Graph
from autojit.runtime import measured, remembered, tuning
from autojit.runtime.allowance import ALLOWANCE, Allowance
from autojit.runtime.background import BACKGROUND
from autojit.runtime.heat import Heat, HeatMap
from autojit.runtime.maker import Maker
from autojit.runtime.turns import Turns
from autojit.runtime.watch import Watch

_FUSIONS, _WIDTH = "xla_cpu_experimental_ynn_fusion_type", "xla_cpu_prefer_vector_width"
X = np.linspace(0.5, 2.0, 3000)
A = X[:2500].reshape(50, 50)


def smooth(x):
    return np.sqrt(x) * 3 + x * x


def product(a):
    return a @ a + 1.0


def summed(a):
    return (a @ a).sum(axis=0)


def divided(i, j):
    return (i // j) * 2 + i


@pytest.fixture(autouse=True)
def _wide(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(options, "has_wide_vectors", lambda: True)
    yield
    BACKGROUND.wait()


@pytest.fixture
def pays(monkeypatch: pytest.MonkeyPatch):
    """NumPy takes a tenth of a second, by the trial's clock, and whatever is tried pays at once."""
    monkeypatch.setattr("autojit.runtime.heat.PAYS_AFTER", 1e-9)
    monkeypatch.setattr("autojit.runtime.heat.WAITS", 0.0)
    monkeypatch.setattr(tuning, "SHORTEST", 0.0)
    monkeypatch.setattr(tuning, "PAYS", 0.0)
    add = Heat.add
    monkeypatch.setattr(Heat, "add", lambda self, _seconds: add(self, 0.1))
    note = HeatMap.note
    monkeypatch.setattr(HeatMap, "note", lambda self, heat, _seconds: note(self, heat, 0.1))  # such calls are not short


def slowed(monkeypatch: pytest.MonkeyPatch, seconds: dict[str, float]) -> list[str]:
    """Plans with these choices take so long, those with others 5 ms; returns the choices in the order of compiling."""
    compile_plan, seen = Maker.compile, []

    def compiled(self: Maker, prepared: Any, probe: Any) -> Any:
        plan = compile_plan(self, prepared, probe)
        call, choice = plan.call, prepared.recipe.choice
        seen.append(choice)

        def late(*values: Any) -> Any:
            time.sleep(seconds.get(choice, 0.005))
            return call(*values)

        plan.call = late
        return plan

    monkeypatch.setattr(Maker, "compile", compiled)
    return seen


def run(function: Any, *arguments: Any, calls: int = 60, **flags: Any) -> Any:
    fast = aj.autocluster(policy="measured", **{"check": False, **flags})(function)
    wanted = function(*arguments)
    for _ in range(calls):
        np.testing.assert_allclose(fast(*arguments), wanted, rtol=1e-12)
        BACKGROUND.wait()
    return fast


def plan_of(fast: Any) -> Any:
    return fast.__autojit_controller__.probes[0].plans[0]


def choice_of(fast: Any) -> str:
    """What was chosen for a function with one recipe at most."""
    recipes = list(fast.__autojit_controller__.recipes.values())
    assert len(recipes) < 2
    return recipes[0].choice if recipes else ""


def graph_of(function: Any, *arguments: Any) -> Graph:
    return aj.jit_compile(function).explain(*arguments).clusters[0].step.graph


def is_tuning(plan: Any) -> bool:
    return isinstance(getattr(plan.call, "__self__", None), tuning.Tuning)


def test_what_is_tried_and_in_which_order() -> None:
    plain, dot = graph_of(smooth, X), graph_of(product, A)
    assert next_option([plain], [""], "") == (WIDE, "wide")
    assert next_option([plain], ["", "wide"], "") is None
    assert next_option([plain], ["", "wide"], "wide") is None
    assert next_option([plain, dot], [""], "") == (FUSED, "fused")
    assert next_option([dot], ["", "fused"], "") == (WIDE, "wide")
    assert next_option([dot], ["", "fused"], "fused") == (WIDE, "fused+wide")
    assert next_option([dot], ["", "fused", "fused+wide"], "fused") is None
    assert next_option([], [""], "") is None


def test_nothing_wide_where_the_processor_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(options, "has_wide_vectors", lambda: False)
    assert next_option([graph_of(smooth, X)], [""], "") is None


@pytest.mark.usefixtures("pays")
def test_what_is_chosen_keeps_its_times(monkeypatch: pytest.MonkeyPatch) -> None:
    slowed(monkeypatch, {"wide": 0.001})
    fast = run(smooth, X)
    plan = plan_of(fast)
    assert choice_of(fast) == "wide" and not is_tuning(plan)
    assert 0.001 <= plan.seconds < 0.005 and plan.numpy_seconds == pytest.approx(0.1)
    details = [event.detail for event in fast.explain(X).history if event.what == "compiled"]
    assert details == ["", options.in_words("wide")]


def test_products_of_many_axes_are_kept_from_ynn() -> None:
    def many(a):
        return a @ a

    graph = graph_of(many, np.ones((1, 1, 1, 1, 2, 2)))
    assert next_option([graph], [""], "") == (WIDE, "wide")
    assert compile_options(graph, "fused")[_FUSIONS] == ""


def test_the_options() -> None:
    plain, dot = graph_of(smooth, X), graph_of(product, A)
    assert _FUSIONS not in compile_options(plain) and compile_options(dot)[_FUSIONS] == ""
    assert _FUSIONS not in compile_options(dot, "fused") and _WIDTH not in compile_options(dot, "fused")
    assert compile_options(plain, "wide")[_WIDTH] == 512
    assert len({cluster_key(plain), cluster_key(plain, "wide"), cluster_key(dot), cluster_key(dot, "wide")}) == 4


@pytest.mark.usefixtures("pays")
def test_what_is_faster_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = slowed(monkeypatch, {"wide": 0.001})
    fast = run(smooth, X)
    assert seen == ["", "wide"] and choice_of(fast) == "wide" and not is_tuning(plan_of(fast))
    (cluster,) = fast.explain(X).clusters
    assert cluster.options == "vectors of 512 bits" == cluster.to_dict()["options"]
    assert "chosen by measurement: vectors of 512 bits" in str(fast.explain(X))
    compiles = fast.cache_info().compiles
    assert "sqrt" in fast.get_compiler_ir(X)("optimized_hlo")
    assert fast.cache_info().compiles == compiles  # the one that runs is shown


@pytest.mark.usefixtures("pays")
def test_what_is_slower_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = slowed(monkeypatch, {"": 0.02, "wide": 0.028})
    fast = run(smooth, X)
    assert seen == ["", "wide"] and choice_of(fast) == "" and not is_tuning(plan_of(fast))
    assert not plan_of(fast).is_native and fast.explain(X).clusters[0].options == ""


@pytest.mark.usefixtures("pays")
def test_what_is_tried_is_spent_and_may_be(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither compiling nor slow runs come for nothing: the bound holds for them, too."""
    before, asked = ALLOWANCE.spent, list[float]()
    monkeypatch.setattr(Allowance, "has_no", lambda _, seconds: asked.append(seconds) or len(asked) < 3)
    seen = slowed(monkeypatch, {"wide": 0.02})
    fast = run(smooth, X)
    assert seen == ["", "wide"] and len(asked) == 3 and min(asked) > 0.0 and choice_of(fast) == ""
    assert ALLOWANCE.spent - before >= 2 * 0.014


@pytest.mark.usefixtures("pays")
def test_what_is_hopeless_runs_once(monkeypatch: pytest.MonkeyPatch) -> None:
    slowed(monkeypatch, {"wide": 0.05})
    start = time.perf_counter()
    run(smooth, X)
    assert time.perf_counter() - start < 60 * 0.005 + 3 * 0.05 + 5


@pytest.mark.usefixtures("pays")
def test_one_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = slowed(monkeypatch, {"fused": 0.003, "fused+wide": 0.001})
    fast = run(product, A)
    assert seen == ["", "fused", "fused+wide"] and choice_of(fast) == "fused+wide"
    assert fast.explain(A).clusters[0].options == "matrix products by XLA's YNN library, vectors of 512 bits"


@pytest.mark.usefixtures("pays")
def test_a_plan_that_loses_without(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = slowed(monkeypatch, {"": 0.2})
    fast = run(product, A)
    assert seen[:2] == ["", "fused"] and not plan_of(fast).is_native
    assert "fused" in choice_of(fast)


@pytest.mark.usefixtures("pays")
def test_numpy_where_all_lose(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = slowed(monkeypatch, {"": 0.11, "fused": 0.12, "wide": 0.13})
    fast = run(product, A)
    assert seen == ["", "fused", "wide"] and plan_of(fast).reason.id == "slower" and not fast.__autojit_controller__.recipes
    run(lambda a: a @ a + 2.0, np.ones((300, 300)))
    assert seen[3:] == ["", "fused"]  # products take nearly all of its time, which wider vectors leave as it is


@pytest.mark.usefixtures("pays")
def test_what_no_option_can_make_up_for_is_not_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = slowed(monkeypatch, {"": 0.4})
    fast = run(product, A, calls=20)
    assert seen == [""] and plan_of(fast).reason.id == "slower"


@pytest.mark.usefixtures("pays")
def test_a_slow_run_must_have_been_paid_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measured, "PAYS_AFTER", 0.25)
    seen = slowed(monkeypatch, {"": 0.15})
    fast = aj.autocluster(policy="measured", check=False)(summed)
    for _ in range(12):  # one slow run may take 16 times 0.15 s: 2.15 s more of NumPy's are needed, 0.1 s each
        fast(A)
        BACKGROUND.wait()
    assert seen == [""]
    for _ in range(40):
        fast(A)
        BACKGROUND.wait()
    assert seen[:2] == ["", "fused"]


@pytest.mark.usefixtures("pays")
@pytest.mark.parametrize("flags", [{"exact": True}, {"check": True}])
def test_not_where_every_bit_counts(monkeypatch: pytest.MonkeyPatch, flags: dict[str, bool]) -> None:
    seen = slowed(monkeypatch, {"wide": 0.001})
    run(smooth, X, calls=20, **flags)
    assert seen == [""]


def test_not_for_a_plan_of_a_few_microseconds(monkeypatch: pytest.MonkeyPatch, pays: None) -> None:
    monkeypatch.setattr(tuning, "SHORTEST", 50e-6)
    seen = slowed(monkeypatch, {"": 0.0})
    monkeypatch.setattr(measured, "perf_counter", iter(range(10**6)).__next__)  # every run takes "1 second"
    run(smooth, X, calls=3)
    monkeypatch.undo()
    assert seen == [""]


@pytest.mark.usefixtures("pays")
def test_options_that_cannot_be_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    compile_plan = Maker.compile

    def failing(self: Maker, prepared: Any, probe: Any) -> Any:
        if prepared.recipe.choice:
            raise RuntimeError("no such option")
        return compile_plan(self, prepared, probe)

    monkeypatch.setattr(Maker, "compile", failing)
    fast = run(smooth, X, calls=20)
    assert not plan_of(fast).is_native and not is_tuning(plan_of(fast)) and choice_of(fast) == ""


@pytest.mark.usefixtures("pays")
def test_other_calls_and_data_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    slowed(monkeypatch, {})
    monkeypatch.setattr(tuning, "RUNS", 10**6)  # never decided
    monkeypatch.setattr(tuning, "HOPELESS", 1e9)
    monkeypatch.setattr(tuning, "VERY_HOPELESS", 1e9)
    i, j = np.arange(100), np.arange(1, 101)
    fast = run(divided, i, j, calls=30)
    assert is_tuning(plan_of(fast))
    zero = np.where(j == 50, 0, j)
    for _ in range(4):
        with np.errstate(divide="ignore"):
            np.testing.assert_array_equal(fast(i, zero), divided(i, zero))  # a trap
        np.testing.assert_array_equal(fast(i[:7], j[:7]), divided(i[:7], j[:7]))  # another guard
        np.testing.assert_array_equal(fast(i * 1.0, j), divided(i * 1.0, j))
    assert fast.cache_info().traps == 4


@pytest.mark.usefixtures("pays")
def test_many_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    slowed(monkeypatch, {"wide": 0.001})
    fast, wrong = aj.autocluster(policy="measured", check=False)(smooth), []

    def work(k: int) -> None:
        x = X * k
        wanted = smooth(x)
        wrong.extend(1 for _ in range(60) if not np.allclose(fast(x), wanted, rtol=1e-12))

    threads = [threading.Thread(target=work, args=(k,)) for k in range(1, 9)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    run(smooth, X, calls=1)
    assert not wrong
    for _ in range(40):
        fast(X)
        BACKGROUND.wait()
    assert not is_tuning(plan_of(fast)) and len(fast.__autojit_controller__.probes[0].plans) == 1


@pytest.mark.usefixtures("pays")
def test_later_processes_begin_with_what_was_chosen(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    flags = {"disk_cache": True, "cache_dir": str(tmp_path)}
    seen = slowed(monkeypatch, {"wide": 0.001})
    CACHE.clear()  # what is in memory already is not stored
    run(smooth, X, **flags)
    assert seen == ["", "wide"]
    remembered._save_all()
    CACHE.clear()
    again = run(smooth, X, calls=20, **flags)
    assert seen == ["", "wide", "wide"] and choice_of(again) == "wide"
    assert again.cache_info().compiles == 0 and again.cache_info().loads == 1


@pytest.mark.usefixtures("pays")
def test_plans_with_products_and_numpy_take_turns_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("autojit.runtime.turns.LONGEST_BLOCK", 4)
    monkeypatch.setattr(measured, "LONG", 1.0)
    monkeypatch.setattr(tuning, "SHORTEST", 1.0)
    slowed(monkeypatch, {})
    taken: list[bool] = []

    class Noted(Turns):
        def took(self, seconds: float) -> None:
            taken.append(self.is_seconds)
            super().took(0.0)

    monkeypatch.setattr(measured, "Turns", Noted)
    run(product, A, calls=30)
    assert taken == [False] * 4 + [True] * 4 + [False] * 4
    taken.clear()
    run(smooth, X, calls=30)
    assert taken == [False, True, True, False, True, False, False]


def test_a_later_process_knows_what_made_a_plan_win(monkeypatch: pytest.MonkeyPatch, tmp_path: Any, pays: None) -> None:
    monkeypatch.setattr(options, "has_wide_vectors", lambda: False)  # nothing is left to try when it has won
    flags = {"disk_cache": True, "cache_dir": str(tmp_path)}
    seen = slowed(monkeypatch, {"": 0.2})
    CACHE.clear()
    for _ in range(3):
        run(product, A, **flags)
        remembered._save_all()
    assert seen == ["", "fused", "fused", "fused"]


@pytest.mark.usefixtures("pays")
def test_what_an_earlier_process_chose_may_lose(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    flags = {"disk_cache": True, "cache_dir": str(tmp_path)}
    times = {"": 0.003, "wide": 0.001}
    seen = slowed(monkeypatch, times)
    CACHE.clear()
    run(smooth, X, **flags)
    remembered._save_all()
    times["wide"] = 0.2
    fast = run(smooth, X, **flags)
    assert seen[:4] == ["", "wide", "wide", ""] and not plan_of(fast).is_native and choice_of(fast) == ""


@pytest.mark.usefixtures("pays")
def test_a_loss_is_not_kept_where_the_other_rung_wins(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    def columns(a, out):
        for i in range(a.shape[1]):
            out[:, i] = a[:, i] * i
        return out

    compile_plan, plans, verdicts = Maker.compile, [], []

    def first_is_slow(self: Maker, prepared: Any, probe: Any) -> Any:
        call = (plan := compile_plan(self, prepared, probe)).call
        plans.append(plan)
        if len(plans) == 1:
            plan.call = lambda *values: (time.sleep(0.2), call(*values))[1]
        return plan

    monkeypatch.setattr(Maker, "compile", first_is_slow)
    monkeypatch.setattr(Maker, "too_small", lambda *_: True)  # the loop's body, which would be compiled first
    monkeypatch.setattr(Watch, "add", lambda self, *call: None)  # nor is the loop taken over while it runs
    put = remembered.Remembered.put
    monkeypatch.setattr(remembered.Remembered, "put", lambda self, *v: (verdicts.append(v[1]), put(self, *v))[1])
    a = np.arange(600.0).reshape(20, 30)
    fast = aj.autocluster(policy="measured", check=False, disk_cache=True, cache_dir=str(tmp_path))(columns)
    for _ in range(30):
        fast(a, np.zeros_like(a))
        BACKGROUND.wait()
    assert len(plans) > 1 and not fast.__autojit_controller__.probes[0].plans[0].is_native and not verdicts


@pytest.mark.usefixtures("pays")
def test_each_shape_has_its_own_choice(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = slowed(monkeypatch, {"wide": 0.001})
    fast = run(smooth, X)
    small = X[:1500]
    monkeypatch.setattr(tuning, "SHORTEST", 1.0)
    for _ in range(20):
        fast(small)
        BACKGROUND.wait()
    assert seen == ["", "wide", ""]
    assert fast.explain(X).clusters[0].options and not fast.explain(small).clusters[0].options


@pytest.mark.usefixtures("pays")
def test_a_rival_that_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    compile_plan = Maker.compile

    def failing(self: Maker, prepared: Any, probe: Any) -> Any:
        plan = compile_plan(self, prepared, probe)
        if prepared.recipe.choice:

            def fail(*values: Any) -> Any:
                raise RuntimeError("out of memory")

            plan.call = fail
        return plan

    monkeypatch.setattr(Maker, "compile", failing)
    fast = run(smooth, X, calls=30)
    assert not plan_of(fast).is_native and not is_tuning(plan_of(fast)) and choice_of(fast) == ""


@pytest.mark.usefixtures("pays")
def test_the_first_run_of_a_rival_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    compile_plan = Maker.compile

    def cold(self: Maker, prepared: Any, probe: Any) -> Any:
        plan = compile_plan(self, prepared, probe)
        call, is_rival, runs = plan.call, bool(prepared.recipe.choice), []

        def late(*values: Any) -> Any:
            runs.append(1)
            time.sleep((0.001 if len(runs) > 1 else 0.05) if is_rival else 0.005)
            return call(*values)

        plan.call = late
        return plan

    monkeypatch.setattr(Maker, "compile", cold)
    assert choice_of(run(smooth, X)) == "wide"


@pytest.mark.usefixtures("pays")
def test_no_thread_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = slowed(monkeypatch, {"wide": 0.001})
    submit, refused = BACKGROUND.submit, []

    def refuse(job: Any) -> bool:
        if seen and len(refused) < 3:
            refused.append(job)
            return False
        return submit(job)

    monkeypatch.setattr(BACKGROUND, "submit", refuse)
    fast = run(smooth, X)
    assert len(refused) == 3 and seen == ["", "wide"] and choice_of(fast) == "wide"


@pytest.mark.usefixtures("pays")
def test_an_error_after_a_plan_has_won(monkeypatch: pytest.MonkeyPatch) -> None:
    slowed(monkeypatch, {})

    def fail(*_: Any) -> Any:
        raise MemoryError

    monkeypatch.setattr(tuning.Tuning, "begin", fail)
    fast = run(smooth, X, calls=20)
    assert not plan_of(fast).is_native


@pytest.mark.usefixtures("pays")
def test_a_loaded_program_is_priced_as_one_that_is_compiled(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    flags = {"disk_cache": True, "cache_dir": str(tmp_path)}
    monkeypatch.setattr(tuning, "PAYS", 1e9)  # never compiled
    prices = []
    CACHE.clear()
    for _ in range(2):
        plan = plan_of(run(smooth, X, calls=20, **flags))
        prices.append(plan.call.__self__.state.race.price)
        remembered._save_all()
        CACHE.clear()
    assert prices[1] > prices[0] / 10
