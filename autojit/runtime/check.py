"""`--check`: NumPy runs beside every plan, and the first difference is told."""

from __future__ import annotations

import copy
import functools
import types
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from autojit.capture.reference import reference
from autojit.capture.regions import END, RETURN
from autojit.capture.streams import is_unseeded
from autojit.compile.outside import has_arrived
from autojit.errors import AutojitWarning
from autojit.ir.graph import Graph
from autojit.ir.warned import unheard
from autojit.runtime.agree import compare, is_record, tolerance_of
from autojit.runtime.arguments import arguments_of, owners_of, streams_of_call
from autojit.runtime.compiler import Prepared
from autojit.runtime.locate import locate
from autojit.runtime.padding import filled_up
from autojit.runtime.plan import NATIVE, UNSET, Plan
from autojit.runtime.streams import restore, same_states, save
from autojit.runtime.unwritten import is_unwritten

#: Objects, and the names of those of their attributes that a plan sets.
Attributes = list[tuple[Any, str]]


@dataclass(frozen=True, slots=True)
class Effects:
    """What a region has done.

    Attributes:
        exit: How control left it.
        results: The returned value and the names bound, by what to call them.
        arrays: The contents of the arrays that it was given, afterwards.
        aliases: For each array among the results, which of the given arrays it is, and with which it shares memory.
    """

    exit: int
    results: dict[str, Any]
    arrays: list[np.ndarray]
    aliases: list[list[tuple[bool, bool]]]


class State:
    """What arrays, attributes and generators of random numbers hold now.

    Attributes:
        contents: Copies of the arrays.
        states: Those of the generators.
    """

    def __init__(self, arrays: list[np.ndarray], attributes: Attributes, streams: Sequence[Any]) -> None:
        self.arrays, self.contents = arrays, [array.copy() for array in arrays]
        self.attributes, self.had = attributes, [_own(owner, name) for owner, name in attributes]
        self.states = save(*streams)

    def put(self) -> None:
        """Let them hold it again."""
        for (owner, name), value in zip(self.attributes, self.had, strict=True):
            if value is not UNSET:
                setattr(owner, name, value)
            elif _own(owner, name) is not UNSET:
                delattr(owner, name)
        restore(self.states)
        for array, contents in zip(self.arrays, self.contents, strict=True):
            if not array.__array_interface__["data"][1]:  # `flags.writeable` warns of `np.broadcast_arrays`'s
                array[...] = contents


class Check:
    """Stands before a plan. When it has answered, its effects are undone, and those of the statements are compared.

    Then the program goes on with what the plan gave, as it would without the check. What a plan leaves to NumPy runs
    once only, since it may do what cannot be undone.
    """

    def __init__(self, plan: Plan, prepared: Prepared, controller: Any, probe: Any) -> None:
        self.prepared = prepared
        self.controller = controller
        self.probe = probe
        self.call = plan.call
        self.plan = plan
        self.reference = reference(controller.tree, probe.region, controller.original)
        if is_unseeded(prepared.capture.draws):
            self.reference = None  # NumPy itself gives other numbers each time
        self.arguments = arguments_of(prepared.capture, plan)
        self.streams = streams_of_call(prepared.capture, plan)
        self.owners = owners_of(prepared.capture, plan)
        self.attributes = [name for _, name, _ in prepared.capture.assigned]
        self.least = tolerance_of(_dtypes_in(prepared.graph))
        self.told = False

    def enter(self, *values: Any) -> Any:
        """One call of the plan."""
        streams = self.streams(*values) if self.reference is not None and not self.told else None
        if streams is None:
            return self.call(*values)
        inputs, owners = self.arguments(*values), self.owners(*values)
        if inputs is None or owners is None:
            return self.call(*values)
        arrays = _distinct([*values, *inputs])
        attributes = list(zip(owners, self.attributes, strict=True))
        before = State(arrays, attributes, streams)
        result = self.call(*values)
        if result is None or result is NATIVE:
            return result
        try:  # from here on nothing may have the statements run on what the plan has done
            after = State(arrays, attributes, streams)
            got = self._got(result, values, arrays, attributes)
            try:
                before.put()
                wanted = self._wanted(values, arrays, attributes)
                states = save(*streams)
            finally:
                after.put()
            problem = self._compare(wanted, got, values, arrays)
        except Exception as error:  # what was given or made cannot be copied: nothing is compared
            if has_arrived(error):
                raise
            return result
        if not problem and not same_states(states, after.states):
            problem = "a generator of random numbers is left in another state"
        if problem:
            old = {id(array): contents for array, contents in zip(arrays, before.contents, strict=True)}
            self._tell(problem, [old.get(id(value), value) for value in inputs])
        return result

    def _wanted(
        self, values: tuple[Any, ...], arrays: list[np.ndarray], attributes: Attributes
    ) -> Effects | BaseException:
        """The effects of the statements."""
        assert self.reference is not None
        try:
            with np.errstate(all="ignore"):
                # The plan has warned already.
                exit, returned, names = unheard(functools.partial(self.reference, *values))
        except BaseException as error:  # the statements' own, such as SystemExit; others come from outside
            # Beside a plan the statements stand deeper than without.
            if isinstance(error, KeyboardInterrupt | RecursionError) or has_arrived(error):
                raise
            return error
        return self._effects(exit, returned, names, arrays, attributes)

    def _effects(
        self, exit: int, returned: Any, names: dict[str, Any], arrays: list[np.ndarray], attributes: Attributes
    ) -> Effects:
        region = self.probe.region
        if exit == END and region is self.controller.tree.root:
            exit = RETURN
        bound = region.live_return if exit == RETURN else region.live_out
        results = {f"`{name}`": names[name] for name in bound if name in names}
        if exit == RETURN:
            results["the returned value"] = returned
        for number, (owner, name) in enumerate(attributes):
            if (value := _own(owner, name)) is not UNSET:
                results[f"`.{name}` of object {number}"] = value if _is_data(value) else type(value)
        found = _arrays_in(list(results.values()))
        aliases = [[(one is other, np.may_share_memory(one, other)) for other in arrays] for one in found]
        memo = {id(array): array.copy(order="K") for array in [*arrays, *found]}
        return Effects(exit, _copied(results, memo), [memo[id(array)] for array in arrays], aliases)

    def _got(
        self, result: tuple[Any, ...], values: tuple[Any, ...], arrays: list[np.ndarray], attributes: Attributes
    ) -> Effects:
        """The effects of the plan."""
        region, exit = self.probe.region, result[0]
        bound = region.live_return if exit == RETURN else region.live_out
        parts = result[2:] if exit == RETURN else result[1:]
        given = dict(zip(region.live_in, values, strict=True))
        names = {name: part for name, part in zip(bound, parts, strict=True) if part is not UNSET}
        names = {name: given[name] for name in bound if name in given} | names
        return self._effects(exit, result[1] if exit == RETURN else None, names, arrays, attributes)

    def _compare(
        self, wanted: Effects | BaseException, got: Effects, values: tuple[Any, ...], arrays: list[np.ndarray]
    ) -> str:
        """What is different, or ""."""
        if isinstance(wanted, BaseException):
            return f"NumPy raises {type(wanted).__name__}: {wanted}"
        if got.exit != wanted.exit:
            return "control leaves the region in another way"
        if got.results.keys() != wanted.results.keys():
            return f"{', '.join(sorted(got.results.keys() ^ wanted.results.keys()))} is bound in one of the two only"
        for name, expected in wanted.results.items():
            outcome = compare(expected, got.results[name], name, least=self.least)
            if not outcome:
                return outcome.problem
        for number, expected in enumerate(wanted.arrays):
            outcome = compare(expected, got.arrays[number], self._name(arrays[number], values), least=self.least)
            if not outcome:
                return outcome.problem
        return "" if got.aliases == wanted.aliases else "a result shares memory with other arrays than in NumPy"

    def _name(self, array: np.ndarray, values: tuple[Any, ...]) -> str:
        names = zip(self.probe.region.live_in, values, strict=True)
        return next((f"`{name}`" for name, value in names if value is array), "an array that was given")

    def _tell(self, problem: str, inputs: list[Any]) -> None:
        """Warn of the first difference of this plan."""
        inputs = filled_up(self.prepared.stages[0].graph.inputs, inputs)
        with np.errstate(all="ignore"):
            if is_unwritten(self.prepared.stages[0].graph, inputs):
                return
        self.told = True
        first, last = self.probe.region.lines
        source = self.controller.tree.source
        lines = f"line {first}" if first == last else f"lines {first}-{last}"
        message = f"autojit [check]: `{source.name}` differs from NumPy in {lines}\n{problem}\n"
        message += locate(self.prepared, self.plan, inputs, self.least)
        warnings.warn_explicit(message, AutojitWarning, source.file, first)


def _dtypes_in(graph: Graph) -> set[np.dtype]:
    """The dtypes of all values of a graph, and of the loops in it."""
    found = {value.spec.dtype for value in graph.inputs}
    for node in graph.nodes:
        found |= {value.spec.dtype for value in node.outputs}
        if node.op.name == "loop":
            found |= _dtypes_in(node.keywords["body"])
    return found


def _own(owner: Any, name: str) -> Any:
    """An attribute that an object has itself, in its dict or in a slot; `UNSET` if there is none."""
    if isinstance(getattr(type(owner), name, None), types.MemberDescriptorType):
        return getattr(owner, name, UNSET)
    return getattr(owner, "__dict__", {}).get(name, UNSET)


def _is_data(value: Any) -> bool:
    """Whether an attribute's value is made of arrays and numbers; of other objects only the type is compared."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple):
        return all(map(_is_data, value))
    return value is None or isinstance(value, np.ndarray | np.generic | int | float | complex | str | bytes)


def _distinct(values: Sequence[Any]) -> list[np.ndarray]:
    return list({id(value): value for value in values if type(value) is np.ndarray}.values())


def _arrays_in(value: Any) -> list[np.ndarray]:
    """The arrays in a nested value, in order."""
    if isinstance(value, np.ndarray):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    elif is_record(value):
        value = list(vars(value).values())
    return [array for part in value for array in _arrays_in(part)] if isinstance(value, list | tuple) else []


def _copied(value: Any, memo: dict[int, np.ndarray]) -> Any:
    """A nested value with the copies of its arrays."""
    if isinstance(value, np.ndarray):
        return memo[id(value)]
    if isinstance(value, dict):
        return {key: _copied(part, memo) for key, part in value.items()}
    if isinstance(value, list):
        return [_copied(part, memo) for part in value]
    if isinstance(value, tuple):
        parts = [_copied(part, memo) for part in value]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    if is_record(value):
        made = copy.copy(value)
        if made is value:  # the member of an enum
            return value
        for name, part in vars(value).items():
            object.__setattr__(made, name, _copied(part, memo))
        return made
    return value
