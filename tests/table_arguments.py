"""Arguments of random programs over the op table: arrays of any dtype, shape, memory layout and contents."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np

from tests.helpers import clone

BY_KIND = {
    "b": ("bool",),
    "i": ("int64", "int64", "int8", "int16", "int32"),
    "u": ("uint8", "uint16", "uint32", "uint64"),
    "f": ("float64", "float64", "float64", "float32", "float32", "float16"),
    "c": ("complex128", "complex64"),
}
_LAYOUTS = "c c c c f strided turned reversed repeated frozen frozen_view unaligned part".split()


class Arguments:
    """Makes arguments and keeps what owns their memory, so that a second call can have other contents.

    Attributes:
        values: The arguments by name.
        owners: For each array, the array that all its elements lie in.
        fixed: The names whose contents must stay, since NumPy promises nothing for others.
    """

    def __init__(self, random: Random) -> None:
        self.random = random
        self.numpy = np.random.default_rng(random.getrandbits(32))
        self.values: dict[str, Any] = {}
        self.owners: dict[str, np.ndarray] = {}
        self.fixed: set[str] = set()
        self.shares = False
        self.fractions = random.random() < 0.12
        self.special = random.random() < 0.2

    def numbers(self, shape: tuple[int, ...], dtype: str) -> np.ndarray:
        """Small whole numbers and quarters, on which most arithmetic is exact; now and then others."""
        kind = np.dtype(dtype).kind
        rng = self.numpy
        if kind == "b":
            made = rng.random(shape) < 0.5
        elif kind in "iu":
            made = rng.integers(-4 if kind == "i" else 0, 8, shape)
        elif self.fractions:
            made = rng.normal(size=shape) * 2 + (1j * rng.normal(size=shape) if kind == "c" else 0)
        else:
            made = rng.integers(-8, 13, shape) / self.random.choice([1, 1, 2, 4])
            if kind == "c":
                made = made + 1j * rng.integers(-4, 5, shape)
        made = np.array(made, dtype).reshape(shape)
        if self.special and made.size and kind != "b":
            flat = made.reshape(-1)
            for _ in range(self.random.choice([0, 1, 1, 2])):
                flat[self.random.randrange(flat.size)] = self.extreme(made.dtype)
        return made

    def extreme(self, dtype: np.dtype) -> Any:
        """A value at which implementations differ."""
        if dtype.kind in "iu":
            info = np.iinfo(dtype)
            return self.random.choice([info.max, info.min, info.max - 1, info.min + 1, 0])
        choices = [np.nan, np.inf, -np.inf, -0.0, 0.0, float(np.finfo(dtype).max), float(np.finfo(dtype).tiny)]
        one = self.random.choice(choices)
        return complex(one, self.random.choice([0.0, -0.0, one, 1.0])) if dtype.kind == "c" else one

    def laid_out(self, shape: tuple[int, ...], dtype: str, plain: bool = False) -> np.ndarray:
        """An array in one of NumPy's memory layouts; its owner is kept for the argument it becomes."""
        layout = "c" if plain else self.random.choice(_LAYOUTS)
        ndim = len(shape)
        if layout == "strided":
            owner = self.numbers(tuple(2 * n + 1 for n in shape), dtype)
            made = owner[tuple(slice(1, 2 * n + 1, 2) for n in shape)]
        elif layout == "turned":
            owner = self.numbers(shape[::-1], dtype)
            made = owner.T
        elif layout == "reversed" and ndim:
            owner = self.numbers(shape, dtype)
            turned = self.random.choice([(slice(None, None, -1),) * ndim, (..., slice(None, None, -1))])
            made = owner[turned]
        elif layout == "repeated" and ndim:
            owner = self.numbers(self.random.choice([shape[1:], (1, *shape[1:])]), dtype)
            made = np.broadcast_to(owner, shape)
        elif layout == "unaligned":
            size = np.dtype(dtype).itemsize * int(np.prod(shape))
            raw = np.zeros(size + 9, np.uint8)
            made = owner = raw[1 : 1 + size].view(dtype).reshape(shape)
            owner[...] = self.numbers(shape, dtype)
        elif layout == "part" and ndim:
            owner = self.numbers((shape[0] + 2, *shape[1:]), dtype)
            made = owner[1:-1]
        elif layout == "f":
            made = owner = np.asfortranarray(self.numbers(shape, dtype)).reshape(shape, order="F")
        else:
            made = owner = self.numbers(shape, dtype)
            if layout == "frozen_view":
                made = owner[...]
            made.flags.writeable = not layout.startswith("frozen")
        self._owner = owner
        return made

    def argument(self, value: Any, owner: np.ndarray | None = None, fixed: bool = False) -> str:
        """The name of a new argument."""
        name = f"a{len(self.values)}_"
        self.values[name] = value
        if isinstance(value, np.ndarray):
            self.owners[name] = value if owner is None else owner
        if fixed:
            self.fixed.add(name)
        return name

    def new_array(self, shape: tuple[int, ...], dtype: str, plain: bool = False) -> str:
        """The name of a new array argument; now and then memory of another one."""
        if not plain and self.owners and self.random.random() < 0.04:
            name = self.random.choice(list(self.owners))
            other = self.values[name]
            made = self.random.choice([other, other[...], other.T, other[1:] if other.ndim else other])
            if made.size:
                self.shares = True
                return self.argument(made, self.owners[name])
        made = self.laid_out(shape, dtype, plain)
        return self.argument(made, self._owner)


def other_contents(values: dict[str, Any], owners: dict[str, np.ndarray], fixed: set[str], seed: int) -> dict[str, Any]:
    """Arguments of the same specs, shared memory and layouts, with their elements in another order."""
    rng = np.random.default_rng(seed)
    names, owned = list(values), list(owners)
    mine, theirs = clone(([values[name] for name in names], [owners[name] for name in owned]))
    for name, owner in zip(owned, theirs, strict=True):
        if name in fixed or owner.size < 2:
            continue
        writeable = owner.flags.writeable
        owner.flags.writeable = True
        owner[...] = rng.permutation(owner.reshape(-1)).reshape(owner.shape)
        owner.flags.writeable = writeable
    made = dict(zip(names, mine, strict=True))
    for name, value in made.items():
        if name not in fixed and isinstance(value, float | np.floating | complex | np.complexfloating):
            made[name] = type(value)(value + 1)
    return made
