"""Reasons speak of what the user wrote: statements, public names, masked arrays; each object has one line to blame."""

import dataclasses

import numpy as np
import pytest
from scipy import ndimage, signal

import autojit as aj
from autojit.ops.trust import public_name_of

EAGER = aj.autocluster(policy="eager")
X = np.linspace(0, 1, 50)


@dataclasses.dataclass
class Sample:
    x: object
    tags: list = dataclasses.field(default_factory=list)


def array_of_objects(x, names):
    return np.array(names, dtype=object), np.exp(x)


def as_objects(x, names):
    return np.asarray(x, dtype=object), np.exp(x)


def masked(x, names):
    m = np.ma.masked_less(x, 0.5)
    return np.exp(x), m


def masked_method(x, names):
    m = np.ma.add(x, 1)
    return np.exp(x), m


def record(x, names):
    sample = Sample(np.exp(x))
    return sample.x * 2


def chosen(x, names):
    match len(names):
        case 2:
            x = x * 2
    return np.exp(x)


def deleted(x, names):
    y = np.exp(x)
    del x
    return y


def in_a_block(x, names):
    with open("/dev/null"):
        return np.exp(x)


@pytest.mark.parametrize(
    "function, id, detail",
    [
        (array_of_objects, "argument-type", "an array of dtype `object`"),
        (as_objects, "argument-type", "an array of dtype `object`"),
        (masked, "no-row", "`np.ma.masked_less`: masked arrays are not compiled"),
        (masked_method, "no-row", "`np.ma.add`: masked arrays are not compiled"),
        (record, "unsupported-syntax", "a `Sample` whose `tags` is not given: a `default_factory` makes it"),
        (chosen, "unsupported-syntax", "a `match` statement"),
        (deleted, "statement", "a `del` statement"),
        (in_a_block, "statement", "a `with` statement: `open` acts when it is entered and left"),
    ],
)
def test_the_words(function, id, detail):
    fast = EAGER(function)
    for _ in range(2):
        reason = fast.explain(X, ["a", "b"]).native_statements[0]
        assert (reason.id, reason.detail) == (id, detail)
        got, expected = fast(X, ["a", "b"]), function(X, ["a", "b"])
        assert type(got) is type(expected)
        for one, other in zip(got, expected, strict=True):
            assert type(one) is type(other) and getattr(one, "dtype", None) == getattr(other, "dtype", None)
            np.testing.assert_array_equal(np.ma.getmaskarray(one), np.ma.getmaskarray(other))
            if getattr(one, "dtype", None) == np.float64:
                np.testing.assert_allclose(one, other, rtol=1e-12)
            else:
                np.testing.assert_array_equal(one, other)


def test_functions_are_called_by_their_public_names():
    @EAGER
    def f(x):
        return signal.welch(x)[1].sum(), ndimage.gaussian_laplace(x, 2.0), signal.lfilter([1.0], [1.0, 0.5], x)

    found = {reason.detail.split("`")[1] for reason in f.explain(np.linspace(0, 1, 500)).host_nodes}
    assert found == {"scipy.signal.welch", "scipy.ndimage.gaussian_laplace", "scipy.signal.lfilter"}


def test_the_shortest_name_of_a_function():
    assert public_name_of(signal.welch) == "scipy.signal.welch"
    assert public_name_of(np.busday_count) == "numpy.busday_count"
    assert public_name_of(np.linalg.norm) == "numpy.linalg.norm"
    assert public_name_of(np.ma.masked_less) == "numpy.ma.masked_less"
    assert public_name_of(lambda: 0) is None and public_name_of(3) is None


def test_one_line_is_to_blame_for_an_object():
    def f(x, o):
        y = np.exp(x) * 2
        p = o + 1  # noqa: F841 -- a name that nobody reads is what is told
        z = y + x
        q = o
        return z, q

    def g(x, o):
        y = np.exp(x)
        return y, o

    def h(x, o):
        y = np.exp(x) + 1
        o = o * 2
        print(end="")
        o = np.array(["a", 1], dtype=object)
        return y + 1, 1

    o = np.array([1, 2], dtype=object)
    for function, own, later in ((f, {2}, {4: 2, 5: 2}), (g, {2}, {}), (h, {2, 3, 4}, {})):
        fast, first = EAGER(function), function.__code__.co_firstlineno
        for _ in range(2):
            explanation = fast.explain(X, o)
            reasons = [*explanation.native_statements, *explanation.unknown]
            assert {reason.source.line - first for reason in reasons if reason.cause is None} == own
            follow = {reason.source.line - first: reason for reason in reasons if reason.cause is not None}
            assert {line: reason.cause.line - first for line, reason in follow.items()} == later
            assert {line: reason.to_dict()["cause_line"] - first for line, reason in follow.items()} == later
            text, html = str(explanation), explanation.to_html()
            for reason in explanation.native_statements:
                told = f"as line {reason.cause.line}" if reason.cause is not None else reason.kind.hint[:30]
                assert told in text and told in html
            got, expected = fast(X, o), function(X, o)
            for one, other in zip(got, expected, strict=True):
                if isinstance(one, np.ndarray) and one.dtype == np.float64:
                    np.testing.assert_allclose(one, other, rtol=1e-12)
                else:
                    np.testing.assert_array_equal(one, other)
