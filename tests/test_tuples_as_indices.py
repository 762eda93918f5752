"""Named tuples as indices, and the extreme of one item."""

from __future__ import annotations

import enum
from collections import namedtuple

import numpy as np
import pytest

import autojit as aj

Cell = namedtuple("Cell", "row col")


class Word(str, enum.Enum):  # noqa: UP042 -- what is tested
    """Is a string, too."""

    X = "xy"


def read(grid, cell):
    return grid[cell] * 2


def written(grid, cell):
    grid[cell] = 100.0
    return grid.sum()


def added(grid, cell):
    grid[Cell(cell.row + 1, 2)] += 1
    return grid * 1


def at(grid, cell):
    np.add.at(grid, cell, 5.0)
    return grid * 2


def walked(grid, cell):
    total = 0.0
    for one in (Cell(0, 0), Cell(1, 1), Cell(2, 2)):
        total = total + grid[one]
    return total


def masked(grid, cell):
    return grid[Cell(grid[:, 0] > 2, 1)] + 1


def mask_alone(grid, cell):
    grid[Cell(grid[:, 1] > 3, slice(None))] = 0.0
    return grid + 1


def flat(grid, cell):
    y = grid * 2
    return y.flat[Cell(0, 1)]


def flat_written(grid, cell):
    y = grid * 2
    y.flat[Cell(0, 1)] = 3.0
    return y


def as_keys(grid, cell):
    found = {cell: grid * 2}
    return [type(key).__name__ for key in found], found[0, 1] + 1


def largest_word(grid, cell):
    return max(["abc"]), grid * 2


def smallest_key(grid, cell):
    d = {"ab": grid * 2}
    return min(d), d["ab"] + 1


def of_a_generator(grid, cell):
    return max(n.upper() for n in ("abc",)), grid * 2


def of_others(grid, cell):
    return max([range(3)]), max([b"ab"]), max([Word.X]) is Word.X, grid * 2


def of_an_array(grid, cell):
    return max([grid]) * 2, max([grid]) is grid


def by_key_or_default(grid, cell):
    return max(["abc"], key=len), min(["abc"], default="z"), max([range(3)], default=0), grid * 2


def mapped_over_nothing(grid, cell):
    return list(map(np.sin)), grid * 2


FUNCTIONS = [
    read, written, added, at, walked, masked, mask_alone, flat, flat_written, as_keys, largest_word, smallest_key,
    of_a_generator, of_others, of_an_array, by_key_or_default, mapped_over_nothing,
]  # fmt: skip


def outcome(function):
    grid = np.arange(12.0).reshape(3, 4) + 1
    try:
        return repr(function(grid, Cell(0, 1))), repr(grid)
    except Exception as error:
        return type(error), repr(grid)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_as_in_python(function):
    fast = aj.autocluster(policy="eager")(function)
    for _ in range(2):
        assert outcome(fast) == outcome(function)
