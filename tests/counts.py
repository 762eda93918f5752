"""Everything that is compared with NumPy once, counted: `python -m tests.counts FOLDER [--seed 1] [--only table]`.

100,000 random programs over the op table, 100,000 indexing expressions, every row x dtype x layout, and NumPy's own
tests. The work is cut into parts, each a command of its own whose output stands in FOLDER. What has ended for the same
product, the committed `autojit/`, is not run again, be it told in FOLDER or in `bench/results/counts.jsonl`: the command
may be stopped and called as often as it takes.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROGRAMS, EXPRESSIONS = 100_000, 100_000
#: What has ended where it was kept for all: lines of FOLDER/ended.jsonl.
KEPT = ROOT / "bench" / "results" / "counts.jsonl"


@dataclass(frozen=True)
class Part:
    """A command.

    Attributes:
        kind: What it counts.
        name: Of its log.
        arguments: Of `python -m`.
        done: The pattern of the line that it ends with: how many were compared, how many differ.
    """

    kind: str
    name: str
    arguments: tuple[str, ...]
    done: str


@dataclass
class Ended:
    """A part that has ended."""

    product: str
    kind: str
    name: str
    count: int
    differing: int
    seconds: float


def parts(seed: int) -> Iterator[Part]:
    """All parts, the longest first, so that the processes end together."""
    for shard in range(1, 9):
        yield Part(
            "combinations of row, dtype and layout", f"matrix-{shard}", ("tests.matrix", "--shard", f"{shard}/8"),
            r"^(\d+) combinations .* (\d+) differing, \d+ s$",
        )  # fmt: skip
    for shard in range(1, 7):
        yield Part(
            "tests of NumPy's", f"conformance-{shard}", ("tests.conformance", "-v", "--shard", f"{shard}/6"),
            r"'tests': (\d+), 'differ': (\d+), .*'files without an outcome': 0",
        )  # fmt: skip
    for start in range(seed, seed + PROGRAMS, 5000):
        yield Part(
            "random programs over the table", f"table-{start}",
            ("tests.fuzz", "--table", "--seed", str(start), "--count", "5000"), r"^(\d+) programs .* (\d+) failed",
        )  # fmt: skip
    for start in range(seed, seed + EXPRESSIONS, 20_000):
        yield Part(
            "indexing expressions", f"indexing-{start}",
            ("tests.fuzz", "--indexing", "--seed", str(start), "--count", "20000"), r"^(\d+) expressions .* (\d+) failed",
        )  # fmt: skip


def product() -> str:
    """The identity of the committed package.

    Raises:
        SystemExit: What is there is not what is committed.
    """
    if subprocess.run(["git", "status", "--porcelain", "autojit"], cwd=ROOT, capture_output=True).stdout:
        raise SystemExit("tests.counts: `autojit/` is not as it is committed; commit first, or count in a clone")
    found = subprocess.run(["git", "rev-parse", "HEAD:autojit"], cwd=ROOT, capture_output=True, text=True, check=True)
    return found.stdout.strip()


def run(part: Part, folder: Path, identity: str) -> Ended | None:
    """Run one part; `None` when it did not come to its end."""
    log, start = folder / f"{part.name}.log", time.monotonic()
    with log.open("w") as out:
        command = [sys.executable, "-m", *part.arguments]
        subprocess.run(command, cwd=ROOT, stdout=out, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
    found = re.findall(part.done, log.read_text(), re.MULTILINE)
    if not found:
        return None
    count, differing = map(int, found[-1])
    return Ended(identity, part.kind, part.name, count, differing, round(time.monotonic() - start))


def known(identity: str, *files: Path) -> dict[str, Ended]:
    """The parts that have ended for this product."""
    lines = [line for file in files if file.exists() for line in file.read_text().splitlines()]
    found = [Ended(**json.loads(line)) for line in lines]
    return {one.name: one for one in found if one.product == identity}


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="python -m tests.counts", description=__doc__)
    parser.add_argument("folder", type=Path, help="where the logs and `ended.jsonl` stand")
    parser.add_argument("--seed", type=int, default=1, help="of the first random program and expression")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--only", default="", help="run parts whose names begin so, in this order: conformance,table")
    parser.add_argument("--show", action="store_true", help="only tell what has ended")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    identity, ledger, lock = product(), options.folder / "ended.jsonl", threading.Lock()
    ended = known(identity, KEPT, ledger)
    wanted = [part for start in options.only.split(",") for part in parts(options.seed) if part.name.startswith(start)]
    left = [] if options.show else [part for part in wanted if part.name not in ended]

    def work() -> None:
        while True:
            with lock:
                if not left:
                    return
                part = left.pop(0)
            found = run(part, options.folder, identity)
            print(f"{part.name}: {found or 'did not come to its end, see its log'}", flush=True)
            if found is not None:
                with lock, ledger.open("a") as out:
                    ended[part.name] = found
                    out.write(json.dumps(asdict(found)) + "\n")

    threads = [threading.Thread(target=work) for _ in range(options.processes)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return _told(options.seed, ended, identity)


def _told(seed: int, ended: dict[str, Ended], identity: str) -> int:
    wanted = {part.name: part.kind for part in parts(seed)}
    here = [ended[name] for name in wanted if name in ended]
    counts, differing, kinds = Counter(), Counter(), Counter(wanted.values())
    for one in here:
        counts[one.kind] += one.count
        differing[one.kind] += one.differing
        kinds[one.kind] -= 1
    print(f"product {identity}")
    for kind, missing in kinds.items():
        rest = f", {missing} part(s) to run" if missing else ""
        print(f"{counts[kind]} {kind}, {differing[kind]} differing{rest}")
    return 1 if differing.total() or any(kinds.values()) else 0


if __name__ == "__main__":
    os.environ.setdefault("AUTOJIT_FLAGS", "--disk_cache=0")
    sys.exit(main())
