"""What is asked of the compiler process: programs of clusters, shapes that only jax knows."""

from __future__ import annotations

import io
import pickle
from collections.abc import Sequence
from typing import Any

from autojit.compile.present import put_back
from autojit.compile.service import SERVICE, CompilerEnded
from autojit.compile.stored import Stored
from autojit.errors import AutojitError
from autojit.ir.graph import Graph
from autojit.ir.op import Op
from autojit.ir.spec import Spec
from autojit.ops import inference
from autojit.ops.chapters import TABLE

#: Whose classes and functions stand in questions and answers.
_KNOWN = frozenset(["_codecs", "autojit", "builtins", "copyreg", "numpy"])


class _Pickler(pickle.Pickler):
    def persistent_id(self, obj: Any) -> str | None:
        """Rows of the table go by their names."""
        return obj.name if isinstance(obj, Op) and TABLE.rows.get(obj.name) is obj else None


class _Unpickler(pickle.Unpickler):
    def persistent_load(self, pid: str) -> Op:
        """The row of a name."""
        return TABLE.rows[pid]

    def find_class(self, module_name: str, global_name: str) -> Any:
        """Nothing is imported that is not there: neither the program's modules nor jax."""
        if module_name.partition(".")[0] not in _KNOWN:
            raise pickle.UnpicklingError(f"`{module_name}.{global_name}` is not for the other process")
        return super().find_class(module_name, global_name)


def packed(value: Any) -> bytes:
    """A question or an answer as bytes."""
    put_back()
    file = io.BytesIO()
    _Pickler(file, pickle.HIGHEST_PROTOCOL).dump(value)
    return file.getvalue()


def unpacked(content: bytes) -> Any:
    """What was `packed`."""
    put_back()
    return _Unpickler(io.BytesIO(content)).load()


def program_of(graph: Graph, choice: str) -> Stored | None:
    """The compiled program of a cluster; `None` if the process could not be started, and this one may compile.

    Raises:
        CompilerEnded: The process is not there any more.
        Exception: What compiling has raised.
    """
    return _ask_or_not("cluster", graph, choice)


def memory_of(nbytes: int) -> Stored | None:
    """The program whose result is memory that nobody has written to; raises as `program_of`."""
    return _ask_or_not("memory", nbytes)


def _shapes(name: str, specs: Sequence[Spec], params: dict[str, Any]) -> list[tuple[int, ...]]:
    """As `traced_shapes`, by the process."""
    if not SERVICE.answers():
        return inference.traced_shapes(name, specs, params)
    found = _ask_or_not("shapes", name, tuple(specs), params)
    return inference.traced_shapes(name, specs, params) if found is None else found


def _ask_or_not(*question: Any) -> Any:
    try:
        return _ask(*question)
    except CompilerEnded:
        if SERVICE.is_wanted or not SERVICE.trouble:
            raise
        return None


def _ask(*question: Any) -> Any:
    answer = unpacked(SERVICE.ask(packed(question)))
    if isinstance(answer, BaseException):
        raise answer
    return answer


def error_of(error: BaseException) -> bytes:
    """An error as an answer."""
    try:
        content = packed(error)
        unpacked(content)
    except Exception:  # not every class can be made again
        content = packed(AutojitError(f"{type(error).__name__}: {error}"))
    return content


inference.ELSEWHERE.append(_shapes)

__all__ = ["SERVICE", "error_of", "memory_of", "packed", "program_of", "unpacked"]
