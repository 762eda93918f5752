"""Functions with lists that loops fill, by what is in them: numbers, arrays, lists, and what they begin with."""

import numpy as np


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


def of_four_kinds(u, n):
    a, b, c, d = [], [], [], []
    for k in range(n):
        a.append(k)
        b.append(k % 7 == 3)
        c.append(u.sum() > k)
        d.append(u[k] * 1j)
    return a, b, c, d


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


def of_no_iterations(u, n):
    xs = []
    for i in range(n - n):
        xs.append(u[i] * 2)
    return xs, np.array(xs)


def of_functions(u, n):
    def norm(v, hist):
        out = []
        for k in range(n):
            v = v * 0.5
            out.append(v.sum())
        return out

    return norm(u, 1), norm(u + 1, 2)


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


def of_arrays_read_later(u, n):
    es = []
    for k in range(n):
        es.append(u * k)
    u[0] = 100
    return es, es[3]


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
    of_frames, of_an_array_that_is_written, of_arrays_written_later, of_four_kinds, of_two_names_at_first, of_lists,
    of_arrays_of_lists, of_two_types, of_no_iterations, of_functions, of_what_is_written, of_two_names, in_a_dict,
    of_a_name_that_is_used, of_new_arrays, in_fortran_order, of_what_raises, of_one_array, of_bools,
    of_arrays_read_later, begins_with_an_array, begins_with_numbers, begins_and_counts, of_matrices,
    begins_with_the_callers, begins_with_another_type, begins_with_what_is_written,
]  # fmt: skip
WHOLE = [
    of_frames, of_four_kinds, of_new_arrays, begins_with_an_array, begins_with_numbers, begins_and_counts, of_matrices,
]  # fmt: skip
