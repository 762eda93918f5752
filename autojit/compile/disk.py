"""`DiskCache`: compiled programs in files, so that the next process need not compile them."""

from __future__ import annotations

import hashlib
import os
import re
import stat
import threading
from collections.abc import Callable
from typing import Protocol, TypeVar

from autojit.compile.outside import comes_from_outside
from autojit.compile.stored import Stored
from autojit.errors import comes_from_a_signal, expected
from autojit.files import open_file
from autojit.logs import log

#: The bound on the size of all files, in bytes.
MAX_BYTES = 1 << 30
#: A cache over its bound is emptied down to this part of it, so that not every new file has to look at all others.
_ROOM = 0.9
_SUFFIX = ".program"
#: The names of its files, and of those that are being written.
_NAME = re.compile(r"[0-9a-f]{64}\.program(\.\d+-\d+)?")
#: Other processes store, too: all files are looked at again when this one has stored this part of the bound.
_LOOKS_AGAIN = 1 / 16
#: How the keys of notes begin.
NOTE = "note "


class _Storable(Protocol):
    def to_stored(self) -> Stored | None: ...


T = TypeVar("T", bound=_Storable)


class DiskCache:
    """A directory of programs. Processes share it: files appear whole or not at all, and none is ever changed.

    The directory is used only if nobody but its owner can write to it, and a file only if it is the user's own, since
    what is loaded is run. Damaged files are removed. After the first error of the file system (a full disk, a
    directory that cannot be written) nothing is stored any more, and after an unsafe directory nothing loaded either.

    Args:
        root: The directory; it is made when it is needed.
        version: What a program depends on beside its key, or what tells it when that is first asked. Programs of other
            versions are never loaded.
        loose: What notes depend on beside their keys, which begin with `NOTE`: nothing that is run.
        max_bytes: The bound on the size of all files. The files that were not used for the longest time go first.
    """

    def __init__(
        self,
        root: str | os.PathLike[str],
        version: str | Callable[[], str],
        max_bytes: int = MAX_BYTES,
        loose: str = "",
    ) -> None:
        self.root = os.fspath(root)
        self._version = version
        self._loose = loose
        self.max_bytes = max_bytes
        self.trouble: str | None = None
        self._may_load = self._may_store = True
        self._nbytes: int | None = None  # of all files, as far as this process knows
        self._since = 0  # stored since all were looked at
        self._is_checked = False
        self._lock = threading.RLock()

    def path(self, key: str) -> str:
        """The file of a key."""
        known = self._version
        version = self._loose if key.startswith(NOTE) else known if isinstance(known, str) else known()
        digest = hashlib.sha256(f"{version}\n{key}".encode()).hexdigest()
        return os.path.join(self.root, digest + _SUFFIX)

    def obtain(self, key: str, make: Callable[[Stored | None], T]) -> T:
        """Load a program, or compile and store it.

        Args:
            key: What it is.
            make: Makes it from what is stored, or compiles it for `None`.
        """
        stored = self.load(key)
        if stored is not None:
            try:
                return make(stored)
            except Exception as error:  # whatever XLA says: the file is of no use here
                if comes_from_outside(error):
                    raise
                log.debug("a program in %s cannot be loaded: %s", self.root, error)
                self.remove(key)
        made = make(None)
        if self._may_store and (stored := made.to_stored()) is not None:
            self.store(key, stored)
        return made

    def has(self, key: str) -> bool:
        """Whether a program is stored under a key."""
        return self._may_hold() and os.path.isfile(self.path(key))

    def load(self, key: str) -> Stored | None:
        """The program that was stored under a key, or `None`."""
        if not self._may_hold():
            return None
        path = self.path(key)
        content = None
        if os.path.lexists(path):  # most are not there, which need not raise in a first call
            with expected(OSError):
                content = _read(path)
        if content is None:
            return None
        try:
            stored = Stored.decode(content)
        except (ValueError, TypeError):
            self.remove(key)
            return None
        with expected(OSError):  # the time of the last use
            os.utime(path)
        return stored

    def store(self, key: str, stored: Stored) -> None:
        """Keep a program for later processes."""
        if not self._may_store or not self._is_usable():
            return
        path, content = self.path(key), stored.encode()
        temporary = f"{path}.{os.getpid()}-{threading.get_ident()}"
        try:
            try:
                descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
                with open_file(descriptor, "wb") as file:
                    file.write(content)
                os.replace(temporary, path)
            except BaseException:
                with expected(OSError):
                    os.unlink(temporary)
                raise
            self._account(len(content))
        except OSError as error:
            if comes_from_a_signal(error):
                raise
            self._give_up(f"programs cannot be stored in {self.root}: {error.strerror or error}")

    def remove(self, key: str) -> None:
        """Remove a program that cannot be used."""
        with expected(OSError):
            os.unlink(self.path(key))

    def files(self) -> list[tuple[float, int, str]]:
        """Time of the last use, size and path of each file, the oldest first."""
        found = []
        with expected(OSError):
            for name in os.listdir(self.root):
                with expected(OSError):
                    path = os.path.join(self.root, name)
                    status = os.lstat(path)
                    if stat.S_ISREG(status.st_mode) and _NAME.fullmatch(name):
                        found.append((status.st_mtime, status.st_size, path))
        return sorted(found)

    def __str__(self) -> str:
        """Where it is, and how full."""
        files = self.files()
        size, bound = sum(nbytes for _, nbytes, _ in files) / 1e6, self.max_bytes / 1e6
        return f"{self.root}: {len(files)} programs, {size:.1f} of at most {bound:.0f} MB"

    def clear(self) -> int:
        """Remove all files, of all versions; gives their number."""
        before = len(self.files())
        self._shrink(-1)
        return before - len(self.files())

    def take_trouble(self) -> str | None:
        """What went wrong, told once."""
        trouble, self.trouble = self.trouble, None
        return trouble

    def _account(self, nbytes: int) -> None:
        # Under no lock: garbage may be collected meanwhile, and finalizers wait for who waits for it.
        self._since += nbytes
        looks = self._nbytes is None or self._since > _LOOKS_AGAIN * self.max_bytes
        found = sum(size for _, size, _ in self.files()) if looks else 0
        with self._lock:
            self._nbytes = found if looks else (self._nbytes or 0) + nbytes
            self._since = 0 if looks else self._since
            is_full = self._nbytes > self.max_bytes
        if is_full:
            self._shrink(int(self.max_bytes * _ROOM))

    def _shrink(self, limit: int) -> None:
        files = self.files()
        left = sum(size for _, size, _ in files)
        for _, size, path in files:
            if left <= limit:
                break
            with expected(OSError):
                os.unlink(path)
                left -= size
        self._nbytes = left

    def _may_hold(self) -> bool:
        """Whether anything may be loaded; a directory that is not there is not made in order to look into it."""
        is_lost = not os.path.isabs(self.root)  # it is looked for from a folder that is gone
        return (self._is_checked or is_lost or os.path.lexists(self.root)) and self._is_usable()

    def _is_usable(self) -> bool:
        if not self._is_checked:  # without the lock: twice does no harm, and a process may be forked meanwhile
            self._check()
            self._is_checked = True
        return self._may_load

    def _check(self) -> None:
        try:
            _make(self.root)
            why = why_unsafe(self.root)
        except OSError as error:
            if comes_from_a_signal(error):
                raise
            why = f"{self.root} cannot be used: {error.strerror or error}"
        if why is not None:
            self._may_load = False
            self._give_up(why)

    def _give_up(self, why: str) -> None:
        self._may_store = False
        self.trouble = why


def _make(directory: str) -> None:
    """Make a directory and what is missing above it, each the user's alone, which `os.makedirs` makes the last only."""
    if os.path.isdir(directory):
        return
    parent = os.path.dirname(directory)
    if parent and parent != directory:
        _make(parent)
    try:
        os.mkdir(directory, mode=0o700)
    except FileExistsError:  # another process has made it
        if not os.path.isdir(directory):
            raise


def _read(path: str) -> bytes:
    """The content of a regular file of the user's own."""
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0))
    with open_file(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or _is_open_to_others(status):
            raise PermissionError(f"{path} can be written by others")
        return file.read()


def why_unsafe(directory: str | os.PathLike[str]) -> str | None:
    """Why others may be able to put files into a directory, in words; `None` if they are not."""
    if not hasattr(os, "geteuid"):  # Windows: the user's own folders are private
        return None
    resolved = os.path.realpath(directory)
    if _is_open_to_others(os.stat(resolved)):
        return f"others can write to {resolved}"
    parent = resolved
    while parent != (parent := os.path.dirname(parent)):
        status = os.stat(parent)
        if status.st_uid not in (0, os.geteuid()):
            return f"{parent} belongs to somebody else"
        if status.st_mode & 0o022 and not status.st_mode & stat.S_ISVTX:
            return f"others can write to {parent}"
    return None


def _is_open_to_others(status: os.stat_result) -> bool:
    return hasattr(os, "geteuid") and (status.st_uid != os.geteuid() or bool(status.st_mode & 0o022))
