"""Definite assignment: the local names that have a value where a statement starts, for certain or usually."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from autojit.capture.names import bound_on_entry, names, surely_bound
from autojit.ir.syntax import walk, walk_statements

_Bound = frozenset[str]


def assigned_before(body: Sequence[ast.stmt], bound: _Bound, usually: bool = False) -> dict[int, _Bound]:
    """For each statement (by id), the local names that are certainly bound when it starts.

    Args:
        body: The statements.
        bound: The names that are bound before them.
        usually: Find instead what is bound if loops have iterations, a `match` has a case that fits, and no context
            manager swallows an exception.
    """
    found = _Assigned(usually)
    found.block(body, bound)
    return found.before


def assigned_after(statements: Sequence[ast.stmt]) -> _Bound:
    """The names that a run of statements certainly binds when control reaches its end."""
    marker = ast.Pass()
    return assigned_before([*statements, marker], frozenset()).get(id(marker), frozenset())


def bound_at_first(statements: Sequence[ast.stmt]) -> _Bound:
    """The names that a run of statements binds anew before there is any way to leave it."""
    bound: set[str] = set()
    for node in statements:
        if isinstance(node, ast.Assign):  # a name may mean the same object after `x += y`
            bound |= surely_bound(node)
        elif not isinstance(node, ast.Expr):
            break
    return frozenset(bound)


class _Assigned:
    """A forward walk over structured statements; where an end is never reached, its names are `None`."""

    def __init__(self, usually: bool) -> None:
        self.usually = usually
        self.before: dict[int, _Bound] = {}
        self._breaks: list[list[_Bound | None]] = []  # by loop around: what is bound where a `break` leaves it

    def block(self, body: Sequence[ast.stmt], bound: _Bound) -> _Bound | None:
        """The names bound after a block."""
        current: _Bound | None = bound
        for node in body:
            if current is None:
                current = bound  # unreachable code: anything will do
                self.block([node], current)
                current = None
                continue
            self.before[id(node)] = current
            current = self._after(node, current)
        return current

    def _after(self, node: ast.stmt, bound: _Bound) -> _Bound | None:
        if isinstance(node, ast.Return | ast.Raise | ast.Break | ast.Continue):
            if isinstance(node, ast.Break) and self._breaks:
                self._breaks[-1].append(bound)
            return None
        if isinstance(node, ast.If):
            bound |= surely_bound(node.test)
            return _join([self.block(node.body, bound), self.block(node.orelse, bound)])
        if isinstance(node, ast.For | ast.AsyncFor):
            bound = (bound | surely_bound(node.iter)) - deleted_in(node)
            return self._loop(node, bound, bound | names([node.target]).binds)
        if isinstance(node, ast.While):
            bound = (bound | surely_bound(node.test)) - deleted_in(node)
            return self._loop(node, bound, bound)
        if isinstance(node, ast.With | ast.AsyncWith):
            end = self.block(node.body, bound | surely_bound(*node.items))
            if self.usually and end is not None:
                return end
            return (bound | bound_on_entry(node)) - deleted_in(node)
        if isinstance(node, ast.Try | ast.TryStar):
            return self._try(node, bound)
        if isinstance(node, ast.Match):
            return self._match(node, bound | surely_bound(node.subject))
        if isinstance(node, ast.Delete):
            return bound - names([node]).binds
        return bound | surely_bound(node)

    def _loop(self, node: ast.For | ast.AsyncFor | ast.While, bound: _Bound, inside: _Bound) -> _Bound | None:
        self._breaks.append([])
        end = self.block(node.body, inside)
        left = self._breaks.pop()
        if not self.usually:
            self.block(node.orelse, bound)
            return bound
        ways = [*left, self.block(node.orelse, bound if end is None else end)]
        if end is None and left:
            ways.pop()  # it ends in its first iteration
        after = _join(ways)
        return bound if after is None else after

    def _try(self, node: ast.Try | ast.TryStar, bound: _Bound) -> _Bound | None:
        ends = [self.block(node.body, bound)]
        if node.orelse and ends[0] is not None:
            ends = [self.block(node.orelse, ends[0])]
        bound -= deleted_in(node)
        for handler in node.handlers:
            end = self.block(handler.body, bound | ({handler.name} if handler.name else frozenset()))
            ends.append(end - {handler.name} if end is not None and handler.name else end)
        joined = _join(ends)
        final = self.block(node.finalbody, joined if self.usually and joined is not None else bound)
        if final is None or joined is None:
            return None
        deleted = frozenset().union(*map(deleted_in, node.finalbody))
        return (joined - deleted) | final

    def _match(self, node: ast.Match, bound: _Bound) -> _Bound | None:
        ends = [
            self.block(case.body, bound | names([case.pattern]).binds | surely_bound(case.guard)) for case in node.cases
        ]
        fits = any(case.guard is None and _takes_all(case.pattern) for case in node.cases)
        if not fits and not (self.usually and _join(ends) is not None):
            ends.append(bound)
        return _join(ends)


def _takes_all(pattern: ast.pattern) -> bool:
    """Whether a pattern fits every value."""
    if isinstance(pattern, ast.MatchOr):
        return any(map(_takes_all, pattern.patterns))
    return isinstance(pattern, ast.MatchAs) and (pattern.pattern is None or _takes_all(pattern.pattern))


def deleted_in(node: ast.AST) -> set[str]:
    """The names that a statement, or a part of it, may delete."""
    found: set[str] = set()
    for part in walk_statements(node):
        if isinstance(part, ast.ExceptHandler) and part.name:
            found.add(part.name)
        elif isinstance(part, ast.Delete):
            inner = [name for target in part.targets for name in walk(target) if isinstance(name, ast.Name)]
            found |= {name.id for name in inner if isinstance(name.ctx, ast.Del)}
    return found


def _join(ends: Sequence[_Bound | None]) -> _Bound | None:
    reached = [end for end in ends if end is not None]
    return frozenset.intersection(*reached) if reached else None
