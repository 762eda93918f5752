"""Names that a `with` block, a `match` or a loop binds: what follows is compiled, and where they have no value it raises."""

import contextlib
import linecache
import traceback

import numpy as np
import pytest

import autojit as aj

LOG = []


class Swallow:
    """Swallows exceptions, and raises on entry where it is told to."""

    def __init__(self, fails=False):
        self.fails = fails

    def __enter__(self):
        if self.fails:
            raise KeyError("entry")
        return self, 7.0

    def __exit__(self, kind, *_):
        LOG.append(kind and kind.__name__)
        return True


def in_a_file(x, n, first):
    with open("/dev/null"):
        c = x.sum()
    return x * 3 + c


def in_one_of_several(x, n, first):
    with open("/dev/null"), Swallow() as (a, b):
        LOG.append(n)
        c = x * 2 + b
        with contextlib.nullcontext(3.0) as d:
            LOG.append(n)
            e = x + d
    y = c + e * b
    return y, d


def swallowed(x, n, first):
    with Swallow():
        if n > 1:
            raise KeyError(n)
        c = x * 2
    y = x * 3 + 1
    return y + c


def swallowed_and_not_read(x, n, first):
    with contextlib.suppress(KeyError):
        if n > 1:
            raise KeyError(n)
        c = x * 2
    y = x * 3 + 1
    if first and n <= 1:
        y = y + c
    return y


def swallowed_again_and_again(x, n, first):
    for i in range(min(n, 8)):
        with Swallow():
            if i == 1 and first:
                raise KeyError(n)
            if i > 2:
                del c  # noqa: F821 -- of the iteration before
            if i % 2:
                continue
            c = x * i
        x = x * 0.5 + c
    return x


def on_entry(x, n, first):
    b = x * 5
    with Swallow(), Swallow(first) as (_, b):  # noqa: F811 -- it may keep its value
        LOG.append(n)
    return x * b + 1


def in_unpacking(x, n, first):
    with Swallow() as (a, *b, c):
        LOG.append(len(b))
    with Swallow() as (c, d, a):
        LOG.append(n)
    return x * 2 + c + d if first or n else x * 3


def unpacked(x, n, first):
    d = x * 4
    with Swallow() as (a, d, c):  # noqa: F811 -- it may keep its value
        LOG.append(n)
    return x * 2 + d


def walrus_of_an_item(x, n, first):
    with Swallow(), Swallow(first or (b := x * 2) is None), Swallow(first):
        LOG.append(n)
    return x * 3 + b


def deleted_in_it(x, n, first):
    c = x * 2
    with Swallow():
        LOG.append(n)
        if first:
            del c
        d = x * 3
    return x + d + c


def returned_in_it(x, n, first):
    with Swallow():
        c = x * 2
        if first:
            return c * 2
        raise KeyError(n)
    return x + c


def always_returned(x, n, first):
    with Swallow():
        LOG.append(1)
        c = x * 2
        return c * 2 if first else 1 / 0
    return x + c


def finally_around(x, n, first):
    try:
        with Swallow() if n else contextlib.nullcontext():
            if first:
                raise KeyError(n)
            c = x * 2
        y = x * 2 + c
    finally:
        LOG.append(n)
        z = x * 3 + 1
        LOG.append(float((z + c).sum()))
    return y + z


def handled(x, n, first):
    try:
        with open("/dev/null"):
            c = x * 2
            if first:
                raise KeyError(n)
            e = x * 3
    except KeyError:
        LOG.append("handled")
    d = x + c
    return d + e


def matched(x, n, first):
    match n:
        case 0:
            c = x * 2
        case int(k) if (m := k * 2) > 40:
            c = x * m
        case _:
            c = x * 3
    y = x * 3 + c
    return y if first else y + m


def matched_or_not(x, n, first):
    match (n, first):
        case (0, _):
            c = x * 2
        case (50, bool(d)) | (2, bool(d)):
            c = x * 3 + d
    y = x * 3
    return y + c


def without_a_binding(x, n, first):
    match n:
        case 0:
            c = x * 2
        case 2:
            LOG.append("none")
        case k:
            c = x * k
    y = x * 3 + 1
    if first:
        y = y + c
    return y


def matched_and_returned(x, n, first):
    match n:
        case 0:
            return x + 5
        case 2 | 50 as k if first:
            c = x * k
        case _:
            raise KeyError(n)
    return x * 3 + c


def matched_in_a_loop(x, n, first):
    for i in range(min(n, 9)):
        match i % 3:
            case 0:
                if first and i:
                    continue
                c = x * i
            case 1:
                break
            case _:
                del c
        x = x * 0.5 + c
    return x, i


def after_a_loop(x, n, first):
    for i in range(n):
        LOG.append(i)
        c = x * i
    d = x * 3 + c
    return d, i


def after_a_loop_that_breaks(x, n, first):
    for i in range(n):
        LOG.append(i)
        if i == 2 and first:
            break
        c = x * i
    else:
        e = x * 2
    return x * 3 + c + e


def found_in_a_loop(x, n, first):
    for i in range(n):
        if i == 3:
            LOG.append(i)
            c = x * i
            break
    else:
        raise KeyError(n)
    return x * 3 + c


def after_a_while(x, n, first):
    while (n := n - 20) > 0:
        LOG.append(n)
        c = x * n
        if first:
            continue
        break
    return x * n + c


def of_a_test(x, n, first):
    if (m := n + 1) > 2:
        LOG.append(m)
    return x * m + 1


def in_a_generator(x, n, first):
    def generate():
        with Swallow():
            if first:
                raise KeyError(n)
            c = x * n
            yield c
        d = x * 3 + c
        yield d
        yield d + c

    return list(generate())


def in_a_closure(x, n, first):
    with Swallow():
        if first:
            raise KeyError(n)
        c = x * n

    def inner():
        return c * 2

    y = x * 3 + c
    LOG.append(n)
    with Swallow():
        c = x * 2 + 1
        LOG.append(n)
    return y + inner()


def of_the_outer(x, n, first):
    c = x

    def inner():
        nonlocal c
        if n:
            del c
        with Swallow():
            if first:
                raise KeyError(n)
            c = x * n + 1
            LOG.append(n)
        return x * 3 + c

    return inner() + c


def in_arguments(x, n, first):
    with Swallow():
        if first:
            raise KeyError(n)
        c = x * n
    LOG.append(float((x * 2 + c).sum()))
    LOG.append((c, float(c.sum())))
    return x + 1


FUNCTIONS = [
    in_a_file, in_one_of_several, swallowed, swallowed_and_not_read, swallowed_again_and_again, on_entry, in_unpacking,
    unpacked, walrus_of_an_item, deleted_in_it, returned_in_it, always_returned, finally_around, handled, matched,
    matched_or_not, without_a_binding, matched_and_returned, matched_in_a_loop, after_a_loop, after_a_loop_that_breaks,
    found_in_a_loop, after_a_while, of_a_test, in_a_generator, in_a_closure, of_the_outer, in_arguments,
]  # fmt: skip


def outcome(function, *arguments):
    LOG.clear()
    try:
        result = function(*arguments)
    except Exception as error:
        lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == __file__]
        result = (type(error), str(error), lines[-1], type(error.__context__))
    return result, arguments[0], list(LOG)


@pytest.mark.parametrize("policy", ["eager", "measured"])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_the_same_as_python(function, policy):
    fast = aj.autocluster(function, policy=policy)
    for n in (50, 0, 2, 50, 0, 50):
        for first in (True, False, True):
            x = np.arange(1000.0)  # whose multiples are exact
            found, expected = outcome(fast, x.copy(), n, first), outcome(function, x.copy(), n, first)
            np.testing.assert_equal(found, expected)


@pytest.mark.parametrize("function, hits", [(in_a_file, 2), (matched, 2), (after_a_loop, 1), (in_one_of_several, 3)])
def test_what_follows_is_compiled(function, hits):
    def told(*arguments):
        return [reason.id for reason in fast.explain(*arguments).native_statements]

    fast = aj.autocluster(function, policy="eager")
    x = np.ones(1000)
    arguments = (x, 50, True)
    assert "unbound" not in told(*arguments)
    fast(*arguments)
    before = fast.cache_info()
    fast(*arguments)
    after = fast.cache_info()
    assert after.hits - before.hits >= hits and after.misses == before.misses
    assert "unbound" not in told(*arguments)


def test_the_cases_of_a_match_are_explained():
    report = aj.autocluster(matched, policy="eager").explain(np.ones(1000), 0, True)
    lines = {line - matched.__code__.co_firstlineno for cluster in report.clusters for line in cluster.lines}
    assert lines >= {3, 7}
    (follows,) = {reason.cause.line for reason in report.unknown}
    assert follows == matched.__code__.co_firstlineno + 1


def test_as_many_blocks_as_python_takes():
    lines = ["def f(x, n):", "    for i in range(n):"]
    lines += [f"{' ' * 4 * level}with Swallow():" for level in range(2, 21)]
    inner = " " * 4 * 21
    lines += [f"{inner}match n:", f"{inner}    case 3:", f"{inner}        c = x * 2", f"{inner}y = x * 3 + c"]
    names, text = {"Swallow": Swallow}, "\n".join([*lines, "    return y"])
    linecache.cache["<deep>"] = (len(text), None, text.splitlines(True), "<deep>")
    exec(compile(text, "<deep>", "exec"), names)
    fast = aj.autocluster(names["f"], policy="eager")
    for _ in range(3):
        np.testing.assert_array_equal(fast(np.ones(9), 3), np.full(9, 5.0))
        assert outcome(fast, np.ones(9), 2)[0][0] is UnboundLocalError
