"""Steps: the order in which the clusters and host nodes of a partitioned graph run."""

from __future__ import annotations

import heapq
from dataclasses import dataclass

from autojit.ir.graph import Graph, Node, Value, values_of


@dataclass(frozen=True, slots=True, eq=False)
class ClusterStep:
    """One compiled program.

    Attributes:
        name: The cluster's name.
        graph: Its nodes. The inputs are the values that come from outside, in the order of their first use; the
            outputs are the values that later steps or the caller need.
    """

    name: str
    graph: Graph


@dataclass(frozen=True, slots=True, eq=False)
class HostStep:
    """One node that runs in NumPy."""

    node: Node


Step = ClusterStep | HostStep


def steps(graph: Graph) -> tuple[Step, ...]:
    """The steps of a partitioned graph, each after those whose values it reads; every node is in one step.

    Raises:
        ValueError: The clusters depend on each other in a circle.
    """
    groups = _groups(graph)
    maker = {value.name: number for number, group in enumerate(groups) for node in group for value in node.outputs}
    after: list[set[int]] = [set() for _ in groups]
    waits = [0] * len(groups)
    needed = {value.name for value in values_of(graph.results)}
    for number, group in enumerate(groups):
        before = set()
        for node in group:
            for value in values_of(node.inputs):
                source = maker.get(value.name)
                if source is not None and source != number:
                    before.add(source)
                    needed.add(value.name)
        for source in before:
            after[source].add(number)
        waits[number] = len(before)

    ready = [number for number, count in enumerate(waits) if count == 0]
    result: list[Step] = []
    while ready:
        number = heapq.heappop(ready)
        result.append(_step(groups[number], needed))
        for later in after[number]:
            waits[later] -= 1
            if waits[later] == 0:
                heapq.heappush(ready, later)
    if len(result) != len(groups):
        raise ValueError(f"the clusters of `{graph.name}` depend on each other in a circle")
    return tuple(result)


def _groups(graph: Graph) -> list[list[Node]]:
    """The nodes of each step, in program order, steps by their first node."""
    groups: list[list[Node]] = []
    clusters: dict[str, list[Node]] = {}
    for node in graph.nodes:
        group = clusters.get(node.cluster) if node.cluster is not None else None
        if group is None:
            group = []
            groups.append(group)
            if node.cluster is not None:
                clusters[node.cluster] = group
        group.append(node)
    return groups


def _step(group: list[Node], needed: set[str]) -> Step:
    name = group[0].cluster
    if name is None:
        return HostStep(group[0])
    made: set[str] = set()
    inputs: dict[str, Value] = {}
    for node in group:
        for value in values_of(node.inputs):
            if value.name not in made:
                inputs.setdefault(value.name, value)
        made.update(value.name for value in node.outputs)
    outputs = tuple(value for node in group for value in node.outputs if value.name in needed)
    return ClusterStep(name, Graph(name, tuple(inputs.values()), tuple(group), outputs))
