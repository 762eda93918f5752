"""An explanation of the calls that a program has made, without their arguments: stand-ins of those were kept."""

from __future__ import annotations

from autojit.capture.early import split_early
from autojit.capture.regions import Region, RegionTree, region_key
from autojit.explain.report import Explanation, add_capture, explore_region, with_past
from autojit.runtime.function import Controller


def explain_seen(controller: Controller, explores: bool = True) -> Explanation:
    """Explain the calls that were captured last. Nothing of the user's code runs.

    Where the body was never captured as a whole, its parts are explained that were: those of a call which is still
    the first one, or of a loop that was taken over.

    Args:
        controller: The function's.
        explores: Whether to look again at what was captured, which takes as long as capturing; else only what the
            calls have left is told, and `is_explored` is false, as it is where nothing was captured.
    """
    if controller.tree is None:
        assert controller.no_source is not None
        return Explanation.native(controller.original.__qualname__, controller.no_source)
    explanation = with_past(controller)
    explanation.is_explored = False
    if explores:
        tree = controller.tree.again()
        if controller.warm_up is not None:
            split_early(tree)
        _explore_seen(controller, tree, tree.root, explanation)
    return explanation


def _explore_seen(controller: Controller, tree: RegionTree, region: Region, out: Explanation) -> None:
    """Explore the largest regions in this one that calls have captured."""
    if region_key(region) in controller.options.seen:
        explore_region(controller, tree, region, {}, out)
        out.is_explored = True
        return
    for part in region.early or ():
        if isinstance(part, Region):
            _explore_seen(controller, tree, part, out)
        elif part.rest is None or not _adds_plan(controller, part.rest, out):
            for block in part.blocks.values():
                _explore_seen(controller, tree, block, out)


def _adds_plan(controller: Controller, rest: Region, out: Explanation) -> bool:
    """Whether a loop was taken over; then that is added. Its capture is all that is known: nobody has seen live-ins."""
    probe = controller.probes.get(rest.number)  # the trees of one function number their early regions alike
    plan = next((plan for plan in probe.plans if not plan.is_native), None) if probe is not None else None
    if plan is None:
        return False
    add_capture(controller, plan.capture, out)
    out.is_explored = True
    return True
