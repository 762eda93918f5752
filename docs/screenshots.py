"""The pictures of the guides: `python -m docs.screenshots` opens what notebooks and reports show in a browser without a
window.

It needs Chromium or Chrome. Each page is taken in light and in dark.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

import autojit as aj
from autojit.explain.style import page

ROOT = Path(__file__).resolve().parent.parent
IMAGES = ROOT / "docs" / "images"
#: The program whose report is shown.
SCRIPT = ROOT / "tests" / "programs" / "scripts" / "nbody.py"
_BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
_DARK = ("--force-dark-mode", "--blink-settings=preferredColorScheme=0")


def smooth(x):
    """A helper."""
    y = np.tanh(x) * 2
    return y / (1 + np.abs(y))


def report(x, names):
    """A function with a loop, a host node and a native statement."""
    scaled = (x - x.mean(axis=0)) / x.std(axis=0)
    total = np.zeros_like(x)
    for i in range(1, len(x)):
        total[i] = 0.9 * total[i - 1] + smooth(scaled[i])
    kinds = np.unique(np.round(total[:, 0], 1))
    print(names, total.max())
    return np.where(total > 0, total, kinds.mean())


def program(length: int) -> Callable[..., object]:
    """A function of `8 * length` operations and a few more, half of them in calls of a helper."""
    lines = ["def long(x):"]
    for number in range(length):
        lines += [f"    a = x * {number}.5 + 1", "    b = smooth(a) * a", "    x = x + b / (1 + np.abs(a))"]
    file = Path(tempfile.mkdtemp()) / "long.py"
    file.write_text("\n".join([*lines, "    return x"]))
    names = {"np": np, "smooth": smooth}
    exec(compile(file.read_text(), str(file), "exec"), names)
    return names["long"]


def pages() -> Iterator[tuple[str, str, tuple[int, int]]]:
    """The name of each picture, its page and its size."""
    decorated = aj.autocluster(report, policy="eager")
    arguments = np.random.default_rng(0).random((50, 40)), ["a", "b"]
    for _ in range(3):
        decorated(*arguments)
    explanation = decorated.explain(*arguments)
    yield "report", page("report", explanation.to_html()), (1000, 650)
    yield "graph", page("graph", explanation.graph.to_html()), (1000, 1000)
    ir = decorated.get_compiler_ir(*arguments)
    yield "ir", page("ir", ir("optimized_hlo", ir.clusters[-1])._repr_html_()), (1000, 620)
    large = aj.autocluster(program(50)).explain(aj.ArraySpec((1000,), np.float64))  # 500 operations
    yield "large-graph", page("large graph", large.graph.to_html()), (1000, 1250)
    yield "program-report", program_report(), (1000, 700)


def program_report() -> str:
    """The report of a whole program, which runs for some seconds."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "report.html"
        command = [sys.executable, "-m", "autojit", "run", "--disk_cache=0", f"--report={file}", SCRIPT.name]
        paths = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
        environment = {**os.environ, "PYTHONPATH": paths}
        subprocess.run(command, check=True, capture_output=True, cwd=SCRIPT.parent, env=environment)
        return file.read_text(encoding="utf-8")


def main(words: list[str] | None = None) -> int:
    """Take all pictures; give the exit status."""
    parser = argparse.ArgumentParser(prog="python -m docs.screenshots", description=__doc__)
    parser.add_argument("--browser", default=next(filter(shutil.which, _BROWSERS), None), help="its command")
    options = parser.parse_args(words)
    if options.browser is None:
        print(f"no browser: none of {', '.join(_BROWSERS)} is there; `--browser` names one", file=sys.stderr)
        return 1
    IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        for name, html, (width, height) in pages():
            file = Path(folder) / f"{name}.html"
            of_no_machine = html.replace(f"{ROOT}/", "").replace(f"{Path.home()}/", "~/")
            file.write_text(of_no_machine, encoding="utf-8")
            for mode, more in (("light", ()), ("dark", _DARK)):
                target = IMAGES / f"{name}-{mode}.png"
                command = [options.browser, "--headless", "--no-sandbox", "--hide-scrollbars", *more]
                command += [f"--screenshot={target}", f"--window-size={width},{height}", file.as_uri()]
                subprocess.run(command, check=True, capture_output=True)
                print(target)
    return 0


if __name__ == "__main__":
    sys.exit(main())
