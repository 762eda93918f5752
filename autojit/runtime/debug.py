"""What `--clustering_debug` prints of a region that has been compiled."""

from __future__ import annotations

from autojit.ir.text import to_text
from autojit.partition.steps import ClusterStep, HostStep
from autojit.runtime.compiler import Prepared
from autojit.runtime.plan import Plan


def describe(function: str, prepared: Prepared, plan: Plan) -> str:
    """The clusters and host nodes in the order in which they run, the graph, and the plan.

    Args:
        function: The name of the function.
        prepared: One of its regions after the partition.
        plan: The plan made from it.
    """
    first, last = prepared.capture.region.lines
    lines = [f"{function}, lines {first}-{last}"]
    for step in prepared.steps:
        if isinstance(step, ClusterStep):
            names = ", ".join(node.op.name for node in step.graph.nodes)
            lines.append(f"{step.name}: {names}")
        elif isinstance(step, HostStep):
            reason = step.node.reason
            lines.append(f"host: {step.node.op.name}" + (f" [{reason.id}] {reason.detail}" if reason else ""))
    return "\n".join([*lines, "", to_text(prepared.graph), "", plan.source])
