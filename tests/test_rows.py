"""Lists that loops fill: `xs = []`, then `xs.append(value)`; they become the rows of an array, or the loop is Python's."""

import copy

import numpy as np
import pytest

import autojit as aj


def kalman(zs, q, r):
    x, P = 0.0, 1.0
    xs = []
    for z in zs:
        P = P + q
        K = P / (P + r)
        x = x + K * (z - x)
        P = (1 - K) * P
        xs.append(x)
    return np.asarray(xs)


def descends(x, y, n):
    w = np.zeros(x.shape[1])
    losses, ws = [], []
    for epoch in range(n):
        err = x @ w - y
        losses.append((err**2).mean())
        w -= 0.05 * 2 * x.T @ err / len(y)
        ws.append(w.copy())
    return w, losses, np.array(ws), losses[-1]


def of_frames(u, n):
    frames = []
    e = []
    for k in range(2, n, 3):
        u[1:-1] += 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2])
        frames.append(u * k)
        e.append(float(np.abs(u).max()))
    return frames, e, len(frames), max(e), min(e)


def of_an_array_that_is_written(u, n):
    frames = []
    for k in range(n):
        u += 1
        frames.append(u)
    return frames


def of_arrays_written_later(u, n):
    frames = []
    for k in range(n):
        v = u[1:] * k
        frames.append(v)
        v += 1
    return frames


def asks_whether_it_is_empty(u, n):
    es = []
    for k in range(n):
        u = u * 0.9
        es.append(u.sum())
        if es and u.max() < 0.5:
            break
    return es


def breaks(u, n):
    es = []
    for k in range(n):
        u = u * 0.9
        es.append(u.sum())
        if u.max() < 0.5:
            break
    return es


def in_some_iterations(u, n):
    es = []
    for k in range(n):
        u = u * 0.9
        if u.sum() > 3:
            es.append(u.sum())
    return es


def of_four_kinds(u, n):
    a, b, c, d = [], [], [], []
    for k in range(n):
        a.append(k)
        b.append(k % 7 == 3)
        c.append(u.sum() > k)
        d.append(u[k] * 1j)
    return a, b, c, d


def two_in_an_iteration(u, n):
    a = []
    for k in range(n):
        a.append(k)
        a.append(u[k])
    return a


def of_two_names_at_first(u, n):
    a = b = []
    for k in range(n):
        a.append(u[k])
    return a, b


def of_lists(u, n):
    out = []
    for i in range(n):
        row = []
        for j in range(n):
            row.append(u[i] * u[j])
        out.append(row)
    return np.array(out)


def of_arrays_of_lists(u, n):
    out = []
    for i in range(n):
        row = []
        for j in range(n):
            row.append(u[i] * u[j])
        out.append(np.array(row))
    return np.array(out)


def of_two_types(u, n):
    out = []
    s = 0
    for i in range(n):
        out.append(s)
        s = s + u[i]
    return out


def appends_afterwards(u, n):
    xs = []
    for i in range(n):
        xs.append(u[i] * 2)
    total = 0.0
    for x in xs:
        total += x
    xs.append(3.0)
    return xs, total


def read_in_every_way(u, n):
    xs = []
    for i in range(n):
        xs.append(u[i] * 2)
    return np.mean(xs), np.std(xs), sum(xs), xs[3], xs[-1], bool(xs), np.array(xs, dtype=np.float32), np.array(xs) + 1


def of_no_iterations(u, n):
    xs = []
    for i in range(n - n):
        xs.append(u[i] * 2)
    return xs, np.array(xs)


def returns_it(u, n):
    es = []
    for k in range(n):
        u = u * 0.9
        es.append(u.sum())
        if u.max() < 0.5:
            return u, es
    return u, es


def appends_behind_a_return(u, n):
    es = []
    for k in range(n):
        u = u * 0.9
        if u.max() < 0.5:
            return es, k
        es.append(float(u.sum()))
    raise ValueError(len(es))


def continues(u, n):
    es = []
    for k in range(n):
        if u[k] > 1.5:
            continue
        es.append(k)
    return es, len(es)


def of_functions(u, n):
    def norm(v, hist):
        out = []
        for k in range(n):
            v = v * 0.5
            out.append(v.sum())
        return out

    return norm(u, 1), norm(u + 1, 2)


def in_both_arms(u, n):
    es = []
    for k in range(n):
        if u[k] > 1.5:
            es.append(u[k])
        else:
            es.append(-u[k])
    return es


def none_if_complete(u, n):
    es = []
    for k in range(n):
        es.append(u[k])
        if k > 5 and u[k] > 1.9:
            break
    else:
        es = None
    return es


def read_by_a_loop(u, n):
    es = []
    for k in range(n):
        es.append(u[k])
    for k in range(n):
        u[k] = es[n - 1 - k] * 2
    return es, u


def of_what_is_written(u, n):
    es = []
    for k in range(n):
        es.append(u[: k + 1].sum())
        u[k] += es[0] if False else 1
    return es, u


def of_two_names(u, n):
    es = []
    fs = es
    for k in range(n):
        fs.append(u[k])
    return es, fs


def in_a_dict(u, n):
    d = {"e": []}
    for k in range(n):
        d["e"].append(u[k])
    return d


def of_a_name_that_is_used(u, n):
    es = []
    for k in range(n):
        v = np.empty(3)
        v[:] = u[k]
        es.append(v)
        w = v
    w += 1
    return es, w


def of_new_arrays(u, n):
    es = []
    for k in range(n):
        es.append(np.array([u[k], k, 1.0]))
    return es, np.array(es).sum(0)


def in_fortran_order(u, n):
    es = []
    for k in range(n):
        es.append(np.full((2, 2), u[k], order="F"))
    return es


def of_what_raises(u, n):
    es = []
    for k in range(n):
        es.append(1 // int(u[k] - k))
    return es


def beyond_the_end(u, n):
    es = []
    for k in range(n):
        es.append(u[k * 2])
    return es


def over_an_array(u, n):
    es = []
    for x in u:
        es.append(x**2)
    return es


def over_an_enumeration(u, n):
    es = []
    for i, x in enumerate(u[::2]):
        es.append(x * i)
    return np.array(es, dtype=np.float32), np.stack(es), es


def of_one_array(u, n):
    es = []
    for k in range(n):
        es.append(u)
    es[0][0] = 9
    return es


def of_bools(u, n):
    es = []
    for k in range(n):
        es.append(u[k] > 1.5)
    return es, all(es), any(es), sum(es)


def asks_its_length(u, n):
    es = []
    for k in range(n):
        es.append(u[k])
        if len(es) > 5:
            break
    return es


def in_a_while_loop(u, n):
    es = []
    k = 0
    while k < n:
        es.append(u[k])
        k += 1
    return es


def of_arrays_read_later(u, n):
    es = []
    for k in range(n):
        es.append(u * k)
    u[0] = 100
    return es, es[3]


def uses_its_length(u, n):
    es = []
    for k in range(n):
        es.append(len(es) * u[k])
    return es


def compared(u, n):
    es, s = [], 0
    for k in range(n):
        s += k
        es.append(s)
    return es, s, es == [1], es is None, [x + 1 for x in es]


def sorted_later(u, n):
    es = []
    for k in range(n):
        es.append(np.float32(u[k]))
    return es, np.array(es), max(es), sorted(es)


def begins_with_an_array(u, n):
    h = [u.copy()]
    for _ in range(n):
        u = u * 0.9
        h.append(u.copy())
    return h, np.vstack(h), np.stack(h), np.concatenate(h), np.array(h)


def begins_with_numbers(u, n):
    h = [0.0, 1.5]
    for k in range(n):
        h.append(float(u[k]))
    return h, sum(h)


def begins_and_counts(u, n):
    h = [0]
    for k in range(n):
        if u[k] > 1.2:
            h.append(k)
    return h, len(h)


def of_matrices(u, n):
    h = [np.outer(u[:3], u[:3])]
    for k in range(n):
        h.append(np.outer(u[:3], u[:3]) + k)
    return np.vstack(h), np.concatenate(h), h


def begins_with_the_callers(u, n):
    h = [u]
    for k in range(n):
        h.append(u * k)
    return h


def begins_with_another_type(u, n):
    h = [0]
    for k in range(n):
        h.append(u[k])
    return h


def begins_with_what_is_written(u, n):
    v = u * 2
    h = [v]
    for k in range(n):
        h.append(u * k)
    v += 1
    return h


FUNCTIONS = [
    begins_with_an_array, begins_with_numbers, begins_and_counts, of_matrices, begins_with_the_callers, begins_with_another_type, begins_with_what_is_written,
    of_frames, of_an_array_that_is_written, of_arrays_written_later, asks_whether_it_is_empty, breaks, in_some_iterations, of_four_kinds, two_in_an_iteration, of_two_names_at_first, of_lists, of_arrays_of_lists, of_two_types, appends_afterwards, read_in_every_way, of_no_iterations, returns_it, appends_behind_a_return, continues, of_functions, in_both_arms, none_if_complete, read_by_a_loop, of_what_is_written, of_two_names, in_a_dict, of_a_name_that_is_used, of_new_arrays, in_fortran_order, of_what_raises, beyond_the_end, over_an_array, over_an_enumeration, of_one_array, of_bools, asks_its_length, in_a_while_loop, of_arrays_read_later, uses_its_length, compared, sorted_later,
]  # fmt: skip
WHOLE = [
    begins_with_an_array, begins_with_numbers, begins_and_counts, of_matrices,
    of_frames, breaks, in_some_iterations, of_four_kinds, read_in_every_way, continues, read_by_a_loop, of_new_arrays, over_an_array, over_an_enumeration,
]  # fmt: skip


def flat(value):
    parts = [value]
    if isinstance(value, list | tuple | dict):
        for item in value.values() if isinstance(value, dict) else value:
            parts += flat(item)
    return parts


def assert_same(found, expected):
    assert type(found) is type(expected)
    if isinstance(expected, dict):
        assert list(found) == list(expected)
        found, expected = list(found.values()), list(expected.values())
    if isinstance(expected, list | tuple):
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            assert_same(one, other)
    elif isinstance(expected, np.ndarray | np.generic):
        assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
        np.testing.assert_allclose(found, expected, rtol=1e-12)
        if isinstance(expected, np.ndarray):
            assert found.strides == expected.strides and (found.base is None) == (expected.base is None)
    elif isinstance(expected, float):
        assert found == pytest.approx(expected, rel=1e-12)
    else:
        assert found == expected


def memory(values):
    """Which of the arrays and lists are one object, and which arrays share memory."""
    objects = [value for value in values if isinstance(value, np.ndarray | list)]
    arrays = [value for value in values if isinstance(value, np.ndarray)]
    return [[a is b for a in objects] for b in objects], [[np.shares_memory(a, b) for a in arrays] for b in arrays]


def outcome(function, arguments):
    try:
        return function(*arguments)
    except Exception as error:
        return type(error), str(error)


def agree(function, fast, arguments):
    mine, theirs = copy.deepcopy(arguments), copy.deepcopy(arguments)
    found, expected = outcome(fast, mine), outcome(function, theirs)
    assert_same(found, expected)
    assert_same(mine, theirs)
    assert memory([*flat(found), mine[0]]) == memory([*flat(expected), theirs[0]])


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # NumPy's own, of no items
@pytest.mark.parametrize("function", FUNCTIONS)
def test_the_same_as_python(function, rng):
    fast = aj.autocluster(function, policy="eager")
    for n in (50, 40, 0, 50, 1):
        agree(function, fast, (rng.random(60) + 1, n))


@pytest.mark.parametrize("function", WHOLE)
def test_one_program(function, rng):
    fast = aj.autocluster(function, policy="eager")
    for _ in range(2):
        agree(function, fast, (rng.random(60) + 1, 50))
    assert fast.explain(rng.random(60), 50).is_whole and fast.cache_info().hits == 2


def test_other_arguments(rng):
    fast = aj.autocluster(kalman, policy="eager")
    for length in (300, 7, 0, 300):
        agree(kalman, fast, (rng.standard_normal(length), 1e-3, 0.1))
    fast = aj.autocluster(descends, policy="eager")
    for n in (60, 5):
        agree(descends, fast, (rng.standard_normal((50, 3)), rng.standard_normal(50), n))
    assert fast.explain(rng.standard_normal((50, 3)), rng.standard_normal(50), 60).is_whole
