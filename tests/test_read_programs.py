"""Programs that change what they are given: the ways of ending, functions, objects, modules and files of their own."""

from __future__ import annotations

import copy
import functools
import importlib
import locale
import math
import os
import pickle
import subprocess
import sys
import warnings
from pathlib import Path
from types import SimpleNamespace
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


# ---- objects that share what they hold


class Borg:
    shared: dict[str, Any] = {}

    def __init__(self) -> None:
        self.__dict__ = self.shared


def _share(a, b, v):
    a.x = v * 2
    return b.x + 1


def _in_turns(a, b, v):
    a.x = v + 1
    b.x = v + 2
    a.x = v + 3


def _of_a_dict(o, d, v):
    o.x = v * 2
    return d["x"] + 1


@pytest.mark.parametrize("is_first", [True, False])
def test_objects_whose_attributes_are_in_one_dict(is_first: bool) -> None:
    share, turns, item = map(aj.autocluster(policy="eager"), (_share, _in_turns, _of_a_dict))
    if not is_first:  # plans have been made for others
        one, other = SimpleNamespace(x=np.zeros(3)), SimpleNamespace(x=np.zeros(3))
        for _ in range(2):
            np.testing.assert_array_equal(share(one, other, np.ones(3)), [1, 1, 1])
            turns(one, other, np.ones(3))
            np.testing.assert_array_equal(other.x, [3, 3, 3])
            other.x = np.zeros(3)
            np.testing.assert_array_equal(item(one, {"x": np.zeros(3)}, np.ones(3)), [1, 1, 1])
    a, b = Borg(), Borg()
    a.x = np.zeros(3)
    np.testing.assert_array_equal(share(a, b, np.ones(3)), [3, 3, 3])
    turns(a, b, np.ones(3))
    np.testing.assert_array_equal(a.x, [4, 4, 4])
    own = SimpleNamespace(x=np.zeros(3))
    np.testing.assert_array_equal(item(own, vars(own), np.ones(3)), [3, 3, 3])


class Slotted:
    __slots__ = ("x",)


Slotted.value = Slotted.x  # type: ignore[attr-defined] -- under another name


def test_a_slot_under_two_names() -> None:
    @aj.autocluster(policy="eager")
    def f(p, v):
        p.x = v * 2
        return p.value + 1

    p = Slotted()
    p.x = np.zeros(3)
    np.testing.assert_array_equal(f(p, np.ones(3)), [3, 3, 3])


def _next_key(x):
    d = {"a": x}
    keys = iter(d)
    d["b"] = x * 2
    return d[next(keys)] + 1


def _generated(x):
    d = {"a": x}
    each = (d[k] * 2 for k in d)
    d["b"] = x + 1
    return sum(each)


def _zipped(x):
    d = {"a": x}
    pairs = zip(d, [1.0, 2.0], strict=False)
    d["b"] = x + 1
    return [d[k] * v for k, v in pairs]


@pytest.mark.parametrize("function", [_next_key, _generated, _zipped])
def test_a_dict_that_grows_under_its_iterator(function: Any) -> None:
    with pytest.raises(RuntimeError, match="changed size"):
        function(np.ones(2))
    with pytest.raises(RuntimeError, match="changed size"):
        aj.autocluster(policy="eager")(function)(np.ones(2))


# ---- loops whose number of iterations comes out of data

LONG = """
import signal, time
import numpy as np, autojit as aj

@aj.autocluster(policy="eager")
def as_int(x, v):
    for _ in range(int(x[0])):
        v = 0.5 * (v + 2.0 / v)
    return v

@aj.autocluster(policy="eager")
def as_array(x, v):
    k = x.astype(int)
    for _ in range(int(k[0])):
        v = 0.5 * (v + 2.0 / v)
    return v

@aj.autocluster(policy="eager")
def pairs(n, m, v):
    for i in range(n):
        for j in range(m):
            v = 0.5 * (v + (i - j) / v)
    return v

@aj.autocluster(policy="eager")
def counted(n, v):
    for _ in range(int(n[0])):
        v = 0.5 * (v + 2.0 / v)
    return v

@aj.autocluster(policy="eager")
def guarded(steps, v):
    n = int(steps[0])
    if n > 1000:
        raise ValueError("too many steps")
    for _ in range(n):
        v = 0.5 * (v + 2.0 / v)
    return v

@aj.autocluster(policy="eager")
def asserted(steps, v):
    n = int(steps[0])
    assert n <= 1000
    while n > 0:
        v = 0.5 * (v + 2.0 / v)
        n -= 1
    return v

@aj.autocluster(policy="eager")
def between(stop, start, x):
    for _ in range(int(stop[0]) - int(start[0])):
        x += 1
    return x

@aj.autocluster(policy="eager")
def inner(counts, v):
    for i in range(len(counts)):
        n = int(counts[i])
        if n > 1000:
            raise ValueError("too many steps")
        for _ in range(n):
            v = 0.5 * (v + 2.0 / v)
    return v

class Late(Exception): pass
def late(*_): raise Late
signal.signal(signal.SIGALRM, late)

def timed(function, *args):
    signal.setitimer(signal.ITIMER_REAL, 2.0, 1.0)
    try:
        return function(*args)
    except (OverflowError, ValueError, AssertionError, Late) as error:
        return type(error).__name__
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)

print(as_int(np.array([3.0]), 1.5) == as_array(np.array([3.0]), 1.5), counted(np.array([5]), 1.5) > 1, pairs(3, 3, 1.5) != 0)
print(timed(as_int, np.array([np.inf]), 1.5))
with np.errstate(all="ignore"):
    print(timed(as_array, np.array([np.inf]), 1.5))
for function in guarded, asserted:
    print(function(np.array([5]), 1.5) == timed(function, np.array([5]), 1.5), timed(function, np.array([10**12]), 1.5))
print(inner(np.full(60, 5), 1.5) > 1, timed(inner, np.array([5] * 59 + [10**12]), 1.5))
print(between(np.array([3]), np.array([1]), np.zeros(1)), timed(between, np.array([-2**63]), np.array([1]), np.zeros(1)))
start = time.monotonic()
print(timed(counted, np.array([10**12]), 1.5))
print(timed(pairs, 90_000, 90_000, 1.5), time.monotonic() - start < 20, flush=True)
import os
os._exit(0)  # what was interrupted runs on
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="alarms are POSIX's")
def test_loops_as_long_as_the_data_says(tmp_path: Path) -> None:
    (tmp_path / "long.py").write_text(LONG)
    # Beside NumPy (`--check`) the long loops would be Python's.
    env = {**os.environ, "AUTOJIT_FLAGS": "--disk_cache=0", "PYTHONPATH": str(ROOT)}
    found = subprocess.run(
        [sys.executable, "long.py"], cwd=tmp_path, env=env, capture_output=True, text=True, timeout=120, check=False
    )
    wanted = ["True True True", "OverflowError", "1.5", "True ValueError", "True AssertionError", "True ValueError"]
    assert found.stdout.splitlines() == [*wanted, "[2.] [0.]", "Late", "Late True"], found.stdout + found.stderr


def test_results_in_fortran_order_own_their_memory() -> None:
    fast = aj.autocluster(policy="eager")(lambda a: a * 2.0 + 1.0)
    a, c = np.asfortranarray(np.arange(160_000.0).reshape(400, 400)), np.ones((400, 400))
    result = fast(a)
    assert result.flags.owndata and result.base is None and result.flags.f_contiguous
    found, wanted = fast(a) + c, (a * 2.0 + 1.0) + c
    assert found.strides == wanted.strides
    three = np.arange(24.0).reshape(2, 3, 4).transpose(2, 0, 1)
    found, wanted = fast(three), three * 2.0 + 1.0
    assert found.strides == wanted.strides and found.flags.owndata
    np.testing.assert_array_equal(found, wanted)


# ---- numbers of Python's, names, choices, texts


def _power_of_exp(x, p):
    return math.exp(x[0]) ** p


def _pow(x, p):
    return math.pow(np.exp(x[0]).item(), p)


def _powers(x, p):
    out = np.zeros(len(x))
    for i in range(len(x)):
        out[i] = math.exp(x[i]) ** p
    return out


def _root_of_square(x, p):
    return math.sqrt(x[0].item() ** 2) + p


@pytest.mark.parametrize("function", [_power_of_exp, _pow, _powers, _root_of_square])
def test_functions_of_python_numbers_are_not_folded(function: Any) -> None:
    fast = aj.autocluster(policy="eager")(function)
    for x, p in ((np.full(40, -800.0), 0.01), (np.full(40, 1e-170), 0.0), (np.full(40, 0.5), 1000.0)):
        np.testing.assert_allclose(fast(x, p), function(x, p), rtol=1e-15)
    if function is not _root_of_square:
        for each in (function, fast):
            with pytest.raises((ZeroDivisionError, ValueError)):
                each(np.full(40, -800.0), -0.01)


y = 100.0  # a global of the same name as the one below


def _outer():
    y = 2.0

    def inner(x, drop=False):
        nonlocal y
        if drop:
            del y
        print(end="")
        return x * y

    return inner


def test_a_free_name_that_may_be_deleted() -> None:
    fast = aj.autocluster(policy="eager")(_outer())
    for _ in range(2):
        np.testing.assert_array_equal(fast(np.ones(3)), [2, 2, 2])
    with pytest.raises(NameError):
        fast(np.ones(3), True)


def _chosen_vector(a, b):
    x = a * 2
    y = b * 3
    x[::2] = (x if a[0] > 0 else y)[:5]
    return x


def _chosen_selection(a, b):
    x = a * 2
    y = b * 3
    x[a % 2 == 1] = (x if a[0] > 0 else y)[:5]
    return x


def _chosen_mask(a, b):
    m = a > 3
    n = b > 3
    m[(m if a[0] > 0 else n)[::-1]] = False
    return m


@pytest.mark.parametrize("function", [_chosen_vector, _chosen_selection, _chosen_mask])
def test_what_data_has_chosen_may_be_what_is_written(function: Any) -> None:
    fast = aj.autocluster(policy="eager")(function)
    for first in (1.0, -1.0):
        a = np.arange(1.0, 11)
        a[0] = first
        np.testing.assert_array_equal(fast(a.copy(), np.zeros(10)), function(a.copy(), np.zeros(10)))


@pytest.mark.parametrize("form", [lambda v: f"{v:n}", lambda v: format(v, "n"), "{:>12n}".format, "{0:{1}n}".format])
def test_texts_of_the_locale(form: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def f(x, v):
        return form(v, ">9") if getattr(form, "__self__", "").count("{") > 1 else form(v), x * 2

    fast = aj.autocluster(policy="eager")(f)
    before = locale.setlocale(locale.LC_NUMERIC)
    found = []
    try:
        for name in ("C", "de_DE.UTF-8", "en_US.UTF-8", "C"):
            try:
                locale.setlocale(locale.LC_NUMERIC, name)
            except locale.Error:
                continue
            found.append((fast(np.ones(2), 1234567.5)[0], f(np.ones(2), 1234567.5)[0]))
    finally:
        locale.setlocale(locale.LC_NUMERIC, before)
    assert all(ours == theirs for ours, theirs in found)
    told = fast.explain(np.ones(2), 1234567.5)
    assert "locale" in str(told) or not told.is_whole


# ---- guards that ask


class UnitError(Exception):
    pass


class Unit:
    """A key that refuses to be compared with a text."""

    def __hash__(self) -> int:
        return 7

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Unit):
            raise UnitError(other)
        return True


def test_guards_compare_no_keys_of_the_programs_own() -> None:
    fast = aj.autocluster(policy="eager")(lambda x, d: x * d["a"])
    for d in ({"a": 2.0}, {Unit(): 0.0, "a": 2.0}, {"a": 2.0, Unit(): 0.0}, {"a": 2.0}):
        np.testing.assert_array_equal(fast(np.ones(3), d), [2, 2, 2])


def test_guards_warn_of_no_array_that_is_written() -> None:
    def add(a, b):
        a += b

    fast = aj.autocluster(policy="eager")(add)
    fast(np.zeros((1, 3)), np.ones((1, 3)))
    found = []
    for function in (add, fast):
        a, _ = np.broadcast_arrays(np.zeros(3), np.zeros((1, 3)))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("default")
            function(a, np.ones((1, 3)))
        found.append(([(each.category, each.filename) for each in caught], a.tolist()))
    assert found[0] == found[1]
    read_only = np.zeros((1, 3))
    read_only.flags.writeable = False
    for function in (add, fast):
        with pytest.raises(ValueError, match="read-only"):
            function(read_only, np.ones((1, 3)))
