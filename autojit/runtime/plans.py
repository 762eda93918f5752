"""The plans of a probe, most recent first: a tuple that is replaced as a whole, so that calls may read it meanwhile."""

from __future__ import annotations

import threading
from typing import Any

from autojit.capture.early import early_regions
from autojit.compile.garbage import uncollected
from autojit.runtime.forks import when_cut_off
from autojit.runtime.plan import Plan


class _Lock:
    def __init__(self) -> None:
        self.renew()

    def renew(self) -> None:
        self.lock = threading.RLock()


#: Held by whoever changes the plans of a probe. Those that are dropped may have finalizers: they live till it is free.
CHANGES = _Lock()
when_cut_off(CHANGES.renew)


def add(probe: Any, plan: Plan) -> None:
    """Ask a plan before those that a region has."""
    with uncollected(), CHANGES.lock:
        probe.plans = (plan, *probe.plans)


def remove(probe: Any, plan: Plan) -> None:
    """Ask a plan no more."""
    with uncollected(), CHANGES.lock:
        before = probe.plans
        probe.plans = tuple(each for each in before if each is not plan)


def replace(probe: Any, old: Plan, new: Plan) -> None:
    """Put a plan in another's place."""
    with uncollected(), CHANGES.lock:
        before = probe.plans
        probe.plans = tuple(new if plan is old else plan for plan in before)


def are_too_many(plans: tuple[Plan, ...], most: int) -> bool:
    """Whether there are `most` plans of a kind, compiled or NumPy's."""
    return len(_with_room(plans, most)) < len(plans)


def make_room(probe: Any, most: int) -> None:
    """Drop the oldest plan of a kind of which there are `most`; one that was not used of late, if there is one."""
    with uncollected(), CHANGES.lock:
        before = probe.plans
        probe.plans = _with_room(tuple(sorted(before, key=lambda plan: not plan.is_used)), most)


def watch(probe: Any, most: int) -> None:
    """Where there is no room for another plan, note from now on which of them are used."""
    with uncollected(), CHANGES.lock:
        if are_too_many(probe.plans, most):
            for plan in probe.plans:
                if plan.is_used:
                    _watch(plan)


def _watch(plan: Plan) -> None:
    call = plan.call

    def once(*values: Any) -> Any:
        result = call(*values)
        if result is not None:
            plan.is_used, plan.call = True, call  # which is called directly again
        return result

    plan.is_used, plan.call = False, once


def _with_room(plans: tuple[Plan, ...], most: int) -> tuple[Plan, ...]:
    seen, kept = {True: 0, False: 0}, []
    for plan in plans:
        kind = is_numpys(plan)
        seen[kind] += 1
        if seen[kind] < most:
            kept.append(plan)
    return tuple(kept)


def ask_early(probe: Any) -> None:
    """Ask the probes of a region's early parts; not while the region as a whole is compiled or tried, or if its plans
    have won for all kinds of calls.
    """
    is_tried = any(plan.is_native and not is_numpys(plan) for plan in probe.plans)
    is_quiet = is_tried or (any(map(is_kept, probe.plans)) and not any(map(is_numpys, probe.plans)))
    for inner in early_regions(probe.region):
        part = probe.owner.probes.get(inner.number)
        if part is not None:
            part.be_quiet(is_quiet)


def is_to_come(plan: Plan) -> bool:
    """Whether a plan's calls are NumPy's, be it that there is something to try later."""
    return plan.is_native and getattr(plan.reason, "waits", True)


def is_numpys(plan: Plan) -> bool:
    """Whether a plan leaves its calls to NumPy, and is not only tried."""
    return plan.is_native and not getattr(plan.reason, "is_trial", False)


def is_compiling(plan: Plan) -> bool:
    """Whether a plan is tried as soon as it is compiled, which it is now or soon."""
    return getattr(plan.reason, "is_trial", False) and plan.reason.waits and plan.reason.next is None


def is_kept(plan: Plan) -> bool:
    """Whether a plan is compiled, and was tried where that is the policy."""
    return not plan.is_native
