"""`Executable`: a compiled cluster, and the warm path through it."""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter
from typing import Any

import numpy as np

from autojit.compile.frame import Frame
from autojit.compile.options import compile_options
from autojit.compile.patience import abandon, bounds_of, is_open, many, patiently
from autojit.compile.questions import SERVICE, program_of
from autojit.compile.stored import Stored
from autojit.compile.transfer import REUSED, ResultMemory, give_back, memory_for
from autojit.compile.uninitialized import allocator
from autojit.compile.xla import JaxRuntimeError, Program
from autojit.errors import Trapped
from autojit.ir.graph import Graph
from autojit.lowering.cluster import Lowered, Result, lower

#: Results from this size on keep XLA's memory when they become the user's.
LARGE = 64 * 1024


class Executable:
    """A compiled cluster.

    Attributes:
        name: The name of the cluster that was compiled first under this key.
        lowered: The cluster as a function of jax values.
        program: The XLA program.
        is_loaded: Whether the program was compiled by an earlier process.
        compile_seconds: How long lowering and compiling took, or loading.
        choice: XLA's options that measurement has chosen.

    Args:
        graph: The cluster.
        stored: The program as another process has compiled it.
        choice: XLA's options that measurement has chosen.
        is_portable: Whether another process can compile it.
    """

    @np.errstate(all="ignore")  # constants are cast
    def __init__(self, graph: Graph, stored: Stored | None = None, choice: str = "", is_portable: bool = False) -> None:
        start = perf_counter()
        self.name = graph.name
        self.choice = choice
        self.lowered: Lowered = lower(graph)
        parameters = self.lowered.parameters
        memory = [spec for spec in self.lowered.computed if spec.nbytes >= REUSED]
        self.is_loaded = stored is not None
        asked = program_of(graph, choice) if stored is None and is_portable and SERVICE.answers() else None
        self.program = Program(
            self.lowered.function,
            [(parameter.shape, parameter.dtype) for parameter in parameters],
            [(spec.shape, spec.dtype) for spec in memory],
            compile_options(graph, choice),
            self.lowered.source,
            stored or asked,
            asked is not None,
        )
        self.compile_seconds = perf_counter() - start
        self._memory = [spec.nbytes for spec in memory]
        for nbytes in self._memory if asked is not None else ():  # or the first run would wait for that
            allocator(nbytes)
        self._has_trap = len(self.program.outputs) > len(self.lowered.computed)
        self._is_plain = all(result.kind == "computed" for result in self.lowered.results)
        self._frames: list[Frame] = []
        self._launch = self._launch_patiently if is_open(graph) else self.program.launch
        self._bounds = bounds_of(graph)
        if self._bounds:
            self._many, self._most = many(graph)
            self.run = self._run_counted

    def _launch_patiently(self, arguments: Sequence[Any]) -> list[Any]:
        """Start a program that may run for long, and wait for it in a way that the user can interrupt."""
        return patiently(self.program.launch, arguments)

    def _run_counted(self, values: Sequence[Any], launch: Any = None) -> list[np.ndarray]:
        """Run a program whose loops may take many iterations: the numbers that it is given say so."""
        together = 1
        for place in self._bounds:
            number = abs(int(values[place]))  # of the least int8 NumPy would warn
            together *= number or 1
            if number >= self._many or together >= self._most:
                launch = self._launch_patiently
        return Executable.run(self, values, launch)

    def to_stored(self) -> Stored | None:
        """The program for later processes, or `None` if XLA cannot serialize it."""
        return self.program.to_stored()

    @property
    def nbytes(self) -> int:
        """The size of the compiled program, or 0 if XLA does not tell."""
        return self.program.nbytes

    def run(self, values: Sequence[Any], launch: Any = None) -> list[np.ndarray]:
        """Run the program and wait for it.

        Args:
            values: One concrete value per input of the graph: arrays of exactly the input's shape and dtype, with
                any strides, or scalars.
            launch: What starts the program, if not its own way.

        Returns:
            One read-only array per result of the graph. Arrays of computed results are XLA's own buffers; no two
            results share memory, and none shares memory with an input.

        Raises:
            Trapped: The data must be left to NumPy.
        """
        try:
            frame = self._frames.pop()
        except IndexError:
            frame = Frame(self.lowered.parameters)
        lent: list[np.ndarray] = []
        arguments = frame.fill(values, lent)
        if self._memory:
            arguments = [*arguments, *memory_for(self._memory)]
        # Making the arrays waits for the program, so that the arguments are free afterwards.
        try:
            arrays = list(map(_array, (launch or self._launch)(arguments), self.program.outputs))
        except JaxRuntimeError:  # the program has ended
            raise
        except BaseException:  # Ctrl-C or a timeout, perhaps
            abandon(self.program.launch, (values, list(arguments), lent))  # the program still reads them
            raise
        self._frames.append(frame)
        if lent:
            give_back(lent)
        if self._has_trap and arrays.pop():
            raise Trapped(self.name)
        return arrays if self._is_plain else [_result(result, arrays, values) for result in self.lowered.results]


def _array(buffer: Any, output: tuple[tuple[int, ...], np.dtype, int]) -> np.ndarray:
    shape, dtype, nbytes = output
    if nbytes < LARGE:
        return np.ndarray(shape, dtype, buffer)
    return ResultMemory(buffer.block_until_ready(), shape, dtype, nbytes).array(writeable=False)


def _result(result: Result, arrays: Sequence[np.ndarray], values: Sequence[Any]) -> np.ndarray:
    if result.kind == "computed":
        return arrays[result.index]
    source = values[result.index] if result.kind == "input" else result.value
    array = np.array(source, result.dtype, order="C")
    array.flags.writeable = False
    return array
