"""Random indexing expressions: reads, writes and updates in every form that NumPy has.

Each expression stands on arrays of its own, so that many of them make one function, which is compiled once.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np

DTYPES = "float64 float64 float64 int64 int64 float32 int32 uint8 bool complex128 int8 float16".split()
_LENGTHS = (1, 2, 3, 3, 4, 5, 0)


@dataclass(frozen=True, slots=True)
class Expression:
    """One statement or two.

    Attributes:
        lines: The statements; the last one binds `{r}`. Names in braces are the expression's own.
        values: Its arguments by the names in braces.
    """

    lines: tuple[str, ...]
    values: dict[str, Any]

    def text(self, number: int) -> list[str]:
        """The statements with the names of one expression among many."""
        names = {name: f"{name}{number}" for name in (*self.values, "r", "b")}
        return [line.format(**names) for line in self.lines]


class _Maker:
    def __init__(self, random: Random) -> None:
        self.random = random
        self.numpy = np.random.default_rng(random.getrandbits(32))
        self.values: dict[str, Any] = {}

    def argument(self, value: Any, prefix: str = "i") -> str:
        name = f"{prefix}{len(self.values)}_"
        self.values[name] = value
        return "{" + name + "}"

    # ---- arrays

    def numbers(self, shape: tuple[int, ...], dtype: str) -> np.ndarray:
        """Small whole numbers, of which every dtype holds some."""
        made = self.numpy.integers(0, 9, shape)
        return made.astype(bool) if dtype == "bool" else made.astype(dtype)

    def array(self, shape: tuple[int, ...], dtype: str) -> np.ndarray:
        """An array in one of NumPy's memory layouts."""
        layout = self.random.choice(["plain", "plain", "plain", "strided", "turned", "reversed", "frozen", "repeated"])
        if layout == "strided":
            wide = self.numbers(tuple(2 * n + 1 for n in shape), dtype)
            return wide[tuple(slice(1, 2 * n + 1, 2) for n in shape)]
        if layout == "turned":
            return self.numbers(shape[::-1], dtype).T
        if layout == "reversed":
            return self.numbers(shape, dtype)[(slice(None, None, -1),) * len(shape)]
        if layout == "repeated" and shape:
            return np.broadcast_to(self.numbers(shape[1:], dtype), shape)
        made = self.numbers(shape, dtype)
        made.flags.writeable = layout != "frozen"
        return made

    def shape(self, most: int = 4) -> tuple[int, ...]:
        """A shape of few elements."""
        lengths = _LENGTHS if self.random.random() < 0.15 else _LENGTHS[:-1]
        return tuple(self.random.choice(lengths) for _ in range(self.random.choice(range(most + 1))))

    # ---- indices

    def place(self, length: int) -> int:
        """One index; now and then outside."""
        if not length or self.random.random() < 0.02:
            return self.random.choice([length, length + 2, -length - 1])
        return self.random.randrange(-length, length)

    def whole(self, length: int) -> str:
        """An integer, as a constant or at run time."""
        number = self.place(length)
        kind = self.random.random()
        if kind < 0.5:
            return str(number)
        made = self.random.choice([np.int64, np.int8, np.intp, np.int32])(number)
        return self.argument(number if kind < 0.7 else made)

    def slice(self, length: int) -> str:
        """A slice with any bounds."""

        def bound() -> str:
            number = self.random.randint(-length - 2, length + 2)
            return "" if self.random.random() < 0.4 else str(number)

        step = self.random.choice(["", "", "", ":1", ":2", ":-1", ":-1", ":-2", ":3"])
        return f"{bound()}:{bound()}{step}"

    def places(self, length: int, common: tuple[int, ...]) -> str:
        """An array of indices whose shape broadcasts to `common`."""
        shape = tuple(1 if self.random.random() < 0.2 else n for n in common)[self.random.choice([0, 0, 0, 1]) :]
        found = np.array([self.place(length) for _ in range(int(np.prod(shape)))], np.int64).reshape(shape)
        if self.random.random() < 0.25 and found.ndim:
            return str(found.tolist())
        dtype = self.random.choice(["int64", "int64", "int32", "int8", "intp"])
        return self.argument(found.astype(dtype))

    def index(self, shape: tuple[int, ...]) -> str:
        """What stands between the brackets for an array of this shape."""
        kind = self.random.random()
        common = self.random.choice([(2,), (3,), (2, 3), (1,), (3, 1), (0,), ()])
        if kind < 0.06:
            return self.argument(self.numpy.random(shape) > 0.5)
        if kind < 0.1 and shape and all(shape):
            return f"np.ix_({', '.join(self.places(n, (2,)) for n in shape[: self.random.choice([1, 2])])})"
        parts: list[str] = []
        axis, used = 0, self.random.choice(range(len(shape) + 1)) if self.random.random() < 0.5 else len(shape)
        fancy = self.random.random() < 0.5
        while axis < used:
            choice = self.random.random()
            length = shape[axis]
            if choice < 0.25:
                parts.append(self.whole(length))
            elif choice < 0.55 or not fancy:
                parts.append(self.slice(length))
            elif choice < 0.85:
                parts.append(self.places(length, common))
            elif choice < 0.95:
                span = min(self.random.choice([1, 1, 2]), used - axis)
                parts.append(self.argument(self.numpy.random(shape[axis : axis + span]) > 0.5))
                axis += span - 1
            else:
                parts.append(self.argument(np.array(self.place(length))))
            axis += 1
        if self.random.random() < 0.2:
            parts.insert(self.random.randint(0, len(parts)), "None")
        if self.random.random() < 0.03:
            parts.insert(self.random.randint(0, len(parts)), self.random.choice(["True", "False"]))
        if self.random.random() < 0.2 or not parts:
            place = self.random.randint(0, len(parts))
            parts.insert(place if used == len(shape) else len(parts), "...")
        text = ", ".join(parts)
        if len(parts) == 1 and self.random.random() < 0.8:
            return text
        return f"{text}," if len(parts) == 1 else text

    def probe(self, index: str, array: np.ndarray) -> Any:
        """What NumPy reads, or `None` where it raises."""
        names = {name: name for name in self.values}
        try:
            return eval(f"array[{index.format(**names)}]", {"np": np, "array": array, **self.values})
        except (IndexError, ValueError, TypeError):
            return None

    def stored(self, index: str, array: np.ndarray) -> str:
        """A value that may be assigned to a part of an array."""
        if self.random.random() < 0.3:
            return self.random.choice(["3", "2.0", "True", self.argument(self.numbers((), str(array.dtype))[()])])
        part = self.probe(index, array)
        shape = np.shape(part) if part is not None else (2,)
        shape = tuple(1 if self.random.random() < 0.15 else n for n in shape)[self.random.choice([0, 0, 1]) :]
        if self.random.random() < 0.03:
            shape = (*shape, 3)
        kinds = [name for name in DTYPES if not (name.startswith("complex") and array.dtype.kind != "c")]
        return self.argument(self.array(shape, self.random.choice(kinds)), "v")

    # ---- expressions

    def expression(self) -> Expression:
        """One expression."""
        array = self.array(self.shape(), self.random.choice(DTYPES))
        name = self.argument(array, "a")
        kind = self.random.random()
        if kind < 0.45:
            lines = [f"{{r}} = {name}[{self.index(array.shape)}]"]
            part = self.probe(lines[0].split("[", 1)[1][:-1], array)
            if part is not None and np.ndim(part) and self.random.random() < 0.3:
                lines[0] += f"[{self.index(np.shape(part))}]"
        elif kind < 0.8:
            index = self.index(array.shape)
            sign = self.random.choice(["=", "=", "+=", "*="] if array.dtype != bool else ["=", "|=", "&="])
            lines = [f"{name}[{index}] {sign} {self.stored(index, array)}", f"{{r}} = {name}"]
            if self.random.random() < 0.15:
                view = self.random.choice([".T", "[::-1]", "[...]", "[None]", ".reshape(-1)"])
                lines = [f"{{b}} = {name}{view}", f"{{b}}[{index}] {sign} 3", f"{{r}} = {name}, {{b}}"]
        else:
            lines = self.call(name, array)
        return Expression(tuple(lines), self.values)

    def call(self, name: str, array: np.ndarray) -> list[str]:
        """A function or method that selects."""
        axis = self.random.randrange(-array.ndim, array.ndim) if array.ndim else 0
        length = array.shape[axis] if array.ndim else 1
        mode = self.random.choice(["", "", ", mode='wrap'", ", mode='clip'"])
        where = f", axis={axis}" if array.ndim and self.random.random() < 0.7 else ""
        size = length if where else array.size
        if not size and "wrap" in mode:
            mode = ""  # NumPy's `take` of places in an axis without elements never ends
        places = self.places(size, self.random.choice([(2,), (2, 3), ()]))
        kind = self.random.randrange(8)
        if kind == 0:
            return [f"{{r}} = np.take({name}, {places}{where}{mode})"]
        if kind == 1:
            return [f"{{r}} = {name}.take({places}{where}{mode})"]
        if kind == 2:
            return [f"np.put({name}, {self.places(array.size, (3,))}, 2{mode})", f"{{r}} = {name}"]
        if kind == 3:
            mask = self.argument(self.numpy.random(size) > 0.4)
            return [f"{{r}} = np.compress({mask}, {name}{where})"]
        if kind == 4 and array.ndim:
            shape = tuple(2 if n == axis % array.ndim else length for n, length in enumerate(array.shape))
            found = self.argument(
                np.array([self.place(length) for _ in range(int(np.prod(shape)))], int).reshape(shape)
            )
            if self.random.random() < 0.5:
                return [f"{{r}} = np.take_along_axis({name}, {found}, axis={axis})"]
            return [f"np.put_along_axis({name}, {found}, 3, axis={axis})", f"{{r}} = {name}"]
        if kind == 5:
            choices = self.argument(np.array(self.numpy.integers(0, 2, array.shape)))
            return [f"{{r}} = np.choose({choices}, [{name}, {name}[...]]{mode})"]
        if kind == 6:
            return [f"{{r}} = np.flip({name}{where})"]
        mask = self.argument(self.numpy.random(array.shape) > 0.5)
        return [f"{{r}} = np.where({mask}, {name}, {self.random.choice(['0', '1.5', name])})"]


def make_expression(seed: int) -> Expression:
    """The expression of a seed."""
    return _Maker(Random(seed)).expression()
