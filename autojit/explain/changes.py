"""What changes from call to call, so that one plan does not do: found in the history of captures."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Iterable
from dataclasses import dataclass, field
from types import CodeType

from autojit.errors import Reason, SourceLine
from autojit.ir.syntax import parse
from autojit.runtime.history import Change, Event

#: Two kinds of calls are no pattern.
_KINDS = 3


@dataclass(slots=True)
class _Subject:
    """One thing that changes: where a line needs it, and how it has changed, by region."""

    source: SourceLine | None
    changes: dict[tuple[int, int], list[Change]] = field(default_factory=dict)

    @property
    def most(self) -> list[Change]:
        return max(self.changes.values(), key=len)


def changing(events: Iterable[Event], code: CodeType, text: tuple[str, int, list[str]] | None) -> list[Reason]:
    """What has had one region captured for three kinds of calls or more, each thing once.

    A local array that changes no more often than all that comes from outside follows from it, and is not named.

    Args:
        events: The history of a function.
        code: The function's code.
        text: Its file, first line and lines.
    """
    found: dict[tuple[str, SourceLine | None], _Subject] = {}
    for event in events:
        for change in event.changes:
            guard = change.guard
            subject = found.setdefault((guard.subject, guard.source), _Subject(guard.source))
            subject.changes.setdefault(event.lines, []).append(change)
    parameters = code.co_argcount + code.co_kwonlyargcount
    inner = {f"`{name}`" for name in code.co_varnames[parameters:]}
    outside = sum(len(subject.most) for (name, _), subject in found.items() if name not in inner)
    reasons = []
    for (name, source), subject in found.items():
        changes = subject.most
        if len(changes) + 1 < _KINDS or (name in inner and len(changes) <= outside):
            continue
        detail = f"{changes[-1].before}, then {changes[-1].guard.text}; {len(changes)} changes so far"
        reasons.append(Reason(_id(changes[-1].guard.text), detail, source or _where(name, name in inner, code, text)))
    return reasons


def _id(text: str) -> str:
    """Which reason a condition belongs to that changes."""
    if " is an array " in text:
        return "changing-shape"
    is_kind = " is of type " in text or " has " in text or text.endswith(" order")
    return "changing-kind" if is_kind else "changing-value"


def nodes_of(lines: list[str]) -> list[ast.AST]:
    """The syntax of a function's own lines, numbered from 1; nothing for a lambda in the middle of a line."""
    try:
        return list(ast.walk(parse(textwrap.dedent("".join(lines)))))
    except SyntaxError:
        return []


def _where(name: str, is_inner: bool, code: CodeType, text: tuple[str, int, list[str]] | None) -> SourceLine | None:
    """The first line that binds a local name, or the one with the parameters."""
    if text is None:
        return None
    file, first, lines = text
    nodes = nodes_of(lines)
    names = [node for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
    if is_inner:
        found = [node.lineno for node in names if f"`{node.id}`" == name]
    else:
        found = [node.lineno for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)]
    if not found:
        return None
    number = min(found) - 1
    return SourceLine(file, first + number, code.co_qualname, lines[number].strip())
