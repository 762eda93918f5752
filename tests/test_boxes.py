"""Parts of arrays in windows: read in one step, with NumPy's values whatever the index."""

import numpy as np
import pytest

import autojit as aj
from autojit.lowering import boxes, parameters
from tests.helpers import check

SHAPES = [(40,), (6, 8), (1, 9), (9, 1), (4, 5, 6), (3, 1, 7), (2, 3, 4, 5), (5, 0, 3), ()]


@pytest.fixture
def windows(monkeypatch):
    """Arrays of any size are passed as windows; counts the parts that are read in one step."""
    monkeypatch.setattr(parameters, "WINDOW_BYTES", 0)
    count, read = [0], boxes.read

    def counted(box):
        count[0] += 1
        return read(box)

    monkeypatch.setattr("autojit.lowering.cluster.read", counted)
    aj.clear_cache()
    yield count
    aj.clear_cache()


def random_index(rng, shape):
    entries = []
    for length in shape[: rng.integers(0, len(shape) + 1)]:
        if length and rng.random() < 0.2:
            entries.append(int(rng.integers(-length, length)))
        else:
            start, stop = (None if rng.random() < 0.3 else int(rng.integers(-length - 1, length + 2)) for _ in "ab")
            entries.append(slice(start, stop, [None, None, None, 1, 2, 3, -1, -2][rng.integers(8)]))
    if rng.random() < 0.2:
        entries.insert(rng.integers(len(entries) + 1), None)
    if rng.random() < 0.2:
        entries.insert(rng.integers(len(entries) + 1), ...)
    return tuple(entries)


def away(array, offset):
    """The same numbers, that many elements behind an aligned address."""
    memory = np.empty(array.size + 64, array.dtype)
    start = -memory.ctypes.data % 64 // array.itemsize + offset
    moved = memory[start : start + array.size].reshape(array.shape)
    moved[...] = array
    return moved


@pytest.mark.parametrize("seed", range(60))
def test_any_index(seed, windows):
    rng = np.random.default_rng(seed)
    shape = SHAPES[seed % len(SHAPES)]
    dtype = [np.float64, np.float32, np.int16, np.complex128, np.bool_][seed % 5]
    x = (rng.standard_normal(shape) * 9).astype(dtype)
    first, second = random_index(rng, shape), random_index(rng, shape)
    third = random_index(rng, x[second].shape)

    def parts(x):
        return x[first] * 2, +x[second][third] if dtype != np.bool_ else ~x[second][third], x * 3

    for offset in (0, 1, 3):
        check(parts, away(x, offset))


def test_a_stencil_reads_five_boxes(windows):
    def stencil(x, y):
        y[1:-1, 1:-1] = 0.2 * (x[1:-1, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:] + x[2:, 1:-1] + x[:-2, 1:-1])

    check(stencil, away(np.random.default_rng(1).standard_normal((30, 20)), 2), np.zeros((30, 20)))
    assert windows[0] == 5


def test_what_is_no_box_is_read_as_before(windows):
    def others(x):
        return x[:, ::2] * 2, x[::-1] * 2, x[:, 3] * 2, x[2, 3] * 2

    check(others, np.arange(48.0).reshape(6, 8))
    assert windows[0] == 0


def test_rows_with_a_step_are_a_box(windows):
    def rows(x):
        return x[::2] * 2, x[1::3, 2:5] * 2, x[4] * 2, x[None, 1:3, None] * 2

    check(rows, away(np.arange(48.0).reshape(6, 8), 1))
    assert windows[0] == 4
