"""Clusters: groups of compilable nodes that become one program each.

A cluster must not reach itself through an outside node, or it could run neither before that node nor after it.
Merging neighbours as long as that holds, and then independent clusters, ends where this rule starts, which needs no
search for cycles: the *level* of a node is the largest number of times that a path to it leaves compiled code for the
host and comes back, and the compilable nodes of one level are a cluster. A path that leaves a cluster comes back at a
higher level. No partition has fewer clusters, since those on the path that gave the highest level can never be one.

Within its freedom a node goes where it saves memory traffic: to the cluster that reads it rather than to the first
that could make it, if its operands are not larger than its result.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from autojit.config import Config
from autojit.errors import Reason
from autojit.ir.graph import Graph, Node, values_of
from autojit.partition.compilable import subgraphs, why_not
from autojit.partition.products import is_product

#: Families of operations that cost NumPy next to nothing; alone they are no reason to enter a program.
_FREE = frozenset(["shaping", "creation"])


def partition(
    graph: Graph, config: Config, slower: frozenset[str] = frozenset(), products_apart: bool = False
) -> Graph:
    """The same graph with `cluster` set on the nodes that compile, and `reason` on the others.

    Clusters are named `cluster_0`, `cluster_1` ... in the order of their first nodes. A graph in which everything
    compiles is never too small. `clustering_fuel` counts the clusters of this graph; whoever partitions several
    graphs under one limit passes what is left of it. Ops named in `slower` compile, but are left to NumPy, and so are
    matrix products outside of rolled loops, if `products_apart`.
    """
    reasons = [why_not(node, config, slower) for node in graph.nodes]
    if products_apart:
        reasons = [reason or _apart(node) for reason, node in zip(reasons, graph.nodes, strict=True)]
    mixed = any(reason is not None for reason in reasons)
    clusters: dict[int, str] = {}
    made = 0
    for group in _groups(graph, reasons, config):
        reason = _refuse([graph.nodes[index] for index in group], config, mixed, made)
        for index in group:
            if reason is None:
                clusters[index] = f"cluster_{made}"
            else:
                reasons[index] = reason._replace(source=graph.nodes[index].source)
        made += reason is None
    nodes = tuple(
        replace(node, cluster=clusters.get(index), reason=reasons[index]) for index, node in enumerate(graph.nodes)
    )
    return replace(graph, nodes=nodes)


def _apart(node: Node) -> Reason | None:
    detail = f"`{node.op.name}` was measured to be faster in NumPy"
    return Reason("host-op", detail, node.source) if is_product(node) else None


def _refuse(nodes: list[Node], config: Config, mixed: bool, made: int) -> Reason | None:
    """Why a group of compilable nodes is not worth a program, or may not have one."""
    least = config.min_cluster_size
    if mixed and len(nodes) < least:
        return Reason("too-small", f"{len(nodes)} operation(s), fewer than `--min_cluster_size={least}`")
    if mixed and all(node.op.family in _FREE for node in nodes):
        names = ", ".join(dict.fromkeys(f"`{node.op.name}`" for node in nodes))
        return Reason("too-small", f"{names} between host operations: nothing to compute")
    if 0 <= config.clustering_fuel <= made:
        return Reason("excluded", f"out of fuel: `--clustering_fuel={config.clustering_fuel}`")
    return None


def _groups(graph: Graph, reasons: list[Reason | None], config: Config) -> list[list[int]]:
    """The node numbers of each cluster, in program order, clusters by their first node."""
    compiled = [reason is None for reason in reasons]
    by_level: dict[int, list[int]] = {}
    for index, level in enumerate(_levels(graph, compiled)):
        if compiled[index]:
            by_level.setdefault(level, []).append(index)
    groups = [part for level in by_level.values() for part in _split(graph, level, config.max_cluster_size)]
    return sorted(groups, key=lambda group: group[0])


def _levels(graph: Graph, compiled: list[bool]) -> list[int]:
    """Per node, the number of the cluster that it is in or, on the host, that it comes after."""
    makers = {value.name: index for index, node in enumerate(graph.nodes) for value in node.outputs}
    inputs = [[makers[value.name] for value in values_of(node.inputs) if value.name in makers] for node in graph.nodes]
    levels: list[int] = []
    for index, before in enumerate(inputs):
        # A host node comes after cluster -1, which is none, until a path to it has been through a cluster.
        first = 0 if compiled[index] else -1
        steps = (levels[maker] + (compiled[index] and not compiled[maker]) for maker in before)
        levels.append(max(first, *steps) if before else first)
    return _sink(graph, compiled, inputs, levels)


def _sink(graph: Graph, compiled: list[bool], inputs: list[list[int]], levels: list[int]) -> list[int]:
    """Move a node to the one level that reads it, where that saves traffic between clusters."""
    results = {value.name for value in values_of(graph.results)}
    users = [_Users() for _ in levels]
    for index, node in enumerate(graph.nodes):
        if any(value.name in results for value in node.outputs):
            users[index].outside = True
    for index in reversed(range(len(levels))):
        own = users[index]
        # Users stand later in the program, so that their levels are final here.
        if compiled[index] and not own.outside and own.first == own.last > levels[index]:
            held = [maker for maker in set(inputs[index]) if compiled[maker] and not users[maker].outside]
            moved = sum(_bytes(graph.nodes[maker]) for maker in held if users[maker].last <= levels[index])
            if moved <= _bytes(graph.nodes[index]):
                levels[index] = int(own.first)
        for maker in inputs[index]:
            if compiled[index]:
                users[maker].first = min(users[maker].first, levels[index])
                users[maker].last = max(users[maker].last, levels[index])
            else:
                users[maker].outside = True
    return levels


@dataclass(slots=True)
class _Users:
    """Who reads a node: the first and last level, and whether the host or the caller does."""

    first: float = math.inf
    last: float = -1
    outside: bool = False


def _bytes(node: Node) -> int:
    return sum(value.spec.nbytes for value in node.outputs)


def _split(graph: Graph, level: list[int], limit: int) -> list[list[int]]:
    """Cut a level into groups of at most `limit` operations.

    Parts of the level that do not depend on each other stay whole where they fit; what is cut, is cut in program order.
    """
    sizes = {index: _size(graph.nodes[index]) for index in level}
    if sum(sizes.values()) <= limit:
        return [level]
    groups: list[list[int]] = []
    room = 0
    for component in _components(graph, level):
        whole = sum(sizes[index] for index in component)
        if room < whole <= limit:
            room = 0
        for index in component:
            if sizes[index] > room:
                groups.append([])
                room = limit
            groups[-1].append(index)
            room -= sizes[index]
    return [sorted(group) for group in groups]


def _components(graph: Graph, level: list[int]) -> list[list[int]]:
    """The connected parts of a level, by their first node."""
    makers: dict[str, int] = {}
    parents: dict[int, int] = {}

    def root(index: int) -> int:
        while parents[index] != index:
            parents[index] = index = parents[parents[index]]
        return index

    for index in level:
        parents[index] = index
        for value in values_of(graph.nodes[index].inputs):
            if value.name in makers:
                one, other = sorted((root(makers[value.name]), root(index)))
                parents[other] = one
        makers |= {value.name: index for value in graph.nodes[index].outputs}
    parts: dict[int, list[int]] = {}
    for index in level:
        parts.setdefault(root(index), []).append(index)
    return list(parts.values())


def _size(node: Node) -> int:
    """The number of operations in a node: a loop counts those of its body."""
    return 1 + sum(_size(inner) for graph in subgraphs(node) for inner in graph.nodes)
