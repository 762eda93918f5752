"""What this machine can do at most, measured: floating point operations and bytes of memory per second."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from time import perf_counter

import numpy as np

from autojit.compile.executable import Executable
from autojit.ir.graph import Graph, Node, Value
from autojit.ir.spec import Spec
from autojit.ops.chapters import TABLE

#: The side of the matrices that are multiplied.
_SIDE = 1024
#: The elements of the arrays that are read and written: 64 MB each, more than caches hold.
_LENGTH = 8 * 1024 * 1024
_TIMES = 5


@dataclass(frozen=True, slots=True)
class Machine:
    """What the machine can do, in double precision and as autojit uses it.

    Attributes:
        flops: Floating point operations per second, in a product of matrices.
        bandwidth: Bytes read and written per second, in a pass over arrays that no cache holds.
    """

    flops: float
    bandwidth: float

    @property
    def balance(self) -> float:
        """Operations per byte from which on computing takes longer than reading and writing."""
        return self.flops / self.bandwidth


@functools.cache
def machine() -> Machine:
    """Measure this machine, which takes half a second, once in a process."""
    product = _seconds("np.matmul", (_SIDE, _SIDE), (_SIDE, _SIDE))
    negative = _seconds("np.negative", (_LENGTH,))
    return Machine(2 * _SIDE**3 / product, 2 * _LENGTH * np.float64().itemsize / negative)


def _seconds(row: str, *shapes: tuple[int, ...]) -> float:
    """The shortest of a few runs of one operation; the first pays for fresh memory."""
    dtype = np.dtype(np.float64)
    inputs = tuple(Value(f"a{number}", Spec(shape, dtype)) for number, shape in enumerate(shapes))
    output = Value("v0", inputs[0].spec)
    executable = Executable(
        Graph(row.removeprefix("np."), inputs, (Node(TABLE[row], inputs, (), (output,)),), (output,))
    )
    arrays, times = [np.ones(shape) for shape in shapes], []
    for _ in range(_TIMES):
        start = perf_counter()
        executable.run(arrays)
        times.append(perf_counter() - start)
    return min(times)
