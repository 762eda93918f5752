"""Why NumPy answers calls as things stand, though their code could be compiled."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from autojit.capture.capture import Capture
from autojit.errors import Reason, SourceLine
from autojit.runtime.environment import is_default, is_followed
from autojit.runtime.forks import is_cut_off
from autojit.runtime.function import Controller
from autojit.runtime.heat import TINY
from autojit.runtime.history import span
from autojit.runtime.plan_writer import apart, raises

#: The arrays of a check that one shares no memory with the others.
_ARRAYS = re.compile(r"\b[a-z]\d+\b")


def standing_of(controller: Controller) -> list[Reason]:
    """What leaves calls to NumPy now, or has done so in earlier calls, in the order of the function's lines."""
    if not controller.enabled:
        return [Reason("off", _switched_off(controller))]
    return [*_environment(controller), *_small(controller), *_without_room(controller), *_traps(controller)]


def _switched_off(controller: Controller) -> str:
    config = controller.config
    if config.policy == "native":
        return "`policy='native'`"
    if config.auto_jit == 0:
        return "`--auto_jit=0`"
    if is_cut_off():
        return "this process was forked from one in which compiled code ran, whose threads it has not"
    return "`set_jit('off')`, or autojit has failed and said so in a warning"


def _environment(controller: Controller) -> Iterator[Reason]:
    count, what = controller.counters.environments, "NumPy's error state or a warning filter is not the default"
    if not is_default():
        yield Reason("errstate", f"{what} where `explain` was called; so it is in calls from here")
    elif count:
        yield Reason("errstate", f"{what} in {count} call(s) so far")
    count, what = controller.counters.followed, "a debugger, a coverage tool or another tracer followed the lines"
    if controller.warm_up is not None and is_followed():
        yield Reason("followed", f"{what} where `explain` was called; so it is in calls from here")
    elif count:
        yield Reason("followed", f"{what} in {count} call(s) so far")


def _small(controller: Controller) -> Iterator[Reason]:
    """The body is asked no more: calls are so short that nothing is gained."""
    probe = controller.probes.get(controller.tree.root.number) if controller.tree is not None else None
    if probe is not None and probe.sleeps and probe.forgets and not probe.plans:
        line = controller.line(probe)
        yield Reason("too-small", f"calls take less than {TINY * 1e6:.0f} us in NumPy, so that none is compiled", line)


def _without_room(controller: Controller) -> Iterator[Reason]:
    for probe in controller.probes.values():
        if probe.crowd.refused:
            most = controller.config.max_plans
            detail = (
                f"{most} plans are the most that {span(probe.region.lines)} may have: {probe.crowd.refused} call(s) of "
                "other shapes or constants ran in NumPy"
            )
            yield Reason("too-many-plans", detail, controller.line(probe))


def _traps(controller: Controller) -> Iterator[Reason]:
    for probe in controller.probes.values():
        traps = sum(plan.traps for plan in probe.plans if not plan.is_native)
        if traps:
            detail = f"{span(probe.region.lines)} met data in {traps} call(s) that NumPy was left to deal with"
            yield Reason("trapped", detail, controller.line(probe))


def overlaps(captured: Capture, values: dict[str, Any], line: SourceLine | None) -> Reason | None:
    """Why a call with these values is NumPy's: an array that it writes shares memory with another one.

    Args:
        captured: What was captured for them.
        values: The live-ins by name.
        line: The region's first line.
    """
    names: dict[str, Any] = {**captured.prologue.constants, "ndarray": np.ndarray, "apart": apart, "raises": raises}
    given = {f"L_{name}": value for name, value in values.items()}
    names.update({name: given.get(name) for name in captured.prologue.parameters})
    try:
        for each in captured.prologue.lines:
            found = eval(each.text, names) if each.name or each.soft else True
            if each.name:
                names[each.name] = found
            elif not found:
                parts = [captured.prologue.in_words(name) for name in dict.fromkeys(_ARRAYS.findall(each.text))]
                if "apart(" not in each.text:
                    detail = f"a plan is made for other arguments: {each.why} ({' and '.join(parts)})"
                    return Reason("overlap", detail, line)
                written, *others = parts
                what = f"{written}, which is written, shares memory with {' or '.join(others) or 'another array'}"
                return Reason("overlap", what.replace("a scalar", "an array"), line)
    except Exception:  # stand-ins for arrays have no memory
        return None
    return None


__all__ = ["overlaps", "standing_of"]
