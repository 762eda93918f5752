"""Draws of random numbers: in program order, before a plan's programs run, and how often each is repeated."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from autojit.errors import SourceLine
from autojit.ir.spec import Spec

#: The types whose methods draw. Subclasses may have their own rules.
STREAMS = (np.random.Generator, np.random.RandomState)
#: Methods that change their argument, the stream's state itself, give no array or number, or warn.
NOT_DRAWS = frozenset({
    "shuffle", "spawn", "bytes", "seed", "get_state", "set_state", "random_integers", "multivariate_normal",
})  # fmt: skip
#: One draw of a block gives the numbers, and leaves the state, of as many draws one after the other.
_BLOCKS = {
    np.random.Generator: frozenset({"random", "normal", "standard_normal", "uniform", "exponential", "integers"}),
    np.random.RandomState: frozenset({
        "rand", "randn", "random", "random_sample", "normal", "standard_normal", "uniform", "exponential", "randint",
    }),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Draw:
    """One call that draws.

    Attributes:
        name: What the plan calls its result.
        stream: The text that finds the generator or random state.
        text: The call.
        block: The call for many of them, with `{}` for their number and a comma; `None` where there is none.
        spec: One result.
        what: The call in the user's words.
        source: Where it stands.
    """

    name: str
    stream: str
    text: str
    block: str | None
    spec: Spec
    what: str
    source: SourceLine | None


@dataclass(frozen=True, slots=True)
class Start:
    """A call that makes a generator or random state (`name`), or gives one its first state (`name` is empty).

    Attributes:
        name: What the plan calls its result.
        stream: The text that finds what is given a state; empty for what is made.
        text: The call.
        what: The call in the user's words.
        source: Where it stands.
    """

    name: str
    stream: str
    text: str
    what: str
    source: SourceLine | None


@dataclass(frozen=True, slots=True)
class Repeat:
    """The draws of a loop's body, as often as the loop has iterations."""

    trips: int
    draws: tuple[Event, ...]


Event = Draw | Start | Repeat


def calls_in(events: Sequence[Event]) -> Iterator[Draw | Start]:
    """All calls, in program order."""
    for event in events:
        if isinstance(event, Repeat):
            yield from calls_in(event.draws)
        else:
            yield event


def streams_of(events: Sequence[Event]) -> str:
    """The texts that find the streams that are there before, as arguments of a call."""
    made = {event.name for event in events if isinstance(event, Start)}
    return ", ".join(dict.fromkeys(c.stream for c in calls_in(events) if c.stream not in made | {""}))


def is_unseeded(events: Sequence[Event]) -> bool:
    """Whether a stream begins in a state that nobody chose."""
    return any(isinstance(event, Start) and event.text.endswith(("()", "(None)")) for event in events)


def can_be_block(kind: type, method: str, names: Sequence[str]) -> bool:
    """Whether draws by a method with these arguments may be drawn at once."""
    return method in _BLOCKS[kind] and "dtype" not in names


def render(events: Sequence[Event], constants: dict[str, object], indent: str = "    ") -> list[str]:
    """The draws as source text; it needs `empty` and `drawn`, and adds its `constants`."""
    lines: list[str] = []
    for event in events:
        if isinstance(event, Repeat):
            lines += _repeated(event, constants, indent)
        elif isinstance(event, Start):
            lines.append(f"{indent}{event.name} = {event.text}" if event.name else f"{indent}{event.text}")
        else:
            lines.append(f"{indent}{event.name} = drawn({event.text}, {_constant(event.spec, constants)})")
    return lines


def _repeated(repeat: Repeat, constants: dict[str, object], indent: str) -> list[str]:
    trips = [repeat.trips]
    inner = repeat
    while len(inner.draws) == 1 and isinstance(inner.draws[0], Repeat):
        inner = inner.draws[0]
        trips.append(inner.trips)
    first = inner.draws[0]
    if isinstance(first, Draw) and first.block is not None and all(_alike(first, other) for other in inner.draws):
        many = len(inner.draws)
        lengths = [*trips, many] if many > 1 else trips
        text = first.block.replace("{}", "".join(f"{length}, " for length in lengths))
        spec = Spec((*lengths, *first.spec.shape), first.spec.dtype)
        lines = [f"{indent}{first.name} = drawn({text}, {_constant(spec, constants)})"]
        if many > 1:
            names = ", ".join(draw.name for draw in inner.draws if isinstance(draw, Draw))
            before = ":, " * len(trips)
            parts = ", ".join(f"{first.name}[{before}{number}].copy()" for number in range(many))
            lines.append(f"{indent}{names} = {parts}")
        return lines
    return [*_rooms(repeat, (), constants, indent), *_turns(repeat, (), indent)]


def _alike(draw: Draw, other: Event) -> bool:
    """Whether two draws may be two parts of one block."""
    return isinstance(other, Draw) and (draw.text, draw.spec) == (other.text, other.spec)


def _rooms(repeat: Repeat, trips: tuple[int, ...], constants: dict[str, object], indent: str) -> Iterator[str]:
    """Arrays for what is drawn one after the other."""
    trips = (*trips, repeat.trips)
    for event in repeat.draws:
        if isinstance(event, Repeat):
            yield from _rooms(event, trips, constants, indent)
        elif isinstance(event, Draw):
            shape = (*trips, *event.spec.shape)
            yield f"{indent}{event.name} = empty({shape!r}, {_constant(event.spec.dtype, constants)})"


def _turns(repeat: Repeat, counters: tuple[str, ...], indent: str) -> Iterator[str]:
    counters = (*counters, f"k{len(counters)}")
    yield f"{indent}for {counters[-1]} in range({repeat.trips}):"
    for event in repeat.draws:
        if isinstance(event, Repeat):
            yield from _turns(event, counters, indent + "    ")
        elif isinstance(event, Draw):
            yield f"{indent}    {event.name}[{', '.join(counters)}] = {event.text}"


def _constant(value: object, constants: dict[str, object]) -> str:
    for name, known in constants.items():
        if name[0] == "D" and type(known) is type(value) and known == value:
            return name
    name = f"D{len(constants)}"
    constants[name] = value
    return name
