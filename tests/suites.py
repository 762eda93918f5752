"""The test suites of other packages under the launcher: `python -m tests.suites FOLDER [--only tensorly] [--policy eager]`.

Pure-Python packages that use NumPy are installed in FOLDER, without their dependencies (`pip install '.[suites]'` has those),
so that they count as the user's own code. Each suite runs under `python -m pytest` and under `python -m autojit run -m pytest`,
and what becomes of each test is compared. What the first has found is kept in FOLDER.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Suite:
    """A package.

    Attributes:
        requirement: What pip installs.
        folder: The package, with its tests in it.
        deselected: Tests that are left out, by the beginnings of their names.
    """

    requirement: str
    folder: str
    deselected: tuple[str, ...] = ()


SUITES = {
    "numpy-financial": Suite("numpy-financial==1.0.0", "numpy_financial"),
    # Files of measurements that many tests read are not in the wheel: those fail either way.
    "scikit-rf": Suite("scikit-rf==2.2.0", "skrf"),
    "tensorly": Suite("tensorly==0.10.0", "tensorly"),
}


def install(suite: Suite, folder: Path) -> None:
    """Install a package, unless it is there."""
    if not (folder / suite.folder).exists():
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(folder), suite.requirement]
        subprocess.run(command, check=True)


def run(suite: Suite, folder: Path, report: Path, launcher: list[str]) -> float:
    """Run a suite and have pytest write its report; gives the seconds."""
    options = ["-p", "no:cacheprovider", "-p", "no:xdist", "-o", "addopts=", "-q", "--junitxml", str(report)]
    options += [word for name in suite.deselected for word in ("--deselect", name)]
    paths = os.pathsep.join([str(ROOT), str(folder), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": paths, "AUTOJIT_FLAGS": "--disk_cache=0", "MPLBACKEND": "Agg"}
    start = time.monotonic()
    with report.with_suffix(".log").open("w") as log:
        command = [sys.executable, *launcher, "-m", "pytest", *options, suite.folder]
        subprocess.run(command, cwd=folder, env=environment, stdout=log, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
    return time.monotonic() - start


def outcomes(report: Path) -> dict[str, str]:
    """What became of each test: "passed", "skipped", or the kind of its failure and the first line of it."""
    found: dict[str, str] = {}
    for case in ElementTree.parse(report).iter("testcase"):
        troubles = [part for part in case if part.tag in ("failure", "error", "skipped")]
        told = "; ".join(f"{part.tag}: {(part.get('message') or '').splitlines()[:1]}" for part in troubles) or "passed"
        name = f"{case.get('classname')}::{case.get('name')}"
        # Objects are told with their places in memory.
        found[name] = re.sub(r"0x[0-9a-f]+", "0x...", "; ".join(filter(None, [found.get(name), told])))
    return found


def compare(name: str, folder: Path, policy: str) -> int:
    """Run a suite both ways, print what differs, and give the number of tests that do."""
    suite, packages = SUITES[name], folder / "packages"
    packages.mkdir(parents=True, exist_ok=True)
    install(suite, packages)
    plain, launched = folder / f"{name}-plain.xml", folder / f"{name}-{policy}.xml"
    if not plain.exists():
        run(suite, packages, plain, [])
    seconds = run(suite, packages, launched, ["-m", "autojit", "run", f"--policy={policy}"])
    theirs, mine = outcomes(plain), outcomes(launched)
    different = [test for test in {**theirs, **mine} if theirs.get(test) != mine.get(test)]
    for test in different:
        print(f"  {test}: {mine.get(test)}, without autojit {theirs.get(test)}")
    kinds = Counter(told.partition(":")[0] for told in mine.values())
    counts = ", ".join(f"{count} {kind}" for kind, count in kinds.most_common())
    print(f"{name}, {policy}: {len(mine)} tests ({counts}), {len(different)} differ, {seconds:.0f} s", flush=True)
    return len(different) + (not mine)


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="python -m tests.suites", description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="where packages, reports and logs stand")
    parser.add_argument("--only", default=",".join(SUITES), help="names of packages")
    parser.add_argument("--policy", default="measured,eager", help="the policies of the launcher")
    options = parser.parse_args()
    folder = options.folder.resolve()
    names, policies = options.only.split(","), options.policy.split(",")
    return 1 if sum(compare(name, folder, policy) for name in names for policy in policies) else 0


if __name__ == "__main__":
    sys.exit(main())
