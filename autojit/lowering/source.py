"""Make a call look as if it came from the user's line, so that jax records that line."""

from __future__ import annotations

import ast
from collections.abc import Callable
from types import CodeType, FunctionType
from typing import Any

from autojit.errors import SourceLine


def call_from(source: SourceLine | None, function: Callable[..., Any], *arguments: Any) -> Any:
    """`function(*arguments)`, called from a frame that carries the user's file, line and function name."""
    if source is None:
        return function(*arguments)
    name = source.function.rpartition(".")[2] or "<module>"
    code = _TEMPLATE.replace(
        co_filename=source.file,
        co_firstlineno=source.line,
        co_name=name,
        co_qualname=source.function or name,
    )
    return FunctionType(code, {})(function, arguments)


def _template() -> CodeType:
    """The code of a one-line function, without column numbers: they would be those of another file."""
    tree = ast.parse("def template(function, arguments): return function(*arguments)")
    for node in ast.walk(tree):
        if "lineno" in node._attributes:
            node.lineno = node.end_lineno = 1  # type: ignore[attr-defined] -- only nodes that have a place
            node.col_offset = node.end_col_offset = 0  # type: ignore[attr-defined] -- only nodes that have a place
    module = compile(tree, "<user>", "exec")
    return next(constant for constant in module.co_consts if isinstance(constant, CodeType))


_TEMPLATE = _template()
