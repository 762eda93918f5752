"""Clusters: groups of compilable nodes that become one program each.

A cluster must not reach itself through an outside node, or it could neither run before that node nor after it. Merging
every pair of neighbours for which that holds, and then every pair of independent clusters, leads to the same end as
this rule, which needs no search for cycles: the *level* of a node is the largest number of host nodes that stand
between compiled ones on any path to it, and the compilable nodes of one level are a cluster. A path that leaves a
cluster through a host node arrives at a higher level. No partition has fewer clusters, since the clusters on the
path that gave the highest level can never be one.
"""

from __future__ import annotations

from dataclasses import replace

from autojit.config import Config
from autojit.errors import Reason
from autojit.ir.graph import Graph, Node, values_of
from autojit.partition.compilable import subgraphs, why_not


def partition(graph: Graph, config: Config) -> Graph:
    """The same graph with `cluster` set on the nodes that compile, and `reason` on the others.

    Clusters are named `cluster_0`, `cluster_1` ... in the order of their first nodes. `clustering_fuel` counts the
    clusters of this graph; whoever partitions several graphs under one limit passes what is left of it.
    """
    reasons = [why_not(node, config) for node in graph.nodes]
    groups = _groups(graph, reasons, config)
    whole = len(groups) == 1 and len(groups[0]) == len(graph.nodes)
    clusters: dict[int, str] = {}
    made = 0
    for group in groups:
        reason = None
        if len(group) < config.min_cluster_size and not whole:
            detail = f"{len(group)} operation(s), fewer than `--min_cluster_size={config.min_cluster_size}`"
            reason = Reason("too-small", detail)
        elif 0 <= config.clustering_fuel <= made:
            reason = Reason("excluded", f"out of fuel: `--clustering_fuel={config.clustering_fuel}`")
        for index in group:
            if reason is None:
                clusters[index] = f"cluster_{made}"
            else:
                reasons[index] = replace(reason, source=graph.nodes[index].source)
        made += reason is None
    nodes = tuple(
        replace(node, cluster=clusters.get(index), reason=reasons[index]) for index, node in enumerate(graph.nodes)
    )
    return replace(graph, nodes=nodes)


def _groups(graph: Graph, reasons: list[Reason | None], config: Config) -> list[list[int]]:
    """The node numbers of each cluster, in program order, clusters by their first node."""
    by_level: dict[int, list[int]] = {}
    for index, level in enumerate(_levels(graph, reasons)):
        if reasons[index] is None:
            by_level.setdefault(level, []).append(index)
    groups = [part for level in by_level.values() for part in _split(graph, level, config.max_cluster_size)]
    return sorted(groups, key=lambda group: group[0])


def _levels(graph: Graph, reasons: list[Reason | None]) -> list[int]:
    """Per node, the number of host nodes that a path to it must pass."""
    makers = {value.name: index for index, node in enumerate(graph.nodes) for value in node.outputs}
    levels: list[int] = []
    for index, node in enumerate(graph.nodes):
        level = 0
        for value in values_of(node.inputs):
            maker = makers.get(value.name)
            if maker is not None:
                # A step up is counted where a path enters a compiled node from the host.
                level = max(level, levels[maker] + (reasons[maker] is not None and reasons[index] is None))
        levels.append(level)
    return levels


def _split(graph: Graph, level: list[int], limit: int) -> list[list[int]]:
    """Cut a level into groups of at most `limit` operations, in program order."""
    groups: list[list[int]] = []
    room = 0
    for index in level:
        size = _size(graph.nodes[index])
        if size > room or not groups:
            groups.append([])
            room = limit
        groups[-1].append(index)
        room -= size
    return groups


def _size(node: Node) -> int:
    return 1 + sum(_size(inner) for graph in subgraphs(node) for inner in graph.nodes)
