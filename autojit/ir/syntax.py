"""Python's parser, as threads need it."""

from __future__ import annotations

import ast

#: More threads than this do not disturb each other at the same moment.
_TRIES = 20


def parse(text: str) -> ast.Module:
    """`ast.parse` for many threads.

    CPython before 3.11.8 and 3.12.2 counts the depth of a tree in a place that all threads share: two that parse at the
    same time may end in a SystemError that says nothing about the text (python/cpython#106905).

    Raises:
        SyntaxError: As `ast.parse`.
    """
    for _ in range(_TRIES):
        try:
            return ast.parse(text)
        except SystemError:
            continue
    return ast.parse(text)
