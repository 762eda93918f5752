"""The command line of the NPBench runner."""

from __future__ import annotations

import argparse
import importlib.util
import sys
from pathlib import Path
from typing import Any

from bench.machine import describe
from bench.npbench.checkout import find
from bench.npbench.process import autojit_row, peer_entry
from bench.npbench.report import cells, header, save, summarize, summary_lines

RESULTS = Path(__file__).resolve().parent.parent / "results"


def parse(words: list[str] | None = None) -> argparse.Namespace:
    """The options, checked."""
    parser = argparse.ArgumentParser(prog="python -m bench.npbench", description=__doc__)
    parser.add_argument("--path", type=Path, required=True, help="an NPBench checkout")
    parser.add_argument("--preset", default="S", help="S, M, L or paper")
    parser.add_argument("--peers", type=names, default=["numpy"], help="numpy, jax, numba, with commas between them")
    parser.add_argument("--kernels", type=names, default=None, help="names with commas between them; all by default")
    parser.add_argument("--policy", default="eager", help="the policy of `autocluster`")
    parser.add_argument("--cache_dir", default="", help="keep compiled programs there; none are kept by default")
    parser.add_argument("--settle", type=float, default=0.0, help="seconds of calls before the timed ones, at most")
    parser.add_argument("--repeat", type=int, default=6, help="rounds of timed calls per kernel")
    parser.add_argument("--budget", type=float, default=15.0, help="seconds of timed calls per kernel")
    parser.add_argument("--timeout", type=float, default=300.0, help="seconds per kernel and competitor")
    parser.add_argument("--out", type=Path, default=None, help="where to save, without the ending")
    options = parser.parse_args(words)
    unknown = set(options.peers) - {"numpy", "jax", "numba"}
    if unknown:
        parser.error(f"unknown peers: {', '.join(sorted(unknown))}")
    return options


def names(text: str) -> list[str]:
    """A list with commas."""
    return [name.strip() for name in text.split(",") if name.strip()]


def present(peers: list[str]) -> list[str]:
    """The peers to run; NumPy always runs, and what cannot be imported is skipped with a note."""
    found = [peer for peer in peers if peer != "numpy" and importlib.util.find_spec(peer)]
    for peer in set(peers) - {"numpy", *found}:
        print(f"{peer} is not installed and is left out", file=sys.stderr)
    return found


def main() -> None:
    """Run the kernels one by one, print a line for each, save the results."""
    options = parse()
    try:
        kernels = find(options.path, options.kernels)
    except FileNotFoundError as error:
        sys.exit(str(error))
    peers = present(options.peers)
    kept = "preset", "policy", "settle", "repeat", "budget"
    given: dict[str, Any] = {name: getattr(options, name) for name in kept}
    job = {**given, "path": str(options.path.resolve()), "cache_dir": options.cache_dir}
    machine = describe()
    widths = [26, 10, 10, 9, 8, 6, 9, 5, 7, 6, 10, *(9 for _ in peers), 0]
    show(header(peers), widths)
    rows = []
    for kernel in kernels:
        row = autojit_row(kernel.name, job, options.timeout)
        row["peers"] = {peer: peer_entry(kernel.name, peer, job, options.timeout) for peer in peers}
        rows.append(row)
        show(cells(row, peers), widths)
    print(*summary_lines(summarize(rows)), sep="\n")
    base = options.out or RESULTS / f"npbench-{options.preset}-{options.policy}"
    for file in save(base, given, machine, rows):
        print(f"saved {file.name}")


def show(line: list[str], widths: list[int]) -> None:
    """Print one line of the table."""
    print(" ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip(), flush=True)


if __name__ == "__main__":
    main()
