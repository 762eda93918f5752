"""Ints from outside: constants of a plan, until they are seen to change from call to call.

A plan for one place of a source, one row, one step is the better one where there is only that one; where each call
brings another, all that is gained goes into compiling. From the second value on a plan takes any, if it can: then
nothing in it is a constant that was made of the int, such as a shape or the bound of a slice.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from autojit.capture.capture import Capture, capture
from autojit.capture.generalize import capture_more_rows, capture_rows
from autojit.capture.lengths import RowCount
from autojit.capture.options import Options
from autojit.capture.regions import Region, RegionTree, region_key

#: So many calls that no plan for any int can take, and the ints of a region are constants.
_MOST_FAILURES = 3


@dataclass(slots=True)
class Ints:
    """What is known of the ints of a region.

    Attributes:
        last: Those on which the last plan depended, by path.
        varying: The paths of those that were seen to change.
        failures: For how many calls there was no plan that takes any.
    """

    last: dict[str, int] = field(default_factory=dict)
    varying: frozenset[str] = frozenset()
    failures: int = 0


def capture_varying(
    tree: RegionTree, region: Region, values: dict[str, Any], options: Options, rows: int = 0
) -> Capture:
    """As `capture`, in the light of the calls before: what has changed is no constant of the plan, where that goes.

    Args:
        tree: The function's regions.
        region: One of them.
        values: The live-ins.
        options: What is known of the region's calls.
        rows: How many rows the call has, if other calls have shown that this changes.
    """
    ints = options.ints.setdefault(region_key(region), Ints())

    def for_rows(many: RowCount) -> Capture:
        return capture(tree, region, values, options, varying, many)

    varying = ints.varying if ints.failures < _MOST_FAILURES else frozenset()
    more = capture_more_rows(region, options, for_rows, values)
    if more is not None and not _changed(ints, more):
        return more
    captured, varying = _with_ints(tree, region, values, options, ints)
    return capture_rows(captured, options, for_rows, rows)


def _with_ints(
    tree: RegionTree, region: Region, values: dict[str, Any], options: Options, ints: Ints
) -> tuple[Capture, frozenset[str]]:
    """A capture, and the ints on which it does not depend because they were seen to change."""
    none: frozenset[str] = frozenset()
    if ints.failures >= _MOST_FAILURES:
        return capture(tree, region, values, options), none
    captured = capture(tree, region, values, options, ints.varying)
    if captured.cuts and ints.varying:
        ints.failures += 1
        return capture(tree, region, values, options), none
    changed = _changed(ints, captured)
    ints.last = captured.constants
    if changed and not captured.cuts:
        varying = ints.varying.union(changed)
        general = capture(tree, region, values, options, varying)
        if not general.cuts:
            ints.varying = varying
            return general, varying
        ints.failures += 1
    return captured, ints.varying


def _changed(ints: Ints, captured: Capture) -> list[str]:
    """The paths of the ints that a capture depends on, and that were others at the last one."""
    return [path for path, value in captured.constants.items() if _differs(ints.last.get(path, value), value)]


def _differs(one: int, other: int) -> bool:
    return type(one) is not type(other) or one != other
