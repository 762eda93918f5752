"""Programs that nobody wrote: NumPy and autojit do the same with them, cold and warm."""

import random
import time
import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings

import autojit as aj
from tests.fuzz import failure, main, minimise
from tests.helpers import assert_same, check
from tests.programs_judge import judge
from tests.programs_strategy import MODULES, Program, load, make_program, programs

#: Failing programs are made smaller by `python -m tests.fuzz`, which is better at statements than at choices.
_SETTINGS = settings(
    max_examples=60, deadline=None, derandomize=True, database=None, phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)  # fmt: skip


@_SETTINGS
@given(programs())
def test_random_programs(program):
    judge(program)


def program(*lines, calls, parameters=("a", "b")):
    return Program(MODULES[0], parameters, lines, calls)


def test_the_judge_sees_differences():
    array = np.array([1.0, 0.1])
    good = program("a += b", "return a.sum()", calls=((array, array),))
    judge(good)

    def broken(function):
        decorated = aj.autocluster(policy="eager")(function)

        def wrong(a, b):
            result = decorated(a, b)
            a[0] += 1e-9
            return result

        wrong.cache_info = decorated.cache_info
        return wrong

    with pytest.raises(AssertionError, match="argument"):
        judge(good, decorator=broken)


def test_the_judge_knows_what_rounding_can_change():
    array = np.array([0.1, 0.2, 0.3])
    unstable = program("c = np.exp(a) - 1", "d = np.floor((c - c.sum() / 3) * 1e16)", "return d, d > 0", calls=((array, array),))

    def other(function):
        def rounds_otherwise(a, b):
            return load(unstable.source.replace("c.sum() / 3", "(c[2] + c[1] + c[0]) / 3"))(a, b)

        rounds_otherwise.cache_info = aj.CacheInfo
        return rounds_otherwise

    judge(unstable, decorator=other)


def test_programs_are_made_smaller():
    big = program("c = a + 1", "d = np.sqrt(b) * 2 + a", "for k in range(2):\n    c = c * d", "return c, d", calls=((1, 2), (3, 4)))
    small = minimise(big, lambda smaller: "sqrt" in smaller.source, seconds=5)
    assert "np.sqrt" in small.source and len(small.lines) == 1 and len(small.calls) == 1
    assert failure(program("return a", calls=((1, 2),))) is None


def test_the_command(capsys):
    start = time.monotonic()
    assert main(["--seed", "7", "--count", "1"]) == 0
    printed = capsys.readouterr().out
    assert "1 programs from seed 7, " in printed and ", 0 failed" in printed
    assert time.monotonic() - start < 60


def test_same_choices_same_program():
    one, two = (repr(programs_of(5)) for _ in range(2))
    assert one == two


def programs_of(seed):
    return make_program(random.Random(seed))


# ---- what random programs have found


FORTRAN = np.asfortranarray(np.arange(12.0).reshape(3, 4))


def test_elements_of_large_arrays():
    check(lambda x, n: x[-1, -1] + x[n, n] + x[..., -1, -1], np.zeros((3000, 3000)), 2500, whole=True)


def test_the_method_conj_returns_real_arrays_themselves():
    def f(a, z):
        b = a.conj()
        b += 1
        c = z.conj()
        c += 1
        return b, c, np.conj(a), a.sum().conj()

    check(f, np.arange(3.0), np.array([1j, 2 - 1j]), whole=True)


def test_views_of_the_same_shape_are_objects_of_their_own():
    def f(a):
        return a.T, a[...], a.reshape(3), a.transpose(), np.asarray(a), np.atleast_1d(a), a.real

    check(f, np.arange(3.0), whole=True)


def test_read_only_results():
    def f(a, z):
        return np.broadcast_to(a + 1, (2, 3)), a.imag, np.diagonal(np.outer(a, a)), z.imag

    check(f, np.arange(3.0), np.array([1j]), whole=True)


def test_memory_order():
    def f(a, b, i):
        twice = a * 2
        results = [twice, twice[1:], twice.T, np.zeros_like(a), a.copy(), np.copy(a), a[i], np.sort(a, axis=0)]
        results += [np.concatenate([a, a]), a.sum(axis=1, keepdims=True), b[::-1] * 2, a.astype(int), np.where(a > 2, a, 1)]
        flat = twice.ravel()
        flat += 1
        return results, flat

    expected = f(FORTRAN, FORTRAN[0], np.array([0, 2]))
    got = aj.autocluster(policy="eager")(f)(FORTRAN, FORTRAN[0], np.array([0, 2]))
    for one, other in zip([*got[0], got[1]], [*expected[0], expected[1]], strict=True):
        np.testing.assert_array_equal(one, other)
        assert one.flags.c_contiguous == other.flags.c_contiguous and one.flags.f_contiguous == other.flags.f_contiguous


def test_deleted_names():
    def f(a):
        b = a * 2
        del b
        return a + 1

    check(f, np.arange(3.0))


def test_indices_outside_in_loops():
    def f(a, n):
        for k in range(n):
            a += a[k]
            a[k - 1 : k + 1] *= 2
        return a

    check(f, np.arange(4.0), 40)
    check(f, np.arange(3.0), 3)
    check(f, np.zeros(0), 2)


def test_dropped_results():
    # XLA crashed on what was left of these.
    def f(a, z, n):
        z.max(axis=0, keepdims=True) + n
        np.min(z)[None][:0]
        a.max(axis=0) + n
        return a

    check(f, np.arange(6.0).reshape(2, 3), np.array([1j, 2]), 3)


def test_integer_division_of_constants_by_zero():
    def f(a):
        a[...] = 0
        return a // a, a % a, np.fmod(a, a), a.copy() // 7

    with np.errstate(all="ignore"):
        expected = f(np.ones(4, np.uint8))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # NumPy's own warnings are not what is judged
        got = aj.autocluster(policy="eager")(f)(np.ones(4, np.uint8))
    assert_same(got, expected)


def test_exponents_that_are_numpy_scalars():
    def f(a, n):
        a **= n
        return a

    check(f, np.arange(4, dtype=np.int32), np.int64(3), whole=True)
    check(f, np.arange(4.0), np.float64(0.5), whole=True)


def test_numbers_that_a_loop_uses_first():
    def f(b, n):
        for k in range(n):
            b[::2] = n
        return np.median(b) + k

    check(f, np.arange(5, dtype=np.uint8), 200)


def test_einsum_with_its_subscripts():
    check(lambda a: (np.einsum("ij->i", a), np.einsum("ij,kj->ik", a, a)), FORTRAN, whole=True)
