"""Cut long chains of elementwise operations into segments, each compiled by itself.

XLA:CPU fuses a chain of elementwise operations into one loop, however long it is. The loop's time per operation rises
with its length, because a processor overlaps the elements of short loops only; from some thousand accesses to memory
on LLVM's scheduler takes all of the machine's memory, which ends the process. Where cheap operations are fused into
several users, compilation and run time both grow with the square of the chain's length.

A segment is a branch of a conditional that is always taken. XLA does not fuse across its border, divides its loops
among threads as ever, and it needs no launch of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from autojit.jax_names import core, jax, jnp, lax
from autojit.lowering.chains import Chains, is_apart, is_plain, size, variables, weight

#: What so few operations make of literals is not stored for a later segment: it is made there again ...
_CHEAP = 8
#: ... and what so few make of one of the program's arrays.
_CHEAPER = 2
#: A chain that is longer than is good is not cut where so many of its largest array would have to be stored.
_DEAR = 8


def segmented(program: core.ClosedJaxpr, in_loop: bool = False) -> Callable[..., list[Any]] | None:
    """The same function with its long chains in segments, or `None` if no chain is long.

    Args:
        program: What `jax.jit(...).trace(...).jaxpr` gives.
        in_loop: Whether it is the body of a loop.
    """
    jaxpr = _with_bodies_cut(program.jaxpr, in_loop)
    cuts = _Cuts(jaxpr, in_loop)
    segments = list(cuts.segments())
    if jaxpr is program.jaxpr and not any(is_full for _, is_full in segments):
        return None
    parts = _parts(jaxpr, cuts, segments)

    def function(*arguments: Any) -> list[Any]:
        values: dict[Any, Any] = dict(zip(jaxpr.constvars, program.consts, strict=True))
        values.update(zip(jaxpr.invars, arguments, strict=True))
        always = lax.optimization_barrier(jnp.bool_(True))  # which hides from XLA what branch is taken
        for part in parts:
            part.run(values, always)
        return [atom.val if isinstance(atom, core.Literal) else values[atom] for atom in jaxpr.outvars]

    return function


def _with_bodies_cut(jaxpr: core.Jaxpr, in_loop: bool) -> core.Jaxpr:
    """The same program, where the bodies of loops and the branches of conditionals have their segments."""
    equations = [_with_body_cut(equation, in_loop) for equation in jaxpr.eqns]
    if all(new is old for new, old in zip(equations, jaxpr.eqns, strict=True)):
        return jaxpr
    return jaxpr.replace(eqns=equations)


def _with_body_cut(equation: core.JaxprEqn, in_loop: bool) -> core.JaxprEqn:
    changed = {}
    in_loop |= equation.primitive.name in ("scan", "while")
    for name, given in equation.params.items():
        programs = given if isinstance(given, tuple) else (given,)
        cut = tuple(
            _cut(program, in_loop) if isinstance(program, core.ClosedJaxpr) else program for program in programs
        )
        if any(new is not old for new, old in zip(cut, programs, strict=True)):
            changed[name] = cut if isinstance(given, tuple) else cut[0]
    return equation.replace(params={**equation.params, **changed}) if changed else equation


def _cut(program: core.ClosedJaxpr, in_loop: bool) -> core.ClosedJaxpr:
    function = segmented(program, in_loop)
    if function is None:
        return program
    avals = program.in_avals
    return jax.make_jaxpr(function)(*(jax.ShapeDtypeStruct(a.shape, a.dtype, weak_type=a.weak_type) for a in avals))


class _Cuts:
    """Where a program is cut.

    Attributes:
        repeated: The numbers of the equations that belong to no segment, because each one that needs them computes
            them: what a few operations make of literals, or of one array that is there, and arrays of equal elements.
    """

    def __init__(self, jaxpr: core.Jaxpr, in_loop: bool) -> None:
        self._equations = jaxpr.eqns
        self._in_loop = in_loop
        self._jaxpr = jaxpr
        self._results = set(variables(jaxpr.outvars))
        self._last = {v: number for number, equation in enumerate(jaxpr.eqns) for v in variables(equation.invars)}
        self._maker: dict[Any, int] = {}
        self.repeated = self._find_repeated()

    def _find_repeated(self) -> set[int]:
        given, windows = {*self._jaxpr.invars, *self._jaxpr.constvars}, set[Any]()
        # How many operations make a variable, and of which array.
        made: dict[Any, tuple[int, Any]] = {}
        found = set()
        for number, equation in enumerate(self._equations):
            inputs = list(variables(equation.invars))
            if not all(v in made or v in given or v in windows or self._spreads(v, equation) for v in inputs):
                continue
            name = equation.primitive.name
            if name == "dynamic_slice" or (name == "reshape" and windows.issuperset(inputs)):
                windows.update(equation.outvars)  # the array in a window: it may be stored, and then is at hand
                continue
            if not is_plain(equation) or self._results & {*equation.outvars}:
                continue
            known = [made[v] if v in made else (0, v if size(v) > 1 else None) for v in inputs]
            arrays = {array for _, array in known} - {None}
            if any(size(array) > size(equation.outvars[0]) for array in arrays & windows):
                continue
            depth = weight(equation) + max((depth for depth, _ in known), default=0)
            if len(arrays) <= 1 and depth <= (_CHEAPER if arrays else _CHEAP):
                made.update((variable, (depth, next(iter(arrays), None))) for variable in equation.outvars)
                self._maker.update((variable, number) for variable in equation.outvars)
                found.add(number)
        return found

    @staticmethod
    def _spreads(variable: Any, equation: core.JaxprEqn) -> bool:
        """Whether an equation makes arrays of a number."""
        return size(variable) <= 1 and all(size(other) > 1 for other in equation.outvars)

    def makers(self, numbers: Iterable[int], there: Iterable[int] = ()) -> list[int]:
        """The repeated equations that these need, in the program's order, but those that are there."""
        found, rest = set(there), [*numbers]
        while rest:
            for variable in variables(self._equations[rest.pop()].invars):
                maker = self._maker.get(variable)
                if maker is not None and maker not in found:
                    found.add(maker)
                    rest.append(maker)
        return sorted(found.difference(there))

    def segments(self) -> Iterator[tuple[range, bool]]:
        """The equations of each segment, and whether it stands in a conditional."""
        start = 0
        while start < len(self._equations):
            end, is_full = self._end(start)
            yield range(start, end), is_full
            start = end

    def _end(self, start: int) -> tuple[int, bool]:
        """Where the segment that begins at `start` ends: where, once it is half full, the fewest bytes are stored."""
        chains, there = Chains(), set[int]()
        stored, freed = 0, dict[int, int]()
        least, best, largest = float("inf"), start, 0
        for number in range(start, len(self._equations)):
            equation = self._equations[number]
            if is_apart(equation, self._in_loop):
                return max(number, start + 1), False
            if number in self.repeated:
                continue
            if chains.is_too_long and least <= _DEAR * largest:
                return best, True
            makers = self.makers([number], there)
            there.update(makers)
            if not all(chains.take(self._equations[maker]) for maker in [*makers, number]):
                return best if best > start else max(number, start + 1), True
            for variable in equation.outvars:
                last = self._last.get(variable, number)
                largest = max(largest, _nbytes(variable))
                if last > number and variable not in self._results:
                    stored += _nbytes(variable)
                    freed[last] = freed.get(last, 0) + _nbytes(variable)
            stored -= freed.pop(number, 0)
            if chains.is_half_full and stored <= least and not chains.is_too_long:
                least, best = stored, number + 1
        return len(self._equations), False


@dataclass(frozen=True, slots=True)
class _Part:
    """A segment as a program, from the values it takes to those that are needed later.

    Attributes:
        program: The program.
        is_full: Whether it stands in a conditional, because a chain may go on behind it.
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


def _parts(jaxpr: core.Jaxpr, cuts: _Cuts, segments: list[tuple[range, bool]]) -> list[_Part]:
    """The segments as programs, in order."""
    needed = set(variables(jaxpr.outvars))
    found = []
    for numbers, is_full in reversed(segments):
        own = [number for number in numbers if number not in cuts.repeated]
        equations = [jaxpr.eqns[number] for number in sorted([*cuts.makers(own), *own])]
        made = {variable for equation in equations for variable in equation.outvars}
        taken = dict.fromkeys(v for equation in equations for v in variables(equation.invars) if v not in made)
        results = [variable for number in own for variable in jaxpr.eqns[number].outvars if variable in needed]
        if results:
            names = jaxpr.debug_info._replace(arg_names=("",) * len(taken), result_paths=("",) * len(results))
            part = core.Jaxpr((), [*taken], results, equations, debug_info=names)
            found.append(_Part(core.ClosedJaxpr(part, ()), is_full))
            needed.update(taken)
    return found[::-1]


def _nbytes(variable: Any) -> int:
    return variable.aval.size * variable.aval.dtype.itemsize
