"""Statements of the user's program, executed on abstract values."""

from __future__ import annotations

import ast
import operator
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from autojit.capture.attributes import assign_attribute, is_own_attribute
from autojit.capture.draws import Draws
from autojit.capture.plain import check_key
from autojit.capture.put_functions import exactly, put_flat
from autojit.capture.regions import BREAK, CONTINUE, RETURN
from autojit.capture.source import source_line, source_of
from autojit.capture.values import Arr, Closure, Flat, Frame, Items, Known, Opaque, Ragged, Selected, Sym
from autojit.capture.words import describe
from autojit.errors import CannotCapture
from autojit.ops.trust import TRUSTED, names_of

#: Loops with more iterations are not unrolled.
_SHORT_LOOP = 32
#: Statements without a rule, in the user's words: those that change what is not an array, and those of plain syntax.
_CHANGES = {
    ast.Delete: "a `del` statement",
    ast.AsyncFor: "an `async for` loop",
    ast.AsyncWith: "an `async with` block",
}
_SYNTAX = {
    ast.Match: "a `match` statement",
    ast.TryStar: "a `try` with `except*`",
    ast.ClassDef: "a `class` statement",
    ast.AsyncFunctionDef: "an `async def` statement",
}
#: The names of the rules, as `expressions.py` has them.
_RULES = {kind: sys.intern(f"_run_{kind.__name__}") for kind in ast.stmt.__subclasses__()}
#: How a block ended: `None` at its end, or the kind of exit and its value.
Signal = tuple[int, Any] | None


def _misorders(first: bool = False, second: bool = True) -> bool:
    """Whether this Python assigns `a, a = x, y` from right to left, as it did before 3.11.4 (python/cpython#104615)."""
    last, last = first, second
    return not last


_MISORDERS = _misorders()


class Statements(Draws):
    """One method per kind of statement."""

    def run_body(self, node: ast.FunctionDef | ast.Lambda, frame: Frame) -> Any:
        if isinstance(node.body, ast.expr):
            return self.evaluate(node.body)
        signal = self.block(node.body)
        return signal[1] if signal is not None else Known(None)

    def block(self, body: list[ast.stmt]) -> Signal:
        """Execute statements until one leaves the block."""
        for statement in body:
            signal = self.execute(statement)
            if signal is not None:
                return signal
        return None

    def execute(self, statement: ast.stmt) -> Signal:
        """Execute one statement.

        Raises:
            CannotCapture: It must stay native.
        """
        self.here(statement)
        rule = getattr(self, _RULES.get(type(statement), ""), None)
        if rule is not None:
            frame = self.frame
            before, frame.level = frame.level, self.builder.predicate
            try:
                return rule(statement)
            finally:
                frame.level = before
        if (changes := _CHANGES.get(type(statement))) is not None:
            raise CannotCapture("statement", changes)
        other = f"a `{type(statement).__name__.lower()}` statement"
        raise CannotCapture("unsupported-syntax", _SYNTAX.get(type(statement), other))

    def here(self, node: ast.AST) -> None:
        """Remember the user's line, for messages and for the graph."""
        if self.frame.trusted:
            return
        frame = self.frame
        # The checker cannot know: statements and expressions have lines.
        self.line = source_line(frame.file, node.lineno, frame.name, frame.called)  # type: ignore[attr-defined]
        self.prologue.source = self.line

    def _run_Pass(self, node: ast.Pass | ast.Global | ast.Nonlocal) -> Signal:
        return None

    _run_Global = _run_Nonlocal = _run_Pass  # the compiler has heeded them

    def _run_Expr(self, node: ast.Expr) -> Signal:
        self.evaluate(node.value)
        return None

    def _run_Return(self, node: ast.Return) -> Signal:
        return RETURN, Known(None) if node.value is None else self.evaluate(node.value)

    def _run_Break(self, node: ast.Break) -> Signal:
        return BREAK, None

    def _run_Continue(self, node: ast.Continue) -> Signal:
        return CONTINUE, None

    def _run_If(self, node: ast.If) -> Signal:
        return self.block(node.body if self.truth(self.evaluate(node.test)) else node.orelse)

    def _run_For(self, node: ast.For) -> Signal:
        iterable = self.evaluate(node.iter)
        count = self.count(iterable) or 0
        if count > _SHORT_LOOP:
            raise CannotCapture("long-loop", f"a loop of {count} iterations")

        self.held.append(iterable)

        def turns() -> Iterator[Signal]:
            before = self.work
            for trips, item in enumerate(self.each(iterable), 1):
                if trips > max(count, _SHORT_LOOP):
                    raise CannotCapture("long-loop", f"a loop of more than {_SHORT_LOOP} iterations")
                self.here(node)
                self.bind(node.target, item)
                yield self.block(node.body)
                self._check_unrolled(before, trips, max(count, trips))

        return self.unroll(turns(), lambda: self.block(node.orelse))

    def _run_While(self, node: ast.While) -> Signal:
        def turns() -> Iterator[Signal]:
            trips, before = 0, self.work
            while self.truth(self.evaluate(node.test)):
                trips += 1
                if trips > _SHORT_LOOP:
                    raise CannotCapture("long-loop", f"a loop of more than {_SHORT_LOOP} iterations")
                yield self.block(node.body)
                self._check_unrolled(before, trips, trips)
                self.here(node)

        return self.unroll(turns(), lambda: self.block(node.orelse))

    def unroll(self, turns: Iterator[Signal], orelse: Callable[[], Signal]) -> Signal:
        """Run the turns of a loop one after the other; each is the signal of its body."""
        raise NotImplementedError

    def _check_unrolled(self, before: int, done: int, trips: int) -> None:
        """Stop early: after two iterations it is clear how many operations all of them take."""
        if trips < 2:
            return
        expected = before + (self.work - before) * trips // done
        if expected > self.unroll_budget * (1 if done > 1 else 4):
            raise CannotCapture("long-loop", f"a loop that takes more than {self.unroll_budget} operations unrolled")

    unroll_budget = 600

    def _run_Try(self, node: ast.Try) -> Signal:
        """A captured body raises nothing: data errors send the call to NumPy, where the handlers are."""
        predicate = self.builder.predicate
        signal = self.block(node.body)
        if signal is None:
            signal = self.block(node.orelse)
        if node.finalbody and self.builder.predicate is not predicate:
            # A way that has left the body must run the `finally` block too.
            raise CannotCapture("data-branch", "the data decides how the body of a `try` with `finally` is left")
        final = self.block(node.finalbody)
        return final if final is not None else signal

    is_quiet = False

    def _run_With(self, node: ast.With) -> Signal:
        """`with np.errstate(...)` that ignores errors: compiled code reports none anyway."""
        for item in node.items:
            call = item.context_expr
            other = f"a `with` statement: `{ast.unparse(getattr(call, 'func', call))}` acts when it is entered and left"
            if not isinstance(call, ast.Call) or item.optional_vars is not None or self.frame.trusted:
                raise CannotCapture("statement", other)
            function = self.evaluate(call.func)
            if not isinstance(function, Known) or function.value is not np.errstate or call.args:
                raise CannotCapture("statement", other)
            states = {keyword.arg: self.static(self.evaluate(keyword.value)) for keyword in call.keywords}
            kinds = ("all", "divide", "over", "under", "invalid")
            if any(kind not in kinds or how != "ignore" for kind, how in states.items()):
                raise CannotCapture("errstate", "an error state that does more than ignore")
            self.is_quiet = self.is_quiet or bool(states)
        return self.block(node.body)

    def _run_Assign(self, node: ast.Assign) -> Signal:
        value = self.evaluate(node.value)
        for target in node.targets:
            self.bind(target, value)
        return None

    def _run_AnnAssign(self, node: ast.AnnAssign) -> Signal:
        if node.value is not None:
            self.bind(node.target, self.evaluate(node.value))
        elif not isinstance(node.target, ast.Name):
            raise CannotCapture("statement", "an annotation of an item or attribute")
        return None

    def _run_AugAssign(self, node: ast.AugAssign) -> Signal:
        target = node.target
        if isinstance(target, ast.Name):
            if target.id not in self.frame.local_names:
                raise CannotCapture("statement", f"the assignment to the global `{target.id}`")
            old = self.lookup(target.id, self.frame)
            self.frame.env[target.id] = self.inplace(type(node.op), old, self.evaluate_beside(old, node.value))
            return None
        if isinstance(target, ast.Subscript):
            owner = self.evaluate(target.value)
            key = self.evaluate_beside(owner, target.slice)
            old = self.subscript(owner, key)
            new = self.inplace(type(node.op), old, self.evaluate_beside(Items(tuple, [owner, old]), node.value))
            # Written in place already; storing the same object again changes nothing.
            same = isinstance(old, Arr | Ragged) and new is old
            is_view = same and (isinstance(old, Ragged) or old.steps) and isinstance(owner, Arr | Ragged)
            is_item = same and isinstance(owner, Known) and type(owner.value) in (list, dict)
            if not (is_view or is_item):
                self._store_item(owner, key, new)
            return None
        assert isinstance(target, ast.Attribute)
        owner = self.evaluate(target.value)
        old = self.attribute(owner, target.attr)
        new = self.inplace(type(node.op), old, self.evaluate_beside(old, node.value))
        # `self.x += y` writes the array; binding the same object again changes nothing.
        same = new is old and isinstance(old, Arr) and old.kind == "array"
        is_part = isinstance(owner, Arr) and target.attr in ("real", "imag") and owner.dtype.kind == "c"
        if not is_part and same:  # unless what was computed meanwhile has assigned it
            same = self.attribute(owner, target.attr) is old and is_own_attribute(self, owner, target.attr)
        if not same:
            self._store_attribute(owner, target.attr, new)
        return None

    def bind(self, target: ast.expr, value: Any) -> None:
        """Assign a value to a target."""
        if isinstance(target, ast.Name):
            if target.id not in self.frame.local_names:
                raise CannotCapture("statement", f"the assignment to the global `{target.id}`")
            self.frame.env[target.id] = value
        elif isinstance(target, ast.Tuple | ast.List):
            self._unpack(target, value)
        elif isinstance(target, ast.Subscript):
            owner = self.evaluate_beside(value, target.value)
            self._store_item(owner, self.evaluate_beside(Items(tuple, [value, owner]), target.slice), value)
        elif isinstance(target, ast.Attribute):
            self._store_attribute(self.evaluate_beside(value, target.value), target.attr, value)
        else:
            raise CannotCapture("statement", "an assignment to what is no name, item or attribute")

    def _store_attribute(self, owner: Any, name: str, value: Any) -> None:
        is_array = isinstance(owner, Arr) and owner.kind == "array"
        if is_array and name == "flat":
            put_flat(self, owner, Known(slice(None)), value)
        elif is_array and name in ("real", "imag") and owner.dtype.kind == "c":
            part = self.array_attribute(owner, name)
            self.setitem(part, Known(Ellipsis), exactly(self, value, part))
        else:
            assign_attribute(self, owner, name, value)

    def _unpack(self, target: ast.Tuple | ast.List, value: Any) -> None:
        names = [part.id for part in target.elts if isinstance(part, ast.Name)]
        if _MISORDERS and len(set(names)) < len(names):
            raise CannotCapture("statement", "the assignment to a name twice, which this Python does in another order")
        items = self.iterate(value)
        starred = [n for n, part in enumerate(target.elts) if isinstance(part, ast.Starred)]
        if starred:
            at, count = starred[0], len(target.elts) - 1
            if len(items) < count:
                raise CannotCapture("raises", "ValueError: not enough values to unpack")
            tail = len(items) - (count - at)
            items = [*items[:at], Items(list, items[at:tail]), *items[tail:]]
        if len(items) != len(target.elts):
            raise CannotCapture("raises", f"ValueError: {len(items)} values to unpack into {len(target.elts)}")
        for part, item in zip(target.elts, items, strict=True):
            self.bind(part.value if isinstance(part, ast.Starred) else part, item)

    def _store_item(self, owner: Any, key: Any, value: Any) -> None:
        if isinstance(owner, Opaque):
            raise owner.error()
        if isinstance(owner, Arr | Selected):
            self.setitem(owner, key, value)
        elif isinstance(owner, Flat):
            put_flat(self, owner.array, key, value)
        elif isinstance(owner, Items) and owner.path is None and owner.kind in (list, dict):
            plain = self._plain_key(key)
            if owner.kind is dict:
                check_key(plain)
            self.change()
            self.ask(lambda: owner.items.__setitem__(plain, value))
        else:
            raise CannotCapture("effect", f"an item of {describe(owner)} from outside is assigned")

    def _run_FunctionDef(self, node: ast.FunctionDef) -> Signal:
        if node.decorator_list:
            raise CannotCapture("statement", "a decorated nested function")
        if any(isinstance(inner, ast.Nonlocal | ast.Global | ast.Yield | ast.YieldFrom) for inner in ast.walk(node)):
            raise CannotCapture("statement", "a nested function with `nonlocal`, `global` or `yield`")
        if self.frame.parent is None and node.name not in self.frame.local_names:
            raise CannotCapture("statement", f"the assignment to the global `{node.name}`")
        defaults = self.defaults_of(node)
        self._evaluate_annotations(node)
        self.frame.env[node.name] = Closure(node, self.frame, defaults)
        return None

    def _evaluate_annotations(self, node: ast.FunctionDef) -> None:
        """Python evaluates them where the function is defined: they may raise."""
        outermost = self.frame
        while outermost.parent is not None:
            outermost = outermost.parent
        if outermost.postponed:
            return
        annotations = [part.annotation for part in ast.walk(node.args) if isinstance(part, ast.arg)]
        for annotation in (*annotations, node.returns):
            if isinstance(annotation, ast.Name | ast.Attribute):
                self.evaluate(annotation)  # nothing is done with it: it may be anything
            elif annotation is not None:
                self._annotation(annotation)

    def _annotation(self, node: ast.expr) -> Any:
        """A type of Python's or NumPy's: what is made of others is made by Python itself."""
        if isinstance(node, ast.Subscript):
            parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            owner, keys = self._annotation(node.value), tuple(map(self._annotation, parts))
            return self.ask(operator.getitem, owner, keys if isinstance(node.slice, ast.Tuple) else keys[0])
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
            return self.ask(operator.or_, self._annotation(node.left), self._annotation(node.right))
        if isinstance(node, ast.List):
            return [self._annotation(part) for part in node.elts]
        value = self.evaluate(node) if isinstance(node, ast.Constant | ast.Name | ast.Attribute) else None
        known = value.value if isinstance(value, Known) else node
        modules = ("builtins", "numpy", "typing", "collections.abc")
        if not isinstance(node, ast.Constant) and getattr(known, "__module__", "") not in modules:
            raise CannotCapture("statement", "a nested function with annotations that are more than types")
        return known

    def _run_Raise(self, node: ast.Raise) -> Signal:
        raise CannotCapture("raises", "a `raise` statement is reached")

    def _run_Import(self, node: ast.Import) -> Signal:
        for alias in node.names:
            module = sys.modules.get(alias.name)
            if module is None or ("." in alias.name and not alias.asname):
                raise CannotCapture("statement", f"the import of `{alias.name}`")
            self._expect_module(alias.name, module)
            self.bind(ast.Name(alias.asname or alias.name, ast.Store()), Known(module))
        return None

    def _run_ImportFrom(self, node: ast.ImportFrom) -> Signal:
        module = sys.modules.get(node.module or "") if not node.level else None
        for alias in node.names:
            if not isinstance(module, types.ModuleType) or not _has(module, alias.name):
                raise CannotCapture("statement", f"the import of `{alias.name}`")
            self._expect_module(node.module or "", module)
            self.bind(ast.Name(alias.asname or alias.name, ast.Store()), self.module_attribute(module, alias.name))
        return None

    def _expect_module(self, name: str, module: Any) -> None:
        if name.split(".")[0] not in TRUSTED:
            modules, known = self.prologue.constant(sys.modules), self.prologue.constant(module)
            self.prologue.check(f"{modules}.get({name!r}) is {known}", f"the module `{name}` is the same")


def _has(module: types.ModuleType, name: str) -> bool:
    """Whether a module has a name; only those that are trusted are asked to make it."""
    is_trusted = module.__name__.partition(".")[0] in TRUSTED
    return hasattr(module, name) if is_trusted else name in names_of(module)


__all__ = ["Signal", "Statements", "Sym", "source_of"]
