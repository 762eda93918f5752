"""Attacks on what holds an array, a list or an iterator where no name shows it: functions, methods, iterators, loops."""

from __future__ import annotations

import gc
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autojit as aj
from tests.evaluated import evaluated
from tests.helpers import check
from tests.programs_strategy import load

POSITIVE, NEGATIVE = np.array([1.5, -2.0, 3.0, 0.5]), np.array([-1.5, -2.0, 3.0, 0.5])
#: How `h` holds the array `y`, and how it is read there.
HOLDERS = {
    "name": ("h = y", "h"),
    "view": ("h = y[1:]", "h"),
    "list": ("h = [y]", "h[0]"),
    "default": ("h = lambda v=y: v", "h()"),
    "def": ("def h(k, v=y): return v * k", "h(2)"),
    "method": ("h = y.sum", "h()"),
    "flat": ("h = y.flat", "h[0]"),
    "returned frame": ("h = (lambda w: lambda: w)(y)", "h()"),
    "in a list": ("h = [(lambda w: lambda: w.sum())(y)]", "h[0]()"),
    "iterator": ("h = (iter(y),)", "next(h[0])"),
    "zip": ("h = [zip(y, a)]", "next(h[0])[0]"),
    "generator": ("h = [(v + 1 for v in y)]", "next(h[0])"),
    "map": ("h = {0: map(lambda v: v + 1, y)}", "next(h[0])"),
    "vectorize": ("h = np.vectorize(lambda v, w=y: v + w[0], otypes=[float])", "h(a)"),
}
#: What is done with `y` meanwhile.
CHANGES = {
    "branch": ["if a[0] > 0: y = y + 1", "y[0] = 100.0"],
    "else": ["if a[0] > 0: y = y + 1", "else: y = y * 2", "y += 1"],
    "choice": ["y = y + 1 if a[0] > 0 else y", "y[1:] *= 3"],
    "other choice": ["y = y if a[0] > 0 else y * 2", "y -= 1"],
    "written first": ["for i in range(10):", "    y[0] = i * 1.0", "    y = y + 1"],
    "written last": ["for i in range(10):", "    y = y * 0.5", "    y += i"],
    "behind the loop": ["k = 0", "while k < a[0]:", "    y = y * 0.5", "    k += 1", "y += 4"],
    "trade": ["z = a + 1", "for i in range(7):", "    y, z = z, y", "    y += 1"],
    "callee": ["def change(w):", "    if a[0] > 0: w = w + 1", "    w += 1", "    return w", "y = change(y)"],
}


def program(*lines: str) -> Callable[..., Any]:
    """A function `program(a)` of these lines."""
    body = "\n".join(f"    {line}" for line in lines)
    return load(f"import numpy as np\n\ndef program(a):\n{body}\n")


def judge(function: Callable[..., Any], *arrays: np.ndarray) -> None:
    """Compare with NumPy, for arrays on which the data decides in both ways."""
    decorator = aj.autocluster(policy="eager")
    for array in arrays or (POSITIVE, NEGATIVE, POSITIVE[:1], NEGATIVE[:1]):
        check(function, array, decorator=decorator)


@pytest.mark.parametrize("change", CHANGES)
def test_arrays_that_something_holds(change: str) -> None:
    with evaluated():
        for hold, read in HOLDERS.values():
            judge(program("y = a * 2", hold, *CHANGES[change], f"return y, {read}"))


@pytest.mark.parametrize("over", ["y", "y[:]", "y[1:]", "enumerate(y)", "zip(y, a)", "reversed(y)", "iter(y)", "y.flat",
                                  "map(abs, y)", "(w for w in y)", "[y, a]", "list(y)"])  # fmt: skip
def test_arrays_that_a_loop_goes_over(over: str) -> None:
    changes = (
        ["if a[0] > 0: y = y + 1", "y += 1"],
        ["y = y + 1 if a[0] > 0 else y", "y[-1] = 8"],
        ["y = y + 1", "y[-1] = 8"],
        ["y[-1] = 8", "y = y * 2"],
    )
    with evaluated():
        for change, long in itertools.product(changes, (POSITIVE, np.arange(-1.5, 10.5))):
            lines = [f"    {line}" for line in ("t = t + np.sum(v)", *change)]
            judge(program("y, t = a * 2, 0.0", f"for v in {over}:", *lines, "return t, y"), long, -long)


def test_parts_of_expressions_that_are_not_complete() -> None:
    """What an expression has found already is held until it is complete."""

    def parts(a):
        def change(t):
            t[0] = t[0] + 1 if a[0] > 0 else t[0]
            t[0] += 1
            return t[0]

        one, two, three, four, five = ([a * 2] for _ in range(5))
        total = [0.0]
        total[0] = one[0] + change(one)
        return total, [two[0], change(two)], (three[0], change(three))[0], {0: four[0], 1: change(four)}, five

    def compared(a):
        t = [a * 2]

        def change():
            t[0] = t[0] + 1 if a[0] > 0 else t[0]
            t[0] += 1
            return t[0]

        return (t[0] < change()).sum(), np.add(t[0], change()), t

    for function in (parts, compared):
        judge(function)


WALRUS = (
    ["i = 1", "t = a[0] > 0 and (i := 5) > 3", "return a + 1, i"],
    ["i = 1", "if a[0] > 0 or (i := 5) > 3: a = a + 1", "return a, i"],
    ["t = (i := 5) if a[0] > 0 else (i := 7)", "return a + t, i"],
    ["i = 0", "while a.sum() < 20 and (i := i + 1) < 30: a = a + i", "return a, i"],
    ["i = 1", "t = 0 < a[0] < (i := 5)", "return a + 1, i"],
    ["t = a[0] > 0 and (i := 5) > 3", "return a + i"],
    ["i = 1", "assert a[0] > -100 or (i := 2)", "return a, i"],
    ["i = 1", "for k in range(9):", "    t = a[k % a.size] > 0 and (i := i + k)", "return a, i"],
    ["y = a * 2", "z = np.add(y, (y := y + 1) if a[0] > 0 else y)", "y += 1", "return y, z"],
)


@pytest.mark.parametrize("lines", WALRUS, ids=str)
def test_names_that_an_expression_may_bind(lines: list[str]) -> None:
    judge(program(*lines))


STREAMS = (
    ["it = iter([(1.0, 2.0), (3.0, 4.0), (5.0, 6.0)])", "for x in next(it): a = a + x", "return a, next(it)[0]"],
    ["it = iter([1.0, 2.0, 3.0, 4.0])", "for x, y in [(next(it), 1.0)]: a = a + x", "return a, next(it)"],
    ["it = iter([a, a * 2, a * 3])", "for x in next(it): a = a + x", "return a, next(it)"],
    ["it = iter([1.0, 2.0, 3.0])", "t = next(it) if a[0] > 0 else 0.5", "return a + t, next(it)"],
    ["it = iter([1.0, 2.0, 3.0])", "t = a[0] > 0 and next(it) > 0", "return a + 1, t, next(it)"],
    ["it = iter([1.0, 2.0, 3.0])", "t = 0 < a[0] < next(it)", "return a + 1, t, next(it)"],
    ["it = iter([1.0, 2.0, 3.0])", "assert a[0] > -100 or next(it)", "return a + 1, next(it)"],
    ["its, t = (iter([1.0, 2.0, 3.0]),), 0.0", "if a[0] > 0: t = next(its[0])", "return a + t, next(its[0])"],
    ["its = (iter([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]),)", "for i in range(6): a = a * 2 + next(its[0])", "return a"],
    ["it = iter([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0])", "def g(x):", "    for i in range(6): x = x * 2 + next(it)",
     "    return x", "return g(a)"],
    ["it, r = iter(range(20)), a", "for i in range(8):", "    r = r + 1", "    if r[0] > 2: break",
     "    r = r + next(it)", "return r, next(it)"],
    ["it, r = iter(range(20)), a", "for i in range(8):", "    r = r + 1", "    if r[0] > 2: continue",
     "    r = r + next(it)", "return r, next(it)"],
    ["it = iter(range(20))", "def g(x):", "    if x[0] > 0: return x", "    return x + next(it)",
     "return g(a), next(it)"],
    ["it = zip(a, a * 2)", "for x, y in it:", "    if x > 0: break", "return x, list(it)"],
    ["for x, y in zip([a, a + 1, a + 2], (1, 2, 3)):", "    if x[0] > 2: break", "    a = a + y", "return a, x"],
)  # fmt: skip


@pytest.mark.parametrize("lines", STREAMS, ids=str)
def test_iterators_that_may_be_asked(lines: list[str]) -> None:
    judge(program(*lines))


def test_the_iterator_of_a_loop_may_be_asked_until_data_ends_it() -> None:
    def first(a):
        b = a * 2
        for x, y in zip([a, a + 1, a + 2], (1, 2, 3)):
            if x[0] > 2:
                break
            b = b + y
        return b

    check(first, POSITIVE, whole=True)


CONTAINERS = (
    ["def h(v, acc=[]):", "    acc.append(1)", "    return v + len(acc)", "for i in range(8): a = h(a)", "return a"],
    ["def h(v, acc={0: 1.0}):", "    acc[0] = acc[0] + 1", "    return v * acc[0]", "for i in range(8): a = h(a)",
     "return a"],
    ["g = [(lambda q: (lambda: q.append(1) or len(q)))([])]", "for i in range(8): a = a + g[0]()", "return a"],
    ["ps = ([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0].pop, 1)", "for k in range(6): a = a * 0.5 + ps[0]()", "return a"],
    ["def h(acc=[1.0]):", "    acc.append(1.0)", "    return len(acc)", "for k in (h(), 1.0): a = a + k",
     "return a, h()"],
    ["def h(acc=[1.0]):", "    acc.append(1.0)", "    return len(acc)", "return a + 1, [h() + k for k in range(150)]"],
    ["todo = [1.0]", "for t in todo:", "    a = np.sort(a) + np.median(a) * t", "    if len(todo) < 4: todo.append(t + 1)",
     "return a, todo"],
    ["seen = {1: a}", "for k in seen:", "    seen[k] = np.sort(a)[::-1] + np.percentile(a, 30)", "return seen"],
)  # fmt: skip


@pytest.mark.parametrize("lines", CONTAINERS, ids=str)
def test_lists_and_dicts_that_something_holds(lines: list[str]) -> None:
    judge(program(*lines))


LOCALS = (
    ["k = lambda v: v * 2", "def h(v):", "    r = k(v)", "    def k(v): return v + 1", "    return r", "return h(a)"],
    ["q = a * 2", "def h(v):", "    try: v = v + q", "    except ValueError as q: pass", "    return v", "return h(a)"],
    ["q = a * 2", "def h(v):", "    if False: del q", "    return q + v", "return h(a)"],
    ["q = a * 2", "def h(v):", "    q: int", "    return q + v", "return h(a)"],
    ["q = a * 2", "def h(v):", "    if False: import math as q", "    return q + v", "return h(a)"],
    [
        "q = a * 2",
        "def h(v):",
        "    def k():",
        "        q = 1",
        "        return q",
        "    return q + v * k()",
        "return h(a)",
    ],
    ["q = a * 2", "h = lambda v: [q for q in v][0] + q", "return h(a)"],
    ["rest = a * 2", "match {'x': 1, 'y': 2}:", "    case {'x': 1, **rest}: pass", "return a + rest['y']"],
)


@pytest.mark.parametrize("lines", LOCALS, ids=str)
def test_names_that_are_local_in_a_nested_function(lines: list[str]) -> None:
    judge(program(*lines))


def test_a_capture_that_fails_leaves_no_reference_to_arrays() -> None:
    """`resize` asks how many references an array has, and no collector comes to take those of a cycle away."""

    def grows(n):
        a = np.arange(40)
        for i in range(n):
            a.resize(i % 20 + 1)
            a[0] += i
            a = a * 2 + 1
        return a

    gc.collect()
    gc.disable()
    try:
        fast = aj.autocluster(policy="measured")(grows)
        for n in (5, 5, 6):
            np.testing.assert_array_equal(fast(n), grows(n))
        gc.set_debug(gc.DEBUG_SAVEALL)
        gc.collect()
        assert not [one for one in gc.garbage if isinstance(one, Exception)]
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()
