"""Calls that draw random numbers: they are made in program order before the region's array work, in NumPy.

What a draw takes is known when a region is entered, or the call stays in Python. The draws of a loop's body are made
for all iterations; an iteration reads its part.
"""

from __future__ import annotations

import ast
import inspect
import types
from typing import Any

import numpy as np

from autojit.capture.expressions import Expressions
from autojit.capture.lookups import may_miss
from autojit.capture.loop_parts import Course
from autojit.capture.streams import NOT_DRAWS, STREAMS, Draw, Event, Repeat, Start, calls_in, can_be_block
from autojit.capture.values import Arr, Items, Known, LoopInt, Method, Sym
from autojit.errors import CannotCapture, refusal
from autojit.ir.graph import Operand, values_of
from autojit.ir.spec import COMPILED_DTYPES, PYTHON_DTYPES, Spec, spec_of
from autojit.ir.warned import unheard
from autojit.ops.chapters import TABLE

#: The most bytes that the draws of one call site may take.
LARGEST_DRAW = 1 << 26
#: Parameters whose value decides the shape or type of the result.
_STATIC = frozenset({
    "size", "dtype", "axis", "replace", "shuffle", "endpoint", "method", "check_valid", "tol", "args", "x",
})  # fmt: skip
_STARTS = (np.random.default_rng, np.random.RandomState, np.random.seed)
_CONVERSIONS = {np.dtype(float): "item_float", np.dtype(np.int64): "item_int", np.dtype(bool): "item_bool"}


class Draws(Expressions):
    """The methods of generators and random states."""

    draws: list[Event]
    #: The rolled loops around what is interpreted: what they run over, the loop variable, and the condition under
    #: which they run at all.
    turns: list[tuple[Course, LoopInt, Operand | None]]

    def be_able_to_draw(self) -> None:
        """Begin without draws."""
        self.draws, self.turns = [], []
        self._places: dict[tuple[Any, ...], tuple[str, Arr]] = {}
        self._samples: dict[str, Any] = {}
        self._drawn_inputs = 0

    def known_attribute(self, known: Known, name: str) -> Any:
        kind = type(known.value)
        if kind in STREAMS and known.path is not None and callable(getattr(kind, name, None)):
            return Method(known, name)
        return super().known_attribute(known, name)

    def call(self, function: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """Call an abstract callable with abstract arguments.

        Raises:
            CannotCapture: The call may have effects, or nothing is known of it.
        """
        if isinstance(function, Method) and isinstance(function.owner, Known):
            if type(function.owner.value) in STREAMS:
                return self._draw(function.owner, function.name, args, kwargs)
        elif isinstance(function, Known) and type(function.value) is types.MethodType:
            target = function.value
            own = getattr(np.random.RandomState, target.__name__, None)
            if type(target.__self__) is np.random.RandomState and target.__func__ is own:
                return self._draw(self._owner_of(function), target.__name__, args, kwargs)
        elif isinstance(function, Known) and any(function.value is start for start in _STARTS):
            return self._start(function.value, args, kwargs)
        return super().call(function, args, kwargs)

    def _start(self, function: Any, args: list[Any], kwargs: dict[str, Any]) -> Known:
        """`np.random.default_rng(seed)`, `np.random.RandomState(seed)` or `np.random.seed(seed)`."""
        what = f"`np.random.{function.__name__}`"
        if self.builder.predicate is not None or self.turns:
            raise CannotCapture("effect", f"{what} in a loop, or in a branch that data decides")
        if may_miss(self):
            raise CannotCapture("effect", f"{what} before a function is looked up that is not there")
        if kwargs or len(args) > 1 or not all(isinstance(seed, Known | Sym) for seed in args):
            raise CannotCapture("keyword", f"{what} with more than a number")
        if not all(type(seed.value) in (int, type(None)) for seed in args):
            raise CannotCapture("argument-type", f"{what} with more than a number")
        seeds = ", ".join(self._text(seed) for seed in args)
        text = f"{self.prologue.constant(function)}({seeds})"
        if function is np.random.seed:
            stream = self.prologue.constant(np.random.mtrand._rand)
            self.draws.append(Start("", stream, text, what, self.line))
            return Known(None)
        self._drawn_inputs += 1
        name = f"g{self._drawn_inputs}"
        self.draws.append(Start(name, "", text, what, self.line))
        return Known(function(0), name, made=True)

    def _owner_of(self, function: Known) -> Known:
        """The random state of `np.random.normal` and the like."""
        target, path = function.value, function.path
        if path is None:
            if getattr(np.random, target.__name__, None) is target:  # tests put others in their place
                known, module = self.prologue.constant(target), self.prologue.constant(np.random)
                self.prologue.check(
                    f"{module}.{target.__name__} is {known}", f"`np.random.{target.__name__}` is NumPy's"
                )
            return Known(target.__self__, self.prologue.constant(target.__self__))
        kind = self.prologue.constant(np.random.RandomState)
        method = self.prologue.constant(target.__func__)
        self.prologue.check(
            f"type({path}.__self__) is {kind} and {path}.__func__ is {method}",
            f"`{self.prologue.words(path)}` is the same method",
        )
        return Known(target.__self__, f"{path}.__self__")

    def _draw(self, owner: Known, name: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        kind = type(owner.value)
        what = f"`{kind.__name__}.{name}`"
        method = getattr(kind, name, None)
        if name in NOT_DRAWS or name.startswith("_") or not callable(method):
            raise CannotCapture("effect", f"{what} does more than draw numbers")
        if self.builder.predicate is not None or any(condition is not None for _, _, condition in self.turns):
            raise CannotCapture("effect", f"{what} in a branch that data or a loop variable decides")
        if may_miss(self):
            raise CannotCapture("effect", f"{what} before a function is looked up that is not there")
        for course, _, _ in self.turns:
            if course.test is not None:
                raise CannotCapture("effect", f"{what} in a loop whose number of iterations the data decides")
            if course.static is None:
                raise CannotCapture("moving-shape", f"{what} is drawn once for all iterations of a loop")
        texts, values = self._arguments(method, args, kwargs)
        text = f"{owner.path}.{name}({', '.join(filter(None, texts.values()))})"
        sample = self._sample(kind, name, values, text)
        trips = tuple(len(course.static or ()) for course, _, _ in self.turns)
        spec = self._spec_of(sample, trips, what)
        block = None
        parameters = [value for key, value in values.items() if key not in ("size", "args")]
        scalars = not any(isinstance(value, np.ndarray | list | tuple) for value in parameters)
        if scalars and can_be_block(kind, name, tuple(values)):
            block = f"{owner.path}.{name}({_block(method, texts, spec.shape)})"
        return self._drawn(owner, text, block, spec, sample, trips, what)

    # ---- arguments

    def _arguments(self, method: Any, args: list[Any], kwargs: dict[str, Any]) -> tuple[dict[str, str], dict[str, Any]]:
        """The arguments as source text and their present values, by name."""
        try:
            bound = inspect.signature(method).bind(None, *args, **kwargs)
        except TypeError as error:
            raise CannotCapture("raises", f"TypeError: {error}") from None
        texts: dict[str, str] = {}
        values: dict[str, Any] = {}
        for name, value in list(bound.arguments.items())[1:]:
            if name == "out" and not (isinstance(value, Known) and value.value is None):
                raise CannotCapture("keyword", "`out=` of a draw")
            if bound.signature.parameters[name].kind is inspect.Parameter.VAR_POSITIONAL:
                values[name] = tuple(self.static(part) for part in args)
                texts[name] = ", ".join(map(self._literal, values[name]))
            else:
                text, values[name] = self._argument(name, value)
                texts[name] = f"{name}={text}"
        return texts, values

    def _argument(self, name: str, value: Any) -> tuple[str, Any]:
        if isinstance(value, Arr):
            storage = value.storage
            is_own = value.kind == "array" and storage.path and not value.steps and storage.value is storage.input
            example = (self._examples or {}).get(storage.input.name) if is_own and storage.input is not None else None
            if storage.path is None or example is None:
                raise CannotCapture("effect", "a draw whose arguments are computed by array work")
            return storage.path, example
        if isinstance(value, Sym) and name not in _STATIC:
            return self._text(value), value.value
        static = self.static(value)
        return self._literal(static), static

    def _literal(self, value: Any) -> str:
        if type(value) in (tuple, list):
            parts = ", ".join(map(self._literal, value))
            return f"[{parts}]" if type(value) is list else f"({parts}{',' * (len(value) == 1)})"
        return self.prologue.literal(value)

    # ---- results

    def _sample(self, kind: type, name: str, values: dict[str, Any], text: str) -> Any:
        """What such a call returns: drawn from a stream of its own, so that nobody's state changes."""
        key = f"{text} {[(type(value), getattr(value, 'shape', value)) for value in values.values()]}"
        if key not in self._samples:
            stream = np.random.RandomState(0) if kind is np.random.RandomState else np.random.default_rng(0)
            keywords = {**values}
            try:
                draw, operands = getattr(stream, name), keywords.pop("args", ())
                self._samples[key] = unheard(lambda: draw(*operands, **keywords))  # the call itself will warn
            except Exception as error:
                raise refusal(error) from None
        return self._samples[key]

    def _spec_of(self, sample: Any, trips: tuple[int, ...], what: str) -> Spec:
        is_array = type(sample) is np.ndarray and sample.flags.c_contiguous
        if not (is_array or type(sample) in PYTHON_DTYPES or isinstance(sample, np.generic)):
            raise CannotCapture("argument-type", f"{what} returns a `{type(sample).__name__}`")
        if np.asarray(sample).dtype not in COMPILED_DTYPES:
            raise CannotCapture("argument-type", f"{what} returns an object of dtype `{np.asarray(sample).dtype}`")
        spec = spec_of(sample)
        if spec.nbytes * int(np.prod(trips)) > LARGEST_DRAW:
            raise CannotCapture("budget", f"{what} for all iterations takes more than {LARGEST_DRAW >> 20} MiB")
        return spec

    def _drawn(
        self, owner: Known, text: str, block: str | None, spec: Spec, sample: Any, trips: tuple[int, ...], what: str
    ) -> Any:
        """The abstract result: a new input of the region's graph, or its part for this iteration."""
        assert owner.path is not None
        # A loop's body is interpreted several times: its draws are the same inputs each time.
        key = (text, trips, spec, self.line, sum(1 for _ in calls_in(self.draws)))
        name, whole = self._places.get(key, ("", None)) if trips else ("", None)
        if whole is None or not any(value is whole.storage.value for value in self.root.inputs):
            self._drawn_inputs += 1
            name = f"d{self._drawn_inputs}"
            several = Spec((*trips, *spec.shape), spec.dtype, spec.kind if not trips else "array")
            example = np.broadcast_to(np.asarray(sample), several.shape) if trips else sample
            whole = self.fresh(self.add_input(several, name, example))
            self._places[key] = name, whole
        self.draws.append(Draw(name, owner.path, text, block, spec, what, self.line))
        return self._part(whole, spec) if trips else whole

    def _part(self, whole: Arr, spec: Spec) -> Any:
        """The draw of this iteration, as an array or number of its own."""
        turns: list[Any] = []
        for course, index, _ in self.turns:
            turn: Any = index
            if course.start.value != 0:
                turn = self.binary(ast.Sub, turn, course.start)
            turns.append(turn if course.step == 1 else self.binary(ast.FloorDiv, turn, Known(course.step)))
        part = self.getitem(whole, Items(tuple, turns))
        if spec.kind == "python":
            return self.apply(TABLE[_CONVERSIONS[spec.dtype]], [part], {})
        if not spec.shape and spec.kind == "array":
            return self.apply(TABLE["np.broadcast_to"], [part], {"shape": ()})
        return part if spec.kind == "scalar" else self.fresh(self.read(part))

    def repeated(self, course: Course, mark: int) -> tuple[Event, ...]:
        """Take back the draws of a loop's body since `mark`, to make them once for each iteration."""
        found = tuple(self.draws[mark:])
        del self.draws[mark:]
        return (Repeat(len(course.static or ()), found),) if found else ()

    def forget_draws(self) -> None:
        """Drop the inputs of the graph that only a dry run has drawn."""
        dead = {name for name, _ in self._places.values()} - {draw.name for draw in calls_in(self.draws)}
        kept = [name not in dead for name in self.input_names]
        gone = {value.name for value, keep in zip(self.root.inputs, kept, strict=True) if not keep}
        self.root.inputs[:] = [value for value in self.root.inputs if value.name not in gone]
        # Under `exact=True` each input is looked at.
        self.root.nodes[:] = [n for n in self.root.nodes if not any(v.name in gone for v in values_of(n.inputs))]
        self.input_names[:] = [name for name in self.input_names if name not in dead]


def _block(method: Any, texts: dict[str, str], shape: tuple[int, ...]) -> str:
    """The arguments of one draw for all iterations; those of `rand` and `randn` are the lengths themselves."""
    lengths = "{}" + "".join(f"{length}, " for length in shape)
    others = [text for name, text in texts.items() if name not in ("size", "args")]
    takes_lengths = "args" in inspect.signature(method).parameters
    return lengths if takes_lengths else ", ".join([*others, f"size=({lengths})"])
