"""Every row that says that it gives NumPy's bits does, on random bit patterns. Generated from the table."""

from __future__ import annotations

import zlib

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from autojit.capture.exactness import flushes, is_rounded, why_inexact
from autojit.ir.graph import Node
from autojit.ir.op import Op
from autojit.ir.spec import spec_of
from autojit.ops import flushing
from autojit.ops.flushing import ROUNDED, is_subnormal
from autojit.ops.table import TABLE
from ops.samples import Case, edges, pairs
from ops.test_table import TWINS, Run, in_numpy, prepare
from tests.exact_judge import different

FLOATS = tuple(np.dtype(name) for name in "float16 float32 float64 complex64 complex128".split())
#: Rows that move data are compared without tolerance in `test_table.py`.
ROWS = [
    row
    for row in TABLE.rows.values()
    if row.infer
    and row.lower
    and row.family in ("elementwise", "reduction")
    and any(row.is_bitwise([dtype]) for dtype in FLOATS)
]


def patterns(rng: np.random.Generator, dtype: np.dtype, size: int) -> np.ndarray:
    """Random bits: all exponents are equally likely, among them infinities and NaN. No subnormals where XLA flushes."""
    if dtype.kind == "b":
        return rng.integers(0, 2, size).astype(bool)
    words = rng.integers(0, 256, size * dtype.itemsize, np.uint8).view(dtype)
    if dtype.kind in "iu":
        return words
    special = rng.choice(np.resize(edges(dtype), size // 4), size // 4)
    near = (1 + rng.integers(-9, 9, size // 4) * float(np.finfo(dtype).eps)).astype(dtype)
    values = np.concatenate([words[: size // 2], special, near])
    values = rng.permutation(values)
    if flushes(dtype):
        values = np.where(is_subnormal(values), values.dtype.type(1.5), values)
    return values


def random_cases(row: Op) -> list[Case]:
    """Calls on random bits: equal dtypes, floats of two widths, integers beside floats."""
    rng = np.random.default_rng(zlib.crc32(row.name.encode()))
    count = len(row.operands)
    if row.name in ("rounded", "as_scalar", "np.select") or row.name.startswith(("py_", "item", "np.choose")):
        return []
    cases: list[Case] = []
    size = 3000
    for dtype in FLOATS:
        x = patterns(rng, dtype, size)
        if row.name in ("np.where", "select"):
            first = rng.integers(0, 2, size).astype(bool) if row.name == "np.where" else True
            cases.append(Case(f"{dtype}", (first, x, patterns(rng, dtype, size))))
        elif row.name == "astype":
            cases += [Case(f"{dtype} to {to}", (x,), {"dtype": np.dtype(to)}) for to in (*FLOATS, "int64", "bool")]
        elif row.family == "reduction":
            finite = np.where(np.isfinite(x), x, 1).astype(dtype)
            for name, y in (("", x), ("finite ", finite)):
                cases += [Case(f"{name}{dtype} {axis}", (y.reshape(60, 50),), {"axis": axis}) for axis in (0, 1)]
        else:
            cases.append(Case(f"{dtype}", (x, *(patterns(rng, dtype, size) for _ in range(count - 1)))))
            if count == 2:
                cases.append(Case(f"{dtype} edges", pairs(edges(dtype), edges(dtype))))
    if row.name == "astype":
        names = [("int64", "float32"), ("uint64", "float32"), ("uint64", "float64"), ("int64", "float16")]
        cases += [Case(f"{a} to {b}", (patterns(rng, np.dtype(a), size),), {"dtype": np.dtype(b)}) for a, b in names]
    if count == 2 and row.name != "np.where":
        for name in "float32 float64,int64 float64,uint64 float64,float16 int8,float32 int16,complex64 float64".split(
            ","
        ):
            x, y = (patterns(rng, np.dtype(part), size) for part in name.split())
            cases += [Case(name, (x, y)), Case(f"{name} turned", (y, x))]
        for number in (3, 0.1, 1e300, -0.0):
            cases.append(Case(f"python {number}", (patterns(rng, np.dtype(np.float32), size), number)))
    return cases


def exact_runs(row: Op) -> list[Run]:
    """The cases in which `exact=True` takes the row."""
    problems: list[str] = []
    cases = random_cases(row)
    runs = [prepare(row, case, problems) for case in (cases[::2] if row.name in TWINS else cases)]
    taken = []
    for run in runs:
        if run is None or not run.expected:
            continue
        node = run.node
        if any(op.spec.dtype.kind in "fc" for op in (*node.inputs, *node.outputs)):
            if why_inexact(row, node.inputs, node.outputs, dict(node.params)) is None:
                taken.append(run)
    return taken


def lowered(runs: list[Run]) -> list[tuple[list[np.ndarray], list[np.ndarray]]]:
    """The results of every run, and its flags as they are before they are put together."""

    def program(arguments: list[list[object]], zero: object) -> list[tuple[list[object], list[object]]]:
        found = []
        for run, xs in zip(runs, arguments, strict=True):
            flags: list[object] = []
            outputs = list(row_outputs(run.node, [jnp.asarray(x) for x in xs], flags, zero))
            found.append((outputs, flags))
        return found

    with jax.enable_x64(True):
        arguments = [[np.asarray(x, spec_of(x).dtype) for x in run.case.args] for run in runs]
        results = jax.jit(program)(arguments, np.uint64(0))
        return [([np.asarray(x) for x in outputs], [np.asarray(x) for x in flags]) for outputs, flags in results]


def row_outputs(node: Node, xs: list[object], flags: list[object], zero: object) -> tuple[object, ...]:
    """What a program under `exact=True` computes for a node."""
    outputs = node.op.lower(node, xs, flags.append)
    outputs = tuple(outputs) if isinstance(outputs, tuple | list) else (outputs,)
    if not is_rounded(node.op, node.outputs[0].spec.dtype):
        return outputs
    behind = Node(ROUNDED, (node.inputs[0], node.outputs[0], *node.inputs), (("of", node.op.rounds),), node.outputs)
    return tuple(ROUNDED.lower(behind, [zero, outputs[0], *xs], flags.append))


def problems_of(run: Run, outputs: list[np.ndarray], flags: list[np.ndarray]) -> list[str]:
    """Where the bits differ without a flag, and flags without a cause."""
    found = []
    trapped = np.zeros(outputs[0].shape, bool)
    for flag in flags:
        if flag.shape == trapped.shape:
            trapped |= flag
        elif flag.any():
            trapped[...] = True
    for wanted, got in zip(run.expected, outputs, strict=True):
        wanted = np.asarray(wanted)
        wrong = different(got, wanted) & ~trapped
        if wrong.any():
            at = tuple(int(n) for n in np.argwhere(wrong)[0])
            found.append(f"{run.case.label}: {int(wrong.sum())} differ, at {at} {got[at]!r}, not {wanted[at]!r}")
    if run.node.op.rounds not in ("", "zeros", "extreme") and run.node.op.name not in ("astype", "rounded"):
        # Only what XLA flushes is left to NumPy: a subnormal result, or one that underflows to zero.
        wanted = np.asarray(run.expected[0])
        cause = is_subnormal(wanted).reshape(trapped.shape) | (np.real(wanted) == 0) | (np.imag(wanted) == 0)
        if (trapped & ~cause).any():
            found.append(f"{run.case.label}: {int((trapped & ~cause).sum())} traps without a cause")
    return found


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_row_gives_numpys_bits(row: Op) -> None:
    runs = exact_runs(row)
    assert runs or not random_cases(row) or row.name.startswith("math.")  # which takes no arrays
    problems = [text for run, found in zip(runs, lowered(runs), strict=True) for text in problems_of(run, *found)]
    assert not problems, "\n".join(problems[:20])


def test_subnormals_are_seen() -> None:
    for dtype in (np.float32, np.float64):
        tiny = np.finfo(dtype).tiny
        x = np.array(
            [0, -0.0, tiny, -tiny, 1, np.inf, np.nan, tiny / 2, -tiny / 4, np.finfo(dtype).smallest_subnormal], dtype
        )
        assert is_subnormal(x).tolist() == [False] * 7 + [True] * 3
        with jax.enable_x64(True):
            for value, wanted in zip(x, is_subnormal(x), strict=True):
                node = Node(flushing.NORMAL, (), (), ())
                flags: list[object] = []
                flushing.NORMAL.lower(node, [jnp.asarray(value)], flags.append)
                assert bool(jnp.any(flushing.any_of(flags))) == wanted, value


def test_numpy_runs_every_random_case() -> None:
    for row in ROWS[:5]:
        assert any(not isinstance(in_numpy(row, case), Exception) for case in random_cases(row))
