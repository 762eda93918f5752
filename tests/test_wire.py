"""Messages over a socket."""

from __future__ import annotations

import os
import socket
import threading

import pytest

from autojit.compile.wire import wire_of, wires


@pytest.mark.parametrize("size", [0, 1, 1 << 14, (1 << 14) - 1, 3_000_000])
def test_messages(size):
    one, other = wires()
    content = os.urandom(size)
    thread = threading.Thread(target=one.send_bytes, args=(content,))
    thread.start()
    assert other.recv_bytes() == content
    thread.join()
    other.send_bytes(b"back")
    assert one.poll() and one.recv_bytes() == b"back" and not one.poll(0.01)


def test_ends():
    one, other = wires()
    one.send_bytes(b"last")
    one.close()
    assert one.fileno() == -1
    assert other.recv_bytes() == b"last" and other.poll()
    with pytest.raises(EOFError):
        other.recv_bytes()
    with pytest.raises(OSError):
        for _ in range(2):
            other.send_bytes(b"to nobody")


def test_an_end_in_the_middle():
    one, other = wires()
    os.write(one.fileno(), (5).to_bytes(8, "big") + b"ab")
    one.close()
    with pytest.raises(OSError, match="middle"):
        other.recv_bytes()


def test_who_waits_is_told():
    one, other = wires()
    threading.Timer(0.05, other.end).start()
    with pytest.raises(EOFError):
        one.recv_bytes()
    other.close()


def test_numbers_of_others_are_left_alone():
    one, other = wires()
    again = wire_of(os.dup(one.fileno()))
    again.send_bytes(b"mine now")
    assert other.recv_bytes() == b"mine now" and not os.get_inheritable(again.fileno())
    number = one.fileno()
    theirs, their_other = socket.socketpair()  # the program's
    os.dup2(theirs.fileno(), number)
    their_other.sendall(b"12345678 for the program")
    assert one.poll() and not one.is_there()
    with pytest.raises(OSError, match="closed"):
        one.recv_bytes()
    one.close()
    del one
    os.fstat(number)
    os.close(number)
    assert theirs.recv(100) == b"12345678 for the program"
    theirs.close()
    their_other.close()
