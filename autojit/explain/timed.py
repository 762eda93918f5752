"""How long a statement takes that stays Python: the policy `measured` has timed the body, and the regions around it."""

from __future__ import annotations

from collections.abc import Sequence

from autojit.capture.regions import region_key
from autojit.errors import Reason
from autojit.explain.function_graph import Section
from autojit.runtime.compiler import Prepared
from autojit.runtime.function import Controller


def native_seconds(controller: Controller, sections: Sequence[Section]) -> dict[Reason, float]:
    """What the only native statement of a body takes in a call: the body's time in NumPy less that of the regions.

    Nothing where there are several such statements, or regions in loops or branches, or not all was timed.
    """
    natives = [section for section in sections if isinstance(section, Reason)]
    regions = [section.capture.region for section in sections if isinstance(section, Prepared)]
    if len(natives) != 1 or controller.tree is None or natives[0].id == "unknown-value":
        return {}
    times = {region_key(probe.region): probe.heats.best for probe in list(controller.probes.values())}
    own = {(statement.lineno, statement.col_offset) for statement in controller.tree.root.statements}
    if not all((s.lineno, s.col_offset) in own for region in regions for s in region.statements):
        return {}
    whole = times.get(region_key(controller.tree.root), 0.0)
    parts = [times.get(region_key(region), 0.0) for region in regions]
    seconds = whole - sum(parts)
    return {natives[0]: seconds} if all([whole, *parts]) and seconds > 0 else {}
