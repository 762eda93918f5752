"""`Recorder`: turns outside objects into abstract values, and abstract operations into graph nodes."""

from __future__ import annotations

import enum
import math
import operator
import types
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autojit.capture import layout
from autojit.capture.dummies import make_dummy
from autojit.capture.exactness import flushes
from autojit.capture.huge import in_digits, is_huge, wrap_bounds
from autojit.capture.lengths import RowCount, note_shape, wrap_rows
from autojit.capture.memory import Memory
from autojit.capture.observed import Layouts, Observed, observe
from autojit.capture.plain import SET_OPERATORS, check_text, is_fixed, is_method, no_set, own_rules, same_object
from autojit.capture.protocols import is_plain, refuse_classes
from autojit.capture.source import original_of
from autojit.capture.values import Arr, ArraySpec, Items, Known, LoopInt, Masked, Opaque, Ragged, Storage, Sym, Unknown
from autojit.capture.words import describe
from autojit.errors import CannotCapture, refusal
from autojit.ir.build import Builder
from autojit.ir.graph import Const, Operand, Value
from autojit.ir.op import Op
from autojit.ir.spec import Spec, is_compiled, is_compiled_scalar, spec_of
from autojit.ops.chapters import TABLE
from autojit.ops.declared import is_declared

_INT64 = np.iinfo(np.int64)
#: Longer lists of the caller's are not looked into: each item would be checked at each call.
LONGEST = 2048
#: Functions whose Python ints grow with their last argument, and how large that may be.
_GROWING = (operator.pow, pow, operator.lshift, math.factorial, math.comb, math.perm)
_GROWTH = 4096
_FUNCTIONS = (types.FunctionType, types.BuiltinFunctionType, np.ufunc, type(np.sum))


class Recorder(Memory):
    """The state of one capture: the graph in the making, the prologue, and what is known of every value.

    Args:
        parameters: The prologue's parameters.
        node_budget: How many nodes the graph may have.
        observed: What host operations gave in earlier runs, as in `Options`; shared and added to.
    """

    def __init__(self, parameters: tuple[str, ...], node_budget: int, observed: dict[Any, Observed | None]) -> None:
        super().__init__(parameters)
        self.node_budget = node_budget
        self.observed = observed
        self.input_names: list[str] = []  # the prologue's name of each graph input
        self.arrays: list[Storage] = []  # the caller's arrays
        self.range_bounds: list[Any] = []  # of the loops whose trips the run counts
        self.hidden = 0  # how many loops are being interpreted
        self._examples: dict[str, Any] | None = {}
        self._demanded: set[str] = set()
        self._moving: set[str] = set()
        self.syms: dict[str, Sym] = {}  # by name in the prologue
        self.rows: RowCount | None = None  # of a plan for several numbers of rows
        self.varying: frozenset[str] = frozenset()  # ints from outside that no plan may depend on, by path
        self.ints_of: dict[str, dict[str, int]] = {}  # by a scalar's name: the ints that it is made of, by path
        self.of_floats: set[str] = set()  # the names of scalars that are made of other numbers, too
        self.constants: dict[str, int] = {}  # those that the plan depends on
        self.scalars: dict[str, Value] = {}
        self.layouts: dict[str, Layouts] = {}  # of host operations, by the name of their first result
        self.evaluated = 0  # so many nodes have examples
        self._extra_work = 0

    @property
    def work(self) -> int:
        """The operations so far, as far as compile time goes: those on complex numbers count for several."""
        return len(self.builder) + self._extra_work

    # ---- outside objects

    def wrap(self, value: Any, path: str, what: str, moving: bool = False) -> Any:
        """The abstract value of an outside object, found at run time by `path`; adds its guard.

        Args:
            value: The object.
            path: Prologue source text that gives the object.
            what: How the user calls it, for messages.
            moving: Whether it is expected to differ at the next entry.
        """
        found = self._memo.get(path)
        if found is None:
            found = self._memo[path] = self._wrap(value, path, what, moving)
        return found

    def wrap_part(self, value: Any, path: str, moving: Callable[[], bool] | None = None) -> Any:
        """The same for an item or an attribute: its words, and whether it is `moving`, are asked for once."""
        found = self._memo.get(path)
        if found is None:
            found = self.wrap(value, path, self.prologue.words(path), moving is not None and moving())
        return found

    def _wrap(self, value: Any, path: str, what: str, moving: bool) -> Any:
        check, constant = self.prologue.check, self.prologue.constant
        kind = type(value)
        if kind is np.ndarray or kind is ArraySpec:
            return self._wrap_array(value, path, what)
        if kind is Unknown:
            return Opaque(value.id, value.detail or f"`{what}` is made by an earlier native line", value.cause)
        if kind is bool or value is None or value is Ellipsis:
            check(f"{path} is {value!r}", f"`{what}` is {value!r}")
            return Known(value)
        if is_compiled_scalar(kind):
            name = self.prologue.let("s", path)
            check(f"type({name}) is {constant(kind)}", f"`{what}` is of type {kind.__name__}")
            is_int = issubclass(kind, int | np.integer)
            self.ints_of[name] = {path: value} if is_int and not moving else {}  # the name may have been another's
            (self.of_floats.discard if is_int else self.of_floats.add)(name)
            moving = moving or (is_int and path in self.varying)
            affine = (((name, 1),), 0) if moving and kind is int else None
            return self.sym(name, value, moving, affine)
        if issubclass(kind, np.dtype) and value.metadata is not None:
            check(f"{path} is {constant(value)}", f"`{what}` is the same dtype")
            return Opaque("argument-type", f"`{what}` is a dtype with metadata")
        if issubclass(kind, np.dtype):
            known = constant(value)
            text = f"{path} is {known} or type({path}) is {constant(kind)} and {path} == {known}"
            check(f"({text} and {path}.metadata is None)", f"`{what}` is {value!r}")
            return Known(value)
        if kind in (str, bytes):
            check(f"type({path}) is {constant(kind)} and {path} == {value!r}", f"`{what}` is {value!r}")
            return Known(value)
        if kind in (range, slice):
            return wrap_bounds(self, value, path, what)
        if issubclass(kind, types.FunctionType) and original_of(value) is None:
            # Not the function itself: one made anew at each call of an outer function does the same.
            name = self.prologue.let("o", path)
            why = f"`{what}` is the same function"
            check(f"type({name}) is {constant(kind)}", why)
            check(f"{name}.__code__ is {constant(value.__code__)}", why)
            check(f"{name}.__globals__ is {constant(value.__globals__)}", why)
            return Known(value, name)
        if issubclass(kind, types.MethodType):
            name = self.prologue.let("o", path)
            function = constant(value.__func__)
            check(f"type({name}) is {constant(kind)} and {name}.__func__ is {function}", f"`{what}` is the same method")
            return Known(value, name)
        if issubclass(kind, enum.Enum):
            check(f"{path} is {(known := constant(value))}", f"`{what}` is a certain `{kind.__name__}`")
            return Known(value, known)
        if issubclass(kind, (*_FUNCTIONS, types.ModuleType, type, np.errstate)):
            name = self.prologue.let("o", path) if is_method(value) else None  # equal ones are several objects
            check(same_object(name or path, constant(value), value), f"`{what}` is the same object")
            return Known(value, name)
        name = self.prologue.let("o", path)
        check(f"type({name}) is {constant(kind)}", f"`{what}` is of type {kind.__name__}")
        if issubclass(kind, np.ndarray):
            return Opaque("argument-type", f"`{what}` is a `{kind.__name__}`, not a plain `np.ndarray`")
        if issubclass(kind, np.generic | int | float | complex | str | bytes):  # its type is asked, not its value
            return Opaque("argument-type", f"`{what}` is a number or text of type `{kind.__name__}`")
        if issubclass(kind, list | tuple | dict):
            if not is_plain(kind):
                return Opaque("argument-type", f"`{what}` is a `{kind.__name__}`, which may have its own rules")
            if not issubclass(kind, dict):
                check(f"len({name}) == {len(value)}", f"`{what}` has {len(value)} items")
            return Known(value, name)
        return Known(value, name, loose=True)

    def _wrap_array(self, value: Any, path: str, what: str) -> Any:
        check, constant = self.prologue.check, self.prologue.constant
        dtype = value.dtype
        name = self.prologue.let("a", path)
        if not is_compiled(dtype) or not dtype.isnative or dtype.metadata is not None:
            is_same = f"{name}.dtype == {constant(dtype)} and {name}.dtype.char == {dtype.char!r}"
            check(f"type({name}) is ndarray and {is_same}", f"`{what}` has dtype {dtype}")
            return Opaque("argument-type", f"`{what}` has dtype `{dtype}`")
        is_scalar = isinstance(value, ArraySpec) and value.scalar
        spec = Spec(value.shape, dtype, "scalar" if is_scalar else "array")
        known = constant(dtype)
        is_same = (
            f"type({name}) is ndarray and "
            f"({name}.dtype is {known} or {name}.dtype == {known} and "
            f"{name}.dtype.isnative and {name}.dtype.metadata is None and {name}.dtype.char == {dtype.char!r})"
        )
        if self.rows is not None and self.rows.hold(value, name):
            check(is_same, f"`{what}` is an array of dtype {dtype}")
            return wrap_rows(self, value, name, what)  # type: ignore[arg-type] -- an array, as `hold` has seen
        check(
            f"{is_same} and {name}.shape == {value.shape!r}",
            f"`{what}` is an array of dtype {dtype} and shape {value.shape}",
        )
        if isinstance(value, np.ndarray) and (value.ndim > 1 or min(value.strides, default=0) < 0):
            if value.flags.c_contiguous:
                check(f"{name}.flags.c_contiguous", f"`{what}` is in C order")
            else:
                check(f"{name}.strides == {value.strides!r}", f"`{what}` has the strides {value.strides}")
        graph_input = self.add_input(spec, name, value if isinstance(value, np.ndarray) else None)
        storage = Storage(graph_input, spec, graph_input, name)
        self.arrays.append(storage)
        is_array = isinstance(value, np.ndarray)
        dummy = make_dummy(value.shape, dtype, value.strides if is_array else None)
        # `flags.writeable` warns of arrays of `np.broadcast_arrays`, which are not to be written.
        readonly = is_array and value.__array_interface__["data"][1]
        return Arr(storage, (), dummy, spec.kind, readonly=readonly)

    def be_exact(self) -> None:
        """Record only what gives NumPy's bits."""
        zero = np.uint64(0)
        self.root.zero = self.add_input(spec_of(zero), self.prologue.constant(zero), zero)

    def add_input(self, spec: Spec, name: str, example: Any) -> Value:
        """An input of the graph, with what the prologue calls it, and its value now if that is known."""
        value = self.root.input(spec, name)
        self.input_names.append(name)
        if self.root.zero is not None and flushes(spec.dtype):
            Builder.add(self.root, TABLE["normal"], [value], {}, self.line)  # under no condition: all may read it
        if example is None:
            self._examples = None
        elif self._examples is not None:
            self._examples[value.name] = example
        return value

    @property
    def examples(self) -> dict[str, Any] | None:
        """Concrete values by graph name; `None` when some input has none, and inside loops."""
        return None if self.hidden else self._examples

    # ---- scalars of the prologue

    def compute(self, text: str, function: Callable[..., Any], *operands: Any) -> Any:
        """Python computes a scalar from scalars, now and at every run.

        Args:
            text: A format string over the operands' texts.
            function: Does the same now.
            operands: `Known` and `Sym` values.
        """
        try:
            operands = tuple(o if isinstance(o, Sym) else Known(self._concrete(o)) for o in operands)
            refuse_classes(*(operand.value for operand in operands))
            if function not in SET_OPERATORS:
                no_set(*(operand.value for operand in operands))
            if function is operator.mod and isinstance(operands[0].value, str | bytes):
                check_text(self, operands[1].value)
            if function in _GROWING and 0 < len(operands) < 3:  # a power with a modulus does not grow
                self._check_growth(operands[-1])
            result = function(*(operand.value for operand in operands))
        except CannotCapture:
            raise
        except Exception as error:
            if any(isinstance(operand, Sym) for operand in operands):
                failing = text.format(*(self._text(operand) for operand in operands))
                self.prologue.check(f"raises(lambda: {failing})", "a scalar computation raises")
            raise refusal(error) from None
        if isinstance(result, np.ndarray):  # others may change it
            raise CannotCapture("argument-type", "an array that NumPy makes of a list or of a scalar")
        syms = [operand for operand in operands if isinstance(operand, Sym) and operand.name not in self._demanded]
        if not syms:
            return Known(result)
        kind = type(result)
        if not is_compiled_scalar(kind):
            for sym in syms:
                self.demand(sym)
            return Known(result)
        parts = [o.name if o in syms else self.prologue.literal(o.value) for o in operands]
        warns = issubclass(kind, np.inexact | np.integer)
        name = self.prologue.let("s", text.format(*parts), quietly=warns)
        self.ints_of[name] = {path: value for sym in syms for path, value in self.ints_of.get(sym.name, {}).items()}
        is_of_ints = self.of_floats.isdisjoint(sym.name for sym in syms)
        (self.of_floats.discard if is_of_ints else self.of_floats.add)(name)
        if kind is not bool or function in (min, max):  # which give one of their arguments, of whatever type
            self.prologue.check(f"type({name}) is {self.prologue.constant(kind)}", f"a scalar stays {kind.__name__}")
        return self.sym(name, result, any(sym.moving for sym in syms))

    def _check_growth(self, operand: Known | Sym) -> None:
        """Python's ints grow with it: a plan computes them though the branch that asks for them is not taken."""
        if type(operand.value) is not int:
            return
        if abs(operand.value) > _GROWTH:
            raise CannotCapture("unsupported-syntax", "an integer of very many digits")
        if isinstance(operand, Sym):
            text = f"-{_GROWTH} <= {operand.name} <= {_GROWTH}"
            self.prologue.check(text, "an integer has not very many digits", soft=True)

    def sym(self, name: str, value: Any, moving: bool, affine: Any = None) -> Sym:
        """A scalar that the prologue has under a name."""
        sym = Sym(name, value, moving, affine)
        if self.rows is not None:
            self.rows.scalars.discard(name)  # which may have been another number's
        self.syms.setdefault(name, sym)
        return sym

    def _text(self, operand: Known | Sym) -> str:
        return operand.name if isinstance(operand, Sym) else self.prologue.literal(operand.value)

    def demand(self, sym: Sym) -> Any:
        """The value of a scalar, which thereby becomes part of the plan's key."""
        value = sym.value
        what, shown = self.prologue.in_words(sym.name), in_digits(value)
        if isinstance(value, bool | np.bool_):
            self.prologue.check(sym.name if value else f"not {sym.name}", f"{what} is {bool(value)}")
            return value
        if sym.moving:
            raise CannotCapture("moving-shape", f"the program would depend on {what} = {shown}, which changes")
        self._demanded.add(sym.name)
        self.constants |= self.ints_of.get(sym.name, {})
        self.prologue.check(self.prologue.equal(sym.name, value), f"{what} is {shown}")
        if is_huge(value):
            raise CannotCapture("argument-type", f"{what} is an integer of very many digits")
        return value

    def is_varying(self, sym: Sym) -> bool:
        """Whether a scalar is made of ints that were seen to change from call to call."""
        return not self.varying.isdisjoint(self.ints_of.get(sym.name, ()))

    def static(self, value: Any) -> Any:
        """The concrete object behind an abstract value, demanded deeply.

        Raises:
            CannotCapture: It depends on array data.
        """
        if isinstance(value, Known):
            plain = self._concrete(value)
            no_set(plain)
            return plain
        if isinstance(value, Sym):
            return self.demand(value)
        if isinstance(value, Items) and is_plain(value.kind):
            if isinstance(value.items, dict):
                return {key: self.static(item) for key, item in value.items.items()}
            parts = [self.static(item) for item in value.items]
            return tuple.__new__(value.kind, parts) if hasattr(value.kind, "_fields") else value.kind(parts)
        if isinstance(value, Opaque):
            raise value.error()
        if isinstance(value, Arr):
            raise CannotCapture("data-value", "Python needs the contents of an array here")
        if isinstance(value, LoopInt):
            raise CannotCapture("moving-shape", "the program would depend on a loop variable")
        raise CannotCapture("unsupported-syntax", f"a {type(value).__name__.lower()} cannot be used here")

    def unordered(self, value: Any) -> Any:
        """The concrete object, which may be a set: its order must not be looked at."""
        return self._concrete(value) if isinstance(value, Known) else self.static(value)

    def _concrete(self, known: Known) -> Any:
        """An object for Python to compute with now: the plan must hold for nothing else."""
        value, path = known.value, known.path
        kind = type(value)
        if path is None or (issubclass(kind, enum.Enum) and is_fixed(value) and not own_rules(kind)):
            return value
        if isinstance(value, list | tuple) or kind is dict:
            return self.static(self.open(known))
        if kind in (types.FunctionType, types.MethodType):
            self.prologue.check(f"{path} == {self.prologue.constant(value)}", "a function is the same object")
            return value
        if kind in (set, frozenset) and all(type(item) in (str, int, bool, float, type(None)) for item in value):
            copied = kind(value)
            self.prologue.check(self.prologue.equal_items(path, copied), "a set has the same items")
            return copied
        raise CannotCapture("argument-type", f"Python needs the value of a `{kind.__name__}` here")

    def open(self, known: Known) -> Items:
        """The items of an outside list, tuple or dict."""
        value, path = known.value, known.path
        if len(value) > LONGEST and path is not None:
            raise CannotCapture("budget", f"a list, tuple or dict of {len(value)} items")
        if isinstance(value, dict | list):  # another thread may change it
            known = Known(dict(value) if isinstance(value, dict) else list(value), path)
        if isinstance(value, dict):
            keys = [key for key in known.value if type(key) in (str, int, bool)]
            if path and len(keys) != len(known.value):
                raise CannotCapture("argument-type", "a dict whose keys are not strings or ints")
            if path:
                self.prologue.check(self.prologue.equal_items(path, tuple(keys)), "a dict has the same keys")
            return Items(dict, {key: self.item(known, key) for key in known.value}, path)
        return Items(type(value), [self.item(known, position) for position in range(len(known.value))], path)

    def item(self, known: Known, key: Any) -> Any:
        """One item of an outside or constant container."""
        value = known.value[key]
        if known.path is None:
            return self.constant(value)
        return self.wrap_part(value, f"{known.path}[{key!r}]")

    def constant(self, value: Any) -> Any:
        """The abstract value of an object that cannot change: a literal, or a part of NumPy."""
        if isinstance(value, np.ndarray):
            name = self.prologue.constant(value)
            return self.wrap(value, name, "a constant")
        return Known(value)

    # ---- graph nodes

    def operand(self, value: Any) -> Operand:
        """The graph operand for an array or scalar.

        Raises:
            CannotCapture: The value is neither.
        """
        if isinstance(value, Arr):
            return self.read(value)
        if isinstance(value, Sym):
            _check_width(value.value)
            if value.name in self._demanded and value.name not in self.scalars:
                return self.operand(Known(value.value))
            if value.moving:
                self._moving.add(value.name)
            known = self.scalars.get(value.name)
            if known is None:
                known = self.add_input(value.spec, value.name, value.value)
                self.scalars[value.name] = known
            return known
        if isinstance(value, Known):
            if is_compiled_scalar(type(value.value)):
                _check_width(value.value)
                return Const(value.value, spec_of(value.value))
        if isinstance(value, LoopInt):
            return value.value
        if isinstance(value, Opaque):
            raise value.error()
        if isinstance(value, Ragged):
            raise CannotCapture("moving-shape", "the length of a slice changes with a loop variable")
        if isinstance(value, Masked):
            raise CannotCapture("data-shape", "a boolean array selects a number of elements that the data decides")
        raise CannotCapture("argument-type", f"{describe(value)} is not an array or scalar")

    def apply(self, op: Op, operands: Sequence[Any], params: dict[str, Any]) -> Any:
        """Add a node for `op`; the result as an array, or a list of arrays for an op with several outputs.

        Raises:
            CannotCapture: NumPy would raise for these specs, or the budget is spent.
        """
        inputs = [self.operand(value) for value in operands]
        if op.family == "elementwise":
            inputs = [self._fit_integer(operand, inputs) for operand in inputs]
        specs, strides, layouts = None, None, ()
        if op.infer is None:
            layouts = tuple(value.dummy.strides if isinstance(value, Arr) else None for value in operands)
            for value in operands:  # they decide how the result lies in memory
                if isinstance(value, Arr) and (value.dummy.ndim > 1 or is_declared(op)):
                    self.layout_matters(value)
            specs, strides = observe(self, op, inputs, params, layouts)
        try:
            outputs = self.builder.add(op, inputs, params, self.line, specs)
        except CannotCapture:
            raise
        except Exception as error:
            raise refusal(error, f"`{op.name}`: ") from None
        for output in outputs:
            if not is_compiled(output.spec.dtype):
                raise CannotCapture("argument-type", f"`{op.name}` gives dtype `{output.spec.dtype}`")
        if len(self.builder) > self.node_budget:
            raise CannotCapture("budget", f"more than {self.node_budget} operations")
        if outputs[0].spec.dtype.kind == "c":
            self._extra_work += 1
        arrays = [self.fresh(output) for output in outputs]
        if strides is not None:
            made = Layouts(layouts, strides)
            if self.layouts.setdefault(outputs[0].name, made) != made:
                raise CannotCapture("argument-type", f"`{op.name}` of the same numbers in two memory orders")
        else:
            layout.keep(op, operands, params, arrays)
        for array, steps in zip(arrays, strides or (), strict=False):
            layout.set_strides(array, steps)
        return arrays[0] if len(arrays) == 1 else arrays

    def fresh(self, value: Operand) -> Arr:
        """A new array with its own memory."""
        spec = value.spec
        note_shape(self, spec.shape)
        return Arr(Storage(value, spec), (), make_dummy(spec.shape, spec.dtype), spec.kind)

    def _fit_integer(self, operand: Operand, inputs: Sequence[Operand]) -> Operand:
        """A Python int next to a narrower integer array: NumPy checks its range, so it must be known."""
        if operand.spec.kind != "python" or operand.spec.dtype != np.int64:
            return operand
        for other in inputs:
            dtype = other.spec.dtype
            if other.spec.kind != "python" and dtype.kind in "iu" and dtype != np.int64:
                if not isinstance(operand, Const):
                    sym = next((n for n, value in self.scalars.items() if value is operand), "")
                    if sym in self._moving or not sym:
                        return operand  # checked by the program
                    value = (self.examples or {}).get(sym)
                    if value is None:
                        raise CannotCapture("unknown-value", "an integer whose value is not known")
                    self.prologue.check(f"{sym} == {value}", f"an integer beside an array of {dtype} is {value}")
                    operand = Const(value, operand.spec)
                bounds = np.iinfo(dtype)
                if not bounds.min <= operand.value <= bounds.max:
                    raise CannotCapture("argument-type", f"the integer {operand.value} does not fit into {dtype}")
        return operand


def _check_width(value: Any) -> None:
    if type(value) is int and not _INT64.min <= value <= _INT64.max:
        raise CannotCapture("argument-type", f"an integer of {value.bit_length()} bits, more than 64")
