"""Where the boxes of a picture stand: in layers from the top, each below what it reads (Sugiyama et al., 1981)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

_SWEEPS = 8
#: The width of a line that passes between boxes.
_PASS = 12.0


@dataclass(slots=True)
class _Spot:
    """A box, or the place where a line passes through a layer."""

    layer: int
    width: float
    above: list[int]
    below: list[int]
    x: float = 0.0


@dataclass(frozen=True, slots=True)
class Layout:
    """Places of boxes.

    Attributes:
        places: The middle of each box, and its layer from the top.
        routes: For each pair `(source, box)` the places that the line between them passes, from one to the other.
        width: Of the picture; from 0.
        layers: How many there are.
    """

    places: tuple[tuple[float, int], ...]
    routes: dict[tuple[int, int], tuple[tuple[float, int], ...]]
    width: float
    layers: int


def layout(reads: Sequence[Sequence[int]], widths: Sequence[float], gap: float) -> Layout:
    """Place boxes.

    Args:
        reads: For each box the boxes it reads, all before it.
        widths: How wide they are.
        gap: What is left between two boxes of a layer.
    """
    layers = _layers(reads)
    spots = [_Spot(layer, width, [], []) for layer, width in zip(layers, widths, strict=True)]
    chains = _connect(spots, reads)
    rows: list[list[int]] = [[] for _ in range(max(layers, default=-1) + 1)]
    for number, spot in enumerate(spots):
        rows[spot.layer].append(number)
    _order(rows, spots)
    _move(rows, spots, gap)
    left = min((spot.x - spot.width / 2 for spot in spots), default=0.0)
    for spot in spots:
        spot.x -= left
    places = [(spot.x, spot.layer) for spot in spots]
    return Layout(
        tuple(places[: len(reads)]),
        {pair: tuple(places[number] for number in chain) for pair, chain in chains.items()},
        max((spot.x + spot.width / 2 for spot in spots), default=0.0),
        len(rows),
    )


def _layers(reads: Sequence[Sequence[int]]) -> list[int]:
    """The longest way from above; what reads nothing stands right above its first user."""
    layers = [0] * len(reads)
    for number, sources in enumerate(reads):
        layers[number] = 1 + max((layers[source] for source in sources), default=-1)
    first = [len(reads)] * len(reads)
    for number, sources in enumerate(reads):
        for source in sources:
            first[source] = min(first[source], layers[number])
    return [
        max(0, user - 1) if not sources and user < len(reads) else layer
        for layer, sources, user in zip(layers, reads, first, strict=True)
    ]


def _connect(spots: list[_Spot], reads: Sequence[Sequence[int]]) -> dict[tuple[int, int], list[int]]:
    """Lines over several layers pass through a spot in each; lines from one box share them."""
    passes: dict[tuple[int, int], int] = {}
    chains: dict[tuple[int, int], list[int]] = {}
    for number, sources in enumerate(reads):
        for source in sources:
            chain = [source]
            for layer in range(spots[source].layer + 1, spots[number].layer):
                if (source, layer) not in passes:
                    passes[source, layer] = len(spots)
                    spots.append(_Spot(layer, _PASS, [], []))
                chain.append(passes[source, layer])
            chains[source, number] = [*chain, number]
            for one, other in pairwise(chains[source, number]):
                if one not in spots[other].above:
                    spots[other].above.append(one)
                    spots[one].below.append(other)
    return chains


def _order(rows: list[list[int]], spots: list[_Spot]) -> None:
    """Neighbours in a layer by the mean place of what they are connected with: few lines cross then."""
    for sweep in range(_SWEEPS):
        down = sweep % 2 == 0
        for row in rows if down else reversed(rows):
            for place, number in enumerate(row):
                spots[number].x = float(place)
        for row in rows if down else reversed(rows):
            means = {number: _mean(spots, number, down) for number in row}
            row.sort(key=means.__getitem__)
            for place, number in enumerate(row):
                spots[number].x = float(place)


def _mean(spots: list[_Spot], number: int, down: bool) -> float:
    near = spots[number].above if down else spots[number].below
    return sum(spots[other].x for other in near) / len(near) if near else spots[number].x


def _move(rows: list[list[int]], spots: list[_Spot], gap: float) -> None:
    """Each spot near the middle of what it is connected with, as far as its neighbours allow."""
    for row in rows:
        _pack(row, spots, gap, [0.0] * len(row))
    for sweep in range(_SWEEPS):
        down = sweep % 2 == 0
        for row in rows if down else reversed(rows):
            _pack(row, spots, gap, [_mean(spots, number, down) for number in row])


def _pack(row: list[int], spots: list[_Spot], gap: float, wanted: list[float]) -> None:
    """The mean of two packings without overlap: from the left and from the right."""
    distances = [(spots[a].width + spots[b].width) / 2 + gap for a, b in pairwise(row)]
    right, left = list(wanted), list(wanted)
    for place, distance in enumerate(distances, 1):
        right[place] = max(right[place], right[place - 1] + distance)
    for place in reversed(range(len(distances))):
        left[place] = min(left[place], left[place + 1] - distances[place])
    for number, one, other in zip(row, right, left, strict=True):
        spots[number].x = (one + other) / 2
