"""`np.linalg`."""

from __future__ import annotations

from typing import Any

from autojit.ir.op import Op

#: The named tuples that functions with several results return, by row.
RESULT_TYPES: dict[str, Any] = {}

ROWS: tuple[Op, ...] = ()
