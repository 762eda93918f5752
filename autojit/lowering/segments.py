"""Cut long chains of elementwise operations into segments, each compiled by itself.

XLA:CPU fuses a chain of elementwise operations into one loop, however long it is. The loop's time per operation rises
with its length, because a processor overlaps the elements of short loops only; from some thousand accesses to memory
on LLVM's scheduler takes all of the machine's memory, which ends the process. Where cheap operations are fused into
several users, compilation and run time both grow with the square of the chain's length.

A segment is a branch of a conditional that is always taken. XLA does not fuse across its border, divides its loops
among threads as ever, and it needs no launch of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax
from jax.extend import core

from autojit.lowering.chains import Chains, is_apart, size, variables, weight

#: What so few operations make of literals is not stored for a later segment: it is made there again.
_CHEAP = 8


def segmented(program: core.ClosedJaxpr) -> Callable[..., list[Any]] | None:
    """The same function with its long chains in segments, or `None` if no chain is long.

    Args:
        program: What `jax.jit(...).trace(...).jaxpr` gives.
    """
    jaxpr = _with_bodies_cut(program.jaxpr)
    cuts = _Cuts(jaxpr)
    if jaxpr is program.jaxpr and not any(is_full for _, is_full in cuts.segments()):
        return None
    parts = _parts(jaxpr, cuts)

    def function(*arguments: Any) -> list[Any]:
        values: dict[Any, Any] = dict(zip(jaxpr.constvars, program.consts, strict=True))
        values.update(zip(jaxpr.invars, arguments, strict=True))
        always = lax.optimization_barrier(jnp.bool_(True))  # which hides from XLA what branch is taken
        for part in parts:
            part.run(values, always)
        return [atom.val if isinstance(atom, core.Literal) else values[atom] for atom in jaxpr.outvars]

    return function


def _with_bodies_cut(jaxpr: core.Jaxpr) -> core.Jaxpr:
    """The same program, where the bodies of loops and the branches of conditionals have their segments."""
    equations = [_with_body_cut(equation) for equation in jaxpr.eqns]
    if all(new is old for new, old in zip(equations, jaxpr.eqns, strict=True)):
        return jaxpr
    return jaxpr.replace(eqns=equations)


def _with_body_cut(equation: core.JaxprEqn) -> core.JaxprEqn:
    changed = {}
    for name, given in equation.params.items():
        programs = given if isinstance(given, tuple) else (given,)
        cut = tuple(_cut(program) if isinstance(program, core.ClosedJaxpr) else program for program in programs)
        if any(new is not old for new, old in zip(cut, programs, strict=True)):
            changed[name] = cut if isinstance(given, tuple) else cut[0]
    return equation.replace(params={**equation.params, **changed}) if changed else equation


def _cut(program: core.ClosedJaxpr) -> core.ClosedJaxpr:
    function = segmented(program)
    if function is None:
        return program
    avals = program.in_avals
    return jax.make_jaxpr(function)(*(jax.ShapeDtypeStruct(a.shape, a.dtype, weak_type=a.weak_type) for a in avals))


class _Cuts:
    """Where a program is cut.

    Attributes:
        repeated: The numbers of the equations that belong to no segment, because each one that needs them computes
            them: what a few operations make of literals, and arrays of equal elements.
    """

    def __init__(self, jaxpr: core.Jaxpr) -> None:
        self._equations = jaxpr.eqns
        self._results = set(variables(jaxpr.outvars))
        self._last = {v: number for number, equation in enumerate(jaxpr.eqns) for v in variables(equation.invars)}
        self.repeated = self._find_repeated()

    def _find_repeated(self) -> set[int]:
        depths: dict[Any, int] = {}
        found = set()
        for number, equation in enumerate(self._equations):
            given = list(variables(equation.invars))
            is_spread = all(size(v) <= 1 for v in given) and all(size(v) > 1 for v in equation.outvars)
            is_free = is_spread or all(variable in depths for variable in given)
            depth = weight(equation) + max((depths.get(variable, 0) for variable in given), default=0)
            if is_free and depth <= _CHEAP and not is_apart(equation) and not self._results & {*equation.outvars}:
                depths.update((variable, depth) for variable in equation.outvars)
                found.add(number)
        return found

    def segments(self) -> Iterator[tuple[range, bool]]:
        """The equations of each segment, and whether a chain goes on behind it."""
        start = 0
        while start < len(self._equations):
            end, is_full = self._end(start)
            yield range(start, end), is_full
            start = end

    def _end(self, start: int) -> tuple[int, bool]:
        """Where the segment that begins at `start` ends: where the fewest bytes have to be stored."""
        chains, stored, freed = Chains(), 0, dict[int, int]()
        least, best = float("inf"), start
        for number in range(start, len(self._equations)):
            equation = self._equations[number]
            if is_apart(equation):
                return max(number, start + 1), False
            if number in self.repeated:
                continue
            if not chains.take(equation):
                return best if best > start else number, True
            for variable in equation.outvars:
                last = self._last.get(variable, number)
                if last > number and variable not in self._results:
                    stored += _nbytes(variable)
                    freed[last] = freed.get(last, 0) + _nbytes(variable)
            stored -= freed.pop(number, 0)
            if chains.is_half_full and stored <= least:
                least, best = stored, number + 1
        return len(self._equations), False


@dataclass(frozen=True, slots=True)
class _Part:
    """A segment as a program, from the values it takes to those that are needed later.

    Attributes:
        program: The program.
        is_full: Whether a chain goes on behind it.
    """

    program: core.ClosedJaxpr
    is_full: bool

    def run(self, values: dict[Any, Any], always: Any) -> None:
        """Compute with the values so far and bind the results; `always` is true."""
        inputs = [values[variable] for variable in self.program.jaxpr.invars]
        run = core.jaxpr_as_fun(self.program)
        outputs = lax.cond(always, run, self._zeros, *inputs) if self.is_full else run(*inputs)
        values.update(zip(self.program.jaxpr.outvars, outputs, strict=True))

    def _zeros(self, *_: Any) -> list[Any]:
        """The branch that is never taken."""
        return [jnp.zeros(variable.aval.shape, variable.aval.dtype) for variable in self.program.jaxpr.outvars]


def _parts(jaxpr: core.Jaxpr, cuts: _Cuts) -> list[_Part]:
    """The segments as programs, in order."""
    maker = {variable: number for number in cuts.repeated for variable in jaxpr.eqns[number].outvars}
    needed = set(variables(jaxpr.outvars))
    found = []
    for numbers, is_full in reversed(list(cuts.segments())):
        own = [number for number in numbers if number not in cuts.repeated]
        equations = [jaxpr.eqns[number] for number in _with_makers(jaxpr, own, maker)]
        made = {variable for equation in equations for variable in equation.outvars}
        taken = dict.fromkeys(v for equation in equations for v in variables(equation.invars) if v not in made)
        results = [variable for number in own for variable in jaxpr.eqns[number].outvars if variable in needed]
        if results:
            part = core.Jaxpr((), [*taken], results, equations, debug_info=jaxpr.debug_info)
            found.append(_Part(core.ClosedJaxpr(part, ()), is_full))
            needed.update(taken)
    return found[::-1]


def _with_makers(jaxpr: core.Jaxpr, numbers: list[int], maker: dict[Any, int]) -> list[int]:
    """Equations, and those that make what they need and no segment has, in the program's order."""
    found, rest = set(numbers), list(numbers)
    while rest:
        for variable in variables(jaxpr.eqns[rest.pop()].invars):
            number = maker.get(variable)
            if number is not None and number not in found:
                found.add(number)
                rest.append(number)
    return sorted(found)


def _nbytes(variable: Any) -> int:
    return variable.aval.size * variable.aval.dtype.itemsize
