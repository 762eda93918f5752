"""What an explanation says of what runs: regions that are not used, lines that wait for others, the user's names."""

import re
from pathlib import Path

import numpy as np
import pytest

import autojit as aj
from autojit.errors import Reason
from autojit.explain.caches import cache_sizes
from autojit.explain.state import PlanInfo, left_of, unused_of
from autojit.explain.text import pace
from autojit.launch.findings import Findings
from autojit.launch.report_page import to_page
from autojit.launch.spots import Spot, by_cause

EAGER = aj.autocluster(policy="eager")


def shuffled(first, repeats, rng):
    extreme = 0
    for _ in range(repeats):
        pooled = rng.permutation(first * 2)
        difference = pooled[:5].mean() - pooled[5:].mean()
        if difference > 0:
            extreme += 1
    return extreme


def line_of(function, number):
    return function.__code__.co_firstlineno + number


def test_lines_that_wait_for_a_native_one_name_it():
    explanation = EAGER(shuffled).explain(np.ones(10), 3, np.random.default_rng(0))
    (native,) = explanation.native_statements
    assert native.source.line == line_of(shuffled, 3) and native.cause is None
    assert [reason.source.line for reason in explanation.unknown] == [line_of(shuffled, 4), line_of(shuffled, 5)]
    for reason in explanation.unknown:  # the second waits for the first, which waits for the native one
        assert reason.cause == native.source and reason.to_dict()["cause_line"] == native.source.line
    assert f"`pooled` is known after line {native.source.line} has run" in explanation.unknown[0].detail


def spot(line, seconds, id="effect", cause=None):
    source = aj.SourceLine("f.py", line)
    reason = Reason(id, "", source, None if cause is None else aj.SourceLine("f.py", cause))
    return Spot("f", "f.py", line, line, "", seconds, reason)


def test_the_time_of_lines_that_wait_is_that_of_their_cause():
    spots = [spot(3, 1.0), spot(4, 2.0, "unknown-value", 3), spot(9, 4.0, "unknown-value", 8), spot(3, 0.5, "host-op")]
    spots.append(spot(6, 0.25, "unknown-value", 3))
    told = [(each.line, each.seconds, each.reason.id, each.others) for each in by_cause(spots)]
    assert told == [(3, 3.25, "effect", (4, 6)), (3, 0.5, "host-op", ()), (9, 4.0, "unknown-value", ())]


def plan(lines, id=None):
    reason = None if id is None else Reason(id, "as measured", aj.SourceLine("f.py", lines[0]))
    return PlanInfo(lines, "native" if id else "compiled", (), reason, 0.0, 0.0, 0)


def test_what_counts_as_not_used():
    plans = [plan((3, 9), "slower"), plan((3, 9), "slower"), plan((5, 6), "too-small"), plan((4, 7), "too-small")]
    plans += [plan((11, 12), "slower"), plan((11, 12)), plan((14, 14), "moving-shape")]
    assert [(left.lines, left.reason.id) for left in unused_of(plans)] == [((3, 9), "slower"), ((5, 6), "too-small")]
    assert [left.count for left in left_of(plans)] == [2, 1, 1, 1, 1]


def body(u, n, log):
    for _ in range(n):
        u[:] = u * 0.5
        log.append(n)


def test_a_region_that_is_too_small_is_said_not_to_be_used():
    fast, u = EAGER(body), np.ones(10)
    fast(u, 20, [])
    explanation = fast.explain(u, 20, [])
    assert [left.reason.id for left in explanation.unused] == ["too-small"]
    text, line = str(explanation), line_of(body, 2)
    assert f"not used, line {line}: " in " ".join(text.split())
    assert f"cluster_0, not used: too-small | {line:4} " in text
    assert "not used: too-small" in explanation.to_html()
    assert explanation.to_dict()["unused"][0]["lines"] == [line, line]
    assert explanation.unused[0].reason in explanation.reasons


def test_nothing_is_compiled_so_far():
    def double(x):
        return x * 2

    measured, eager = aj.autocluster(double), EAGER(double)
    waiting = measured.explain(np.ones(3))
    assert waiting.waits and waiting.to_dict()["waits"]
    assert "nothing is compiled so far" in str(waiting) and "nothing is compiled so far" in waiting.to_html()
    eager(np.ones(3))
    assert not eager.explain(np.ones(3)).waits


class Model:
    def __init__(self):
        self.w, self.xs = np.ones(3), [np.ones(2)]

    @aj.autocluster(policy="eager")
    def run(self, n):
        u, t, v = np.zeros(3), 0.0, np.ones(3)
        for i in range(n):
            u = u * 0.5 + self.w * u[i % 2]
            v[0] = v[1] + t
            v[1] = v[0] * 2
            t = t * 0.5 + u[0]
        return u, t, v, self.xs[0] + 1


def test_conditions_and_loops_speak_of_the_users_names():
    model = Model()
    model.run(40)
    explanation = Model.run.explain(model, 40)
    (told,) = explanation.plans
    texts = " ".join(guard.text for guard in told.guards)
    assert "`self.w` is an array" in texts and "`self.xs[0]` is an array" in texts
    assert "`len(range(0, n)) > 0` is True" in texts
    assert not {"o0", "o1", "b2_1", "__autojit"} & set(texts.replace("`", " ").replace(".", " ").split())
    (loop,) = explanation.loops
    assert loop.rung == "rolled" and "b1_" not in loop.reason


def decays(u):
    for _ in range(1000):
        u = np.sin(u) * 0.5 + u.sum()
    return u


def test_a_loop_names_what_it_carries():
    fast = aj.autocluster(decays, policy="eager")
    reasons = [loop.reason for loop in fast.explain(np.ones(5)).loops]
    assert reasons == ["each iteration needs `u` of the one before"]


def test_methods_ask_for_their_object():
    model = Model()
    for ask in (model.run.explain, model.run.get_compiler_ir):
        with pytest.raises(TypeError, match=r"missing a required argument: 'n'.*`Model.run.explain\(object, \.\.\.\)`"):
            ask(40)
    with pytest.raises(TypeError) as told:
        aj.autocluster(decays).explain()
    assert "object" not in str(told.value)


def test_breaks_in_loops_cost_something_in_each_iteration():
    @EAGER
    def printed(u, n):
        for _ in range(n):
            v = np.sin(u) * 2 + 1
            print(end="")
            u = np.cos(v) + u
        print(end="")
        return u * 2

    inside, behind = printed.explain(np.ones(10_000), 1000).losses
    assert inside.is_repeated and inside.break_seconds > 0 and "an iteration (estimated)" in str(inside)
    assert not behind.is_repeated


def test_programs_of_two_calls_whose_clusters_have_other_names():
    @EAGER
    def two(x, loud):
        y = np.sin(x)
        if loud:
            print(end="")
        return np.cos(y).sum()

    one, other = two.get_compiler_ir(np.ones(9), True), two.get_compiler_ir(np.ones(9), False)
    assert one.diff("hlo", other, one.clusters[0], other.clusters[0]).startswith("--- hlo of ")
    with pytest.raises(ValueError, match="it has `cluster_0`"):
        one.diff("hlo", other, one.clusters[0])


def test_numpys_own_functions_are_told_from_those_of_c_code():
    for function, text in ((np.cov, "is one of NumPy's"), (np.sin, "is not written in Python"), (len, "is not written")):
        with pytest.warns(aj.AutojitWarning, match=text):
            aj.autocluster(function)


def test_lines_fit_a_hundred_columns():
    explanation = EAGER(shuffled).explain(np.ones(10), 3, np.random.default_rng(0))
    assert all(len(line) <= 100 for line in str(explanation).splitlines() if __file__ not in line)


def test_all_reasons_of_one_statement_are_told():
    @aj.jit_compile
    def several(x):
        return np.exp(x), x.tolist(), x.tofile("never"), np.busday_count(x, x)

    with pytest.raises(aj.UncompilableError) as told:
        several(np.ones(3))
    assert [reason.detail for reason in told.value.reasons] == [
        "the array method `.tolist`", "the array method `.tofile`", "`np.busday_count`",
    ]  # fmt: skip


def test_looking_for_more_reasons_runs_nothing_and_changes_nothing():
    calls = []

    def outside(x):
        calls.append(1)
        return x

    @EAGER
    def f(x):
        names = [x]
        y = print(names.append(x), end=""), outside(x).tolist(), x.tobytes()
        return np.sin(x) + len(names), y

    explanation = f.explain(np.ones(3))
    assert not calls and {reason.detail for reason in explanation.native_statements} >= {"the array method `.tobytes`"}
    assert len(f(np.ones(3))[0]) == 3 and calls == [1]


def test_a_graph_shows_what_the_user_calls_its_inputs():
    @EAGER
    def scaled(model, x, k):
        return np.exp(model.w * x) + k

    html = scaled.explain(Model(), np.ones(3), 2.5).graph.to_html()
    for name in ("model.w", "x", "k"):
        assert f">{name}</text>" in html


def test_the_documentation_knows_every_key():
    text = (Path(__file__).resolve().parents[1] / "docs" / "guides" / "explain.md").read_text()
    rows = re.findall(r"^\| (`.*?) \|", text.partition("## As data")[2], re.MULTILINE)
    documented = {key for row in rows for key in re.findall(r"`(\w+)`", row)}
    data = EAGER(shuffled).explain(np.ones(10), 3, np.random.default_rng(0)).to_dict()
    assert documented == set(data) and data["version"] == 1


def test_the_running_example_is_one_program_and_a_line_that_is_not_is_named():
    @EAGER
    def example(x, y):
        return np.mean(x**2 * 3 + y)

    x = np.ones((64, 64))
    example(x, x)
    explanation = example.explain(x, x)
    assert explanation.is_whole and not explanation.reasons and len(explanation.clusters) == 1
    line = line_of(example, 2)
    assert f"cluster_0 | {line:4} " in str(explanation) and explanation.clusters[0].lines == (line,)

    @EAGER
    def told(x, y):
        z = x**2 * 3 + y
        print(z[0, 0], end="")
        return np.mean(z)

    (reason,) = told.explain(x, x).reasons
    assert (reason.id, reason.source.line) == ("effect", line_of(told, 3))


def nested(depth):
    """`h` of so many levels, each of which calls the one below twice; the last one opens a file."""
    names = {"np": np}
    lines = ["def h0(x):", "    return open('never')"]
    for level in range(1, depth + 1):
        lines += [f"def h{level}(x):", f"    return h{level - 1}(x) + h{level - 1}(x)"]
    return "\n".join(lines), names


def test_looking_for_more_reasons_ends_where_a_helper_fails(tmp_path):
    file = tmp_path / "levels.py"
    text, names = nested(14)
    file.write_text(text)
    exec(compile(text, str(file), "exec"), names)
    explanation = EAGER(names["h14"]).explain(np.ones(3))
    assert [reason.id for reason in explanation.native_statements] == ["effect"]


def test_a_page_shows_few_places_and_folds_the_others(monkeypatch):
    findings = Findings("program.py", 1.0, [], 0.0, None, 0.0, 0, 0.0, 0, 0.0, 0)
    for count, folded in ((5, 0), (30, 25)):
        monkeypatch.setattr(Findings, "spots", [spot(line, 1.0) for line in range(count)])
        above, _, below = to_page(findings).partition("<details>")
        assert above.count("<b>effect</b>") == 5 and below.count("<b>effect</b>") == folded
        assert (f"<summary>{folded} more</summary>" in below) == bool(folded)


def cache(folder, level, kind, size):
    folder.mkdir(parents=True)
    for name, said in (("level", level), ("type", kind), ("size", size)):
        (folder / name).write_text(f"{said}\n")


def test_sizes_of_caches(tmp_path):
    cache(tmp_path / "index0", 1, "Data", "48K")
    cache(tmp_path / "index1", 1, "Instruction", "64M")
    cache(tmp_path / "index2", 2, "Unified", "2048K")
    cache(tmp_path / "index3", 3, "Unified", "32M")
    cache(tmp_path / "index4", 4, "Unified", "much")
    assert cache_sizes(str(tmp_path)) == (2 << 20, 32 << 20)
    assert cache_sizes(str(tmp_path / "nowhere")) == (0, 0)


def scaled(x, y):
    y[:] = 2 * x
    return x.sum()


def test_arrays_that_caches_do_not_hold_are_told(monkeypatch):
    small, middle, large = (np.ones((10, count)) for count in (100, 10_000, 100_000))
    function = EAGER(scaled)
    for x in (small, middle, large):
        function(x, x.copy())
    monkeypatch.setattr("autojit.explain.text.cache_sizes", lambda: (1_000_000, 10_000_000))
    found = function.explain(small, small.copy())
    assert [plan.nbytes for plan in found.plans] == [24_000_008, 2_400_008, 24_008]
    assert [pace(plan).partition(": ")[0] for plan in found.plans] == [
        "a call reads and writes 24.0 MB, which no cache holds (at most 10.0 MB)",
        "a call reads and writes 2.4 MB, which the L2 cache (1.0 MB) does not hold",
        "",
    ]
    assert "no cache holds" in str(found) and "no cache holds" in found.to_html()
