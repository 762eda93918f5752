"""What a picture of a graph shows: its boxes, with groups where there are too many of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from types import MappingProxyType
from typing import Literal

from autojit.errors import SourceLine
from autojit.ir.graph import Graph, Node, Operand, Value, values_of
from autojit.ir.text import node_text

#: A picture has about this many boxes at most; more become groups.
MAX_BOXES = 40
#: So many helpers are named in the title of a group.
_HELPERS = 2

Kind = Literal["input", "node", "host", "loop", "group", "result"]


@dataclass(frozen=True, slots=True)
class Box:
    """One box.

    Attributes:
        kind: What it stands for.
        title: Its text.
        spec: Dtype and shape of what it makes; "" for none.
        hover: Everything that is known of it.
        cluster: The cluster it belongs to; "" for none.
        reads: The boxes of the picture, by number, whose values it takes; all before it.
        inside: The picture of a loop's body or of a group.
    """

    kind: Kind
    title: str
    spec: str
    hover: str
    cluster: str
    reads: tuple[int, ...]
    inside: Picture | None = None


@dataclass(frozen=True, slots=True)
class Picture:
    """Boxes in program order, each after those that it reads."""

    title: str
    boxes: tuple[Box, ...]


@dataclass(frozen=True, slots=True)
class _Group:
    title: str
    nodes: tuple[Node, ...]


def picture_of(
    graph: Graph,
    home: str = "",
    title: str = "",
    nodes: Sequence[Node] = (),
    cluster: str = "",
    said: Mapping[str, str] = MappingProxyType({}),
) -> Picture:
    """The picture of a graph.

    Args:
        graph: The graph.
        home: The function that is captured: what others do is drawn together. That of most nodes by default.
        title: What it is a picture of; its lines by default.
        nodes: Its nodes in the order in which they run; as in the graph by default.
        cluster: The cluster that all of them belong to, where the nodes do not say.
        said: What the user calls the inputs, by their names.
    """
    nodes = [node if node.cluster or not cluster else replace(node, cluster=cluster) for node in nodes or graph.nodes]
    home = home or _home(nodes)
    title = title or _lines(nodes, home) or graph.name
    return _draw(nodes, graph.results, title, home, [f"returns {name}" for name in _names(graph)], said)


def _names(graph: Graph) -> Iterator[str]:
    """What each result is called."""
    for output in graph.outputs:
        yield str(output) if isinstance(output, Value) else "a constant"
    for write in graph.writes:
        yield f"{write.value} in {write.target}" if isinstance(write.value, Value) else f"a constant in {write.target}"


def _home(nodes: Sequence[Node]) -> str:
    """The function that most of the nodes stand in."""
    functions = [node.source.function for node in nodes if node.source is not None]
    return max(functions, key=functions.count) if functions else ""


def _draw(
    nodes: Sequence[Node],
    results: Sequence[Operand],
    title: str,
    home: str,
    names: Sequence[str] = (),
    said: Mapping[str, str] = MappingProxyType({}),
) -> Picture:
    boxes: list[Box] = []
    maker: dict[str, int] = {}
    for item in _grouped(nodes, home):
        members = item.nodes if isinstance(item, _Group) else (item,)
        made = {value.name for node in members for value in node.outputs}
        read = {value.name: value for node in members for value in values_of(node.inputs) if value.name not in made}
        for value in read.values():
            if value.name not in maker:
                maker[value.name] = len(boxes)
                name = said.get(value.name, value.name)
                boxes.append(Box("input", name, str(value.spec), f"{value}: {value.spec}", "", ()))
        reads = tuple(sorted({maker[name] for name in read}))
        if isinstance(item, _Group):
            clusters = {node.cluster or "" for node in members}
            own = any(node.source is not None and node.source.function == home for node in members)
            inside = _draw(members, (), item.title, home if own else _home(members), said=said)
            hover, cluster = "\n".join(map(_line, members[:20])), clusters.pop() if len(clusters) == 1 else ""
            boxes.append(Box("group", item.title, f"{len(members)} operations", hover, cluster, reads, inside))
        else:
            boxes.append(_box(item, reads, home))
        maker.update(dict.fromkeys(made, len(boxes) - 1))
    for name, result in zip(names, results, strict=False):
        reads = (maker[result.name],) if isinstance(result, Value) and result.name in maker else ()
        boxes.append(Box("result", name, str(result.spec), f"{name}: {result.spec}", "", reads))
    return Picture(title, tuple(boxes))


def _box(node: Node, reads: tuple[int, ...], home: str) -> Box:
    spec = ", ".join(str(value.spec) for value in node.outputs)
    body = next((value for _, value in node.params if isinstance(value, Graph)), None)
    kind: Kind = "host" if node.is_host else "loop" if body is not None else "node"
    hover = [_line(node), f"{', '.join(map(str, node.specs))} -> {spec}"]
    if node.source is not None:
        hover += [f"{node.source.file}:{node.source.line}", node.source.text]
    hover += [f"cluster {node.cluster}"] if node.cluster else []
    hover += [f"{node.reason.id}: {node.reason.detail}"] if node.reason is not None else []
    inside = None
    if body is not None:
        where = f", line {node.source.line}" if node.source else ""
        inside = picture_of(body, home, f"{node.op.name}{where}: what it repeats", cluster=node.cluster or "")
    return Box(kind, _line(node), spec, "\n".join(filter(None, hover)), node.cluster or "", reads, inside)


def _line(node: Node) -> str:
    """The node as the statement that it stands for; of a loop, not its body."""
    if any(isinstance(value, Graph) for _, value in node.params):
        return f"{', '.join(value.name for value in node.outputs)} = {node.op.name}"
    return node_text(node)


def _grouped(nodes: Sequence[Node], home: str) -> Sequence[Node | _Group]:
    """Not many more items than `MAX_BOXES`: calls of helpers are drawn together, then lines, then stretches."""
    items: Sequence[Node | _Group] = list(nodes)
    for key, title in ((_helper(home), _of_helper), (_place, _of_line)):
        runs = list(_runs(items, key, title)) if len(items) > MAX_BOXES else []
        items = runs if len(runs) > 1 else items
    while len(items) > MAX_BOXES:
        size = max(2, -(-len(items) // MAX_BOXES))
        items = [_stretch(items[start : start + size], home) for start in range(0, len(items), size)]
    return items


def _helper(home: str) -> Callable[[Node], object]:
    """What the nodes of one call of a helper share; the function's own nodes have nothing in common."""

    def key(node: Node) -> object:
        own = node.source is None or node.source.function == home
        return id(node) if own or node.source is None else (node.source.file, node.source.function, node.cluster)

    return key


def _place(node: Node) -> object:
    return id(node) if node.source is None else (node.source.file, node.source.line, node.cluster)


def _of_helper(place: SourceLine) -> str:
    return f"{place.function}()"


def _of_line(place: SourceLine) -> str:
    return f"line {place.line}: {place.text}" if place.text else f"line {place.line}"


def _runs(
    items: Sequence[Node | _Group], key: Callable[[Node], object], title: Callable[[SourceLine], str]
) -> Iterator[Node | _Group]:
    """Neighbours that share a key, as groups."""
    for _, run in groupby(items, lambda item: id(item) if isinstance(item, _Group) else key(item)):
        first, *more = run
        if not more or isinstance(first, _Group) or first.source is None:
            yield from (first, *more)
        else:
            yield _Group(title(first.source), (first, *(node for node in more if isinstance(node, Node))))


def _stretch(items: Sequence[Node | _Group], home: str) -> Node | _Group:
    if len(items) == 1:
        return items[0]
    nodes = [node for item in items for node in (item.nodes if isinstance(item, _Group) else (item,))]
    helpers = dict.fromkeys(node.source.function for node in nodes if node.source and node.source.function != home)
    with_calls = f", with {', '.join(f'{name}()' for name in [*helpers][:_HELPERS])}" if helpers else ""
    return _Group(f"{_lines(nodes, home) or 'operations'}{with_calls}", tuple(nodes))


def _lines(nodes: Sequence[Node], home: str) -> str:
    """The lines of one function that the nodes stand in, or of any; "" for none."""
    places = [node.source for node in nodes if node.source is not None]
    lines = [place.line for place in places if place.function == home] or [place.line for place in places]
    if not lines:
        return ""
    return f"line {lines[0]}" if len(set(lines)) == 1 else f"lines {min(lines)} to {max(lines)}"
