"""Random programs over arrays of many rows: most of what they do keeps the rows apart, and some of it does not."""

from __future__ import annotations

import random
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

import autojit as aj
from autojit.runtime.controllers import CONTROLLERS
from tests.helpers import Outcome, arrays_of, outcome
from tests.programs_judge import _layout
from tests.programs_strategy import load

#: The lengths of the calls: some of one bucket, others of the next ones, and what is no bucket's.
LENGTHS = (40, 41, 45, 33, 48, 97, 120, 3, 1, 43, 64, 0, 101, 47)
_WIDTH = 3

#: Statements by the kind of their result: "v" for a vector with an element for each row, "m" for a matrix, "s" for what
#: has no rows. In braces: a name of that kind.
_APART = [
    "v = {v} + {v}", "v = {v} * {s} - 1", "m = {m} - {w}", "v = np.sum({m} * {m}, axis=-1)", "m = {m} * {v}[:, None]",
    "v = np.where({v} > 0, {v}, {s})", "m = np.maximum({m}, {w})", "v = {m}[:, 1]", "m = {m}[:, ::-1] + 0",
    "m = np.stack([{v}, {v}, {v} * 2], axis=1)", "v = {m}.max(axis=1)", "m = np.where({m} > {s}, {m}, -{m})",
    "v = np.sqrt(np.abs({v}))", "m = np.zeros_like({m}) + {w}", "v = np.linalg.norm({m}, axis=1)", "m = {m}.copy()",
    "v = {m}.mean(axis=1) - {m}.min(axis=-1)", "m = {m} / (1 + np.abs({v}).reshape(-1, 1))", "v = {m}[..., 0] * {s}",
    "m = np.concatenate([{m}[:, :1], {m}[:, 1:]], axis=1)", "v = np.floor({v}).astype(int) % 5", "v = np.abs({v}) ** 2",
    "m = np.cumsum({m}, axis=1)", "v = np.clip({v}, -2, 2)", "m = np.broadcast_to({w}, {m}.shape) + {m}",
    "v = np.argmin({m}, axis=1) * 1.0", "m = np.sort({m}, axis=1)", "v = (({m} > 0) & ({m} < 2)).any(axis=1) * 1.5",
    "m = {m}.T.T * 2", "m = np.outer({v}, {w})", "m = {m} @ np.diag({w})", "v = {m} @ {w}", "v = dot({m}, {m})",
    "v = np.hypot({v}, {v} + {s})", "m = {m}[:, [2, 0, 1]]", "v = np.round({v}, 1)", "v = np.exp(-np.abs({v}))",
]  # fmt: skip
_MIXED = [
    "s = {v}.sum()", "s = {m}.max()", "s = float({v}.mean())", "v = {v} - {v}.mean()", "v = {v}[::-1] + 0",
    "v = np.cumsum({v})", "v = np.roll({v}, 1)", "m = {m} - {m}.mean(axis=0)", "s = len({v})", "s = {m}.shape[0] * 0.5",
    "v = np.sort({v})", "v = {v} * ({s} if len({v}) > 42 else 2)", "v = {v} + {v}[0]", "v = {v} - {v}[-1]",
    "v = np.arange(len({v})) * {v}", "v = np.zeros({m}.shape[:1]) + {v}", "s = np.size({m})", "m = {m} - {m}[:1]",
    "v = np.full({v}.size, {s}) * {v}", "v = np.linspace(0, 1, len({v})) + {v}", "s = np.argmax({v}) * 1.0",
    "m = np.concatenate([{m}[1:], {m}[:1]])", "v = {v}[np.argsort({v})]", "s = {v}[5:9].sum()", "s = np.dot({v}, {v})",
    "v = np.diff({v}, append=0)", "m = np.flipud({m}) * 1", "v = {v} / {v}.size", "s = np.median({v})", "s = {m}.T[1, 2]",
    "v = {v} + (1 if {v}.size % 2 else 0)", "v = {v} * np.shape({m})[0]", "s = np.trapezoid({v})", "s = {v}.std()",
    "m = np.cov({m}, rowvar=False)[:1] + {m}", "v = np.gradient({v})", "v = np.interp({v}, [0, 1], [1, 3])",
    "m = {m} + np.eye(*{m}.shape)", "v = np.convolve({v}, [1, 2], 'same')", "s = sum({v}[:3])", "v = {t}[{i}] * {v}",
]  # fmt: skip
#: What Python is told of lengths that are made of the number of rows, or equal it by chance (`z` has 48 elements).
_TOLD = [
    "s = len({v}[1:])", "s = {m}.ravel().size * 0.5", "s = {v}[::2].size", "v = {v} * (len({v}[1:]) % 2)",
    "v = {v} * (2 if len({v}[1:]) > 44 else {s})", "v = {v} + (1 if len({v}) < len(z) else {s})", "s = z.sum()",
    "s = len(np.array_split({v}, 2)[0])", "v = {v}[: len({v}[1:])].sum() + {v}", "s = {v}[45:].size", "v = {v} * z.size",
    "s = np.stack([{v}, {v}]).argmin() * 1.0", "s = {m}.T.argmax() * 1.0", "s = {v}[-5:].size", "s = {v}[:40].size",
    "s = len(z) - len({v})", "v = np.minimum({v}, z[5])", "s = np.zeros(64).size - {v}.size", "s = np.sum(z * z)",
    "v = {v} * (1 if np.ones(48).shape == {v}.shape else 2)", "s = {m}[1:].shape[0]", "s = {m}.size - {v}[2:].nbytes",
    "v = {v}.reshape(-1, 1).T[0] * 1", "s = np.argmax({m}) * 1.0", "v = {v}[: len(z)] * 2", "s = {v}.reshape(1, -1).argmin()",
    "s = sum(len(one) for one in ({v}, {v}[3:]))", "s = np.shape({v}[:-1])[0]", "s = (z - 1).max(axis=0)",
]  # fmt: skip
_WRITES = ["{v}[...] = {v} * 2", "{m}[:, 1] = {v}", "{m} += {w}", "{v} *= {s}", "{m}[0] = {w}", "{m}[:, 0] -= {v}"]


@dataclass(frozen=True)
class RowProgram:
    """A program and how it is called.

    Attributes:
        source: A module with a function `program`.
        seed: Of its arguments.
    """

    source: str
    seed: int

    def arguments(self, rows: int) -> tuple[Any, ...]:
        """The arguments of a call, with so many rows: vectors, matrices, what has no rows, a table and its indices,
        and 48 numbers."""
        rng = np.random.default_rng(self.seed + rows)
        layout = rng.integers(8)

        def numbers(*shape: int) -> np.ndarray:
            return rng.integers(-40, 41, shape) / 8

        x, y, m = numbers(rows), numbers(2 * rows)[::2] if layout == 1 else numbers(rows), numbers(rows, _WIDTH)
        if layout == 2:
            m = np.asfortranarray(m)
        elif layout == 3:
            m = numbers(2 * rows, _WIDTH)[::2]
        q = m if layout == 4 else numbers(rows, _WIDTH)
        return x, y, m, q, numbers(_WIDTH), float(numbers()), numbers(11), rng.integers(0, 11, rows), numbers(48)


def make_row_program(seed: int) -> RowProgram:
    """The program of a seed."""
    choose = random.Random(seed)
    names = {"v": ["x", "y"], "m": ["m", "q"], "s": ["s", "2.5"], "w": ["w"], "t": ["t"], "i": ["i"]}
    lines, made = [], 0
    mixes, tells = choose.random() < 0.5, choose.random() < 0.4
    for _ in range(choose.randint(2, 7)):
        roll = choose.random()
        if tells and 0.5 <= roll < 0.8:
            text = choose.choice(_TOLD)
        else:
            text = choose.choice(_MIXED if mixes and roll < 0.25 else _WRITES if 0.25 <= roll < 0.3 else _APART)
        for kind, known in names.items():
            while f"{{{kind}}}" in text:
                text = text.replace(f"{{{kind}}}", choose.choice(known[-3:]), 1)
        target, equals, value = text.partition(" = ")
        if equals and target in names:
            name, made = f"{target}{made}", made + 1
            names[target] = [*names[target], name]
            text = f"{name} = {value}"
        lines.append(text)
    own = [name for kind in "vms" for name in names[kind][2:]]
    results = ", ".join(own[-4:] or ["x", "m"])
    body = "\n".join(f"    {line}" for line in [*lines, f"return {results},"])
    helper = "def dot(a, b):\n    return np.sum(a * b, axis=-1)\n"
    return RowProgram(f"import numpy as np\n\n{helper}\ndef program(x, y, m, q, w, s, t, i, z):\n{body}\n", seed)


def judge_rows(program: RowProgram, lengths: tuple[int, ...] = LENGTHS) -> tuple[str, bool]:
    """What differs from NumPy, "" for nothing; and whether there was a plan for several lengths."""
    plain, before = load(program.source), set(CONTROLLERS)
    fast = aj.autocluster(policy="eager", max_plans=64)(load(program.source))
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # NumPy's own warnings are not what is judged
        warnings.filterwarnings("error", category=aj.AutojitWarning)
        for rows in (*lengths, *lengths):
            expected = outcome(plain, program.arguments(rows), {})
            try:
                _same(outcome(fast, program.arguments(rows), {}), expected)
            except AssertionError as error:
                return f"{rows} rows: {error}", False
    made = [plan for one in set(CONTROLLERS) - before for probe in one.probes.values() for plan in probe.plans]
    return "", any(plan.capture.rows is not None for plan in made)


def _same(got: Outcome, expected: Outcome) -> None:
    assert type(got.error) is type(expected.error), f"{got.error!r} instead of {expected.error!r}"
    assert str(got.error) == str(expected.error), f"{got.error!r} instead of {expected.error!r}"
    pairs = [*zip(got.arguments, expected.arguments, strict=True)]
    if expected.error is None:
        assert len(got.result) == len(expected.result)
        pairs += zip(got.result, expected.result, strict=True)
        mine, theirs = arrays_of(got.result), arrays_of(expected.result)
        for first in range(len(mine)):
            for other in [*mine[first + 1 :], *arrays_of(got.arguments)]:
                both = [*theirs[first + 1 :], *arrays_of(expected.arguments)]
                wanted = both[[id(one) for one in [*mine[first + 1 :], *arrays_of(got.arguments)]].index(id(other))]
                assert np.shares_memory(mine[first], other) == np.shares_memory(theirs[first], wanted), "memory"
    for one, other in pairs:
        assert type(one) is type(other), f"{type(one)} instead of {type(other)}"
        if isinstance(other, np.ndarray | np.generic):
            assert (one.dtype, one.shape) == (other.dtype, other.shape), f"{one.dtype}{one.shape}"
            if isinstance(other, np.ndarray):
                assert _layout(one) == _layout(other) and one.flags.writeable == other.flags.writeable, "layout"
        if np.asarray(other).dtype.kind in "biu":
            np.testing.assert_array_equal(one, other)
        else:
            np.testing.assert_allclose(one, other, rtol=1e-11, atol=1e-11)  # differences of what is almost equal
