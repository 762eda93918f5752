"""Rewrites that hold for real numbers and not for floats: `x + 0`, `0 - x`, `x * 0`, `x / x` are not simplified."""

from __future__ import annotations

import itertools
import linecache
from typing import Any

import numpy as np
import pytest

import autojit as aj

EXPRESSIONS = (
    "x + 0|0 + x|x - 0|0 - x|x + -0.0|x - -0.0|-0.0 - x|x * 1|x * 0|x * -1|-(-x)|x / 1|x / x|0 / x|x - x|x + 1 - 1|"
    "x * 2 / 2|x**1|(x + 0) + 0|x * 1 + 0|x * y + 0|(x - y) * 1 + 0|y - x|np.sqrt(x) + 0|np.floor(x) + 0|x // 1|x % 1"
).split("|")
VALUES = (-0.0, 0.0, np.inf, -np.inf, np.nan, 1.5, -0.3)

#: One element alone, an element of an array, an element written back, a number in a loop.
FORMS = {
    "arrays": "    r{n} = {text}",
    "elements": "    x, y = a[0], b[0]\n    r{n} = {text}",
    "written": "    x, y = a[:1], b[:1]\n    r{n} = np.ones(2, a.dtype)\n    r{n}[:1] = {text}",
    "loop": "    r{n} = np.ones(3, a.dtype)\n    i = 2\n    while i:\n"
    "        x, y = a[0], b[0]\n        r{n}[i] = {text}\n        i -= 1",
}


def _function(form: str) -> Any:
    body = [FORMS[form].format(n=n, text=text) for n, text in enumerate(EXPRESSIONS)]
    results = ", ".join(f"r{n}" for n in range(len(EXPRESSIONS)))
    source = "\n".join(["def function(a, b):", "    x, y = a, b", *body, f"    return [{results}]", ""])
    file = f"<identities {form}>"
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    namespace = {"np": np}
    exec(compile(source, file, "exec"), namespace)
    return namespace["function"]


def _bits(value: Any) -> bytes:
    array = np.array(value)
    array[np.isnan(array)] = np.nan  # which of the NaNs it is has no meaning
    return array.tobytes()


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # special numbers are among the samples
def test_no_identity_of_the_reals(form: str, dtype: Any) -> None:
    function = _function(form)
    fast = aj.autocluster(policy="eager")(function)
    for size, x, y in itertools.product((1, 5), VALUES, (-0.0, 2.0)):
        a, b = np.full(size, x, dtype), np.full(size, y, dtype)
        wanted, got = function(a, b), fast(a, b)
        wrong = [
            f"{text} for x = {x}, y = {y}, {size} elements: {mine}, NumPy gives {theirs}"
            for text, theirs, mine in zip(EXPRESSIONS, wanted, got, strict=True)
            if _bits(theirs) != _bits(mine)
        ]
        assert not wrong, "\n".join(wrong)
    assert fast.cache_info().hits > 20


ONE_TERM = (
    "a @ b|np.dot(a, b)|np.inner(a, b)|np.vdot(a, b)|np.tensordot(a, b, 1)|a[None] @ b[:, None]|a[None] @ b|"
    "np.einsum('i,i->', a, b)|np.einsum('i,i->i', a, b)|np.einsum('i->i', a)|np.einsum('i,i->i', a, b, optimize=True)|"
    "np.einsum('ij,jk', a[None], b[:, None])|np.einsum('i,j->ij', a, b)|np.einsum('...i,i->...', a[None], b)|a.sum()|"
    "a.sum(axis=0, keepdims=True)|a[None].sum(axis=0)|a.mean()|np.add.reduce(a)|np.trace(a[None])|np.cumsum(a)|"
    "np.prod(a)|np.convolve(a, b)|np.correlate(a, b)|np.nansum(a)|a[:0].sum()|a[:0] @ b[:0]|np.average(a)|a.var()"
).split("|")


def test_the_sum_of_one_term() -> None:
    source = f"def function(a, b):\n    return [{', '.join(ONE_TERM)}]\n"
    file = "<one term>"
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    namespace = {"np": np}
    exec(compile(source, file, "exec"), namespace)
    function: Any = namespace["function"]
    fast = aj.jit_compile(function)
    for size, x, y, kind in itertools.product((1, 2, 5), (-0.0, 0.0), (1.0, -1.0, -0.0), (np.float64, np.complex128)):
        a, b = np.full(size, x, kind), np.full(size, y, kind)
        if kind is np.complex128:
            a, b = a + 0j, b + 0j
        for text, theirs, mine in zip(ONE_TERM, function(a, b), fast(a, b), strict=True):
            same = np.signbit(np.real(theirs)) == np.signbit(np.real(mine))
            assert np.all(same), f"{text} for a = {a}, b = {b}: {mine}, NumPy gives {theirs}"
