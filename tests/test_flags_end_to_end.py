"""The flags of the clusters, seen from a decorated function: what is compiled, and that the answer stays."""

from __future__ import annotations

import logging
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import autojit as aj
from autojit import config
from autojit.runtime.fuel import FUEL
from tests.helpers import check

X = np.linspace(-2.0, 3.0, 24).reshape(4, 6)


def work(x):
    """Elementwise work, a reduction, a function that stays on the host, more elementwise work."""
    y = np.sin(x) * 2 + 1
    total = y.sum(axis=1)
    kept = np.unique(total)
    return np.exp(kept) - kept.mean()


def explained(function=work, *arguments, **flags):
    """The cluster names with their numbers of operations, and the host nodes, after a check of the answers."""
    decorator = aj.autocluster(policy="eager", **flags)
    decorated = check(function, *(arguments or (X,)), decorator=decorator)
    explanation = decorated.explain(*(arguments or (X,)))
    clusters = {cluster.name: cluster.operations for cluster in explanation.clusters}
    reasons = [(reason.id, reason.detail) for reason in explanation.host_nodes]
    # Without fuel the statements themselves run.
    assert decorated.cache_info().plans == (flags.get("clustering_fuel") != 0)
    return clusters, reasons


def ids(reasons):
    return [id for id, _ in reasons]


def test_defaults():
    clusters, reasons = explained()
    assert clusters == {"cluster_0": 4, "cluster_1": 3} and ids(reasons) == ["host-op"]


def test_min_cluster_size():
    clusters, reasons = explained(min_cluster_size=4)
    assert clusters == {"cluster_0": 4} and ids(reasons) == ["host-op", "too-small", "too-small", "too-small"]
    assert "fewer than `--min_cluster_size=4`" in reasons[1][1]
    clusters, reasons = explained(min_cluster_size=100)
    assert not clusters and len(reasons) == 8
    # A function that compiles as a whole is never too small.
    assert explained(lambda x: x + 1, X, min_cluster_size=100) == ({"cluster_0": 1}, [])


def test_max_cluster_size():
    clusters, _ = explained(max_cluster_size=2)
    assert clusters and max(clusters.values()) <= 2 and sum(clusters.values()) == 7
    assert list(clusters) == [f"cluster_{number}" for number in range(len(clusters))]


def test_ops_to_cluster():
    clusters, reasons = explained(ops_to_cluster=("elementwise",))
    assert sum(clusters.values()) == 5 and sorted(ids(reasons)) == ["excluded", "excluded", "host-op"]
    assert "`np.sum` is not among `--ops_to_cluster=elementwise`" in reasons[0][1]
    clusters, _ = explained(ops_to_cluster="np.sum,mean")
    assert sum(clusters.values()) == 2


def test_cluster_exclude_ops():
    clusters, reasons = explained(cluster_exclude_ops="np.sin,reduction")
    assert sum(clusters.values()) == 4
    assert ("excluded", "`np.sin` is among `--cluster_exclude_ops=np.sin,reduction`") in reasons


def test_excluded_for_jit_compile():
    strict = aj.jit_compile(cluster_exclude_ops="np.cos")(lambda x: np.cos(x) + 1)
    with pytest.raises(aj.UncompilableError, match=r"\[excluded\] `np.cos` is among") as caught:
        strict(X)
    assert "change `--ops_to_cluster`" in str(caught.value)


@pytest.mark.parametrize("fuel", [0, 1, 2, -1])
def test_clustering_fuel(fuel):
    clusters, reasons = explained(clustering_fuel=fuel)
    assert len(clusters) == (fuel if fuel in (0, 1) else 2)
    assert ids(reasons).count("excluded") == {0: 7, 1: 3}.get(fuel, 0)


def test_fuel_of_a_keyword_is_the_functions_own_and_of_a_flag_the_process():
    one, other = (aj.autocluster(policy="eager", clustering_fuel=1)(lambda x: np.sin(x) + 1) for _ in range(2))
    assert [function(X).shape and function.cache_info().plans for function in (one, other)] == [1, 1]
    FUEL.renew()
    with config.override(clustering_fuel=2, policy="eager"):
        functions = [aj.autocluster(lambda x: np.cos(x) + 1) for _ in range(4)]
        functions[1] = aj.jit_compile(lambda x: np.cos(x) + 2)
        functions[3] = aj.jit_compile(lambda x: np.cos(x) + 3)
    for number, function in enumerate(functions):
        np.testing.assert_allclose(function(X), function.__wrapped__(X), rtol=1e-12)
        assert function.cache_info().plans == (number < 2), number
    assert FUEL.spent == 2
    aj.clear_cache()
    assert functions[2](X).shape == X.shape and functions[2].cache_info().plans == 0


def test_threads_share_the_fuel():
    FUEL.renew()
    with config.override(clustering_fuel=5, policy="eager"):
        functions = [aj.autocluster(lambda x: np.cos(x) * 2 - 1) for _ in range(12)]
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(lambda function: function(X), functions))
    assert sum(function.cache_info().plans for function in functions) == FUEL.spent == 5


@pytest.mark.parametrize(
    ("flag", "name", "near"),
    [("cluster_exclude_ops", "np.summ", "np.sum"), ("ops_to_cluster", "elementwize", "elementwise"),
     ("cluster_exclude_ops", "tanhh", "tanh")],
)  # fmt: skip
def test_unknown_operations(flag, name, near):
    for decorator in (aj.autocluster, aj.jit_compile):
        with pytest.raises(aj.FlagError, match=f"unknown operation `{name}` in `--{flag}`; did you mean `{near}`"):
            decorator(work, **{flag: ("np.sin", name)})
    with config.override(**{flag: name}), pytest.raises(aj.FlagError, match="the families are `elementwise`"):
        aj.autocluster(work)


def test_flags_of_the_process_and_of_the_context():
    with config.override(cluster_exclude_ops=("np.sin",), policy="eager"):
        decorated = aj.autocluster(work)
        own = aj.autocluster(cluster_exclude_ops=())(work)
    assert "excluded" in ids([(r.id, "") for r in decorated.explain(X).host_nodes])
    assert ids([(r.id, "") for r in own.explain(X).host_nodes]) == ["host-op"]
    np.testing.assert_allclose(decorated(X), work(X))


def test_clustering_debug(caplog):
    def f(x):
        y = np.unique(x * 2)
        print(end="")
        return y + 1

    decorated = aj.autocluster(policy="eager", clustering_debug=True)(f)
    with caplog.at_level(logging.DEBUG, logger="autojit"):
        np.testing.assert_array_equal(decorated(X), f(X))
    text = "\n".join(record.getMessage() for record in caplog.records if record.name == "autojit")
    first = f.__code__.co_firstlineno
    assert f"f, lines {first + 1}-{first + 1}" in text and f"lines {first + 3}-{first + 3}" in text
    assert "cluster_0: np.multiply" in text and "host: np.unique [host-op]" in text
    assert "np.multiply(" in text and "# float64[4,6] | cluster_0 |" in text
    assert "def plan(L_" in text
    caplog.clear()
    with caplog.at_level(logging.DEBUG, logger="autojit"):
        aj.autocluster(policy="eager")(f)(X)
    assert not [record for record in caplog.records if record.name == "autojit"]


def test_unroll_budget():
    def f(x):
        for k in range(9):
            x = x * k + x[::-1]
        return x

    assert explained(f, X)[0]
    small = aj.autocluster(policy="eager", unroll_budget=0)(f)
    np.testing.assert_allclose(small(X), f(X))


def test_one_program_may_be_too_large():
    strict = aj.jit_compile(max_cluster_size=3)(work_without_host)
    with pytest.raises(aj.UncompilableError, match=r"\[budget\] 5 operations, more than `--max_cluster_size=3`"):
        strict(X)
    check(work_without_host, X, decorator=aj.jit_compile(max_cluster_size=5), whole=True)


def work_without_host(x):
    return (np.sin(x) * 2 + 1).sum(axis=1) - 3
