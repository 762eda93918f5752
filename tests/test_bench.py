"""The benchmarks' judgement: what counts as agreement, and what a run of a checkout reports."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import autojit as aj
from autojit.runtime.agree import Agreement, compare
from bench.npbench import stages
from bench.npbench.checkout import find
from bench.npbench.report import summarize
from bench.npbench.sensitivity import judge
from bench.timing import geometric_mean, speed_up, take_turns

ROOT = Path(__file__).resolve().parent.parent
NAN, INF = float("nan"), float("inf")
ONES = np.ones(3)

KERNEL = """
def helper(a):
    return a * 2 + 1


def kernel(N, a):
    a[:] = helper(a)
    return a[:N // 2].sum()
"""


@pytest.mark.parametrize(
    ("expected", "actual"),
    [
        (1.0, 1.0),
        (np.float64(2), np.float64(2) * (1 + 1e-12)),
        (np.array([1.0, NAN, INF]), np.array([1.0, NAN, INF])),
        (np.array([1e6, 1e-6]), np.array([1e6, 1.1e-6])),
        ((ONES, [1, 2]), (ONES, [1, 2])),
        (np.array([1 + 1e-12j]), np.array([1 + 2e-12j])),
        (None, None),
        ({"a": ONES}, {"a": ONES}),
        (np.zeros((0, 3)), np.zeros((0, 3))),
    ],
)
def test_agree(expected, actual):
    assert compare(expected, actual)


@pytest.mark.parametrize(
    ("expected", "actual"),
    [
        (1.0, np.float64(1)),
        (np.float64(1), np.array(1.0)),
        (np.float32(1), np.float64(1)),
        (1, True),
        (ONES, ONES.astype(np.float32)),
        (ONES, ONES[:, None]),
        (ONES, ONES * (1 + 1e-8)),
        (ONES, np.array([1.0, 1.0, NAN])),
        (np.array([NAN, 1.0]), np.array([1.0, 1.0])),
        (np.array([INF]), np.array([-INF])),
        (np.arange(3), np.array([0, 1, 3])),
        ((ONES,), [ONES]),
        ((ONES,), (ONES, ONES)),
        ({"a": ONES}, {"b": ONES}),
        (None, ONES),
    ],
)
def test_disagree(expected, actual):
    outcome = compare(expected, actual)
    assert not outcome
    assert outcome.problem


def test_a_port_may_return_other_kinds_but_not_other_numbers():
    assert compare(np.float64(1), np.array(1.000001, np.float32), rtol=1e-5)
    assert not compare(np.float64(1), np.array(1.001, np.float32), rtol=1e-5)


def test_every_competitor_gets_its_turns():
    calls = []
    times = take_turns({"a": lambda: calls.append("a"), "b": lambda: calls.append("b")}, tuple, repeat=4)
    assert [len(seconds) for seconds in times.values()] == [4, 4]
    assert sorted(calls) == ["a"] * 4 + ["b"] * 4


@pytest.mark.parametrize(("near", "rounds"), [(0.0, 3), (1e6, 12)])
def test_those_that_are_near_get_more_turns(near, rounds):
    times = take_turns({"a": lambda: None, "b": lambda: None}, tuple, repeat=3, near=near)
    assert [len(seconds) for seconds in times.values()] == [rounds, rounds]


def test_speed_ups_are_compared_round_by_round():
    """... where a machine is slower for a while."""
    rounds = [{"a": [3.0 * k, 3.0 * k, 9.0], "b": [1.0 * k]} for k in (1, 1, 20, 20, 20)]
    assert speed_up(rounds, "a", "b") == 3.0
    assert speed_up([{"a": [1.0], "b": [2.0]}], "a", "b") == 0.5


def test_failures_count_as_one():
    rows = [
        {"kernel": "fast", "agree": True, "speedup": 4.0, "first_s": 1.0, "peers": {}},
        {"kernel": "wrong", "agree": False, "speedup": 100.0, "first_s": 1.0, "peers": {}},
        {"kernel": "crashed", "agree": False, "peers": {}},
        {"kernel": "slow", "agree": True, "speedup": 0.5, "first_s": 1.0, "peers": {}},
    ]
    found = summarize(rows)
    assert (found["run"], found["agree"], found["slower"]) == (3, 2, ["slow"])
    assert found["geometric_mean"] == pytest.approx(geometric_mean([4, 1, 1, 0.5]))


@pytest.fixture
def checkout(tmp_path):
    """A checkout with one kernel that changes its argument, and one that fails."""
    (tmp_path / "bench_info").mkdir()
    for name in ("scale", "broken"):
        folder = tmp_path / "npbench" / "benchmarks" / name
        folder.mkdir(parents=True)
        info = {
            "relative_path": name,
            "module_name": name,
            "func_name": "kernel",
            "parameters": {"S": {"N": 50}},
            "init": {"func_name": "initialize", "input_args": ["N"], "output_args": ["a"]},
            "input_args": ["N", "a"],
            "array_args": ["a"],
            "output_args": ["a"],
        }
        (tmp_path / "bench_info" / f"{name}.json").write_text(json.dumps({"benchmark": info}))
        (folder / f"{name}.py").write_text("import numpy as np\ndef initialize(N):\n    return np.arange(N) + 0.5\n")
    broken, scale = (tmp_path / "npbench" / "benchmarks" / name / f"{name}_numpy.py" for name in ("broken", "scale"))
    broken.write_text(f"raise ValueError({str(tmp_path)!r})\n")
    scale.write_text(KERNEL)
    return tmp_path


def test_a_checkout_is_run(checkout, tmp_path):
    out = tmp_path / "out" / "result"
    command = [sys.executable, "-m", "bench.npbench", "--path", checkout, "--repeat", "3", "--out", out]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr
    found = json.loads(out.with_suffix(".json").read_text())
    rows = {row["kernel"]: row for row in found["kernels"]}
    assert rows["scale"]["agree"], rows["scale"]["problem"]
    assert rows["scale"]["speedup"] > 0
    assert not rows["broken"]["agree"]
    assert "ValueError" in rows["broken"]["problem"]
    text = out.with_suffix(".json").read_text() + out.with_suffix(".md").read_text()
    assert str(tmp_path) not in text and str(ROOT) not in text
    assert found["summary"]["kernels"] == 2


def test_only_what_numpy_cannot_hold_itself_is_excused():
    def rerun(draw):
        return {"result": np.array([1 + 1e-8]), "steady": np.array([1 + 1e-15])}

    expected = {"result": np.array([1.0]), "steady": np.array([1.0])}
    near = {"result": np.array([1 + 5e-9]), "steady": np.array([1.0])}
    outcome, sensitivity = judge(expected, near, rerun)
    assert outcome and 0.9e-8 < sensitivity < 1.1e-8
    assert judge(expected, expected, rerun) == (Agreement(), 0.0)
    assert not judge(expected, {**near, "steady": np.array([1 + 5e-9])}, rerun)[0]
    assert not judge(expected, {**near, "result": np.array([1 + 5e-8])}, rerun)[0]
    assert not judge(expected, {**near, "result": np.array([NAN])}, rerun)[0]


def test_the_stages_of_a_checkout(checkout, capsys):
    assert stages.main(["--path", str(checkout), "--kernels", "scale"]) == 0, capsys.readouterr().out
    assert "1 clusters, 25 stages" in capsys.readouterr().out


def test_kernels_that_run_are_seen(checkout):
    (kernel,) = find(checkout, ["scale"])
    function = kernel.function("_numpy", "seen")
    with stages.watched(function.__code__.co_filename) as called:
        function(4, np.ones(4))
        aj.autocluster(function, policy="eager", disk_cache=False)(4, np.ones(4))
    assert called[:2] == ["kernel", "helper"] and "kernel" in called[2:]
