"""Branches on array data: both ways are recorded, each under its condition, and what they leave behind is chosen.

Writes and operations that could raise know the condition themselves (`capture.build`). A way that leaves its block
(`break`, `continue`, `return`) is remembered as an `Exit`; what follows runs under the condition that it was not taken.
"""

from __future__ import annotations

import ast
import math
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from autojit.capture import layout
from autojit.capture.ints import greatest_int
from autojit.capture.lists import EXACT_INT
from autojit.capture.python_numbers import bounds_of
from autojit.capture.regions import BREAK, CONTINUE, RETURN
from autojit.capture.statements import Signal
from autojit.capture.undo import Undo, containers_of, is_changed
from autojit.capture.values import Arr, Frame, Items, Known, LoopInt, Opaque, is_number, plain
from autojit.errors import CannotCapture, Reason
from autojit.ir.graph import Operand
from autojit.ops.chapters import TABLE

#: How a way ended on which nothing goes on: by an exception, where the call is left to NumPy, or by an endless loop.
RAISED = -1
#: Outside loops, Python takes a branch itself when the statements under it are more work than this.
_SMALL_BRANCH = 40
_MISSING = object()


@dataclass(frozen=True, slots=True)
class Exit:
    """A way through a block that left it early.

    Attributes:
        kind: BREAK, CONTINUE or RETURN.
        when: The condition under which it is taken; `None`: always.
        env: What the names meant.
        value: What is returned.
    """

    kind: int
    when: Operand | None
    env: dict[str, Any]
    value: Any = None


Condition = bool | Operand


class Branches(Undo):
    """The rules for `if`, conditional expressions, `and`, `or`, `assert`, and for ways that leave a block."""

    # ---- conditions

    def condition(self, value: Any) -> Condition:
        """`bool(value)`: known, or a bool of the graph."""
        if isinstance(value, LoopInt):
            if value.low is not None and value.high is not None:
                if value.low > 0 or value.high < 0:
                    return True
                if value.low == value.high == 0:
                    return False
            return self._add("py_not_equal", value.value, self.builder.const(0))
        if isinstance(value, Arr) and value.spec.size == 1:
            operand = self.read(plain(value))
            if operand.spec.kind == "python" and operand.spec.dtype == np.bool_:
                return operand
            return self._add("item_bool", operand)
        return self.truth(value)

    def test(self, node: ast.expr) -> Condition:
        """The truth of an expression; only truth is asked for, so that `and` and `or` need no common type."""
        if isinstance(node, ast.BoolOp):
            return self._test_all(node.values, isinstance(node.op, ast.And))
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return self._not(self.test(node.operand))
        return self.condition(self.evaluate(node))

    def _test_all(self, parts: list[ast.expr], is_and: bool) -> Condition:
        first = self.test(parts[0])
        if len(parts) == 1 or (isinstance(first, bool) and first is not is_and):
            return first
        if isinstance(first, bool):
            return self._test_all(parts[1:], is_and)
        with self.under(first, negated=not is_and):
            rest = self._test_all(parts[1:], is_and)
        if isinstance(rest, bool):
            return first if rest is is_and else rest
        return self._add("py_and" if is_and else "py_or", first, rest)

    def _not(self, condition: Condition) -> Condition:
        return (not condition) if isinstance(condition, bool) else self._add("py_not", condition)

    def _add(self, name: str, *operands: Operand) -> Operand:
        return self.builder.add(TABLE[name], operands, {}, self.line)[0]

    @contextmanager
    def under(self, condition: Operand, negated: bool = False) -> Iterator[None]:
        """What is evaluated inside is evaluated only if the condition holds (or not)."""
        outer, env = self.builder.predicate, self.frame.env
        before = dict(env)
        self.builder.predicate = self.builder.under(condition, negated)
        self.hidden += 1
        try:
            yield
        finally:
            self.builder.predicate = outer
            self.hidden -= 1
        if len(env) > len(before) or any(env.get(name) is not value for name, value in before.items()):
            raise CannotCapture("data-branch", "the data decides whether a name is bound in an expression")

    # ---- expressions

    #: Whether some array is one or another, as the data decides.
    has_chosen = False

    def _eval_IfExp(self, node: ast.IfExp) -> Any:
        test = self.test(node.test)
        if isinstance(test, bool):
            return self.evaluate(node.body if test else node.orelse)
        with self.under(test):
            one = self.evaluate(node.body)
        with self.under(test, negated=True):
            other = self.evaluate(node.orelse)
        return self.demand_choice(test, one, other)

    def _eval_BoolOp(self, node: ast.BoolOp) -> Any:
        return self._first_of(node.values, isinstance(node.op, ast.And))

    def _first_of(self, parts: list[ast.expr], is_and: bool) -> Any:
        value = self.evaluate(parts[0])
        if len(parts) == 1:
            return value
        truth = self.condition(value)
        if isinstance(truth, bool):
            return self._first_of(parts[1:], is_and) if truth is is_and else value
        with self.under(truth, negated=not is_and):
            rest = self._first_of(parts[1:], is_and)
        return self.demand_choice(truth, *((rest, value) if is_and else (value, rest)))

    def _eval_Compare(self, node: ast.Compare) -> Any:
        return self._compare_chain(self.evaluate(node.left), list(zip(node.ops, node.comparators, strict=True)))

    def _compare_chain(self, left: Any, rest: list[tuple[ast.cmpop, ast.expr]]) -> Any:
        op, node = rest[0]
        right = self.evaluate_beside(left, node)
        result = self._compare(type(op), left, right)
        if len(rest) == 1:
            return result
        truth = self.condition(result)
        if isinstance(truth, bool):
            return self._compare_chain(right, rest[1:]) if truth else result
        with self.under(truth):
            more = self._compare_chain(right, rest[1:])
        return self.demand_choice(truth, more, result)

    def _eval_UnaryOp(self, node: ast.UnaryOp) -> Any:
        if isinstance(node.op, ast.Not):
            value = self.evaluate(node.operand)
            if isinstance(value, Arr | LoopInt):
                truth = self.condition(value)
                return Known(not truth) if isinstance(truth, bool) else self.fresh(self._add("py_not", truth))
        return super()._eval_UnaryOp(node)

    # ---- a choice between two values

    def demand_choice(self, test: Operand, one: Any, other: Any) -> Any:
        """`one if test else other`.

        Raises:
            CannotCapture: No one value can stand for both.
        """
        chosen = self.choice(test, one, other)
        if isinstance(chosen, Opaque):
            raise chosen.error()
        return chosen

    def choice(self, test: Operand, one: Any, other: Any, what: str = "a value") -> Any:
        """`one if test else other`, or an `Opaque` where no one value can stand for both."""
        if one is other:
            return one
        if isinstance(one, Known) and isinstance(other, Known) and _is_same_constant(one, other):
            return one
        if isinstance(one, Items) and isinstance(other, Items) and one.kind is other.kind is tuple:
            if len(one.items) == len(other.items):
                parts = zip(one.values, other.values, strict=True)
                return Items(tuple, [self.choice(test, a, b, what) for a, b in parts])
        if isinstance(one, Arr) and isinstance(other, Arr) and one.kind == other.kind == "array":
            if one.storage is other.storage and not one.steps and not other.steps and not one.readonly:
                return one
            same = one.spec == other.spec and one.dummy.strides == other.dummy.strides
            if self.can_be_chosen(one) and self.can_be_chosen(other) and same and one.shape:
                value = self.builder.add(TABLE["np.where"], [test, self.read(one), self.read(other)], {}, self.line)
                chosen = self.fresh(value[0])
                layout.set_strides(chosen, one.dummy.strides)
                chosen.storage.choose([one.storage, other.storage])
                chosen.several = True
                self.has_chosen = True
                return chosen
        elif is_number(one) and is_number(other):
            return self._chosen_number(test, one, other, what)
        unset = any(isinstance(way, Opaque) and way.unset for way in (one, other))
        return Opaque("data-branch", f"{what} is one object or another, as the data decides", unset=unset)

    def _chosen_number(self, test: Operand, one: Any, other: Any, what: str) -> Any:
        a, b = (self.operand(plain(number)) for number in (one, other))
        flags = [self._is_python(number) for number in (one, other)]
        dtypes = [number.spec.dtype for number in (a, b)]
        if a.spec.kind != b.spec.kind and "array" not in (a.spec.kind, b.spec.kind):
            # One is a Python number, one a NumPy scalar: a NumPy scalar that remembers it.
            dtype = a.spec.dtype if a.spec.kind == "scalar" else b.spec.dtype
            a, b = self._as_numpy(one, a, dtype), self._as_numpy(other, b, dtype)
        if a.spec != b.spec:
            return Opaque("data-branch", f"{what} is of one type or another, as the data decides")
        value = self.builder.choose(test, a, b, self.line)
        if a.spec.kind == "scalar" and not all(flag is False for flag in flags):
            first, second = (self._flag(flag) for flag in flags)
            chosen = self.builder.choose(test, first, second, self.line)
            is_native = dtypes[0] == dtypes[1] and all(
                flag in (True, False) or number.is_native for flag, number in zip(flags, (one, other), strict=True)
            )
            ints = max(map(greatest_int, (one, other)))
            return replace(self.fresh(value), python=chosen, is_native=is_native, several=True, ints=ints)
        bounds = (*bounds_of(one), *bounds_of(other))
        if a.spec.kind == "python" and a.spec.dtype == np.int64 and None not in bounds:
            return LoopInt(value, min(bounds), max(bounds))
        return replace(self.fresh(value), several=True)

    def _is_python(self, number: Any) -> Condition:
        """Whether Python sees a Python number."""
        if isinstance(number, Arr):
            return number.kind == "python" if number.python is None else number.python
        return not isinstance(getattr(number, "value", None), np.generic)

    def _flag(self, flag: Condition) -> Operand:
        return self.builder.const(flag) if isinstance(flag, bool) else flag

    def _as_numpy(self, number: Any, operand: Operand, dtype: np.dtype) -> Operand:
        """A number as a NumPy scalar, where it has the same value in that dtype; else unchanged."""
        if operand.spec.kind == "scalar":
            return operand
        if operand.spec.kind == "array":
            raise CannotCapture("data-branch", "an array of no axes or a number, as the data decides")
        if isinstance(number, Known):
            with np.errstate(all="ignore"):
                try:
                    made = dtype.type(number.value)
                except (OverflowError, TypeError, ValueError):
                    return operand
            # NumPy would compare in its own dtype: 0.1 is not what float32 has for it.
            value, own = made.item(), number.value
            is_same = value == own or (value != value and own != own)
            is_same = is_same and (dtype == np.bool_) == (type(own) is bool)
            loses_sign = type(own) is float and dtype.kind in "iu" and math.copysign(1, own) < 0 and not own
            return self.builder.const(made) if is_same and not loses_sign else operand
        if operand.spec.dtype == dtype:
            return self._add("as_scalar", operand)
        if operand.spec.dtype == np.int64 and dtype == np.float64:
            for name, end in (("py_greater", EXACT_INT), ("py_less", -EXACT_INT)):
                self.trap_if(self._add(name, operand, self.builder.const(end)))
            scalar = self._add("as_scalar", operand)
            return self.builder.add(TABLE["astype"], [scalar], {"dtype": dtype}, self.line)[0]
        return operand

    def commit(self, array: Arr, value: Operand) -> None:
        if self.has_chosen:
            storage = array.storage
            if any(other is not storage and other.may_be(storage) for other in self.holders()):
                raise CannotCapture("data-branch", "the data decides whether another name means the array written")
        super().commit(array, value)

    # ---- statements

    def _run_If(self, node: ast.If) -> Signal:
        test = self.test(node.test)
        if isinstance(test, bool):
            return self.block(node.body if test else node.orelse)
        state, before = self.save(), self.work
        signal = self.branch(test, lambda: self.block(node.body), lambda: self.block(node.orelse))
        if not self.in_loop and self.work - before > _SMALL_BRANCH:
            self.restore(state)
            raise CannotCapture("data-branch", "Python branches on the contents of an array")
        return signal

    @property
    def in_loop(self) -> bool:
        """Whether the statements are those of a loop that is compiled."""
        return self.builder is not self.root

    def _run_Assert(self, node: ast.Assert) -> Signal:
        if sys.flags.optimize:
            return None
        test = self.test(node.test)
        if test is False:
            raise CannotCapture("raises", "AssertionError")
        if not isinstance(test, bool):
            self.trap_if(self._add("py_not", test))
        return None

    def branch(self, test: Operand, body: Callable[[], Signal], orelse: Callable[[], Signal]) -> Signal:
        """Both ways of an `if`, each under its condition; then the names mean what the way taken left them."""
        env, builder = self.frame.env, self.builder
        outer, start, exits = builder.predicate, dict(env), len(self.exits)
        containers = containers_of(self.meant())
        ends: list[tuple[Signal, Operand | None, dict[str, Any]]] = []
        for way, negated in ((body, False), (orelse, True)):
            env.clear()
            env.update(start)
            builder.predicate = outer
            builder.predicate = builder.under(test, negated)
            signal = self._way(way)
            ends.append((signal, builder.predicate, dict(env)))
        builder.predicate = outer
        if is_changed(containers):
            raise CannotCapture("data-branch", "a list or dict is changed in a branch that data decides")
        (one, when, env_one), (other, when_not, env_other) = ends
        if one is not None and other is not None:
            if one[0] == RAISED:
                builder.predicate = when_not
                return other
            if other[0] != RAISED:
                self.exits.append(Exit(other[0], when_not, env_other, other[1]))
            self._continue_with(env_one)
            builder.predicate = when
            return one
        if one is None and other is None:
            self._continue_with(self.merge(test, env_one, env_other))
            if len(self.exits) > exits:
                assert when is not None and when_not is not None
                builder.predicate = builder.either(when, when_not)
            return None
        left, taken = (ends[0], ends[1]) if one is not None else (ends[1], ends[0])
        assert left[0] is not None
        if left[0][0] != RAISED:
            self.exits.append(Exit(left[0][0], left[1], left[2], left[0][1]))
        self._continue_with(taken[2])
        builder.predicate = taken[1] if left[0][0] != RAISED or len(self.exits) > exits else outer
        return None

    def _way(self, way: Callable[[], Signal]) -> Signal:
        """One way of a branch. Where Python would raise, the call is left to NumPy."""
        self.hidden += 1
        try:
            return self._or_raised(way)
        finally:
            self.hidden -= 1

    def _or_raised(self, way: Callable[[], Signal]) -> Signal:
        state = self.save()
        try:
            return way()
        except CannotCapture as error:
            if error.id != "raises":
                raise
            reason = Reason(error.id, error.detail, self.line)
            self.restore(state)
            self.left.append(reason)
            self.trap_if(self.builder.const(True))
            return RAISED, None

    def execute(self, statement: ast.stmt) -> Signal:
        # Where other ways have left, a statement that raises is one more way, like a branch that does.
        return self._or_raised(lambda: self._execute(statement)) if self.exits else self._execute(statement)

    def _execute(self, statement: ast.stmt) -> Signal:
        return super().execute(statement)

    def end(self, signal: Signal) -> Signal:
        """How a region or function ends whose statements end with `signal`: where none goes on, as the last way out."""
        if signal is None or signal[0] != RAISED:
            return signal
        if not self.exits:
            return None  # never reached
        last = self.exits.pop()
        self._continue_with(last.env)
        return last.kind, last.value

    def _continue_with(self, env: dict[str, Any]) -> None:
        self.frame.env.clear()
        self.frame.env.update(env)

    def merge(self, test: Operand, one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
        """What the names mean after two ways, the first of which was taken if `test` holds."""
        merged: dict[str, Any] = {}
        for name in {**one, **other}:
            a, b = one.get(name, _MISSING), other.get(name, _MISSING)
            if a is _MISSING or b is _MISSING:
                why = f"`{name}` may have no value here, as the data decides"
                merged[name] = Opaque("data-branch", why, unset=True)
            else:
                merged[name] = self.choice(test, a, b, f"`{name}`")
        return merged

    def join(self, ways: list[Exit]) -> None:
        """Go on where several ways meet."""
        env, when = ways[-1].env, ways[-1].when
        for way in reversed(ways[:-1]):
            assert way.when is not None and when is not None
            env = self.merge(way.when, way.env, env)
            when = self.builder.either(way.when, when)
        self._continue_with(env)
        self.builder.predicate = when

    # ---- functions and unrolled loops

    def run_body(self, node: ast.FunctionDef | ast.Lambda, frame: Frame) -> Any:
        if isinstance(node.body, ast.expr):
            return self.evaluate(node.body)
        outer, self.exits = self.exits, []
        predicate = self.builder.predicate
        try:
            signal = self.block(node.body)
            if signal is not None and signal[0] == RAISED and not self.exits:
                raise CannotCapture("raises", f"`{frame.name}` raises")
            end = self.end(signal)
            self._check_seen(end)
            return self.returned(end)
        finally:
            self.exits = outer
            self.builder.predicate = predicate

    def _check_seen(self, end: Signal) -> None:
        """Refuse names that mean one thing or another, as the data says, to functions that outlive the call."""
        given = [value for way in self.exits for value in (way.value, *way.env.values())]
        for name in self.names_seen(*given, end and end[1]) if self.exits else ():
            if any(way.env.get(name) is not self.frame.env.get(name) for way in self.exits):
                raise CannotCapture("data-branch", f"what `{name}` means to a function that outlives the call")

    def returned(self, signal: Signal) -> Any:
        """The value of a function whose body ended with `signal`, and whose other ways are in `exits`."""
        value = Known(None) if signal is None else signal[1]
        for way in self.exits:
            assert way.when is not None
            value = self.choice(way.when, way.value, value, "the returned value")
        if isinstance(value, Opaque):
            raise value.error()
        return value

    def unroll(self, turns: Iterator[Signal], orelse: Callable[[], Signal]) -> Signal:
        """Run the turns of a loop one after the other; each is the signal of its body."""
        outer, self.exits = self.exits, []
        predicate = self.builder.predicate
        left: list[Exit] = []
        signal: Signal = None
        try:
            for signal in turns:
                ways = [way for way in self.exits if way.kind == CONTINUE]
                left += [way for way in self.exits if way.kind != CONTINUE]
                self.exits = []
                if signal is None or signal[0] == CONTINUE:
                    ways.append(Exit(CONTINUE, self.builder.predicate, dict(self.frame.env)))
                elif signal[0] != RAISED and (ways or left):
                    left.append(Exit(signal[0], self.builder.predicate, dict(self.frame.env), signal[1]))
                if not ways:
                    break
                if len(ways) > 1 or signal is not None:  # else the one way on is the present state
                    self.join(ways)
                signal = None
        finally:
            self.exits = outer
        if not left:
            if signal is None:
                return orelse()
            return None if signal[0] == BREAK else signal
        return self._after_loop(left, signal, predicate, orelse)

    def _after_loop(
        self, left: list[Exit], signal: Signal, predicate: Operand | None, orelse: Callable[[], Signal]
    ) -> Signal:
        """Where the ways out of a loop meet: those by `break`, and the one by its end."""
        before = len(self.exits)
        self.exits += [way for way in left if way.kind == RETURN]
        ways = [way for way in left if way.kind == BREAK]
        if signal is None:
            signal = orelse()
            if signal is None:
                ways.append(Exit(BREAK, self.builder.predicate, dict(self.frame.env)))
            elif signal[0] != RAISED:
                self.exits.append(Exit(signal[0], self.builder.predicate, dict(self.frame.env), signal[1]))
        if not ways:
            return RAISED, None
        self.join(ways)
        if len(ways) == len(left) + 1 and len(self.exits) == before:
            self.builder.predicate = predicate  # all ways lead here
        return None


def _is_same_constant(one: Known, other: Known) -> bool:
    if one.value is other.value:
        return one.path == other.path
    kind = type(one.value)
    return kind is type(other.value) and kind in (int, str, bool, type(None)) and one.value == other.value
