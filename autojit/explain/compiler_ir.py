"""The compiler's view of a cluster, in the stages of TensorFlow's `experimental_get_compiler_ir` and some more."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from autojit.compile.executable import Executable
from autojit.compile.options import compile_options
from autojit.compile.xla import hlo_dot, hlo_text
from autojit.errors import AutojitError
from autojit.explain.assembly import assembly
from autojit.explain.cost import cost_of


class Printer(NamedTuple):
    """How a stage is shown.

    Attributes:
        suffix: What the names of its files end in.
        show: What it is for a compiled cluster.
    """

    suffix: str
    show: Callable[[Executable], str | bytes]


def _optimized_hlo_proto(executable: Executable) -> bytes:
    """An `xla.HloProto` message: its field 1 is the serialized `HloModuleProto`."""
    module = executable.program.hlo_module(True).as_serialized_hlo_module_proto()
    length = len(module)
    varint = bytearray()
    while length > 0x7F:
        varint.append(length & 0x7F | 0x80)
        length >>= 7
    varint.append(length)
    return b"\x0a" + bytes(varint) + module


def _llvm_ir(executable: Executable) -> str:
    return executable.program.llvm_ir(compile_options(executable.lowered.graph, executable.choice))


def _assembly(executable: Executable) -> str:
    if executable.program.is_deserialized:  # XLA keeps the code of such a program in another form
        executable = Executable(executable.lowered.graph, choice=executable.choice)
    stored = executable.to_stored()
    if stored is None:
        raise AutojitError(f"XLA cannot serialize the program of `{executable.name}`, so its code cannot be read")
    return assembly(stored.code)


#: The stages of a compiled cluster, in the order of compilation, and what it costs.
PRINTERS: dict[str, Printer] = {
    "stablehlo": Printer("mlir", lambda e: e.program.stablehlo()),
    "stablehlo_serialized": Printer("mlirbc", lambda e: e.program.stablehlo_bytecode()),
    "hlo": Printer("txt", lambda e: hlo_text(e.program.hlo_module(False), metadata=True)),
    "hlo_no_metadata": Printer("txt", lambda e: hlo_text(e.program.hlo_module(False), metadata=False)),
    "hlo_serialized": Printer("pb", lambda e: e.program.hlo_module(False).as_serialized_hlo_module_proto()),
    "optimized_hlo": Printer("txt", lambda e: hlo_text(e.program.hlo_module(True), metadata=True)),
    "optimized_hlo_serialized": Printer("pb", lambda e: e.program.hlo_module(True).as_serialized_hlo_module_proto()),
    "optimized_hlo_proto_serialized": Printer("pb", _optimized_hlo_proto),
    "optimized_hlo_dot": Printer("dot", lambda e: hlo_dot(e.program.hlo_module(True))),
    "llvm_ir": Printer("ll", _llvm_ir),
    "asm": Printer("s", _assembly),
    "cost": Printer("txt", lambda e: str(cost_of(e))),
}

#: All stages of a cluster. "graph" is the NumPy-level graph, and "plan" the Python function that runs it.
STAGES = ("graph", "plan", *PRINTERS)


def compiler_ir(executable: Executable, stage: str = "hlo") -> str | bytes:
    """One stage of a cluster's compilation.

    Nothing is compiled again, but for "llvm_ir", which XLA does not keep, and "asm" of programs from the disk cache.

    Args:
        executable: The compiled cluster.
        stage: A key of `PRINTERS`.

    Returns:
        `bytes` for the stages that end in "serialized": MLIR bytecode for "stablehlo_serialized", an `HloModuleProto`
        for "hlo_serialized" and "optimized_hlo_serialized", an `HloProto` for "optimized_hlo_proto_serialized". Text
        for the others, with the user's file and line in "stablehlo", "hlo" and "optimized_hlo".

    Raises:
        ValueError: There is no such stage.
        AutojitError: For "asm": what reads machine code is not installed.
    """
    printer = PRINTERS.get(stage)
    if printer is None:
        raise ValueError(f"no stage `{stage}`; the stages are {', '.join(f'`{name}`' for name in PRINTERS)}")
    return printer.show(executable)
