"""Memory that a launched program frees stays with its process."""

import ctypes
import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest

from autojit.launch import memory

ROOT = Path(__file__).resolve().parent.parent
COUNTS = """
import resource
import numpy as np

x = np.random.default_rng(1).random(400_000)

def step(y):
    return (y * 2.0 + x) * y - x

def faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt

for _ in range(3):
    y = step(x)
before = faults()
for _ in range(20):
    y = step(x)
print(faults() - before)
"""
has_glibc = pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="another C library")


def count(folder, *options, **variables):
    (folder / "counts.py").write_text(COUNTS)
    command = [sys.executable, "-m", "autojit", "run", *options, "counts.py"]
    inherited = {name: value for name, value in os.environ.items() if not memory.is_users({name: value})}
    environment = {
        **inherited,
        "PYTHONPATH": str(ROOT),
        "AUTOJIT_FLAGS": "--disk_cache=0",
        "LD_PRELOAD": "",
        **variables,
    }
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return int(done.stdout)


@has_glibc
def test_arrays_find_the_memory_of_those_that_are_gone(tmp_path):
    kept = count(tmp_path)
    assert kept < 100  # of 80 arrays of 780 pages each
    for options, variables in (
        (["--keep_memory=0"], {}),
        (["--auto_jit=0"], {}),
        ([], {"MALLOC_MMAP_THRESHOLD_": "131072"}),
        ([], {"GLIBC_TUNABLES": "glibc.malloc.mmap_threshold=131072"}),
    ):
        assert count(tmp_path, *options, **variables) > 400, (options, variables)


def test_what_the_user_has_set_stays():
    assert not memory.is_users({"PATH": "", "GLIBC_TUNABLES": "glibc.pthread.rseq=0", "MALLOC_ARENA_MAX": "2"})
    assert memory.is_users({"MALLOC_TRIM_THRESHOLD_": "0"})
    assert memory.is_users({"GLIBC_TUNABLES": "glibc.pthread.rseq=0:glibc.malloc.hugetlb=1"})


def test_other_c_libraries_are_left_alone(monkeypatch):
    class Library:
        """One without `mallopt`."""

    for fails in (
        lambda name: Library(),
        lambda name: (_ for _ in ()).throw(OSError),
        lambda name: (_ for _ in ()).throw(TypeError),
    ):
        monkeypatch.setattr(ctypes, "CDLL", fails)
        assert not memory.keep_freed()


def test_the_option_is_a_switch(tmp_path):
    (tmp_path / "empty.py").write_text("")
    command = [sys.executable, "-m", "autojit", "run", "--keep_memory=2", "empty.py"]
    done = subprocess.run(
        command, cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True
    )
    assert done.returncode == 1 and "--keep_memory" in done.stderr and "Traceback" not in done.stderr


def test_older_versions_take_smaller_blocks(monkeypatch):
    calls = []

    class Library:
        def mallopt(self, what, size):
            calls.append((what, size))
            return int(size < 1 << 30)

    monkeypatch.setattr(ctypes, "CDLL", lambda name: Library())
    monkeypatch.setattr(memory, "is_users", lambda: False)
    assert memory.keep_freed()
    assert calls == [(-3, 1 << 30), (-3, 32 << 20), (-1, memory.KEPT)]
