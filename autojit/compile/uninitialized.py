"""Memory that XLA owns and nobody has touched yet.

XLA writes a result into a donated buffer only when it allocated the buffer itself, and nothing in XLA allocates without
writing. So a program with one custom call that does nothing serves as the allocator. The memory can be marked for
huge pages before it is used, which makes large results 3 to 4 times faster.
"""

from __future__ import annotations

import collections
import ctypes
import functools
from typing import Any

import numpy as np

from autojit.compile.persistent import disk_cache
from autojit.compile.questions import SERVICE, memory_of
from autojit.compile.stored import Stored
from autojit.compile.xla import Program, register
from autojit.config import current
from autojit.jax_names import jax

#: Smaller blocks share their pages with other data.
HUGE_BYTES = 4 << 20

_TARGET = "autojit_uninitialized"
_PAGE = 4096
_MADV_HUGEPAGE = 14
_METADATA_EXTENSION = 1


class _ApiVersion(ctypes.Structure):
    _fields_ = (
        ("struct_size", ctypes.c_size_t),
        ("extension_start", ctypes.c_void_p),
        ("major", ctypes.c_int),
        ("minor", ctypes.c_int),
    )


class _Metadata(ctypes.Structure):
    _fields_ = (
        ("struct_size", ctypes.c_size_t),
        ("api_version", _ApiVersion),
        ("traits", ctypes.c_uint32),
    )


class _MetadataExtension(ctypes.Structure):
    _fields_ = (
        ("struct_size", ctypes.c_size_t),
        ("type", ctypes.c_int),
        ("next", ctypes.c_void_p),
        ("metadata", ctypes.POINTER(_Metadata)),
    )


class _CallFrame(ctypes.Structure):
    _fields_ = (
        ("struct_size", ctypes.c_size_t),
        ("extension_start", ctypes.POINTER(_MetadataExtension)),
    )


def _tell(frame: Any) -> None:
    """XLA's foreign function interface, version 0.1: tell the version when asked."""
    extension = frame.contents.extension_start
    if extension and extension.contents.type == _METADATA_EXTENSION:
        version = extension.contents.metadata.contents.api_version
        version.major, version.minor = 0, 1


#: What the handler calls, which cannot be another object later, but does another thing.
_answers: Any = functools.partial(_tell)
_handler = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.POINTER(_CallFrame))(_answers)


@functools.cache
def _register() -> None:
    register(_TARGET, _capsule(_handler), 1)
    # From now on it does nothing, in C: what a signal's handler raised in Python's code would be lost there, and XLA
    # would take what lies in the place of the result for an error.
    _answers.__setstate__((collections.deque(maxlen=0).append, (), {}, None))


def _capsule(function: Any) -> Any:
    """A `PyCapsule` of a C function, which must outlive it."""
    new = ctypes.pythonapi.PyCapsule_New
    new.restype, new.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
    return new(ctypes.cast(function, ctypes.c_void_p), None, None)


# Under no lock: two threads may compile the same, where one that waited might wait for a finalizer that waits for it.
@functools.lru_cache(maxsize=256)
def allocator(nbytes: int) -> Program:
    """The program whose result is `nbytes` bytes of memory that nobody has written to."""
    _register()

    def allocate() -> list[Any]:
        return [jax.ffi.ffi_call(_TARGET, jax.ShapeDtypeStruct((nbytes,), np.uint8))()]

    disk = disk_cache(current())

    def make(stored: Stored | None) -> Program:
        asked = memory_of(nbytes) if stored is None and SERVICE.answers() else None
        return Program(allocate, [], stored=stored or asked, is_new=asked is not None and disk is not None)

    return make(None) if disk is None else disk.obtain(f"memory {nbytes}", make)


def allocate(nbytes: int) -> Any:
    """A jax array over `nbytes` bytes of fresh memory that XLA owns."""
    (buffer,) = allocator(nbytes).launch([])
    if nbytes >= HUGE_BYTES and _madvise is not None:
        start = buffer.unsafe_buffer_pointer()
        first = -(-start // _PAGE) * _PAGE
        _madvise(first, (start + nbytes - first) // _PAGE * _PAGE, _MADV_HUGEPAGE)
    return buffer


def _find_madvise() -> Any:
    """The C library's `madvise`, or `None` where there is none."""
    try:
        function = ctypes.CDLL(None).madvise
    except (AttributeError, OSError):
        return None
    function.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    return function


_madvise = _find_madvise()
