"""The op table: the rows of all chapters, and how to find one."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from autojit.ir.op import Op


class Table:
    """Rows by name, by NumPy callable and by `np.ndarray` method name."""

    def __init__(self) -> None:
        self.rows: dict[str, Op] = {}
        self._by_callable: dict[int, Op] = {}
        self._methods: dict[str, Op] = {}
        self._kept: list[object] = []  # ids stay valid only while the callables live

    def add(self, *rows: Op) -> None:
        """Add rows.

        Raises:
            ValueError: A name, callable or method stands in two rows.
        """
        for row in rows:
            if row.name in self.rows:
                raise ValueError(f"two rows are named `{row.name}`")
            self.rows[row.name] = row
            for function in row.numpy:
                if self._by_callable.setdefault(id(function), row) is not row:
                    raise ValueError(f"`{row.name}`: {function} already has a row")
                self._kept.append(function)
            for method in row.methods:
                if self._methods.setdefault(method, row) is not row:
                    raise ValueError(f"`{row.name}`: method `{method}` already has a row")

    def extend(self, rows: Iterable[Op]) -> None:
        """Add a chapter."""
        self.add(*rows)

    def find(self, function: Callable[..., Any]) -> Op | None:
        """The row that stands for a NumPy callable, or `None`."""
        return self._by_callable.get(id(function))

    def method(self, name: str) -> Op | None:
        """The row behind `array.name(...)`, or `None`."""
        return self._methods.get(name)

    def __getitem__(self, name: str) -> Op:
        return self.rows[name]


TABLE = Table()
