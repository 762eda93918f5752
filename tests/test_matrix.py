"""A seeded part of the matrix of rows, dtypes and layouts; `python -m tests.matrix` runs all of it."""

from __future__ import annotations

import numpy as np
import pytest

from autojit.ops.chapters import CHAPTERS
from tests.evaluated import evaluated
from tests.matrix.__main__ import main, shown
from tests.matrix.combinations import combinations
from tests.matrix.forms import forms_of
from tests.matrix.judge import judge
from tests.matrix.spellings import WITHOUT

ROWS = [row for chapter in CHAPTERS for row in chapter.ROWS]
#: Which part of the combinations is tried.
SHARDS = {"captured": 300, "compiled": 5000}


def _differing(shards: int) -> list[str]:
    found = judge(one for row in ROWS for one in combinations(row, 1, shards))
    assert any(verdict.status == "compiled" for verdict in found)
    return [shown(verdict) for verdict in found if verdict.problem]


def test_captured() -> None:
    with evaluated():
        wrong = _differing(SHARDS["captured"])
    assert not wrong, "\n".join(wrong[:5])


def test_compiled() -> None:
    wrong = _differing(SHARDS["compiled"])
    assert not wrong, "\n".join(wrong[:5])


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_every_row_has_forms(row: object) -> None:
    assert bool(forms_of(row, np.random.default_rng(0))) != (row.name in WITHOUT)


def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["-k", "np.add", "--numpy", "--shard", "1/40"]) == 0
    assert " 0 differing" in capsys.readouterr().out.splitlines()[-1]
