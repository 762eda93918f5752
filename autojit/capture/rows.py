"""Lists that a loop fills: `xs = []`, then `xs.append(value)` in its iterations, as the rows of an array.

Where each iteration appends, the row has the number of the iteration. Where some do, or the loop may be left early, the
rows are counted while the loop runs.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from autojit.capture.carried_attributes import CarriedAttributes
from autojit.capture.iteration import MAX_TRIPS
from autojit.capture.loop_parts import Body, Course
from autojit.capture.names import TEMPORARY, targets_of
from autojit.capture.reach import reach
from autojit.capture.statements import Signal
from autojit.capture.values import (
    Arr,
    Closure,
    Frame,
    Items,
    Known,
    LoopInt,
    Method,
    Partial,
    Rows,
    Stream,
    Sym,
    Vectorize,
)
from autojit.errors import CannotCapture
from autojit.ir.graph import Operand
from autojit.ir.spec import Spec
from autojit.ops.chapters import TABLE

#: The list of a comprehension.
_LIST = f"{TEMPORARY}_list"
_ALL = Items(tuple, [])
#: The memory that the items of a list may take.
_MOST_BYTES = 1 << 28
#: What may hold a list where nobody sees it: `xs.append`, functions, iterators. Nobody holds a comprehension's.
_HOLDERS = (Closure, Method, Partial, Vectorize, Stream)
_NUMBERS = (bool, int, float, complex, np.generic)


class _Needs(Exception):
    """The rows of a list have to be made before the loop is interpreted, and a count of them if it is `counted`."""

    def __init__(self, number: int, spec: Spec, counted: bool) -> None:
        self.number = number
        self.form = spec, counted


@dataclass(slots=True)
class _Filling:
    """A list while a loop fills it.

    Attributes:
        name: What it is called.
        items: The list.
        number: Which of the loop's lists.
        rows: What becomes of it; `None` until it is known what the items are.
        begun: What they are before the loop.
    """

    name: str
    items: Items
    number: int
    rows: Rows | None = None
    begun: Operand | None = None


class RowLoops(CarriedAttributes):
    """Rolls loops that fill lists; where they cannot, the rooms below try."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._filling: list[_Filling] = []
        self._loops: dict[ast.ListComp, ast.For] = {}
        self._bind: Any = None  # of the course of the loop that fills
        self._begins: Any = None  # likewise
        self._iteration: Any = Known(0)  # of the iteration

    def _rolled(self, node: Any, course: Course) -> Signal:
        filling = self._lists_of(node, course)
        if not filling or (counted := self._counted(course)) is None:
            return super()._rolled(node, course)
        state, known = self.save(), dict[int, tuple[Spec, bool]]()
        outer = self._filling, self._bind, self._begins, self._iteration
        while True:
            for one in filling:
                one.rows = self._rows(one, *known[one.number], counted) if one.number in known else None
                one.begun = None if one.rows is None else one.rows.array.storage.value
            self._filling, self._bind, self._begins = filling, counted.bind, counted.start
            try:
                signal = super()._rolled(node, counted)
            except _Needs as needs:
                self.restore(state)
                known[needs.number] = needs.form
                continue
            finally:
                self._filling, self._bind, self._begins, self._iteration = outer
            for one in filling:
                if one.rows is not None:
                    self.frame.env[one.name] = one.rows
            return signal

    # ---- before the loop

    def _lists_of(self, node: Any, course: Course) -> list[_Filling]:
        """The lists of which a loop knows nothing but that an iteration may append one item."""
        if course.test is not None or self.in_loop or self.builder.predicate is not None:
            return []
        if _LIST not in self.frame.env and any(isinstance(value, _HOLDERS) for value in self.meant()):
            return []
        named = [part.id for part in ast.walk(node) if isinstance(part, ast.Name)]
        found: list[_Filling] = []
        for statement in _once(node.body):
            call = statement.value if isinstance(statement, ast.Expr) else None
            if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or call.func.attr != "append":
                continue
            if len(call.args) != 1 or call.keywords or isinstance(call.args[0], ast.Starred):
                continue
            name = call.func.value.id if isinstance(call.func.value, ast.Name) else ""
            items = self.frame.env.get(name)
            if not isinstance(items, Items) or items.kind is not list or items.path is not None:
                continue
            meant = reach([self.frame, *self.assigned_values(), *self.held])  # also what loops around it go over
            if named.count(name) == 1 and sum(value is items for value in meant) == 1:
                found.append(_Filling(name, items, len(found)))
        return found

    def _counted(self, course: Course) -> Course | None:
        """The course with a number of iterations that the plan is made for, and a count of them."""
        if course.static is None:
            if not all(isinstance(bound, Known | Sym) and not getattr(bound, "moving", False)
                       for bound in (course.start, course.stop)):  # fmt: skip
                return None
            course = replace(course, start=Known(self.static(course.start)), stop=Known(self.static(course.stop)))
        bind, first, step = course.bind, course.start, course.step

        def count(index: Any) -> None:
            if bind is not None:
                bind(index)
            number = self.binary(ast.Sub, index, first)
            self._iteration = number if step == 1 else self.binary(ast.FloorDiv, number, Known(step))

        return replace(course, bind=count)

    def _rows(self, one: _Filling, spec: Spec, counted: bool, course: Course) -> Rows:
        """Rows for the items that a list has, and for those that it gets."""
        assert course.static is not None
        items = [self._item(one, value, means=1) for value in one.items.values]
        if any(item.spec != spec for item in items):
            raise CannotCapture("long-loop", f"`{one.name}` gets items of several types")
        shape = (len(items) + len(course.static), *spec.shape)
        if math.prod(shape) * spec.dtype.itemsize > _MOST_BYTES:
            raise CannotCapture("budget", "a list of that many items in a loop")
        rows = Rows(self.apply(TABLE["np.zeros"], [], {"shape": shape, "dtype": spec.dtype}), spec)
        if counted:
            rows.length = self.apply(TABLE["np.zeros"], [], {"shape": (), "dtype": np.dtype(np.int64)})
            self.setitem(rows.length, _ALL, Known(len(items)))
        for number, item in enumerate(items):
            self.setitem(rows.array, Known(number), item)
        return rows

    # ---- in the loop

    def _items_method(self, owner: Items, name: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        for one in self._filling:
            if owner is one.items:
                self._append(one, self._item(one, args[0], means=0))
                return Known(None)
        return super()._items_method(owner, name, args, kwargs)

    def _item(self, one: _Filling, value: Any, means: int) -> Arr:
        """An item that can be a row: a number, or an array that so many names and items mean: only the list itself."""
        is_number = isinstance(value, Known | Sym) and isinstance(value.value, _NUMBERS)
        if is_number and value.value != value.value:
            raise CannotCapture("long-loop", f"`{one.name}` gets a NaN, which is found in it by identity")
        if is_number or isinstance(value, LoopInt):
            return self.as_scalar(value)
        if isinstance(value, Arr) and value.python is None:
            is_own = self.is_private(value) and self.references(value.storage) == means
            is_own = is_own and not any(s is not value.storage and s.may_be(value.storage) for s in self.holders())
            is_own = is_own and value.dummy.flags.c_contiguous
            if value.kind != "array" or (is_own and value.dummy.ndim):
                return value
        what = "a list" if one.name == _LIST else f"`{one.name}`"
        raise CannotCapture("long-loop", f"{what} gets items that are neither numbers nor new arrays")

    def _append(self, one: _Filling, value: Arr) -> None:
        counted = self.builder.predicate is not None
        if one.rows is None or (counted and one.rows.length is None):
            raise _Needs(one.number, value.spec, counted)
        if one.rows.spec != value.spec:
            raise CannotCapture("long-loop", f"`{one.name}` gets items of several types")
        if one.rows.length is None:
            before = len(one.items.values)
            number = self.binary(ast.Add, self._iteration, Known(before)) if before else self._iteration
            self.setitem(one.rows.array, number, value)
            return
        length = self.getitem(one.rows.length, _ALL)
        self.setitem(one.rows.array, length, value)
        self.setitem(one.rows.length, _ALL, self.binary(ast.Add, length, Known(1)))

    def _emit(self, body: Body, course: Course, stop: Operand, entered: bool) -> None:
        for one in self._filling if course.bind is self._bind else ():
            if one.rows is not None and one.rows.length is None:
                if body.leaving.stop is not None or self._differs(one, body, course):
                    raise _Needs(one.number, one.rows.spec, True)
        super()._emit(body, course, stop, entered)

    def _differs(self, one: _Filling, body: Body, course: Course) -> bool:
        """Whether a first iteration that was taken off may fill the list otherwise than the rest does."""
        if course.start is self._begins:
            return False
        assert one.rows is not None
        storage = one.rows.array.storage
        fills = storage.value is not one.begun, any(other is storage for other in body.storages)
        return fills[0] is not fills[1] or self.builder.predicate is not None

    # ---- comprehensions

    def _eval_ListComp(self, node: ast.ListComp) -> Any:
        """A list of more items than are made one by one is filled by a loop."""
        generator, *more = node.generators
        if more or generator.is_async or any(isinstance(part, ast.NamedExpr) for part in ast.walk(node)):
            return super()._eval_ListComp(node)
        state, outer = self.save(), self.frame
        try:
            course = self._course(self._as_loop(node))
            course = None if course is None else self._counted(course)
            trips = 0 if course is None or course.static is None else len(course.static)
            self.restore(state)
            if trips > MAX_TRIPS:
                self.frame = Frame(
                    outer.name, outer.file, {_LIST: Items(list, [])}, outer.namespace, outer.namespace_path, {},
                    frozenset(targets_of(node) | {_LIST}), outer, outer.trusted, called=outer.called,
                )  # fmt: skip
                self.execute(self._as_loop(node))
                filled = self.frame.env[_LIST]
                if isinstance(filled, Rows):
                    return filled
        except CannotCapture:
            pass
        finally:
            self.frame = outer
        self.restore(state)
        return super()._eval_ListComp(node)

    def _as_loop(self, node: ast.ListComp) -> ast.For:
        loop = self._loops.get(node)
        if loop is None:
            generator = node.generators[0]
            append = ast.Attribute(ast.Name(_LIST, ast.Load()), "append", ast.Load())
            body: list[ast.stmt] = [ast.Expr(ast.Call(append, [node.elt], []))]
            for test in reversed(generator.ifs):
                body = [ast.If(test, body, [])]
            loop = ast.copy_location(ast.For(generator.target, generator.iter, body, []), node)
            self._loops[node] = ast.fix_missing_locations(loop)
        return loop

    # ---- behind the loop

    def _builtin_len(self, value: Any, /) -> Any:
        if not isinstance(value, Rows):
            return super()._builtin_len(value)
        if value.length is None:
            return Known(value.count)
        return self.call_method(self.getitem(value.length, _ALL), "item", [], {})

    def row(self, rows: Rows, number: int) -> Any:
        """An item of the list."""
        if rows.spec.kind == "array":
            raise CannotCapture("unsupported-syntax", "one of the arrays in a list that a loop has filled")
        item = self.getitem(rows.array, Known(number))
        if rows.spec.kind == "scalar":
            return item
        return self.call_method(item, "item", [], {})

    def subscript(self, value: Any, key: Any) -> Any:
        """`value[key]`."""
        if isinstance(value, Rows):
            if isinstance(key, LoopInt) and value.spec.kind == "scalar" and value.count:
                return self.getitem(value.array, key)
            number = self.static(key)
            if type(number) is not int:
                raise CannotCapture("unsupported-syntax", "a part of a list that a loop has filled")
            return self.row(value, self.ask(range(value.count).__getitem__, number))
        return super().subscript(value, key)

    def each(self, value: Any) -> Iterator[Any]:
        """The items that Python would iterate over."""
        if isinstance(value, Rows):
            self._check_trips(value.count)
            return (self.row(value, number) for number in range(value.count))
        return super().each(value)

    def call_numpy(self, function: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """Call a NumPy function."""
        rows = args[0] if len(args) == 1 and not kwargs else None
        if isinstance(rows, Rows) and rows.spec.kind == "array" and function in (np.stack, np.vstack, np.concatenate):
            array = self.as_array(rows)
            if function is np.stack or (function is np.vstack and len(array.shape) == 2):
                return array
            return self.reshape(array, (array.shape[0] * array.shape[1], *array.shape[2:]))
        return super().call_numpy(function, args, kwargs)

    def as_items(self, value: Any) -> Items:
        """An `Items` for a sequence value."""
        return Items(list, list(self.each(value))) if isinstance(value, Rows) else super().as_items(value)

    def as_array(self, value: Any, dtype: np.dtype | None = None) -> Arr:
        """`np.asarray` of nested sequences of scalars and arrays; numbers are rounded to a dtype one by one."""
        if not isinstance(value, Rows):
            return super().as_array(value, dtype)
        _ = value.count  # must be known
        array = value.array
        is_rounded = dtype not in (None, np.int64, np.float64, np.complex128)
        if value.spec.weak and value.spec.dtype.kind == "i" and is_rounded:
            if dtype.kind not in "fc":
                raise CannotCapture("argument-type", f"a list of Python ints of the run as an array of `{dtype}`")
            array = self.apply(TABLE["each_number"], [array], {"function": "float"})  # NumPy rounds them twice
        return self.fresh(self.read(array))


def _once(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements that run at most once in an iteration."""
    for statement in body:
        yield statement
        if isinstance(statement, ast.If):
            yield from _once(statement.body)
            yield from _once(statement.orelse)
