"""`explain`: as text and as data, without running anything; clusters, loops, branches that raise, what breaks cost."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from scipy import ndimage

import autojit as aj

X = np.arange(6.0) + 1
EAGER = aj.autocluster(policy="eager")
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
    assert f":{first + 5}: [raises] a `raise` statement is reached" in " ".join(str(explanation).split())
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
