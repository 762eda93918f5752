"""Statements that read the memory which they write, as NumPy does them: element by element, item by item, or at once."""

import numpy as np
import pytest

from tests.attacks import sequence
from tests.helpers import check

# ---- numbers of places, changed after they were found


def moved_places(a):
    i = np.where(a > 3)[0]
    i -= 1
    a[i] = 0
    return a


def overwritten_places(a):
    (i,) = np.nonzero(a > 3)
    i[:] = 0
    return a[i].sum()


def places_through_a_view(a):
    (i,) = np.nonzero(a > 3)
    v = i.ravel()
    v -= 1
    return a[i].sum(), a[v].sum()


def places_through_a_part(a):
    (i,) = np.nonzero(a > 3)
    v = i.real
    v -= 1
    return a[i].sum()


def filled_places(a):
    (i,) = np.nonzero(a > 3)
    i.fill(2)
    return a[i].sum()


def copied_places(a):
    (i,) = np.nonzero(a > 3)
    j = i.copy()
    j -= 2
    a[j] = 0
    a[i] += 5
    return a


def named_twice(a):
    (i,) = np.nonzero(a > 3)
    j = i
    j -= 1
    return a[i].sum()


def moved_places_of_two_axes(A):
    i, j = np.nonzero(A.reshape(2, 5) > 3)
    i -= 1
    A.reshape(2, 5)[i, j] = 0
    return A


def moved_in_a_loop(a):
    i = np.flatnonzero(a > 5)
    for k in range(40):
        a[i] += 1
        i -= k == 20
    return a


def places_in_a_loop(a):
    i = np.where(a > 5)[0]
    for k in range(40):
        a[i] += k
    return a


def untouched_places(a):
    (i,) = np.nonzero(a > 3)
    a[i] *= 2
    a[i.copy()] += 1
    return a


@pytest.mark.parametrize(
    "function",
    [moved_places, overwritten_places, places_through_a_view, places_through_a_part, filled_places, copied_places, named_twice,
     moved_places_of_two_axes, moved_in_a_loop, places_in_a_loop, untouched_places],
)  # fmt: skip
def test_places_that_are_changed(function):
    check(function, np.arange(10.0))


def test_places_that_stay_are_a_mask():
    check(untouched_places, np.arange(10.0), whole=True)
    check(places_in_a_loop, np.arange(10.0), whole=True)


# ---- lists of views


def swapped(A):
    A[:2] = A[1], A[0]
    return A


def rotated(A):
    for _ in range(40):
        A[:] = [A[1], A[2], A[0]]
    return A


def shifted(A):
    A[1:] = [row for row in A[:-1]]
    return A


def listed(A):
    A[:2] = list(A[1::-1])
    return A


def named_list(A):
    rows = [A[1], A[0]]
    A[:2] = rows
    return A


def nested(A):
    A[:2] = [[A[1, 0], A[0, 0]], A[0]]
    return A


def turned(A):
    A.T[:2] = A.T[1], A.T[0]
    return A


def by_a_helper(A):
    def put(x):
        x[:2] = [x[1], x[0]]

    put(A)
    return A


def without_axes(A):
    a = A[:, 0]
    a[:2] = [a[1, ...], a[0, ...]]
    return A


def at_places(A):
    A[[0, 1]] = [A[1], A[0]]
    return A


def of_numbers(A):
    A[0, :2] = A[0, 1], A[0, 0]
    A[:2] = [A[1] * 1, A[0] * 1]
    return A


@pytest.mark.parametrize(
    "function", [swapped, rotated, shifted, listed, named_list, nested, turned, by_a_helper, without_axes, at_places, of_numbers]
)
def test_items_that_lie_in_the_target(function):
    check(function, np.arange(6.0).reshape(3, 2))


def test_lists_of_other_arrays_are_assigned_at_once():
    check(of_numbers, np.arange(6.0).reshape(3, 2), whole=True)
    check(at_places, np.arange(6.0).reshape(3, 2), whole=True)


# ---- flat elements, diagonals, masks


def flat_shifted(a):
    a.flat[1:] = a[:-1]
    return a


def flat_at_places(a):
    a.flat[[1, 2, 3]] = a[:3]
    return a


def flat_reversed(a):
    a.flat = a[::-1]
    return a


def put_in_itself(a):
    np.put(a, [1, 2, 3], a[:3])
    a.put([0, 1], a[1:3])
    return a


def from_another(a):
    a.flat[1:] = a[:-1] * 1
    return a


@pytest.mark.parametrize("function", [flat_shifted, flat_at_places, flat_reversed, put_in_itself, from_another])
def test_flat_elements(function):
    check(function, np.arange(6.0))


def diagonal_reversed(A):
    np.fill_diagonal(A, np.diag(A)[::-1])
    return A


def diagonal_of_a_row(A):
    np.fill_diagonal(A, A[1, ::-1])
    return A


def live(A):
    total = 0.0
    for x in A.T.flat:
        A += 1
        total += x
    return total


@pytest.mark.parametrize("function", [diagonal_reversed, diagonal_of_a_row, live])
def test_diagonals_and_iteration(function):
    check(function, np.arange(16.0).reshape(4, 4))
    check(function, np.asfortranarray(np.arange(16.0).reshape(4, 4)))


def copied_where(a, m):
    np.copyto(a[::2], a[:5], where=m)
    return a


def placed(b):
    np.place(b[1:], b[:-1], True)
    return b


def test_masked_copies():
    check(copied_where, np.arange(10.0), np.ones(5, bool))
    check(copied_where, np.arange(10.0), np.arange(5) % 2 == 0)
    check(placed, np.array([True, False, False, False]))


def part_of_all(z):
    z[:] = z.imag[1:2]
    return z


def part_with_an_axis(z):
    z[:] = z.imag[1:2][None]
    return z


def part_by_a_mask(z, m):
    z[m] = z.imag[1, ...]
    return z


def part_copied(z):
    np.copyto(z, z.imag[1:2])
    return z


def part_of_a_row(z):
    Z = z.reshape(2, 2)
    Z[1] = Z.imag[1, 1:2]
    Z[:, 1] = Z.imag[1:2, 1]
    return z


@pytest.mark.parametrize("function", [part_of_all, part_with_an_axis, part_copied, part_of_a_row])
def test_parts_of_complex_numbers(function):
    check(function, np.arange(4) + 10j)


def test_parts_of_complex_numbers_by_a_mask():
    check(part_by_a_mask, np.arange(4) + 10j, np.ones(4, bool))


# ---- layouts


def as_c(x):
    y = x.astype(float, order="C", copy=False)
    y += 1
    return x, y


def as_any(x):
    y = x.astype(float, order="A", copy=False)
    y += 1
    return x, y


@pytest.mark.parametrize("function", [as_c, as_any])
def test_an_array_that_may_have_to_be_copied(function):
    sequence(function, (np.arange(4.0),), (np.arange(8.0)[::2],), (np.arange(4.0)[::-1],), (np.arange(4),))


def test_sorting_along_no_axis():
    def sort(a):
        a.sort(axis=None)
        return a

    check(sort, np.array([3.0, 1.0]))
    check(lambda a: np.sort(a, axis=None), np.array([[3.0, 1.0], [0.0, 2.0]]))
