"""What `python -m autojit bisect` reads: the clusters that a process makes under `--clustering_fuel`, as JSON."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterable
from typing import Any

from autojit.capture.regions import Region
from autojit.ir.text import to_text
from autojit.partition.steps import ClusterStep
from autojit.runtime.function import Controller

#: The environment variable that names the file; without it nothing is written.
LEDGER = "AUTOJIT_FUEL_LEDGER"


def tell(controller: Controller, region: Region, numbered: Iterable[tuple[int, ClusterStep]]) -> None:
    """Add a line for each of a region's clusters, with its number.

    Args:
        controller: The function's.
        region: The region, one of the function's.
        numbered: The clusters.
    """
    file = os.environ.get(LEDGER)
    if not file:
        return
    lines = [json.dumps(_entry(number, controller, region, step)) for number, step in numbered]
    with contextlib.suppress(OSError), open(file, "a", encoding="utf-8") as ledger:
        ledger.write("".join(f"{line}\n" for line in lines))


def _entry(number: int, controller: Controller, region: Region, step: ClusterStep) -> dict[str, Any]:
    places = {node.source.outermost for node in step.graph.nodes if node.source is not None}
    return {
        "process": os.getpid(),
        "number": number,
        "policy": controller.config.policy,
        "function": controller.original.__qualname__,
        "region": region.lines,
        "cluster": step.name,
        "lines": sorted((place.file, place.line, place.text) for place in places),
        "operations": list(dict.fromkeys(node.op.name for node in step.graph.nodes)),
        "graph": to_text(step.graph),
    }
