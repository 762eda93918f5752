"""Matrix products are left to NumPy's BLAS, between clusters of the rest, where that is measured to be faster."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import autojit as aj
from autojit.compile.cache import CACHE
from autojit.compile.options import APART, next_option
from autojit.config import Config
from autojit.partition.clusters import partition
from autojit.partition.products import is_product, may_pay_apart
from autojit.runtime import compiler, remembered, turns
from autojit.runtime.background import BACKGROUND
from autojit.runtime.compiler import prepare
from autojit.runtime.rivals import next_choice, with_choice
from tests.test_tuning import choice_of, graph_of, is_tuning, pays, plan_of, run, slowed  # noqa: F401 -- a fixture

RNG = np.random.default_rng(0)
M, U, V = RNG.random((500, 500)), RNG.random(500), RNG.random(500)


@pytest.fixture(autouse=True)
def _blocks(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(turns, "LONGEST_BLOCK", 8)
    yield
    BACKGROUND.wait()


def updated(m, u, v):
    m = m + np.outer(u, v) + np.outer(v, u)
    return m @ u * 2 + v


def changed(m, u, v):
    m += np.outer(u, v) + np.outer(v, u)
    u += m @ v
    return m[::2] @ u


def branch(m, u):
    if np.abs(m).max() < 1e100:
        w = m @ u + 1
    else:
        w = u * 2
    return w


@pytest.fixture
def apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """All plans leave their products to NumPy."""
    monkeypatch.setattr(compiler, "partition", lambda graph, config, slower, _: partition(graph, config, slower, True))


def prepared_of(function: Any, *arguments: Any) -> Any:
    return aj.autocluster(policy="eager")(function).explain(*arguments).clusters[0].prepared


def hosts(graph: Any) -> list[str]:
    return [node.op.name for node in graph.nodes if node.cluster is None]


@pytest.mark.parametrize(
    ("function", "arguments", "expected"),
    [
        (lambda a, b: a @ b + 1, (M, M), True),
        (lambda a, b: a @ b + 1, (M, U), True),
        (lambda a, b: np.dot(a, b) + 1, (U, V), True),
        (lambda a, b: np.einsum("ij,jk->ik", a, b) + 1, (M, M), False),  # a loop of NumPy's own
        (lambda a, b: a.dot(b) + 1, (M, M), True),
        (lambda a, b: np.tensordot(a, b, 2) + 1, (M.reshape(50, 10, 500), M[:20].reshape(10, 500, 2)), True),
        (lambda a, b: a @ b + 1, (np.ones((200, 3, 3)), np.ones((200, 3, 3))), False),  # each of them small
        (lambda a, b: np.convolve(a, b[:20]) + 1, (U, V), False),
        (lambda a, b: np.vecdot(a, b) + 1, (M, M), False),
        (lambda a, b: np.tensordot(a, b, 1) + 1, (M.astype("f4"), M.astype("f4")), True),
        (lambda a, b: a @ b + 1, (M.astype(complex), M), True),
        (lambda a, b: np.outer(a, b) + 1, (U, V), False),  # sums nothing
        (lambda a, b: a @ b + 1, (np.ones((50, 50), int), np.ones((50, 50), int)), False),  # NumPy has no BLAS for them
        (lambda a, b: a @ b + 1, (M.astype("f2"), M.astype("f2")), False),
        (lambda a, b: np.fft.fft(a) + b, (U, V), False),
    ],
)
def test_what_is_a_product(function: Any, arguments: Any, expected: bool) -> None:
    assert any(map(is_product, graph_of(function, *arguments).nodes)) == expected


def test_products_leave_their_clusters_and_come_back() -> None:
    prepared = prepared_of(updated, M, U, V)
    assert len(prepared.clusters) == 1 and not hosts(prepared.graph)
    apart = with_choice(prepared, "apart+wide", Config())
    assert hosts(apart.graph) == ["np.matmul"] and len(apart.clusters) == 2
    assert apart.recipe.choice == "apart+wide"
    assert str(with_choice(apart, "", Config()).graph) == str(prepared.graph)
    assert str(prepare(prepared.capture, Config(), recipe=apart.recipe).graph) == str(apart.graph)


def test_not_in_loops() -> None:
    def powers(m, u):
        for _ in range(50):
            u = m @ u / 500
        return u

    graph = prepared_of(powers, M, U).graph
    assert not hosts(partition(graph, Config(), products_apart=True))


@pytest.mark.parametrize(
    ("function", "arguments", "expected"),
    [
        (updated, (M, U, V), True),
        (lambda a, b: a @ b, (M, M), False),  # nothing would be left to compile
        (lambda a, b: a @ b + 1, (M, M), False),  # the product is all there is
        (lambda a, b: np.sin(a) * np.cos(a) + b @ b, (M, U), False),  # next to nothing
        (lambda a, b: np.outer(a, a) @ a + b, (U[:5], V[:5]), False),
    ],
)
def test_where_it_may_pay(function: Any, arguments: Any, expected: bool) -> None:
    prepared = prepared_of(function, *arguments)
    assert may_pay_apart(with_choice(prepared, APART.name, Config()).graph) == expected
    found = next_choice(prepared, [""], Config())
    assert (found == (APART, "apart")) == expected
    assert next_choice(prepared, ["", "apart"], Config()) == next_option(
        (step.graph for step in prepared.clusters), ["", "apart"], ""
    )


def test_not_under_fuel() -> None:
    prepared = prepared_of(updated, M, U, V)
    found = next_choice(prepared, [""], Config(clustering_fuel=3))
    assert found is None or found[0] is not APART


@pytest.mark.usefixtures("pays")
def test_a_plan_that_loses_with_its_products(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = slowed(monkeypatch, {"": 0.2, "apart": 0.001})
    fast = run(updated, M, U, V)
    assert seen[:2] == ["", "apart"] and "apart" in choice_of(fast) and not plan_of(fast).is_native
    told = fast.explain(M, U, V)
    assert [node.detail for node in told.host_nodes] == ["`np.matmul` was measured to be faster in NumPy"]
    assert len(told.clusters) == 2
    assert "matrix products by NumPy" in [event.detail.split(", ")[0] for event in told.history]


@pytest.mark.usefixtures("pays")
def test_a_plan_that_wins_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = slowed(monkeypatch, {"apart": 0.001})
    fast = run(updated, M, U, V)
    assert seen[:2] == ["", "apart"] and choice_of(fast).startswith("apart")
    assert plan_of(fast).seconds < 0.005


@pytest.mark.usefixtures("pays")
def test_products_stay_where_they_are_faster_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = slowed(monkeypatch, {"": 0.001, "apart": 0.005, "fused": 0.005, "wide": 0.005})
    fast = run(updated, M, U, V)
    assert seen[:2] == ["", "apart"] and choice_of(fast) == ""


@pytest.mark.usefixtures("pays")
def test_ynn_competes_with_blas(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = slowed(monkeypatch, {"": 0.02, "apart": 0.012, "fused": 0.001, "fused+wide": 0.002, "wide": 0.02})
    fast = run(updated, M, U, V)
    assert seen[:3] == ["", "apart", "fused"] and choice_of(fast) == "fused"


@pytest.mark.usefixtures("pays")
def test_ynn_competes_where_both_others_lose(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = slowed(monkeypatch, {"": 0.14, "apart": 0.12, "fused": 0.003, "fused+wide": 0.004, "wide": 0.14})
    fast = run(updated, M, U, V)
    assert seen[:3] == ["", "apart", "fused"] and "fused" in choice_of(fast) and not plan_of(fast).is_native


def test_what_is_in_no_cluster_is_not_taken_apart() -> None:
    config = Config(cluster_exclude_ops=("matmul",))
    prepared = (
        aj.autocluster(policy="eager", cluster_exclude_ops=("matmul",))(updated).explain(M, U, V).clusters[0].prepared
    )
    assert hosts(prepared.graph) == ["np.matmul"]
    found = next_choice(prepared, [""], config)
    assert found is None or found[0] is not APART


INF = M.copy()
INF[3] = np.inf


@pytest.mark.usefixtures("apart")
@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (branch, (INF, U)),  # NumPy would not multiply
        (lambda m, u: (m * 2) @ u + 1, (INF, U)),  # compiled products of infinities do not warn, either
    ],
)
def test_products_apart_do_not_warn(function: Any, arguments: Any) -> None:
    fast = aj.autocluster(policy="eager", check=False)(function)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        result = fast(*arguments)
    assert not caught and fast.cache_info().hits == 1
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(result, function(*arguments))


@pytest.mark.usefixtures("apart")
def test_products_apart_that_overflow_are_numpys() -> None:
    def grown(m, u):
        return (m * 2) @ u + 1

    fast = aj.autocluster(policy="eager", check=False)(grown)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        result = fast(M * 1e300, U * 1e300)
    assert [str(each.message) for each in caught] == ["overflow encountered in matmul"]
    assert fast.cache_info().traps == 1 and caught[0].filename == __file__
    assert np.isinf(result).all()


@pytest.mark.usefixtures("pays")
def test_what_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    slowed(monkeypatch, {"": 0.004, "apart": 0.001})
    fast = aj.autocluster(policy="measured", check=False)(changed)
    for number in range(40):
        mine, theirs = ([M / 500, U / 500, V / (1 + number)] for _ in range(2))
        np.testing.assert_allclose(fast(*mine), changed(*theirs), rtol=1e-10)
        for one, other in zip(mine, theirs):
            np.testing.assert_allclose(one, other, rtol=1e-10)
        BACKGROUND.wait()
    assert choice_of(fast).startswith("apart")


@pytest.mark.usefixtures("pays")
def test_later_processes_begin_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    flags = {"disk_cache": True, "cache_dir": str(tmp_path)}
    seen = slowed(monkeypatch, {"apart": 0.001})
    CACHE.clear()  # what is in memory already is not stored
    run(updated, M, U, V, calls=120, **flags)
    assert seen[:2] == ["", "apart"]
    remembered._save_all()
    CACHE.clear()
    seen.clear()
    again = run(updated, M, U, V, calls=20, **flags)
    assert seen[0].startswith("apart") and choice_of(again).startswith("apart")
    assert again.cache_info().compiles == 0


@pytest.mark.usefixtures("pays")
def test_what_has_won_is_kept_before_all_is_tried(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    flags = {"disk_cache": True, "cache_dir": str(tmp_path), "policy": "measured", "check": False}
    seen = slowed(monkeypatch, {"apart": 0.001})
    CACHE.clear()
    fast = aj.autocluster(**flags)(updated)
    for _ in range(120):
        fast(M, U, V)
        BACKGROUND.wait()
        if choice_of(fast) == "apart":
            break
    assert is_tuning(plan_of(fast))
    remembered._save_all()
    CACHE.clear()
    seen.clear()
    run(updated, M, U, V, calls=5, disk_cache=True, cache_dir=str(tmp_path))
    assert seen[0] == "apart"
