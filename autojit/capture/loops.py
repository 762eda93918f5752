"""Rolled loops: a `for` over a range becomes one node whose body is a graph of its own.

What one iteration hands to the next is found by dry runs: the body is interpreted until the set of written storages and
rebound names is the same before and after, and their specs are too.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from autojit.capture.build import BodyBuilder
from autojit.capture.names import Flow, names
from autojit.capture.statements import Signal, Statements
from autojit.capture.values import Arr, Closure, Items, Known, LoopInt, Opaque, Storage, Stream, Sym, make_dummy
from autojit.errors import CannotCapture
from autojit.ir.build import Builder
from autojit.ir.graph import Graph, Operand, Value
from autojit.ir.spec import PYTHON_DTYPES, Spec
from autojit.ops.chapters import TABLE

#: Loops of at most this many iterations are unrolled where that is possible.
UNROLL_TRIPS = 4
_MAX_DRY_RUNS = 6


@dataclass(slots=True)
class _Bounds:
    """The range of a loop: start and stop as abstract ints, and the step."""

    start: Any
    stop: Any
    step: int

    @property
    def static(self) -> range | None:
        if isinstance(self.start, Known) and isinstance(self.stop, Known):
            return range(self.start.value, self.stop.value, self.step)
        return None


@dataclass(slots=True)
class _Body:
    """One dry run: the body's graph and what it leaves behind."""

    graph: Graph
    captured: list[Operand]
    names: list[str]
    storages: list[Storage]
    last: list[str]
    ends: dict[str, Any] = field(default_factory=dict)
    after: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _State:
    """What a capture can go back to."""

    builder: Builder
    mark: Any
    root_mark: Any
    journal: int
    env: dict[str, Any]
    lines: int
    bound: dict[str, str]
    checked: set[str]
    next: int
    memo: dict[str, Any]
    scalars: dict[str, Value]
    demanded: set[str]
    inputs: int
    arrays: int
    work: int
    storages: list[tuple[Storage, Operand, bool]]
    evaluated: int
    containers: list[tuple[Items, Any]]


class Loops(Statements):
    """The rule for `for` statements: roll, or unroll, or leave it to Python."""

    loop_number = 0

    def _run_For(self, node: ast.For) -> Signal:
        bounds = self._range_of(node.iter)
        if bounds is None or not isinstance(node.target, ast.Name) or node.orelse:
            return super()._run_For(node)
        static = bounds.static
        if static is not None and len(static) <= UNROLL_TRIPS:
            return super()._run_For(node)
        state = self._save()
        try:
            self._roll(node, bounds)
            return None
        except CannotCapture as error:
            self._restore(state)
            if error.id in ("raises", "effect", "statement", "unknown-value"):
                raise
            rolled = error
        try:
            return super()._run_For(node)
        except CannotCapture as error:
            if error.id != "long-loop":
                raise
            raise CannotCapture("long-loop", f"{error.detail}; it cannot be rolled: {rolled.detail}") from None

    def _range_of(self, node: ast.expr) -> _Bounds | None:
        """The bounds of `range(...)`, not demanded."""
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name)) or node.keywords:
            return None
        function = self.evaluate(node.func)
        if not (isinstance(function, Known) and function.value is range) or not 1 <= len(node.args) <= 3:
            return None
        if any(isinstance(argument, ast.Starred) for argument in node.args):
            return None
        values = [self.settled(self.evaluate(argument)) for argument in node.args]
        if not all(isinstance(value, LoopInt) or type(getattr(value, "value", None)) is int for value in values):
            return None
        start, stop = (Known(0), values[0]) if len(values) == 1 else values[:2]
        step = self.static(values[2]) if len(values) == 3 else 1
        return _Bounds(start, stop, step) if step else None

    # ---- rolling

    def _roll(self, node: ast.For, bounds: _Bounds) -> None:
        exposed = Flow(node.body, self.frame.local_names).block(node.body, frozenset())
        bound = names(node.body).binds & self.frame.local_names
        target = node.target.id  # type: ignore[attr-defined]
        if target in bound or any(isinstance(n, ast.NamedExpr | ast.Delete) for s in node.body for n in ast.walk(s)):
            raise CannotCapture("long-loop", "its body rebinds the loop variable")
        for value in self.frame.env.values():
            if isinstance(value, Stream):
                raise CannotCapture("long-loop", "an iterator may be used up in it")
            if isinstance(value, Closure):
                exposed |= bound  # a nested function sees the names of the moment
        state = self._save()
        try:
            self._roll_with(node, bounds, sorted(bound), exposed)
        except CannotCapture as error:
            if error.id != "moving-shape" or bounds.static is not None:
                raise
            if isinstance(bounds.start, LoopInt) or isinstance(bounds.stop, LoopInt):
                raise
            # The body needs to know how far the index goes.
            self._restore(state)
            known = _Bounds(Known(self.static(bounds.start)), Known(self.static(bounds.stop)), bounds.step)
            self._roll_with(node, known, sorted(bound), exposed)

    def _roll_with(self, node: ast.For, bounds: _Bounds, bound: list[str], exposed: frozenset[str]) -> None:
        static = bounds.static
        if static is not None and len(static) == 0:
            return
        entered = static is not None or self._require_entry(bounds)
        state = self._save()
        body = self._find_body(node, bounds, bound, exposed, entered)
        if body is None and entered and isinstance(bounds.start, Known) and (static is None or len(static) > 1):
            # The specs settle after one iteration: peel it. From then on every name has a value.
            self._restore(state)
            self.bind(node.target, bounds.start)
            if self.block(node.body) is not None:
                raise CannotCapture("long-loop", "it is left early")
            bounds = _Bounds(Known(bounds.start.value + bounds.step), bounds.stop, bounds.step)
            body = self._find_body(node, bounds, bound, frozenset(bound), static is not None)
        if body is None:
            raise CannotCapture("long-loop", "what it carries changes its type")
        self._emit(body, bounds)
        if static is not None:
            self.bind(node.target, Known(static[-1]))
        elif not isinstance(bounds.start, LoopInt) and not isinstance(bounds.stop, LoopInt):
            template = f"range({{}}, {{}}, {bounds.step})[-1]"
            last = self.compute(template, lambda a, b: range(a, b, bounds.step)[-1], bounds.start, bounds.stop)
            self.bind(node.target, last)
        else:
            self.bind(node.target, Opaque("long-loop", "the loop variable after a loop that is compiled"))

    def _require_entry(self, bounds: _Bounds) -> bool:
        """Make sure that the loop has at least one iteration, where that can be asked."""
        if isinstance(bounds.start, LoopInt) or isinstance(bounds.stop, LoopInt):
            return False
        template = f"(len(range({{}}, {{}}, {bounds.step})) > 0)"
        some = self.compute(template, lambda a, b: len(range(a, b, bounds.step)) > 0, bounds.start, bounds.stop)
        if not self.truth(some):
            raise CannotCapture("long-loop", "it has no iterations")
        return True

    def _find_body(
        self, node: ast.For, bounds: _Bounds, bound: list[str], exposed: frozenset[str], entered: bool
    ) -> _Body | None:
        """Interpret the body until what it carries is stable; `None` when a spec is not."""
        carried: list[str] = []
        storages: list[Storage] = []
        for _ in range(_MAX_DRY_RUNS):
            state = self._save()
            try:
                found = self._dry_run(node, bounds, bound, exposed, carried, storages, entered)
            except CannotCapture:
                self._restore(state)
                raise
            body, more_names, more_storages, stable = found
            if not more_names and not more_storages and stable:
                self._restore_values(state)  # what the body found outside stays
                return body
            # What was learned about outside objects stays, or a storage would be another one in the next run.
            self._restore_values(state)
            if not more_names and not more_storages:
                return None
            carried += more_names
            storages += more_storages
        raise CannotCapture("long-loop", "what it carries does not settle")

    def _dry_run(
        self,
        node: ast.For,
        bounds: _Bounds,
        bound: list[str],
        exposed: frozenset[str],
        carried: list[str],
        storages: list[Storage],
        entered: bool,
    ) -> tuple[_Body, list[str], list[Storage], bool]:
        env = self.frame.env
        containers = _containers(env)
        self.loop_number += 1
        outer, self.builder = self.builder, BodyBuilder(self.loop_number)
        inner = self.builder
        self.hidden += 1  # no value inside has an example
        try:
            env[node.target.id] = self._index(bounds, inner)  # type: ignore[attr-defined]
            initial = {name: env.get(name) for name in carried}
            heads = {name: self._head(env.get(name), inner) for name in carried}
            env.update(heads)
            starts = {id(head.storage) for head in heads.values()}
            slots = [inner.input(storage.spec) for storage in storages]
            for storage, slot in zip(storages, slots, strict=True):
                self.journal.append((storage, storage.value))
                storage.value = slot
            at_head = {name: env.get(name) for name in bound}
            mark = len(self.journal)
            if self.block(node.body) is not None:
                raise CannotCapture("long-loop", "it is left early")
            written = {id(s): (s, old) for s, old in reversed(self.journal[mark:])}
            if starts & written.keys():
                raise CannotCapture("long-loop", "an array bound to a new name in each iteration is written in place")
            if _is_changed(containers):
                raise CannotCapture("long-loop", "a list or dict is changed in it")
            fresh_storages = [s for s, old in written.values() if not inner.owns(old) and s not in storages]
            rebound = [n for n in bound if n in exposed and n not in carried and env.get(n) is not at_head[n]]
            if fresh_storages or rebound:
                return _Body(None, [], [], [], []), rebound, fresh_storages, False  # type: ignore[arg-type]
            last = [n for n in bound if n not in exposed and n in env]
            return self._finish_body(inner, carried, storages, last, heads, initial, entered)
        finally:
            self.builder = outer
            self.hidden -= 1

    def _finish_body(
        self,
        inner: BodyBuilder,
        carried: list[str],
        storages: list[Storage],
        last: list[str],
        heads: dict[str, Arr],
        initial: dict[str, Any],
        entered: bool,
    ) -> tuple[_Body, list[str], list[Storage], bool]:
        env = self.frame.env
        for name in carried:
            before = initial.get(name)
            if isinstance(before, Arr) and before.kind == "array" and before.storage in storages:
                # In the first iteration the name still means the array that is written.
                raise CannotCapture(
                    "long-loop", f"`{name}` is bound anew in each iteration, and its first array written"
                )
        ends: dict[str, Any] = {}
        kept: list[str] = []
        after: dict[str, Any] = {}
        seen: set[int] = set()
        stable = True
        for name in (*carried, *last):
            value = env[name]
            is_fresh = (
                isinstance(value, Arr)
                and not value.steps
                and inner.owns(value.storage.value)
                and value.storage not in storages
            )
            is_scalar = isinstance(value, Arr) and value.kind != "array"
            if name in last and not (entered and (is_fresh or is_scalar)):
                constant = entered and isinstance(value, Known | Sym)
                after[name] = value if constant else Opaque("long-loop", f"`{name}` after a loop that is compiled")
                continue
            if isinstance(value, LoopInt | Sym | Known):
                value = self._as_scalar(value)
            elif not isinstance(value, Arr) or not (is_fresh or is_scalar) or id(value.storage) in seen:
                raise CannotCapture("long-loop", f"`{name}` is another view or object in each iteration")
            seen.add(id(value.storage))
            ends[name] = value
            if name in carried:
                stable = stable and value.spec == heads[name].spec
            else:
                kept.append(name)
        outputs = [inner.own(self.read(ends[name])) for name in carried]
        outputs += [inner.own(storage.value) for storage in storages]
        outputs += [inner.own(self.read(ends[name])) for name in kept]
        # The last values of names are carried too; nobody reads them at the head.
        places = [inner.input(ends[name].spec) for name in kept]
        count = 1 + len(carried) + len(storages)
        own = list(inner.inputs)
        captured = [(operand, value) for operand, value in inner.captured.values()]
        head = [
            value for value in own if all(value is not c for _, c in captured) and all(value is not p for p in places)
        ]
        assert len(head) == count
        inputs = (*head, *places, *(value for _, value in captured))
        graph = Graph("body", inputs, tuple(inner.nodes), tuple(outputs))
        body = _Body(graph, [operand for operand, _ in captured], list(carried), list(storages), kept, ends, after)
        return body, [], [], stable

    def _index(self, bounds: _Bounds, inner: BodyBuilder) -> LoopInt:
        value = inner.input(Spec((), np.dtype(np.int64), "python"), "index")
        static = bounds.static
        low = high = None
        if static is not None:
            low, high = min(static[0], static[-1]), max(static[0], static[-1])
        else:
            ends = [_ends(bounds.start), _ends(bounds.stop)]
            if bounds.step > 0:
                low = ends[0][0]
                high = None if ends[1][1] is None else ends[1][1] - 1
            else:
                low = None if ends[1][0] is None else ends[1][0] + 1
                high = ends[0][1]
        return LoopInt(value, low, high, (((value.name, 1),), 0))

    def _head(self, value: Any, inner: BodyBuilder) -> Arr:
        """What a carried name is bound to at the head of an iteration."""
        if isinstance(value, Known | Sym | LoopInt):
            value = self._as_scalar(value)
        if not isinstance(value, Arr):
            raise CannotCapture("long-loop", "it carries an object that is not an array or number")
        spec = value.spec
        slot = inner.input(spec)
        return Arr(Storage(slot, spec), (), make_dummy(spec.shape, spec.dtype), spec.kind)

    def _as_scalar(self, value: Any) -> Arr:
        operand = self.operand(value)
        if operand.spec.dtype.kind == "i" and operand.spec.kind == "python":
            raise CannotCapture("long-loop", "it carries a Python int")
        return Arr(Storage(operand, operand.spec), (), make_dummy((), operand.spec.dtype), operand.spec.kind)

    def _emit(self, body: _Body, bounds: _Bounds) -> None:
        """Add the loop to the graph, and bind what it leaves behind."""
        env = self.frame.env
        env.update(body.after)
        inits: list[Operand] = []
        for name in body.names:
            value = env[name]
            inits.append(self.operand(value) if not isinstance(value, Arr) else self.read(value))
        inits += [storage.value for storage in body.storages]
        for name in body.last:
            inits.append(self._placeholder(body.ends[name].spec))
        if not inits:
            return  # nothing comes out of it
        start, stop = self.operand(bounds.start), self.operand(bounds.stop)
        params = {"body": body.graph, "step": bounds.step, "carried": len(inits)}
        inputs = [start, stop, *inits, *body.captured]
        outputs = self.builder.add(TABLE["loop"], inputs, params, self.line)
        for name, output in zip((*body.names, *body.last), _without(outputs, body), strict=True):
            spec = output.spec
            env[name] = Arr(Storage(output, spec), (), make_dummy(spec.shape, spec.dtype), spec.kind)
        for storage, output in zip(body.storages, outputs[len(body.names) :], strict=False):
            self.journal.append((storage, storage.value))
            storage.value = output
            storage.written = True

    def _placeholder(self, spec: Spec) -> Operand:
        """Any value of a spec: the loop replaces it before it is read."""
        if spec.kind == "python":
            kind = {dtype: kind for kind, dtype in PYTHON_DTYPES.items()}[spec.dtype]
            return self.builder.const(kind(0))
        if spec.kind == "scalar":
            return self.builder.const(spec.dtype.type(0))
        return self.apply(TABLE["np.zeros"], [], {"shape": spec.shape, "dtype": spec.dtype}).storage.value

    # ---- undo

    def _save(self) -> _State:
        prologue = self.prologue
        return _State(
            self.builder, self.builder.mark(), self.root.mark(), len(self.journal), dict(self.frame.env),
            len(prologue.lines), dict(prologue._bound), set(prologue._checked), prologue._next, dict(self._memo),
            dict(self._scalars), set(self._demanded), len(self.input_names), len(self.arrays), self._extra_work,
            [(s, s.value, s.written) for s in self.arrays], self._evaluated, _containers(self.frame.env),
        )  # fmt: skip

    def _restore(self, state: _State) -> None:
        """Undo everything since `_save`."""
        self._restore_values(state)
        self.builder = state.builder
        self.builder.rollback(state.mark)
        if self.builder is not self.root:
            self.root.rollback(state.root_mark)
        prologue = self.prologue
        del prologue.lines[state.lines :]
        prologue._bound, prologue._checked, prologue._next = dict(state.bound), set(state.checked), state.next
        self._memo, self._scalars, self._demanded = dict(state.memo), dict(state.scalars), set(state.demanded)
        del self.input_names[state.inputs :], self.arrays[state.arrays :]
        self._extra_work, self._evaluated = state.work, state.evaluated

    def _restore_values(self, state: _State) -> None:
        """Give names, storages and containers what they had."""
        while len(self.journal) > state.journal:
            storage, value = self.journal.pop()
            storage.value = value
        for storage, value, written in state.storages:
            storage.value, storage.written = value, written
        self.frame.env.clear()
        self.frame.env.update(state.env)
        for container, items in state.containers:
            container.items = items.copy()


def _without(outputs: Sequence[Value], body: _Body) -> list[Value]:
    first, count = len(body.names), len(body.storages)
    return [*outputs[:first], *outputs[first + count :]]


def _ends(value: Any) -> tuple[int | None, int | None]:
    if isinstance(value, Known):
        return value.value, value.value
    return (value.low, value.high) if isinstance(value, LoopInt) else (None, None)


def _containers(env: dict[str, Any]) -> list[tuple[Items, Any]]:
    """The containers that local names are bound to, with copies of what is in them."""
    found: dict[int, tuple[Items, Any]] = {}
    waiting = list(env.values())
    while waiting:
        value = waiting.pop()
        if isinstance(value, Items) and id(value) not in found:
            found[id(value)] = (value, value.items.copy())
            waiting += value.values
    return list(found.values())


def _is_changed(containers: list[tuple[Items, Any]]) -> bool:
    return any(
        len(container.items) != len(items)
        or any(
            one is not other for one, other in zip(container.values, Items(container.kind, items).values, strict=True)
        )
        for container, items in containers
    )
