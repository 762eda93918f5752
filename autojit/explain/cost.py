"""What a compiled cluster costs: operations and memory, beside what the machine can do."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from autojit.compile.executable import Executable
from autojit.compile.xla import hlo_text
from autojit.explain.roofline import Machine, machine
from autojit.runtime.history import milliseconds


@dataclass(frozen=True, slots=True)
class Cost:
    """XLA's own analysis of one program. The bodies of loops count once.

    Attributes:
        flops: Floating point operations.
        transcendentals: Exponentials, sines and the like that are not counted as several operations.
        bytes: Bytes that the operations read and write, those in caches too.
        arguments: Bytes of the arguments.
        results: Bytes of the results.
        temporaries: Bytes of memory in between.
        code: Bytes of the serialized program with its machine code.
        has_loops: Whether there are loops, so that it does more than is counted.
        machine: What it is compared with.
    """

    flops: float
    transcendentals: float
    bytes: float
    arguments: int
    results: int
    temporaries: int
    code: int
    has_loops: bool
    machine: Machine

    @property
    def intensity(self) -> float:
        """Operations per byte read or written."""
        return self.flops / self.bytes if self.bytes else 0.0

    @property
    def seconds(self) -> float:
        """The least time that the machine needs: to compute, or to read the arguments and write the results."""
        return max(self.flops / self.machine.flops, (self.arguments + self.results) / self.machine.bandwidth)

    def to_dict(self) -> dict[str, Any]:
        """The cost as plain data."""
        return {**asdict(self), "intensity": self.intensity, "seconds": self.seconds}

    def __str__(self) -> str:
        bound = "memory" if self.intensity < self.machine.balance else "arithmetic"
        least = f"bound by     {bound}; no less than {milliseconds(self.seconds)} where no cache holds the arrays"
        if self.has_loops:
            least = "loops        their bodies count once, so that the program does more than this"
        return "\n".join(
            [
                f"operations   {self.flops:.4g} floating point, {self.transcendentals:.4g} transcendental",
                f"bytes        {self.bytes:.4g} read and written, {self.intensity:.3g} operations per byte",
                f"memory       {self.arguments:,} bytes of arguments, {self.results:,} of results, "
                f"{self.temporaries:,} of temporaries",
                f"code         {self.code:,} bytes",
                f"machine      {self.machine.flops / 1e9:.1f} Gflop/s and {self.machine.bandwidth / 1e9:.1f} GB/s, "
                f"measured: {self.machine.balance:.3g} operations per byte are in balance",
                least,
            ]
        )


def cost_of(executable: Executable) -> Cost:
    """The cost of a compiled cluster. Nothing is compiled again."""
    counts, memory = executable.program.cost(), executable.program.memory()
    return Cost(
        counts.get("flops", 0.0),
        counts.get("transcendentals", 0.0),
        counts.get("bytes accessed", 0.0),
        memory.argument_size_in_bytes - memory.alias_size_in_bytes,
        memory.output_size_in_bytes,
        memory.temp_size_in_bytes,
        executable.nbytes,
        " while(" in hlo_text(executable.program.hlo_module(True), metadata=False),
        machine(),
    )
