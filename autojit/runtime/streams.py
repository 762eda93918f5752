"""The states of generators and random states: a plan that gives up leaves them as it found them."""

from __future__ import annotations

from typing import Any

import numpy as np

from autojit.errors import Trapped
from autojit.ir.spec import Spec, spec_of

_BITS = (np.random.PCG64, np.random.PCG64DXSM, np.random.MT19937, np.random.Philox, np.random.SFC64)
States = list[tuple[Any, Any]]


def save(*streams: Any) -> States:
    """Each stream with its state.

    Raises:
        Trapped: It is not known how to save the state.
    """
    found = []
    for stream in streams:
        if type(stream) is np.random.RandomState:
            found.append((stream, stream.get_state(legacy=False)))
        elif type(stream.bit_generator) in _BITS:
            found.append((stream, stream.bit_generator.state))
        else:
            raise Trapped(f"the state of a `{type(stream.bit_generator).__name__}`")
    return found


def restore(states: States) -> None:
    """Give each stream its state."""
    for stream, state in states:
        if type(stream) is np.random.RandomState:
            stream.set_state(state)
        else:
            stream.bit_generator.state = state


def same_states(states: States, others: States) -> bool:
    """Whether the states of the same streams are equal."""
    return all(_same(one, other) for (_, one), (_, other) in zip(states, others, strict=True))


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    return bool(np.array_equal(one, other))


def drawn(value: Any, spec: Spec) -> Any:
    """The value, if it is what the plan was built for.

    Raises:
        Trapped: It is not.
    """
    if spec_of(value) != spec:
        raise Trapped(f"{spec_of(value)} is drawn instead of {spec}")
    return value
