"""One function with six problems of different kinds: `explain` finds all, at their lines, and each hint helps."""

import numpy as np
import pytest
from scipy import ndimage

import autojit as aj

MODE = 0
PROBLEMS = {
    "host-op": "ndimage.gaussian_filter",
    "effect": "print(",
    "data-shape": "smooth[smooth > 0.5]",
    "argument-type": "np.append(names",
    "changing-shape": "def ",
    "changing-value": "np.zeros(MODE + 3)",
}


def report(x, names):
    smooth = ndimage.gaussian_filter(x, 1.0)
    print("smoothed")
    large = np.sort(smooth[smooth > 0.5])[0]
    names = np.append(names, 3.0)
    weights = np.zeros(MODE + 3) + large
    return np.exp(-weights).sum() + x.mean(), names


# What is left when each hint is followed; the key is the problem that is gone.


def without_host_op(x, names, smooth):
    print("smoothed")
    large = np.sort(smooth[smooth > 0.5])[0]
    names = np.append(names, 3.0)
    weights = np.zeros(MODE + 3) + large
    return np.exp(-weights).sum() + x.mean(), names


def without_effect(x, names):
    smooth = ndimage.gaussian_filter(x, 1.0)
    large = np.sort(smooth[smooth > 0.5])[0]
    names = np.append(names, 3.0)
    weights = np.zeros(MODE + 3) + large
    return np.exp(-weights).sum() + x.mean(), names


def without_data_shape(x, names):
    smooth = ndimage.gaussian_filter(x, 1.0)
    print("smoothed")
    large = np.sort(np.where(smooth > 0.5, smooth, np.inf), axis=None)[0]
    names = np.append(names, 3.0)
    weights = np.zeros(MODE + 3) + large
    return np.exp(-weights).sum() + x.mean(), names


NAMES = np.array([1.0, 2.0], dtype=object)


def explained(function, monkeypatch, shapes=((9, 9), (10, 9), (11, 9)), modes=(0, 1, 2), names=NAMES, before=()):
    """The explanation after some calls; what is in `before` is called before the function, with `x`."""
    fast = aj.autocluster(function, policy="eager")

    def arguments(shape):
        x = np.ones(shape)
        return x, names, *(call(x) for call in before)

    for shape in shapes:
        fast(*arguments(shape))
    for mode in modes:
        monkeypatch.setattr(f"{__name__}.MODE", mode)
        fast(*arguments(shapes[-1]))
    return fast.explain(*arguments(shapes[-1]))


def found(explanation):
    """By id, the lines of the reasons."""
    lines: dict[str, set[str]] = {}
    for reason in explanation.reasons:
        lines.setdefault(reason.id, set()).add(reason.source.text)
    return lines


def test_all_six_are_found_at_their_lines(monkeypatch):
    explanation = explained(report, monkeypatch)
    reasons = found(explanation)
    assert set(reasons) == set(PROBLEMS), str(explanation)
    for id, text in PROBLEMS.items():
        assert any(text in line for line in reasons[id]), (id, reasons[id])
        assert aj.REASONS[id].hint in " ".join(str(explanation).split())


FOLLOWED = {
    "host-op": lambda m: explained(without_host_op, m, before=[lambda x: ndimage.gaussian_filter(x, 1.0)]),
    "effect": lambda m: explained(without_effect, m),
    "data-shape": lambda m: explained(without_data_shape, m),
    "argument-type": lambda m: explained(report, m, names=np.asarray(NAMES, dtype=float)),
    "changing-shape": lambda m: explained(report, m, shapes=((9, 9),) * 3),
    "changing-value": lambda m: explained(report, m, modes=(0, 0, 0)),
}


@pytest.mark.parametrize("id", PROBLEMS)
def test_a_hint_that_is_followed_removes_its_reason(id, monkeypatch):
    assert set(found(FOLLOWED[id](monkeypatch))) == set(PROBLEMS) - {id}


def test_a_length_that_the_data_decides_is_named_where_it_comes_from():
    def f(x):
        large = np.sort(x[x > 0.5])
        y = np.exp(large) * 2
        return y.sum()

    fast = aj.autocluster(f, policy="eager")
    for n in range(4):
        fast(np.arange(5.0) - n)
    (reason,) = fast.explain(np.ones(5)).changes
    assert reason.id == "changing-shape" and reason.detail.startswith("`large` is an array")
    assert reason.source.text == "large = np.sort(x[x > 0.5])" and reason.source.line == f.__code__.co_firstlineno + 1
