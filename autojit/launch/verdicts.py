"""Why a function is in its state, in a few words."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from autojit.explain.text import times_as_fast
from autojit.launch.facts import Function
from autojit.launch.spots import SETTLED, Spot, by_cause
from autojit.runtime.door import DOOR
from autojit.runtime.heat import price_of
from autojit.runtime.history import milliseconds

if TYPE_CHECKING:
    from autojit.runtime.probe import Probe


def why_of(function: Function, state: str, spots: Sequence[Spot]) -> str:
    """The words; "" where the state says it all.

    Args:
        function: The function.
        state: Its state when somebody looked: the program's threads may go on.
        spots: Its native places.
    """
    if state == "not judged yet":
        return _too_early(function)
    if state == "on trial":
        trials = sorted(function.trials, key=lambda trial: trial.numpy.seconds + trial.rough.seconds)
        return _so_far(trials[-1]) if trials else ""
    return "; ".join([*_speed(function), *(_stays(function, state, spots) if state != "compiled" else ())])


def _speed(function: Function) -> Iterator[str]:
    best = function.speed
    if best is not None:
        yield f"{times_as_fast(best.numpy_seconds / best.seconds)}x"


def _stays(function: Function, state: str, spots: Sequence[Spot]) -> Iterator[str]:
    """What keeps it, or most of the rest of it, in NumPy."""
    if function.is_small:
        yield "too small: its calls take microseconds"
    elif spots:
        spot = max(by_cause(spots), key=lambda spot: spot.seconds)
        reason = spot.reason
        # Of what is settled nobody needs the line.
        yield f"{reason.id}: {reason.detail}" if reason.id in SETTLED else f"line {spot.line}: {reason.id}"
    elif state == "native" and all(probe.state == "off" for probe in function.probes):
        yield "autojit has given it up, with a warning"


def _so_far(trial: Any) -> str:
    """What is known of a region that is measured."""
    numpy = trial.numpy.best or trial.rough.best
    times = [*trial.times, *(seconds for seconds, _ in trial.slower if seconds < math.inf)]
    if not times:
        return "compiled, and not timed yet" if trial.compiled is not None else "it was still being compiled"
    return f"{milliseconds(min(times))} compiled, {milliseconds(numpy)} in NumPy so far"


def _too_early(function: Function) -> str:
    """Why nobody knows yet what it would gain."""
    prices = [(heat, _price(probe)) for probe in function.probes if (heat := probe.heats.hottest) is not None]
    if not prices:
        asleep = [probe for probe in function.probes if probe.sleeps]
        return "calls of too many kinds" if asleep else "no call was timed"
    heat, price = max(prices, key=lambda pair: pair[0].seconds / pair[1])
    if heat.seconds < price:
        return f"{heat.seconds:.2g} s of {price:.2g} s in NumPy"
    if heat.calls == 1:
        return "called once"
    if not DOOR.is_open:
        return DOOR.found or "what compiles was not ready"
    return "its turn had not come, of all that may be spent on the program"


def _price(probe: Probe) -> float:
    """As `WarmUp.pays` has it, but for what earlier processes have found."""
    price = price_of(probe.price, probe.crowd.dropped, probe.is_part)
    return price if probe.around is None else 2 * price
