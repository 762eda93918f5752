"""`python -m autojit doctor`: what autojit runs on, and whether it gives NumPy's answers here."""

from __future__ import annotations

import argparse
import importlib.metadata
import os
import platform
import random
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np

from autojit.api import autocluster
from autojit.compile.persistent import disk_cache
from autojit.config import ENVIRONMENT_VARIABLE, FLAGS, current
from autojit.errors import AutojitWarning
from autojit.ir.op import Op
from autojit.ops.chapters import TABLE
from autojit.ops.inference import public_name
from autojit.runtime.agree import compare
from autojit.runtime.door import DOOR
from autojit.runtime.info import memory_info

#: Arrays of these have no contents that are promised.
_UNSPECIFIED = ("np.empty", "np.empty_like")
_HUGE_PAGES = Path("/sys/kernel/mm/transparent_hugepage/enabled")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's own arguments."""
    parser.add_argument("--seconds", type=float, default=60.0, help="how long the self-test takes; 0 for none")


def examine(seconds: float) -> int:
    """Print the report, test, and give the exit status: 1 where something is wrong.

    Args:
        seconds: How long the self-test takes.
    """
    for name, value in _facts():
        print(f"{name}: {value}")
    trouble = DOOR.trouble()
    if trouble:
        print(f"autojit cannot compile here: {trouble}")
        return 1
    problems, count = self_test(seconds) if seconds else ([], 0)
    for problem in problems:
        print(f"differs from NumPy: {problem}")
    if seconds:
        print(f"self-test: {count} functions of the op table, {len(problems)} differ from NumPy")
    return 1 if problems else 0


def _facts() -> Iterator[tuple[str, object]]:
    yield "Python", f"{platform.python_version()} ({sys.executable})"
    yield "packages", ", ".join(f"{name} {_version(name)}" for name in ("autojit", "numpy", "jax", "jaxlib"))
    yield "machine", f"{platform.platform()}, {os.cpu_count()} processors, {_processor()}"
    flags = current()
    given = {name: value for name, value in flags._asdict().items() if name in FLAGS and value != FLAGS[name].default}
    told = ", ".join(f"{name}={value!r}" for name, value in given.items()) or "none"
    yield "flags", f"{told} ({ENVIRONMENT_VARIABLE}={os.environ.get(ENVIRONMENT_VARIABLE, '')!r})"
    disk = disk_cache(flags)
    yield "disk cache", "off" if disk is None else disk
    memory = memory_info()
    yield (
        "memory",
        f"at most {memory.results_limit / 1e6:.0f} MB kept for results, {memory.staging_limit / 1e6:.0f} for inputs",
    )
    pages = _HUGE_PAGES.read_text().strip() if _HUGE_PAGES.exists() else "not known here"
    yield "huge pages", f"{pages}; `never` makes large results slower"


def _version(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return "(not installed)"


def _processor() -> str:
    """The vector instructions that NumPy has found; XLA looks for the same."""
    features = np.show_config(mode="dicts")
    found = features.get("SIMD Extensions", {}).get("found", []) if isinstance(features, dict) else []
    return f"vector instructions: {', '.join(found) or 'none beyond the usual ones'}"


def self_test(seconds: float) -> tuple[list[str], int]:
    """Compare functions of the op table with NumPy on their samples, in random order.

    Args:
        seconds: When to stop.

    Returns:
        What differs, and how many functions were compared.
    """
    rows = [row for row in TABLE.rows.values() if row.compilable and row.name not in _UNSPECIFIED]
    random.shuffle(rows)
    end, problems, count = monotonic() + seconds, [], 0
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # NumPy's own, of samples: only answers are compared
        for row in rows:
            if monotonic() > end:
                break
            is_compiled = False
            for function, arguments in _samples(row, Path(folder)):
                problem, answered = _difference(function, arguments)
                problems += [f"{row.name}: {problem}"] if problem else []
                is_compiled |= answered
            count += is_compiled
    return problems, count


def _samples(row: Op, folder: Path) -> Iterator[tuple[Any, tuple[Any, ...]]]:
    """A function of its own for each sample, in a file, since a function without source is not compiled."""
    name = next((public_name(function) for function in row.numpy), "")
    if not name.startswith("np."):
        return
    for number, (arguments, keywords) in enumerate((row.samples or _numbers(row))(np.random.default_rng(0))):
        names = [f"a{place}" for place in range(len(arguments))]
        given = ", ".join([*names, *(f"{key}={key}" for key in keywords)])
        text = f"def sample({', '.join([*names, *keywords])}):\n    return {name}({given})\n"
        file = folder / f"{row.name.replace('.', '_')}_{number}.py"
        file.write_text(text)
        namespace: dict[str, Any] = {"np": np}
        exec(compile(text, str(file), "exec"), namespace)
        yield namespace["sample"], (*arguments, *keywords.values())


def _numbers(row: Op) -> Callable[[Any], list[tuple[tuple[Any, ...], dict[str, Any]]]]:
    """Samples of a function that says none, one of numbers: floats and integers for each operand."""
    count = len(row.operands) if row.family == "elementwise" else 0
    draws = (lambda rng: rng.uniform(0.1, 2.0, (20, 30)), lambda rng: rng.integers(1, 60, (20, 30)))
    return lambda rng: [(tuple(draw(rng) for _ in range(count)), {}) for draw in draws if count]


def _difference(function: Any, arguments: tuple[Any, ...]) -> tuple[str, bool]:
    """What a call does otherwise than NumPy, "" for nothing; and whether compiled code has answered it."""
    try:
        expected = function(*arguments)
    except Exception:
        return "", False  # a sample of an error
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("error", category=AutojitWarning)
            fast = autocluster(function, policy="eager", disk_cache=False)
            got = fast(*arguments)
    except Exception as error:
        return f"{type(error).__name__}: {error}", False
    return compare(expected, got).problem, fast.cache_info().hits > 0
