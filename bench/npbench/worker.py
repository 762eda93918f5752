"""One kernel and one competitor in a process of its own: first call, agreement with NumPy, warm calls, explanation.

Every stage appends a line of JSON to the events file, so that a crash or a hang loses only what came after it.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import numpy as np

import autojit as aj
from autojit.config import set_flags
from autojit.explain.state import left_of
from autojit.runtime.agree import Agreement, compare
from autojit.runtime.background import BACKGROUND
from autojit.runtime.doubt import Doubt
from autojit.runtime.history import span
from autojit.runtime.info import with_callees
from autojit.runtime.tuning import Tuning
from bench.npbench.checkout import Kernel, find, fresh
from bench.npbench.sensitivity import judge, nudge
from bench.timing import joined, median_ms, once, rounds_of, speed_up

#: For how many seconds NumPy and a competitor run before it is the other one's turn.
BLOCK = 0.2
#: Within this fraction of each other they are timed for longer: medians of three products lie a fifth apart, and
#: a machine may be half as fast for some seconds.
NEAR = 0.5
#: What part of the time to settle passes in any case, and how many seconds at most.
SETTLES, LEAST = 0.2, 5.0


class Job:
    """The options of a run, NumPy's results, and where events go."""

    def __init__(self, options: dict[str, Any]) -> None:
        self.options = options
        self.kernel: Kernel = find(Path(options["path"]), [options["kernel"]])[0]
        self.arguments = self.kernel.inputs(options["preset"])
        self.reference = self.kernel.function("_numpy", "reference")
        arguments = fresh(self.arguments)
        self.expected, seconds = once(self.reference, arguments)
        self.expected_arguments = arguments
        self.changing = set(self.kernel.info.get("output_args", ())) | {
            name for name, after in zip(self.arguments, arguments, strict=True) if changed(self.arguments[name], after)
        }
        self.report(numpy_first_s=seconds)

    def report(self, **event: Any) -> None:
        """Append an event."""
        with Path(self.options["events"]).open("a") as file:
            file.write(json.dumps(event) + "\n")

    def named(self, result: Any, arguments: tuple[Any, ...]) -> dict[str, Any]:
        """What a call returned and what it left in its arguments, by name."""
        return {"result": result, **{f"`{name}`": x for name, x in zip(self.arguments, arguments, strict=True)}}

    @property
    def expected_results(self) -> dict[str, Any]:
        """NumPy's results."""
        return self.named(self.expected, self.expected_arguments)

    def rerun(self, draw: int) -> dict[str, Any]:
        """NumPy's results for inputs that are changed in their last places."""
        arguments = fresh({name: nudge(value, draw) for name, value in self.arguments.items()})
        return self.named(self.reference(*arguments), arguments)

    def make(self) -> tuple[Any, ...]:
        """The arguments of a warm call."""
        return fresh(self.arguments, self.changing)

    def warm(self, function: Callable[..., Any], settle: float = 0.0) -> dict[str, float]:
        """Median milliseconds of NumPy and of `function`, in turns, and the speed-up: the median of that of each round.

        `settle` gives `measured` seconds to decide.
        """
        begin = time.perf_counter()
        function(*self.make())
        while (passed := time.perf_counter() - begin) < settle:
            if passed > min(SETTLES * settle, LEAST) and _decided(function):
                break
            function(*self.make())
        rounds = rounds_of(
            {"numpy": self.reference, "other": function},
            self.make,
            repeat=self.options["repeat"],
            budget=self.options["budget"],
            block=BLOCK,
            near=NEAR,
        )
        times = joined(rounds)
        return {
            "numpy_ms": median_ms(times["numpy"]),
            "ms": median_ms(times["other"]),
            "speedup": speed_up(rounds, "numpy", "other"),
        }


def _decided(function: Any) -> bool:
    """Whether a decorated function has plans, compiles nothing, and tries nothing against NumPy or other options."""
    controllers = with_callees(function.__autojit_controller__, set())
    plans = [plan for one in controllers for probe in one.probes.values() for plan in probe.plans]
    # A plan that is compared with NumPy once more may have a further option to try after that.
    asked = [owner for plan in plans if isinstance(owner := getattr(plan.call, "__self__", None), Tuning | Doubt)]
    races = any(isinstance(owner, Doubt) or owner.state.race for owner in asked)
    is_trying = races or any(getattr(plan.reason, "is_trial", False) for plan in plans)
    return bool(plans) and not is_trying and not BACKGROUND.is_busy()


def changed(before: Any, after: Any) -> bool:
    """Whether a call has changed this argument."""
    return isinstance(before, np.ndarray) and not np.array_equal(before, after, equal_nan=before.dtype.kind in "fc")


def run_autojit(job: Job) -> None:
    """The unmodified function, decorated; its helpers belong to the same fresh import."""
    folder = job.options["cache_dir"]
    set_flags(disk_cache=bool(folder), cache_dir=folder)
    module = job.kernel.load("_numpy", "subject")
    function = aj.autocluster(policy=job.options["policy"])(getattr(module, job.kernel.function_name))
    setattr(module, job.kernel.function_name, function)

    outcome, sensitivity = Agreement(), 0.0

    def compared() -> float:
        """Compare one call with NumPy's; its seconds."""
        nonlocal outcome, sensitivity
        arguments = fresh(job.arguments)
        result, seconds = once(function, arguments)
        found, moved = judge(job.expected_results, job.named(result, arguments), job.rerun)
        outcome |= found
        sensitivity = max(sensitivity, moved)
        return seconds

    job.report(first_s=compared())
    compared()
    job.report(**job.warm(function, job.options["settle"]))
    compared()  # under `measured` the first ones were NumPy's
    job.report(agree=bool(outcome), error=outcome.error, problem=outcome.problem, sensitivity=sensitivity)

    info = function.cache_info()
    job.report(compiles=info.compiles, loads=info.loads)
    found = function.explain(*fresh(job.arguments))
    job.report(
        whole=bool(found.is_whole),
        clusters=len(found.clusters),
        host_nodes=len(found.host_nodes),
        native_statements=len(found.native_statements),
        native_because=why_native(found),
    )


def why_native(found: Any) -> list[str]:
    """What an explanation says of calls that NumPy answers in the end."""
    said = [f"{span(left.lines)}: {left.reason.detail}" for left in left_of(found.plans)]
    said += [f"{reason}" for reason in found.standing]
    return said if said or found.plans else ["no plan has paid for its compilation yet"]


def run_jax(job: Job) -> None:
    """The hand-written port, with NumPy arrays in and out; arguments are not copied back."""
    jax.config.update("jax_enable_x64", True)
    for postfix in job.kernel.postfixes("jax"):
        port = job.kernel.function(postfix, "peer")

        def call(*arguments: Any, port: Callable[..., Any] = port) -> list[Any]:
            entered = [jax.numpy.asarray(x) if isinstance(x, np.ndarray) else x for x in arguments]
            return [np.asarray(x) for x in jax.block_until_ready(parts(port(*entered)))]

        run_port(job, postfix, call, lambda result, arguments: result)


def run_numba(job: Job) -> None:
    """Every port; they change their arguments in place, as NumPy does."""
    for postfix in job.kernel.postfixes("numba"):
        port = job.kernel.function(postfix, "peer")
        run_port(job, postfix, port, lambda result, arguments: parts(result) + arguments)


def run_port(
    job: Job, postfix: str, port: Callable[..., Any], read: Callable[[Any, list[Any]], list[Any]]
) -> None:
    """Time a port and compare the results that `read` finds; a port that fails is an event of its own."""
    changing = [name in job.kernel.info.get("output_args", ()) for name in job.arguments]
    outputs = [value for value, wanted in zip(job.expected_arguments, changing, strict=True) if wanted]
    returned = parts(job.expected)
    try:
        arguments = fresh(job.arguments)
        result, first = once(port, arguments)
        actual = read(result, [value for value, wanted in zip(arguments, changing, strict=True) if wanted])
        # Ports that cannot change their arguments return them, in place of or after the function's own results.
        outcomes = [
            compare(expected, actual, "result", rtol=job.kernel.leniency)
            for expected in (returned + outputs, outputs, returned)
            if len(expected) == len(actual)
        ]
        best = min(outcomes, key=lambda outcome: outcome.error, default=Agreement(np.inf, "another number of results"))
        warm = job.warm(port)
    except Exception as error:
        job.report(port=postfix, agree=False, problem=f"{type(error).__name__}: {error}")
    else:
        job.report(port=postfix, agree=bool(best), problem=best.problem, first_s=first, **warm)


def parts(result: Any) -> list[Any]:
    """The returned values: none, one, or those of a tuple or list."""
    if result is None:
        return []
    return list(result) if isinstance(result, tuple | list) else [result]


COMPETITORS = {"autojit": run_autojit, "jax": run_jax, "numba": run_numba}

if __name__ == "__main__":
    given = json.loads(sys.argv[1])
    COMPETITORS[given["competitor"]](Job(given))
