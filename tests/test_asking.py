"""Questions that are asked once, and what asking may take."""

import warnings

import numpy as np
import pytest

from autojit.ir.spec import Spec, is_canonical
from autojit.ops.asking import asked_of_small
from autojit.runtime import heat

FLOATS = Spec((5, 7), np.dtype(float))


def counted(call):
    def function(*args, **params):
        function.calls += 1
        return call(*args, **params)

    function.calls = 0
    return function


def test_an_answer_is_remembered_for_all_lengths():
    function = counted(lambda x, factor: x * factor)
    for shape, length in (((5, 7), 1), ((50, 1), 1), ((1, 1), 1), ((0, 7), 2), ((5,), 3)):
        spec, warned = asked_of_small(function, [Spec(shape, np.dtype(float))], {"factor": 2})
        assert spec.dtype == np.float64 and not warned and function.calls == length


def test_numbers_that_are_equal_are_other_questions():
    function = counted(lambda x, factor: np.asarray(x) * np.asarray(factor))
    found = [asked_of_small(function, [Spec((3,), np.dtype("i1"))], {"factor": one})[0] for one in (1, 1.0, True, 1)]
    assert [spec.dtype.kind for spec in found] == ["i", "f", "i", "i"] and function.calls == 3


def test_kinds_are_other_questions():
    function = counted(np.add)
    specs = [Spec((), np.dtype(float), kind) for kind in ("array", "scalar", "python")]
    kinds = [asked_of_small(function, [spec, Spec((), np.dtype("f4"), "scalar")], {})[0] for spec in specs * 2]
    assert function.calls == 3 and kinds[0].dtype == np.float64 and kinds[2].dtype == np.float32


def test_equal_dtypes_that_are_others_are_asked_about_each_time():
    other = np.dtype(float, metadata={"unit": "m"})
    assert is_canonical(np.dtype(float)) and other == np.dtype(float) and not is_canonical(other)
    function = counted(lambda x, dtype=None: x)
    for _ in range(2):
        asked_of_small(function, [Spec((3,), other)], {})
        asked_of_small(function, [FLOATS], {"dtype": other})
    assert function.calls == 4


def test_neither_warnings_nor_errors_are_remembered():
    def warns(x):
        warnings.warn("old", DeprecationWarning, stacklevel=2)
        return x

    def fails(x):
        raise ValueError("no")

    one, other = counted(warns), counted(fails)
    for _ in range(2):
        assert asked_of_small(one, [FLOATS], {})[1] == ("old",)
        with pytest.raises(ValueError, match="no"):
            asked_of_small(other, [FLOATS], {})
    assert one.calls == 2 and other.calls == 2


def test_what_cannot_be_hashed_is_asked_each_time():
    function = counted(lambda x, of: x)
    for _ in range(2):
        asked_of_small(function, [FLOATS], {"of": [1]})
    assert function.calls == 2


def test_naps_are_longer_where_all_regions_ask_too_much(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(heat, "perf_counter", lambda: now[0])
    asking = heat.Asking()
    assert asking.more(0.001, passed=1.0) == 1.0  # less than a part of the second before
    assert asking.more(2 * heat.SHARE, passed=1.0) == pytest.approx(2.0, rel=0.1)
    assert asking.more(100.0, passed=1.0) == heat.MOST_TIMES
    now[0] += 1e6
    assert asking.more(0.001, passed=1.0) == 1.0
