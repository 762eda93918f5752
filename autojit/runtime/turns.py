"""Whose turn it is: two ways to make a call are timed against each other on the calls of the program."""

from __future__ import annotations

#: Where NumPy multiplies matrices it gets a block of so many seconds, or so many calls: the threads of its library spin
#: for some 60 ms after a product, and what comes next takes up to twice as long.
BLOCK, LONGEST_BLOCK = 0.15, 64


class Turns:
    """The turns of two ways, of which the first begins.

    One call each like 0110 1001: then calls that differ in some order of their own count alike. Or in blocks.

    Args:
        in_blocks: Whether the turns are blocks.

    Attributes:
        blocks: How many blocks have ended.
    """

    __slots__ = ("_calls", "_in_block", "_seconds", "blocks", "in_blocks")

    def __init__(self, in_blocks: bool = False) -> None:
        self.in_blocks = in_blocks
        self.blocks = self._calls = self._in_block = 0
        self._seconds = 0.0

    @property
    def is_seconds(self) -> bool:
        """Whether the next call is the second way's."""
        return (self.blocks if self.in_blocks else self._calls.bit_count()) % 2 == 1

    def took(self, seconds: float) -> None:
        """Whose turn it was has taken it, in so many seconds."""
        self._calls += 1
        self._in_block += 1
        self._seconds += seconds
        if self._seconds >= BLOCK or self._in_block >= LONGEST_BLOCK:
            self.blocks += 1
            self._in_block, self._seconds = 0, 0.0
