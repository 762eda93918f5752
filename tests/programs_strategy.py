"""Random NumPy programs as source text, written as a user would, with arguments that they run on.

A program is grown statement by statement: each candidate is run on a copy of the variables, and what NumPy refuses is
dropped, except now and then, as the last statement. The choices come from an object like `random.Random`, so that
hypothesis and the fuzz command share the generator.
"""

from __future__ import annotations

import itertools
import linecache
import types
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

from tests.helpers import clone
from tests.programs_grower import Grower

DTYPES = ("float64", "float64", "float64", "float32", "int64", "int32", "uint8", "bool", "complex128")

#: What stands above a program: imports, helpers, constants, records.
MODULES = (
    """
import numpy as np

def centre(a, axis=None):
    return a - a.mean(axis=axis, keepdims=True)

def split(a, b, scale=2):
    total = a + b
    return total * scale, np.abs(a - b)

def bump(a, step=1):
    a += step
    return a

WEIGHTS = np.arange(4.0)
WEIGHTS.flags.writeable = False
OFFSET = 3
""",
    """
import numpy
from numpy import sqrt, where
import numpy as np

def centre(a, axis=None):
    if axis is None:
        return a - a.min()
    return a - a.max(axis=axis, keepdims=True)

def split(a, b, scale=0.5):
    low, high = np.minimum(a, b), np.maximum(a, b)
    return low, (high - low) * scale

def bump(a, step=2):
    a[...] = a * step
    return a.T

WEIGHTS = np.array([2, -1, 0, 3])
WEIGHTS.flags.writeable = False
OFFSET = 1.5
""",
)


@dataclass(frozen=True, slots=True, eq=False)
class Program:
    """A module with a function `program`, and the arguments of some calls.

    Attributes:
        module: The text above the function.
        parameters: The names of its parameters.
        lines: The function's body, not indented.
        calls: One tuple of arguments per call; shapes and types may differ between calls.
    """

    module: str
    parameters: tuple[str, ...]
    lines: tuple[str, ...]
    calls: tuple[tuple[Any, ...], ...]

    @property
    def source(self) -> str:
        """The module's text."""
        body = "\n".join("    " + line for text in self.lines for line in text.split("\n"))
        return f"{self.module}\ndef program({', '.join(self.parameters)}):\n{body}\n"

    def __repr__(self) -> str:
        calls = "\n".join(f"# program({', '.join(map(_shown, call))})" for call in self.calls)
        return f"{self.source}\n{calls}"


def _shown(value: Any) -> str:
    if not isinstance(value, np.ndarray):
        return repr(value)
    notes = "" if value.flags.c_contiguous else f" strides {value.strides}"
    notes += "" if value.flags.writeable else " read-only"
    return " ".join(repr(value).split()) + (f" #{notes}" if notes else "")


_numbers = itertools.count()


def load(source: str, extra: dict[str, Any] | None = None) -> types.FunctionType:
    """The function `program` of a module's text, with its source where `inspect` finds it."""
    file = f"<random program {next(_numbers)}>"
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    namespace: dict[str, Any] = {"__name__": "random_program", **(extra or {})}
    exec(compile(source, file, "exec", dont_inherit=True), namespace)
    return namespace["program"]


def make_array(random: Any, shape: tuple[int, ...], dtype: str) -> np.ndarray:
    """An array of small values with few bits, in some memory layout."""
    count = int(np.prod(shape))
    if count > 200:
        return _layout(random, _large_array(random.randrange(2**32), shape, dtype))
    if dtype == "bool":
        values = np.array([random.random() < 0.5 for _ in range(count)], dtype)
    elif dtype in ("float64", "float32", "complex128"):
        values = np.array([random.randint(-12, 12) / 4 for _ in range(count)], dtype)
        if dtype == "complex128":
            values += 1j * np.array([random.randint(-6, 6) / 2 for _ in range(count)])
        if count and random.random() < 0.1:
            values[random.randrange(count)] = random.choice([np.nan, np.inf, -0.0, 1e30, 1e-3])
    else:
        low = 0 if dtype == "uint8" else -9
        values = np.array([random.randint(low, 9) for _ in range(count)], dtype)
        if count and random.random() < 0.1:
            values[random.randrange(count)] = np.iinfo(dtype).max
    return _layout(random, values.reshape(shape))


def _large_array(seed: int, shape: tuple[int, ...], dtype: str) -> np.ndarray:
    rng = np.random.default_rng(seed)
    low = 0 if dtype in ("uint8", "bool") else -12
    values = rng.integers(low, 2 if dtype == "bool" else 13, shape)
    return (values / 4 if dtype in ("float64", "float32", "complex128") else values).astype(dtype)


def _layout(random: Any, array: np.ndarray) -> np.ndarray:
    kind = random.choice(["plain"] * 6 + ["fortran", "strided", "reversed", "offset", "frozen"])
    if kind == "fortran":
        return np.asfortranarray(array)
    if kind == "strided" and array.ndim:
        return np.repeat(array, 2, axis=-1)[..., ::2]
    if kind == "reversed" and array.ndim:
        return array[::-1].copy()[::-1]
    if kind == "offset" and array.ndim:
        return np.concatenate([array[:1], array])[1:]
    if kind == "frozen":
        array = array.copy()
        array.flags.writeable = False
    return array


_SHAPES: tuple[tuple[tuple[int, ...], ...], ...] = (
    ((4,), (4,), (4,)),
    ((3, 4), (4,), (3, 1)),
    ((3, 4), (3, 4), (4, 3)),
    ((5,), (5, 5), (1, 5)),
    ((2, 3, 4), (3, 4), (4,)),
    ((6,), (6,), ()),
    ((2, 2), (2, 2), (2,)),
    ((1,), (4,), (4, 1)),
    ((0,), (3, 0), (3, 1)),
)


#: Large enough for vector loops, several threads, memory that is used again, and reductions in steps.
_LARGE_SHAPES: tuple[tuple[tuple[int, ...], ...], ...] = (
    ((5000,), (5000,), ()),
    ((70, 90), (90,), (70, 1)),
    ((40000,), (40000,), (1,)),
    ((3, 17, 200), (17, 200), (200,)),
    ((300, 257), (300, 257), (257,)),
)


class _Inputs:
    """The makers of the arguments: the same kinds in each call, other values, sometimes other shapes."""

    def __init__(self, random: Any) -> None:
        self.random = random
        shapes = random.choice(_SHAPES if random.random() < 0.9 else _LARGE_SHAPES)
        count = random.randint(2, 3)
        self.arrays = [(shapes[n], random.choice(DTYPES)) for n in range(count)]
        if random.random() < 0.4:
            self.arrays = [(shape, self.arrays[0][1]) for shape, _ in self.arrays]
        self.twice = random.random() < 0.06
        self.overlap = random.random() < 0.04
        self.scalars = [random.choice(["int", "int", "float", "bool", "npfloat", "npint"]) for _ in range(random.randint(1, 2))]

    @property
    def names(self) -> tuple[str, ...]:
        return ("a", "b", "c")[: len(self.arrays)] + ("n", "s")[: len(self.scalars)]

    def call(self) -> tuple[Any, ...]:
        random = self.random
        arrays = [make_array(random, shape, dtype) for shape, dtype in self.arrays]
        if self.twice:
            arrays[1] = arrays[0]
        elif self.overlap and arrays[0].ndim and arrays[0].shape[0] > 1:
            arrays[1] = arrays[0][1:]
        return (*arrays, *(self._scalar(kind) for kind in self.scalars))

    def _scalar(self, kind: str) -> Any:
        random = self.random
        if kind == "bool":
            return random.random() < 0.5
        if kind in ("int", "npint"):
            value = random.choice([0, 1, 2, 2, 3, 3, 4, -1, -2])
            return value if kind == "int" else random.choice([np.int64, np.int32])(value)
        value = random.choice([0.5, 1.5, 2.0, -1.0, 0.25, 0.0])
        return value if kind == "float" else random.choice([np.float64, np.float32])(value)


def make_program(random: Any) -> Program:
    """A random program of 3 to 15 statements.

    Args:
        random: The source of all choices, like a `random.Random`.
    """
    module = random.choice(MODULES)
    inputs = _Inputs(random)
    first = (*inputs.call(), [1.0])
    parameters = (*inputs.names, "log")
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # NumPy's own warnings are not what is judged
        grower = Grower(random, module, parameters, clone(first))
        for _ in range(random.randint(3, 15)):
            if not grower.dead:
                grower.step()
        grower.lines.append(grower.result())
    calls = [first, (*inputs.call(), [1.0])]
    if random.random() < 0.15:
        other = _Inputs(random)
        other.arrays = [(other.arrays[0][0], dtype) for _, dtype in (other.arrays * 2)[: len(inputs.arrays)]]
        other.scalars = inputs.scalars
        calls.append((*other.call(), [1.0]))
    return Program(module, parameters, tuple(grower.lines), tuple(calls))


def programs() -> st.SearchStrategy[Program]:
    """Random programs, as a hypothesis strategy."""
    return st.builds(make_program, st.randoms(use_true_random=False))
