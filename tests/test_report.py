"""`python -m autojit run --report`: what became of every function of a program, and what to change first."""

import os
import re
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import autojit as aj
from autojit.capture.options import Options
from autojit.errors import AutojitError, Reason
from autojit.explain.html import to_html
from autojit.explain.seen import explain_seen
from autojit.launch.facts import Function
from autojit.launch.findings import Finding, Findings
from autojit.launch.report import NO_SPOTS, shares, to_report, to_screen
from autojit.launch.report_page import to_page
from autojit.launch.reporting import Reporting
from autojit.launch.scope import Scope
from autojit.launch.spots import Spot, to_change
from autojit.launch.verdicts import why_of
from autojit.runtime.background import BACKGROUND
from autojit.runtime.heat import SEEN
from autojit.runtime.maker import Maker

ROOT = Path(__file__).resolve().parent.parent

HEAD = '''"""Made for a test: functions of mixed fate."""

import sys

import numpy as np

'''
STENCIL = '''
def {name}(u, steps):
    """One of the functions that compile."""
    for _ in range(steps):
        left = u[1:-1, :-2]
        right = u[1:-1, 2:]
        above = u[:-2, 1:-1]
        below = u[2:, 1:-1]
        middle = u[1:-1, 1:-1]
        change = left + right + above + below - 4 * middle
        middle += {factor} * change
        middle *= 1 - {factor} / 100
        middle -= {factor} * np.sin(middle) ** 2
        middle += {factor} * np.cos(change) / 50
        middle *= 0.999
    return u

'''
REST = '''
def merge_labels(count):
    """The slow one: an array of objects."""
    names = np.array(["a"] * 64, dtype=object)
    numbers = np.arange(64.0)
    for k in range(count):
        numbers = numbers + 1
        names = names + "b"  # slow
        if len(names[0]) > 40:
            names = np.array(["a"] * 64, dtype=object)
    return names, numbers


def select(x, count):
    total = 0.0
    for k in range(count):
        x = x * 1.0001
        kept = x[x > k % 7]
        total += np.sqrt(kept).sum()
        total -= np.median(kept) if kept.size else 0.0
    return total


def progress(u, count):
    for k in range(count):
        u = np.sin(u) * 1.01 + u / 3
        if k % 50 == 0:
            print("at", k, file=sys.stderr)
    return u


def tiny(n):
    total = 0
    for k in range(n):
        total += k
    return total


def never_called(x):
    for _ in range(3):
        x = x + 1
    return x


class Model:
    def __init__(self, n):
        self.state = np.zeros(n)
        for k in range(2):
            self.state += k

    def advance(self, steps):
        for _ in range(steps):
            self.state = np.tanh(self.state) + 0.01
        return self.state.sum()


'''
def program(length=300):
    names = [f"part_{k}" for k in range(8)]
    text = HEAD + "\n".join(STENCIL.format(name=name, factor=0.01 * (k + 1)) for k, name in enumerate(names)) + REST
    main = ["def main():", "    found = []", "    model = Model(20_000)", "    for turn in range(4):"]
    for name in names:
        main += ["        u = np.zeros((80, 80))", "        u[20:30] = 1", f"        found.append({name}(u, 40).sum())"]
    main += ["        found.append(merge_labels(150_000)[1].sum())", "        found.append(select(np.linspace(0, 9, 5000), 200))",
             "        found.append(progress(np.ones(20_000), 200).sum())", "        found.append(tiny(10))", "        found.append(model.advance(300))"]
    main += ["    return found", "", "", 'if __name__ == "__main__":', "    print(sum(main()) != 0.0)"]
    lines = (text + "\n".join(main)).split("\n")
    filler = length - len(lines)
    lines[6:6] = [f"# note {k}" for k in range(max(0, filler))]
    return "\n".join(lines) + "\n"


def run(folder, *words, flags=""):
    env = {**os.environ, "PYTHONPATH": str(ROOT), "AUTOJIT_FLAGS": f"{os.environ['AUTOJIT_FLAGS']} {flags}"}
    command = [sys.executable, "-m", "autojit", "run", *words]
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=300)


def top_of(text):
    return text.split("\n" + "=" * 100)[0].splitlines()


def test_a_program_of_mixed_fate(tmp_path):
    text = program()
    (tmp_path / "mixed.py").write_text(text)
    assert 295 <= len(text.splitlines()) <= 305
    found = run(tmp_path, "--report", "report.txt", "mixed.py")
    assert (found.returncode, found.stdout) == (0, "True\n"), found.stderr
    assert set(found.stderr.split()) <= {"at", *map(str, range(200))}
    report = (tmp_path / "report.txt").read_text()
    top = top_of(report)
    assert len(top) <= 40 and max(map(len, top)) <= 100, "\n".join(top)
    slow = text.splitlines().index('        names = names + "b"  # slow') + 1
    first = "\n".join(top[top.index("what to change first") :])
    assert f"merge_labels, mixed.py:{slow}: names = names" in first, "\n".join(top)
    assert re.search(r"autojit: mixed.py ran [\d.]+ s; functions looked into: 15 \(", top[0])
    table = top[next(number for number, line in enumerate(top) if line.startswith("own time")) :]
    assert re.match(r" +[1-9]?\d\.\d\d s +[1-9]\d*% +merge_labels \(mixed.py:\d+\) +native: line \d+: ", table[1]), "\n".join(top)
    assert top.index("what to change first") < top.index(table[0])
    assert re.search(rf"native: argument-type +\| +{slow} ", report)
    assert re.search(rf"later: unknown-value +\| +{slow + 1} ", report)
    for name in ("part_0", "select", "progress", "tiny", "Model.advance"):
        assert re.search(rf"^{re.escape(name)} \(mixed.py:\d+\): ", report, re.M)
    assert "never_called (" not in report


ENDING = """
import os, sys
import numpy as np

def work(n):
    x = np.arange(5.0)
    for k in range(n):
        x = np.sin(x) + k
    return x

def told(x):
    for k in range(3):
        x = x * 2
        print(float(x[0]), file=sys.stderr)
        x = np.cos(x) + 1
    return x

work(30), work(30), told(np.ones(4)), told(np.ones(4))
os.makedirs("elsewhere"), os.chdir("elsewhere")
sys.stderr.flush()
child = os.fork()
if child == 0:
    sys.exit(5)
os.waitpid(child, 0)
print(os.path.exists("../report.html"))
raise SystemExit(7) if sys.argv[1:] == ["exit"] else ValueError("the end")
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="POSIX")
def test_however_a_program_ends_there_is_one_page(tmp_path):
    (tmp_path / "ending.py").write_text(ENDING)
    found = run(tmp_path, "--policy=eager", "--report=report.html", "ending.py", "exit")
    assert (found.returncode, found.stdout) == (7, "False\n"), found.stderr
    html = (tmp_path / "report.html").read_text()
    assert html.startswith("<!doctype html>") and html.count("<html>") == html.count("<style>") == 1
    assert re.findall(r"""(?:src|href)="[^#]|<script|<link|@import|url\(""", html) == []
    assert "work (" in html and "compiled" in html and "<b>effect</b>" in html
    assert html.index("What to change first") < html.index("<h4>Functions</h4>") < html.index("Function by function")
    assert html.count("<details") == html.count("</details>") and "prefers-color-scheme: dark" in html
    assert os.listdir(tmp_path / "elsewhere") == []
    os.rmdir(tmp_path / "elsewhere")
    found = run(tmp_path, "--policy=eager", "--report", "-", "ending.py")
    assert (found.returncode, found.stdout) == (1, "True\n")
    assert re.search(r"ValueError: the end\nautojit: ending.py ran .*functions looked into: 2 \(1 compiled, 1 native\)", found.stderr)
    assert re.search(r"\[effect\] the call of `print`", found.stderr) and "work (ending.py:5)" in found.stderr, found.stderr


def test_a_report_that_cannot_be_written(tmp_path):
    with pytest.raises(AutojitError, match="cannot be written: No such file or directory"):
        Reporting(str(tmp_path / "missing" / "report.html"), "program.py", Scope())
    with pytest.raises(AutojitError, match="cannot be written: Is a directory"):
        Reporting(str(tmp_path), "program.py", Scope())
    kept = tmp_path / "kept.txt"
    kept.write_text("before")
    Reporting(str(kept), "program.py", Scope())
    Reporting(str(tmp_path / "new.txt"), "program.py", Scope())
    assert kept.read_text() == "before" and os.listdir(tmp_path) == ["kept.txt"]


def test_a_failure_is_told_and_no_more(tmp_path, capsys, monkeypatch):
    reporting = Reporting(str(tmp_path / "folder.txt"), "program.py", Scope())
    reporting.begin()
    (tmp_path / "folder.txt").mkdir()
    reporting.end()
    told = capsys.readouterr()
    assert told.out == "" and told.err.startswith("autojit: the report could not be written: IsADirectoryError: ")
    monkeypatch.setattr(sys, "stderr", None)
    Reporting("-", "program.py", Scope()).end()  # never begun


def branchy(x):
    y = np.sin(x) * 2
    print(end="")
    for _ in range(4):
        y = y + np.cos(x)
    return y


@pytest.mark.parametrize("policy", ["eager", "measured"])
def test_calls_are_explained_without_their_arguments(policy):
    function = aj.autocluster(branchy, policy=policy)
    controller = function.__autojit_controller__
    assert not explain_seen(controller).is_explored
    x = np.arange(6.0)
    function(x)
    if policy == "measured":
        controller.warm_up.pays = lambda probe, heat: True
        function(x)
    seen, given = explain_seen(controller), function.explain(x)
    assert seen.is_explored and seen.clusters and "effect" in [reason.id for reason in seen.native_statements]
    assert [cluster.lines for cluster in seen.clusters] == [cluster.lines for cluster in given.clusters]
    assert str(seen).splitlines()[0] == str(given).splitlines()[0]
    past = explain_seen(controller, explores=False)
    assert not past.clusters and past.plans and past.history and "what calls have left" in to_html(past)
    assert controller.options.seen and isinstance(controller.options, Options)


def test_a_function_without_source_is_explained():
    scope = {}
    exec("def made(x):\n    return x + 1", scope)
    seen = explain_seen(aj.autocluster(scope["made"]).__autojit_controller__)
    assert [reason.id for reason in seen.native_statements] == ["no-source"]


def test_threads_that_go_on_and_what_autojit_does_in_the_users_name(tmp_path):
    """A program ends with its last thread; what jax traces for a plan carries the user's lines, and is not the user's."""
    (tmp_path / "late.py").write_text(
        "import atexit, threading, time, numpy as np\n"
        "def work(n):\n"
        "    time.sleep(0.3)\n"
        "    x = np.ones(100_000)\n"
        "    for i in range(n):\n"
        "        x = np.sin(x) + i\n"
        "    return x\n"
        "atexit.register(work, 2)\n"
        "def start():\n"  # looked into, so that the module's statements take no time: a thread takes some to start
        "    for _ in range(1):\n"
        "        threading.Thread(target=work, args=(3,)).start()\n"
        "start()\n"
    )
    done = run(tmp_path, "--policy=eager", "--report=-", "late.py")
    assert done.returncode == 0 and "work (late.py:2)" in done.stderr, done.stderr
    assert "code that was not looked into" not in done.stderr


NESTED = """
import time
import numpy as np
from autojit.runtime import heat

heat.PAYS_AFTER = 25.0  # nothing is judged, however busy the machine is

def outer(n):
    x = np.arange(20000.0)
    def inner(y):
        for k in range(20):
            y = np.sort(np.sin(y) + k)
        return y
    for k in range(n):
        x = inner(x)
    return x.sum()

def plain(n):
    x = np.arange(20000.0)
    for k in range(n):
        x = np.sort(np.cos(x) + k)
    return x.sum()

outer(1)
start = time.perf_counter()
while time.perf_counter() - start < 0.15:  # `inner` is looked into a tenth of a second after its first call
    plain(1)
for k in range(2):  # the second `inner` is another function; its time is the first one's
    outer(12), plain(60)
"""


def test_time_in_a_function_inside_of_another_one_is_counted_once(tmp_path):
    (tmp_path / "nested.py").write_text(NESTED)
    report = run(tmp_path, "--policy=measured", "--report=-", "nested.py").stderr
    rows = re.findall(r"^ +([\d.]+) s +(\d+)% +(?:\d+%)? +(\S+) \(nested.py:\d+\)", report, re.M)
    shares = {name: int(share) for _, share, name in rows}
    assert shares.keys() == {"outer", "outer.<locals>.inner", "plain", "<module>"}, report
    assert shares["outer.<locals>.inner"] > 3 * shares["outer"] and sum(shares.values()) <= 102, report
    assert re.search(r"not judged yet: [\d.e-]+ s of 25 s", report) and "a longer run judges more" in report


def _finding(function, spent=1.0, spots=()):
    known = Function((function.__autojit_controller__,))
    return Finding(known, spent, 0.0, spots=list(spots), state=known.state, why=why_of(known, known.state, list(spots)))


def _findings(found, total=10.0):
    return Findings("program.py", total, found, 0.0, None, 0.0, 0, 0.0, 0, 0.0, 0)


def _spot(seconds, id, line=3):
    return Spot("f", "f.py", line, line, "x = g(x)", seconds, Reason(id, "0.3 ms compiled, 0.2 ms in NumPy"))


def test_what_to_change_first():
    """What takes a part of the time that is to be seen, what can be changed before what is as it should be."""
    spots = [_spot(5, "slower"), _spot(3, "host-op", 4), _spot(0.4, "effect", 5), _spot(0.01, "data-shape", 6), _spot(0, "budget", 7)]
    found = _findings([_finding(aj.autocluster(branchy), spots=spots)])
    assert [spot.reason.id for spot in found.spots] == ["effect", "host-op", "data-shape"]
    assert [spot.reason.id for spot in to_change([[_spot(0.0, "effect")]], 1.0)] == ["effect"]
    told = "\n".join(shares(found))
    assert "3.41 s in places that stay in NumPy, 5.00 s where NumPy was found to be as fast" in told
    lines = to_screen(_findings([_finding(aj.autocluster(branchy))])).splitlines()
    assert lines[lines.index("what to change first") + 1] == f"  {NO_SPOTS}"


def called_often(x):
    x = x + 1
    return x


def test_why_a_function_is_in_its_state(monkeypatch):
    fast = aj.autocluster(called_often, check=False)
    assert _finding(fast).why == "no call was timed"
    fast(np.ones(10))
    found = _finding(fast)
    assert found.state == "not judged yet" and found.why.endswith(" s of 0.25 s in NumPy") and found.waiting == 1.0
    end = time.perf_counter() + 30
    while time.perf_counter() < end and _finding(fast).state != "native":  # it may nap, or have met what took long
        fast = aj.autocluster(called_often, check=False)
        for _ in range(3 * SEEN):
            fast(np.ones(10))
    found = _finding(fast)
    assert (found.state, found.why) == ("native", "too small: its calls take microseconds")
    assert found.settled == 1.0 and "1.00 s where NumPy" in "\n".join(shares(_findings([found])))
    for name, value in {"heat.PAYS_AFTER": 1e-9, "heat.WAITS": 0.0, "measured.TIMED_RUNS": 10**6, "measured.MOST_RUNS": 10**6,
                        "measured.HOPELESS": np.inf, "measured.VERY_HOPELESS": np.inf}.items():  # fmt: skip
        monkeypatch.setattr(f"autojit.runtime.{name}", value)  # compiled at once, and never judged
    monkeypatch.setattr(Maker, "too_small", lambda *args, **kwargs: False)
    fast = aj.autocluster(called_often, check=False)
    fast(np.ones(10))
    assert _finding(fast).why == "called once"
    fast(np.ones(10))
    BACKGROUND.wait()
    assert (_finding(fast).state, _finding(fast).why) == ("on trial", "compiled, and not timed yet")
    for _ in range(8):
        fast(np.ones(10))
    assert _finding(fast).state == "on trial" and re.fullmatch(r"\S+ [mu]s compiled, \S+ [mu]s in NumPy so far", _finding(fast).why)
    scope = {}
    exec("def made(x):\n    return x + 1", scope)
    fast, slower = aj.autocluster(scope["made"]), _spot(1.0, "slower")
    assert _finding(fast, spots=[slower]).why == "slower: 0.3 ms compiled, 0.2 ms in NumPy"
    assert _finding(fast, spots=[slower, _spot(2.0, "effect", 8)]).why == "line 8: effect"


def test_many_functions_are_folded():
    found = [_finding(aj.autocluster(branchy), 1.0 / (number + 1)) for number in range(30)]
    page = to_page(_findings(found))
    top = page[: page.index("<details>")]
    assert top.count('href="#function-') == 10 and "<summary>20 more</summary>" in page
    assert page.count('href="#function-') == 30 and top.index("What to change first") < top.index("own time")
    screen, report = to_screen(_findings(found)), to_report(_findings(found))
    assert len(screen.splitlines()) <= 40 and re.search(r"\.\.\. and \d+ more", screen)
    assert len(re.findall(r"^ +[\d.]+ s .* branchy \(", report, re.M)) >= 30 + screen.count("branchy (")
    waits = [replace(_spot(1.0, "data-shape", line), others=(3, 4)) for line in range(20)]
    screen = to_screen(_findings([replace(found[0], spots=waits), *found]))
    assert len(screen.splitlines()) <= 40 and screen.count(" branchy (") >= 7
    few = _findings(found[:3])
    assert to_report(few).count("own time  share") == 1


def test_a_report_without_a_name(tmp_path):
    done = run(tmp_path, "--report=", "late.py")
    assert done.returncode and "needs the name of a file" in done.stderr
