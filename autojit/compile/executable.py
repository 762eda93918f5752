"""`Executable`: a compiled cluster, and the warm path through it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from autojit.compile.transfer import SMALL, STAGING, aligned_empty, enter
from autojit.compile.xla import Program, share
from autojit.errors import Trapped
from autojit.ir.graph import Graph
from autojit.lowering.cluster import Lowered, Parameter, lower


class Executable:
    """A compiled cluster.

    Attributes:
        name: The name of the cluster that was compiled first under this key.
        lowered: The cluster as a function of jax values.
        program: The XLA program.
        compile_seconds: How long lowering and compiling took.
    """

    def __init__(self, graph: Graph) -> None:
        start = time.perf_counter()
        self.lowered: Lowered = lower(graph)
        self.name = graph.name
        parameters = self.lowered.parameters
        self.program = Program(
            self.lowered.function,
            [(parameter.shape, parameter.dtype) for parameter in parameters],
            compile_options(graph),
        )
        self.compile_seconds = time.perf_counter() - start
        self._kept = [parameters[number] for number in self.program.kept]
        self._has_trap = len(self.program.outputs) > len(self.lowered.computed)
        self._frames: list[_Frame] = []

    @property
    def compiled(self) -> Any:
        """The `jax.stages.Compiled`."""
        return self.program.compiled

    @property
    def nbytes(self) -> int:
        """The size of the machine code, or 0 if XLA does not tell."""
        return self.program.nbytes

    def run(self, values: Sequence[Any]) -> list[np.ndarray]:
        """Run the program and wait for it.

        Args:
            values: One concrete value per input of the graph: arrays of exactly the input's shape and dtype, with
                any strides, or scalars.

        Returns:
            One read-only array per result of the graph. Arrays of computed results are XLA's own buffers.

        Raises:
            Trapped: The data must be left to NumPy.
        """
        try:
            frame = self._frames.pop()
        except IndexError:
            frame = _Frame(self._kept)
        lent: list[np.ndarray] = []
        outputs = self.program.launch(frame.fill(values, lent))
        # Dispatch is synchronous, and the trap flag or a view waits all the same.
        arrays = [
            np.ndarray(shape, dtype, buffer)
            for (shape, dtype), buffer in zip(self.program.outputs, outputs, strict=True)
        ]
        self._frames.append(frame)
        for buffer in lent:
            STAGING.give_back(buffer)
        if self._has_trap and arrays.pop():
            raise Trapped(self.name)
        if len(arrays) == len(self.lowered.results):
            return arrays
        return [self._result(result, arrays, values) for result in self.lowered.results]

    def _result(self, result: Any, arrays: list[np.ndarray], values: Sequence[Any]) -> np.ndarray:
        if result.kind == "computed":
            return arrays[result.index]
        if result.kind == "input":
            spec = self.lowered.graph.inputs[result.index].spec
            array = np.array(values[result.index], spec.dtype, order="C")
        else:
            array = np.array(result.value, order="C")
        array.flags.writeable = False
        return array


class _Frame:
    """The memory for one execution's small arguments: jax arrays made once over NumPy memory that is filled anew.

    Making a jax array costs 3 us, copying a few elements into an existing one 0.1 us.
    """

    __slots__ = ("buffers", "large", "packs", "slots")

    def __init__(self, parameters: Sequence[Parameter]) -> None:
        self.buffers: list[Any] = []
        self.slots: list[tuple[np.ndarray, int]] = []
        self.packs: list[tuple[np.ndarray, tuple[int, ...]]] = []
        self.large: list[tuple[int, int]] = []
        for number, parameter in enumerate(parameters):
            nbytes = parameter.dtype.itemsize * int(np.prod(parameter.shape, dtype=np.int64))
            if not parameter.packed and nbytes > SMALL:
                self.buffers.append(None)
                self.large.append((number, parameter.positions[0]))
                continue
            memory = aligned_empty(parameter.shape, parameter.dtype)
            self.buffers.append(share(memory))
            if parameter.packed:
                self.packs.append((memory, parameter.positions))
            else:
                self.slots.append((memory, parameter.positions[0]))

    def fill(self, values: Sequence[Any], lent: list[np.ndarray]) -> list[Any]:
        """The arguments of the program for these values."""
        for memory, position in self.slots:
            memory[...] = values[position]
        for memory, positions in self.packs:
            try:
                memory[:] = [values[position] for position in positions]
            except OverflowError:
                raise Trapped("a Python int does not fit into 64 bits") from None
        if not self.large:
            return self.buffers
        buffers = self.buffers.copy()
        for number, position in self.large:
            buffers[number] = enter(values[position], lent)
        return buffers


def compile_options(graph: Graph) -> dict[str, Any]:
    """XLA's options for one cluster.

    The fusions of XLA's YNN library make reductions up to 4 times faster, but a chain of matrix products with a
    softmax 13 times slower.
    """
    if any(node.op.family == "contraction" for node in graph.nodes):
        return {"xla_cpu_experimental_ynn_fusion_type": ""}
    return {}
