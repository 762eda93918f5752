"""`getitem` and `setitem` against NumPy's own indexing."""

import numpy as np
import pytest
from op_checks import Trap, check, check_all, check_samples, lowered, raised

from autojit.errors import CannotCapture, Trapped
from autojit.ir.index import Index, Place, Slice, Window
from autojit.ir.spec import spec_of
from autojit.ops.indexing import GETITEM, SETITEM

ALL = Slice(None, None, None)


class Maker:
    """`i[...]` writes an `Index` as NumPy indexing; arrays become places, in order."""

    def __getitem__(self, key):
        key = key if isinstance(key, tuple) else (key,)
        entries, operands = [], []
        for part in key:
            if isinstance(part, slice):
                entries.append(Slice(part.start, part.stop, part.step))
            elif isinstance(part, Run):
                entries.append(
                    Window(len(operands), part.length, part.step) if part.length is not None else Place(len(operands))
                )
                operands.append(part.value)
            elif isinstance(part, np.ndarray | np.generic):
                entries.append(Place(len(operands)))
                operands.append(part)
            else:
                entries.append(part)
        return Index(tuple(entries)), operands


class Run:
    def __init__(self, value, length=None, step=1):
        self.value, self.length, self.step = value, length, step


i = Maker()
r = np.array
# Many short expressions on a line.
# fmt: off
GET = [
    i[()], i[...], i[0], i[-1], i[1, 2], i[1, 2, 3], i[..., 0], i[1, 2, 3, ...], i[None], i[:, None, 1],
    i[None, ..., None], i[1:], i[::-1], i[::2, ::-2], i[-1:0:-1], i[5:2], i[:, :, 1:-1], i[2:2], i[0, 1:, ::3],
    i[10:], i[:-10], i[-3:, -2], i[Run(1)], i[Run(-1), Run(2)], i[:, Run(1), Run(-3)], i[Run(1), ::-2],
    i[..., Run(np.int8(-1))], i[Run(np.uint64(2)), None], i[Run(1), Run(2), Run(0)], i[Run(1, 2)],
    i[:, Run(2, 2, -1)], i[Run(0, 2, 2), ::-1, Run(4, 3, -2)], i[Run(1, 0)], i[Run(2), Run(0, 3)],
    i[r([1, 0, -1])], i[:, r([1, 0, -1])], i[r([[0, 1], [2, 0]])], i[r([0, 1]), r([1, 2])],
    i[r([0, 1]), :, r([1, 2])], i[r([0, 1]), None, r([1, 2])], i[:, None, r([0, 1])], i[r([[0], [1]]), r([1, 2])],
    i[0, r([0, 1])], i[0, :, r([0, 1])], i[r([0, 1]), 0], i[:, 0, r([0, 1])], i[r([0, 1]), ::-1, 1:],
    i[..., r([0, 1])], i[r([0, 1]), ..., r([0, 1])], i[None, r([0, 1]), None], i[r([0, 1]), None, 1, 2],
    i[Run(1), r([0, -1])], i[Run(0, 2), r([0, -1])], i[r([], int)], i[r([0, 1], np.uint8), r([[1, -1]], np.int8)],
    i[r([0, 1]), r([0, 1]), r([2, 2])], i[1:, r([0, 2]), ::2], i[::-1, r([0, 2]), Run(1, 3)],
]

YES = True
MASKS = [
    i[r([YES, False, YES])], i[:, r([YES, False, YES, YES])], i[..., r([YES, False, YES, False, YES])],
    i[r([YES, False, YES]), 1:], i[r([YES, False, YES]), 0], i[0, r([YES, False, YES, False])],
    i[r([YES, False, YES]), :, 0], i[r([YES, False, YES]), None, 0, ::-2], i[np.arange(12).reshape(3, 4) % 2 == 0],
    i[np.arange(12).reshape(3, 4) % 2 == 0, 1:3], i[1, np.arange(20).reshape(4, 5) % 2 == 0], i[r([False] * 3)],
    i[np.arange(60).reshape(3, 4, 5) % 7 == 0], i[Run(1), r([YES, False, YES, YES])],
]

OUTSIDE = [
    i[Run(3)], i[Run(-4)], i[Run(np.uint64(2**63 + 1))], i[r([0, 3])], i[r([0, -4])], i[r([3], np.uint8)],
    i[r([0, 1]), r([0, 7])], i[Run(2, 2)], i[Run(-1, 1)], i[Run(0, 2, -1)], i[Run(7), r([0, 1])],
]

WRONG = [
    i[0, 0, 0, 0], i[3], i[..., ...], i[r([0.5])], i[r([0, 1]), r([0, 1, 2])], i[5, r([], int)],
    i[r([True, False])], i[Run(1.0)], i[r([0, 1]), 9],
]
# fmt: on


def test_getitem():
    x = np.arange(60).reshape(3, 4, 5)
    check_all([(GETITEM, (x, *operands), {"index": index}) for index, operands in GET])


@pytest.mark.parametrize("part", range(4))
def test_setitem(part, rng):
    base = rng.standard_normal((3, 4, 5))
    cases = []
    for index, operands in GET[part::4]:
        shape = np.shape(base[index.fill(operands)])
        values = [2.5, rng.standard_normal(shape)]
        if shape:
            values += [rng.standard_normal((1, 1, *shape[1:])), rng.standard_normal((*shape[:-1], 1))]
        cases += [(SETITEM, (base, value, *operands), {"index": index}) for value in values]
    check_all(cases)


def test_masked_write(rng):
    base = rng.standard_normal((3, 4, 5))
    cases = []
    for index, operands in MASKS:
        found = base[index.fill(operands)]
        values = [np.nan, 3, rng.standard_normal(1)]
        values += [rng.standard_normal(found.shape[found.ndim - n :] if n else ()) for n in range(found.ndim)]
        for value in values:
            try:
                SETITEM.infer([spec_of(v) for v in (base, value, *operands)], {"index": index})
            except CannotCapture as error:
                assert error.id == "data-shape"
                assert np.ndim(value)
            else:
                cases.append((SETITEM, (base, value, *operands), {"index": index}))
    check_all(cases)


def test_boolean_read_is_refused():
    x = np.ones(3)
    with pytest.raises(CannotCapture, match="data-shape"):
        GETITEM.infer([spec_of(x), spec_of(x > 0)], {"index": Index((Place(0),))})
    with pytest.raises(CannotCapture, match="data-shape"):
        SETITEM.infer([spec_of(np.ones((4, 3))), spec_of(x[:2]), spec_of(x > 0)], {"index": Index((1, Place(0)))})


@pytest.mark.parametrize("case", OUTSIDE, ids=str)
def test_out_of_bounds_traps(case):
    index, operands = case
    base = np.ones((3, 4, 5))
    with pytest.raises(Trap):
        lowered(GETITEM, base, *operands, index=index)
    with pytest.raises(Trap):
        lowered(SETITEM, base, 1.0, *operands, index=index)
    with pytest.raises((IndexError, OverflowError, Trapped)):
        GETITEM.call(base, *operands, index=index)


@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0)])
def test_empty(shape):
    base = np.ones(shape)
    for index, operands in [i[:], i[::-1], i[r([], int)], i[..., None], i[1:], i[Run(0, 0)]]:
        read, written = (base, *operands), (base, 1.0, *operands)
        check_all([(GETITEM, read, {"index": index}), (SETITEM, written, {"index": index})])
    if shape[0] == 0:
        for index, operands in [i[Run(0)], i[r([0])]]:
            with pytest.raises(Trap):
                lowered(GETITEM, base, *operands, index=index)
            with pytest.raises(Trap):
                lowered(SETITEM, base, 1.0, *operands, index=index)


@pytest.mark.parametrize("case", WRONG, ids=str)
def test_static_errors_are_numpys(case):
    index, operands = case
    base = np.ones((3, 4, 5))
    wanted = raised(GETITEM.call, base, *operands, index=index)
    assert wanted is IndexError
    assert raised(GETITEM.infer, [spec_of(v) for v in (base, *operands)], {"index": index}) is wanted
    assert raised(SETITEM.infer, [spec_of(v) for v in (base, 1.0, *operands)], {"index": index}) is wanted


@pytest.mark.parametrize("shape", [(2,), (4, 5), (2, 3, 5), (2, 1, 4, 5), (3, 4, 5)])
def test_value_shapes_are_checked(shape):
    base, value = np.ones((3, 4, 5)), np.ones(shape)
    for index, operands in [i[...], i[1], i[:, r([0, 1])], i[0, 0, 0], i[0, 0, 0, ...], i[Run(0)]]:
        wanted = raised(SETITEM.call, base, value, *operands, index=index)
        got = raised(SETITEM.infer, [spec_of(v) for v in (base, value, *operands)], {"index": index})
        assert got is wanted, index


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint8, np.int64, np.uint64, np.float16, np.float32, np.complex64])
def test_casts(dtype, rng):
    base = np.zeros(6, dtype)
    for value in [
        rng.uniform(0, 100, 6),
        rng.integers(0, 2**40, 6),
        rng.uniform(0, 100, 6).astype(np.float32),
        rng.random(6) > 0.5,
        3,
        2.5,
        True,
    ]:
        check(SETITEM, base, value, index=Index((ALL,)))


@pytest.mark.parametrize(
    "value", [np.nan, 300, -1e30, np.inf, np.int64(-200), np.float32(1e10), 128, r([np.nan]), r([1e300])]
)
def test_casts_that_trap(value):
    with pytest.raises(Trap):
        lowered(SETITEM, np.zeros(6, np.int8), value, index=Index((ALL,)))


def test_arrays_of_integers_wrap():
    check(SETITEM, np.zeros(2, np.int8), r([300, -129]), index=Index((ALL,)))


def test_complex_to_real_is_refused():
    for value in (1j, r([1j])):
        with pytest.raises((CannotCapture, TypeError)):
            SETITEM.infer([spec_of(np.zeros(2)), spec_of(value)], {"index": Index((ALL,))})


def test_last_of_repeated_indices_wins(rng):
    rows = rng.integers(0, 50, 100_000)
    check(SETITEM, np.zeros(50, int), np.arange(100_000), rows, index=Index((Place(0),)))
    check(SETITEM, np.zeros((50, 2), int), np.arange(200_000).reshape(-1, 2), rows, index=Index((Place(0),)))


def test_large_and_small_writes(rng):
    base = rng.standard_normal((40, 40))
    cases = []
    for index, _ in [i[1:-1, 1:-1], i[0], i[:, -1], i[-1], i[1:-1, 0], i[::2], i[1::2, ::-3], i[:], i[3, 4], i[:-1]]:
        for value in (rng.standard_normal(base[index.fill(())].shape), -0.0):
            cases.append((SETITEM, (base, value), {"index": index}))
    check_all(cases)


def test_samples(rng):
    check_samples(GETITEM, SETITEM, rng=rng)
