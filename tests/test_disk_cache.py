"""The disk cache: later processes compile nothing, and no state of the directory changes an answer."""

import errno
import json
import os
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import autojit as aj
from autojit.__main__ import main
from autojit.compile.cache import CACHE
from autojit.compile.disk import DiskCache, why_unsafe
from autojit.compile.key import cluster_key
from autojit.compile.persistent import default_directory, opened, version
from autojit.compile.stored import Stored
from autojit.config import override
from autojit.ir.graph import Graph, Node, Value
from autojit.ir.op import Op
from autojit.ir.spec import Spec

_PROGRAM = """
import json, sys
import numpy as np
import autojit as aj

@aj.autocluster(policy="eager", disk_cache=True, cache_dir=sys.argv[1])
def work(a, u, n):
    for i in range(n):
        u[1:-1] = (u[2:] + u[:-2]) / 2
    s = np.linalg.solve(a, u[:40]) + np.fft.fft(u[:40]).real
    w, v = np.linalg.eigh(a + a.T)
    return np.sort(s), np.add.outer(u, u), w, u[u > 0.5].sum(), np.linalg.inv(a)

rng = np.random.default_rng(3)
a, u = rng.random((40, 40)), rng.random(300)
copy = u.copy()
found, expected = work(a, u, 7), work.__wrapped__(a, copy, 7)
assert all(np.allclose(x, y, rtol=1e-10, atol=1e-10) for x, y in zip((*found, u), (*expected, copy), strict=True))
info = work.cache_info()
print(json.dumps([info.compiles, info.loads, info.hits]))
"""


def _run(directory: Path, **environment: str) -> list[int]:
    script = directory.parent / "script.py"
    script.write_text(_PROGRAM)
    flags = f"--cache_dir={directory}"  # the memory for large results is process-wide
    done = subprocess.run(
        [sys.executable, str(script), str(directory)],
        env={**os.environ, "AUTOJIT_FLAGS": flags, "PYTHONPATH": str(Path(aj.__file__).parents[1]), **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_second_process_compiles_nothing(tmp_path):
    directory = tmp_path / "cache"
    compiles, loads, hits = _run(directory)
    assert compiles > 0 and loads == 0 and hits > 0
    assert [path.suffix for path in directory.iterdir()] == [".program"] * len(list(directory.iterdir()))
    assert _run(directory) == [0, compiles, hits]


def test_it_is_on_by_default(tmp_path):
    """In the user's directory for caches; a warm process compiles nothing."""
    script = tmp_path / "script.py"
    script.write_text(_PROGRAM.replace(', disk_cache=True, cache_dir=sys.argv[1]', ""))
    folder = tmp_path / "caches"
    homes = {name: str(folder) for name in ("XDG_CACHE_HOME", "LOCALAPPDATA", "HOME")}
    environment = {**os.environ, **homes, "PYTHONPATH": str(Path(aj.__file__).parents[1])}

    def go(flags=""):
        done = subprocess.run(
            [sys.executable, str(script)],
            env={**environment, "AUTOJIT_FLAGS": flags},
            capture_output=True,
            text=True,
            check=True,
        )
        return json.loads(done.stdout)

    compiles, loads, hits = go("--disk_cache=0")
    assert compiles > 0 and loads == 0 and not folder.exists()
    assert go() == [compiles, 0, hits] and go() == [0, compiles, hits]
    assert [path.name for path in folder.rglob("*.program")]


def test_other_flags_of_xla_find_nothing(tmp_path):
    first = _run(tmp_path / "cache")
    assert _run(tmp_path / "cache", XLA_FLAGS="--xla_cpu_prefer_vector_width=128")[:2] == first[:2]


@pytest.fixture
def cached(tmp_path):
    """A new function each time, with a cache of its own and nothing in memory."""

    def make(directory=tmp_path / "cache"):
        CACHE.clear()

        @aj.autocluster(policy="eager", disk_cache=True, cache_dir=directory)
        def double(x):
            return x * 2 + np.sin(x)

        return double

    return make


X = np.linspace(0.0, 1.0, 50)


def _answers(function) -> None:
    np.testing.assert_allclose(function(X), function.__wrapped__(X), rtol=1e-14)


def _warning_of(function) -> str:
    with warnings.catch_warnings(record=True) as caught:
        warnings.filterwarnings("always", category=aj.AutojitWarning)  # others are NumPy's and leave calls native
        _answers(function)
    (found,) = (each for each in caught if each.category is aj.AutojitWarning)
    assert found.filename == __file__ and str(found.message).startswith("autojit [disk-cache]")
    return str(found.message)


def test_damaged_files_are_removed_and_written_again(cached, tmp_path):
    _answers(cached())
    (path,) = (tmp_path / "cache").iterdir()
    good = path.read_bytes()
    for content in (b"", good[:-1], good[:40], good[:100] + b"!" + good[101:], b"other" + good):
        path.write_bytes(content)
        function = cached()
        _answers(function)
        assert (function.cache_info().compiles, function.cache_info().loads) == (1, 0)
        assert Stored.decode(path.read_bytes()).outputs == Stored.decode(good).outputs
    function = cached()
    _answers(function)
    assert (function.cache_info().compiles, function.cache_info().loads) == (0, 1)


def test_a_whole_file_that_xla_refuses(cached, tmp_path):
    _answers(cached())
    (path,) = (tmp_path / "cache").iterdir()
    stored = Stored.decode(path.read_bytes())
    path.write_bytes(Stored(stored.outputs, b"no program").encode())
    function = cached()
    _answers(function)
    assert function.cache_info().compiles == 1
    assert Stored.decode(path.read_bytes()).code != b"no program"


posix = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="permissions are POSIX's")


@posix
@pytest.mark.parametrize("what", ["directory", "parent", "file", "link"])
def test_nothing_is_loaded_that_others_can_write(cached, tmp_path, what):
    _answers(cached())
    (path,) = (tmp_path / "cache").iterdir()
    target = tmp_path / "cache"
    if what == "file":
        path.chmod(0o666)
    elif what == "link":
        path.rename(tmp_path / "elsewhere")
        path.symlink_to(tmp_path / "elsewhere")
    elif what == "directory":
        target = tmp_path / "open"
        (tmp_path / "cache").rename(target)
        target.chmod(0o777)
    else:
        (tmp_path / "above").mkdir()
        target = tmp_path / "above" / "cache"
        (tmp_path / "cache").rename(target)
        (tmp_path / "above").chmod(0o777)
    function = cached(target)
    if what in ("directory", "parent"):
        assert "others can write" in _warning_of(function)
    else:
        _answers(function)
    assert (function.cache_info().compiles, function.cache_info().loads) == (1, 0)


@posix
def test_what_is_made_is_the_user_s_alone(cached, tmp_path):
    _answers(cached())
    (path,) = (tmp_path / "cache").iterdir()
    assert path.stat().st_mode & 0o077 == 0 and path.parent.stat().st_mode & 0o077 == 0
    assert why_unsafe(path.parent) is None


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EROFS, errno.EACCES])
def test_a_full_or_read_only_disk_is_told_once(cached, monkeypatch, code):
    opened = os.open

    def fail(path, flags, *rest, **named):
        if flags & os.O_CREAT and ".program" in str(path):
            raise OSError(code, os.strerror(code), str(path))
        return opened(path, flags, *rest, **named)

    monkeypatch.setattr(os, "open", fail)
    assert "programs cannot be stored" in _warning_of(cached())
    with warnings.catch_warnings():
        warnings.filterwarnings("error", category=aj.AutojitWarning)
        _answers(cached())


def test_a_directory_that_cannot_be_made(cached, tmp_path):
    (tmp_path / "file").write_text("")
    assert "cannot be used" in _warning_of(cached(tmp_path / "file" / "cache"))


def test_a_look_into_a_directory_that_is_not_there_makes_none(tmp_path):
    cache = DiskCache(tmp_path / "new", "1")
    assert cache.load("a") is None and not cache.has("a") and not (tmp_path / "new").exists()
    cache.store("a", Stored((), b"a"))
    assert cache.has("a") and cache.load("a") is not None


def test_only_its_own_files_are_removed(tmp_path):
    cache = DiskCache(tmp_path, "1", max_bytes=4000)
    others = [tmp_path / name for name in ("model.program", "a.program.txt", "b.programs", "0" * 63 + ".program")]
    for other in others:
        other.write_bytes(b"x" * 4000)
    cache.store("a", Stored((), b"a" * 3000))
    (tmp_path / f"{'0' * 64}.program.12-345").write_text("of a process that was killed")
    assert len(cache.files()) == 2
    cache.store("b", Stored((), b"b" * 3000))
    assert cache.load("b") is not None and cache.clear() == 2
    assert all(other.exists() for other in others)


def test_what_other_processes_store_counts(tmp_path):
    mine, others = (DiskCache(tmp_path, "1", max_bytes=64_000) for _ in range(2))
    mine.store("first", Stored((), b"x" * 900))
    for number in range(60):
        others.store(f"theirs {number}", Stored((), b"x" * 900))
    for number in range(12):
        mine.store(f"mine {number}", Stored((), b"x" * 900))
    assert sum(size for _, size, _ in mine.files()) <= 64_000 * (1 + 1 / 16) + 1000


def test_the_oldest_files_go_first(tmp_path):
    cache = DiskCache(tmp_path / "cache", "v", max_bytes=5000)
    size = len(Stored((), b"x" * 900).encode())
    for number in range(12):
        cache.store(str(number), Stored((), b"x" * 900))
        os.utime(cache.path(str(number)), (number + 1, number + 1))
        assert sum(n for _, n, _ in cache.files()) <= 5000 + size
        if number == 3:
            assert cache.load("0") is not None  # used now, so younger than all others
    assert cache.load("0") is not None and cache.load("1") is None and cache.load("11") is not None
    cache.clear()
    assert cache.files() == [] and cache.load("11") is None


def test_versions_are_apart(tmp_path):
    one, other = (DiskCache(tmp_path, name) for name in ("1", "2"))
    one.store("key", Stored((), b"code"))
    assert one.load("key") == Stored((), b"code") and other.load("key") is None
    assert version() == version() and len(version()) == 64
    assert Path(default_directory()).name == "autojit"


def test_users_without_a_home(monkeypatch, capsys):
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)
    for name in ("XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    opened.cache_clear()
    function = aj.autocluster(lambda x: x * 2 + np.sin(x), policy="eager", disk_cache=True)
    np.testing.assert_array_equal(function(np.zeros(3)), np.zeros(3))
    assert function.cache_info().hits == 1
    assert main(["cache", "path"]) == 1 and "no home" in capsys.readouterr().err
    opened.cache_clear()


def test_keys_of_this_process_alone_are_not_stored(tmp_path):
    x = Value("x", Spec((3,), np.dtype(np.float64), "array"))
    y = Value("y", x.spec)
    mine = Op(name="mine", family="elementwise", numpy=(), call=lambda a: a, operands=1, infer=None, lower=lambda a: a)  # type: ignore[arg-type] -- a row of no table
    assert not cluster_key(Graph("g", (x,), (Node(mine, (x,), (), (y,)),), (y,))).is_portable


def test_processes_share_a_directory(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(_PROGRAM)
    command = [sys.executable, str(script), str(tmp_path / "cache")]
    flags = f"--cache_dir={tmp_path / 'cache'}"
    environment = {**os.environ, "AUTOJIT_FLAGS": flags, "PYTHONPATH": str(Path(aj.__file__).parents[1])}
    running = [subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    outputs = [process.communicate()[0] for process in running]
    assert all(process.returncode == 0 for process in running) and all(json.loads(out)[2] > 0 for out in outputs)
    assert {path.suffix for path in (tmp_path / "cache").iterdir()} == {".program"}


def test_compiler_ir_of_a_loaded_program_is_lowered_on_demand(cached):
    _answers(cached())
    function = cached()
    _answers(function)
    ir = function.get_compiler_ir(X)
    assert "sine" in ir(stage="optimized_hlo") and "stablehlo.sine" in ir(stage="stablehlo")
    assert Path(__file__).name in ir(stage="stablehlo")
    assert (function.cache_info().compiles, function.cache_info().loads) == (0, 1)
    assert "ret" in ir(stage="asm") and "define" in ir(stage="llvm_ir") and "floating point" in ir(stage="cost")


def test_command_line(tmp_path, capsys, monkeypatch):
    cache = tmp_path / "cache"
    with override(cache_dir=str(cache), disk_cache=True):
        assert main(["cache", "path"]) == 0 and capsys.readouterr().out.strip() == str(cache)
        opened(str(cache)).store("key", Stored((), b"code"))
        (cache / "notes.txt").write_text("the user's own")
        assert main(["cache", "info"]) == 0
        assert "1 programs" in (text := capsys.readouterr().out) and "disk cache: on" in text
        assert main(["cache", "clear"]) == 0 and "1 programs removed" in capsys.readouterr().out
    assert [path.name for path in cache.iterdir()] == ["notes.txt"]
    assert main(["flags"]) == 0 and "--disk_cache" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        main(["cache", "burn"])
