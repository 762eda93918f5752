"""Every row of the op table against NumPy: specs, values, dtypes, kinds, traps. Generated from the table."""

from __future__ import annotations

import warnings
import zlib
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from autojit.ir.graph import Const, Node, Value
from autojit.ir.op import Op
from autojit.ir.spec import COMPILED_DTYPES, Spec, spec_of
from autojit.ops import chapters  # noqa: F401 -- fills the table
from autojit.ops.table import TABLE
from ops.samples import Case, default_cases, python_numbers, reduction
from ops.special_samples import SPECIAL, outer
from ops.tolerances import check_close

ROWS = [row for row in TABLE.rows.values() if row.infer is not None]


#: Rows that share their rule with another row: every second case will do where all are tried.
TWINS = frozenset(
    f"np.{name}"
    for name in """float_power logaddexp2 nanstd nanprod std deg2rad rad2deg fmin minimum less_equal greater_equal greater
    not_equal nancumprod nancumsum cumulative_sum cumulative_prod argmin min nanmin ptp fmod remainder logical_or
    logical_xor add.reduce multiply.reduce maximum.reduce minimum.reduce logical_and.reduce logical_or.reduce
    add.accumulate multiply.accumulate""".split()
)


#: Rows that are compiled and have no cases: loops and branches have tests of their own, and memory may hold anything.
UNTRIED = frozenset("loop leave_if select np.empty np.empty_like".split())


#: How many cases of a row the default run tries, at most.
SOME = 12


@dataclass
class Run:
    """A case that NumPy has run and whose specs agree: what the lowering must give."""

    case: Case
    node: Node
    expected: tuple[Any, ...]


def cases_of(row: Op) -> list[Case]:
    """The row's own samples, or the default ones of its family."""
    rng = np.random.default_rng(zlib.crc32(row.name.encode()))
    if row.samples is not None:
        return [Case(f"sample {n}", _flat(args), kwargs) for n, (args, kwargs) in enumerate(row.samples(rng))]
    if row.name in SPECIAL or row.name.endswith(".outer"):
        return SPECIAL.get(row.name, outer)(rng)
    if row.name.startswith("py_"):
        return python_numbers(len(row.operands))
    if row.family == "elementwise" and len(row.operands) <= 2:
        return default_cases(len(row.operands), rng)
    if row.family == "reduction" and len(row.operands) == 1:
        return reduction(row.params, rng)
    return []


def step(cases: list[Case]) -> int:
    """The default run tries one of so many cases."""
    return max(1, -(-len(cases) // SOME))


def _flat(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """A node's inputs: sequence operands are spread out."""
    flat: list[Any] = []
    for arg in args:
        flat.extend(arg if isinstance(arg, list | tuple) else [arg])
    return tuple(flat)


def in_numpy(row: Op, case: Case) -> tuple[Any, ...] | Exception:
    """What NumPy gives, or the exception."""
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # special numbers are among the samples
            result = row.call(*case.args, **case.params)
    except Exception as error:
        return error
    return tuple(result) if isinstance(result, tuple | list) else (result,)


def prepare(row: Op, case: Case, problems: list[str]) -> Run | None:
    """Run a case in NumPy and compare with what `infer` says; `None` if there is nothing to lower."""
    expected = in_numpy(row, case)
    try:
        specs = row.infer([spec_of(arg) for arg in case.args], dict(case.params))
    except Exception as error:
        if isinstance(expected, Exception) and not isinstance(error, type(expected)):
            problems.append(f"{case.label}: NumPy raises {expected!r}, infer raises {error!r}")
        elif not isinstance(expected, Exception) and "not compiled" not in str(error):
            problems.append(f"{case.label}: infer raises {error!r}")
        return None
    if isinstance(expected, Exception):
        if not row.traps:
            problems.append(f"{case.label}: NumPy raises {expected!r}, infer says {specs}")
        expected = ()
    elif [facts(spec) for spec in specs] != [facts(spec_of(part)) for part in expected]:
        problems.append(f"{case.label}: infer says {_show(specs)}, NumPy gives {_show(map(spec_of, expected))}")
        return None
    inputs = tuple(
        Const(arg, spec_of(arg))
        if case.constant and isinstance(arg, bool | int | float | complex) and not isinstance(arg, np.generic)
        else Value(f"x{n}", spec_of(arg))
        for n, arg in enumerate(case.args)
    )
    outputs = tuple(Value(f"y{n}", spec) for n, spec in enumerate(specs))
    return Run(case, Node(row, inputs, tuple(case.params.items()), outputs), expected)


def facts(spec: Spec) -> tuple[Any, ...]:
    return spec.shape, spec.dtype, spec.kind


def _show(specs: Any) -> str:
    return ", ".join(map(str, specs))


def lower_all(runs: list[Run]) -> list[tuple[list[np.ndarray], bool]]:
    """The results and the trap flag of every run, from one compiled program."""

    def program(arguments: list[list[Any]]) -> list[tuple[list[Any], Any]]:
        results = []
        for run, given in zip(runs, arguments, strict=True):
            xs = [
                jnp.asarray(x.value, x.spec.dtype) if isinstance(x, Const) else value
                for x, value in zip(run.node.inputs, given, strict=True)
            ]
            flags: list[Any] = []
            try:
                outputs = run.node.op.lower(run.node, xs, flags.append)
            except Exception as error:
                raise AssertionError(f"{run.node.op.name}, {run.case.label}: the lowering raises {error!r}") from error
            outputs = list(outputs) if isinstance(outputs, tuple | list) else [outputs]
            flag = jnp.asarray(False)
            for one in flags:
                flag = flag | jnp.any(one)
            results.append((outputs, flag))
        return results

    with jax.enable_x64(True):
        arguments = [[np.asarray(x, spec_of(x).dtype) for x in run.case.args] for run in runs]
        results = jax.jit(program)(arguments)
        return [([np.asarray(part) for part in outputs], bool(flag)) for outputs, flag in results]


def compare(run: Run, outputs: list[np.ndarray], trapped: bool, problems: list[str]) -> None:
    """Compare one case with NumPy; a trapped case is left to NumPy."""
    label = run.case.label
    if not run.expected:
        if not trapped:
            problems.append(f"{label}: NumPy raises, the lowering does not trap")
        return
    if len(outputs) != len(run.expected):
        problems.append(f"{label}: {len(outputs)} outputs, not {len(run.expected)}")
        return
    for value, output in zip(run.node.outputs, outputs, strict=True):
        if (output.shape, output.dtype) != (value.spec.shape, value.spec.dtype):
            problems.append(f"{label}: the lowering gives {output.dtype}{output.shape}, not {value.spec}")
            return
    if trapped:
        # Of complex infinities, which part of a product is infinite depends on the order.
        infinite = any(np.iscomplexobj(x) and np.isinf(x).any() for x in run.case.args if isinstance(x, np.ndarray))
        if "edges" not in label and "300" not in label and not infinite:
            problems.append(f"{label}: traps on ordinary data")
        return
    for wanted, output in zip(run.expected, outputs, strict=True):
        problem = check_close(run.node, run.case.args, np.asarray(wanted), output)
        if problem:
            problems.append(f"{label}: {problem}")


def failures(row: Op, cases: list[Case]) -> list[str]:
    """Everything that is wrong with a row."""
    problems: list[str] = []
    prepared = [prepare(row, case, problems) for case in cases]
    runs = [run for run in prepared if run is not None and row.lower is not None]
    for run, (outputs, trapped) in zip(runs, lower_all(runs), strict=True):
        compare(run, outputs, trapped, problems)
    return problems


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_row(row: Op) -> None:
    cases = cases_of(row)
    problems = failures(row, cases[:: step(cases)])
    assert not problems, "\n".join(problems[:20])


def test_every_compiled_row_has_cases_that_compile() -> None:
    compiled = [row for row in ROWS if row.lower is not None and row.name not in UNTRIED]
    idle = [row.name for row in compiled if not any(prepare(row, case, []) for case in cases_of(row))]
    assert compiled and not idle


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_row_with_all_samples(row: Op) -> None:
    cases = cases_of(row)
    rest = [case for number, case in enumerate(cases) if number % step(cases)]
    problems = failures(row, rest[::2] if row.name in TWINS else rest) if rest else []
    assert not problems, "\n".join(problems[:20])


def test_every_dtype_is_known() -> None:
    assert {np.dtype(bool), np.dtype(np.float64), np.dtype(np.complex64)} <= COMPILED_DTYPES
