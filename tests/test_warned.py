"""Warnings while a function is captured: nobody hears them, those of other threads are theirs, and so are filters."""

import importlib
import os
import threading
import time
import warnings

import numpy as np
import pytest

import autojit as aj
from autojit.ir import warned
from autojit.ir.warned import asked
from autojit.runtime.environment import is_default


def warn(text, kind=DeprecationWarning):
    warnings.warn(text, kind, stacklevel=1)
    return text


def test_warnings_are_told_and_not_shown():
    with warnings.catch_warnings(record=True) as shown:
        warnings.simplefilter("always")
        assert asked(lambda: (warn("once"), asked(lambda: warn("inside")), warn("again"))) == (
            ("once", ("inside", ["inside"]), "again"),
            ["once", "again"],
        )
        assert asked(lambda: [warn("a", RuntimeWarning), warn("b", UserWarning)])[1] == ["a", "b"]
        assert asked(lambda: [warn("a", RuntimeWarning), warn("b", UserWarning)], runtime=False)[1] == ["b"]
        assert asked(lambda: np.asarray(1j).astype(float))[1]  # NumPy's, from C
    assert not shown


TEXT = """
import numpy as np

def f(x, n):
    y = np.sin(x) * 2
    print(end="")
    if n is 7:
        y = y + len("\\d")
    return np.cos(y)
"""


def test_what_python_has_said_of_a_text_is_not_said_again(tmp_path, monkeypatch):
    (tmp_path / "autojit_test_warned.py").write_text(TEXT)
    monkeypatch.syspath_prepend(tmp_path)
    with warnings.catch_warnings(record=True) as shown:
        warnings.simplefilter("default")
        module = importlib.import_module("autojit_test_warned")
        before = len(shown)
        fast = aj.autocluster(policy="eager")(module.f)
        for _ in range(3):
            fast(np.ones(5), 5)
        fast.explain(np.ones(5), 5)
    assert fast.cache_info().hits and before and len(shown) == before


@pytest.mark.parametrize("action", ["error", "ignore", "always", "default", "module", "once"])
def test_whatever_the_filters_are(action):
    with warnings.catch_warnings():
        warnings.simplefilter(action)
        before = list(warnings.filters)
        for _ in range(2):  # a warning that has been shown is told, too
            assert asked(lambda: warn("x"))[1] == ["x"]
        assert warnings.filters == before


def test_a_call_that_raises_leaves_the_filters():
    before = list(warnings.filters)
    with pytest.raises(ZeroDivisionError):
        asked(lambda: 1 / 0)
    assert warnings.filters == before
    assert asked(lambda: warn("x"))[1] == ["x"]


def test_warnings_of_other_threads_are_theirs():
    told = []

    def other():
        with pytest.raises(UserWarning, match="a user's"):
            warn("a user's", UserWarning)
        told.append(True)

    def call():
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert asked(call) == (None, [])
    assert told


def test_filters_stay_the_users_beside_threads_that_ask():
    end, wrong = time.perf_counter() + 2, []

    def ask():
        while time.perf_counter() < end:
            try:
                heard = asked(lambda: (warn("x"), np.ones(200).sum(), warn("y")))[1]
            except Warning:  # the other thread's filter, set meanwhile
                continue
            if heard[:2] != ["x", "y"] and len(heard) != 1:
                wrong.append(heard)

    before, show = list(warnings.filters), warnings.showwarning
    threads = [threading.Thread(target=ask) for _ in range(3)]
    for thread in threads:
        thread.start()
    missed = 0
    while time.perf_counter() < end:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            try:
                warn("mine", UserWarning)
                missed += 1
            except UserWarning:
                pass
            time.sleep(0)
    for thread in threads:
        thread.join()
    asked(int)  # takes away what the copies of `catch_warnings` have kept
    assert not wrong and not missed
    assert warnings.filters == before and warnings.showwarning is show


def test_filters_that_change_meanwhile_ask_again():
    calls = []

    def call():
        calls.append(1)
        if len(calls) < 3:
            warnings.simplefilter("ignore")  # the change that is tested
        warn("x")

    with warnings.catch_warnings():
        assert asked(call)[1] == ["x"]
    assert len(calls) == 3


def test_filters_that_never_rest_are_told():
    def call():
        warnings.simplefilter("ignore")  # likewise
        warnings.simplefilter("error", UserWarning)

    with warnings.catch_warnings():
        assert asked(call)[1][-1:] == ["another thread changes the filters of warnings again and again"]


def test_plans_run_beside_a_thread_that_asks():
    fast = aj.autocluster(policy="eager")(lambda x: np.sin(x) * 2)
    x = np.linspace(0, 1, 5)
    for _ in range(3):
        fast(x)
    hits, inside, done = fast.cache_info().hits, threading.Event(), threading.Event()
    thread = threading.Thread(target=lambda: asked(lambda: (inside.set(), done.wait(10))))
    thread.start()
    inside.wait(10)
    assert is_default()
    fast(x)
    done.set()
    thread.join()
    assert fast.cache_info().hits == hits + 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")  # forking beside threads is the point
def test_a_fork_while_a_thread_asks():
    inside, done = threading.Event(), threading.Event()
    thread = threading.Thread(target=lambda: asked(lambda: (inside.set(), done.wait(10))))
    thread.start()
    inside.wait(10)
    child = os.fork()
    if not child:
        os._exit(0 if asked(lambda: warn("x"))[1] == ["x"] else 1)
    done.set()
    thread.join()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_what_interrupts_an_ask_leaves_no_filters(monkeypatch):
    """A signal's handler may raise anywhere, as when the filters have just been set."""
    enter = warned._enter

    def interrupted(*args, **kwargs):
        enter(*args, **kwargs)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(warned, "_enter", interrupted)
        with pytest.raises(KeyboardInterrupt):
            warned.unheard(lambda: 1)
    assert not warned._asking and not [one for one in warnings.filters if one in warned._FILTERS]
    warned._asking[object()] = threading.get_ident()  # of one that was interrupted as it left
    assert asked(lambda: warn("a"))[1] == ["a"]
    assert not warned._asking and not [one for one in warnings.filters if one in warned._FILTERS]
