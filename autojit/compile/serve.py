"""What the compiler process does: it answers the questions of the process that has started it, and ends with it."""

from __future__ import annotations

import os
from typing import Any

from autojit.compile.executable import Executable
from autojit.compile.questions import error_of, packed, unpacked
from autojit.compile.service import READY
from autojit.compile.stored import Stored
from autojit.compile.uninitialized import allocator
from autojit.compile.wire import wire_of
from autojit.errors import AutojitError
from autojit.ir.graph import Graph
from autojit.ops.inference import traced_shapes


def serve(socket: int, says_ready: bool = False) -> None:
    """Answer the questions that come over a socket until it is closed, which ends the process.

    Args:
        socket: The number of the file.
        says_ready: Whether to say first that questions can be asked.
    """
    try:
        line = wire_of(socket)
        if says_ready:
            line.send_bytes(READY)
        while True:
            question = line.recv_bytes()
            try:
                what, *given = unpacked(question)
                content = packed(ANSWERS[what](*given))
            except Exception as error:
                content = error_of(error)
            line.send_bytes(content)
    finally:  # whatever the other thread is doing
        os._exit(0)


def _cluster(graph: Graph, choice: str) -> Stored:
    return _stored(Executable(graph, choice=choice))


def _memory(nbytes: int) -> Stored:
    return _stored(allocator(nbytes))


def _stored(made: Any) -> Stored:
    stored = made.to_stored()
    if stored is None:
        raise AutojitError("XLA cannot serialize the program")
    return stored


#: What answers a question, by its first word.
ANSWERS = {"cluster": _cluster, "memory": _memory, "shapes": traced_shapes}
