"""A seeded set of random programs over the op table; `python -m tests.fuzz --table` tries more."""

from __future__ import annotations

import numpy as np
import pytest

import autojit as aj
from autojit.ops.chapters import TABLE
from tests.helpers import check
from tests.programs_strategy import load
from tests.table_calls import FORMS, UNNAMED
from tests.table_judge import Tally, judge_compiled, judge_evaluated, shown
from tests.table_programs import make_table_program


def _passed(tally: Tally) -> None:
    assert not tally.failures, "\n".join(f"{text}\n{shown(found)}" for found, text in tally.failures[:3])


def test_compiled() -> None:
    tally = judge_compiled([make_table_program(seed) for seed in range(64)])
    _passed(tally)
    assert tally.captured >= 40


def test_captured() -> None:
    tally, _ = judge_evaluated([make_table_program(1000 + seed) for seed in range(250)])
    _passed(tally)
    assert tally.captured > 100


def test_every_row_has_a_form() -> None:
    written = {"set_real", "set_imag", "set_diagonal", "setitem"} | {
        name for name in TABLE.rows if name.endswith("_at")
    }
    assert not [name for name in TABLE.rows if name not in FORMS and name not in UNNAMED | written]


# ---- what was found


def _fresh(*shape: int) -> np.ndarray:
    return np.arange(float(np.prod(shape))).reshape(shape)


def test_layout_of_fancy_indexing() -> None:
    def function(a):
        picked = a[:, [0, 1]]
        flat = picked.reshape(-1)
        flat[0] = 9
        return picked, flat

    check(function, _fresh(5, 4))


def test_layout_of_outer_and_of_functions_that_are_no_ufuncs() -> None:
    def function(a, b):
        return np.maximum.outer(a.T, b), np.iscomplex(a.T), np.isreal(a.T), a.T.imag, np.linalg.norm(b.T, 1, axis=-2)

    _same_strides(function, _fresh(2, 3), _fresh(3, 4, 2))


def test_layout_of_selected_and_host_results() -> None:
    def function(a, b):
        return np.delete(a, [0, -1], axis=1), np.argwhere(a), np.partition(a.T, 0), np.average(b.T, weights=b.T, axis=1)

    _same_strides(function, _fresh(3, 4), _fresh(3, 4, 2) + 1)


def test_layout_of_gaps_is_not_contiguous() -> None:
    _same_strides(lambda a: (np.pad(a[::2].T, 1), np.pad(a.T, 1)), _fresh(6, 4))


def test_astype_keeps_the_order_that_is_asked_for() -> None:
    def function(a):
        wide = np.broadcast_to(a[0], a.shape)
        return [a.T.astype("f4", order=order) for order in "CAK"], wide.astype("f4"), a[::2].T.astype("f4", order="A")

    _same_strides(function, _fresh(4, 3))


def _same_strides(function, *args) -> None:
    def strides(value):
        return [strides(part) for part in value] if isinstance(value, list | tuple) else value.strides

    fast = check(function, *args)
    assert strides(fast(*args)) == strides(function(*args))


def test_ravel_of_a_strided_vector_is_a_copy() -> None:
    def function(a, order):
        flat = a[:, 0].ravel(order)
        flat[0] = 9
        return flat, a

    for order in "CFAK":
        check(function, _fresh(4, 3), order)


def test_one_array_twice() -> None:
    check(lambda n: np.diag_indices(3), 1)

    def power(a):
        same = np.linalg.matrix_power(a, 1)
        same[0] = 5
        return same

    check(power, _fresh(3, 3))


def test_grids_that_are_views() -> None:
    def function(a, b):
        x, y = np.meshgrid(a, b, copy=False)
        return x + y, np.meshgrid(a, b)

    check(function, _fresh(3), _fresh(2))


def test_no_warning_of_arrays_that_are_only_read() -> None:
    def function(a, b):
        x, y = np.broadcast_arrays(a, b)
        return x + y * 2

    fast = check(function, _fresh(3), _fresh(4, 1))
    assert fast.cache_info().hits


def test_compress_as_a_method() -> None:
    check(lambda a, m: (a.compress(m, axis=0), a.compress(m)), _fresh(2, 2), np.array([True, False]))


def test_choose_takes_python_numbers_as_weak() -> None:
    check(lambda n, c, f: (np.choose(n, [c, 2 - 1j]), np.choose(n, [f, 1.5])), np.array([0, 1]),
          np.ones(2, np.complex64), np.ones(2, np.float32))  # fmt: skip


def test_writes_to_an_array_that_overlaps_itself() -> None:
    def function(a):
        a[...] += np.arange(3.0)
        return a

    plain, fast = _fresh(3), _fresh(3)
    function(np.lib.stride_tricks.as_strided(plain, (2, 3), (0, 8)))
    compiled = aj.autocluster(policy="eager")(function)
    compiled(_fresh(4, 6)[::2, ::2])
    assert compiled.cache_info().hits == 1
    compiled(np.lib.stride_tricks.as_strided(fast, (2, 3), (0, 8)))
    np.testing.assert_array_equal(fast, plain)


def test_complex_number_before_a_float64_is_python() -> None:
    check(lambda a: (1j == a.sum(), 1j + a.sum(), a.sum() + 1j, 1j * a.astype("f4").sum()), _fresh(3))


def test_methods_have_fewer_parameters() -> None:
    check(lambda a: np.var(a, correction=1), _fresh(3))
    check(lambda a: a.var(correction=1), _fresh(3))


@pytest.mark.parametrize("symbol", ["<<", ">>", "//", "%", "/"])
def test_what_python_raises_where_nobody_reads_it(symbol: str) -> None:
    source = f"def program(a, b):\n    x = int(a[0]) {symbol} int(b[0])\n    return a + 1\n"
    check(load(source), np.array([4, 5]), np.array([-1 if symbol in "<<>>" else 0]))


# ---- choices of arrays


def _named_twice(a):
    x = a + 1
    y = x if a.sum() > 0 else x * 2
    y[0] = 9
    return x, y


def _bound_in_a_branch(a):
    x = a + 1
    if a.sum() > 0:
        y = x
    else:
        y = x * 2
    y[0] = 9
    return x, y


def _bound_again(a):
    x, z = a + 1, a - 1
    if a.sum() > 0:
        z = x
    x[0] = 5
    return z


def _of_other_orders(a):
    x, z = a.T + 1, a - 1
    return x if a.sum() > 0 else z


def _carried(a):
    x = a + 1
    best = x * 0
    for i in range(4):
        best[0] += 1
        x = x * 2 - i
        if x.sum() > 9:
            best = x
    return best, x


def _best_of(a):
    x, best = a + 1, a * 0
    for i in range(4):
        x = x * 2 - i
        if x.sum() > 9:
            best = x
    return best + x


@pytest.mark.parametrize(
    "function", [_named_twice, _bound_in_a_branch, _bound_again, _of_other_orders, _carried, _best_of]
)
def test_which_array_it_is_the_data_decides(function) -> None:
    for sign in (1, -1):
        check(function, sign * np.ones((2, 2)))
        check(function, sign * np.arange(9.0).reshape(3, 3))


def test_a_choice_of_contents_is_captured_where_nobody_can_tell() -> None:
    check(_best_of, np.ones((2, 2)), whole=True)
