"""Functions with lists that loops fill, by what the loop does: exits, conditions, loops of other kinds, how the list is read."""

import numpy as np


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


def two_in_an_iteration(u, n):
    a = []
    for k in range(n):
        a.append(k)
        a.append(u[k])
    return a


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


FUNCTIONS = [
    asks_whether_it_is_empty, breaks, in_some_iterations, two_in_an_iteration, appends_afterwards, read_in_every_way,
    returns_it, appends_behind_a_return, continues, in_both_arms, none_if_complete, read_by_a_loop, beyond_the_end,
    over_an_array, over_an_enumeration, asks_its_length, in_a_while_loop, uses_its_length, compared, sorted_later,
]  # fmt: skip
WHOLE = [
    breaks, in_some_iterations, read_in_every_way, continues, read_by_a_loop, over_an_array, over_an_enumeration,
]  # fmt: skip
