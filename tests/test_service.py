"""The compiler process of a launched program: another process has jax, and the program does not notice."""

import os
import pickle
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from autojit.compile import service
from autojit.compile.questions import error_of, packed, unpacked
from autojit.compile.service import CompilerEnded, Service
from autojit.compile.wire import wires
from autojit.compile.xla import JaxRuntimeError
from autojit.errors import AutojitError
from tests.test_launch import both, run

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are looked for in /proc")

HOT = """
import os, signal, sys, threading, time
import numpy as np
from autojit.runtime.background import BACKGROUND
from autojit.compile.service import SERVICE
from autojit.runtime.controllers import CONTROLLERS

def pids():
    "Of the processes that compile for this one."
    found = []
    for name in os.listdir("/proc"):
        try:
            words = open(f"/proc/{name}/cmdline").read().split("\\0")
        except OSError:
            continue
        if any(word.endswith("compile/start.py") for word in words) and MARK in words:
            found.append(int(name))
    return found

MARK = "/mark of " + str(os.getpid())
import autojit.compile.service as service
service.PATHS.append(MARK)  # the process is told where modules are found
service.LEISURE = 0.0  # other tests want all processors
from autojit.runtime.allowance import Allowance
from autojit.runtime.heat import Heat
Allowance.delay = lambda *args, **named: 0.0  # how long a program must have run has tests of its own
Heat.best = 1.0  # whatever the load of the machine, NumPy loses

def step(a, k):
    for _ in range(k):
        a = np.sin(a) * np.cos(a) + np.sqrt(np.abs(a)) - 0.1 * np.concatenate([a[1:], a[:1]])
    return a

def heat(until):
    "Calls until something holds; the sum tells whether the calls were right."
    x, end = np.linspace(0, 1, 50_000), time.perf_counter() + 60
    got = WANTED
    while not until() and time.perf_counter() < end:
        got = step(x, 5)
    np.testing.assert_allclose(got, WANTED, rtol=1e-9)
    return bool(until())

def plain(a, k):
    return step.__autojit_original__.value(a, k) if hasattr(step, "__autojit_original__") else step(a, k)

WANTED = plain(np.linspace(0, 1, 50_000), 5)

def is_compiled():
    probes = [probe for controller in list(CONTROLLERS) for probe in controller.probes.values()]
    return any(not plan.is_native for probe in probes for plan in probe.plans)
"""

KINDS = """
import sys
import numpy as np

def every(a, b):
    c = np.concatenate([a, b], axis=1).T @ np.linalg.inv(a @ b.T + 9 * np.eye(len(a)))
    d = np.abs(np.fft.fft(a[0])) + np.linalg.norm(b) + np.linalg.solve(9 * np.eye(len(a)) + a @ b.T, b).sum()
    e = np.einsum("ij,ij->i", a, b) + np.median(a, axis=1) + np.cumsum(b, axis=1)[:, -1]
    large = np.multiply.outer(np.arange(400.0), np.arange(400.0)) + e[0]
    return c.sum(), d.sum(), np.sort(e), large[::100, ::100], large

for k in range(3):
    a = np.linspace(0, 1, 30).reshape(5, 6) + k
    for part in every(a, a[::-1] ** 2)[:4]:
        print(np.round(part, 9))
print([name for name in sys.modules if name.partition(".")[0] == "jax"])
"""


@pytest.fixture
def folder(tmp_path):
    return tmp_path


def program(folder, text):
    (folder / "program.py").write_text(text)
    return run(folder, "--policy=measured", "program.py", timeout=120)


def hot(folder, text):
    done = program(folder, HOT + text)
    assert done.returncode == 0, done.stderr
    return done


def test_programs_are_compiled_without_jax(folder):
    done = hot(folder, "print(heat(is_compiled), 'jax' in sys.modules, len(pids()))\n")
    assert (done.stdout, done.stderr) == ("True False 1\n", "")


@pytest.mark.parametrize("flags", ["", "--policy=eager", "--check --policy=eager"])
def test_all_kinds_of_questions(folder, flags):
    (folder / "program.py").write_text(KINDS)
    plain, fast = run(folder, "program.py", launched=False), run(folder, *flags.split(), "program.py", timeout=120)
    assert fast.stdout == plain.stdout and plain.stdout.endswith("[]\n"), fast.stderr
    assert fast.stderr == ""


def test_modules_that_are_taken_out_of_sys_modules(folder):
    """As a test does that puts back an earlier state of it."""
    text = """
import sys
from unittest import mock
import numpy as np
def f(x, k):
    for r in range(3):
        x = np.sqrt(x * x + k) * 0.5 + np.abs(x - 0.25) * 2
    return x
def g(x, k):
    for r in range(3):
        x = np.abs(x - k) * 2
    return x
with mock.patch.dict(sys.modules):
    f(np.arange(1000.0), 1.5)
print(g(np.arange(1000.0), 1.5).sum())
"""
    (folder / "program.py").write_text(text)
    plain, fast = run(folder, "program.py", launched=False), run(folder, "--policy=eager", "program.py", timeout=120)
    assert (fast.stdout, fast.stderr) == (plain.stdout, "")


def test_it_is_no_child_and_ends_with_the_program(folder):
    done = hot(
        folder,
        """
assert heat(is_compiled)
try:
    os.wait()
except ChildProcessError:
    print("no children")
print(MARK, *pids())
""",
    )
    said, told = done.stdout.splitlines()
    assert said == "no children"
    wait_for_end_of(int(told.split()[-1]))


def wait_for_end_of(process):
    end = time.monotonic() + 10
    while is_running(process):
        assert time.monotonic() < end
        time.sleep(0.05)


def is_running(process):
    try:
        return Path(f"/proc/{process}/stat").read_text().split()[2] != "Z"
    except OSError:  # it has gone, perhaps just now
        return False


def test_it_ends_when_the_program_is_killed(folder):
    done = program(folder, HOT + "heat(is_compiled)\nprint(*pids(), flush=True)\nos.kill(os.getpid(), signal.SIGKILL)\n")
    wait_for_end_of(int(done.stdout))


@pytest.mark.skipif(not service.LEISURE, reason="nothing is done at leisure here")
def test_one_that_gets_no_time_ends_with_the_program_too(folder):
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2 * (os.cpu_count() or 1))]
    try:
        done = program(folder, HOT + "service.LEISURE = 60.0\nheat(pids)\nprint(*pids())\n")
        wait_for_end_of(int(done.stdout))
    finally:
        for each in busy:
            each.kill()
            each.wait()


@pytest.mark.parametrize("when", ["is_compiled", "lambda: BACKGROUND._pending", "lambda: SERVICE._lines"])
def test_one_that_dies_is_replaced(folder, when):
    done = hot(
        folder,
        f"""
import warnings
from autojit import AutojitWarning
from autojit.launch.module_loops import LOOPS
warnings.simplefilter("ignore", AutojitWarning)  # what was being compiled stays NumPy's, which is told
heat({when})
for pid in pids():
    os.kill(pid, signal.SIGKILL)
def other(a):
    for _ in range(3):
        a = np.tanh(a) + np.arctan(a)
    return a
x, end = np.linspace(0, 1, 100_000), time.perf_counter() + 60
def other_is_compiled():
    probes = [probe for each in (other.__autojit_controller__, *LOOPS) for probe in each.probes.values()]
    return any(not plan.is_native for probe in probes for plan in probe.plans)
while time.perf_counter() < end:
    other(x)
    if other_is_compiled():
        print("compiled")
        break
""",
    )
    assert done.stdout == "compiled\n"


def test_a_program_that_closes_all_files(folder):
    done = hot(
        folder,
        """
heat(lambda: is_compiled() and not BACKGROUND._pending)
os.closerange(3, 200)
files = [open(f"file{number}", "w+b", buffering=0) for number in range(40)]
def other(a):
    for _ in range(3):
        a = np.tanh(a) + np.arctan(a)
    return a
x, end, known = np.linspace(0, 1, 100_000), time.perf_counter() + 60, SERVICE._lines
while time.perf_counter() < end and (SERVICE._lines is known or not SERVICE._is_ready or BACKGROUND._pending):
    other(x)
print(SERVICE._is_ready, {file.seek(0, 2) for file in files}, {file.tell() for file in files})
""",
    )
    assert done.stdout == "True {0} {0}\n"


def test_forked_processes(folder):
    done = hot(
        folder,
        """
import warnings
warnings.simplefilter("ignore", DeprecationWarning)  # of forks with threads
for until in (lambda: SERVICE._lines, is_compiled):
    heat(until)
    child = os.fork()
    if not child:
        assert not SERVICE._lines
        end = time.perf_counter() + 2
        heat(lambda: time.perf_counter() > end)
        os._exit(0)
    print(os.waitpid(child, 0)[1])
print(heat(is_compiled), len(pids()))
""",
    )
    assert done.stdout == "0\n0\nTrue 1\n"


def test_the_end_does_not_wait_for_a_compilation(folder):
    done = hot(
        folder,
        """
heat(lambda: SERVICE._is_ready and SERVICE._lines["later"]._asks)
for pid in pids():
    os.kill(pid, signal.SIGSTOP)
end = time.perf_counter() + 0.5
heat(lambda: time.perf_counter() > end)
print(*pids())
""",
    )
    os.kill(int(done.stdout), signal.SIGKILL)


def test_a_seeded_program(folder):
    (folder / "program.py").write_text(f"import numpy as np\nnp.random.seed(3)\n{KINDS}print(np.random.rand())\n")
    both(folder, "program.py")


def test_modules_of_the_program_are_not_taken_for_those_that_jax_imports(folder):
    for name in ("ml_dtypes", "json", "multiprocessing"):
        (folder / f"{name}.py").write_text("raise SystemExit('autojit and jax import another one')")
    (folder / "program.py").write_text(HOT + "print(heat(is_compiled))")
    (folder / "elsewhere").mkdir()
    done = run(folder / "elsewhere", "../program.py", timeout=120)
    assert (done.stdout, done.stderr) == ("True\n", "")


def test_a_program_that_imports_jax_itself(folder):
    text = KINDS + "import jax\nprint(jax.numpy.linalg.solve(jax.numpy.eye(3), jax.numpy.ones(3)).sum())\nevery(a, a)\n"
    (folder / "program.py").write_text(text)
    plain, fast = run(folder, "program.py", launched=False), run(folder, "--policy=eager", "program.py", timeout=120)
    assert (fast.stdout, fast.stderr) == (plain.stdout, plain.stderr) and "3.0" in plain.stdout


class _Shown:
    """A service whose process is this one."""

    def __init__(self):
        pairs = [wires(), wires()]
        self.now, self.later = [theirs for _, theirs in pairs]
        self.service = Service(True)
        self.service._lines = {
            name: service._Line(mine) for name, (mine, _) in zip(("now", "later"), pairs, strict=True)
        }
        self.later.send_bytes(service.READY)


def test_closing_ends_a_wait():
    shown, raised = _Shown(), []

    def ask():
        with pytest.raises(CompilerEnded) as error:
            shown.service.ask(b"what")
        raised.append(error)

    assert shown.service.is_ready()
    thread = threading.Thread(target=ask)
    thread.start()
    assert shown.now.recv_bytes() == b"what"
    shown.service.close()
    thread.join(10)
    assert raised
    with pytest.raises(CompilerEnded):
        shown.service.ask(b"more")


def test_ends_count_in_a_row_only():
    shown = _Shown()
    assert shown.service.is_ready()
    shown.service._ends = 2
    thread = threading.Thread(target=lambda: shown.now.send_bytes(shown.now.recv_bytes() + b"ever"))
    thread.start()
    assert shown.service.ask(b"what") == b"whatever" and shown.service._ends == 0
    thread.join(10)


def test_an_interrupted_question_ends_the_process():
    shown = _Shown()

    def stop(*_):
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, stop)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        with pytest.raises(TimeoutError):  # which is an OSError, too
            shown.service.ask(b"what")
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert not shown.service._lines
    assert shown.now.recv_bytes() == b"what"
    with pytest.raises(EOFError):
        shown.now.recv_bytes()


def test_what_takes_too_long_at_leisure_is_asked_again_of_another_process(monkeypatch):
    shown, second = _Shown(), _Shown()
    started = []

    def start(self, leisurely):
        if not self._lines:
            started.append(leisurely)
            self._lines, self._is_leisurely = second.service._lines, leisurely
        return self._lines

    monkeypatch.setattr(Service, "_started", start)
    monkeypatch.setattr(service, "PATIENCE", 0.2)
    assert shown.service.is_ready()
    shown.service.patient, shown.service._is_leisurely = threading.get_ident(), True
    heard = []
    other = threading.Thread(target=lambda: (heard.append(second.later.recv_bytes()), second.later.send_bytes(b"answer")))
    other.start()
    assert shown.service.ask(b"what") == b"answer"
    other.join(10)
    assert [shown.later.recv_bytes(), *heard] == [b"what", b"what"]
    assert started == [False] and not shown.service._is_leisurely
    with pytest.raises(EOFError):
        shown.later.recv_bytes()


def test_who_waits_while_another_answer_takes_too_long_asks_again_too(monkeypatch):
    shown, second = _Shown(), _Shown()

    def start(self, leisurely):
        if not self._lines:
            self._lines, self._is_leisurely = second.service._lines, leisurely
        return self._lines

    def answer(line):
        heard.append(line.recv_bytes())
        line.send_bytes(b"answer")

    monkeypatch.setattr(Service, "_started", start)
    monkeypatch.setattr(service, "PATIENCE", 1.0)
    assert shown.service.is_ready()
    shown.service._is_leisurely = True
    heard, answers = [], []

    def ask(is_patient):
        if is_patient:
            shown.service.patient = threading.get_ident()
        answers.append(shown.service.ask(b"later" if is_patient else b"now"))

    threads = [threading.Thread(target=ask, args=(True,)), threading.Thread(target=ask, args=(False,))]
    threads += [threading.Thread(target=answer, args=(line,)) for line in (second.now, second.later)]
    for thread in threads:
        thread.start()
        time.sleep(0.3)  # the first one is late first
    for thread in threads:
        thread.join(20)
    assert answers == [b"answer", b"answer"] and sorted(heard) == [b"later", b"now"]


def test_what_is_not_for_the_other_process():
    with pytest.raises(pickle.UnpicklingError, match="not for the other"):
        unpacked(packed(Path("/somewhere")))
    error = unpacked(error_of(JaxRuntimeError("UNKNOWN: what XLA says")))
    assert type(error) is AutojitError and "UNKNOWN: what XLA says" in str(error)


def test_a_question_inside_of_another():
    shown = _Shown()
    assert shown.service.is_ready()

    def inner(*_):
        with pytest.raises(AutojitError, match="while it was compiling"):
            shown.service.ask(b"inner")
        shown.now.send_bytes(b"answer")

    before = signal.signal(signal.SIGALRM, inner)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        assert shown.service.ask(b"outer") == b"answer"
    finally:
        signal.signal(signal.SIGALRM, before)


def test_a_process_that_cannot_be_started(folder):
    done = hot(
        folder,
        """
service._START = "/nowhere/compile/start.py"
told = heat(lambda: any("not-imported" in controller.trouble._warned for controller in list(CONTROLLERS)))
print(told, "jax" in sys.modules)
""",
    )
    assert done.stdout == "True False\n"
    assert "autojit [not-imported]: the process that compiles could not be started: it ended at once" in done.stderr


def test_the_usual_process_compiles_by_itself():
    text = "import autojit, sys; print('jax' in sys.modules, autojit.compile.service.SERVICE.is_wanted)"
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    assert done.stdout == "True False\n"


def test_other_modules_named_by_m_are_not_the_launcher(folder):
    (folder / "other.py").write_text("import autojit, sys\nprint('jax' in sys.modules)\n")
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parent.parent)}
    done = subprocess.run([sys.executable, "-m", "other"], cwd=folder, env=env, capture_output=True, text=True, check=True)
    assert re.fullmatch("True\n", done.stdout)


def test_the_package_is_the_one_that_asks(tmp_path: Path) -> None:
    """Another version may be installed, and be found first."""
    (tmp_path / "autojit").mkdir()
    (tmp_path / "autojit" / "__init__.py").write_text("raise ImportError('another version')\n")
    code = """
import runpy, sys
start = runpy.run_path(sys.argv[1])
sys.path.insert(0, sys.argv[2])
start["import_own_package"]()
import autojit.errors
print(autojit.errors.__file__)
"""
    words = [sys.executable, "-c", code, service._START, str(tmp_path)]
    found = subprocess.run(words, capture_output=True, text=True, check=True)
    assert found.stdout.strip() == str(Path(service._START).parent.parent / "errors.py")
