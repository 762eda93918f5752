"""Which local names a statement reads and binds, and their liveness over a function body."""

from __future__ import annotations

import ast
import contextlib
import sys
import threading
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from autojit.ir.syntax import LEAVES, parts_of, walk

#: The name that holds a plan's result for a moment, and the prefix of arguments taken out of native calls.
TEMPORARY = "__autojit"


class _Names:
    """Collects the names that one function scope reads and binds, comprehensions and nested scopes apart.

    It is an `ast.NodeVisitor` that knows its methods by type: every node of a function is visited, many times.
    """

    def __init__(self, known: _Known | None) -> None:
        self.known = known
        self.reads: set[str] = set()
        self.binds: set[str] = set()
        self.captured: set[str] = set()  # read inside a nested scope: alive as long as the function object
        self.holders: list[tuple[ast.AST, frozenset[str]]] = []  # the nested scopes, with what each of them captures
        self.maybe: set[str] = set()  # bound by a `:=` that is not evaluated on every way through
        self._depth = 0  # of expressions that may be skipped

    def visit(self, node: ast.AST) -> None:
        """Collect the names of a node."""
        kind = type(node)
        if kind not in LEAVES:
            if self.known is not None and isinstance(node, ast.stmt):
                self.add(node, self.known)
            else:
                _METHODS.get(kind, _Names.generic_visit)(self, node)

    def add(self, node: ast.AST, known: _Known) -> None:
        """Collect the names of a node that stands in no expression, and remember them."""
        found = known.get(id(node))
        if found is None:
            inner = _Names(known)
            _METHODS.get(type(node), _Names.generic_visit)(inner, node)
            known[id(node)] = node, inner
        else:
            inner = found[1]
        self.reads |= inner.reads
        self.binds |= inner.binds
        self.captured |= inner.captured
        self.holders += inner.holders
        self.maybe |= inner.maybe

    def generic_visit(self, node: Any) -> None:
        """Collect the names of the parts of a node."""
        for part in parts_of(node):
            self.visit(part)

    def visit_Name(self, node: ast.Name) -> None:
        if not isinstance(node.ctx, ast.Store):  # `del` needs the name to be bound
            self.reads.add(node.id)
        if not isinstance(node.ctx, ast.Load):
            self.binds.add(node.id)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        if isinstance(node.target, ast.Name):
            self.reads.add(node.target.id)
        self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None or not isinstance(node.target, ast.Name):
            self.visit(node.target)  # else nothing is bound
        for part in (node.annotation, node.value):
            if part is not None:
                self.visit(part)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> None:
        if self._depth:
            self.maybe.add(node.target.id)
        self.generic_visit(node)

    def _skippable(self, *nodes: ast.AST | None) -> None:
        self._depth += 1
        for node in nodes:
            if node is not None:
                self.visit(node)
        self._depth -= 1

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        self.visit(node.values[0])
        self._skippable(*node.values[1:])

    def visit_Compare(self, node: ast.Compare) -> None:
        self.visit(node.left)
        self.visit(node.comparators[0])
        self._skippable(*node.comparators[1:])

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self.visit(node.test)
        self._skippable(node.body, node.orelse)

    def visit_Assert(self, node: ast.Assert) -> None:
        if sys.flags.optimize:
            return  # it is not there
        self.visit(node.test)
        self._skippable(node.msg)

    def visit_alias(self, node: ast.alias) -> None:
        self.binds.add(node.asname or node.name.split(".")[0])

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        if node.name:
            self.binds.add(node.name)
        self.generic_visit(node)

    def visit_MatchAs(self, node: ast.MatchAs) -> None:
        if node.name:
            self.binds.add(node.name)
        self.generic_visit(node)

    visit_MatchStar = visit_MatchAs  # has a name too

    def visit_MatchMapping(self, node: ast.MatchMapping) -> None:
        if node.rest:
            self.binds.add(node.rest)
        self.generic_visit(node)

    def _scope(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef) -> None:
        inner = names(_evaluated_outside(node))
        self.reads |= inner.reads
        self.binds |= inner.binds
        self.maybe |= inner.maybe
        held = set(inner.captured)
        body: list[ast.AST] = [node.body] if isinstance(node, ast.Lambda) else [*node.body]
        inner = names([*body, *getattr(node, "type_params", ())])
        outer = {name for part in walk(node) if isinstance(part, ast.Nonlocal) for name in part.names}
        own: set[str] = set()  # a class body reads a name from outside until it binds it
        if not isinstance(node, ast.ClassDef):
            own = inner.binds | {part.arg for part in walk(node.args) if isinstance(part, ast.arg)}
        # What a nested scope may bind is as good as read: nobody knows when it does.
        self._hold(node, held | (inner.reads | inner.captured | outer) - (own - outer))

    def _hold(self, node: ast.AST, held: set[str]) -> None:
        self.reads |= held
        self.captured |= held
        self.holders.append((node, frozenset(held)))

    def _definition(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> None:
        self.binds.add(node.name)
        self._scope(node)

    visit_FunctionDef = visit_AsyncFunctionDef = visit_ClassDef = _definition
    visit_Lambda = _scope

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp) -> None:
        first = node.generators[0].iter
        inner = _Names(self.known)
        for part in parts_of(node):
            if part is not node.generators[0]:
                inner.visit(part)
        for part in parts_of(node.generators[0]):
            if part is not first:
                inner.visit(part)
        walrus, targets = _assigned_in(node), targets_of(node)
        self.reads |= (inner.reads | inner.captured) - targets
        self.binds |= walrus
        self.maybe |= walrus
        if isinstance(node, ast.GeneratorExp):  # it reads when it is asked for elements
            self._hold(node, ((inner.reads | inner.captured) - targets) | walrus)
        elif inner.captured - targets:
            self._hold(node, inner.captured - targets)
        self.visit(first)  # the enclosing scope evaluates it, at once

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _comprehension


#: By a node's identity, it and its names: a node that lives keeps its identity.
_Known = dict[int, tuple[ast.AST, _Names]]

_METHODS: dict[type, Any] = {
    getattr(ast, name.removeprefix("visit_")): method
    for name, method in vars(_Names).items()
    if name.startswith("visit_")
}


def _evaluated_outside(node: ast.AST) -> list[ast.AST]:
    """The parts of a definition that the enclosing scope evaluates."""
    parts: list[ast.AST | None] = [*getattr(node, "decorator_list", ()), getattr(node, "returns", None)]
    arguments = getattr(node, "args", None)
    if isinstance(arguments, ast.arguments):
        parts += [*arguments.defaults, *arguments.kw_defaults]
        parts += [part.annotation for part in walk(arguments) if isinstance(part, ast.arg)]
    parts += [*getattr(node, "bases", ()), *getattr(node, "keywords", ())]
    return [part for part in parts if part is not None]


class _Local(threading.local):
    known: _Known | None = None


_LOCAL = _Local()


@contextlib.contextmanager
def names_are_remembered() -> Iterator[None]:
    """Look at each statement once: meanwhile this thread changes none that it has asked for the names of."""
    outer = _LOCAL.known
    _LOCAL.known = {} if outer is None else outer
    try:
        yield
    finally:
        _LOCAL.known = outer


def names(nodes: Iterable[ast.AST]) -> _Names:
    """Reads, binds and captured names of some nodes."""
    known = _LOCAL.known
    found = _Names(known)
    for node in nodes:
        if known is None or type(node) in LEAVES:
            found.visit(node)
        else:
            found.add(node, known)
    return found


def targets_of(node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp) -> set[str]:
    """The names of a comprehension's own scope: not the `a` and `i` of `for a[i] in x`, which it reads from outside."""
    return names(generator.target for generator in node.generators).binds - _assigned_in(node)


def _assigned_in(node: ast.AST) -> set[str]:
    return {n.target.id for n in walk(node) if isinstance(n, ast.NamedExpr) and isinstance(n.target, ast.Name)}


def surely_bound(*nodes: ast.AST | None) -> set[str]:
    """The names that the evaluation of expressions binds, whatever their values are."""
    found = names(node for node in nodes if node is not None)
    return found.binds - found.maybe


def bound_on_entry(node: ast.With | ast.AsyncWith) -> set[str]:
    """The names that a `with` statement has bound whenever control goes on behind it.

    Its first context manager may swallow the exceptions of all that follows: to unpack what it gave, too.
    """
    first = node.items[0]
    return surely_bound(first.context_expr, first.optional_vars if isinstance(first.optional_vars, ast.Name) else None)


class Flow:
    """Liveness of local names: what a run of statements needs and what is needed after it.

    A backward walk over the structured statements. It errs towards "live": a name may be called live that is not.

    Args:
        body: The statements.
        local_names: The names that count.
        outside: Those that others may read when control has left the statements, in whatever way.
    """

    def __init__(
        self, body: Sequence[ast.stmt], local_names: frozenset[str], outside: frozenset[str] = frozenset()
    ) -> None:
        self.local_names, self.outside = local_names, outside
        self._body, found = body, names(body)
        self.captured = found.captured & local_names
        self._holders = found.holders
        self.after: dict[int, frozenset[str]] = {}  # id(statement) -> live after it
        self.raised: dict[int, frozenset[str]] = {}  # id(statement) -> live where an exception or `return` leads
        self._loops: list[tuple[frozenset[str], frozenset[str]]] = []  # (live at continue, live at break)
        self._handlers = [outside] if outside else []  # live at the entry of enclosing handlers
        self._heads: dict[int, frozenset[str]] = {}  # by the body of a loop: what was found live where it begins
        self.block(body, outside)

    def live_after(self, statement: ast.stmt) -> frozenset[str]:
        """The local names that the function may read after a statement of the body."""
        return self.after[id(statement)]

    def held(self, statements: Sequence[ast.stmt], again: bool) -> frozenset[str]:
        """The local names that functions may read which were made elsewhere, before these statements or after them.

        A function that the statements make is theirs to account for; not so where they run again and again, nor for
        names that others bind anew: those keep what the names were, and do not know that the function is gone.
        """
        if not self._holders:
            return frozenset()
        every = frozenset().union(*(held for _, held in self._holders)) & self.local_names
        if again:
            return every
        own = {id(node) for statement in statements for node in walk(statement)}
        found = frozenset().union(*(held for node, held in self._holders if id(node) not in own))
        anew = names(statement for statement in self._body if id(statement) not in own).binds
        return every & (found | anew)

    def block(self, body: Sequence[ast.stmt], live: frozenset[str]) -> frozenset[str]:
        """Walk a block backwards; the names live at its entry."""
        for statement in reversed(body):
            raised = frozenset().union(*self._handlers) if self._handlers else frozenset()
            self.raised[id(statement)] = self.raised.get(id(statement), frozenset()) | raised
            self.after[id(statement)] = self.after.get(id(statement), frozenset()) | live | raised
            live = self._statement(statement, live) | raised
        return live

    def entry(
        self, body: Sequence[ast.stmt], live: frozenset[str], left: frozenset[str] = frozenset()
    ) -> frozenset[str]:
        """The names live at the entry of a block that may leave the loop around it: there `left` is live."""
        self._loops.append((left, left))
        try:
            return self.block(body, live)
        finally:
            self._loops.pop()
            self._heads.clear()

    def _use(self, nodes: Iterable[ast.AST | None], live: frozenset[str]) -> frozenset[str]:
        found = names(node for node in nodes if node is not None)
        return (live - (found.binds - found.reads - found.maybe)) | (found.reads & self.local_names)

    def _statement(self, node: ast.stmt, live: frozenset[str]) -> frozenset[str]:
        if isinstance(node, ast.Return):
            return self._use([node.value], frozenset())
        if isinstance(node, ast.Raise):
            return self._use([node], frozenset())
        if isinstance(node, ast.Break):
            return self._loops[-1][1] if self._loops else live
        if isinstance(node, ast.Continue):
            return self._loops[-1][0] if self._loops else live
        if isinstance(node, ast.If):
            return self._use([node.test], self.block(node.body, live) | self.block(node.orelse, live))
        if isinstance(node, ast.For | ast.AsyncFor):
            return self._loop(node.body, node.orelse, [node.iter], [node.target], live)
        if isinstance(node, ast.While):
            return self._loop(node.body, node.orelse, [node.test], [], live)
        if isinstance(node, ast.With | ast.AsyncWith):
            self._handlers.append(live)  # a context manager may swallow an exception of the body
            inner = self.block(node.body, live)
            self._handlers.pop()
            kept = live - bound_on_entry(node)  # or one of an item that stands behind it
            return self._use(list(node.items), inner) | kept | (names(node.items).reads & self.local_names)
        if isinstance(node, ast.Try | ast.TryStar):
            return self._try(node, live)
        if isinstance(node, ast.Match):
            arms = frozenset().union(live, *(self.block(case.body, live) for case in node.cases))
            return arms | (names([node]).reads & self.local_names)
        return self._use([node], live)

    def _loop(
        self,
        body: list[ast.stmt],
        orelse: list[ast.stmt],
        header: list[ast.AST],
        targets: list[ast.AST],
        live: frozenset[str],
    ) -> frozenset[str]:
        exit_live = self.block(orelse, live)
        head = exit_live
        if not targets:
            head = self._use(header, head)
        # A loop around comes back with more names, not with fewer: what was found the last time holds. Without that the
        # passes over loops in each other would be multiplied.
        head |= self._heads.get(id(body), frozenset())
        for _ in range(3):  # two passes reach the fixpoint of a loop; the third finds nothing new
            self._loops.append((head, live))
            inside = self.block(body, head)
            self._loops.pop()
            if targets:
                inside = inside - names(targets).binds | (names(targets).reads & self.local_names)
            else:
                inside = self._use(header, inside)
            if inside <= head:
                break
            head |= inside
        self._heads[id(body)] = head
        if not self._loops:
            self._heads.clear()
        return self._use(header, head) if targets else head

    def _try(self, node: ast.Try | ast.TryStar, live: frozenset[str]) -> frozenset[str]:
        final = live
        if node.finalbody:
            if self._loops:  # a `break` or `continue` goes through it, to where other names are live
                live |= self._loops[-1][0] | self._loops[-1][1]
            final = self.block(node.finalbody, live) | live
        self._handlers.append(final)  # also after a `return` or an exception in a handler
        entries = frozenset().union(final, *(self.block(handler.body, final) for handler in node.handlers)) | (
            names(node.handlers).reads & self.local_names
        )
        self._handlers[-1] = entries
        live_else = self.block(node.orelse, final)
        inside = self.block(node.body, live_else)
        self._handlers.pop()
        return inside | entries
