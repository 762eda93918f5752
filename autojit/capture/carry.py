"""What a loop hands from one iteration to the next, found by dry runs of its body.

The body is interpreted until the set of written storages and rebound names is the same before and after, and their
specs are too. A name that is bound anew is carried by its contents; which object it means is decided by rules below.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np

from autojit.capture.branches import RAISED, Condition, Exit
from autojit.capture.build import BodyBuilder
from autojit.capture.heads import Heads, ascii_name
from autojit.capture.ints import carried_on
from autojit.capture.loop_parts import (
    Body,
    Course,
    Leaving,
    Names,
    can_be_head,
    is_made_inside,
    is_unsure,
    mentions,
    parts_of,
    refuse_unclear,
)
from autojit.capture.overlap import are_apart
from autojit.capture.regions import BREAK, CONTINUE, RETURN
from autojit.capture.statements import Signal
from autojit.capture.trades import FOREVER, Trades
from autojit.capture.undo import containers_of, is_changed
from autojit.capture.values import Arr, Known, LoopInt, Opaque, Storage, Sym
from autojit.errors import CannotCapture
from autojit.ir.graph import Graph, Operand, Value

_MAX_DRY_RUNS = 6
_INT64 = np.dtype(np.int64)


class Carry(Heads):
    """Dry runs of a loop's body."""

    loop_number = 0

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._known_carry: dict[int, tuple[list[str], list[Storage]]] = {}

    def find_body(self, course: Course, body: list[ast.stmt], names: Names, entered: bool, orelse: bool) -> Body | None:
        """Interpret the body until what it carries is stable; `None` when a spec is not."""
        storages = self._guess(body, names)
        for _ in range(_MAX_DRY_RUNS):
            state, before = self.save(), set(names.carried)
            try:
                found, more_storages, stable = self._dry_run(course, body, names, storages, entered, orelse)
            except CannotCapture:
                self.restore(state)
                raise
            # What was learned about outside objects stays, or a storage would be another one in the next run.
            self.restore_values(state)
            draws = self.repeated(course, state.draws)
            if draws and found is not None and found.leaving.stop is not None:
                self.restore(state)
                raise CannotCapture("effect", "random numbers are drawn in a loop that may be left early")
            if found is not None and stable:
                found.draws = draws
                self._known_carry[id(body)] = list(names.carried), storages
                return found
            del self.left[state.left :]  # another run will tell which ways raise
            if found is not None:
                return None
            storages += more_storages
            # Written, then bound anew: where nobody else sees the first array, the name's contents are all there is. A
            # name that is carried from now on is written as what it means at the head; the next run tells whether its
            # first array is written under another name, too.
            carried = {name: self.frame.env.get(name) for name in names.carried}
            own = [
                value.storage for name, value in carried.items()
                if isinstance(value, Arr) and (name not in before or self.is_private(value))
            ]  # fmt: skip
            storages = [storage for storage in storages if storage not in own]
        raise CannotCapture("long-loop", "what it carries does not settle")

    def _guess(self, body: list[ast.stmt], names: Names) -> list[Storage]:
        """Begin with what the same loop carried when it was met before: an outer loop's body is interpreted often."""
        carried, storages = self._known_carry.get(id(body), ([], []))
        env, names.is_pruned = self.frame.env, False
        names.carried += [n for n in carried if n in names.exposed and n in env and n not in names.carried]
        reachable = {id(storage) for storage in (*self.arrays, *self.holders())}
        return [storage for storage in storages if id(storage) in reachable]

    def _dry_run(
        self,
        course: Course,
        body: list[ast.stmt],
        names: Names,
        storages: list[Storage],
        entered: bool,
        orelse: bool,
    ) -> tuple[Body | None, list[Storage], bool]:
        env = self.frame.env
        containers, then = containers_of(self.meant()), self.now()
        self.loop_number += 1
        outer, self.builder = self.builder, BodyBuilder(self.loop_number, self.root.zero)
        outer_exits, self.exits = self.exits, []
        inner = self.builder
        self.hidden += 1  # no value inside has an example
        turns = len(self.turns)
        try:
            initial = dict(env)
            names.either.update({n: initial[n].dtype for n in names.carried if is_unsure(initial.get(n))})
            index = self.index_of(course, inner)
            self.turns.append((course, index, outer.predicate))
            heads = {name: self.head(name, initial.get(name), inner, names.either.get(name)) for name in names.carried}
            slots = [head.storage.value for head in heads.values()]
            slots += [head.python for head in heads.values() if head.python is not None]
            earlier: dict[str, Opaque] = {}
            for name in names.bound:
                if name not in names.exposed and name not in heads:
                    why = f"`{name}` may have its value of an earlier iteration"
                    env[name] = earlier[name] = Opaque("long-loop", why, unset=_may_be_unset(initial.get(name)))
            env.update(heads)
            for storage in storages:
                slot = inner.input(storage.spec, _name_of(storage, initial))
                slots.append(slot)
                self.journal.append((storage, storage.value))
                storage.value = slot
            mark, first_read = len(self.journal), len(self.reads)
            if course.bind is not None:
                course.bind(index)
            at_head = {name: env.get(name) for name in names.bound}
            kept = [name for name, head in heads.items() if head.storage.shared]
            leaving = self._meet(self.block(body), course, index, [heads[name] for name in kept], names, orelse)
            env.update({n: initial[n] for n, unknown in earlier.items() if n in initial and env.get(n) is unknown})
            if is_changed(containers):
                raise CannotCapture("long-loop", "a list or dict is changed in it")
            if self.asked_since(then):
                raise CannotCapture("long-loop", "an iterator is used up in it")
            written = {id(s): (s, old) for s, old in reversed(self.journal[mark:])}
            self._check_begun(heads, initial, written, self.reads[first_read:])
            fresh = [s for s, old in written.values() if not inner.owns(old) and s not in storages]
            more = [n for n in names.bound if n not in heads and self._must_carry(n, names, initial, at_head, entered)]
            unsure = {n: value.dtype for n in heads if is_unsure(value := env.get(n)) and n not in names.either}
            if fresh or more or unsure or names.prune(storages, heads, written, env):
                names.carried += more
                names.either.update(unsure)
                return None, fresh, False
            seen = (leaving, written, kept)
            return self._finish_body(inner, course, index, slots, names, storages, heads, initial, entered, *seen)
        finally:
            self.builder, self.exits = outer, outer_exits
            del self.turns[turns:]
            self.hidden -= 1

    def _check_begun(
        self, heads: dict[str, Arr], initial: dict[str, Any], written: dict[int, Any], reads: list[Storage]
    ) -> None:
        """What a carried name began with is read by its own name only, if the loop writes to it.

        The names' arrays are handed on by value: another name, or the loop that goes over the array, would not see it.
        """
        if any(id(head.storage) in written for head in heads.values()):
            begun = {id(value.storage) for name in heads if isinstance(value := initial.get(name), Arr)}
            if any(id(storage) in begun for storage in reads):
                raise CannotCapture("long-loop", "an array that goes from name to name is read under another one")

    def _must_carry(
        self, name: str, names: Names, initial: dict[str, Any], at_head: dict[str, Any], entered: bool
    ) -> bool:
        """Whether a name's value at the head of an iteration matters in it or after the loop."""
        value = self.frame.env.get(name)
        if name in names.exposed:
            return value is not at_head[name]
        if name in names.dropped or name not in names.live:
            return False
        if initial.get(name) is None or value is initial[name]:
            return False
        keeps = isinstance(value, Opaque) or not entered
        if keeps and not can_be_head(initial[name], value):
            names.dropped.add(name)
            return False
        return keeps

    # ---- how an iteration ends

    def _meet(
        self, signal: Signal, course: Course, index: LoopInt, kept: list[Arr], names: Names, orelse: bool
    ) -> Leaving:
        """Bring the ways through the body together; afterwards the names mean what they mean at its end."""
        builder = self.builder
        on = [way for way in self.exits if way.kind == CONTINUE]
        out = [way for way in self.exits if way.kind != CONTINUE]
        if signal is None or signal[0] == CONTINUE:
            on.append(Exit(CONTINUE, builder.predicate, dict(self.frame.env)))
        elif signal[0] != RAISED:
            out.append(Exit(signal[0], builder.predicate, dict(self.frame.env), signal[1]))
        if not on and not out:
            raise CannotCapture("raises", "each iteration of a loop raises")
        leaving = Leaving()
        leaving.stop = self._any(out)
        ways = list(out)
        if on:
            self.join(on)
            if course.test is not None:
                ends = self._negated(self.test(course.test))
                live = builder.predicate
                if live is not None:
                    ends = self._add("py_and", live, ends)
                leaving.stop = ends if leaving.stop is None else self._add("py_or", leaving.stop, ends)
            for name in names.dead:  # what nobody reads after the loop need not be chosen
                if name not in names.exposed:
                    self.frame.env.pop(name, None)
                for way in out:
                    way.env.pop(name, None)
                    if name in self.frame.env:
                        way.env[name] = self.frame.env[name]
            leaving.env = dict(self.frame.env)
            ways.append(Exit(CONTINUE, builder.predicate, leaving.env))
        builder.predicate = None
        if len(ways) > 1:
            self._guard_first(out, course, index, kept)
            self.join(ways)
            builder.predicate = None
        elif out:
            self._guard_first(out, course, index, kept)
            self._continue_with(ways[0].env)
        returns = [way for way in out if way.kind == RETURN]
        if returns:
            leaving.returned = self._any(returns)
            leaving.value = returns[-1].value
            for way in returns[:-1]:
                assert way.when is not None
                leaving.value = self.demand_choice(way.when, way.value, leaving.value)
        if orelse:
            leaving.broke = self._any([way for way in out if way.kind == BREAK])
        for head in kept:
            head.storage.shared = False
        return leaving

    def _any(self, ways: Sequence[Exit]) -> Operand | None:
        """Whether one of several ways is taken."""
        result: Operand | None = None
        for way in ways:
            when = self.builder.const(True) if way.when is None else way.when
            result = when if result is None else self._add("py_or", result, when)
        return result

    def _negated(self, condition: Condition) -> Operand:
        return self._flag(self._not(condition))

    def _guard_first(self, out: list[Exit], course: Course, index: LoopInt, kept: list[Arr]) -> None:
        """Left in the first iteration, a name may still mean the caller's array: that call is left to NumPy.

        Later iterations know that the name means an array of their own.
        """
        heads = {id(head.storage) for head in kept}
        going_on = {id(value.storage) for value in self.frame.env.values() if isinstance(value, Arr)}
        risky = [
            way for way in out
            if any(isinstance(value, Arr) and id(value.storage) in heads for value in way.env.values())
            or mentions(way.value, heads)
        ]  # fmt: skip
        if risky:
            first = self._add("py_equal", index.value, self.operand(course.start))
            when = self._any(risky)
            assert when is not None
            self.trap_if(self._add("py_and", when, first))
        for head in kept:
            # Later iterations have an array of their own: from here on a choice of contents is a choice of objects.
            head.storage.shared = id(head.storage) in going_on

    # ---- the body's graph

    def _finish_body(
        self,
        inner: BodyBuilder,
        course: Course,
        index: LoopInt,
        slots: list[Operand],
        names: Names,
        storages: list[Storage],
        heads: dict[str, Arr],
        initial: dict[str, Any],
        entered: bool,
        leaving: Leaving,
        written: dict[int, Any],
        kept: list[str],
    ) -> tuple[Body, list[Storage], bool]:
        env = self.frame.env
        trades = Trades.of(heads, env if leaving.env is None else leaving.env, kept)
        moved = self._moved(trades, heads, initial, written, leaving)
        for name in names.carried:
            before = initial.get(name)
            if isinstance(before, Arr) and before.kind == "array" and before.storage in storages:
                # In the first iteration the name still means the array that is written.
                detail = f"`{name}` is bound anew in each iteration, and its first array written"
                raise CannotCapture("long-loop", detail)
        ends: dict[str, Any] = {}
        last: list[str] = []
        after: dict[str, Any] = {}
        opaque: dict[str, Opaque] = {}
        seen: set[int] = set()
        stable = True
        own_heads = {id(head.storage) for head in heads.values()}
        for name in (*names.carried, *(n for n in names.bound if n not in names.exposed and n not in names.carried)):
            value = env.get(name)
            turns = trades.turns_kept(value.storage) if isinstance(value, Arr) and name not in moved else 0
            if name in names.live and turns and not self._outlasts(course, leaving, turns):
                opaque[name] = Opaque("long-loop", f"`{name}` may mean an array that had another name before the loop")
                if name not in heads:
                    continue
            is_scalar = isinstance(value, LoopInt) or (isinstance(value, Arr) and value.kind != "array")
            is_own = (
                isinstance(value, Arr)
                and not value.steps
                and (inner.owns(value.storage.value) or id(value.storage) in own_heads)
                and value.storage not in storages
            )
            if name not in heads:
                if name not in names.live:
                    after[name] = Opaque("long-loop", f"`{name}` after a loop that is compiled")
                    continue
                if value is None:
                    continue
                if not (entered and (is_own or is_scalar)) or name in names.dropped:
                    is_one = isinstance(value, Known | Sym) or any(value is each for each in initial.values())
                    # It means the same object in every iteration; the one that it has meant, without any, too.
                    constant = value is initial.get(name) or (entered and is_one)
                    unset = _may_be_unset(initial.get(name)) and (not entered or _may_be_unset(value))
                    unknown = Opaque("long-loop", f"`{name}` after a loop that is compiled", unset=unset)
                    after[name] = value if constant else unknown
                    continue
            if isinstance(value, LoopInt | Sym | Known):
                value = self.as_scalar(value)
            elif not isinstance(value, Arr) or not (is_own or is_scalar) or id(value.storage) in seen:
                raise CannotCapture("long-loop", f"`{name}` is another view or object in each iteration")
            before = initial.get(name) if name in heads else None
            if not _in_c_order(value) or not (_in_c_order(before) or before.dummy.ndim == 1):
                raise CannotCapture("long-loop", f"`{name}` is not in C order, and its order may change in the loop")
            seen.add(id(value.storage))
            ends[name] = value
            if name in heads:
                before_spec = heads[name].spec
                if value.spec != before_spec:
                    stable = False
                    if before_spec.kind == "python" and value.spec.kind == "scalar":
                        names.unstable[name] = value.dtype
            else:
                last.append(name)
        laid_out = {name for storage in self.laid_out for name in trades.beginnings(storage)}
        for before in [initial[name] for name in heads if name in laid_out]:
            if isinstance(before, Arr) and before.kind == "array":
                self.layout_matters(before)
                stable = stable and _in_c_order(before)  # only the first iteration may meet gaps
        if self.has_chosen:
            refuse_unclear(heads, ends, written, self.holders())
        handed = {id(value.storage): value for value in ends.values()}
        leaves: dict[int, Arr] = {}
        for part in parts_of(leaving.value):
            if is_made_inside(part, initial):
                if isinstance(part, Arr) and part.kind == "array" and trades.turns_kept(part.storage) > 1:
                    raise CannotCapture("long-loop", "it may return an array that had another name before the loop")
                leaf = self._leaf(part, inner, own_heads, storages)
                # The same object stays one.
                leaves[id(part)] = leaf if leaf.kind != "array" else handed.setdefault(id(leaf.storage), leaf)
        unnamed = {id(leaf): leaf for leaf in leaves.values() if all(leaf is not v for v in ends.values())}
        behind = list(unnamed.values())
        outputs = [self.read(carried_on(ends[n], heads[n]) if n in names.either else ends[n]) for n in names.carried]
        for name in heads:
            if name in names.either:
                outputs.append(self._flag(self._is_python(ends[name])))
        outputs += [storage.value for storage in storages]
        unread = [self.read(value) for value in (*(ends[name] for name in last), *behind)]
        flags = [leaving.broke, leaving.returned, leaving.stop]
        unread += [flag for flag in flags if flag is not None]
        # Nobody reads these at the head of an iteration.
        places = [inner.input(operand.spec) for operand in unread]
        outputs = [inner.own(operand) for operand in (*outputs, *unread)]
        captured = list(inner.captured.values())
        first: list[Value] = [index.value, *slots]  # type: ignore[list-item] -- inputs of the body are values
        inputs = (*first, *places, *(value for _, value in captured))
        graph = Graph("body", inputs, tuple(inner.nodes), tuple(outputs))
        return (
            Body(graph, [operand for operand, _ in captured], list(names.carried), dict(names.either), list(storages),
                 last, ends, after, opaque, leaving, leaves, behind, moved, kept),
            [],
            stable,
        )  # fmt: skip

    def _moved(
        self,
        trades: Trades,
        heads: dict[str, Arr],
        initial: dict[str, Any],
        written: dict[int, Any],
        leaving: Leaving,
    ) -> dict[str, str]:
        """Names that trade their arrays, as in `u, v = v, u`: each to the name whose array it has at the end."""
        if trades.moves_kept and trades.is_permutation:
            if leaving.stop is not None:
                raise CannotCapture("long-loop", "names trade their arrays in a loop that may be left early")
            begun = [value for name in trades.given if isinstance(value := initial.get(name), Arr)]
            if any(id(head.storage) in written for head in heads.values()):
                if not all(are_apart(one, other) for one, other in combinations(begun, 2)):
                    raise CannotCapture("long-loop", "names trade arrays that overlap, and one of them is written")
            return trades.given
        for head in heads.values():
            if id(head.storage) in written and trades.turns_kept(head.storage):
                raise CannotCapture("long-loop", "an array bound to a new name in each iteration is written in place")
        return {}

    def _outlasts(self, course: Course, leaving: Leaving, turns: int) -> bool:
        """Whether a loop has more iterations than these; a way out in the first one is guarded on its own."""
        return turns < FOREVER and (leaving.stop is None or turns == 1) and self.has_trips(course, turns + 1)

    def has_trips(self, course: Course, least: int) -> bool:
        """Whether a loop that is not left early has so many iterations, where that can be asked before it runs."""
        if course.test is not None:
            return False
        if course.static is not None:
            return bool(course.static[least - 1 :])
        if not all(isinstance(bound, Known | Sym) for bound in (course.start, course.stop)):
            return False
        step = course.step
        template = f"bool(range({{}}, {{}}, {step})[{least - 1}:])"  # `len` knows no large numbers
        return self.truth(
            self.compute(template, lambda a, b: bool(range(a, b, step)[least - 1 :]), course.start, course.stop)
        )

    def _leaf(self, part: Any, inner: BodyBuilder, heads: set[int], storages: list[Storage]) -> Arr:
        """A part of a returned value that an iteration has made, as what the loop hands out."""
        if isinstance(part, LoopInt | Sym):
            part = self.as_scalar(part)
        if isinstance(part, Arr) and part.kind != "array":
            return part
        if isinstance(part, Arr) and not part.steps and part.storage not in storages and _in_c_order(part):
            if inner.owns(part.storage.value) or id(part.storage) in heads:
                return part
        raise CannotCapture("long-loop", "it returns another view or object in each iteration")


def _name_of(storage: Storage, env: dict[str, Any]) -> str | None:
    """What the user calls the memory of an array."""
    names = (name for name, value in env.items() if isinstance(value, Arr) and value.storage is storage)
    return next(filter(ascii_name, names), None)


def _may_be_unset(value: Any) -> bool:
    return value is None or (isinstance(value, Opaque) and value.unset)


def _in_c_order(value: Any) -> bool:
    return not isinstance(value, Arr) or value.kind != "array" or value.dummy.flags.c_contiguous
