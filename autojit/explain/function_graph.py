"""The graph of a whole function: its regions with their clusters, and the native statements between them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path

from autojit.errors import Reason
from autojit.explain.drawing import draw
from autojit.explain.outline import Picture, picture_of
from autojit.explain.style import fragment, hues_of, page
from autojit.ir.graph import Graph, Node
from autojit.partition.steps import ClusterStep
from autojit.runtime.compiler import Prepared

Section = Prepared | Reason


class FunctionGraph:
    """What becomes of a call as a picture, in program order. A notebook shows it.

    Attributes:
        name: The function.
        sections: Regions that are captured, and statements that stay Python.
    """

    def __init__(self, name: str, sections: Sequence[Section], hues: dict[tuple[int, str], int]) -> None:
        self.name = name
        self.sections = tuple(sections)
        self._hues = hues

    def to_html(self) -> str:
        """The picture as a fragment of HTML that any page can hold; it loads nothing and needs no scripts."""
        return fragment(*self.parts())

    def _repr_html_(self) -> str:
        return self.to_html()

    def save(self, file: str | os.PathLike[str]) -> Path:
        """Write the picture to a page of its own.

        Args:
            file: The page's name.

        Returns:
            The file.
        """
        target = Path(file)
        target.write_text(page(self.name, self.to_html()), encoding="utf-8")
        return target

    def parts(self) -> Iterator[str]:
        """The sections as HTML."""
        for section in self.sections:
            if isinstance(section, Reason):
                yield _bar(section)
                continue
            picture = _region(section, self.name)
            hues = {name: hue for (region, name), hue in self._hues.items() if region == id(section)}
            yield f"<div><b><code>{escape(picture.title)}</code></b></div>"
            yield draw(picture, hues)

    def __repr__(self) -> str:
        return (
            f"<graph of `{self.name}`: {len(self.sections)} sections; a notebook shows it, `save(file)` writes a page>"
        )


def _region(prepared: Prepared, home: str) -> Picture:
    """The picture of one region, its operations in the order in which they run."""
    nodes: list[Node] = []
    by_outputs = {node.outputs: node for node in prepared.graph.nodes}
    for step in prepared.steps:
        if isinstance(step, ClusterStep):
            nodes += [by_outputs.get(node.outputs, node) for node in step.graph.nodes]
        else:
            nodes.append(step.node)
    capture = prepared.capture
    inputs = zip(prepared.graph.inputs, capture.input_names, strict=True)
    said = {value.name: capture.prologue.in_words(name).strip("`") for value, name in inputs}
    return picture_of(prepared.graph, home, nodes=nodes, said=said)


def graph_html(graph: Graph, home: str) -> str:
    """One graph as HTML, each cluster in its colour; `home` is the function that is captured."""
    clusters = dict.fromkeys(node.cluster for node in graph.nodes if node.cluster)
    return draw(picture_of(graph, home), hues_of(clusters))


def _bar(reason: Reason) -> str:
    place = reason.source
    where = f"line {place.line}: " if place is not None else ""
    text = f" <code>{escape(place.text)}</code>" if place is not None and place.text else ""
    hint = escape(reason.kind.hint)
    return f'<div class="bar" title="{hint}">{where}NumPy and Python{text}<br>{escape(reason.detail)}</div>'
