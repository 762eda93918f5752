"""The table of all public names: what was observed, in a file that the documentation is made from."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tests.surface.names import NAMESPACES, public_names
from tests.surface.observe import STATUSES, Observed, observe, text_of
from tests.surface.samples import REASONS, SAMPLES

FILE = Path(__file__).resolve().parent.parent.parent / "docs" / "reference" / "ops-surface.json"


@dataclass(frozen=True)
class Entry:
    """One public name.

    Attributes:
        name: As a user writes it.
        status: That of the first sample; "not applicable" without one.
        reason: Why it is native, or not applicable.
        samples: What became of each sample.
    """

    name: str
    status: str
    reason: str
    samples: dict[str, Observed]


def entry(name: str) -> Entry:
    """Observe all samples of a name."""
    if name in REASONS:
        return Entry(name, "not applicable", REASONS[name], {})
    seen = {text_of(name, sample): observe(name, sample) for sample in SAMPLES[name]}
    first = next(iter(seen.values()))
    return Entry(name, first.status, first.reason, seen)


def written(found: Iterable[Entry], kept: dict[str, Any]) -> str:
    """The file's text, a line for each sample: what was found, and of `kept` what was not asked."""
    names = dict(kept)
    space = {name: space for name, (space, _) in public_names().items()}
    for one in found:
        told: dict[str, Any] = {"namespace": space[one.name], "status": one.status}
        names[one.name] = told
        if one.reason:
            told["reason"] = one.reason
        if one.samples:
            told["samples"] = {
                text: f"{seen.status}: {seen.reason}" if seen.reason else seen.status
                for text, seen in one.samples.items()
            }
    order = sorted(names, key=lambda name: (NAMESPACES.index(space[name]), name))
    content = {"numpy": np.__version__, "names": {name: names[name] for name in order}}
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def recorded() -> dict[str, dict[str, Any]]:
    """The names in the file."""
    return json.loads(FILE.read_text())["names"]


def counts(found: Iterable[Entry]) -> list[str]:
    """Lines of a table: how many names of each namespace have which status."""
    by_space: dict[str, Counter[str]] = {space: Counter() for space in NAMESPACES}
    space = {name: space for name, (space, _) in public_names().items()}
    for one in found:
        by_space[space[one.name]][one.status] += 1
    lines = [f"{'':22}" + "".join(f"{status:>16}" for status in STATUSES)]
    total: Counter[str] = sum(by_space.values(), Counter())
    for name, counter in [*by_space.items(), ("all", total)]:
        lines.append(f"{name:22}" + "".join(f"{counter[status]:16}" for status in STATUSES))
    return lines
