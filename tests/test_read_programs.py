"""Programs that change what they are given: the ways of ending, functions, objects, modules and files of their own."""

from __future__ import annotations

import copy
import functools
import importlib
import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autojit as aj
from tests.test_launch_ends import both

ROOT = Path(__file__).resolve().parent.parent

ENDS = """
import sys, atexit
code = None
leave = sys.exit
def own(status=0):
    global code
    code = status
    leave(status)
sys.exit = own
atexit.register(lambda: print("of itself" if code is None else code))
"""
SWALLOWED = "import sys\nsys.exit = lambda *given: None\n1 / 0\n"
NAMELESS = """
import sys
import warnings
names = {}
exec("Nameless = type('Nameless', (), {})", names)
Nameless = names["Nameless"]
class Talks(type):
    def __getattribute__(cls, name):
        print("asked for", name)
        return super().__getattribute__(name)
class Loud(metaclass=Talks): pass
def count(n):
    for i in range(n): n += i
    return n
print(count(3))
"""
STOPS = """
import numpy as np
def f(n):
    s = 0
    for i in range(n): s += i
    return s
breakpoint()
f(1); f(2); f(3)
"""


@pytest.mark.parametrize("text", [ENDS, ENDS + "1 / 0\n", SWALLOWED, "import sys\ndel sys.exit\n", NAMELESS])
def test_as_without_autojit(tmp_path: Path, text: str) -> None:
    both(tmp_path, text)


def _launched(folder: Path, *words: str, entered: str = "", launcher: tuple[str, ...] = ("-m", "autojit", "run")) -> Any:
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, *launcher, *words]
    return subprocess.run(command, cwd=folder, env=env, input=entered, capture_output=True, text=True, timeout=120)


def test_a_breakpoint_on_a_function_stops_at_each_call(tmp_path: Path) -> None:
    (tmp_path / "stops.py").write_text(STOPS)
    told = _launched(tmp_path, "stops.py", entered="b f\n" + "c\np ('n', n)\n" * 12).stdout
    assert all(f"('n', {n})" in told for n in (1, 2, 3)), told


def test_a_package_that_raises_when_it_is_imported(tmp_path: Path) -> None:
    package = tmp_path / "shop"
    package.mkdir()
    (package / "__init__.py").write_text("def f():\n    raise ValueError('closed')\nf()\n")
    (package / "sell.py").write_text("print('sold')\n")
    plain = _launched(tmp_path, "-m", "shop.sell", launcher=())
    found = _launched(tmp_path, "-m", "shop.sell")
    assert (found.returncode, found.stdout) == (plain.returncode, plain.stdout) == (1, "")
    assert "autojit" not in found.stderr and "in f\n    raise ValueError('closed')\n" in found.stderr, found.stderr
    assert found.stderr.count("__init__.py") == plain.stderr.count("__init__.py"), found.stderr


@pytest.mark.parametrize("inner", ["import shop.wrong\n", "import ast\nast.literal_eval('1+')\n"])
def test_where_a_syntax_error_was_imported(tmp_path: Path, inner: str) -> None:
    package = tmp_path / "shop"
    package.mkdir()
    (package / "__init__.py").write_text(inner)
    (package / "wrong.py").write_text("x = = 1\n")
    (package / "sell.py").write_text("print('sold')\n")
    found = _launched(tmp_path, "-m", "shop.sell")
    assert found.returncode == 1 and "SyntaxError" in found.stderr
    assert "__init__.py" in found.stderr and "autojit" not in found.stderr, found.stderr


def test_a_package_that_has_imported_its_main(tmp_path: Path) -> None:
    package = tmp_path / "shop"
    package.mkdir()
    (package / "__init__.py").write_text("import shop.__main__\n")
    (package / "__main__.py").write_text("print('run')\n")
    plain, found = _launched(tmp_path, "-m", "shop", launcher=()), _launched(tmp_path, "-m", "shop")
    assert "RuntimeWarning" in plain.stderr
    assert (found.stdout, found.stderr) == (plain.stdout, plain.stderr)


def test_a_script_that_is_not_there(tmp_path: Path) -> None:
    assert _launched(tmp_path, "missing.py").returncode == 2
    assert _launched(tmp_path, "-m", "missing").returncode == 1


def test_a_host_op_imports_what_lies_beside_the_script(tmp_path: Path) -> None:
    (tmp_path / "app").mkdir()
    (tmp_path / "settings_of_ours.py").write_text("K = 100\n")
    (tmp_path / "app" / "settings_of_ours.py").write_text("K = 2\n")
    (tmp_path / "app" / "main.py").write_text(
        "import numpy as np, autojit as aj\n"
        "@aj.host_op\n"
        "def scale(a):\n"
        "    import settings_of_ours\n"
        "    return a * settings_of_ours.K\n"
        "def f(x):\n"
        "    for _ in range(2): x = scale(x) + 1\n"
        "    return x\n"
        "print(f(np.ones(3)))\n"
    )
    found = _launched(tmp_path, "--policy=eager", "app/main.py")
    assert found.stdout == "[7. 7. 7.]\n", found.stderr


# ---- functions that are decorated


def test_a_decorated_function_is_decorated_as_it_is() -> None:
    def plain(x, k=2.0, *, c=0.0):
        return x * k + c

    once = aj.autocluster(plain)
    again = aj.autocluster(once)
    assert again.__wrapped__ is plain
    once.__defaults__, once.__kwdefaults__, once.tag = (4.0,), {"c": 1.0}, "a"
    for decorated in (aj.autocluster(exact=True)(once), aj.jit_compile(once)):
        np.testing.assert_array_equal(decorated(np.ones(3)), np.full(3, 5.0))
        assert decorated.tag == "a" and decorated.explain(np.ones(3)) is not None
        assert str(importlib.import_module("inspect").signature(decorated)) == "(x, k=4.0, *, c=1.0)"


def test_the_closure_of_a_function_that_is_decorated_twice() -> None:
    b, a, c = 1.0, 2.0, 3.0

    def plain(x, k=1.0):
        return x * a + b * k + c

    once = aj.autocluster(plain)
    once.__defaults__ = (10.0,)
    np.testing.assert_array_equal(aj.autocluster(policy="eager")(once)(np.ones(2)), np.full(2, 15.0))


def test_a_function_without_source_keeps_its_defaults_when_it_is_decorated_again() -> None:
    names: dict[str, Any] = {}
    exec("def f(x, k=2.0, *, c=1.0): return x * k + c", names)
    for again in (aj.autocluster, aj.jit_compile):
        made = again(aj.jit_compile(names["f"]))
        assert (made.__wrapped__.__defaults__, made.__wrapped__.__kwdefaults__) == ((2.0,), {"c": 1.0})
    assert aj.autocluster(aj.jit_compile(names["f"]))(np.ones(1)) == 3.0


@aj.autocluster
def decorated(x, k=2):
    return x * k


def test_copies_of_what_has_taken_a_decorated_functions_attributes() -> None:
    made = functools.update_wrapper(functools.partial(decorated, k=3), decorated)
    for other in (copy.copy(made), copy.deepcopy(made), pickle.loads(pickle.dumps(made))):
        np.testing.assert_array_equal(other(np.ones(2)), [3.0, 3.0])


class Model:
    def __init__(self) -> None:
        self.k = 2.0

    def __call__(self, x):
        return x * self.k

    def double(self):
        self.k *= 2
        return self


def test_an_object_that_is_called_stays_itself() -> None:
    with pytest.warns(aj.AutojitWarning):
        model = aj.autocluster(own := Model())
    model.k = 3.0
    assert own.k == 3.0 and model(np.ones(1)) == 3.0
    own.k = 5.0
    assert model.k == 5.0 and model.double() is own and model(np.ones(1)) == 10.0
    del model.k
    assert not hasattr(own, "k") and not hasattr(model, "k")
    with pytest.raises(AttributeError, match="nothing"):
        model.nothing  # noqa: B018 -- it raises
    assert copy.copy(model)._function is own and model.cache_info().hits == 0


def test_a_cached_function_keeps_what_it_can_be_asked() -> None:
    with pytest.warns(aj.AutojitWarning):

        @aj.autocluster
        @functools.lru_cache
        def basis(n):
            return np.eye(n)

    basis(3)
    basis(3)
    assert basis.cache_info().hits == 1
    basis.cache_clear()
    assert basis.cache_info().currsize == 0


def test_a_module_that_is_loaded_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    head = "import numpy as np\ndef check(y):\n    if y[0] > 1: raise ValueError('large')\n    return y\ndef f(x):\n"
    first = "    try:\n        y = np.sqrt(x)\n        z = check(y)\n    except ValueError: return None\n    return z\n"
    second = "    try:\n        y = np.sqrt(x)\n    except ValueError: return None\n    else: z = check(y)\n    return z\n"
    file = tmp_path / "loaded_again.py"
    file.write_text(head + first)
    module = importlib.import_module("loaded_again")
    assert aj.autocluster(policy="eager")(module.f)(np.full(2, 4.0)) is None
    file.write_text(head + second)
    os.utime(file, (1, 1))
    module = importlib.reload(module)
    fast = aj.autocluster(policy="eager")(module.f)
    with pytest.raises(ValueError, match="large"):
        fast(np.full(2, 4.0))
    np.testing.assert_array_equal(fast(np.ones(2)), np.ones(2))


def test_the_lines_of_a_module_that_is_loaded_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    file = tmp_path / "moved_lines.py"
    file.write_text("import numpy as np\ndef f(x):\n    y = x + 1\n    return y / x.nothing\n")
    module = importlib.import_module("moved_lines")
    with pytest.raises(AttributeError):
        aj.autocluster(policy="eager")(module.f)(np.ones(2))
    file.write_text("import numpy as np\ndef f(x):\n    y = x + 1\n    # more\n    # and more\n    return y / x.nothing\n")
    os.utime(file, (1, 1))
    module = importlib.reload(module)
    with pytest.raises(AttributeError) as caught:
        aj.autocluster(policy="eager")(module.f)(np.ones(2))
    assert caught.traceback[-1].lineno == 5
