"""`open` as it is when autojit is imported: a program, its tests above all, may put another one in its place."""

import io

open_file = io.open

__all__ = ["open_file"]
