"""Plans for several numbers of rows."""

from __future__ import annotations

import threading
import warnings
from types import SimpleNamespace

import numpy as np
import pytest

import autojit as aj
from autojit.capture import varying
from autojit.capture.buckets import bucket
from tests.helpers import check_call
from tests.row_programs import judge_rows, make_row_program

LENGTHS = (40, 41, 45, 33, 47, 97, 100, 101, 120)


def points(rows: int, *rest: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed + rows).integers(-30, 30, (rows, *rest)) / 4


def info_of(function, *calls, **flags):
    """Compare a function with NumPy on calls; what its cache says."""
    fast = aj.autocluster(policy="eager", max_plans=64, **flags)(function)
    for args in calls:
        check_call(fast, function, *args)
    return fast.cache_info()


def _dot(a, b):
    return np.sum(a * b, axis=-1)


def _hits(origins, directions, center, radius):
    offset = origins - center
    b, c = _dot(offset, directions), _dot(offset, offset) - radius**2
    root = np.sqrt(np.maximum(b * b - c, 0.0))
    t = np.where(-b - root > 1e-3, -b - root, -b + root)
    return np.where((b * b > c) & (t > 1e-3), t, np.inf), b > 0


def test_buckets():
    assert [bucket(count)[1] for count in (33, 48, 49, 64, 65, 1000, 1025)] == [48, 48, 64, 64, 96, 1024, 1536]
    for count in range(3, 5000):
        least, most = bucket(count)
        assert least < count <= most <= 1.5 * count


def test_one_plan_takes_many():
    calls = [(points(n, 3), points(n, 3, seed=9), points(3)[:3], 2.5) for n in LENGTHS]
    info = info_of(_hits, *calls, *calls)
    assert info.plans == 4  # two by themselves, and the plans for up to 48 and 128
    assert info.hits == 2 * len(calls)


def count_captures(monkeypatch, function, calls):
    """Compare with NumPy; how many captures each call has taken."""
    made, found = [], []
    real = varying.capture
    monkeypatch.setattr(varying, "capture", lambda *args: made.append(args) or real(*args))
    fast = aj.autocluster(policy="eager", max_plans=64)(function)
    for args in calls:
        before = len(made)
        _, fine = fast(*args), check_call(fast, function, *args)
        assert fine is None
        found.append(len(made) - before)
    return found


def test_another_number_of_rows_takes_one_capture(monkeypatch):
    calls = [(points(n, 3), points(n, 3, seed=9), points(3)[:3], 2.5) for n in (40, 41, 45, 100, 200, 60, 1000, 46, 61)]
    assert count_captures(monkeypatch, _hits, calls) == [1, 1, 3, 1, 1, 1, 1, 0, 0]
    calls = [(points(n, 3), points(n, 3, seed=9), points(3)[:3], 2.5) for n in (1000, 1001, 1003, 100, 400, 300)]
    assert count_captures(monkeypatch, _hits, calls) == [1, 1, 3, 2, 1, 1]  # of fewer rows nothing is known


def test_the_rows_are_those_of_the_array_that_changes(monkeypatch):
    def function(w, x):
        return x * 2, w * 2

    calls = [(points(64), points(n)) for n in (100, 101, 105, 200, 201, 202, 203, 210)]
    assert count_captures(monkeypatch, function, calls) == [1, 1, 3, 1, 0, 0, 0, 0]


def test_another_way_at_another_length(monkeypatch):
    def function(x, y):
        return x * 2 + y if len(x) < 150 else x - y

    calls = [(points(n), points(n)) for n in (100, 101, 105, 120, 140, 160, 170, 180, 400, 401, 90)]
    count_captures(monkeypatch, function, calls)


def test_arrays_of_objects_and_globals():
    def function(cloud, k):
        return cloud.at + cloud.speed * k, cloud.mass[:, None] * cloud.at[:, 0:2]

    clouds = [SimpleNamespace(at=points(n, 3), speed=points(n, 3, seed=1), mass=points(n)) for n in LENGTHS]
    assert info_of(function, *[(cloud, 0.5) for cloud in clouds]).plans == 4


def test_one_array_twice_and_parts_of_one():
    def function(x, y):
        return x * 2 + y

    for make in (lambda n: (points(n),) * 2, lambda n: (points(n + 1)[1:], points(n + 1)[:-1])):
        assert info_of(function, *[make(n) for n in LENGTHS]).plans == 4


def test_other_layouts_have_other_plans():
    def function(x):
        return x * 2, x + x[:, :1]

    layouts = (
        np.asfortranarray, lambda x: np.repeat(x, 2, axis=0)[::2], lambda x: x[::-1], lambda x: x[:, ::-1], np.array
    )  # fmt: skip
    for layout in layouts:
        info_of(function, *[(points(n, 3),) for n in (40, 41, 42)], *[(layout(points(n, 3)),) for n in LENGTHS])


def test_few_rows_and_none():
    def function(x, w):
        return x * w, x.max(axis=1)

    info_of(function, *[(points(n, 3), points(3)[:3]) for n in (40, 41, 42, 33, 32, 31, 3, 2, 1, 0, 47, 48)])


def test_a_length_that_is_the_buckets():
    def function(x, w):
        return x * w

    fast = aj.autocluster(policy="eager", max_plans=64)(function)
    for n in (40, 41, 45, 48):
        fast(points(n), 2.0)
    for n in (40, 45, 47):
        for w in (points(48), points(n + 1), points(n), points(1), points(n, 1)):
            check_call(fast, function, points(n), w)


def _doubles(x, y):
    x *= 2
    return x + y


def _writes_a_column(x, y):
    x[:, 1] = y[:, 0] + 1


def _writes_through_views(x, y):
    x[None, :, 2] = y[:, 1] * 2
    x[..., :2] -= 1
    x.T[0] = y[:, 2] * 3


def _writes_one_row_to_all(x, y):
    x[:] = y[:, :1] * 0 + np.arange(3.0)
    y[:, 0] = 5


def _exchanges(x, y):
    x[...], y[...] = y * 2, x * 3


def _writes_some(x, y):
    x[3] = y[4]
    x[5:] += 1
    x[x[:, 0] > 0] = 7


@pytest.mark.parametrize(
    ("function", "plans"),
    [
        (_doubles, 4), (_writes_a_column, 4), (_writes_through_views, 4), (_writes_one_row_to_all, 4), (_exchanges, 4),
        (_writes_some, 9),
    ],
)  # fmt: skip
def test_arguments_that_are_written(function, plans):
    assert info_of(function, *[(points(n, 3), points(n, 3, seed=1)) for n in LENGTHS]).plans == plans


def test_written_arguments_that_overlap():
    def function(x, y):
        x += y
        return x * 2

    fast = aj.autocluster(policy="eager", max_plans=64)(function)
    for n in LENGTHS:
        whole = points(n + 1, 3)
        check_call(fast, function, points(n, 3), points(n, 3))
        check_call(fast, function, whole[1:], whole[:-1])
        check_call(fast, function, whole, whole)


def test_attributes_that_are_set():
    class Herd:
        pass

    def function(herd, dt):
        herd.at = herd.at + herd.speed * dt
        herd.energy = herd.energy - 0.5
        return herd.at.max(axis=1)

    fast = aj.autocluster(policy="eager", max_plans=64)(function)
    for n in LENGTHS:
        herds = [Herd(), Herd()]
        for herd in herds:
            herd.at, herd.speed, herd.energy = points(n, 3), points(n, 3, seed=1), points(n)
        np.testing.assert_array_equal(fast(herds[0], 0.5), function(herds[1], 0.5))
        for name in ("at", "speed", "energy"):
            np.testing.assert_array_equal(getattr(herds[0], name), getattr(herds[1], name))
    assert fast.cache_info().plans == 4


# ---- lengths that Python asks for


def _counts_in_numbers(x):
    return x * len(x) + x.shape[0] / 7 - x.size, x.shape[1] * 2 + len(x)


def _counts_in_a_branch(x):
    return x * 2 if len(x) > 42 else x * 3


def _makes_arrays(x):
    seen = np.ones(len(x), dtype=bool)
    seen &= x[:, 0] > 0
    out = np.empty((x.shape[0], 2))
    out[:, 0] = np.arange(len(x))
    out[:, 1] = x[:, 1]
    return seen, out, np.zeros(x.shape) + x, np.full(len(x), 2.5) * x[:, 2]


def _reshapes(x):
    return x.reshape(len(x), 1, 3) * 2, x[:, 0].reshape(x.shape[0], 1) + x, np.broadcast_to(x[:, :1], x.shape) * 2


def _unpacks(x):
    rows, columns = x.shape
    return x / rows + columns


@pytest.mark.parametrize("function", [_counts_in_numbers, _makes_arrays, _reshapes, _unpacks])
def test_lengths_are_numbers_of_the_run(function):
    assert info_of(function, *[(points(n, 3),) for n in LENGTHS]).plans == 4


def test_branches_on_a_length_are_checked():
    assert info_of(_counts_in_a_branch, *[(points(n, 3),) for n in (*LENGTHS, 42, 43, 44, 39)]).plans <= 6


# ---- reductions over rows


def _sums(x):
    return x.sum(), x.sum(axis=0), x.mean(), x - x.mean(axis=0), x.std(axis=0), x.var(ddof=1), np.prod(x[:, 0] / 9)


def _extremes(x):
    return (
        x.max(),
        x.min(axis=0),
        x[:, 0].argmax(),
        np.argmin(x, axis=0),
        np.ptp(x[:, 1]),
        (x > 99).any(),
        (x < 99).all(),
    )


def _counts(x):
    return np.count_nonzero(x > 0), (x > 0).sum(axis=0), x[x > 0].sum(), (x > 0).mean(), np.sum(x > 0, axis=1).max()


def _products(x):
    return x.T @ x, x[:, 0] @ x, x[:, 0] @ x[:, 1], np.einsum("ij,ik->jk", x, x), x @ x[0], np.inner(x[:, 0], x[:, 2])


def _norms(x):
    return np.linalg.norm(x), np.linalg.norm(x[:, 0]), np.linalg.norm(x, axis=0), np.abs(x).max(axis=0)


def _scans(x):
    return np.cumsum(x, axis=0), x[:, 0].cumsum(), np.cumprod(x[:, 1] / 9), np.cumsum(x, axis=1)


def _firsts(x):
    return x[0] * 2, x[3:9] + 1, x - x[0], x[1, 1] * 3, x[:5].sum()


def _integers(x):
    k = np.rint(x * 4).astype(int)
    return k.sum(), k.max(axis=0), k.mean(), (k % 3).sum(axis=0), np.bitwise_and(k, 7).min(), k.astype("u1").max(axis=0)


@pytest.mark.parametrize("function", [_sums, _extremes, _counts, _products, _norms, _scans, _firsts, _integers])
def test_reductions_over_rows(function):
    assert info_of(function, *[(points(n, 3),) for n in LENGTHS]).plans == 4


def _without_nan(x):
    return np.nansum(x, axis=0), np.nanmean(x), np.nanmax(x, axis=0), np.nanmin(x[:, 0]), np.nanstd(x, axis=0)


@pytest.mark.parametrize("function", [_sums, _extremes, _counts, _products, _norms, _scans, _firsts, _without_nan])
def test_reductions_of_special_values(function):
    calls = []
    for n in LENGTHS:
        for place in (0, 5, -1):
            array = points(n, 3)
            array[place] = np.nan, np.inf, -np.inf
            calls.append((array,))
    with np.errstate(all="ignore"):
        info_of(function, *calls)


def test_all_values_are_the_worst_ones():
    def function(x):
        return x.argmax(), x.argmin(), x.max(), x.min(), x.argmax() + (-x).argmax()

    for value in (-np.inf, np.inf, 0.0, -0.0, np.nan):
        info_of(function, *[(np.full(n, value),) for n in LENGTHS])


def test_a_mask_of_the_users_own():
    def function(x):
        inside = np.arange(len(x)) < len(x)
        return np.where(inside, x, 0).sum(), np.where(inside, x, 0).max(), np.where(inside, x, 1).min()

    info_of(function, *[(points(n) - 100,) for n in LENGTHS], *[(points(n) + 100,) for n in LENGTHS])


# ---- what is no rows' own


def _asks_in_a_branch(x):
    return x * 2 if len(x) % 3 else x * 3


def _asks_for_a_shape(x):
    return x * (2 if x.shape[0] in (40, 45, 97) else 3)


def _asks_in_a_range(x):
    total = x * 0
    for k in range(len(x) // 20):
        total = total + x * k
    return total, [len(x)] * 2, x[: len(x) - 1] * 1, x[len(x) // 2] * 2


def _asks_in_a_table(x, table=tuple(range(200))):
    return x * table[len(x)] + np.arange(1, len(x) + 1)[:, None], np.linspace(0, 1, len(x)), np.eye(len(x), 3) + x


def _asks_for_fewer(x):
    return np.zeros(len(x) - 1) + x[1:, 0], np.arange(2, len(x)), np.ones((3, len(x))), np.arange(len(x), 300)


def _asks_for_a_size(x):
    return x * (2 if np.size(x) % 2 else 3) + x.nbytes


def _asks_by_another_name(x, count=len):
    return x * (2 if count(x) > 42 else 3)


def _asks_numpy(x):
    return x * (2 if np.shape(x)[0] > 42 else 3)


def _orders(x):
    return x[::-1] * 1, np.sort(x, axis=0), np.diff(x, axis=0), np.median(x, axis=0), x[:, 0].argsort()


def _picks(x):
    return x[40] + 1, x[-1] + 1, x[3:39] * 2, x - x[-1:], x[x[:, 0].argmax()], x[-3:] * 2


def _turns(x):
    return x.T * 2, x.reshape(-1) + 1, x.T.reshape(3, -1) * 2


def _hands_on(x):
    return x, x[1:], x * 2, x[::-1], x.T, x[None, :, 1], x[-1], x[36], x.reshape(-1), (x * 3)[2:], (x * 3)[-1]


def _new_arrays(x):
    z = np.zeros_like(x)
    z[:, 1] = x[:, 0]
    return z, np.ones_like(x) * 3, np.full_like(x, 7)


def _takes_some(x):
    return x[x[:, 0] > 0] * 2


def _pairs(x):
    return np.abs(x[:, None, 0] - x[None, :, 0])


def _loops(x):
    total = np.zeros(3)
    for row in x:
        total = total + row
    return total, sum(x[:, 0])


@pytest.mark.parametrize(
    "function",
    [
        _asks_in_a_branch, _asks_for_a_shape, _asks_in_a_range, _asks_in_a_table, _asks_for_fewer, _asks_for_a_size, _asks_by_another_name, _asks_numpy, _sums, _orders, _picks,
        _turns, _hands_on, _new_arrays, _takes_some, _pairs, _loops,
    ],
)  # fmt: skip
def test_what_is_no_rows_own(function):
    with warnings.catch_warnings():
        # There is a plan for each length, or none, so that there may be too many.
        warnings.filterwarnings("ignore", "autojit .too-many-plans", aj.AutojitWarning)
        info_of(function, *[(points(n, 3),) for n in LENGTHS for _ in range(2)])


def test_the_last_row_is_no_trouble_of_its_own():
    def function(x, y):
        return x // y, x % y

    fast = aj.autocluster(policy="eager", max_plans=64)(function)
    ones = [np.arange(n) for n in LENGTHS]
    for one in ones:
        check_call(fast, function, one, one * 0 + 3)
    for one in ones:
        divisor = one % 7 - 3
        divisor[-1] = 0
        with np.errstate(all="ignore"):
            check_call(fast, function, one, divisor)


def test_special_values():
    def function(x):
        return np.sqrt(x), np.maximum(x, 0), x.max(axis=1), np.argmax(x, axis=1), x == x

    with np.errstate(all="ignore"):
        for place in (0, -1, 5):
            arrays = [points(n, 3) for n in LENGTHS]
            for array in arrays:
                array[place] = np.nan, np.inf, -0.0
            info_of(function, *[(array,) for array in arrays])


def test_results_are_the_callers_own():
    fast = aj.autocluster(policy="eager")(lambda x: x * 2 + 1)
    kept = []
    for n in (400_000, 400_001, 400_002, 400_007):  # large ones lie in memory of XLA's
        array = points(n)
        result = fast(array)
        assert result.shape == (n,) and result.flags.writeable and not np.shares_memory(result, array)
        result += 1
        kept.append((result, array * 2 + 2))
    for result, expected in kept:
        np.testing.assert_array_equal(result, expected)
    assert fast.cache_info().plans == 3


def test_threads():
    fast = aj.autocluster(policy="eager")(lambda x, y: (x * 2 + y, x.max(axis=1)))
    arrays = [points(n, 3) for n in (*range(40, 48), *range(100, 120))]
    for array in arrays:
        fast(array, array)
    wrong = []

    def work(shift: int) -> None:
        for turn in range(60):
            array = arrays[(turn * 7 + shift) % len(arrays)]
            first, second = fast(array, array)
            if not (np.array_equal(first, array * 3) and np.array_equal(second, array.max(axis=1))):
                wrong.append(len(array))

    threads = [threading.Thread(target=work, args=(shift,)) for shift in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_exact_programs_are_for_one_length():
    assert info_of(lambda x: x * 2 + 1, *[(points(n),) for n in LENGTHS[:5]], exact=True).plans == 5


def test_checked():
    fast = aj.autocluster(policy="eager", check=True)(_hits)
    for n in LENGTHS:
        fast(points(n, 3), points(n, 3, seed=9), points(3)[:3], 2.5)


def test_random_programs():
    found = [judge_rows(make_row_program(seed)) for seed in range(25)]
    assert not [text for text, _ in found if text]
    assert sum(is_made for _, is_made in found) >= 3
