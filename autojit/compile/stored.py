"""`Stored`: a compiled program as bytes that another process can load."""

from __future__ import annotations

import hashlib
import json
from typing import NamedTuple

import numpy as np

#: What every stored program begins with; the number changes with the format.
_MAGIC = b"autojit program 1\n"
_DIGEST_BYTES = hashlib.sha256().digest_size

#: Shape, dtype and size in bytes of an output.
Output = tuple[tuple[int, ...], np.dtype, int]


class Stored(NamedTuple):
    """A compiled program.

    Attributes:
        outputs: Shape, dtype and size in bytes of each output.
        code: XLA's serialization of it, with the machine code.
    """

    outputs: tuple[Output, ...]
    code: bytes

    def encode(self) -> bytes:
        """The bytes of a file: a digest of what follows, a line of JSON, the code."""
        head = json.dumps([[shape, dtype.str] for shape, dtype, _ in self.outputs]).encode() + b"\n"
        return _MAGIC + hashlib.sha256(head + self.code).digest() + head + self.code

    @classmethod
    def decode(cls, content: bytes) -> Stored:
        """The program in the bytes of a file.

        Raises:
            ValueError: They are not what `encode` wrote.
        """
        start = len(_MAGIC) + _DIGEST_BYTES
        body = content[start:]
        if content[:start] != _MAGIC + hashlib.sha256(body).digest():
            raise ValueError("the file is damaged")
        head, _, code = body.partition(b"\n")
        return cls(tuple(_output(shape, np.dtype(text)) for shape, text in json.loads(head)), code)


def _output(shape: list[int], dtype: np.dtype) -> Output:
    return tuple(shape), dtype, int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
