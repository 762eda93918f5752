"""`where=` of ufuncs, with `out=`: the other elements stay."""

import numpy as np
import pytest

import autojit as aj


def divide(a, b):
    return np.divide(a, b, out=np.zeros_like(a), where=b != 0)


def log(a, b):
    return np.log(a, out=np.full(a.shape, -1.0), where=a > 0)


def in_place(a, b):
    np.add(a, b, out=a, where=b > 0)
    return a


def wider_mask(a, b):
    out = np.zeros((3, *a.shape))
    np.multiply(a, 2, out, where=np.array([True, False, True])[:, None, None])
    return out


def narrower_mask(a, b):
    return np.add(a, b, out=np.zeros_like(a), where=(a > 0)[0])


def mask_of_all_axes(a, b):
    return np.add(a[0], b[0], out=np.zeros_like(a), where=a > 0)


def other_dtype(a, b):
    return np.add(a, b, out=np.zeros(a.shape, np.float32), where=a < b)


def no_division_by_zero(a, b):
    i, j = a.astype(int), b.astype(int)
    return np.floor_divide(i, j, out=np.full(a.shape, 7), where=j != 0)


def into_a_view(a, b):
    out = np.ones_like(a)
    np.divide(a[1:], b[1:], out=out[1:, ::-1], where=(b != 0)[1:])
    return out


def its_own_mask(a, b):
    mask = a > b
    np.logical_not(mask, out=mask, where=mask)
    return mask


def everywhere(a, b):
    return np.add(a, b, where=True)


WHOLE = [
    divide, log, in_place, wider_mask, narrower_mask, mask_of_all_axes, other_dtype, no_division_by_zero, into_a_view,
    its_own_mask, everywhere,
]  # fmt: skip


def another_view_of_its_mask(a, b):
    mask = a > b
    np.logical_not(mask, out=mask, where=mask.T)
    return mask


def cannot_be_cast(a, b):
    return np.add(a, 1, out=np.zeros(a.shape, int), where=a > 0)


def no_bools(a, b):
    return np.add(a, b, out=np.zeros_like(a), where=a)


def does_not_fit(a, b):
    return np.add(a, b, out=np.zeros(a.shape[0]), where=a > 0)


def outcome(function, a, b):
    try:
        return function(a, b), a
    except Exception as error:
        return (type(error), str(error)), a


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # NumPy's own
@pytest.mark.parametrize("function", [*WHOLE, another_view_of_its_mask, cannot_be_cast, no_bools, does_not_fit])
def test_the_same_as_numpy(function, rng):
    fast = aj.autocluster(function, policy="eager")
    for _ in range(3):
        a, b = (rng.integers(-2, 3, (4, 4)).astype(float) for _ in "ab")
        a[0, :2] = np.nan, -0.0
        (found, x), (expected, y) = outcome(fast, a.copy(), b.copy()), outcome(function, a.copy(), b.copy())
        assert type(found) is type(expected)
        np.testing.assert_array_equal(x, y)
        if isinstance(expected, tuple):
            assert found == expected
            continue
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found, expected)
        np.testing.assert_array_equal(np.signbit(found), np.signbit(expected))
        assert (found is x) == (expected is y)


@pytest.mark.parametrize("function", WHOLE)
def test_compiled(function, rng):
    fast = aj.autocluster(function, policy="eager")
    for _ in range(2):
        fast(*(rng.integers(-2, 3, (4, 4)).astype(float) for _ in "ab"))
    assert fast.cache_info().traps == 0
    assert fast.explain(np.ones((4, 4)), np.ones((4, 4))).is_whole


def test_without_out_it_is_numpys():
    def f(a):
        return np.sqrt(a, where=a > 0)

    reasons = aj.autocluster(f, policy="eager").explain(np.ones(3)).native_statements
    assert "without `out=`" in str(reasons[0])


@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")  # NumPy's own, of dropped imaginary parts
def test_an_out_of_another_dtype_that_is_read_meanwhile():
    """NumPy computes into a copy of the result's dtype then, and writes all of it back."""
    mask = np.array([[False, True], [True, True], [False, True], [True, False]])
    programs = [
        lambda a, m: np.equal(m, a[1], a, where=m),
        lambda a, m: np.less(a[::-1], 1, out=a, where=m),
        lambda a, m: np.less(a, 1, out=a, where=m),
        lambda a, m: np.logical_and(a.T.reshape(a.shape), m, out=a, where=m),
        lambda a, m: np.isnan(np.flipud(a), out=a, where=m),
        lambda a, m: np.add(a[::-1], 1, out=a, where=m),
        lambda a, m: np.add(a[::-1], np.float32(0.1), out=a, where=m, dtype=np.float64, casting="unsafe"),
        lambda a, m: np.maximum(a.real, a, out=a, where=m),
        lambda a, m: np.equal(a.real, a, out=a, where=m),
    ]
    for program in programs:
        for dtype in (np.float16, np.float64, np.complex128, np.int16):
            plain, mine = (np.array([[-0.25, -1.25], [2, 1.5], [2.5, 1.25], [-1.5, 300]]).astype(dtype) for _ in "ab")
            fast = aj.autocluster(program, policy="eager")
            try:
                program(plain, mask)
            except TypeError as error:
                with pytest.raises(type(error)) as caught:
                    fast(mine, mask)
                assert str(caught.value) == str(error)
            else:
                fast(mine, mask)
            np.testing.assert_array_equal(mine, plain)
