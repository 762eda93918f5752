"""Every stage of the compiler for every kernel, from specs alone: `python -m bench.npbench.stages --path CHECKOUT`.

No statement of a kernel runs, which is watched. A stage that is empty or fails is told, and the exit status is 1.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

import autojit as aj
from autojit.config import override
from bench.npbench.checkout import Kernel, find


def spec_of(value: Any) -> Any:
    """An array's dtype and shape in its place; other arguments as they are."""
    return aj.ArraySpec(value.shape, value.dtype) if isinstance(value, np.ndarray) else value


@contextmanager
def watched(file: str) -> Iterator[list[str]]:
    """The functions of a file that are called inside the block.

    Not the empty frames, without a module's names, that carry the user's file and line to XLA.
    """
    called: list[str] = []

    def see(frame: Any, event: str, argument: Any) -> None:
        if event == "call" and frame.f_code.co_filename == file and "__name__" in frame.f_globals:
            called.append(frame.f_code.co_name)

    sys.setprofile(see)
    try:
        yield called
    finally:
        sys.setprofile(None)


def problems(kernel: Kernel, preset: str) -> Iterator[str]:
    """What is wrong with the stages of one kernel; the last item is a summary."""
    given = {name: spec_of(value) for name, value in kernel.inputs(preset).items()}
    function = kernel.function("_numpy", "stages")
    start, size, count = time.perf_counter(), 0, 0
    with watched(function.__code__.co_filename) as called:
        try:
            ir = aj.get_compiler_ir(function, *given.values())
        except aj.AutojitError as error:
            yield f"nothing compiles: {str(error).splitlines()[0]}"
            return
        for cluster in ir.clusters:
            for stage in ir.stages:
                try:
                    found = ir(stage, cluster)
                except aj.AutojitError as error:
                    yield f"{stage} of {cluster}: {error}"
                    continue
                if not found:
                    yield f"{stage} of {cluster} is empty"
                size, count = size + len(found), count + 1
    if called:
        yield f"called: {', '.join(sorted(set(called)))}"
    seconds = time.perf_counter() - start
    yield f"{len(ir.clusters)} clusters, {count} stages, {size / 1e6:.1f} MB, {seconds:.1f} s"


def main(words: list[str] | None = None) -> int:
    """Show every stage of every kernel, a line for each; give the exit status."""
    parser = argparse.ArgumentParser(prog="python -m bench.npbench.stages", description=__doc__)
    parser.add_argument("--path", type=Path, required=True, help="an NPBench checkout")
    parser.add_argument("--preset", default="S", help="S, M, L or paper")
    parser.add_argument("--kernels", type=lambda text: text.split(","), default=None, help="names with commas")
    options = parser.parse_args(words)
    kernels, wrong = find(options.path, options.kernels), 0
    for kernel in kernels:
        with override(disk_cache=False):
            *found, summary = problems(kernel, options.preset)
        wrong += bool(found) or "clusters" not in summary
        print(f"{kernel.name}: {'; '.join([*found, summary])}", flush=True)
        aj.clear_cache()
    print(f"{len(kernels)} kernels, {wrong} with problems")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
