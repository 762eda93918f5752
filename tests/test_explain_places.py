"""Where an explanation says that things stand: called functions, loops, long lines, times."""

from __future__ import annotations

import ast
import importlib.util
import json
import time

import numpy as np
import pytest
from scipy import interpolate

import autojit as aj
from autojit.errors import Reason, SourceLine
from autojit.explain.report import Explanation

EAGER = aj.autocluster(policy="eager")
U = np.linspace(0, 1, 200)

HELPERS = """import numpy as np


def lap(u):
    return np.roll(u, 1) + np.roll(u, -1) - 2 * u


def many(u):
    for k in range(1, u.shape[0]):
        u = u + np.sin(u) * k
    return u


def loud(u):
    v = u + 1
    print("", end="")
    return v * 2


def deep(u):
    return many(lap(u)) * 2


def host(u):
    return np.unique(u) * 2
"""


@pytest.fixture(scope="module")
def mod(tmp_path_factory):
    file = tmp_path_factory.mktemp("helpers") / "some_helpers.py"
    file.write_text(HELPERS)
    spec = importlib.util.spec_from_file_location("some_helpers", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def marks(explanation):
    """By the offset of a line, its mark."""
    rows = [line.split(" | ", 1) for line in str(explanation).split("\n\n")[1].splitlines()]
    return [mark.strip() for mark, _ in rows]


def near(u):
    return np.cos(u) * 3


def of_a_class(u, model):
    return model.scale(u) + 1


class Model:
    k = 3.0

    def scale(self, u):
        return near(u) * self.k

    @EAGER
    def run(self, u):
        v = self.scale(u)
        return v + 1


def recursive(n, u):
    if n == 0:
        return u * 2
    return recursive(n - 1, u) + n


def test_helpers_in_another_module(mod):
    def f(u):
        a = mod.lap(u)
        b = mod.many(u)
        c = mod.loud(u)
        return a.sum() + b.sum(), c

    explanation = EAGER(f).explain(U)
    first = f.__code__.co_firstlineno
    (cluster,) = explanation.clusters
    assert cluster.lines == (first + 1, first + 2)
    assert [(helper.function, helper.lines) for helper in cluster.helpers] == [("lap", (5,)), ("many", (9, 10))]
    data, text = explanation.to_dict(), " ".join(str(explanation).split())
    assert data["clusters"][0]["helpers"] == [
        {"function": "lap", "file": mod.__file__, "lines": [5]},
        {"function": "many", "file": mod.__file__, "lines": [9, 10]},
    ]
    assert f"lines {first + 1}-{first + 2}, with `lap` (line 5 of some_helpers.py)" in text
    # The loop stands in the other file.
    (loop,) = data["loops"]
    assert (loop["rung"], loop["file"], loop["line"], loop["called_at"]) == ("rolled", mod.__file__, 9, first + 2)
    assert f"loop, line 9 of some_helpers.py in `many`, called at line {first + 2}: rolled" in text
    # What keeps the call is named, too.
    (reason,) = explanation.native_statements
    assert reason.source.line == first + 3 and reason.detail.endswith(f"(in `loud`, {mod.__file__}:16)")
    name = cluster.name
    assert marks(explanation) == ["", name, name, "native: effect", "later: unknown-value"]


def test_helpers_in_the_same_file_and_two_deep(mod):
    def f(u):
        for k in range(30):
            u = near(u) + k
        a = mod.deep(u)
        return near(a) + near(u)

    first = f.__code__.co_firstlineno
    (cluster,) = EAGER(f).explain(U).clusters
    assert cluster.lines == tuple(range(first + 1, first + 5))
    helpers = {helper.function: helper for helper in cluster.helpers}
    assert set(helpers) == {"near", "lap", "many", "deep"} and helpers["near"].file == __file__
    assert helpers["near"].lines == (near.__code__.co_firstlineno + 1,) and helpers["deep"].lines == (21,)
    text = " ".join(str(EAGER(f).explain(U)).split())
    assert f"`near` (line {near.__code__.co_firstlineno + 1})" in text and "`deep` (line 21 of some_helpers.py)" in text


def test_a_helper_with_a_loop_that_is_called_twice(mod):
    def f(u):
        a = mod.many(u)
        return a + mod.many(u * 2)

    first = f.__code__.co_firstlineno
    loops = EAGER(f).explain(U).loops
    assert [(loop.source.line, loop.source.outermost.line - first) for loop in loops] == [(9, 1), (9, 2)]


def test_host_nodes_of_helpers_are_marked_where_they_are_called(mod):
    def f(u):
        a = mod.host(u)
        return a.sum() + mod.host(u + 1).sum()

    explanation = EAGER(f).explain(U)
    first = f.__code__.co_firstlineno
    assert [reason.source.line for reason in explanation.host_nodes] == [25, 25]
    assert all("host: host-op" in mark for mark in marks(explanation)[1:])
    assert f"(in `host`, called at line {first + 2})" in " ".join(str(explanation).split())
    assert explanation.to_html().count('<tr class="out">') == 2
    assert [(row["file"], row["line"]) for row in explanation.to_dict()["losses"]] == [(mod.__file__, 25)] * 2


def test_methods_closures_lambdas_and_recursion():
    (cluster,) = Model.run.explain(Model(), U).clusters
    first = Model.run.__wrapped__.__code__.co_firstlineno + 1
    assert cluster.lines == (first + 1, first + 2)
    assert {helper.function for helper in cluster.helpers} == {"Model.scale", "near"}

    scale = lambda v: near(v) * 2  # noqa: E731 -- a lambda is meant

    def closure(u):
        return scale(u) + 1

    (cluster,) = EAGER(closure).explain(U).clusters
    assert cluster.lines == (closure.__code__.co_firstlineno + 1,)
    assert {helper.function for helper in cluster.helpers} == {"near"}
    (cluster,) = EAGER(recursive).explain(3, U).clusters
    first = recursive.__code__.co_firstlineno
    assert cluster.lines == (first + 2, first + 3) and not cluster.helpers
    (cluster,) = EAGER(lambda u: near(u) * 2).explain(U).clusters
    assert len(cluster.lines) == 1 and marks(EAGER(lambda u: near(u) * 2).explain(U)) == ["cluster_0"]


def test_places_are_equal_whoever_calls():
    one = SourceLine("a.py", 3, "f", "x", SourceLine("b.py", 1))
    assert one == SourceLine("a.py", 3, "f", "x") and hash(one) == hash(SourceLine("a.py", 3, "f", "x"))
    assert one.outermost.file == "b.py" and "caller" not in repr(one)


def python_loops(u, spline, t):
    for i in range(50):
        u = u + i
        print(end="")
    while u.sum() > 1e9:
        for j in range(u.size):
            u = u * 0.5 + j
        print(end="")
    for k in range(1, t.size):
        t = t * 0.5 + np.sin(t)
    other = interpolate.CubicSpline(t, u)
    for k in range(30):
        u = u + other(t) * k
    return u


def test_loops_that_python_runs():
    explanation = EAGER(python_loops).explain(U, None, U)
    first = python_loops.__code__.co_firstlineno
    found = {loop.source.line - first: (loop.rung, loop.reason) for loop in explanation.loops}
    assert found[1] == ("python", f"line {first + 3}: [effect] the call of `print`")
    assert found[4][0] == "python" and "[effect]" in found[4][1]
    assert found[8][0] == "rolled" and found[11][0] == "unknown"
    text = str(explanation)
    assert f"  loop, line {first + 1}: python (line {first + 3}: [effect] the call of `print`)" in text
    shown = marks(explanation)
    assert shown[1] == shown[4] == "loop in Python" and shown[11] == "later: unknown-value"
    rows = explanation.to_dict()["loops"]
    assert {row["rung"] for row in rows} == {"python", "rolled", "unknown"}
    assert all(row["file"] == __file__ and row["called_at"] is None for row in rows)


def test_no_line_is_too_long(mod):
    def f(u, a_name_that_is_rather_long, another_name_that_is_as_long):
        v = np.matmul(u.reshape(20, 10), np.ones((3, 3))) + a_name_that_is_rather_long + another_name_that_is_as_long
        return v

    fast = EAGER(f)
    explanation = fast.explain(U, 1.0, 2.0)
    explanation.changes = [
        Reason(
            "changing-shape",
            "`u` is an array of dtype float64 and shape (10, 20), then " + "`u` is " * 20,
            SourceLine("/some place/with spaces/program.py", 3),
        )
    ]
    explanation.clusters = [
        *explanation.clusters,
        *(
            aj.ClusterInfo("region_26_cluster_0", tuple(range(100, 190, 2)), 3, "", c.prepared, c.step)
            for c in EAGER(near).explain(U).clusters
        ),
    ]
    lines = str(explanation).split("\n\n")[0].splitlines()
    assert all(len(line) <= 100 for line in lines if "np.matmul(" not in line and __file__ not in line)
    assert any(line.startswith("      v = np.matmul(") and len(line) > 100 for line in lines)
    assert any("/some place/with spaces/program.py:3:" in line for line in lines)


def test_changes_are_data():
    fast = EAGER(lambda x, n: x + np.zeros(n))
    for n in (3, 4):
        fast(np.ones(n), n)
    events = fast.explain(np.ones(3), 3).to_dict()["history"]
    assert json.loads(json.dumps(events)) == events and events[0]["changes"] == []
    (last,) = [event for event in events if event["changes"]]
    change = next(change for change in last["changes"] if change["subject"] == "n")
    assert (change["before"], change["now"]) == ("`n` is 3", "`n` is 4") and change["line"] is not None


def with_a_slow_line(x, t):
    y = np.tanh(x) * 2
    time.sleep(0.01)
    return np.exp(-(y**2)).sum()


def test_what_only_a_profile_would_tell_is_said_to_be_unknown(tmp_path):
    fast = EAGER(with_a_slow_line)
    first = with_a_slow_line.__code__.co_firstlineno
    said = f"not measured: how long line {first + 2} takes in Python; a profile of some calls tells"
    explanation = fast.explain(U, U)
    (loss,) = explanation.losses
    assert said in str(explanation) and loss.seconds is None
    fast(U, U)
    with aj.profile(tmp_path):
        fast(U, U)
    explanation = fast.explain(U, U)
    assert said not in str(explanation) and explanation.losses[0].seconds > 0.009 and not explanation.losses[0].is_rest


def test_the_policy_measured_tells_how_long_a_native_line_takes():
    fast = aj.autocluster(policy="measured")(with_a_slow_line)
    end = time.perf_counter() + 60
    while time.perf_counter() < end:
        fast(U, U)
        losses = fast.explain(U, U).losses
        # What runs beside it may make the captured part too long at first.
        if losses and losses[0].seconds is not None and 0.009 < losses[0].seconds < 0.1:
            break
    (loss,) = fast.explain(U, U).losses
    assert loss.is_rest and 0.009 < loss.seconds < 0.1
    assert "a call (measured: a call in NumPy, less what is captured)" in " ".join(str(fast.explain(U, U)).split())


def test_an_explanation_without_a_source():
    found = Explanation.native("f", Reason("no-source", "there is none"))
    assert json.dumps(found.to_dict()) and str(found) and found.to_html()


def test_the_documented_keys_are_those_of_the_data():
    text = (aj.__path__[0] + "/../docs/guides/explain.md").replace("autojit/../", "")
    with open(text) as file:
        page = file.read()
    data = EAGER(near).explain(U).to_dict()
    for key in data:
        assert f"`{key}`" in page, key
    assert ast.literal_eval(repr(sorted(data["clusters"][0]))) == [
        "graph",
        "helpers",
        "lines",
        "name",
        "operations",
        "options",
    ]
