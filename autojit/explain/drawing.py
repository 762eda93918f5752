"""A graph as a picture: SVG for each level, the insides of loops and groups below it. It loads nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape

from autojit.explain.layered import Layout, layout
from autojit.explain.outline import Box, Picture

_HEIGHT, _STEP, _GAP, _MARGIN = 36.0, 66.0, 14.0, 6.0
#: Widths of characters of the title and of the spec.
_WIDE, _NARROW = 7.3, 6.1
_MAX_TITLE = 34


def draw(picture: Picture, hues: Mapping[str, int]) -> str:
    """The picture, and those of what it holds, as HTML.

    Args:
        picture: What to draw.
        hues: The hue of each cluster.
    """
    parts = [f'<div class="picture">{_svg(picture, hues)}</div>']
    for box in picture.boxes:
        if box.inside is not None:
            parts.append(f'<details class="inside"><summary><code>{escape(box.inside.title)}</code></summary>')
            parts += [draw(box.inside, hues), "</details>"]
    return "\n".join(parts)


def _svg(picture: Picture, hues: Mapping[str, int]) -> str:
    widths = [_width(box) for box in picture.boxes]
    placed = layout([box.reads for box in picture.boxes], widths, _GAP)
    width, height = placed.width + 2 * _MARGIN, placed.layers * _STEP - (_STEP - _HEIGHT) + 2 * _MARGIN
    shape = f'width="{width:.0f}" height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}"'
    label = f'role="img" aria-label="{escape(picture.title)}"'
    parts = [f"<svg {shape} {label}>"]
    for number, (box, wide) in enumerate(zip(picture.boxes, widths, strict=True)):
        parts.append(_group(number, box, wide, placed, hues))
    return "\n".join([*parts, "</svg>"])


def _group(number: int, box: Box, width: float, placed: Layout, hues: Mapping[str, int]) -> str:
    """A box with the lines that come into it, so that both light up together."""
    x, layer = placed.places[number]
    x, y = x + _MARGIN, layer * _STEP + _MARGIN
    hue = hues.get(box.cluster)
    kind, style = (f"box {box.kind}", "") if hue is None else (f"box {box.kind} in", f' style="--hue: {hue}"')
    lines = "".join(f'<path d="{" ".join(_line(placed.routes[source, number]))}"/>' for source in box.reads)
    round_ = _HEIGHT / 2 if box.kind in ("input", "result") else 5
    corner = f'x="{x - width / 2:.1f}" y="{y:.1f}" width="{width:.1f}" height="{_HEIGHT}" rx="{round_}"'
    title = f'<text x="{x:.1f}" y="{y + 15:.1f}">{escape(_cut(box.title))}</text>'
    spec = f'<text class="spec" x="{x:.1f}" y="{y + 29:.1f}">{escape(_cut(box.spec))}</text>'
    return f'<g class="{kind}"{style}><title>{escape(box.hover)}</title>{lines}<rect {corner}/>{title}{spec}</g>'


def _line(route: tuple[tuple[float, int], ...]) -> Iterator[str]:
    """The path of a line: from the bottom of a box, straight through the layers between, to the top of another."""
    x, layer = route[0]
    at = x + _MARGIN, layer * _STEP + _MARGIN + _HEIGHT
    yield f"M{at[0]:.1f} {at[1]:.1f}"
    for x, layer in route[1:]:
        top = x + _MARGIN, layer * _STEP + _MARGIN
        half = (top[1] - at[1]) / 2
        yield f"C{at[0]:.1f} {at[1] + half:.1f} {top[0]:.1f} {top[1] - half:.1f} {top[0]:.1f} {top[1]:.1f}"
        at = top
        if (x, layer) != route[-1]:
            at = top[0], top[1] + _HEIGHT
            yield f"L{at[0]:.1f} {at[1]:.1f}"


def _width(box: Box) -> float:
    return 16 + max(_WIDE * len(_cut(box.title)), _NARROW * len(_cut(box.spec)))


def _cut(text: str) -> str:
    return text if len(text) <= _MAX_TITLE else f"{text[: _MAX_TITLE - 1]}…"
