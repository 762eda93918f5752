"""Functions that the program decorates and drops: they are freed, with their plans and all that they hold."""

from __future__ import annotations

import gc
import linecache
import threading
import types
import weakref

import numpy as np
import pytest

import autojit as aj
from autojit.capture import source
from autojit.runtime.controllers import CONTROLLERS
from autojit.runtime.kept import GONE

DECORATORS = {
    "eager": aj.autocluster(policy="eager"),
    "measured": aj.autocluster,
    "strict": aj.jit_compile,
}


class Held:
    """Something of the program's that a weak reference can see."""

    factor = 2.0


def helper(x):
    for _ in range(3):
        x = x + 1
    return x


def plain(x):
    return np.sin(x) * 2 + x.sum()


def with_a_loop(x):
    for i in range(5):
        x = x * 2 + i
    return x


def recursive(x, n=3):
    if n == 0:
        return x
    return recursive(x * 2, n - 1) + np.sin(x)


def calling(x):
    try:
        return helper(x * 2)
    finally:
        print(end="")


def yielding(x):
    for i in range(3):
        yield x * i + 1


def run(function, x):
    result = function(x)
    return list(result) if isinstance(result, types.GeneratorType) else result


@pytest.mark.parametrize("program", [plain, with_a_loop, recursive, calling, yielding])
@pytest.mark.parametrize("decorator", ["eager", "measured"])
def test_nothing_is_left(decorator, program):
    x = np.linspace(0, 1, 50)
    expected = run(program, x)
    for _ in range(2):  # the first one may be known to who keeps functions' text
        made = DECORATORS[decorator](program)
        controller = weakref.ref(made.__autojit_controller__)
        for _ in range(5):
            np.testing.assert_allclose(run(made, x), expected, rtol=1e-12)
        before = len(list(CONTROLLERS))
        del made
        gc.collect()
        assert controller() is None
        assert len(list(CONTROLLERS)) < before


def of_its_own_cell(decorator, held):
    @decorator
    def halved(x, n=2):
        return x * held.factor if n == 0 else halved(x / 2, n - 1)

    return halved


def of_two_cells(decorator, held):
    @decorator
    def even(x, n=2):
        return x * held.factor if n == 0 else odd(x + 1, n - 1)

    @decorator
    def odd(x, n=1):
        return x * held.factor if n == 0 else even(x + 2, n - 1)

    return even


def of_an_attribute(decorator, held):
    class Stepper:
        k = held

        def __init__(self):
            self.step = decorator(lambda x: np.sin(x) * self.k.factor)

    return Stepper().step


def of_a_class(decorator, held):
    class Base:
        k = held

        def run(self, x):
            return np.cos(x)

    class Heir(Base):
        @decorator
        def run(self, x):
            return super().run(x) * Heir.k.factor + self.k.factor

    return Heir().run


def of_a_default(decorator, held):
    box = [held]

    @decorator
    def scaled(x, box=box):
        return np.sin(x) * box[0].factor

    box.append(scaled)
    return scaled


def of_a_module(decorator, held):
    names = {"np": np, "held": held, "decorator": decorator}
    text = "@decorator\ndef f(x):\n    return np.sin(x) * held.factor + x\n"
    linecache.cache["<a module>"] = (len(text), None, text.splitlines(True), "<a module>")
    exec(compile(text, "<a module>", "exec", dont_inherit=True), names)
    return names["f"]


def of_a_loop(decorator, held):
    @decorator
    def repeated(x, n=50):
        for i in range(n):
            x = x * 0.5 + i * held.factor
        return x if n < 60 else repeated(x, n - 1)

    return repeated


RINGS = [of_its_own_cell, of_two_cells, of_an_attribute, of_a_class, of_a_default, of_a_module, of_a_loop]


def is_freed(decorator, make):
    """Whether what a function holds, and maybe leads to it, is freed when that is called and dropped."""
    held = Held()
    freed = weakref.ref(held)
    function = make(decorator, held)
    del held
    for _ in range(3):
        function(np.ones(5))
    assert freed() is not None
    del function
    gc.collect()
    return freed() is None


@pytest.mark.parametrize("ring", RINGS)
@pytest.mark.parametrize("decorator", ["eager", "measured"])
def test_functions_that_lead_to_themselves(decorator, ring):
    """The collector does not look into code, which holds the probes: these hold nothing that leads to the function."""
    assert is_freed(DECORATORS[decorator], ring)


@pytest.mark.parametrize("decorator", DECORATORS)
def test_what_closures_hold_is_freed(decorator):
    def make(decorator, held):
        return decorator(lambda x: np.sin(x) * held.factor + x.sum())

    assert is_freed(DECORATORS[decorator], make)


def test_no_plan_is_kept_by_what_still_holds_the_code():
    """As jax's tracebacks do, which no collector looks into."""
    function = DECORATORS["eager"](plain)
    code, x = function.__code__, np.linspace(0, 1, 7)
    function(x)
    probes = [each for each in code.co_consts if type(each).__name__ == "Probe"]
    assert probes and all(each.plans for each in probes)
    del function
    gc.collect()
    assert not any(each.plans for each in probes)
    copy = types.FunctionType(code, globals())  # runs in NumPy
    assert np.array_equal(copy(x), plain(x))
    assert not any(each.on for each in probes)


@pytest.mark.parametrize("decorator", ["eager", "measured"])
def test_calls_that_outlive_the_function(decorator):
    x = np.linspace(0, 1, 9)
    generator = DECORATORS[decorator](yielding)(x)
    first = next(generator)
    gc.collect()
    assert np.array_equal([first, *generator], list(yielding(x)))

    going, goes_on = threading.Event(), threading.Event()

    def waiting(x):
        y = x * 2 + 1
        going.set()
        goes_on.wait(10)
        for i in range(4):
            y = y + np.sin(x) * i
        return y

    results, made = [], [DECORATORS[decorator](waiting)]
    thread = threading.Thread(target=lambda: results.append(made.pop()(x)))
    thread.start()
    assert going.wait(10)
    gc.collect()
    goes_on.set()
    thread.join(30)
    np.testing.assert_allclose(results[0], waiting(x), rtol=1e-15)


def test_methods_that_outlive_the_function():
    function, x = DECORATORS["eager"](plain), np.ones(4)
    function(x)
    clear, info, explain = function.clear_cache, function.cache_info, function.explain
    del function
    gc.collect()
    clear()
    assert info().plans == 0
    assert "plain" in str(explain(x))
    aj.clear_cache()


def test_a_reference_that_the_program_has():
    """Whatever wraps a function keeps it, and its plans."""
    function = DECORATORS["eager"](plain)
    x = np.ones(6)
    bound = types.MethodType(function, x)
    bound()
    del function
    gc.collect()
    bound()
    assert bound.__func__.cache_info().hits == 2


def test_a_copy_under_a_profile(tmp_path):
    function, x = DECORATORS["eager"](plain), np.ones(5)
    function(x)
    copy = types.FunctionType(function.__code__, globals())
    del function
    gc.collect()
    for native in (True, False):
        with aj.profile(tmp_path / str(native), native=native):
            assert np.array_equal(copy(x), plain(x))


def test_a_copy_that_runs_while_the_function_is_dropped():
    """Whatever is asked of what is gone answers with nothing: a loop is perhaps being taken over just then."""
    with GONE.capturing() as may_capture:
        assert not may_capture
    assert GONE.miss(1, 2) is GONE.maker.look_again(1) is GONE.trouble.of_compiling(ValueError()) is None
    assert not GONE.enabled and not GONE.may_answer() and not list(GONE.tree.regions)

    def counts(x, n):
        for i in range(n):
            x = x * 0.999 + i * 1e-6
        return x

    function = DECORATORS["measured"](counts)
    copy, probes = types.FunctionType(function.__code__, globals()), function.__autojit_controller__.probes
    probes, takeovers = list(probes.values()), [each for probe in probes.values() for each in probe.takeovers]
    assert takeovers
    del function
    gc.collect()
    x = np.linspace(0, 1, 9)
    for takeover in takeovers:
        takeover.due = True  # as the thread that watches would say
    assert np.array_equal(copy(x, 100), counts(x, 100))
    for probe in probes:
        assert probe.enter(x, 100) is None
        probe.looked_after(1.0)
        probe.ask()
        assert not probe.on


def test_functions_of_ever_new_text(monkeypatch):
    """Their syntax is not kept for ever."""
    monkeypatch.setattr(source, "_MOST", 4)
    for number in range(9):
        file, text = f"<text {number}>", f"def f(x):\n    return np.sin(x) * {number}\n"
        monkeypatch.setitem(linecache.cache, file, (len(text), None, text.splitlines(True), file))
        names = {"np": np}
        exec(compile(text, file, "exec", dont_inherit=True), names)
        function = DECORATORS["eager"](names["f"])
        assert np.array_equal(function(np.zeros(3)), np.zeros(3)) and function.cache_info().plans == 1
        assert len(source._syntaxes) <= 4 and len(source._modules) <= 4
