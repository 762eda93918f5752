"""Profiles: spans with functions and lines, the table, and what a profile leaves behind."""

from __future__ import annotations

import gzip
import importlib.util
import inspect
import json
import os
import re
import subprocess
import sys
import threading
import time
import urllib.parse
import urllib.request
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import autojit as aj
from autojit.runtime.background import BACKGROUND
from autojit.runtime.listening import EAR
from autojit.runtime.probe import Probe


def work(u, n):
    for _ in range(n):
        v = np.sin(u) * 2 + np.cos(u)  # cluster
        print("", end="")  # native
        u[1:-1] = v[1:-1]  # write
    return np.unique(u).sum()  # host


def helper(x):
    y = x + 1
    print("", end="")
    return y


def line_of(mark, function=work):
    lines, first = inspect.getsourcelines(function)
    return next(number for number, line in enumerate(lines, first) if f"# {mark}" in line)


def rows(table, kind, function="work"):
    return [row for row in table.rows if row.place.kind == kind and row.place.function == function]


@pytest.fixture
def u():
    return np.linspace(0.0, 3.0, 20_000)


def test_all_kinds_carry_their_function_and_lines(tmp_path, u):
    fast, expected = aj.autocluster(policy="eager", check=False)(work), u.copy()
    wanted = work(expected, 5)
    before = time.perf_counter()
    with aj.profile(tmp_path):
        assert fast(u, 5) == pytest.approx(wanted, rel=1e-10)
    seconds = time.perf_counter() - before
    np.testing.assert_allclose(u, expected, rtol=1e-12, atol=1e-12)
    table = aj.profile_table(tmp_path)
    assert 0 < table.seconds <= seconds
    for kind in ("cluster", "host", "enter", "native", "capture", "compile"):
        assert rows(table, kind), kind
    for row in table.rows:
        assert row.place.file == __file__
        assert line_of("cluster") - 1 <= row.place.lines[0] <= row.place.lines[1] <= line_of("host")
    (host,) = rows(table, "host")
    assert host.place.name == "np.unique" and host.place.lines[0] == line_of("host") and host.calls == 1
    loops = [row for row in rows(table, "cluster") if row.place.lines[0] == line_of("cluster")]
    assert [row.calls for row in loops] == [5]
    assert loops[0].place.nbytes >= 2 * u.nbytes and loops[0].bandwidth > 0
    (native,) = [row for row in rows(table, "native") if row.place.lines[0] == line_of("native")]
    assert native.calls == 5 and 0 < native.seconds < 0.1
    assert sum(table.shares.values()) <= 1.05
    assert all(row.seconds <= row.whole_seconds + 1e-9 for row in table.rows)


def test_numpys_turns_are_no_statements_that_stay_python(tmp_path, u, monkeypatch):
    """Under `measured` NumPy runs what compiles, too: before anything is known, and beside a plan that is timed."""
    monkeypatch.setattr("autojit.runtime.heat.PAYS_AFTER", 1e-9)
    monkeypatch.setattr("autojit.runtime.heat.WAITS", 0.0)
    monkeypatch.setattr("autojit.runtime.measured.MOST_RUNS", 10**6)  # nothing loses
    monkeypatch.setattr("autojit.runtime.measured.TIMED_RUNS", 10**6)  # ... or wins
    fast = aj.autocluster(check=False)(work)
    with aj.profile(tmp_path / "first"):
        fast(u.copy(), 1)
    kinds = {row.place.kind for row in aj.profile_table(tmp_path / "first").rows if row.place.function == "work"}
    assert "numpy" in kinds, kinds
    for _ in range(6):
        fast(u.copy(), 3)
        BACKGROUND.wait()
    with aj.profile(tmp_path / "then"):
        for _ in range(4):
            fast(u.copy(), 3)
    table = aj.profile_table(tmp_path / "then")
    turns, native = ({row.place.lines[0] for row in rows(table, kind)} for kind in ("numpy", "native"))
    assert line_of("cluster") in turns and line_of("native") in native - turns and line_of("cluster") not in native, str(table)
    assert "numpy: NumPy's turns" in str(table)


def test_text_and_html(tmp_path, u):
    fast = aj.autocluster(policy="eager", check=False)(work)
    fast(u, 2)
    with aj.profile(str(tmp_path)):
        fast(u, 3)
    table = aj.profile_table(str(tmp_path))
    text = str(table)
    assert re.search(rf"host np.unique +work +test_profile.py:{line_of('host')} +1 +[\d.e-]+ ms", text), text
    assert "cluster: compiled programs" in text and max(map(len, text.splitlines())) <= 130
    assert "np.unique" in table._repr_html_()
    assert json.loads(json.dumps(table.to_dict()))["rows"][0].keys() == {
        "kind", "function", "file", "lines", "name", "calls", "seconds", "whole_seconds", "bytes", "bandwidth",
    }  # fmt: skip


def test_nothing_is_left_behind(tmp_path, u):
    fast = aj.autocluster(policy="eager", check=False)(work)
    enter = Probe.enter
    probes = fast.__autojit_controller__.probes
    fast(u, 2)
    plans = [plan for probe in probes.values() for plan in probe.plans]
    names = [dict(plan.names) for plan in plans]
    captures = fast.cache_info().captures
    with pytest.raises(KeyError), aj.profile(tmp_path):
        fast(u, 2)
        fast(u[:100].copy(), 2)  # made while the profile is taken
        raise KeyError
    assert fast.cache_info().captures > captures
    assert [plan.names == known for plan, known in zip(plans, names, strict=True)] == [True] * len(plans)
    for plan in (plan for probe in probes.values() for plan in probe.plans):
        assert not any("told" in getattr(plan.names[name], "__qualname__", "") for name in plan.calls)
    assert Probe.enter is enter and EAR.listener is None and sys.gettrace() is None and threading.gettrace() is None


def test_data_that_is_numpys_and_exceptions(tmp_path):
    @aj.autocluster(policy="eager", check=False)
    def take(x, i):
        y = x * 2
        return y[i] + 1

    x, i = np.arange(5000.0), np.array([1, 2])
    take(x, i)
    with aj.profile(tmp_path):
        np.testing.assert_array_equal(take(x, i), [3, 5])
        with pytest.raises(IndexError, match="index 5000 is out of bounds"):
            take(x, np.array([1, 5000]))
    table = aj.profile_table(tmp_path)
    name = take.__qualname__
    assert sum(row.calls for row in rows(table, "cluster", name)) == 2
    assert {row.place.lines[0] for row in rows(table, "native", name)} >= {take.__code__.co_firstlineno + 2}


def test_one_at_a_time(tmp_path):
    with aj.profile(tmp_path), pytest.raises(aj.AutojitError, match="taken already"), aj.profile(tmp_path):
        pass
    with aj.profile(tmp_path / "next"):  # the first one has ended
        pass


def test_folders(tmp_path):
    with pytest.raises(aj.AutojitError, match="no profile in"):
        aj.profile_table(tmp_path / "nothing")
    file = tmp_path / "file"
    file.write_text("")
    with pytest.raises(OSError), aj.profile(file):
        pass
    with aj.profile(tmp_path / "empty"):
        pass
    table = aj.profile_table(tmp_path / "empty")
    assert not table.rows and str(table)


def test_statements_are_not_followed_when_not_wanted_or_when_somebody_else_does(tmp_path, u):
    fast = aj.autocluster(policy="eager", check=False)(work)
    fast(u, 2)
    with aj.profile(tmp_path / "without", native=False):
        fast(u, 2)
    table = aj.profile_table(tmp_path / "without")
    assert rows(table, "cluster") and not rows(table, "native")
    seen = []

    def follow(frame, event, arg):
        seen.append(frame.f_code.co_name)
        return None

    sys.settrace(follow)
    try:
        with aj.profile(tmp_path / "other"):
            fast(u, 2)
        assert sys.gettrace() is follow
    finally:
        sys.settrace(None)
    table = aj.profile_table(tmp_path / "other")
    assert rows(table, "cluster") and not rows(table, "native")
    assert "work" in seen


def test_threads(tmp_path):
    fast = aj.autocluster(policy="eager", check=False)(work)
    fast(np.linspace(0.0, 3.0, 20_000), 2)
    with aj.profile(tmp_path):
        threads = [threading.Thread(target=fast, args=(np.linspace(0.0, 3.0, 20_000), 4)) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    table = aj.profile_table(tmp_path)
    loops = [row for row in rows(table, "cluster") if row.place.lines[0] == line_of("cluster")]
    native = [row for row in rows(table, "native") if row.place.lines[0] == line_of("native")]
    assert [row.calls for row in loops] == [row.calls for row in native] == [12]


def test_functions_that_call_each_other_and_odd_names(tmp_path):
    def program(x):
        a = helper(x)
        print("", end="")
        return a * 2

    program.__qualname__ = "g,#=<x>"
    fast = aj.autocluster(policy="eager", check=False)(program)
    x = np.ones(5000)
    with aj.profile(tmp_path):
        np.testing.assert_array_equal(fast(x), 4.0 * x)
        fast(x)
    table = aj.profile_table(tmp_path)
    assert rows(table, "native", "helper") and any(row.place.function == "g,#=<x>" for row in table.rows)
    assert sum(table.shares.values()) <= 1.05


def test_the_policy_measured(tmp_path, monkeypatch):
    monkeypatch.setattr("autojit.runtime.heat.PAYS_AFTER", 1e-9)
    monkeypatch.setattr("autojit.runtime.heat.WAITS", 0.0)
    fast = aj.autocluster(check=False)(work)
    with aj.profile(tmp_path):
        for _ in range(6):
            fast(np.linspace(0.0, 3.0, 50_000), 3)
            BACKGROUND.wait()
    table = aj.profile_table(tmp_path)
    assert any(row.place.lines[0] == line_of("cluster") for row in rows(table, "numpy"))
    assert rows(table, "capture")


def test_tensorboard_shows_the_names(tmp_path, u):
    pytest.importorskip("tensorboard_plugin_profile", reason="`pip install autojit[profile]` brings TensorBoard")
    fast = aj.autocluster(policy="eager", check=False)(work)
    with aj.profile(tmp_path):
        fast(u, 5)
    command = [sys.executable, "-m", "tensorboard.main", "--logdir", str(tmp_path), "--host", "127.0.0.1", "--port", "0"]
    log = tmp_path / "log"
    with log.open("wb") as messages:
        server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=messages)
    try:
        (address,) = _wait_for(lambda: re.findall(r"http://127\.0\.0\.1:\d+/", log.read_text()))
        page = address + "data/plugin/profile/"
        (run,) = _wait_for(lambda: json.loads(_read(page + "runs")))
        (host,) = json.loads(_read(page + f"hosts?run={run}&tag=trace_viewer@"))
        query = urllib.parse.urlencode({"run": run, "tag": "trace_viewer@", "host": host["hostname"]})
        trace = json.loads(_read(page + f"data?{query}"))
    finally:
        server.kill()
        server.wait()
    names = {event.get("name", "") for event in trace["traceEvents"]}
    assert f"autojit host work test_profile.py:{line_of('host')} np.unique" in names
    assert f"autojit native work test_profile.py:{line_of('native')}" in names
    for kind in ("cluster", "enter", "capture", "compile"):
        assert any(name.startswith(f"autojit {kind} work test_profile.py:") for name in names), kind


def _read(address):
    with urllib.request.urlopen(address, timeout=60) as answer:
        data = answer.read()
    return gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data


def _wait_for(get, seconds=60):
    """What `get` gives when it gives something."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if found := get():
            return found
        time.sleep(0.5)
    raise AssertionError("there was no answer")


def test_the_names_of_the_package_in_any_order(tmp_path):
    """A folder of the package that is named like something in it would take its place when it is imported."""
    text = "import autojit; autojit.profile_table; print(callable(autojit.profile), callable(autojit.profile_table))"
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    assert done.stdout == "True True\n"
    for name in aj.__all__:
        assert not inspect.ismodule(getattr(aj, name))


def test_profiles_of_one_second_are_runs_of_their_own(tmp_path, u):
    fast = aj.autocluster(policy="eager", check=False)(work)
    for count in (2, 3):
        with aj.profile(tmp_path):
            fast(u, count)
    assert len(list(tmp_path.glob("plugins/profile/*"))) == 2
    assert max(row.calls for row in rows(aj.profile_table(tmp_path), "cluster")) == 3


def test_threads_that_outlive_the_profile_are_not_followed_any_more(tmp_path, u):
    fast = aj.autocluster(policy="eager", check=False)(work)
    with ThreadPoolExecutor(1) as pool:
        with aj.profile(tmp_path):
            pool.submit(fast, u.copy(), 2).result()
        pool.submit(fast, u.copy(), 2).result()
        assert pool.submit(sys.gettrace).result() is None
    assert rows(aj.profile_table(tmp_path), "native")


def numbers(n):
    for i in range(n):
        print("", end="")
        yield i


def sums(n):
    print("", end="")
    return n + sums(n - 1) if n else 0


def test_calls_are_counted_once(tmp_path):
    """A generator that goes on is no call, and what recursion takes counts where it is spent."""
    counted, recursive = (aj.autocluster(policy="eager", check=False)(each) for each in (numbers, sums))
    with aj.profile(tmp_path):
        assert list(counted(5)) == [0, 1, 2, 3, 4]
    assert counted.__autojit_controller__.history.profiled.calls == 1
    start = time.perf_counter()
    with aj.profile(tmp_path):
        recursive(20)
    seconds = time.perf_counter() - start
    assert sum(recursive.__autojit_controller__.history.profiled.seconds.values()) <= seconds


def test_odd_paths_are_given_back(tmp_path):
    file = tmp_path / "a=b,c#d%41.py"
    file.write_text("import numpy as np\ndef f(x):\n    print('', end='')\n    return np.sin(x) * 2\n")
    spec = importlib.util.spec_from_file_location("odd", file)
    odd = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(odd)
    fast = aj.autocluster(policy="eager", check=False)(odd.f)
    with aj.profile(tmp_path):
        fast(np.ones(5000))
    assert {row.place.file for row in aj.profile_table(tmp_path).rows} == {str(file)}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning", "ignore:.*fork:RuntimeWarning")  # with threads
def test_a_forked_process_takes_no_profile(tmp_path, u):
    fast = aj.autocluster(policy="eager", check=False)(work)
    with aj.profile(tmp_path):
        fast(u, 2)
        child = os.fork()
        if not child:
            os._exit(sys.gettrace() is not None or EAR.listener is not None or Probe.enter.__qualname__ != "Probe.enter")
        assert os.waitpid(child, 0)[1] == 0
    assert rows(aj.profile_table(tmp_path), "native")
