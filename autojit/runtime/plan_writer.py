"""Writes plans: one Python function that checks its guard, runs the steps, commits, and builds the results."""

from __future__ import annotations

import itertools
import linecache
import types
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autojit.capture.capture import Capture
from autojit.capture.results import Constant, Container, FromPrologue, ListOf, Recipe, Result, Unset, ViewOf
from autojit.capture.row_rules import place_of_rows
from autojit.capture.streams import calls_in, render, streams_of
from autojit.capture.values import ViewStep
from autojit.compile.executable import Executable
from autojit.compile.transfer import give_back
from autojit.errors import Trapped
from autojit.ir.extent import index_of, span, symbols_of
from autojit.ir.graph import Const, Graph, Operand, Value, Write
from autojit.ir.index import Index, window_slice
from autojit.ir.spec import Spec
from autojit.partition.steps import ClusterStep, Step
from autojit.runtime.apart import apart
from autojit.runtime.buffers import own, to_scalar
from autojit.runtime.environment import FOLLOWING, MAY_BE_FOLLOWED, is_default, is_followed, quiet
from autojit.runtime.host_calls import host_call
from autojit.runtime.interrupts import COMMITS, COMMITTING, comes_from_outside, hold_back
from autojit.runtime.padding import Padding, first_rows
from autojit.runtime.plan import FILE, NATIVE, UNSET, Plan
from autojit.runtime.streams import drawn, restore, save

_numbers = itertools.count()
_OUTSIDE = "an index is outside of the array that is written to"
#: What may give views of arrays.
_VIEWS = ("shaping", "indexing")


def native_plan(capture: Capture, reason: Any) -> Plan:
    """A plan that recognizes calls which stay native, in whatever environment, so that they are not captured again."""
    writer = _Writer(capture, is_native=True)
    writer.lines += ["    return NATIVE"]
    return Plan(*writer.finish(), capture, reason=reason)


def build(
    capture: Capture,
    graph: Graph,
    steps: tuple[Step, ...],
    executables: dict[str, Executable],
    is_hidden: bool = True,
) -> Plan:
    """Generate the function of a plan.

    Args:
        capture: The region's prologue and recipes.
        graph: Its graph after the passes and the partition.
        steps: The graph's steps.
        executables: A compiled program for each cluster step.
        is_hidden: Whether it answers though a debugger, say, follows the lines of the thread, and sees none of its.
    """
    writer = _Writer(capture)
    if not is_hidden:
        writer.names |= {**FOLLOWING, "is_followed": is_followed}
        writer.lines.insert(0, f"    if ({MAY_BE_FOLLOWED}) and is_followed(): return NATIVE")
    writer.operands = {value.name: name for value, name in zip(graph.inputs, capture.input_names, strict=True)}
    writer.check_integers(graph, steps)
    start = writer.draw()
    writer.check_places(graph)
    padded = writer.fill_up(graph)
    for step in steps:
        writer.step(step, executables)
    # Results first: one may be a copy of an array that a commit changes.
    parts = [writer.recipe(recipe, graph) for recipe in capture.recipes]
    attributes = [(owner, name, writer.recipe(recipe, graph)) for owner, name, recipe in capture.assigned]
    writer.keep_before(graph, is_alone=len(graph.writes) + len(attributes) == 1)
    if capture.region.is_rest and (graph.writes or attributes):
        writer.lines.append("    hold_back()")
    writer.undo_draws(start)
    writer.commit(graph, attributes)
    writer.lines += padded  # nothing reads the memory any more: it may be filled again
    writer.lines.append(f"    return ({', '.join([str(capture.exit), *parts])},)")
    call, source = writer.finish()
    return Plan(call, source, capture, graph, steps, executables, calls=writer.calls, names=call.__globals__)


class _Writer:
    """Writes the text of a plan's function."""

    def __init__(self, capture: Capture, is_native: bool = False) -> None:
        self.capture = capture
        self.names: dict[str, Any] = dict(capture.prologue.constants)
        self.names.update(
            ndarray=np.ndarray, apart=apart, raises=raises, quiet=quiet, NATIVE=NATIVE, UNSET=UNSET, own=own,
            copyto=np.copyto, array=np.array, is_default=is_default, window_slice=window_slice, span=span, s_=np.s_,
            relayout=relayout, first_rows=first_rows, give_back=give_back, broadcast_to=np.broadcast_to, save=save,
            empty=np.empty, restore=restore, drawn=drawn, comes_from_outside=comes_from_outside, complete=complete,
            Trapped=Trapped, hold_back=hold_back,
        )  # fmt: skip
        self.lines = [
            *([] if is_native else ["    if not is_default(): return NATIVE"]),
            "    try:",
            *capture.prologue.render("        ", is_native),
            "        pass",
            "    except Exception as error:  # an object has changed its structure",
            "        if comes_from_outside(error): raise",
            "        return None",
        ]
        #: How the lines begin that change what the caller sees.
        self.commits = ("copyto(", *(f"{owner}.{name} = " for owner, name, _ in capture.assigned))
        self.operands: dict[str, str] = {}
        self.specs: dict[str, Spec] = {}
        self.moved: dict[str, str] = {}
        self.callers: dict[str, str] = {}  # the caller's arrays, by the names of what was filled up
        self.calls: dict[str, Step] = {}
        self._taken: set[str] = set()
        self._made: dict[int, str] = {}
        self._next = 0

    def constant(self, value: Any, prefix: str = "C") -> str:
        name = f"{prefix}{self._next}"
        self._next += 1
        self.names[name] = value
        return name

    def check_integers(self, graph: Graph, steps: tuple[Step, ...]) -> None:
        """Python's integers have a dtype that depends on how large they are; clusters see that they fit."""
        packed = {value.name for step in steps if isinstance(step, ClusterStep) for value in step.graph.inputs}
        drawn = {call.name for call in calls_in(self.capture.draws)}  # later, and their dtype is looked at
        for value, name in zip(graph.inputs, self.capture.input_names, strict=True):
            if value.spec.weak and value.spec.dtype == np.int64 and value.name not in packed and name not in drawn:
                self.lines.append(f"    if not {-(2**63)} <= {name} < {2**63}: return NATIVE")

    def check_places(self, graph: Graph) -> None:
        """Where what is written is not inside of its array, NumPy tells it; nothing has been changed yet."""
        for write in graph.writes:
            limits = [] if write.index is None else write.index.limits(write.target.spec.shape)
            for number, least, greatest in limits:
                name = self.operands[write.operands[number].name]
                self.lines.append(f"    if not {least} <= {name} <= {greatest}: raise Trapped({_OUTSIDE!r})")

    # ---- random numbers

    def draw(self) -> int:
        """Draw the random numbers; where the lines begin that are not to fail without giving the states back."""
        draws = self.capture.draws
        if draws:
            self.lines += [
                f"    saved = save({streams_of(draws)})",
                "    try:",
                *render(draws, self.names, "        "),
                "    except BaseException as error:",
                "        restore(saved)",
                "        if not isinstance(error, Exception) or comes_from_outside(error): raise",
                "        raise Trapped(str(error)) from error",
            ]
        return len(self.lines)

    def undo_draws(self, start: int) -> None:
        """Give the streams their states back where the lines since `start` raise."""
        if self.capture.draws and self.lines[start:]:
            self.lines[start:] = [
                "    try:",
                *(f"    {line}" for line in self.lines[start:]),
                "    except BaseException:",
                "        restore(saved)",
                "        raise",
            ]

    # ---- rows

    def fill_up(self, graph: Graph) -> list[str]:
        """Fill arrays up to the number of rows that the plan is for; the lines that give the memory back."""
        rows = self.capture.rows
        if rows is None:
            return []
        self.lines.append("    lent = []")
        for value in graph.inputs:
            name = self.operands[value.name]
            if name in rows.names:
                padding = self.constant(Padding(value.spec.shape, value.spec.dtype), "padding_")
                self.lines.append(f"    full_{name} = {padding}.filled({name}, lent)")
                self.operands[value.name] = f"full_{name}"
                self.callers[f"full_{name}"] = name
        return ["    give_back(lent)"]

    def rows_of(self, recipe: Result) -> str:
        """How many rows of a result are the call's; "" for all."""
        rows = self.capture.rows
        return f"len({min(rows.names)})" if rows is not None and recipe.number in rows.outputs else ""

    # ---- steps

    def step(self, step: Step, executables: dict[str, Executable]) -> None:
        if isinstance(step, ClusterStep):
            run = self.constant(executables[step.name].run, f"{step.name}_")
            self.calls[run] = step
            arguments = ", ".join(self.text(value) for value in step.graph.inputs)
            values = list(step.graph.results)
            results = [f"r_{value}" for value in values]
            self.lines.append(f"    [{', '.join(results)}] = {run}([{arguments}])")
            for value, name in zip(values, results, strict=True):
                if isinstance(value, Value):
                    self.operands[value.name] = name
                    self.specs[name] = value.spec
            return
        node = step.node
        layouts = self.capture.layouts.get(node.outputs[0].name) if node.outputs else None
        function = self.constant(host_call(node, self.capture.is_quiet, layouts), "host_")
        self.calls[function] = step
        arguments = ", ".join(self.plain(operand) for operand in node.inputs)
        outputs = [f"h_{value.name}" for value in node.outputs]
        self.lines.append(f"    {', '.join(outputs)}, = {function}({arguments})")
        for value, name in zip(node.outputs, outputs, strict=True):
            self.operands[value.name] = name

    def text(self, operand: Operand) -> str:
        """The name of an operand's value, as a step gave it."""
        return self.constant(operand.value) if isinstance(operand, Const) else self.operands[operand.name]

    def plain(self, operand: Operand) -> str:
        """The operand as the Python object that NumPy would see."""
        name = self.text(operand)
        spec = self.specs.get(name)
        if spec is not None and spec.kind != "array":
            return f"{self.constant(to_scalar, 'to_scalar_')}({name}, {self.constant(spec)})"
        return name

    # ---- effects and results

    def keep_before(self, graph: Graph, is_alone: bool) -> None:
        """Copy what is written somewhere, and lies in memory that is written before.

        The first one may be written twice (`complete`), and be a view of what it is written to, as in `a[:] = a.T`.
        NumPy copies such a view itself, unless it has one axis.
        """
        targets = {write.target.name for write in graph.writes}
        others = {value.name for value in graph.inputs} - targets
        views = {value.name for node in graph.nodes if node.op.family in _VIEWS for value in node.outputs}
        for place, write in enumerate(graph.writes):
            value = write.value
            if not isinstance(value, Value) or value.name in others or value.name in self.moved:
                continue
            if place == 0 and (value.name not in views or (is_alone and len(write.shape) != 1)):
                continue
            if self.operands[value.name] not in self.specs:  # a cluster's results have memory of their own
                name = self.moved[value.name] = f"before_{value}"
                self.lines.append(f"    {name} = array({self.operands[value.name]})")

    def commit(self, graph: Graph, attributes: list[tuple[str, str, str]]) -> None:
        """Copy the written values into the caller's arrays, and set attributes: all, whatever comes in between."""
        lines = []
        for write in graph.writes:
            value = write.value
            moved = self.moved.get(value.name) if isinstance(value, Value) else None
            text = moved or self.text(value)
            if parts := self._parts(write):
                lines += [f"    copyto({self._place(write)}[{part}], {text}[{part}])" for part in parts]
            else:
                lines.append(f"    copyto({self._place(write)}, {text}{self._part(write)})")
        lines += [f"    {owner}.{name} = {value}" for owner, name, value in attributes]
        if len(lines) > 1:
            lines = [
                "    try:",
                *(f"    {line}" for line in lines),
                "    except BaseException as error:",
                f"        complete(error, {len(lines)}, globals(), locals())",
                "        raise",
            ]
        self.lines += lines

    def _place(self, write: Write) -> str:
        """What is written to: an array, or a view of one, of no axes at least."""
        name = self.operands[write.target.name]
        name = self.callers.get(name, name)
        if write.index is None:
            return name
        entries = write.index.entries
        index = write.index if Ellipsis in entries else Index((*entries, Ellipsis))
        return f"{name}[{_index_text(index, [self.operands[operand.name] for operand in write.operands])}]"

    def _parts(self, write: Write) -> list[str]:
        """The indices of the parts that are written; none for the whole."""
        if self.operands[write.target.name] in self.callers:  # the caller's array has other places
            return []
        found = []
        for part in write.parts:
            text = index_of(part, self.operands.__getitem__)
            if symbols_of([part]):
                name = f"part_{self._next}"
                self._next += 1
                self.lines.append(f"    {name} = s_[{text}]")
                text = name
            found.append(text)
        return found

    def _part(self, write: Write) -> str:
        """The rows of what is written that are the call's; "" for all."""
        name, rows = self.callers.get(self.operands[write.target.name]), self.capture.rows
        if name is None or rows is None:
            return ""
        axis = 0 if write.index is None else place_of_rows(write.index, write.target.spec.ndim, 0, rows.least)
        if axis is None:  # some of the first rows are written
            return ""
        shape = write.value.spec.shape
        axis -= len(write.shape) - len(shape)
        is_one = axis < 0 or shape[axis] != rows.size  # that is written to all rows
        return "" if is_one else f"[{':, ' * axis}:len({name})]"

    def recipe(self, recipe: Recipe, graph: Graph) -> str:
        """The name of the object that a recipe makes; made once."""
        name = self._made.get(id(recipe))
        if name is None:
            name = self._made[id(recipe)] = self._recipe(recipe, graph)
        return name

    def _recipe(self, recipe: Recipe, graph: Graph) -> str:
        if isinstance(recipe, FromPrologue):
            return recipe.name
        if isinstance(recipe, Constant):
            return self.constant(recipe.value)
        if isinstance(recipe, Unset):
            return "UNSET"
        name = f"x{self._next}"  # a number of its own: recipes are made inside of this one
        self._next += 1
        if isinstance(recipe, Result):
            text = self._result(graph.outputs[recipe.number], recipe)
        elif isinstance(recipe, ListOf):
            rows = self.recipe(recipe.rows, graph)
            rows = rows if recipe.count is None else f"{rows}[:int({self.recipe(recipe.count, graph)})]"
            texts = {"python": f"{rows}.tolist()", "scalar": f"[*{rows}]", "array": f"[row.copy() for row in {rows}]"}
            text = texts[recipe.kind]
        elif isinstance(recipe, ViewOf):
            text = self.recipe(recipe.base, graph)
            for step in recipe.steps:
                text = self._view(text, step)
        else:
            text = self._container(recipe, graph)
        self.lines.append(f"    {name} = {text}")
        return name

    def _result(self, operand: Operand, recipe: Result) -> str:
        spec = recipe.spec
        name = self.text(operand)
        if spec.kind == "scalar" and operand.spec.kind == "array":
            return f"{self.constant(to_scalar, 'to_scalar_')}({name}, {self.constant(spec)})"
        if spec.kind != "array":
            return self.plain(operand)
        count = self.rows_of(recipe)
        if isinstance(operand, Const) or name not in self.specs or name in self._taken:
            part = f"[:{count}]" if count else ""
            text = f"array({name}{part}, {self.constant(spec.dtype)}, order='C')"  # a fresh copy
        else:
            self._taken.add(name)
            text = f"first_rows({name}, {count})" if count else f"own({name})"
        if recipe.strides is not None:
            text = f"relayout({text}, {recipe.strides!r})"
        return text

    def _view(self, base: str, step: ViewStep) -> str:
        params = dict(step.params)
        kind = step.op.name
        if kind == "getitem":
            index: Index = params["index"]
            if index.is_static:
                return f"{base}[{self.constant(index.fill(()))}]"
            return f"{base}[{_index_text(index, step.names)}]"
        if kind == "np.transpose":
            return f"{base}.transpose({params['axes']!r})"
        if kind == "np.reshape":
            return f"{base}.reshape({params['shape']!r})"
        if kind in ("np.real", "np.imag"):
            return f"{base}.{kind[3:]}"
        if kind == "np.diagonal":
            return f"{base}.diagonal({params['offset']}, {params['axis1']}, {params['axis2']})"
        if kind.endswith("sliding_window_view"):
            windows = self.constant(np.lib.stride_tricks.sliding_window_view, "windows_")
            return f"{windows}({base}, {params['window_shape']!r}, {params['axis']!r})"
        return f"broadcast_to({base}, {params['shape']!r})"

    def _container(self, recipe: Container, graph: Graph) -> str:
        parts = [self.recipe(part, graph) for part in recipe.parts]
        if recipe.keys is not None:
            keys = [repr(key) if type(key) in (str, int, bool) else self.constant(key) for key in recipe.keys]
            pairs = ", ".join(f"{key}: {part}" for key, part in zip(keys, parts, strict=True))
            kind = self.constant(recipe.kind)
            return f"{{{pairs}}}" if recipe.kind is dict else f"{kind}(**{{{pairs}}})"
        if recipe.kind is list:
            return f"[{', '.join(parts)}]"
        if recipe.kind is tuple:
            return f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"
        return f"{self.constant(recipe.kind)}({', '.join(parts)})"

    # ---- the function

    def finish(self) -> tuple[types.FunctionType, str]:
        header = f"def plan({', '.join(self.capture.prologue.parameters)}):"
        source = "\n".join([header, *self.lines]) + "\n"
        file = f"{FILE}{next(_numbers)}>"
        lines = source.splitlines(True)
        namespace = dict(self.names)
        for number, line in enumerate(lines, 1):
            if line.lstrip().startswith(self.commits):
                namespace[COMMITS], namespace[COMMITTING] = number, lines[number - 1 :]
                break
        exec(compile(source, file, "exec"), namespace)
        linecache.cache[file] = (len(source), None, lines, file)
        plan = namespace["plan"]
        weakref.finalize(plan, linecache.cache.pop, file, None).atexit = False
        return plan, source


def _index_text(index: Index, names: Sequence[str]) -> str:
    """An index whose operands are integers of the call's, in a plan's text."""
    return index.text([f"int({name})" for name in names]).replace("aj.window_slice", "window_slice")


def complete(error: BaseException, count: int, outside: dict[str, Any], inside: dict[str, Any]) -> None:
    """Do the rest of what changes the caller's objects, where an exception from outside has come in between.

    Args:
        error: The exception.
        count: How many lines change something.
        outside: The plan's names,
        inside: and its values.
    """
    if isinstance(error, Exception) and not comes_from_outside(error):
        return
    assert error.__traceback__ is not None
    done = max(0, error.__traceback__.tb_lineno - outside[COMMITS])
    exec("".join(text.lstrip() for text in outside[COMMITTING][done:count]), outside, inside)


@np.errstate(all="ignore")
def raises(compute: Callable[[], Any]) -> bool:
    """Whether a scalar computation raises."""
    try:
        compute()
    except Exception as error:
        if comes_from_outside(error):
            raise
        return True
    return False


def relayout(array: np.ndarray, strides: tuple[int, ...]) -> np.ndarray:
    """A copy whose axes lie in memory in the order and direction, and as far apart, as `strides` says."""
    order = sorted(range(array.ndim), key=lambda axis: -abs(strides[axis]))
    step = array.itemsize
    for axis in reversed(order):
        if array.shape[axis] > 1 and abs(strides[axis]) > step and array.size:
            return _spread(array, strides)
        step *= array.shape[axis]
    if min(strides, default=0) >= 0:  # its memory is its own, as in NumPy, which may write a sum into a temporary
        if array.transpose(order).flags.c_contiguous:  # but for axes of one element, it lies so
            return array
        if order == list(range(array.ndim))[::-1]:
            return array.copy("F")
        made = np.empty_like(np.empty([array.shape[axis] for axis in order], array.dtype).transpose(np.argsort(order)))
        made[...] = array
        return made
    turned = tuple(slice(None, None, -1 if step < 0 else None) for step in strides)
    return np.ascontiguousarray(array[turned].transpose(order)).transpose(np.argsort(order))[turned]


def _spread(array: np.ndarray, strides: tuple[int, ...]) -> np.ndarray:
    """A copy with gaps between its elements."""
    ends = [step * (length - 1) for step, length in zip(strides, array.shape, strict=True)]
    first = -sum(end for end in ends if end < 0)
    room = np.empty(first + sum(end for end in ends if end > 0) + array.itemsize, np.uint8)
    made = np.ndarray(array.shape, array.dtype, room, first, strides)
    made[...] = array
    return made
