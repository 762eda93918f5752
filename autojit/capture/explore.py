"""Explore a function without running it: split its regions until each is captured or native."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

import numpy as np

from autojit.capture.capture import Capture, Cut, capture
from autojit.capture.names import names
from autojit.capture.options import Options
from autojit.capture.regions import Region, RegionTree, region_key
from autojit.capture.values import ArraySpec, Unknown, unknown_after
from autojit.errors import SourceLine

#: So many statements in a row are taken out of a region because a value is not known.
_UNKNOWN = 8


def explore(
    tree: RegionTree, region: Region, values: dict[str, Any], options: Options, unknown: int = 0
) -> Iterator[Capture | Cut]:
    """What becomes of a region for these live-ins, in program order: captured regions and native statements.

    Splits the tree where a region cannot be captured as a whole. What a native statement binds is unknown, so that
    regions which need it may be found to be native here and still be captured when they are met in a run. After some
    statements that do the rest of a region is left for that: to try it again after each of hundreds takes seconds.

    Args:
        tree: The function's regions.
        region: One of them.
        values: The live-ins.
        options: Budgets.
        unknown: How many statements right before it were taken out because a value is not known.
    """
    if not region.worthwhile:
        return
    seen = options.seen.get(region_key(region), {})
    if options.tells and not agree(values, seen):
        seen = {}  # of calls that were not like this one
    missing = tuple(name for name in region.live_in if _is_unknown(values.get(name)))
    told = {name: value for name, value in seen.items() if not isinstance(value, Unknown)}
    values = {name: told.get(name, value) if _is_unknown(value) else value for name, value in values.items()}
    values = {**seen, **values}
    captured = capture(tree, region, values, options)
    if options.recall is not None and any(_is_unknown(values[name]) for name in missing):
        captured = options.recall(region, captured, values) or captured
    if not captured.cuts:
        captured.recalled = missing
        yield captured
        return
    unknown = unknown + 1 if all(cut.reason.id == "unknown-value" for cut in captured.cuts) else 0
    if unknown > _UNKNOWN:
        reason = captured.cuts[0].reason
        for statement in region.statements:
            yield Cut(statement, reason._replace(source=tree.source.line(statement)))
        return
    yield from explore_parts(tree, captured, values, options, unknown)


def explore_parts(
    tree: RegionTree, captured: Capture, values: dict[str, Any], options: Options, unknown: int = 0
) -> Iterator[Capture | Cut]:
    """Split a region that has cuts, and explore what is left; for the arguments see `explore`."""
    region = captured.region
    cuts = {id(cut.statement): cut for cut in captured.cuts}
    tree.split(region, [cut.statement for cut in captured.cuts])
    for part in region.parts or ():
        first = part.statements[0] if isinstance(part, Region) else part.statement
        origin = getattr(first, "autojit_origin", first)
        if isinstance(part, Region):
            before = captured.snapshots.get(id(first)) or captured.snapshots.get(id(origin), values)
            yield from explore(tree, part, before, options, unknown)
            continue
        cut = cuts.get(id(first)) or cuts[id(origin)]
        yield cut
        for block in part.blocks.values():
            snapshot = _before(captured, cut.reason.source, part.statement, block)
            if snapshot is not None:
                yield from explore(tree, block, snapshot, options)


def _before(captured: Capture, line: SourceLine | None, statement: ast.stmt, block: Region) -> dict[str, Any] | None:
    """What the names mean where a block of a native statement begins, as far as it is known."""
    known = captured.snapshots.get(id(block.statements[0]))
    if known is not None or not isinstance(statement, ast.If | ast.For | ast.While):
        return known
    before = captured.snapshots.get(id(getattr(statement, "autojit_origin", statement)))
    if before is None or isinstance(statement, ast.If):
        return before
    changed = names([statement]).binds
    return {name: unknown_after(name, line) if name in changed else value for name, value in before.items()}


def _is_unknown(value: Any) -> bool:
    kind = type(value)  # to ask an object for its class may run code of its own
    if issubclass(kind, list | tuple):
        return any(_is_unknown(item) for item in value)
    return kind is Unknown and value.id == "unknown-value"


def agree(values: dict[str, Any], seen: dict[str, Any]) -> bool:
    """Whether the arrays that are known are of the shapes and dtypes that were seen."""
    arrays = np.ndarray | ArraySpec
    return all(
        (old.shape, old.dtype) == (value.shape, value.dtype)
        for name, old in seen.items()
        if isinstance(old, arrays) and isinstance(value := values.get(name), arrays)
    )
