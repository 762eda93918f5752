"""`--log` says on stderr, or to the program's own handlers, what happens."""

import io
import itertools
import logging
import subprocess
import sys
import time

import numpy as np
import pytest

import autojit as aj
from autojit.runtime import maker, progress
from autojit.threads import own

X = np.ones((4, 5))


def work(x, n):
    return np.sqrt(x[:n]) * 3


@pytest.fixture(autouse=True)
def level():
    before = logging.getLogger("autojit").level
    yield
    logging.getLogger("autojit").setLevel(before)


def messages(caplog, kinds):
    aj.clear_cache()
    caplog.clear()
    fast = aj.autocluster(policy="eager", log=kinds)(work)
    fast(X, 2), fast(X, 3)
    return [record.getMessage() for record in caplog.records if record.name == "autojit"]


def test_each_kind(caplog):
    line = work.__code__.co_firstlineno + 1
    captures = messages(caplog, "captures")
    assert [text.split(" (")[0] for text in captures] == [f"work: line {line} captured"] * 2
    assert captures[1].endswith(f"`n` is 3 (line {line}), where it was 2")
    assert all(text.startswith(f"work: line {line} compiled (") for text in messages(caplog, ["compiles"]))
    guards = messages(caplog, ("guards",))
    assert len(guards) == 2 and f"work: line {line} asks that " in guards[0] and "`x` is an array of dtype float64 and shape (4, 5)" in guards[0]
    assert messages(caplog, "clusters") == ["work: cluster_0: getitem, np.sqrt, np.multiply"] * 2
    assert len(messages(caplog, "captures,compiles,guards,clusters")) == 8


def test_silence_unless_asked(caplog):
    assert messages(caplog, ()) == []


def test_mistakes():
    with pytest.raises(aj.FlagError, match="`log` does not take `capture`: it takes `captures`, `compiles`"):
        aj.autocluster(work, log="capture")


@pytest.mark.parametrize("is_set_up", [False, True])
def test_in_a_program(tmp_path, is_set_up):
    own = "import logging; logging.basicConfig(format='mine %(message)s', level='WARNING')\n" if is_set_up else ""
    file = tmp_path / "logged.py"
    file.write_text(
        f"{own}import numpy as np, autojit as aj\n"
        "def f(x):\n    return np.sin(x) * 2\n"
        "aj.autocluster(f, policy='eager', log='captures')(np.ones(3))\n"
    )
    done = subprocess.run([sys.executable, str(file)], capture_output=True, text=True, check=True)
    assert done.stderr.splitlines()[-1].startswith("mine f: line 4 captured" if is_set_up else "autojit: f: line 3 captured")


class Terminal(io.StringIO):
    def isatty(self):
        return True


def slow_compilation(monkeypatch, stream):
    """A function whose compilation takes a while, and who writes to `stream` meanwhile."""
    compiled = maker.compile_plan

    def slowly(*args):
        end = time.monotonic() + (60 if isinstance(stream, Terminal) else 0.4)
        while time.monotonic() < end and not (isinstance(stream, Terminal) and stream.getvalue().count("\r") >= 3):
            time.sleep(0.01)
        return compiled(*args)

    monkeypatch.setattr(maker, "compile_plan", slowly)
    monkeypatch.setattr(progress, "AFTER", 0.1)
    monkeypatch.setattr(progress, "EVERY", 0.05)
    monkeypatch.setattr(progress, "monotonic", itertools.count().__next__)  # a second from one look to the next
    monkeypatch.setattr(sys, "stderr", stream)
    return aj.autocluster(policy="eager")(lambda x: np.sin(x) * 2 + 1)


def test_a_long_compilation_shows_progress_on_a_terminal(monkeypatch):
    stream = Terminal()
    f = slow_compilation(monkeypatch, stream)
    f(np.ones(3000))
    *told, rest = stream.getvalue().lstrip("\r").split("\r")
    assert len(told) >= 3 and rest == ""
    assert told[0].startswith("autojit: compiling line ") and told[0].endswith(" ... 1 s") and "<lambda>" in told[0]
    assert told[1].endswith(" ... 2 s")
    assert not told[-1].strip() and len(told[-1]) >= len(told[-2])
    length = len(stream.getvalue())
    f(np.ones(3000))
    assert len(stream.getvalue()) == length and not [t for t in own().values() if t.name == "autojit-progress"]


@pytest.mark.parametrize("stream", [io.StringIO(), None], ids=["a file", "none"])
def test_a_long_compilation_is_silent_elsewhere(monkeypatch, stream):
    slow_compilation(monkeypatch, stream)(np.ones(3000))
    assert stream is None or not stream.getvalue()


def test_a_launched_program_has_its_own_logs_alone(tmp_path):
    file = tmp_path / "loud.py"
    text = "import logging, numpy as np\nlogging.basicConfig(level=logging.DEBUG)\nlogging.debug('own')\n"
    file.write_text(f"{text}def f(x):\n    for _ in range(20):\n        x = np.sin(x) + 1\n    return x\nf(np.ones(9))\n")
    command = [sys.executable, "-m", "autojit", "run", "--policy=eager", file]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.stderr == "DEBUG:root:own\n" and not done.returncode
    asked = subprocess.run([*command[:4], "--log=captures", file], capture_output=True, text=True, timeout=120)
    assert "DEBUG:root:own\n" in asked.stderr
