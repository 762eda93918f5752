"""The machine code of a compiled cluster, as assembly."""

from __future__ import annotations

import importlib
import io
from collections.abc import Iterator
from typing import Any

from autojit.errors import AutojitError

_MAGIC = b"\x7fELF"
#: By the machine that an object file names: capstone's names for the architecture and its mode.
_MACHINES = {"x64": ("CS_ARCH_X86", "CS_MODE_64"), "AArch64": ("CS_ARCH_ARM64", "CS_MODE_ARM")}


def assembly(code: bytes) -> str:
    """The functions in the object files that a serialized program holds, one after the other.

    Args:
        code: XLA's serialization of a compiled program.

    Raises:
        AutojitError: The packages that read machine code are missing, or the code is of an unknown kind.
    """
    try:
        capstone = importlib.import_module("capstone")
        elffile = importlib.import_module("elftools.elf.elffile")
    except ImportError as error:
        raise AutojitError(
            f"the stage `asm` needs the packages capstone and pyelftools ({error}); `pip install autojit[inspect]`"
        ) from None
    parts, start = [], code.find(_MAGIC)
    while start >= 0:
        parts += _functions(elffile.ELFFile(io.BytesIO(code[start:])), capstone)
        start = code.find(_MAGIC, start + 1)
    if not parts:
        raise AutojitError("the program holds no machine code that can be read: no object file in the ELF format")
    return "\n".join(parts)


def _functions(elf: Any, capstone: Any) -> Iterator[str]:
    machine = elf.get_machine_arch()
    if machine not in _MACHINES:
        raise AutojitError(f"machine code for `{machine}` cannot be shown")
    disassembler = capstone.Cs(*(getattr(capstone, name) for name in _MACHINES[machine]))
    symbols = elf.get_section_by_name(".symtab")
    for symbol in symbols.iter_symbols():
        if symbol["st_info"]["type"] != "STT_FUNC" or not isinstance(symbol["st_shndx"], int):
            continue
        section = elf.get_section(symbol["st_shndx"])
        first, size = symbol["st_value"], symbol["st_size"]
        names = _references(elf, section.name, symbols)
        lines = [f"{symbol.name}:"]
        for one in disassembler.disasm(section.data()[first : first + size], first):
            line = f"  {one.address:6x}:  {one.mnemonic} {one.op_str}".rstrip()
            named = [names[place] for place in range(one.address, one.address + one.size) if place in names]
            lines.append(f"{line}  # {', '.join(named)}" if named else line)
        yield "\n".join(lines) + "\n"


def _references(elf: Any, section: str, symbols: Any) -> dict[int, str]:
    """By place in a section, the functions and constants outside of it that the code there names."""
    relocations = elf.get_section_by_name(f".rela{section}")
    if relocations is None:
        return {}
    found = {}
    for relocation in relocations.iter_relocations():
        symbol = symbols.get_symbol(relocation["r_info_sym"])
        name = symbol.name
        if not name and isinstance(symbol["st_shndx"], int):
            name = elf.get_section(symbol["st_shndx"]).name
        found[relocation["r_offset"]] = name
    return found
