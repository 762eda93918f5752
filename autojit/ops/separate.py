"""Keep XLA from computing an expensive value once per element of a larger array that uses it.

XLA fuses what it takes for cheap into every user, and the sums that a sine is made of are cheap one by one: in
`np.repeat(np.exp(x), 1000)` it would compute each exponential 1000 times. It deletes optimization barriers, but it does
not look into a call that is marked as not to be inlined.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from autojit.ir.graph import Graph, Node, values_of
from autojit.jax_names import core, jax, set_xla_metadata

Trap = Callable[[Any], None]

#: Users of these families are fused with what they read.
_FUSING = frozenset({"elementwise", "shaping", "indexing", "creation"})

#: A value is kept from being computed again if it has at least this many steps ...
_STEPS = 10
#: ... and ends up in an array this many times as large.
_TIMES = 2


def expanding(graph: Graph) -> frozenset[str]:
    """The results of elementwise operations that end up in much larger arrays without being stored on the way."""
    reach: dict[str, int] = {}
    found = set()
    for node in reversed(graph.nodes):
        size = max(value.spec.size for value in node.outputs)
        largest = max(reach.get(value.name, 0) for value in node.outputs)
        if node.op.family == "elementwise" and largest >= _TIMES * size:
            found.add(node.outputs[0].name)
            largest = 0
        if node.op.family in _FUSING:
            for value in values_of(node.inputs):
                reach[value.name] = max(reach.get(value.name, 0), size, largest)
    return frozenset(found)


def lower_apart(node: Node, xs: Sequence[Any], trap: Trap) -> Any:
    """The node's jax values, from a call of its own if they are expensive."""
    assert node.op.lower is not None
    lower = node.op.lower
    return separate(lambda trap, *xs: lower(node, xs, trap), trap, *xs, steps=_STEPS)


def separate(function: Callable[..., Any], trap: Trap, *xs: Any, steps: int = 0) -> list[Any]:
    """The results of `function(trap, *xs)`, from a call that is not inlined if it has at least so many steps."""
    flags: list[Any] = []

    def flat(*xs: Any) -> list[Any]:
        results = function(flags.append, *xs)
        return [*(results if isinstance(results, tuple | list) else (results,)), *flags]

    with jax.disable_jit():  # a call inside would not be inlined either
        traced = jax.make_jaxpr(flat)(*xs)
    if len(traced.jaxpr.eqns) < steps:
        results = core.jaxpr_as_fun(traced)(*xs)
    else:
        with set_xla_metadata(inlineable="false"):
            results = jax.jit(core.jaxpr_as_fun(traced))(*xs)
    count = len(results) - len(flags)
    for flag in results[count:]:
        trap(flag)
    return results[:count]
