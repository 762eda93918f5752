"""Random programs over the op table: each row's call, composed with views, writes through views, and each other.

A program is grown statement by statement: each candidate is run by NumPy on the variables so far. What NumPy refuses is
dropped, except now and then, as the last statement.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from random import Random
from typing import Any

import numpy as np

from autojit.ops.chapters import TABLE
from tests.helpers import clone
from tests.table_arguments import BY_KIND, Arguments, other_contents
from tests.table_calls import FORMS, VIEWS, WRITES

_MOST_ELEMENTS, _MOST_ARGUMENTS = 150, 7


@dataclass(frozen=True, slots=True, eq=False)
class TableProgram:
    """Statements that stand for themselves.

    Attributes:
        lines: The statements; names end in `_`, before which a number is put.
        results: The names whose values are compared.
        calls: The arguments by name, of two calls.
        shares: Whether two arguments share memory.
        seed: Makes the program again.
    """

    lines: tuple[str, ...]
    results: tuple[str, ...]
    calls: tuple[dict[str, Any], dict[str, Any]]
    shares: bool
    seed: int

    @property
    def values(self) -> dict[str, Any]:
        """The arguments of the first call."""
        return self.calls[0]

    def with_lines(self, lines: tuple[str, ...], results: tuple[str, ...]) -> TableProgram:
        """The program with other statements."""
        text = "\n".join(lines)
        used = [name for name in self.values if re.search(rf"\b{name}\b", text)]
        calls = tuple({name: call[name] for name in used} for call in self.calls)
        return replace(self, lines=lines, results=results, calls=calls)


class Grower(Arguments):
    """Grows a program on concrete variables."""

    def __init__(self, random: Random) -> None:
        super().__init__(random)
        self.env: dict[str, Any] = {}
        self.lines: list[str] = []
        self.bound: list[str] = []
        self.dead = False
        self.depth = 0
        self.sides = tuple(random.choice([2, 3, 3, 4, 5]) for _ in range(3))
        kinds = [random.choice("bbiiiuuffffffcc") for _ in range(random.choice([1, 2, 2, 3]))]
        self.palette = [random.choice(BY_KIND[kind]) for kind in kinds]

    # ---- operands

    def argument(self, value: Any, owner: np.ndarray | None = None, fixed: bool = False) -> str:
        name = super().argument(value, owner, fixed)
        self.env[name] = value
        return name

    def value(self, text: str) -> Any:
        """The value of an expression."""
        return eval(text, {"np": np, **self.env})

    def dtype(self, kinds: str = "biufc") -> str:
        """A dtype of one of the kinds."""
        mine = [name for name in self.palette if np.dtype(name).kind in kinds]
        if mine and self.random.random() < 0.85:
            return self.random.choice(mine)
        return self.random.choice(BY_KIND[self.random.choice(kinds)])

    def shape(self, ndim: int | None = None) -> tuple[int, ...]:
        """A shape of the program's few lengths."""
        if ndim is None:
            ndim = self.random.choice([0, 1, 1, 1, 2, 2, 2, 2, 3])
        sides = list((self.sides * 2)[max(3 - ndim, 0) : max(3 - ndim, 0) + ndim])
        for axis in range(ndim):
            roll = self.random.random()
            if roll < 0.1:
                sides[axis] = 1
            elif roll < 0.13:
                sides[axis] = 0
        return tuple(sides)

    def fits(self, value: Any, kinds: str, low: int, high: int) -> bool:
        """Whether a variable may stand for an operand."""
        if not isinstance(value, np.ndarray | np.generic):
            return False
        return value.dtype.kind in kinds and low <= value.ndim <= high

    def array(
        self,
        kinds: str = "biufc",
        ndim: tuple[int, int] = (0, 3),
        good: Callable[[Any], bool] | None = None,
        shape: Callable[[], tuple[int, ...]] | None = None,
        scalars: bool = False,
    ) -> str:
        """An expression of an array: a variable, a view of one, a call, or a new argument.

        Args:
            kinds: The kinds of dtypes.
            ndim: The least and the largest number of axes.
            good: What else the array must be.
            shape: Makes the shape of a new argument.
            scalars: Whether a NumPy scalar will do.
        """

        def takes(value: Any) -> bool:
            if not isinstance(value, np.ndarray) and not (scalars and isinstance(value, np.generic)):
                return False
            return self.fits(value, kinds, *ndim) and (good is None or good(value))

        known = [name for name, value in self.env.items() if takes(value)]
        if known and (self.random.random() < 0.75 or len(self.values) >= _MOST_ARGUMENTS):
            name = self.random.choice(known[-4:] if self.random.random() < 0.6 else known)
            return self.dressed(name, takes) if self.random.random() < 0.3 else name
        for _ in range(8):
            made_shape = shape() if shape is not None else self.shape(self.random.randint(*ndim))
            made = self.new_array(made_shape, self.dtype(kinds))
            if takes(self.env[made]):
                return made
            del self.env[made], self.values[made], self.owners[made]
        raise LookupError

    def dressed(self, text: str, takes: Callable[[Any], bool]) -> str:
        """The expression inside a view or another call, if it still does."""
        if self.depth > 1:
            return text
        self.depth += 1
        try:
            view = self.random.choice(VIEWS)(self, text)
            if takes(self.value(view)):
                return view
        except Exception:
            pass
        finally:
            self.depth -= 1
        return text

    def like(self, text: str, kinds: str = "biufc", python: float = 0.25) -> str:
        """An operand that broadcasts with an expression; with some probability a Python number."""
        if self.random.random() < python:
            return self.number(kinds)
        wanted = np.shape(self.value(text))

        def shape() -> tuple[int, ...]:
            sides = [1 if self.random.random() < 0.12 else n for n in wanted]
            return tuple(sides[self.random.choice([0, 0, 0, 1]) :])

        return self.array(kinds, (0, 4), lambda a: broadcasts(a.shape, wanted), shape, scalars=True)

    def number(self, kinds: str = "biufc") -> str:
        """A Python number: written, or given at run time."""
        kind = self.random.choice([one for one in kinds if one in "biiffc"] or ["i"])
        choices = {
            "b": ["True", "False"],
            "i": ["2", "3", "1", "-1", "0", "5", "-3"] if "i" in kinds else ["2", "3", "1"],
            "f": ["0.5", "2.0", "-1.5", "1.0", "-0.0", "0.25", "3.5"],
            "c": ["1j", "(2-1j)"],
        }
        text = self.random.choice(choices[kind])
        if self.special and kind == "f" and self.random.random() < 0.2:
            text = self.random.choice(["np.inf", "np.nan", "1e300", "-np.inf"])
        if self.random.random() < 0.3 and len(self.values) < _MOST_ARGUMENTS:
            value = eval(text, {"np": np})
            if self.random.random() < 0.3:
                value = np.array(value, self.dtype(kinds if kind in kinds else kind))[()]
            return self.argument(value)
        return text

    # ---- statements

    def fresh(self) -> str:
        """A new name."""
        return f"x{len(self.bound)}_"

    def step(self) -> None:
        """Add one statement."""
        roll = self.random.random()
        kind = "write" if roll < 0.2 and self.env else "view" if roll < 0.3 and self.env else "call"
        for _ in range(12):
            before = dict(self.env), dict(self.values), dict(self.owners), set(self.fixed), self.shares
            if self._try(kind):
                return
            self.env, self.values, self.owners, self.fixed, self.shares = before

    def _try(self, kind: str) -> bool:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")  # NumPy's own warnings are not what is judged
            try:
                if kind == "write":
                    text = self.random.choice(WRITES)(self)
                elif kind == "view":
                    text = self.random.choice(VIEWS)(self, self.array(ndim=(0, 4)))
                else:
                    text = FORMS[self.random.choice(_NAMES)](self)
            except (LookupError, TypeError, ValueError, ArithmeticError, RuntimeError):
                return False
            try:
                return self.write(text) if kind == "write" else self.bind(text, self.value(text))
            except Exception:
                # Now and then the statement that raises is the last one.
                self.dead = self.random.random() < 0.03
                if self.dead:
                    self.lines.append(text if kind == "write" else f"{self.fresh()} = {text}")
                return self.dead

    def bind(self, text: str, value: Any) -> bool:
        """Add a statement that binds the value of an expression."""
        parts = value if isinstance(value, list | tuple) else [value]
        if not all(map(moderate, parts)) or not 0 < len(parts) < 12:
            return False
        if isinstance(value, list | tuple) and len(parts) < 4 and self.random.random() < 0.6:
            names = []
            for part in parts:
                names.append(self.fresh())
                self.bound.append(names[-1])
                self.env[names[-1]] = part
            self.lines.append(f"{', '.join(names)}{',' * (len(names) == 1)} = {text}")
            return True
        name = self.fresh()
        self.bound.append(name)
        self.env[name] = value
        self.lines.append(f"{name} = {text}")
        return True

    def write(self, text: str) -> bool:
        """Add a statement that writes, tried on copies of the variables."""
        trial = clone(self.env)
        exec(text, {"np": np}, trial)
        if not all(
            moderate(part)
            for value in trial.values()
            for part in (value if isinstance(value, list | tuple) else [value])
        ):
            return False
        self.bound += [name for name in trial if name not in self.env]
        self.env = trial
        self.lines.append(text)
        return True


def broadcasts(one: tuple[int, ...], other: tuple[int, ...]) -> bool:
    """Whether two shapes broadcast, to no more axes than the second has or one more."""
    if len(one) > len(other) + 1:
        return False
    return all(a == b or a == 1 or b == 1 for a, b in zip(one[::-1], other[::-1]))


def moderate(value: Any) -> bool:
    """Whether a value is small, and of a kind that compiles."""
    if isinstance(value, np.ndarray):
        return value.size <= _MOST_ELEMENTS and value.ndim <= 5 and value.dtype.kind in "biufc" and value.itemsize <= 16
    if isinstance(value, np.generic):
        return value.dtype.kind in "biufc" and value.itemsize <= 16 and not isinstance(value, np.longdouble)
    if isinstance(value, list | tuple):
        return len(value) <= _MOST_ELEMENTS and all(map(moderate, value))
    if isinstance(value, int):
        return abs(value) < 2**60
    return isinstance(value, float | complex)


_OFTEN = frozenset(
    "np.add np.subtract np.multiply np.divide np.where np.sum getitem np.concatenate astype np.less np.maximum".split()
)


def _weight(name: str) -> int:
    if name in _OFTEN:
        return 12
    seldom = name.endswith(".outer") or name.startswith(("np.fft", "np.linalg", "py_", "item_"))
    return 1 if seldom or TABLE[name].family == "host" else 4


_NAMES = [name for name in FORMS for _ in range(_weight(name))]


def make_table_program(seed: int) -> TableProgram:
    """The program of a seed."""
    random = Random(seed)
    grower = Grower(random)
    for _ in range(random.choice([1, 1, 2, 2, 3])):
        grower.new_array(grower.shape(), grower.dtype())
    for _ in range(random.choice([2, 3, 3, 4, 4, 5, 6])):
        if not grower.dead:
            grower.step()
    results = tuple(grower.bound if random.random() < 0.8 else grower.bound[-2:])
    return finish(grower, results, seed)


def finish(grower: Grower, results: tuple[str, ...], seed: int) -> TableProgram:
    """The program with its two calls."""
    text = "\n".join(grower.lines)
    used = {name: value for name, value in grower.values.items() if name in text}
    owners = {name: owner for name, owner in grower.owners.items() if name in used}
    # What counts up to its largest element makes gigabytes of some numbers.
    fixed = grower.fixed.union(used if "bincount" in text else ())
    calls = (used, other_contents(used, owners, fixed, seed))
    return TableProgram(tuple(grower.lines), results, calls, grower.shares, seed)
