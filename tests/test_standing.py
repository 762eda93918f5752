"""What `explain` says of calls that NumPy answers though their code could be compiled."""

import time
import warnings

import numpy as np
import pytest

import autojit as aj
from autojit.api import explain_call_of

X = np.linspace(1.0, 2.0, 200)


def halves(x):
    return (x / 2).sum()


def shift(a, b):
    a[1:] = b[:-1] * 2
    return a.sum()


def ids(explanation):
    return [reason.id for reason in explanation.standing]


def eager(function, **options):
    return aj.autocluster(function, policy="eager", **options)


def test_nothing_is_said_of_what_is_compiled():
    fast = eager(halves)
    assert not fast.explain(X).reasons
    fast(X)
    explanation = fast.explain(X)
    assert not explanation.reasons and "left to NumPy" not in str(explanation)


@pytest.mark.parametrize("options", [{"policy": "native"}, {"auto_jit": 0}])
def test_switched_off_by_a_flag(options):
    explanation = aj.autocluster(halves, **options).explain(X)
    [reason] = explanation.reasons
    assert reason.id == "off" and str(next(iter(options.values()))) in reason.detail
    assert not explanation.waits and reason.detail in str(explanation) and reason.detail.split("'")[0] in explanation.to_html()


def test_switched_off_and_on():
    fast = eager(halves)
    try:
        aj.set_jit("off")
        assert ids(fast.explain(X)) == ["off"]
    finally:
        aj.set_jit(True)
    assert ids(fast.explain(X)) == []


def test_error_states():
    fast = eager(halves)
    with np.errstate(all="raise"):
        assert fast(X) == halves(X)
        [reason] = fast.explain(X).standing
        assert reason.id == "errstate" and "where `explain` was called" in reason.detail
    [reason] = fast.explain(X).standing
    assert reason.id == "errstate" and "1 call(s)" in reason.detail
    assert fast.cache_info().native == 1 and fast.cache_info().captures == 0
    fast(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        fast(X)
        assert ids(fast.explain(X)) == ["errstate"]
    fast.clear_cache()
    assert ids(fast.explain(X)) == []


def test_error_states_inside_a_call_count_for_its_plan():
    fast = eager(halves)
    fast(X)
    with np.errstate(all="raise"):
        fast(X)
    assert fast.cache_info().native == 1


def test_arrays_that_overlap():
    fast = eager(shift)
    z = X.copy()
    explanation = fast.explain(z, z)
    [reason] = explanation.standing
    assert reason.id == "overlap" and reason.detail == "`a`, which is written, shares memory with `b`"
    assert reason.source is not None and reason.source.text == "a[1:] = b[:-1] * 2"
    assert ids(fast.explain(z[:-1], z[1:])) == ["overlap"]
    assert ids(fast.explain(z, X)) == []
    spec = aj.ArraySpec((200,), np.float64)
    assert ids(fast.explain(spec, spec)) == []
    assert ids(fast.explain(z, object())) == []


def test_arrays_that_overlap_in_an_object():
    class Solver:
        def __init__(self, u, v):
            self.u, self.v = u, v

        @eager
        def step(self):
            self.u[1:] = self.v[:-1] * 2

    z = X.copy()
    solver = Solver(z, z)
    [reason] = Solver.step.explain(solver).standing
    assert reason.detail == "`self.u`, which is written, shares memory with `self.v`"
    assert ids(Solver.step.explain(Solver(z, X))) == []


def test_more_kinds_of_calls_than_plans():
    fast = eager(lambda n, x: (np.arange(n) * x).sum(), max_plans=3)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", r"autojit \[too-many-plans\]", aj.AutojitWarning)  # which says the same
        for n in range(1, 14):
            fast(n, 1.0)
    [reason] = fast.explain(13, 1.0).standing
    assert reason.id == "too-many-plans" and "3 plans" in reason.detail and "10 call(s)" in reason.detail


def test_data_that_numpy_is_left_to_deal_with():
    def pick(a, i):
        return a[i[0]] * 2

    fast = eager(pick)
    for number in (1, 2, 900, 3):
        try:
            fast(X, np.array([number]))
        except IndexError:
            assert number == 900
    [reason] = fast.explain(X, np.array([1])).standing
    assert reason.id == "trapped" and "in 1 call(s)" in reason.detail


def test_calls_that_are_too_short():
    fast = aj.autocluster(halves)
    short = X[:3].copy()
    assert fast.explain(short).waits
    # Where another program has made the first calls long, nobody asks about the next ones for some 50 ms.
    until = time.monotonic() + 20
    while not (explanation := fast.explain(short)).standing and time.monotonic() < until:
        for _ in range(500):
            fast(short)
    assert ids(explanation) == ["too-small"] and not explanation.waits


def test_functions_that_nothing_decorates():
    explanation = explain_call_of(halves, X)
    assert not explanation.is_decorated and not explanation.reasons
    assert "not decorated" in str(explanation) and "not decorated" in explanation.to_html()
    assert "known to pay" not in str(explanation)
    assert explain_call_of(eager(halves), X).is_decorated


def test_plain_data():
    data = aj.autocluster(halves, policy="native").explain(X).to_dict()
    assert [reason["id"] for reason in data["standing"]] == ["off"]
