"""The compiler's view of a cluster, in the stages that TensorFlow's `experimental_get_compiler_ir` has."""

from __future__ import annotations

from collections.abc import Callable

from autojit.compile.executable import Executable
from autojit.compile.xla import Program, hlo_dot, hlo_text


def _hlo_proto(module: bytes) -> bytes:
    """An `xla.HloProto` message: its field 1 is the serialized `HloModuleProto`."""
    length = len(module)
    varint = bytearray()
    while length > 0x7F:
        varint.append(length & 0x7F | 0x80)
        length >>= 7
    varint.append(length)
    return b"\x0a" + bytes(varint) + module


_PRINTERS: dict[str, Callable[[Program], str | bytes]] = {
    "stablehlo": lambda program: program.stablehlo(),
    "stablehlo_serialized": lambda program: program.stablehlo_bytecode(),
    "hlo": lambda program: hlo_text(program.hlo_module(False), metadata=True),
    "hlo_no_metadata": lambda program: hlo_text(program.hlo_module(False), metadata=False),
    "hlo_serialized": lambda program: program.hlo_module(False).as_serialized_hlo_module_proto(),
    "optimized_hlo": lambda program: hlo_text(program.hlo_module(True), metadata=True),
    "optimized_hlo_serialized": lambda program: program.hlo_module(True).as_serialized_hlo_module_proto(),
    "optimized_hlo_proto_serialized": lambda program: _hlo_proto(
        program.hlo_module(True).as_serialized_hlo_module_proto()
    ),
    "optimized_hlo_dot": lambda program: hlo_dot(program.hlo_module(True)),
}

#: The stages in the order of compilation. "graph" is the NumPy-level graph.
STAGES = ("graph", *_PRINTERS)


def compiler_ir(executable: Executable, stage: str = "hlo", *, graph: str = "") -> str | bytes:
    """One stage of a cluster's compilation. Nothing is compiled again.

    Args:
        executable: The compiled cluster.
        stage: One of `STAGES`.
        graph: The text for the stage "graph", which the executable does not know.

    Returns:
        `bytes` for the stages that end in "serialized": MLIR bytecode for "stablehlo_serialized", an `HloModuleProto`
        for "hlo_serialized" and "optimized_hlo_serialized", an `HloProto` for "optimized_hlo_proto_serialized". Text
        for the others, with the user's file and line in "stablehlo", "hlo" and "optimized_hlo".

    Raises:
        ValueError: There is no such stage.
    """
    if stage == "graph":
        return graph
    printer = _PRINTERS.get(stage)
    if printer is None:
        raise ValueError(f"no stage `{stage}`; the stages are {', '.join(f'`{name}`' for name in STAGES)}")
    return printer(executable.program)
