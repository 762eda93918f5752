"""What `explain` and `get_compiler_ir` tell of code behind a native line, once runs have shown what that line makes."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import interpolate

import autojit as aj

EAGER = aj.autocluster(policy="eager")
T, KNOTS = np.linspace(0, 1, 100), np.linspace(0, 1, 5000)
CALLS: list[str] = []


class Grid:
    """Nothing is kept of it, and what it is made by stays Python."""

    def __init__(self, t, x):
        CALLS.append("made")
        self.slope = np.interp(KNOTS, t, x)

    def __iter__(self):
        CALLS.append("iterated")
        return iter(())


def analyse(x, t, knots):
    base = (x - x.mean()) / x.std()
    grid = Grid(t, base)  # native
    fine = grid.slope[: knots.size] * knots  # behind
    return np.exp(-(fine**2)).sum()  # behind


def with_scipy(x, t, knots):
    base = (x - x.mean()) / x.std()
    spline = interpolate.CubicSpline(t, base)  # native
    fine = spline(knots)  # native
    return np.exp(-(fine**2)).sum()  # behind


class Model:
    gain = 2.0

    def __init__(self):
        self.t = T

    @EAGER
    def analyse(self, x, t, knots):
        grid = Grid(self.t, x)  # native
        fine = grid.slope * knots * self.gain  # behind
        return np.exp(-(fine**2)).sum()  # behind


def of_a_closure(scale):
    @EAGER
    def analyse(x, t, knots):
        grid = Grid(t, x)  # native
        fine = grid.slope * scale * knots  # behind
        return np.exp(-(fine**2)).sum()  # behind

    return analyse


def twice(v):
    return np.exp(-(v**2)) * 2


def with_helpers(x, t, knots):
    grid = Grid(t, x)  # native
    fine = twice(grid.slope * knots)  # behind
    return twice(fine).sum()  # behind


def in_a_loop(x, t, knots):
    total = 0.0
    for k in range(3):
        grid = Grid(t, x + k)  # native
        fine = np.sin(grid.slope) * 2 + np.cos(knots) ** 3  # behind
        total = total + np.exp(-(fine**2)).sum()  # behind
    return total


def two_natives(x, t, knots):
    grid = Grid(t, x)  # native
    fine = grid.slope * knots * 2  # behind
    print("", end="")  # native
    other = Grid(knots, fine)  # native
    return np.exp(-(other.slope**2)).sum()  # behind


def lines_with(explanation, word):
    _file, first, lines = explanation.source
    return [number for number, line in enumerate(lines, first) if line.rstrip().endswith(f"# {word}")]


def covered(explanation):
    return sorted({line for cluster in explanation.clusters for line in cluster.lines})


PROGRAMS = {
    "function": (EAGER(analyse), ()),
    "scipy": (EAGER(with_scipy), ()),
    "method": (Model.analyse, (Model(),)),
    "closure": (of_a_closure(3.0), ()),
    "helpers": (EAGER(with_helpers), ()),
    "loop": (EAGER(in_a_loop), ()),
    "two": (EAGER(two_natives), ()),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_code_behind_a_native_line_is_explained_as_runs_have_captured_it(name):
    fast, first = PROGRAMS[name]
    args = (*first, np.sin(T), T, KNOTS)
    before = fast.explain(*args)
    behind = lines_with(before, "behind")
    assert set(behind) <= {reason.source.line for reason in before.unknown} and not before.recalled
    assert not set(behind) & set(covered(before))
    for _ in range(4):
        fast(*args)
    counts = fast.cache_info()
    after = fast.explain(*args)
    assert fast.cache_info() == counts  # nothing has changed
    assert not after.unknown and set(behind) <= set(covered(after)), str(after)
    assert {reason.source.line for reason in after.native_statements} == set(lines_with(after, "native"))
    text, data = str(after), after.to_dict()
    assert "known after a first run" not in text and "later: " not in text
    assert "as the latest run captured it, taking `" in text and "as the latest run captured it" in after.to_html()
    assert data["recalled"] and all(set(row) == {"lines", "names"} for row in data["recalled"])
    names = [cluster.name for cluster in after.clusters]
    assert len(set(names)) == len(names)
    # The cost of a break is estimated where captured code comes before it and after it.
    costs = {loss.reason.source.line: loss.break_seconds for loss in after.losses}
    assert set(lines_with(after, "native")) <= set(costs)
    if name in ("function", "scipy", "two"):
        assert costs[lines_with(after, "native")[-1]] >= 1e-5
    # Each cluster can be looked at.
    ir = fast.get_compiler_ir(*args)
    assert ir.clusters == tuple(names)
    for cluster in ir.clusters:
        assert "HloModule" in ir("optimized_hlo", cluster) and ir("plan", cluster)
    assert fast(*args) == pytest.approx(fast.__wrapped__(*args), rel=1e-10)


def test_calls_that_no_run_was_like_are_not_explained_by_one():
    fast = aj.autocluster(policy="eager")(analyse)
    x = np.sin(T)
    fast(x, T, KNOTS)
    behind = lines_with(fast.explain(x, T, KNOTS), "behind")
    other = fast.explain(x, T, KNOTS[:70])
    assert sorted(reason.source.line for reason in other.unknown) == behind and not other.recalled
    fast(x, T, KNOTS[:70])
    # Of two kinds of calls, the one that is like this call.
    for knots in (KNOTS, KNOTS[:70]):
        (recalled,) = fast.explain(x, T, knots).recalled
        assert recalled.names == ("grid",) and list(recalled.lines) == behind
        graph = fast.get_compiler_ir(x, T, knots)("graph:captured", cluster="region_2_cluster_0")
        assert f"float64[{knots.size}]" in graph


def with_a_number(x, t, knots, n):
    grid = Grid(t, x)
    fine = grid.slope[:n] * 2 + knots[:n]
    return np.exp(-(fine**2)).sum()


def test_a_run_with_another_number_is_not_taken_where_the_number_decides():
    fast = aj.autocluster(policy="eager")(with_a_number)
    x = np.sin(T)
    fast(x, T, KNOTS, 30)
    assert fast.explain(x, T, KNOTS, 30).recalled and not fast.explain(x, T, KNOTS, 31).recalled
    assert fast.explain(x, T, KNOTS, 31).unknown


def of_arrays(x):
    y = np.array(sorted(x.tolist())[: x.size // 2])
    z = np.concatenate([x, y])
    return (z[: x.size] * 2 + x).sum() + np.exp(y).sum()


def test_arrays_of_another_size_are_not_mixed_with_those_of_a_run():
    fast = aj.autocluster(policy="eager")(of_arrays)
    fast(np.linspace(0, 1, 60))
    assert fast.explain(np.linspace(0, 1, 60)).recalled
    other = fast.explain(np.linspace(0, 1, 80))
    assert not other.recalled and [reason.id for reason in other.native_statements] == ["no-row"] or other.unknown
    assert "raises" not in str(other)


def left_behind(x, t, knots):
    grid = Grid(t, x)
    fine = grid.slope * knots  # stays
    print(fine.shape, end="")
    return np.exp(-(fine**2)).sum()


def test_a_line_that_runs_have_met_and_left_to_python_is_not_known_later():
    fast = aj.autocluster(policy="eager")(left_behind)
    args = np.sin(T), T, KNOTS
    (stays,) = lines_with(fast.explain(*args), "stays")
    assert stays in {reason.source.line for reason in fast.explain(*args).unknown}
    for _ in range(3):
        fast(*args)
    after = fast.explain(*args)
    covers = stays in covered(after)
    (reason,) = [reason for reason in after.native_statements if reason.source.line == stays] or [None]
    assert not after.unknown and (covers or (reason.id == "unknown-value" and reason.cause.line == stays - 1))
    assert "known after a first run" not in str(after)


def test_nothing_of_the_users_runs_for_it():
    @aj.autocluster(policy="eager")
    def f(x):
        grid = Grid(T, x)
        rows = list(grid)
        return np.exp(x).sum() + len(rows)

    for _ in range(3):
        f(np.ones(100))
    CALLS.clear()
    f.explain(np.ones(100))
    f.get_compiler_ir(np.ones(100))
    assert CALLS == []


def test_jit_compile_takes_nothing_from_runs():
    fast = aj.jit_compile(lambda x, scale: np.exp(x * scale.value).sum())

    class Scale:
        value = 2.0

    fast(np.ones(5), Scale())
    with pytest.raises(aj.UncompilableError):
        aj.jit_compile(analyse)(np.sin(T), T, KNOTS)
