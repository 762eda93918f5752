"""Capture one region: from its statements and live-in values to a graph, a prologue and recipes, or to cuts."""

from __future__ import annotations

import ast
import types
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np

from autojit.capture.attributes import Carries, note_dict, tell_apart
from autojit.capture.identity import asks_for_identity, is_chosen_number
from autojit.capture.kept import stand_in_of
from autojit.capture.known_lookups import is_plain_in
from autojit.capture.lengths import RowCount
from autojit.capture.names import TEMPORARY, names, names_are_remembered
from autojit.capture.observed import Layouts
from autojit.capture.options import Options
from autojit.capture.over_rows import apply_over_rows
from autojit.capture.plain import is_fixed
from autojit.capture.prologue import Prologue
from autojit.capture.reach import reach, storages_in
from autojit.capture.regions import END, RETURN, Region, RegionTree, is_callee
from autojit.capture.results import Recipe, RecipeMaker, Unset
from autojit.capture.rows import RowLoops
from autojit.capture.settled import settled
from autojit.capture.statements import Signal
from autojit.capture.streams import Event
from autojit.capture.values import UNKNOWN, Arr, Frame, Items, Known, Opaque, Sym, unknown_after
from autojit.errors import CannotCapture, Reason, SourceLine, comes_from_a_signal
from autojit.ir.graph import Graph, Operand, Write
from autojit.ir.op import Op
from autojit.ir.syntax import walk_statements

#: Statements that leave a way through others.
_LEAVES = (ast.Return, ast.Break, ast.Continue)


@dataclass(frozen=True, slots=True, eq=False)
class Cut:
    """A statement of the region that must stay native, and why.

    Attributes:
        statement: The statement.
        reason: The first reason that was met.
        others: Those that would be left without it, where they were looked for.
    """

    statement: ast.stmt
    reason: Reason
    others: tuple[Reason, ...] = ()


@dataclass(slots=True, eq=False)
class Capture:
    """What is known of a region for live-ins of these types.

    Attributes:
        region: The region.
        prologue: The guard, up to the first cut when there is one.
        cuts: The statements that stay native; empty when the region is captured as a whole.
        snapshots: By id of a statement, stand-ins for the local variables before it.
        graph: The array work; `None` when there are cuts.
        input_names: The prologue's name for each graph input.
        exit: How control leaves: END, RETURN, BREAK or CONTINUE.
        recipes: The returned value, or one recipe per live-out name.
        unrolled: The loops that were unrolled: their lines, and why they are no loops of the program.
        left: What raises in a branch: calls whose data leads there are NumPy's.
        draws: The random numbers that are drawn before the graph's work; inputs of the graph.
        is_quiet: Whether a part of it is in a block that ignores floating point errors.
        recalled: The live-ins of which only an earlier run has told what they are.
        assigned: The attributes that are set at the end: the prologue's name of the object, theirs, and the value.
        inlined: The code of the functions that it calls, and that are a part of it.
        rows: The rows of the arrays, where the plan is for several numbers of rows.
        constants: The ints from outside on which the plan depends, by path.
        layouts: How arrays of host operations lie in memory, by the name of their first result.
    """

    region: Region
    prologue: Prologue
    cuts: list[Cut]
    snapshots: dict[int, dict[str, Any]]
    graph: Graph | None = None
    input_names: tuple[str, ...] = ()
    exit: int = END
    recipes: tuple[Recipe, ...] = ()
    written: tuple[str, ...] = ()
    arrays: tuple[str, ...] = ()
    unrolled: tuple[tuple[SourceLine, str], ...] = ()
    left: tuple[Reason, ...] = ()
    draws: tuple[Event, ...] = ()
    is_quiet: bool = False
    recalled: tuple[str, ...] = ()
    assigned: tuple[tuple[str, str, Recipe], ...] = ()
    inlined: frozenset[types.CodeType] = frozenset()
    constants: dict[str, int] = field(default_factory=dict)
    rows: RowCount | None = None
    layouts: dict[str, Layouts] = field(default_factory=dict)

    @property
    def places(self) -> tuple[int, ...]:
        """Which of the region's statements the cuts are."""
        cut = {id(cut.statement) for cut in self.cuts}
        return tuple(place for place, statement in enumerate(self.region.statements) if id(statement) in cut)


@np.errstate(all="ignore")  # it computes as plans do, which do not warn
def capture(
    tree: RegionTree,
    region: Region,
    values: dict[str, Any],
    options: Options,
    varying: frozenset[str] = frozenset(),
    rows: RowCount | None = None,
) -> Capture:
    """Interpret a region for live-ins of certain types and shapes.

    Args:
        tree: The function's regions.
        region: One of them.
        values: The live-in objects by name; `ArraySpec`s may stand for arrays.
        options: Budgets.
        varying: Ints from outside on which no plan may depend, as `Capture.constants` names them.
        rows: The rows of the call's arrays, if the plan is to be for several numbers of rows.
    """
    survey = _Survey(tree, region, options)
    survey.varying, survey.rows = varying, rows
    with names_are_remembered():
        return survey.run(values)


class _Survey(RowLoops):
    """Interprets a region's statements; a statement that fails is noted and stepped over."""

    def __init__(self, tree: RegionTree, region: Region, options: Options) -> None:
        super().__init__(tuple(f"L_{name}" for name in region.live_in), options.node_budget, options.observed)
        self.tree = tree
        self.region = region
        # A loop body is entered often and is small work: unrolling inside it pays less.
        self.unroll_budget = options.unroll_budget if not region.depth else options.unroll_budget // 8
        self.tells = options.tells
        self.exits, self.left = [], []
        self.be_able_to_draw()
        if options.exact:
            self.be_exact()
        self.leaving: ast.stmt | None = None  # the first statement that returns, or goes on, as the data decides
        self.cuts: list[Cut] = []
        self.snapshots: dict[int, dict[str, Any]] = {}
        self.guard: Prologue | None = None
        self.inlined = set()
        self.looks_up = False  # whether Python looks up a function before the statements that follow
        self.runs_code = False  # whether that may run code of anybody's
        self.contents: dict[int, Any] = {}  # of the arrays from outside, at that time

    def run(self, values: dict[str, Any]) -> Capture:
        source, region = self.tree.source, self.region
        function = source.function
        code = function.__code__
        own = frozenset((*code.co_varnames, *code.co_cellvars, *code.co_freevars, *region.live_out))
        path = self.prologue.constant(function.__globals__)
        others = self.tree.read_by_others(region.statements, region.depth)
        self.frame = Frame(
            source.name, source.file, {}, function.__globals__, path, {}, own, maybe=region.maybe, shared=others
        )
        for name in region.live_in:
            value = values.get(name, UNKNOWN)
            if type(value) is list and f"{name}[]" in region.moving:  # a plan for each length would be one too many
                self.prologue.check(f"type(L_{name}) is {self.prologue.constant(list)}", f"`{name}` is a list")
                self.frame.env[name] = Opaque("moving-shape", f"the length of `{name}` changes in the loop")
                continue
            what = "the end of the loop" if name.startswith(TEMPORARY) else name
            self.frame.env[name] = self.wrap(value, f"L_{name}", what, moving=name in region.moving)
        self.frame.node = source.node
        self.frame.postponed = source.postponed
        self.region_frame = self.frame
        self.shared = {name: self.frame.env.get(name) for name in (*code.co_cellvars, *code.co_freevars)}
        signal = self._statements(region.statements)
        if not self.cuts:
            try:
                return self._finish(signal)
            except CannotCapture as error:
                if self.leaving is not None:
                    self.cuts.append(self._cut_for(self.leaving, error))
                else:
                    self._cut_makers(error)
        return Capture(region, self.guard or self.prologue, self.cuts, self.snapshots)

    def module_attribute(self, module: types.ModuleType, name: str) -> Any:
        if self.tree.source.is_own(module, name):
            raise CannotCapture("effect", f"`{module.__name__}.{name}`, which is a variable of this script")
        return super().module_attribute(module, name)

    def open(self, known: Known) -> Items:
        if self.tree.source.is_own_dict(known.value):
            raise CannotCapture("effect", "a dict that holds the variables of this script")
        note_dict(self, known)
        return super().open(known)

    def apply(self, op: Op, operands: Sequence[Any], params: dict[str, Any]) -> Any:
        made = apply_over_rows(self, op, operands, params)
        return super().apply(op, operands, params) if made is None else made

    def commit(self, array: Arr, value: Operand) -> None:
        named = storages_in(self.region_frame.env.values())
        if self.looks_up and (array.storage.path or any(storage is array.storage for storage in named)):
            raise CannotCapture("effect", "an array is written between the look-up of a function and its call")
        super().commit(array, value)

    def _statements(self, statements: list[ast.stmt]) -> Signal:
        for statement in statements:
            if is_callee(statement):
                self.looks_up = True
                lookup = self.region.lookup
                if lookup is not None and lookup.steps and self.region.looks_at is None:
                    self.runs_code = not is_plain_in(lookup, self.frame.env)
                self.contents = {id(storage): storage.value for storage in self.arrays}
                continue
            may_leave = self.leaving is None and any(isinstance(node, _LEAVES) for node in walk_statements(statement))
            if self.cuts or may_leave:
                self.snapshots[id(statement)] = self._stand_ins()
            before = dict(self.frame.env) if hasattr(statement, "body") else None
            try:
                if self.runs_code:
                    raise CannotCapture("effect", "the look-up of the function that is called may run code")
                signal = self.execute(statement)
                if self.exits and self.leaving is None:
                    self.leaving = statement
            except (CannotCapture, Carries, RecursionError, OverflowError) as error:
                if before is not None:
                    self._continue_with(before)  # it may have failed in a branch
                self._cut(statement, _refusal(error))
                signal = None
            if signal is not None:
                return self.end(signal)
        return None

    # ---- cuts

    def _cut(self, statement: ast.stmt, error: CannotCapture) -> None:
        self._begin()
        bound = names([statement]).binds
        if error.id == "unknown-value" and self.cuts:
            self._forget(bound, error.cause)
            return
        if not self.snapshots.get(id(statement)):
            self.snapshots[id(statement)] = self._stand_ins()
        if self.guard is None:
            self.guard = self.prologue
            self.prologue = _clone(self.prologue)
        reason = self._reason(statement, error)
        self.cuts.append(Cut(statement, reason, self._others(statement, reason) if self.tells else ()))
        self._blame(reason)
        self._after_native(statement, bound, reason.cause or reason.source)

    def _blame(self, reason: Reason) -> None:
        """Other lines that meet the same object wait for what is done about this one."""
        for value in self.frame.env.values():
            if isinstance(value, Opaque) and value.id == reason.id == "argument-type" and value.cause is None:
                if reason.detail.startswith(value.detail):  # a helper may have met it
                    value.cause = reason.source

    def _others(self, statement: ast.stmt, first: Reason) -> tuple[Reason, ...]:
        """The other reasons of a simple statement: what is native is taken as unknown, and the rest is looked at."""
        value = getattr(statement, "value", None)
        found: dict[Reason, None] = {}
        unknown = Opaque("unknown-value", "", first.source)

        def evaluate(node: ast.expr) -> Any:
            if self.frame is not self.region_frame:  # a helper ends where it first fails
                return super(_Survey, self).evaluate(node)
            try:
                return super(_Survey, self).evaluate(node)
            except CannotCapture as error:
                if error.id != "unknown-value":
                    found[self._reason(statement, error)] = None
            except Exception as error:  # the first reason is told all the same
                if comes_from_a_signal(error):
                    raise
            return unknown

        if isinstance(value, ast.expr):
            self.evaluate = evaluate  # type: ignore[method-assign] -- for this statement alone
            try:
                evaluate(value)
            finally:
                del self.evaluate
        return tuple(reason for reason in found if reason != first)

    def _reason(self, statement: ast.stmt, error: CannotCapture) -> Reason:
        where = self.tree.source.line(statement)
        detail, inner = error.detail, error.where or self.line
        if inner is not None and (inner.file, inner.function) != (where.file, where.function):
            detail += f" (in `{inner.function}`, {inner})"
        elif inner is not None and inner.line != where.line and error.id not in ("long-loop", "budget"):
            where = SourceLine(where.file, inner.line, where.function, inner.text)
        return Reason(error.id, detail, where, error.cause)

    def _after_native(self, statement: ast.stmt, bound: set[str], cause: SourceLine | None) -> None:
        """Go on after a native statement: its blocks are tried, what it binds is unknown."""
        if isinstance(statement, ast.For | ast.While):
            if isinstance(statement, ast.For):
                self._bind_loop_variable(statement, cause)
            self._try_block(statement.body)
            self._try_block(statement.orelse)
        elif isinstance(statement, ast.If):
            self._try_ways([(set(), statement.body), (set(), statement.orelse)], bound, cause)
        elif isinstance(statement, ast.Match):
            headers = [[part for part in (case.pattern, case.guard) if part] for case in statement.cases]
            cases = [(names(header).binds, case.body) for header, case in zip(headers, statement.cases, strict=True)]
            self._try_ways([*cases, (set(), [])], bound, cause)
        elif isinstance(statement, ast.With):
            self._forget(names(statement.items).binds, cause)
            self._try_block(statement.body)
        elif isinstance(statement, ast.Try):
            for block in (statement.body, statement.orelse, statement.finalbody):
                self._try_block(block)
            for handler in statement.handlers:
                self._forget({handler.name} if handler.name else set(), cause)
                self._try_block(handler.body)
        else:
            self._forget(bound, cause)

    def _bind_loop_variable(self, statement: ast.For, cause: SourceLine | None) -> None:
        try:
            items = self.evaluate(statement.iter)
            if isinstance(items, Known) and isinstance(items.value, range) and items.value:
                first: Any = Sym("loop", items.value[0], True, ((("loop", 1),), 0))
            elif isinstance(items, Arr):
                first = self.getitem(items, Known(0))
            else:
                first = next(self.each(items))
            self.bind(statement.target, first)
        except (CannotCapture, IndexError, StopIteration):
            self._forget(names([statement.target]).binds, cause)

    def _try_block(self, statements: list[ast.stmt]) -> None:
        if statements:
            self.snapshots[id(statements[0])] = self._stand_ins()
            kept = self.cuts
            self.cuts = [*kept]
            self._statements(statements)
            self.cuts = kept
            self._begin()

    def _begin(self) -> None:
        """What follows is a region of its own: no condition is known, under which it is reached."""
        self.builder.predicate = None
        self.exits.clear()

    def _try_ways(self, ways: list[tuple[set[str], list[ast.stmt]]], bound: set[str], cause: SourceLine | None) -> None:
        """Try blocks of which one is taken; before each, names are bound to what is unknown."""
        before, ends = self.frame.env, []
        for unknown, block in ways:
            self.frame.env = dict(before)
            self._forget(unknown, cause)
            self._try_block(block)
            ends.append(self.frame.env)
        for name in bound:
            if any(end.get(name) is not ends[0].get(name) for end in ends):
                detail = f"`{name}` depends on which branch is taken"
                self.frame.env[name] = Opaque("unknown-value", detail, cause)

    def _forget(self, bound: set[str], cause: SourceLine | None) -> None:
        for name in bound:
            self.frame.env[name] = Opaque("unknown-value", unknown_after(name, cause).detail, cause)

    def _cut_makers(self, error: CannotCapture) -> None:
        """A live-out cannot be built by a plan: the statements that make such values stay native."""
        for statement in self.region.statements:
            bound = names([statement]).binds
            made = [self.frame.env.get(name) for name in bound]
            if isinstance(statement, ast.Return) or any(_foreign(value) for value in made):
                self.snapshots.setdefault(id(statement), self._stand_ins())
                own = next((value.error() for value in made if isinstance(value, Opaque)), error)
                self.cuts.append(self._cut_for(statement, own))
        if not self.cuts:
            self.cuts += [self._cut_for(statement, error) for statement in self.region.statements]

    def _cut_for(self, statement: ast.stmt, error: CannotCapture) -> Cut:
        return Cut(statement, Reason(error.id, error.detail, self.tree.source.line(statement), error.cause))

    # ---- the end

    def _finish(self, signal: Signal) -> Capture:
        region = self.region
        exit_code, returned = signal if signal is not None else (END, None)
        if self.exits and any(kind != RETURN for kind in (exit_code, *(way.kind for way in self.exits))):
            raise CannotCapture("data-branch", "the data decides how these statements are left")
        if self.exits:
            exit_code, returned = RETURN, self.returned(signal)
            self.frame.env.update({name: self._at_exit(name) for name in region.live_return})
            self.builder.predicate = None  # all ways end here
        if exit_code != RETURN:
            roots = [self.frame.env.get(name) for name in region.live_out]
        else:
            roots = [] if returned is None else [returned, *map(self.frame.env.get, region.live_return)]
        kept = [*(root for root in roots if root is not None), *(one.value for one in self.assigned.values())]
        found = {id(storage): storage for storage in storages_in(kept)}
        if self.has_chosen and any(a.may_be(b) for a, b in combinations(found.values(), 2)):
            raise CannotCapture("data-branch", "the data decides whether two results are one array")
        if any(map(is_chosen_number, reach(kept))) and asks_for_identity(self.tree.source.node):
            raise CannotCapture("data-value", "the identity of a number that a loop or a branch has chosen")
        maker = RecipeMaker(self, kept)
        recipes = tuple(Unset() if root is None else maker.make(root) for root in roots)
        tell_apart(self)
        assigned = tuple((one.owner.path or "", one.name, maker.make(one.value)) for one in self.assigned.values())
        written = [storage for storage in self.arrays if storage.written]
        if self.looks_up and any(s.value is not self.contents.get(id(s), s.input) for s in written):
            raise CannotCapture("effect", "a loop writes an array between the look-up of a function and its call")
        self._check_written(written)
        self.forget_draws()
        writes = [Write(s.input, s.value) for s in written if s.input is not None and s.value is not s.input]
        graph = self.builder.graph(f"region_{region.number}", maker.outputs, writes)
        if self.rows is None:
            graph = settled(self, graph)
        else:
            self.rows.names &= {s.path for s in self.arrays}  # others were met on ways that are not taken
            self.rows.shapes += [s.spec.shape for s in self.arrays]
        return Capture(
            region, self.prologue, [], {}, graph, tuple(self.input_names), exit_code, recipes,
            tuple(str(write.target) for write in writes), tuple(s.path for s in self.arrays if s.path),
            tuple((line, why) for line, why in self.unrolled.items() if line),
            tuple(dict.fromkeys(self.left)), tuple(self.draws),
            self.is_quiet, assigned=assigned, inlined=frozenset(self.inlined), constants=self.constants,
            rows=self.rows, layouts=self.layouts,
        )  # fmt: skip

    def _at_exit(self, name: str) -> Any:
        """What a name means after the region, which the data decides how to leave."""
        value = self.frame.env.get(name)
        for way in self.exits:
            other = way.env.get(name)
            if way.when is None or value is None or other is None:
                raise CannotCapture("data-branch", f"`{name}` may have no value here, as the data decides")
            value = self.choice(way.when, other, value, f"`{name}`")
        return value

    def _check_written(self, written: list[Any]) -> None:
        paths = [storage.path for storage in self.arrays if storage.path]
        for storage in written:
            if storage.path:
                others = [path for path in paths if path != storage.path]
                text = f"apart({', '.join([storage.path, *others])})"
                text = text if others else f"({storage.path}.flags.forc or {text})"
                self.prologue.check(text, "the written array shares no memory with the others", soft=True)

    def _stand_ins(self) -> dict[str, Any]:
        return {name: stand_in_of(value) for name, value in self.frame.env.items()}


def _refusal(error: CannotCapture | Carries | RecursionError | OverflowError) -> CannotCapture:
    """Why a statement is not captured whose interpretation raises."""
    if isinstance(error, CannotCapture):
        return error
    if isinstance(error, Carries):
        return error.refusal
    if isinstance(error, RecursionError):
        return CannotCapture("budget", "the expression is nested too deeply")
    return CannotCapture("argument-type", f"a large integer: {error}")  # that NumPy or `len` does not take


def _foreign(value: Any, around: tuple[Any, ...] = ()) -> bool:
    if isinstance(value, Items):
        if any(value is one for one in around):
            return True  # it holds itself
        return any(_foreign(item, (*around, value)) for item in value.values)
    if isinstance(value, Known):
        return value.path is None and not is_fixed(value.value)
    return value is not None and not isinstance(value, Sym | Arr)


def _clone(prologue: Prologue) -> Prologue:
    return Prologue(
        prologue.parameters, list(prologue.lines), dict(prologue.constants), prologue.source, dict(prologue._bound),
        set(prologue._checked), dict(prologue._ids), prologue._next, dict(prologue._texts),
    )  # fmt: skip
