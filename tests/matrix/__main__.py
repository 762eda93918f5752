"""Every row of the op table x dtype x layout against NumPy: `python -m tests.matrix [-k ROW] [--numpy] [--shard 1/4]`.

Prints for each row how many combinations ran, how many of them compiled, and those that differ.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import os
import sys
import time
from collections import Counter

os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("AUTOJIT_FLAGS", "--disk_cache=0")

from autojit.ops.chapters import CHAPTERS
from tests.evaluated import evaluated
from tests.lean import be_lean
from tests.matrix.combinations import combinations
from tests.matrix.judge import Verdict, forget, judge, source_of

_STATES = ("compiled", "host", "trapped", "native", "raises")


def main(arguments: list[str] | None = None) -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="tests.matrix", description=__doc__.splitlines()[0])
    parser.add_argument("-k", metavar="ROW", help="only rows whose name has this in it")
    parser.add_argument("--chapter", help="only the rows of this chapter")
    parser.add_argument("--numpy", action="store_true", help="clusters run in NumPy: tries the capture alone")
    parser.add_argument("--shard", default="1/1", help="which part of the combinations, as `1/8`")
    parser.add_argument("--show", type=int, default=3, help="how many differing combinations of a row to print")
    options = parser.parse_args(arguments)
    shard, shards = map(int, options.shard.split("/"))
    total: Counter[str] = Counter()
    start = time.monotonic()
    gc.freeze()  # what is imported stays
    with evaluated() if options.numpy else contextlib.nullcontext():
        for chapter in CHAPTERS:
            if options.chapter and not chapter.__name__.endswith(f".{options.chapter}"):
                continue
            for row in chapter.ROWS:
                if options.k is None or options.k in row.name:
                    found = judge(combinations(row, shard, shards))
                    total += _show(row.name, found, options.show)
                    forget()
    seconds = time.monotonic() - start
    print(f"{_counts(total)}, {seconds:.0f} s")
    return 1 if total["differing"] else 0


def _show(name: str, verdicts: list[Verdict], most: int) -> Counter[str]:
    counts = Counter(verdict.status for verdict in verdicts)
    wrong = [verdict for verdict in verdicts if verdict.problem]
    counts["differing"] = len(wrong)
    print(f"{name}: {_counts(counts)}", flush=True)
    kinds: set[tuple[str, str]] = set()
    for verdict in wrong:
        kind = (verdict.combination.form.text, verdict.problem[:30])
        if kind not in kinds and len(kinds) < most:
            kinds.add(kind)
            print(shown(verdict), flush=True)
    return counts


def _counts(counts: Counter[str]) -> str:
    ran = sum(counts[state] for state in (*_STATES, "raised"))
    parts = [f"{counts[state]} {state}" for state in _STATES if counts[state]]
    return f"{ran} combinations ({', '.join(parts)}), {counts['differing']} differing"


def shown(verdict: Verdict) -> str:
    """A combination that differs, as a program to try."""
    one = verdict.combination
    lines = [f"  ==== {one.label} ({verdict.status}): {verdict.problem}"]
    lines += [f"  {line}" for line in source_of([one]).splitlines()[3:-1]]
    lines += [f"    {name} = {' '.join(repr(value).split())[:300]}" for name, value in one.values.items()]
    return "\n".join(lines)


if __name__ == "__main__":
    be_lean()
    sys.exit(main())
