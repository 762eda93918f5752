"""Regions: runs of statements that a plan may stand for, as a tree over a function's body.

The tree starts as one region, the whole body. A region that cannot be captured as a whole is *split* at the
statements that stay native; their blocks and the runs between them are regions again.
"""

from __future__ import annotations

import ast
import copy
import types
from collections.abc import Iterator, Sequence
from typing import Any

from autojit.capture.assigned import assigned_after, assigned_before, bound_at_first
from autojit.capture.cells import is_empty
from autojit.capture.frames import asks_for_names, shows_names
from autojit.capture.lookups import Lookup, lookup_of
from autojit.capture.names import TEMPORARY, Flow, names
from autojit.capture.source import FunctionSource
from autojit.errors import CannotCapture, SourceLine
from autojit.ir.syntax import SCOPES, statements_of, walk, walk_statements

#: How control leaves a region: at its end, or by one of these statements.
END, RETURN, BREAK, CONTINUE = 0, 1, 2, 3
_RESIZE = ("append", "extend", "insert", "pop", "remove", "clear")


class Native:
    """A statement that stays Python.

    Attributes:
        statement: The statement.
        blocks: Its nested blocks, by field name, as regions.
        rest: The region that can take a loop over at each iteration, if there is one.
        stop: The name of the number at which that region stops.
        counter: The name of the number that counts the loop's iterations.
        left: The name that tells whether that region has left the loop; or "": it never does.
    """

    def __init__(self, statement: ast.stmt) -> None:
        self.statement = statement
        self.blocks: dict[tuple[str, int], Region] = {}
        self.rest: Region | None = None
        self.stop = self.counter = self.left = ""


class Region:
    """A run of statements of one block.

    Attributes:
        number: The position in the order of creation; names the region.
        statements: The statements, in program order.
        live_in: Local names the statements may read before they bind them, and those that a loop binds in some of its
            iterations only; all are bound, certainly or usually.
        live_out: Local names bound here that may be read afterwards.
        certain: The part of `live_out` that every way through the region binds.
        usual: The live-ins that are bound usually (see `assigned_before`): a plan is asked where all of them are.
        late: The live-ins that are free variables without a value when the function was decorated.
        live_return: Local names bound here that may be read after a `return` in it, by a `finally` around the region
            or by a function that was made outside it.
        moving: Names that enclosing native loops rebind: their values change from entry to entry. `x[]` stands for a
            list `x` whose length they change.
        maybe: Local names that the statements may read before they bind them, and that may have no value then. A plan
            is not given them; statements that do read them are Python's.
        parts: What a split left: regions and native statements in program order; or `None`.
        early: The same for the calls that run before anybody has tried to capture the region; or `None`.
        once: Whether it runs no more often than the region it is an early part of, so that it needs no probe.
        lookup: How Python looks up the function of the native call whose arguments are the region's last statements.
        looks_at: The local variables that tell whether that runs code; `None` if nothing has to be seen before.
        dropped: The live-ins that all ways bind anew and nobody reads again: the frame must not keep what they were.
        is_rest: Whether it stands for the rest of a loop that runs.
        may_be_left: For the rest of a loop: whether a `break`, or its test, may leave it; then it has a `steady` form.
    """

    def __init__(
        self,
        number: int,
        statements: list[ast.stmt],
        live_in: tuple[str, ...],
        live_out: tuple[str, ...],
        certain: frozenset[str],
        moving: frozenset[str],
        maybe: frozenset[str],
        depth: int,
    ) -> None:
        self.number, self.depth = number, depth
        self.statements = statements
        self.live_in, self.live_out = live_in, live_out
        self.certain, self.moving, self.maybe = certain, moving, maybe
        self.live_return: tuple[str, ...] = ()
        self.usual: tuple[str, ...] = ()
        self.late: tuple[str, ...] = ()
        self.parts: list[Region | Native] | None = None
        self.early: list[Region | Native] | None = None
        self.once = self.is_rest = self.may_be_left = False
        self.lookup: Lookup | None = None
        self.looks_at: tuple[str, ...] | None = None
        self.dropped: tuple[str, ...] = ()

    @property
    def exits(self) -> bool:
        """Whether control may leave the region other than at its end."""
        return any(True for statement in self.statements for _ in leaving(statement))

    @property
    def branches(self) -> bool:
        """Whether the arguments decide which statements run."""
        kinds = (ast.If, ast.IfExp, ast.BoolOp, ast.For, ast.While, ast.Match)
        return any(isinstance(node, kinds) for s in self.statements for node in walk(s))

    @property
    def lines(self) -> tuple[int, int]:
        """The first and the last line."""
        return self.statements[0].lineno, max(s.end_lineno or s.lineno for s in self.statements)

    @property
    def worthwhile(self) -> bool:
        """Whether there can be array work in it at all."""
        kinds = (ast.Call, ast.BinOp, ast.AugAssign, ast.UnaryOp, ast.Compare, ast.Subscript)
        return any(isinstance(node, kinds) for s in self.statements for node in walk(s))


def leaving(node: ast.AST, in_loop: bool = False) -> Iterator[ast.AST]:
    """The statements that take control out of `node`: returns, and breaks and continues of an outer loop."""
    if isinstance(node, ast.Return) or (isinstance(node, ast.Break | ast.Continue) and not in_loop):
        yield node
    elif isinstance(node, ast.For | ast.While | ast.AsyncFor):
        for child in node.body:
            yield from leaving(child, True)
        for child in node.orelse:
            yield from leaving(child, in_loop)
    elif not isinstance(node, SCOPES):
        for child in statements_of(node):
            yield from leaving(child, in_loop)


class RegionTree:
    """The regions of one function.

    Args:
        source: The function's source.
        closure: Its cells.
        outside: Local names that others read when the body has ended, in whatever way.
        usual: Local names that usually have a value when the body begins.
    """

    def __init__(
        self,
        source: FunctionSource,
        closure: Sequence[types.CellType] = (),
        outside: frozenset[str] = frozenset(),
        usual: frozenset[str] = frozenset(),
    ) -> None:
        self.source = source
        code = source.function.__code__
        if asks := asks_for_names(source.node):
            raise CannotCapture("unsupported-syntax", f"`{asks}` may see every local name")
        self.local_names = frozenset(code.co_varnames) | frozenset(code.co_cellvars) | frozenset(code.co_freevars)
        if shows_names(source.node):
            outside |= self.local_names
        self._names = outside, usual
        self.free_names = frozenset(code.co_freevars)
        cells = zip(code.co_freevars, closure, strict=False)
        self.late_names = frozenset(name for name, cell in cells if is_empty(cell))
        node = source.node
        if isinstance(node, ast.Lambda):
            body: list[ast.stmt] = [ast.copy_location(ast.Return(node.body), node.body)]
        else:
            body = node.body
        flags = code.co_flags
        parameters = code.co_argcount + code.co_kwonlyargcount + bool(flags & 4) + bool(flags & 8)
        bound = frozenset(code.co_varnames[:parameters])
        self.flow = Flow(body, self.local_names, outside)
        # Others may delete what they share.
        taken = self.free_names | (deleted_within(node) & frozenset(code.co_cellvars))
        self.bound = assigned_before(body, bound)
        if taken:
            self.bound = {key: found - taken for key, found in self.bound.items()}
        self.usual = assigned_before(body, bound | self.free_names | usual, usually=True)
        self.regions: list[Region] = []
        self._hoisted = 0
        self.root = self._region(_skip_docstring(body), frozenset(), 0)
        # When the function starts, its parameters have values and nothing else has.
        self.root.maybe = frozenset()
        self.root.certain = frozenset()  # a call that starts again binds the names in a frame of its own

    def again(self) -> RegionTree:
        """The same for those who only look, where a tree that runs has been split."""
        return RegionTree(self.source, (), *self._names)

    def _region(
        self,
        statements: list[ast.stmt],
        moving: frozenset[str],
        depth: int,
        extra_live: frozenset[str] = frozenset(),
        before: frozenset[str] | None = None,
    ) -> Region:
        """Make a region; `before` and `extra_live` stand in for statements that the analysis has not seen."""
        first, last = statements[0], statements[-1]
        bound = _before(self.bound, first) if before is None else self.bound.get(id(first), before)
        usual = _before(self.usual, first) - bound
        known = [s for s in statements if id(s) in self.flow.after]
        live_after = (self.flow.live_after(known[-1]) if known else self.bound.get(id(last), bound)) | extra_live
        held = self.read_by_others(statements, depth)
        live_after |= held
        statements, every = without_callees(statements), statements
        lookup, looks_at = self._looked_up(every)
        seen = frozenset(looks_at or ())
        found = names(statements)
        extra_live |= {name for name in found.binds if name.startswith(TEMPORARY)}
        reads = found.reads & self.local_names
        extra_reads = frozenset[str]()
        if "super" in found.reads and "__class__" in self.free_names:  # `super()` looks at the first argument
            extra_reads = frozenset(self.source.function.__code__.co_varnames[:1])
        exposed = Flow(statements, self.local_names | extra_live)
        needed = exposed.entry(statements, frozenset()) & reads | extra_reads
        ends = assigned_after(statements)
        live_out = tuple(sorted(found.binds & (live_after | extra_live)))
        if any(
            isinstance(leaver, ast.Break | ast.Continue) for statement in statements for leaver in leaving(statement)
        ):
            # Control may also leave in the middle, with other names bound and other names live.
            live_out, ends = tuple(sorted(found.binds & (self.local_names | extra_live))), frozenset()
        maybe = needed - bound - usual
        at_entry = exposed.entry(statements, live_after, live_after)
        needed = (needed | (_bound_now_and_then(statements) & at_entry)) & (bound | usual)
        after_return = found.binds & (self.flow.raised.get(id(first), frozenset()) | held)
        dropped = needed & bound_at_first(statements) - after_return - frozenset(live_out)
        region = Region(len(self.regions), every, tuple(sorted(needed)), live_out, ends, moving, maybe, depth)
        region.live_return = tuple(sorted(after_return))
        region.usual = tuple(sorted((needed | seen) & usual))
        region.late = tuple(sorted((needed | seen) & self.late_names))
        region.lookup, region.looks_at = lookup, looks_at
        region.dropped = tuple(sorted(dropped))
        self.regions.append(region)
        return region

    def read_by_others(self, statements: list[ast.stmt], depth: int) -> frozenset[str]:
        """The local names that others may read when a region has run, in whatever way: those of cells outlive it."""
        return self.flow.held(statements, depth > 0) | self.free_names | self.flow.outside

    def _looked_up(self, statements: list[ast.stmt]) -> tuple[Lookup | None, tuple[str, ...] | None]:
        """How the function is looked up whose call follows these statements, and which variables have to be seen."""
        callee = next(filter(is_callee, statements), None)
        lookup = None if callee is None else lookup_of(callee.value)  # type: ignore[attr-defined] -- an assignment
        if callee is None or lookup is None or not lookup.steps:
            return lookup, None
        before, given = statements[: statements.index(callee)], lookup.given(self.local_names)
        is_late = not names(before).binds.isdisjoint(given) or lookup.may_be_set_by(before)
        return lookup, None if is_late else given

    def rest_region(self, statements: list[ast.stmt], own: set[str], moving: frozenset[str]) -> Region:
        """The region of statements that stand for the rest of a loop, with names of our `own` that are bound."""
        self.local_names |= own
        return self._region(statements, moving | own, 1)

    def split(self, region: Region, cuts: Sequence[ast.stmt]) -> None:
        """Take `cuts` out of a region as native statements; the runs between them become regions."""
        region.parts = self.parts_of(region, cuts)

    def parts_of(self, region: Region, cuts: Sequence[ast.stmt]) -> list[Region | Native]:
        """What a region is split into when `cuts` are taken out of it."""
        chosen = {id(statement) for statement in cuts}
        parts: list[Region | Native] = []
        run: list[ast.stmt] = []

        def close(extra: frozenset[str] = frozenset(), bound: frozenset[str] | None = None) -> None:
            if run:
                parts.append(self._region(list(run), region.moving, region.depth, extra, bound))
                run.clear()

        for statement in region.statements:
            if id(statement) not in chosen:
                run.append(statement)
                continue
            hoisted, rest = self._hoist(statement)
            if hoisted:
                run.extend(hoisted)
                temporaries = frozenset(names(without_callees(hoisted)).binds)
                needed = names([rest]).reads & self.local_names
                close(temporaries | needed | self._live_around(statement), self.bound.get(id(statement)))
            else:
                close()
            parts.append(self._native(rest, region))
        close()
        return parts

    def _live_around(self, statement: ast.stmt) -> frozenset[str]:
        return self.flow.after.get(id(statement), frozenset())

    def _native(self, statement: ast.stmt, region: Region) -> Native:
        native = Native(statement)
        moving, depth = region.moving, region.depth
        if isinstance(statement, ast.For | ast.While | ast.AsyncFor):
            moving = moving | names([statement]).binds | _resized(statement)
            depth += 1
        for block_name in ("body", "orelse", "finalbody"):
            block = getattr(statement, block_name, None)
            if isinstance(block, list) and block and not isinstance(statement, SCOPES):
                native.blocks[block_name, -1] = self._region(block, moving, depth)
        for position, part in enumerate([*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())]):
            native.blocks["part", position] = self._region(part.body, moving, depth)
        return native

    def _hoist(self, statement: ast.stmt) -> tuple[list[ast.stmt], ast.stmt]:
        """Take array expressions out of what a native statement calls or yields, in the order of their evaluation."""
        call: Any = getattr(statement, "value", None)
        if not isinstance(statement, ast.Expr | ast.Return | ast.Assign):
            return [], statement
        if isinstance(call, ast.Yield):
            return self._hoist_yielded(statement, call)
        lookup = lookup_of(call.func) if isinstance(call, ast.Call) else None
        if lookup is None or any(isinstance(a, ast.Starred) for a in call.args) or _acts(call):
            return [], statement
        values = [*call.args, *(keyword.value for keyword in call.keywords)]
        if not any(_computes(value) for value in values) or any(k.arg is None for k in call.keywords[:-1]):
            return [], statement
        own = self.local_names - self.flow.captured - self.free_names  # nothing in the call can bind them anew
        bound = _before(self.bound, statement)
        unbound = self.local_names - bound - self.free_names
        if any(isinstance(value, ast.Name) and value.id in unbound for value in values):
            return [], statement  # to read the name may raise, in its turn
        if lookup.steps and not unbound.isdisjoint(lookup.variables):
            return [], statement  # likewise
        hoisted: list[ast.stmt] = []
        used: list[str] = []

        def take(value: ast.expr) -> ast.expr:
            if isinstance(value, ast.Constant) or (isinstance(value, ast.Lambda) and not _has_defaults(value)):
                return value
            if isinstance(value, ast.Name) and value.id in own:
                return value
            used.append(self._lift(value, statement, hoisted).id)
            taken = _emptied(used, value)
            used.clear()
            return taken

        function = call.func
        if not (isinstance(function, ast.Name) and function.id in own & bound):
            # Python looks the function up before it evaluates the arguments; a plan leaves that to Python.
            function = self._lift(function, statement, hoisted)
            used.append(function.id)
            hoisted[0].autojit_callee = True  # type: ignore[attr-defined] -- a mark of our own
        arguments = [take(value) for value in call.args]
        keywords = [_at(ast.keyword(k.arg, take(k.value)), k.value) for k in call.keywords]
        return hoisted, _with_value(statement, ast.Call(function, arguments, keywords))

    def _hoist_yielded(self, statement: ast.stmt, given: ast.Yield) -> tuple[list[ast.stmt], ast.stmt]:
        """The same of what is yielded."""
        if given.value is None or not _computes(given.value) or _acts(given.value):
            return [], statement
        hoisted: list[ast.stmt] = []
        name = self._lift(given.value, statement, hoisted)
        return hoisted, _with_value(statement, ast.Yield(_emptied([name.id], given.value)))

    def _lift(self, value: ast.expr, statement: ast.stmt, hoisted: list[ast.stmt]) -> ast.Name:
        """A name of our own that `hoisted` gives the value of an expression of a statement."""
        name = f"{TEMPORARY}_{self._hoisted}"
        self._hoisted += 1
        assign = ast.copy_location(ast.Assign([_at(ast.Name(name, ast.Store()), value)], value), value)
        assign.autojit_origin = statement  # type: ignore[attr-defined] -- a mark of our own
        hoisted.append(assign)
        return _at(ast.Name(name, ast.Load()), value)


def _emptied(used: list[str], place: ast.expr) -> ast.expr:
    """Reads the last name, and empties all of them at once: a frame does not hold what it has given to others."""
    parts: list[ast.expr] = [_at(ast.Name(used[-1], ast.Load()), place)]
    for name in used:
        emptied = ast.NamedExpr(_at(ast.Name(name, ast.Store()), place), _at(ast.Constant(None), place))
        parts.append(_at(emptied, place))
    return _at(ast.Subscript(_at(ast.Tuple(parts, ast.Load()), place), _at(ast.Constant(0), place), ast.Load()), place)


def _acts(expression: ast.expr) -> bool:
    """Whether an expression binds names, or hands control to somebody else."""
    return any(isinstance(n, ast.NamedExpr | ast.Yield | ast.YieldFrom | ast.Await) for n in walk(expression))


def _with_value(statement: Any, value: ast.expr) -> ast.stmt:
    """An expression statement, assignment or return with another value."""
    rest = copy.copy(statement)
    rest.autojit_origin, rest.value = statement, ast.copy_location(value, statement.value)
    return rest


def _before(table: dict[int, frozenset[str]], statement: ast.stmt) -> frozenset[str]:
    """The names that are bound before a statement, or before the one that it was taken out of."""
    while id(statement) not in table and hasattr(statement, "autojit_origin"):
        statement = statement.autojit_origin  # type: ignore[attr-defined] -- a mark of our own
    return table.get(id(statement), frozenset())


def without_callees(statements: list[ast.stmt]) -> list[ast.stmt]:
    """The statements but those that only look up the function of a native call: these Python executes itself."""
    return [statement for statement in statements if not is_callee(statement)]


def is_callee(statement: ast.stmt) -> bool:
    """Whether a statement looks up the function of a native call, whose arguments are taken out of it."""
    return getattr(statement, "autojit_callee", False)


def deleted_within(function: ast.AST) -> set[str]:
    """The names that the functions defined in a function delete."""
    inner = [node for node in walk(function) if isinstance(node, SCOPES) and node is not function]
    deletes = [node for one in inner for node in ast.walk(one) if isinstance(node, ast.Delete)]
    return {name.id for node in deletes for name in ast.walk(node) if isinstance(name, ast.Name)}


def _resized(loop: ast.AST) -> set[str]:
    """`x[]` for each name whose list a loop makes longer or shorter."""
    called = [node.func for node in walk(loop) if isinstance(node, ast.Call)]
    methods = [f for f in called if isinstance(f, ast.Attribute) and f.attr in _RESIZE]
    return {f"{method.value.id}[]" for method in methods if isinstance(method.value, ast.Name)}


def _bound_now_and_then(statements: Sequence[ast.stmt]) -> frozenset[str]:
    """The names that loops in these statements bind in some of their iterations, but not in all."""
    found: frozenset[str] = frozenset()
    for statement in statements:
        for node in walk_statements(statement):
            if isinstance(node, ast.For | ast.While):
                found |= names(node.body).binds - assigned_after(node.body)
    return found


def _skip_docstring(body: list[ast.stmt]) -> list[ast.stmt]:
    first = body[0]
    is_text = (
        isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str)
    )
    return body[1:] if is_text and len(body) > 1 else body


def _at(node: Any, place: ast.AST) -> Any:
    return ast.copy_location(node, place)


def _has_defaults(node: ast.Lambda) -> bool:
    return bool(node.args.defaults or any(node.args.kw_defaults))


def _computes(node: ast.expr) -> bool:
    kinds = (ast.BinOp, ast.Call, ast.UnaryOp, ast.Subscript)
    return any(isinstance(inner, kinds) for inner in walk(node)) and not isinstance(node, ast.Lambda)


def native_statements(region: Region) -> Iterator[Native]:
    """All native statements below a region, in program order."""
    for part in region.parts or ():
        if isinstance(part, Native):
            yield part
            for block in part.blocks.values():
                yield from native_statements(block)
        else:
            yield from native_statements(part)


def leaves(region: Region) -> Iterator[Region]:
    """The regions below (and including) a region that are not split."""
    if region.parts is None:
        yield region
        return
    for part in region.parts:
        if isinstance(part, Region):
            yield from leaves(part)
        else:
            for block in part.blocks.values():
                yield from leaves(block)


def place(source: FunctionSource, node: ast.AST) -> SourceLine:
    """Where a statement of the function stands."""
    return source.line(node)


def region_key(region: Region) -> Any:
    """What a region has in common with the same statements in another tree of the function."""
    first, last = region.statements[0], region.statements[-1]
    return first.lineno, first.col_offset, last.end_lineno, len(region.statements), region.live_in
