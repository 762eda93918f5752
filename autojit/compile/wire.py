"""Byte strings over a connected socket, as `multiprocessing.connection` sends them.

That takes 7 ms to import, with the temporary files and the archives that it can deal with: a twelfth of what autojit
adds to the time until a program begins. It writes as to a file, too: where the program has SIGPIPE end it, as tools for
the command line do, a compiler process that has gone would take the program with it.

What `socket` itself is made of serves as well, and nobody replaces it: gevent and its like do that with `socket`.
"""

from __future__ import annotations

import _socket
import contextlib
import os
import struct

from autojit.errors import expected

_LENGTH = struct.Struct("!Q")
#: A message up to this size is sent in one piece with its length.
_SMALL = 1 << 14
#: The last number of a standard stream.
_STREAMS = 2
_UNHEARD = getattr(_socket, "MSG_NOSIGNAL", 0)
if os.name == "posix":  # elsewhere there are no connections
    import fcntl
    from select import POLLIN as _READ
    from select import poll as _poll


class Wire:
    """One end of a connection."""

    def __init__(self, end: _socket.socket) -> None:
        self._socket = end
        self._socket.setblocking(True)  # whatever the program has made the default
        self._identity = self._looked_at()

    def __del__(self) -> None:
        self.close()  # or the socket would warn

    def fileno(self) -> int:
        """The number of the file; -1 after `close`."""
        return self._socket.fileno()

    def _looked_at(self) -> tuple[int, int]:
        status = os.fstat(self._socket.fileno())
        return status.st_dev, status.st_ino

    def is_there(self) -> bool:
        """Whether the program has not closed the connection, as some close all files of theirs."""
        with expected(OSError):
            return self._looked_at() == self._identity
        return False

    def send_bytes(self, content: bytes) -> None:
        """Send one message.

        Raises:
            OSError: The other end is closed.
        """
        length = _LENGTH.pack(len(content))
        if len(content) < _SMALL:
            self._socket.sendall(length + content, _UNHEARD)
        else:
            self._socket.sendall(length, _UNHEARD)
            self._socket.sendall(content, _UNHEARD)

    def recv_bytes(self) -> bytes:
        """The next message.

        Raises:
            EOFError: The other end is closed.
            OSError: It was closed in the middle of the message.
        """
        (length,) = _LENGTH.unpack(self._received(_LENGTH.size, is_first=True))
        return self._received(length)

    def _received(self, count: int, is_first: bool = False) -> bytes:
        content = bytearray(count)
        left = memoryview(content)
        while left:
            if not self.is_there():  # since somebody has waited, the number may be that of a file of the program's
                raise OSError("the connection was closed")
            read = self._socket.recv_into(left)
            if not read:
                if is_first and len(left) == count:
                    raise EOFError
                raise OSError("the connection ended in the middle of a message")
            left = left[read:]
        return bytes(content)

    def poll(self, timeout: float = 0.0) -> bool:
        """Whether there is something to read, be it the end, at the latest after so many seconds."""
        poll = _poll()
        poll.register(self._socket, _READ)
        return bool(poll.poll(timeout * 1000.0))

    def end(self) -> None:
        """Have both ends see the end, also those that are inherited or wait."""
        self._socket.shutdown(_socket.SHUT_RDWR)

    def close(self) -> None:
        """Close this end; where the program has done so, its number is left to whoever has it now."""
        if self.is_there():
            self._socket.close()
        else:
            self._socket.detach()


def wires() -> tuple[Wire, Wire]:
    """Two ends that are connected; programs that are started do not inherit them.

    Raises:
        OSError: The system has none.
    """
    one, other = map(_above_streams, _socket.socketpair())
    return Wire(one), Wire(other)


def _above_streams(end: _socket.socket) -> _socket.socket:
    """The same under another number, where the program has closed a standard stream, which a shell would replace."""
    if end.fileno() > _STREAMS:
        return end
    with contextlib.closing(end):
        return _socket.socket(fileno=fcntl.fcntl(end.fileno(), fcntl.F_DUPFD_CLOEXEC, _STREAMS + 1))


def wire_of(number: int) -> Wire:
    """An end that was inherited."""
    os.set_inheritable(number, False)
    return Wire(_socket.socket(fileno=number))
