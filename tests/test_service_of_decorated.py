"""The compiler process of a program that has decorated its functions: what nobody waits for is compiled there."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import autojit as aj
from tests.test_service import HOT

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are looked for in /proc")

#: `HOT` with a decorated function, and what XLA compiles in this process, by thread.
BEGIN = """
import threading, warnings
import autojit as aj
from autojit.runtime import allowance, heat
from autojit.threads import own
from jax._src import compiler

here = []
def name_of_thread():
    found = own().get(threading.get_ident())
    return found.name if found else threading.current_thread().name
compile_here = compiler.backend_compile_and_load
compiler.backend_compile_and_load = lambda *given: here.append(name_of_thread()) or compile_here(*given)
allowance.Allowance.lacks = lambda self, seconds: 0.0
heat.Heat.best = 1.0  # NumPy loses
told = []
warnings.showwarning = lambda message, *where: told.append(str(message))
"""


def run(folder: Path, script: str, flags: str = "--disk_cache=0") -> list[str]:
    """The words that a script prints."""
    file = folder / "script.py"
    begin = BEGIN + HOT.replace("def step(", "@aj.autocluster\ndef step(", 1)
    file.write_text(begin + textwrap.dedent(script))
    environment = {**os.environ, "PYTHONPATH": str(Path(aj.__file__).parents[1]), "AUTOJIT_FLAGS": flags}
    command = [sys.executable, str(file)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=150, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout.split()


def test_nothing_is_compiled_beside_the_program(tmp_path):
    printed = run(
        tmp_path,
        """
        print(len(pids()), SERVICE.is_wanted, heat(is_compiled), len(pids()), here, told)
        """,
    )
    assert printed == ["0", "False", "True", "1", "[]", "[]"]


def test_a_program_that_the_caller_waits_for_is_compiled_here(tmp_path):
    printed = run(
        tmp_path,
        """
        x = np.linspace(0, 1, 100)
        np.testing.assert_allclose(aj.jit_compile(lambda x: np.sin(x) * 2)(x), np.sin(x) * 2, rtol=1e-12)
        print(len(pids()), set(here))
        probes = step.__autojit_controller__.probes
        print(heat(lambda: any(not plan.is_native for probe in probes.values() for plan in probe.plans)), len(pids()))
        here.clear()
        np.testing.assert_allclose(aj.jit_compile(lambda x: np.cos(x) * 3)(x), np.cos(x) * 3, rtol=1e-12)
        print(set(here))
        """,
    )
    assert printed == ["0", "{'MainThread'}", "True", "1", "{'MainThread'}"]


def test_without_such_a_process(tmp_path):
    printed = run(
        tmp_path,
        """
        print(heat(is_compiled), len(pids()), set(here))
        """,
        "--disk_cache=0 --compiler_process=0",
    )
    assert printed == ["True", "0", "{'autojit-compiler'}"]


@pytest.mark.parametrize("embedded", ["sys.frozen = True", "sys.executable = sys.executable + '/../simulator'"])
def test_what_is_not_python_is_not_started(tmp_path, embedded):
    """The program itself, as a rule."""
    printed = run(tmp_path, f"{embedded}\nprint(heat(is_compiled), len(pids()), set(here))\n")
    assert printed == ["True", "0", "{'autojit-compiler'}"]


def test_a_program_that_hears_of_the_ends_of_children_hears_of_none(tmp_path):
    printed = run(
        tmp_path,
        """
        heard = []
        signal.signal(signal.SIGCHLD, lambda *given: heard.append(given))
        print(heat(is_compiled), len(pids()), heard)
        """,
    )
    assert printed == ["True", "0", "[]"]


@pytest.mark.parametrize("streams", [(0,), (0, 1), (0, 2), (0, 1, 2)])
def test_closed_standard_streams(tmp_path, streams):
    file = tmp_path / "told"
    run(
        tmp_path,
        f"""
        for stream in {streams}:
            os.close(stream)
        found = heat(is_compiled), len(pids()), here, told
        with open({str(file)!r}, "w") as file:
            print(*found, file=file)
        """,
    )
    assert file.read_text().split() == ["True", "1", "[]", "[]"]


def test_one_that_dies_again_and_again_leaves_what_the_program_waits_for(tmp_path):
    printed = run(
        tmp_path,
        """
        SERVICE.patient = threading.get_ident()
        for _ in range(3):
            while not SERVICE._is_ready:
                SERVICE._look()
            threading.Timer(0.2, os.kill, (pids()[0], signal.SIGKILL)).start()
            try:
                SERVICE.ask(b"")
            except Exception as error:
                print(type(error).__name__)
        SERVICE.patient = 0
        x = np.linspace(0, 1, 100)
        np.testing.assert_allclose(aj.jit_compile(lambda x: np.sin(x) * 2)(x), np.sin(x) * 2, rtol=1e-12)
        print(heat(lambda: told), len(pids()), len(told))
        """,
    )
    assert printed[:3] == ["CompilerEnded"] * 3 and printed[3:] == ["True", "0", "1"]


def test_a_signal_of_the_program_s_does_not_count_as_an_end(tmp_path):
    printed = run(
        tmp_path,
        """
        class Late(Exception):
            pass

        def ring(*given):
            raise Late

        signal.signal(signal.SIGALRM, ring)
        print(heat(is_compiled))
        SERVICE.patient = threading.get_ident()
        for _ in range(4):
            pid = pids()[0]
            os.kill(pid, signal.SIGSTOP)
            signal.setitimer(signal.ITIMER_REAL, 0.2)
            try:
                SERVICE.ask(b"")
            except Late:
                print("late", SERVICE._ends)
            os.kill(pid, signal.SIGKILL)  # it has been left, but does not hear of it
            while not SERVICE._is_ready:
                SERVICE._look()
        """,
    )
    assert printed == ["True", *["late", "0"] * 4]


def test_where_it_cannot_be_started_a_thread_compiles(tmp_path):
    printed = run(
        tmp_path,
        """
        service._SHELL = (sys.executable + " is not there",)
        print(heat(is_compiled), len(pids()), set(here), told)
        """,
    )
    assert printed == ["True", "0", "{'autojit-compiler'}", "[]"]


def test_one_that_is_killed_costs_one_warning(tmp_path):
    printed = run(
        tmp_path,
        """
        def kill():
            while not (found := pids()):
                time.sleep(0.01)
            while not SERVICE._is_ready:
                time.sleep(0.001)
            found = pids()  # before, a shell may have been one of them
            os.kill(found[0], signal.SIGSTOP)  # whatever it is asked now, it does not answer
            time.sleep(0.5)
            os.kill(found[0], signal.SIGKILL)

        killer = threading.Thread(target=kill)
        killer.start()
        print(heat(lambda: told or is_compiled()), len(told) <= 1, here)
        killer.join()
        """,
    )
    assert printed == ["True", "True", "[]"]


def test_a_process_that_ends_meanwhile_does_not_wait(tmp_path):
    printed = run(
        tmp_path,
        """
        start = time.perf_counter()
        heat(lambda: pids())
        print(time.perf_counter() - start < 30)
        """,
    )
    assert printed == ["True"]


def test_a_forked_process_starts_its_own_or_leaves_all_to_numpy(tmp_path):
    printed = run(
        tmp_path,
        """
        print(heat(is_compiled), flush=True)
        child = os.fork()
        if not child:
            x = np.linspace(0, 1, 50_000)
            for _ in range(5):
                np.testing.assert_allclose(step(x, 5), WANTED, rtol=1e-9)
            os._exit(0)
        print(os.waitpid(child, 0)[1], heat(is_compiled))
        """,
    )
    assert printed == ["True", "0", "True"]


def test_programs_of_the_process_are_kept_for_later_ones(tmp_path):
    script = """
        print(heat(is_compiled), len(pids()), here)
        """
    flags = f"--cache_dir={tmp_path / 'cache'}"
    assert run(tmp_path, script, flags) == ["True", "1", "[]"]
    assert run(tmp_path, script, flags) == ["True", "0", "[]"]
