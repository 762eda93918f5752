"""Rolled loops: a `for` or `while` becomes one node whose body is a graph of its own (`capture.carry` finds it)."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from autojit.capture.branches import RAISED, Condition, Exit
from autojit.capture.carry import Carry
from autojit.capture.dummies import make_dummy
from autojit.capture.ints import carried_ints
from autojit.capture.loop_parts import Body, Course, Names, check_compiles, seconds_of
from autojit.capture.names import Flow, names
from autojit.capture.polled import Polled, is_endless
from autojit.capture.regions import BREAK, RETURN
from autojit.capture.statements import Signal
from autojit.capture.undo import same_effects
from autojit.capture.values import Arr, Closure, Items, Known, LoopInt, Opaque, Storage, Sym, plain
from autojit.errors import CannotCapture, SourceLine
from autojit.ir.graph import Operand, Value
from autojit.ir.spec import PYTHON_DTYPES, Spec
from autojit.ops.chapters import TABLE

#: Loops of at most this many iterations are unrolled where that is possible.
UNROLL_TRIPS = 4
#: A `while` that runs for more iterations, or about this many seconds, is left to Python.
MAX_WHILE_TRIPS = 10_000_000
MAX_WHILE_SECONDS = 10
#: Reasons for which another rung would fail too.
_FINAL = ("raises", "effect", "statement", "unknown-value")


class Loops(Carry):
    """The rules for `for` and `while` statements: roll, or unroll, or leave it to Python."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._flows: dict[ast.FunctionDef, Flow] = {}
        self.unrolled: dict[SourceLine | None, str] = {}  # loops that are no loops of the program, and why
        self.polled = Polled()

    def test(self, node: ast.expr) -> Condition:
        """As that of all branches; flags from outside are remembered."""
        found = super().test(node)
        shared = frozenset(self.shared) if self.frame is self.region_frame else frozenset()
        self.polled.note(node, found, self.frame.local_names - shared, self._meaning_of)
        return found

    def _meaning_of(self, name: str) -> Any:
        """What a name means, if it has a value."""
        try:
            return self.lookup(name, self.frame)
        except CannotCapture:
            return None

    def _run_For(self, node: ast.For) -> Signal:
        held = len(self.held)
        try:
            return self._run_over(node)
        finally:
            del self.held[held:]

    def _run_over(self, node: ast.For) -> Signal:
        drawn, before, then = len(self.draws), self.effects(), self.now()
        binds = self.save() if any(isinstance(part, ast.NamedExpr) for part in ast.walk(node.iter)) else None
        course = self._course(node)
        if course is None:
            if binds is not None:
                self.restore(binds)
            return super()._run_For(node)
        is_spent = len(self.draws) > drawn or self.asked_since(then) or not same_effects(before, self.effects())
        if is_spent or binds is not None:
            return self._rolled(node, course)  # what it runs over cannot be evaluated again, to unroll
        static = course.static
        if static is not None and len(static) <= UNROLL_TRIPS and not _has_loop(node):
            return self._unroll_or(node, course, super()._run_For)
        return self._roll_or(node, course, super()._run_For)

    def _run_While(self, node: ast.While) -> Signal:
        course = Course(Known(0), Known(MAX_WHILE_TRIPS), 1, None, node.test)
        return self._roll_or(node, course, super()._run_While)

    def _unroll_or(self, node: ast.For, course: Course, unroll: Callable[[Any], Signal]) -> Signal:
        state, line = self.save(), self.line
        try:
            signal = unroll(node)
        except CannotCapture as error:
            if error.id != "long-loop":
                raise
        else:
            self.unrolled[line] = f"at most {UNROLL_TRIPS} iterations"
            return signal
        self.restore(state)
        return self._rolled(node, course)

    def _roll_or(self, node: Any, course: Course, unroll: Callable[[Any], Signal]) -> Signal:
        state, line = self.save(), self.line
        try:
            return self._rolled(node, course)
        except CannotCapture as error:
            self.restore(state)
            if error.id in _FINAL or self.polled.of_others(node) is not None:
                raise
            rolled = error.detail  # not the error: it has the frames of this call, and they would have it
        try:
            signal = unroll(node)
            _refuse(self.polled.of_others(node))
            self.unrolled[line] = f"it cannot be rolled: {rolled}"
            return signal
        except CannotCapture as error:
            if error.id != "long-loop":
                raise
            raise CannotCapture("long-loop", f"{error.detail}; it cannot be rolled: {rolled}") from None

    # ---- what a loop runs over

    def _course(self, node: ast.For) -> Course | None:
        """The course of a loop over a range, an array, or `zip`, `enumerate` and `reversed` of such; not demanded."""
        state = self.save()
        bounds = self._range_of(node.iter)
        # Of an attribute or an item nobody knows what the body, or a function that it calls, assigns to it.
        is_last = isinstance(node.target, ast.Name) and node.target.id not in names(node.body).binds
        if bounds is not None:
            return Course(*bounds, lambda index: self.bind(node.target, index), is_last=is_last)
        self.restore(state)
        try:
            found = self._items_of(node.iter)
        except CannotCapture:
            found = None
        if found is None:
            self.restore(state)
            return None
        length, item = found
        return Course(Known(0), Known(length), 1, lambda index: self.bind(node.target, item(index)))

    def _range_of(self, node: ast.expr) -> tuple[Any, Any, int] | None:
        """The bounds of `range(...)`."""
        args = self._args_of(node, range)
        if args is None or not 1 <= len(args) <= 3:
            return None
        values = [self.settled(self.evaluate(argument)) for argument in args]
        if not all(_is_int(value) for value in values):
            return None
        start, stop = (Known(0), values[0]) if len(values) == 1 else values[:2]
        step = self.static(values[2]) if len(values) == 3 else 1
        return (start, stop, step) if step else None

    def _args_of(self, node: ast.expr, function: Any) -> list[ast.expr] | None:
        """The arguments of a call of a builtin, if the expression is one."""
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name)) or node.keywords:
            return None
        if node.func.id != function.__name__ or any(isinstance(argument, ast.Starred) for argument in node.args):
            return None
        called = self.evaluate(node.func)
        return node.args if isinstance(called, Known) and called.value is function else None

    def _items_of(self, node: ast.expr) -> tuple[int, Callable[[Any], Any]] | None:
        """How many items a loop sees, and the item for an index."""
        if (args := self._args_of(node, enumerate)) is not None and 1 <= len(args) <= 2:
            found = self._items_of(args[0])
            first = self.evaluate(args[1]) if len(args) == 2 else Known(0)
            if found is None or not _is_int(first):
                return None
            length, item = found
            return length, lambda index: Items(tuple, [self.binary(ast.Add, index, first), item(index)])
        if (args := self._args_of(node, zip)) is not None and args:
            columns = [self._items_of(argument) for argument in args]
            found_all = [column for column in columns if column is not None]
            if len(found_all) < len(columns):
                return None
            length = min(length for length, _ in found_all)
            return length, lambda index: Items(tuple, [item(index) for _, item in found_all])
        if (args := self._args_of(node, reversed)) is not None and len(args) == 1:
            if any(self._args_of(args[0], function) is not None for function in (enumerate, zip, reversed)):
                return None  # an iterator cannot be reversed
            found = self._items_of(args[0])
            if found is None:
                return None
            length, item = found
            return length, lambda index: item(self.binary(ast.Sub, Known(length - 1), index))
        if (bounds := self._range_of(node)) is not None:
            start, stop, step = bounds
            if not (isinstance(start, Known) and isinstance(stop, Known)):
                return None
            length = len(range(start.value, stop.value, step))
            return length, lambda index: self.binary(ast.Add, self.binary(ast.Mult, index, Known(step)), start)
        value = self.evaluate(node)
        if isinstance(value, Arr) and value.kind == "array" and value.dummy.ndim:
            self.held.append(value)
            return value.shape[0], lambda index: self.getitem(value, index)
        return None

    # ---- rolling

    def _rolled(self, node: Any, course: Course) -> Signal:
        test = True if course.test is None else self.test(course.test)
        if test is False:
            return self.unroll(iter(()), lambda: self.block(node.orelse))
        if self.sees_streams():
            raise CannotCapture("long-loop", "an iterator may be used up in it")
        if any(isinstance(n, ast.Delete) for s in node.body for n in ast.walk(s)):
            raise CannotCapture("long-loop", "it deletes a name")

        def turns(course: Course) -> Iterator[Signal]:
            static = course.static
            if static is not None and len(static) == 0:
                return
            entered = test is True and (course.test is not None or static is not None or self._require_entry(course))
            stop = self._negated(test)
            state = self.save()
            known, orelse = self._names_of(node), bool(node.orelse)
            body = self.find_body(course, node.body, known, entered, orelse)
            can_peel = entered and isinstance(course.start, Known) and (static is None or len(static) > 1)
            if body is None and not can_peel and known.unstable:
                # Python numbers that become NumPy scalars, if there is an iteration.
                known.either.update(known.unstable)
                body = self.find_body(course, node.body, known, entered, orelse)
            if body is None:
                # The specs settle after one iteration: peel it.
                if not can_peel:
                    raise CannotCapture("long-loop", "what it carries changes its type")
                self.restore(state)
                if course.bind is not None:
                    course.bind(course.start)
                yield self.block(node.body)
                course, entered, stop = self._rest(course)
                body = self.find_body(course, node.body, self._names_of(node), entered, orelse)
                if body is None:
                    raise CannotCapture("long-loop", "what it carries changes its type")
            self.here(node)
            _refuse(self.polled.of(node))
            self._emit(body, course, stop, entered)
            yield (RAISED, None) if is_endless(node) else None

        def safe(course: Course) -> Signal:
            return self.unroll(turns(course), lambda: self.block(node.orelse))

        state = self.save()
        try:
            try:
                return safe(course)
            except CannotCapture as error:
                if error.id != "moving-shape" or not self.has_factors or self.knows_factors:
                    raise
                self.restore(state)
                self.knows_factors = True
                return safe(course)
        except CannotCapture as error:
            if error.id != "moving-shape" or course.static is not None or course.test is not None:
                raise
            if not all(isinstance(bound, Known | Sym) for bound in (course.start, course.stop)):
                raise
            # The body needs to know how far the index goes.
            self.restore(state)
            start, stop = Known(self.static(course.start)), Known(self.static(course.stop))
            return safe(replace(course, start=start, stop=stop))

    def _names_of(self, node: Any) -> Names:
        """The names that the body binds, and those that it reads first."""
        local = self.frame.local_names
        exposed = Flow(node.body, local).entry(node.body, frozenset())
        bound = names(node.body).binds
        targets: set[str] = set()
        if isinstance(node, ast.For):
            targets = names([node.target]).binds
            bound |= targets
            exposed -= targets
        else:
            header = names([node.test])
            bound |= header.binds
            exposed |= header.reads
        for value in self.frame.env.values():
            if isinstance(value, Closure) and value.sees(self.frame):
                exposed |= (bound & value.captured) - targets  # it sees the names of the moment
        bound &= local
        return Names(sorted(bound), frozenset(exposed & bound), self._live_after(node) & bound)

    def _live_after(self, node: Any) -> frozenset[str]:
        """The local names that may be read after a statement, by whomever."""
        function = self.frame.node
        if not isinstance(function, ast.FunctionDef) or node.orelse:  # which reads what nobody may read behind it
            return self.frame.local_names
        flow = self._flows.get(function)
        if flow is None:
            flow = self._flows[function] = Flow(function.body, self.frame.local_names)
        if id(node) not in flow.after:
            return self.frame.local_names
        return flow.live_after(node) | self.names_seen() | self.frame.shared

    def _rest(self, course: Course) -> tuple[Course, bool, Operand]:
        """The loop after its first iteration."""
        if course.test is not None:
            test = self.test(course.test)
            return course, test is True, self._negated(test)
        rest = replace(course, start=Known(course.start.value + course.step))
        return rest, rest.static is not None, self.builder.const(False)

    def _require_entry(self, course: Course) -> bool:
        """Make sure that the loop has at least one iteration, where that can be asked."""
        if not all(isinstance(bound, Known | Sym) for bound in (course.start, course.stop)):
            return False
        if not self.has_trips(course, 1):
            raise CannotCapture("long-loop", "it has no iterations")
        return True

    # ---- the node

    def _emit(self, body: Body, course: Course, stop: Operand, entered: bool) -> None:
        """Add the loop to the graph, and bind what it leaves behind."""
        env, leaving = self.frame.env, body.leaving
        initial = dict(env)
        env.update(body.after)
        inits: list[Operand] = []
        for name in body.names:
            if name in body.either:
                inits.append(self._as_numpy(initial[name], self.operand(plain(initial[name])), body.either[name]))
            else:
                inits.append(self.operand(initial[name]))
            if inits[-1].spec != body.graph.inputs[len(inits)].spec:
                raise CannotCapture("long-loop", f"`{name}` changes its type")
        inits += [self._flag(self._is_python(initial[name])) for name in body.names if name in body.either]
        inits += [storage.value for storage in body.storages]
        behind = [value.spec for value in (*(body.ends[name] for name in body.last), *body.behind)]
        inits += [self._placeholder(spec) for spec in behind]
        flags = [flag for flag in (leaving.broke, leaving.returned) if flag is not None]
        inits += [self.builder.const(False) for _ in flags]
        if leaving.stop is not None:
            inits.append(stop)
        if body.kept and not entered:
            bounds = course.start, course.stop
            is_counted = course.test is None
            if leaving.stop is None or (is_counted and any(isinstance(bound, LoopInt) for bound in bounds)):
                raise CannotCapture("long-loop", "it may have no iterations, and names mean the caller's arrays")
            if is_counted:
                first, end = bounds if course.step > 0 else bounds[::-1]
                stop = self._add("py_greater_equal", self.operand(first), self.operand(end))
            self.trap_if(stop)
        self.draws += body.draws
        outputs = self._add_loop(body, course, inits)
        after = iter(outputs)
        for name in body.names:
            env[name] = self._named(next(after))
        for name in body.names:
            if name in body.either:
                env[name] = replace(env[name], python=next(after), ints=carried_ints(initial[name]))
        for storage in body.storages:
            self.journal.append((storage, storage.value))
            storage.value = next(after)
            storage.written = True
        for name in body.last:
            env[name] = self._named(next(after))
        if self.has_chosen:
            for name in (*body.names, *body.last):
                ways = [body.ends[name], initial.get(name)]
                storages = [value.storage for value in ways if isinstance(value, Arr)]
                env[name].storage.choose(storages)
        made = {id(body.ends[name]): env[name] for name in (*body.names, *body.last)}
        made.update({id(value): self._named(next(after)) for value in body.behind})
        if self.has_chosen:
            for value in body.behind:
                made[id(value)].storage.choose([value.storage])  # which the names' arrays may be, too
        leaves = {part: made[id(leaf)] for part, leaf in body.leaves.items()}
        broke = next(after) if leaving.broke is not None else None
        returned = next(after) if leaving.returned is not None else None
        if body.moved:
            self._trade(body, course, initial)
        env.update(body.opaque)
        if course.test is not None and leaving.stop is not None:
            self.trap_if(self._negated(next(after)))
        self._bind_last(course, leaving.stop is not None)
        builder = self.builder
        if returned is not None:
            value = _rebuilt(leaving.value, leaves)
            self.exits.append(Exit(RETURN, builder.under(returned), dict(env), value))
            builder.predicate = builder.under(returned, negated=True)
        if broke is not None:
            self.exits.append(Exit(BREAK, builder.under(broke), dict(env)))
            builder.predicate = builder.under(broke, negated=True)

    def _add_loop(self, body: Body, course: Course, inits: list[Operand]) -> Sequence[Value]:
        graph = body.graph
        check_compiles(graph)
        if not inits:
            if not any(node.op.traps for node in graph.nodes):
                return ()  # nothing comes out of it
            slot = Value("unused", Spec((), np.dtype(bool), "python"))
            place = Value(f"{graph.inputs[0].name}_unused", slot.spec)
            inputs = (graph.inputs[0], place, *graph.inputs[1:])
            graph = type(graph)(graph.name, inputs, graph.nodes, (place,))
            inits = [self.builder.const(False)]
        params: dict[str, Any] = {"body": graph, "step": course.step, "carried": len(inits)}
        if body.leaving.stop is not None:
            params["exits"] = True
        start, stop = self.operand(course.start), self.operand(course.stop)
        if course.test is not None:
            stop = self.builder.const(max(1000, min(MAX_WHILE_TRIPS, int(MAX_WHILE_SECONDS / seconds_of(graph)))))
        try:
            return self.builder.add(TABLE["loop"], [start, stop, *inits, *body.captured], params, self.line)
        except TypeError as error:
            raise CannotCapture("long-loop", f"what it hands on changes its kind: {error}") from None

    def _named(self, output: Value) -> Arr:
        spec = output.spec
        return Arr(Storage(output, spec), (), make_dummy(spec.shape, spec.dtype), spec.kind, several=True)

    def _bind_last(self, course: Course, may_leave: bool) -> None:
        """The loop variable after the loop, where it is known better than as a carried value."""
        static = course.static
        if course.bind is None or may_leave or not course.is_last:
            return
        try:
            if static is not None:
                course.bind(Known(static[-1]))
            elif all(isinstance(bound, Known | Sym) for bound in (course.start, course.stop)):
                step = course.step
                template = f"range({{}}, {{}}, {step})[-1]"
                course.bind(self.compute(template, lambda a, b: range(a, b, step)[-1], course.start, course.stop))
        except CannotCapture:
            return

    def _trade(self, body: Body, course: Course, initial: dict[str, Any]) -> None:
        """After `u, v = v, u` in a loop: which array each name means depends on the number of iterations."""
        turns = self._turns(course, _order(body.moved))
        env = self.frame.env
        contents = {name: env[name] for name in body.moved}
        for name in body.moved:
            owner = name
            for _ in range(turns):
                owner = body.moved[owner]
            array = initial[owner]
            self.write(array, self.read(contents[name]))
            env[name] = array

    def _turns(self, course: Course, order: int) -> int:
        """The number of iterations but for multiples of `order`; a plan is made for each."""
        if course.static is not None:
            return len(course.static) % order
        step = course.step
        if course.test is not None or not all(isinstance(bound, Known | Sym) for bound in (course.start, course.stop)):
            raise CannotCapture("long-loop", "names trade their arrays, and the number of iterations is not known")

        def turns(start: int, stop: int) -> int:
            return max(0, -((start - stop) // step)) % order

        template = f"(max(0, -(({{}} - {{}}) // {step})) % {order})"
        left = self.compute(template, turns, course.start, course.stop)
        # Where the bounds change from entry to entry it has few values all the same.
        return self.static(replace(left, moving=False) if isinstance(left, Sym) else left)

    def _placeholder(self, spec: Spec) -> Operand:
        """Any value of a spec: the loop replaces it before it is read."""
        if spec.kind == "python":
            kind = {dtype: kind for kind, dtype in PYTHON_DTYPES.items()}[spec.dtype]
            return self.builder.const(kind(0))
        if spec.kind == "scalar":
            return self.builder.const(spec.dtype.type(0))
        return self.apply(TABLE["np.zeros"], [], {"shape": spec.shape, "dtype": spec.dtype}).storage.value


def _refuse(flag: ast.expr | None) -> None:
    if flag is not None:
        raise CannotCapture("long-loop", f"`{ast.unparse(flag)}` may be changed meanwhile, by another thread")


def _has_loop(node: ast.For) -> bool:
    return any(isinstance(inner, ast.For | ast.While) for statement in node.body for inner in ast.walk(statement))


def _is_int(value: Any) -> bool:
    if isinstance(value, Arr):
        return value.kind == "python" and value.dtype == np.int64
    return isinstance(value, LoopInt) or type(getattr(value, "value", None)) is int


def _rebuilt(value: Any, leaves: dict[int, Arr]) -> Any:
    """A returned value, with what the loop computed in place."""
    if isinstance(value, Items) and value.kind is tuple:
        return Items(tuple, [_rebuilt(part, leaves) for part in value.values])
    if isinstance(value, Opaque):
        raise value.error()
    return leaves.get(id(value), value)


def _order(moved: dict[str, str]) -> int:
    """After how many turns every name has its own array again."""
    order, present = 1, dict(moved)
    while any(name != owner for name, owner in present.items()):
        present = {name: moved[owner] for name, owner in present.items()}
        order += 1
    return order
