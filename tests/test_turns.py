"""Two ways of the same take turns."""

from __future__ import annotations

from autojit.runtime.turns import Turns


def test_turns() -> None:
    one_by_one, blocks = Turns(), Turns(in_blocks=True)
    order = []
    for _ in range(8):
        order.append(one_by_one.is_seconds)
        one_by_one.took(1.0)
    assert order == [False, True, True, False, True, False, False, True]
    order = []
    for _ in range(9):
        order.append(blocks.is_seconds)
        blocks.took(0.06)
    assert order == [False] * 3 + [True] * 3 + [False] * 3 and blocks.blocks == 3
