"""The rows of a run as a table, a summary, and two files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from bench.machine import sentence
from bench.timing import geometric_mean

#: A kernel below this share of NumPy's speed counts as slower.
SLOWER = 0.95


def summarize(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Counts and geometric means; a kernel that failed or does not agree counts as 1."""
    peers = sorted({peer for row in rows for peer in row["peers"]})
    return {
        "kernels": len(rows),
        "run": sum("first_s" in row for row in rows),
        "agree": sum(row["agree"] for row in rows),
        "agree_within_sensitivity": sum(row["agree"] and row.get("sensitivity", 0) > 0 for row in rows),
        "whole": sum(row.get("whole", False) for row in rows),
        "slower": sorted(row["kernel"] for row in rows if counted(row) < SLOWER),
        "geometric_mean": geometric_mean(counted(row) for row in rows),
        "geometric_mean_whole": geometric_mean(counted(row) for row in rows if row.get("whole")),
        "first_calls_s": sum(row.get("first_s", 0.0) for row in rows),
        "compiles": sum(row.get("compiles", 0) for row in rows),
        "loads": sum(row.get("loads", 0) for row in rows),
        "peers": {
            peer: {
                "agree": sum(row["peers"][peer]["agree"] for row in rows),
                "slower": sum(counted(row["peers"][peer]) < SLOWER for row in rows),
                "geometric_mean": geometric_mean(counted(row["peers"][peer]) for row in rows),
                "autojit_is_faster": sum(counted(row) > counted(row["peers"][peer]) for row in rows),
            }
            for peer in peers
        },
    }


def counted(entry: dict[str, Any]) -> float:
    """The speed-up that counts: 1 for what failed or is wrong."""
    return entry.get("speedup", 1.0) if entry["agree"] else 1.0


def header(peers: list[str]) -> list[str]:
    """The titles of the columns."""
    fixed = ["kernel", "NumPy ms", "autojit ms", "speed-up", "first s", "whole", "clusters", "host", "native", "agree"]
    return [*fixed, "max error", *peers, "problem, or what is native"]


def cells(row: dict[str, Any], peers: list[str]) -> list[str]:
    """One row of the table."""
    return [
        row["kernel"],
        number(row.get("numpy_ms")),
        number(row.get("ms")),
        number(row.get("speedup")),
        number(row.get("first_s")),
        {True: "yes", False: "no", None: "-"}[row.get("whole")],
        *(str(row.get(name, "-")) for name in ("clusters", "host_nodes", "native_statements")),
        "yes" if row["agree"] else "NO",
        f"{row['error']:.0e}" if "error" in row else "-",
        *(number(row["peers"].get(peer, {}).get("speedup")) for peer in peers),
        row["problem"] or remark(row) or in_numpy(row),
    ]


def remark(row: dict[str, Any]) -> str:
    """How an answer out of tolerance was judged, or nothing."""
    if not row.get("sensitivity"):
        return ""
    return f"within the {row['sensitivity']:.0e} by which NumPy's answer moves when inputs change in the last place"


def in_numpy(row: dict[str, Any]) -> str:
    """What NumPy answers in the end, and why, in one cell."""
    return "; ".join(row.get("native_because", ())).replace("|", "\\|").replace("\n", " ")


def number(value: float | None) -> str:
    """Three significant digits at most, never an exponent."""
    if value is None:
        return "-"
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def summary_lines(summary: dict[str, Any]) -> list[str]:
    """The summary in sentences."""
    slower = ", ".join(summary["slower"]) or "none"
    lines = [
        f"{summary['kernels']} kernels: {summary['run']} run, {summary['agree']} agree with NumPy "
        f"({summary['agree_within_sensitivity']} of them within the sensitivity of NumPy's own answer), "
        f"{summary['whole']} are one program.",
        f"Geometric mean of the speed-up over NumPy, failures counted as 1: {summary['geometric_mean']:.2f} "
        f"({summary['geometric_mean_whole']:.2f} for those that are one program).",
        f"Slower than {SLOWER} of NumPy: {len(summary['slower'])} ({slower}).",
        f"First calls in all: {summary['first_calls_s']:.1f} s; {summary['compiles']} programs compiled, "
        f"{summary['loads']} loaded from files.",
    ]
    for peer, found in summary["peers"].items():
        lines.append(
            f"{peer}, hand-written ports, NumPy arrays in and out: geometric mean {found['geometric_mean']:.2f}, "
            f"{found['agree']} agree, {found['slower']} slower; autojit is faster on {found['autojit_is_faster']}."
        )
    return lines


def save(base: Path, options: dict[str, Any], machine: dict[str, object], rows: list[dict[str, Any]]) -> list[Path]:
    """Write `base.json` and `base.md`."""
    summary, peers = summarize(rows), sorted({peer for row in rows for peer in row["peers"]})
    files = [base.with_name(base.name + ".json"), base.with_name(base.name + ".md")]
    base.parent.mkdir(parents=True, exist_ok=True)
    content = {"machine": machine, "options": options, "summary": summary, "kernels": rows}
    files[0].write_text(json.dumps(content, indent=1, default=float) + "\n")
    described = ", ".join(f"{name} {value}" for name, value in options.items())
    titles = header(peers)
    table = ["| " + " | ".join(line) + " |" for line in (titles, ["---"] * len(titles))]
    table += ["| " + " | ".join(cell.replace("|", "\\|") for cell in cells(row, peers)) + " |" for row in rows]
    notes = [
        "Unmodified NumPy functions, NumPy arrays in and out; medians of calls that take turns with NumPy. "
        "A speed-up is the median of those of all rounds. The columns of the peers are speed-ups over NumPy. "
        "\"max error\" is relative to the largest element.",
    ]
    text = ["# NPBench", "", sentence(machine), "", described, "", *notes, "", *table, "", *summary_lines(summary)]
    files[1].write_text("\n".join(text) + "\n")
    return files
