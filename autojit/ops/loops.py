"""The loop: a graph that is run for every index of a range, with values carried from one iteration to the next.

With `exits=True` the last carried value is a bool, looked at before each iteration: when it is true, the loop ends.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autojit.ir.evaluate import evaluate
from autojit.ir.graph import Const, Graph
from autojit.ir.spec import Spec
from autojit.jax_names import core, jax, jnp, lax
from autojit.ops.families import row
from autojit.ops.flushing import Flags, any_of
from autojit.ops.loop_bodies import tidy
from autojit.ops.loop_order import run_body

#: The least number above all of int64.
_BEYOND = 1 << 63


def _call(start: Any, stop: Any, *values: Any, body: Graph, step: int, carried: int, exits: bool = False) -> Any:
    carry, constant = list(values[:carried]), values[carried:]
    for index in range(int(start), int(stop), step):
        if exits and carry[-1]:
            break
        carry = list(evaluate(body, [index, *carry, *constant]))
    return tuple(carry) if carried > 1 else carry[0]


def _infer(specs: Sequence[Spec], params: dict[str, Any]) -> tuple[Spec, ...]:
    body, carried = params["body"], params["carried"]
    given = tuple(specs[2:])
    wanted = tuple(value.spec for value in body.inputs[1:])
    results = tuple(operand.spec for operand in body.outputs)
    if given != wanted or results != given[:carried]:
        raise TypeError("the body of a loop does not fit its operands")
    if params.get("exits") and (results[-1].dtype != np.bool_ or results[-1].shape):
        raise TypeError("what ends a loop is not a bool")
    return results


def _lower(node: Any, xs: Sequence[Any], trap: Callable[[Any], None]) -> Any:
    params = node.keywords
    body, step, carried = params["body"], params["step"], params["carried"]
    exits = params.get("exits", False)
    start, stop = (x.astype(np.int64) for x in xs[:2])
    if abs(step) > 1:
        stop = _aligned(node, start, stop, trap)
    if isinstance(trap, Flags) and trap.met and _is_of_any_length(node):
        # Its length may be what has trapped, or what NumPy would have raised for before: nobody waits for that.
        stop = jnp.where(any_of(trap.met), start, stop)
    carry, constant = tuple(xs[2 : 2 + carried]), xs[2 + carried :]
    function, traps = _traced(body, (start, *xs[2:]))

    def goes_on(state: Any) -> Any:
        index, carry, *trapped = state
        inside = index < stop if step > 0 else index > stop
        if exits:
            inside &= ~carry[-1]
        return inside & ~trapped[0] if traps else inside

    def run(state: Any) -> Any:
        index, carry, *_ = state
        results = function(index, *carry, *constant)
        return index + np.int64(step), tuple(results[:carried]), *results[carried:]

    first = (start, carry, jnp.asarray(False)) if traps else (start, carry)
    _, results, *trapped = lax.while_loop(goes_on, run, first)
    if traps:
        trap(trapped[0])
    return results


def _is_of_any_length(node: Any) -> bool:
    """Whether nobody knows when a loop ends, or only the data does."""
    return node.keywords.get("exits", False) or not all(isinstance(bound, Const) for bound in node.inputs[:2])


def _aligned(node: Any, start: Any, stop: Any, trap: Callable[[Any], None]) -> Any:
    """The first index that is not in the range; what lies beyond int64 traps.

    XLA takes too few iterations where the step does not divide the distance to the stop (openxla/xla#48454).
    """
    first, last = node.inputs[:2]
    step = node.keywords["step"]
    if isinstance(first, Const) and isinstance(last, Const):
        end = first.value + step * len(range(first.value, last.value, step))
        if -_BEYOND <= end < _BEYOND:
            return jnp.asarray(end, np.int64)
    aligned = start + np.int64(step) * (-((start - stop) // np.int64(step))).clip(0)
    # Where the end or the distance has wrapped, the one that comes out lies before the stop.
    trap((stop > start) & (aligned < stop) if step > 0 else (stop < start) & (aligned > stop))
    return aligned


def _traced(body: Graph, values: Sequence[Any]) -> tuple[Callable[..., list[Any]], bool]:
    """The body as a function of jax values, and whether its last result is a flag that says that it trapped."""
    body = tidy(body)
    traps = False

    def function(*values: Any) -> list[Any]:
        nonlocal traps
        flags = Flags()
        results = run_body(body, values, flags)
        if flags.met:
            traps = True
            results.append(any_of(flags.met))
        return results

    # Tracing it here tells whether there is a flag before the loop is made.
    return core.jaxpr_as_fun(jax.make_jaxpr(function)(*values)), traps


LOOP = row(
    "loop",
    _call,
    "loop",
    ("start", "stop", "*values"),
    params=("body", "step", "carried", "exits"),
    infer=_infer,
    lower=_lower,
    numpy=(),
    traps=True,
    note="a `for` over a range, as one XLA while loop",
)

ROWS = (LOOP,)
