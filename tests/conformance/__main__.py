"""`python -m tests.conformance [files]`: NumPy's tests, plain and through autojit; the outcomes must be the same.

Files are named as in NumPy: `_core/test_numeric`, `lib/test_function_base`, `linalg/test_linalg`, `fft/test_helper`.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from tests.conformance.excluded import EXCLUDED, FOLDERS

_COUNTED = ("tests", "differ", "excluded", "failed in NumPy", "calls", "plans", "files without an outcome")
ROOT = Path(__file__).resolve().parents[2]
NUMPY = Path(np.__file__).resolve().parent


def run(file: Path, mode: str, select: str, seconds: float, slow: bool) -> dict[str, Any]:
    """The outcomes of one file, by test."""
    with tempfile.TemporaryDirectory() as folder:
        written = Path(folder) / "outcomes.json"
        environment = {
            **os.environ, "AUTOJIT_CONFORMANCE": mode, "AUTOJIT_OUTCOMES": str(written), "PYTHONPATH": str(ROOT),
            "JAX_PLATFORMS": "cpu", "AUTOJIT_FLAGS": "--disk_cache=0", "NPY_AVAILABLE_MEM": "2 GB",
        }  # fmt: skip
        command = [sys.executable, "-m", "pytest", "-q", "-c", os.devnull, "--rootdir", str(NUMPY), "--assert=plain"]
        command += ["-p", "tests.conformance.plugin", "-p", "no:cacheprovider", "-p", "no:warnings", "-p", "no:xdist"]
        command += [*([] if slow else ["-m", "not slow"]), str(file), *(["-k", select] if select else [])]
        try:
            done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=seconds, cwd=folder)
        except subprocess.TimeoutExpired:
            return {"outcomes": {}, "problems": {}, "calls": 0, "plans": 0, "names": {}, "error": "out of time"}
        if not written.exists():
            return {"outcomes": {}, "problems": {}, "calls": 0, "plans": 0, "names": {}, "error": done.stdout[-1500:]}
        return json.loads(written.read_text())


def files_of(names: list[str]) -> list[Path]:
    """NumPy's test files; all by default."""
    if not names:
        return [file for folder in FOLDERS for file in sorted((NUMPY / folder / "tests").glob("test_*.py"))]
    return [NUMPY / folder / "tests" / f"{name}.py" for folder, name in (one.split("/") for one in names)]


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="python -m tests.conformance", description=__doc__)
    parser.add_argument("files", nargs="*", help="all by default")
    parser.add_argument("-k", dest="select", default="", help="pytest's selection of tests")
    parser.add_argument("--bodies", action="store_true", help="compile the bodies of the tests, not the functions")
    parser.add_argument("--numpy", action="store_true", help="clusters run in NumPy: tries the capture alone")
    parser.add_argument("--seconds", type=float, default=1800, help="for one file")
    parser.add_argument("--slow", action="store_true", help="the tests that NumPy marks as slow, too")
    parser.add_argument("--shard", default="1/1", help="which part of the files, as `1/2`")
    parser.add_argument("-v", action="store_true", help="show the end of each failure")
    options = parser.parse_args()
    mode = ("bodies" if options.bodies else "functions") + (",numpy" if options.numpy else "")
    total = dict.fromkeys(_COUNTED, 0)
    shard, shards = map(int, options.shard.split("/"))
    for file in files_of(options.files)[shard - 1 :: shards]:
        name = f"{file.parent.parent.name}/{file.stem}"
        start = time.monotonic()
        plain = run(file, "plain", options.select, options.seconds, options.slow)
        driven = run(file, mode, options.select, options.seconds, options.slow)
        left_out = options.select or plain.get("left out")  # all of them may be slow
        error = plain.get("error") or driven.get("error") or ("" if plain["outcomes"] or left_out else "no test ran")
        if error:
            total["files without an outcome"] += 1
            print(f"{name}: no outcome; {time.monotonic() - start:.0f} s: {error}", flush=True)
            continue
        different = []
        for test, outcome in plain["outcomes"].items():
            if outcome == "failed":
                total["failed in NumPy"] += 1
            elif driven["outcomes"].get(test) != outcome:
                key = f"{name}::{test.split('::', 1)[1]}"
                known = next((reason for prefix, reason in EXCLUDED.items() if key.startswith(prefix)), "")
                total["excluded"] += bool(known)
                if not known:
                    different.append((key, outcome, driven["outcomes"].get(test), driven["problems"].get(test, "")))
        total["tests"] += len(plain["outcomes"])
        total["differ"] += len(different)
        total["calls"] += driven["calls"]
        total["plans"] += driven["plans"]
        print(
            f"{name}: {len(plain['outcomes'])} tests, {len(different)} differ; {driven['calls']} calls driven, "
            f"{driven['plans']} answered by a plan; {time.monotonic() - start:.0f} s",
            flush=True,
        )
        for key, outcome, other, problem in different:
            print(f"  {key}: {outcome} in NumPy, {other}")
            if options.v:
                print("    " + problem.replace("\n", "\n    "))
    print(total)
    return 1 if total["differ"] or total["files without an outcome"] else 0


if __name__ == "__main__":
    sys.exit(main())
