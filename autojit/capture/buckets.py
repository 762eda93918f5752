"""Numbers of rows that one plan takes."""

from __future__ import annotations

#: With fewer rows no plan for several lengths is made: two arrays may have equally many by chance.
FEWEST = 32


def bucket(count: int) -> tuple[int, int]:
    """For more than how many rows, and for at most how many, the plan is that takes a number of rows.

    >>> bucket(40), bucket(64), bucket(65), bucket(100)
    ((32, 48), (48, 64), (64, 96), (96, 128))
    """
    half = 1 << ((count - 1).bit_length() - 1)
    middle = half + half // 2
    return (half, middle) if count <= middle else (middle, 2 * half)
