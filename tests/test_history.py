"""What `explain` tells of earlier calls: plans and what they ask for, captures and what differed, decisions."""

import json

import numpy as np

import autojit as aj
from autojit.errors import SourceLine
from autojit.explain.text import WIDTH, times_as_fast
from autojit.runtime.history import Guard, differences, milliseconds
from tests.test_segments import program

EAGER = aj.autocluster(policy="eager")
X = np.ones((4, 5))


def prefix(x, n):
    y = x * 2
    return y[:n].sum() + n


def line(function, offset):
    return function.__code__.co_firstlineno + offset


def test_nothing_has_happened_before_the_first_call():
    explanation = EAGER(prefix).explain(X, 2)
    assert explanation.plans == [] and explanation.history == []
    assert "plans" not in str(explanation) and "history" not in str(explanation)


def test_plans_say_what_they_ask_for():
    fast = EAGER(prefix)
    fast(X, 2), fast(X, 3)
    second, first = fast.explain(X, 2).plans
    assert first.state == second.state == "compiled" and first.lines == (line(prefix, 1), line(prefix, 2))
    assert Guard("`x` is an array of dtype float64 and shape (4, 5)", None, __file__) in first.guards
    asked = {(guard.text, guard.line) for plan in (first, second) for guard in plan.guards}
    assert {("`n` is 2", line(prefix, 2)), ("`n` is 3", line(prefix, 2))} <= asked
    assert f"`n` is 2 (line {line(prefix, 2)})" in str(fast.explain(X, 2))


def test_history_says_what_differed():
    aj.clear_cache()
    fast = EAGER(prefix)
    fast(X, 2), fast(X, 3), fast(X.astype("f"), 3), fast(X[:, :3], 3), fast(X, 3)
    events = fast.explain(X, 2).history
    assert [event.what for event in events] == ["captured", "compiled"] * 4
    assert all(event.lines == (line(prefix, 1), line(prefix, 2)) and event.seconds > 0 for event in events)
    first, second, third, fourth = [event.detail for event in events if event.what == "captured"]
    assert first == ""
    assert second == f"`n` is 3 (line {line(prefix, 2)}), where it was 2"
    assert third == (
        "`x` is an array of dtype float32 and shape (4, 5), where it was an array of dtype float64 and shape (4, 5)"
    )
    assert "shape (4, 3), where it was an array of dtype float32 and shape (4, 5)" in fourth
    fast.clear_cache()
    assert fast.explain(X, 2).history == []


def test_words_for_scalars_that_are_computed():
    shift = 3

    def f(x, n, names):
        k = n // 2 + shift
        return x[:k] * len(names) + np.zeros(len(names))[0]

    fast = EAGER(f)
    fast(np.ones(9), 4, ["a", "b"]), fast(np.ones(9), 6, ["a", "b"])
    texts = [str(guard) for guard in fast.explain(np.ones(9), 4, ["a", "b"]).plans[0].guards]
    assert any("`((n // 2) + shift)` is 6" in text for text in texts), texts


def test_a_compilation_that_was_split():
    def f(x, log):
        y = x * 2
        log.append(1)
        return y + 1

    fast = EAGER(f)
    fast(X, [])
    first, *others = fast.explain(X, []).history
    assert first.what == "captured" and first.detail == f"native: line {line(f, 2)}"
    assert {event.what for event in others} == {"captured", "compiled"}

    def g(x, log):
        y = x * 2
        log.append(1)
        y = y * 3
        log.append(2)
        return y + 1

    fast = EAGER(g)
    fast(X, [])
    assert fast.explain(X, []).history[0].detail == f"native: lines {line(g, 2)}, {line(g, 4)}"


def test_plans_that_trap_and_plans_that_make_room():
    fast = aj.autocluster(policy="eager", max_plans=2)(lambda a, b, n: a // b + np.zeros(n)[0])
    a, b = np.arange(4), np.arange(4)
    with np.errstate(all="ignore"):
        for n in (1, 2):
            fast(a, b + 1, n)
    plans = fast.explain(a, b, 1).plans
    assert {plan.traps for plan in plans} == {0}
    for _ in range(9):
        fast(a, b, 1)
    explanation = fast.explain(a, b, 1)
    assert any(event.what == "left" and "met data that is NumPy's" in event.detail for event in explanation.history)
    assert "left to NumPy: 8 calls met data that is NumPy's" in str(explanation)
    assert any(plan.reason is not None and plan.reason.id == "trapped" for plan in explanation.plans)


def test_as_data_and_within_100_columns():
    fast = EAGER(prefix)
    for n in range(8):
        fast(X, n % 5)
    explanation = fast.explain(X, 2)
    data = explanation.to_dict()
    assert json.loads(json.dumps(data)) == data
    assert data["plans"][0]["guards"][-1]["text"] == "`n` is 4"
    assert data["plans"][0]["guards"][1] == {"text": "`x` is an array of dtype float64 and shape (4, 5)", "line": None}
    assert data["history"][0]["what"] == "captured" and data["resources"]["disk_cache"] is None
    assert all(len(text) <= WIDTH for text in str(explanation).splitlines() if __file__ not in text)


def test_differences_are_of_the_same_things():
    before = (Guard("`x` is 1"), Guard("`y` is 2"), Guard("a scalar stays float64"))
    assert differences(before, before) == differences((), before) == ()
    assert differences(before, (Guard("`x` is 1"), Guard("`z` is 2"))) == ()
    for file, place in (("f.py", "line 7"), ("g.py", "f.py:7")):
        (change,) = differences(before, (Guard("`y` is 3", SourceLine("f.py", 7), file), Guard("a condition")))
        assert str(change) == f"`y` is 3 ({place}), where it was 2"


def test_long_values_are_cut():
    def f(x, names):
        return x * len(names.split())

    fast, names = EAGER(f), "name " * 1000
    fast(X, names), fast(X, names + "one more")
    assert all(len(guard.text) < 250 for plan in fast.explain(X, names).plans for guard in plan.guards)
    assert all(len(event.detail) < 600 for event in fast.explain(X, names).history)


def test_scalars_of_many_operations_are_not_spelled_out():
    lines = ["k = n", *["k = k * 2 + k - n * k + (k * k) % 7 + 1"] * 12, "return x[: k % 3 + 1] * 2"]
    fast = EAGER(program(lines, "x, n"))
    fast(np.ones(9), 4)
    (plan,) = fast.explain(np.ones(9), 4).plans
    assert any(guard.text.startswith("a scalar is ") for guard in plan.guards)


class Thing:
    """An object with attributes."""


def test_names_that_look_like_those_of_the_guard():
    def f(x, k, d, p):
        return x * k + np.zeros(d["K7"]).sum() + np.zeros(p.K9).sum() + np.zeros(d["s1"]).sum() + np.zeros(d["L_x"]).sum()

    thing = Thing()
    thing.K9 = 3
    d = {"K7": 2, "s1": 4, "L_x": 5}
    for decorate in (EAGER, aj.jit_compile):
        fast = decorate(f)
        np.testing.assert_array_equal(fast(X, 1.5, d, thing), f(X, 1.5, d, thing))
        assert fast.cache_info().hits == 1
    texts = {guard.text for guard in fast.explain(X, 1.5, d, thing).plans[0].guards}
    assert {"`d['K7']` is 2", "`d['s1']` is 4", "`d['L_x']` is 5", "`p.K9` is 3"} <= texts, texts


def test_kinds_of_changes():
    def layouts(a):
        return a * 2 + 1

    def types(x, y):
        return x * y

    def lengths(xs):
        return sum(xs) * 2

    a = np.ones((40, 40))
    for function, calls in (
        (layouts, [(a[:8, :9],), (a[:16:2, :9],), (a[:24:3, :9],)]),
        (types, [(a, 1), (a, 2.0), (a, np.float32(2)), (a, np.int8(2))]),
        (lengths, [([a] * 2,), ([a] * 3,), ([a] * 4,)]),
    ):
        fast = EAGER(function)
        for call in calls:
            fast(*call)
        (reason,) = fast.explain(*calls[0]).changes
        assert reason.id == "changing-kind" and reason.source.line == function.__code__.co_firstlineno, str(reason)


def test_a_name_that_is_bound_with_others():
    def f(x):
        q, m = x * 2, x[x > 0.5]
        m.sort(axis=0)
        return np.exp(m).sum() + q.sum()

    fast = EAGER(f)
    for n in range(4):
        fast(np.arange(5.0) - n)
    assert {reason.source.line for reason in fast.explain(np.ones(5)).changes} == {line(f, 1)}


def test_what_plans_of_one_region_have_in_common_is_said_once():
    fast = aj.autocluster(policy="eager")(lambda n, x, y: (np.arange(n) * x).sum() + y.sum())
    for n in (1, 2, 3):
        fast(n, 1.0, X)
    text = str(fast.explain(1, 1.0, X))
    assert text.count("`x` is of type float") == 1 and text.count("`y` is an array") == 1
    assert "3 plans, all of them" in text and "`n` is of type" not in text
    assert [f"if `n` is {n} (" in text for n in (1, 2, 3)] == [True] * 3


def test_the_first_events_are_shown_and_the_latest():
    fast = aj.autocluster(policy="eager")(lambda n: np.arange(n).sum())
    for n in range(2, 10):
        fast(n)
    explanation = fast.explain(2)
    assert len(explanation.history) == 16
    for text in (str(explanation), explanation.to_html()):
        assert "4 more" in text and "`n` is 9" in text and "where it was 2" in text


def test_numbers_read_well():
    assert milliseconds(1.54e-6) == "1.54 us" and milliseconds(0.25) == "250 ms" and milliseconds(2.0) == "2000 ms"
    assert times_as_fast(1543.2) == "1,543" and times_as_fast(3.456) == "3.46"
