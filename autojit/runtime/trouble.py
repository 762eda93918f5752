"""`Trouble`: what the user of one function is told when something goes wrong."""

from __future__ import annotations

import os
import sys
import warnings

from autojit.compile.persistent import disk_cache
from autojit.compile.service import SERVICE
from autojit.config import Config
from autojit.errors import AutojitError, AutojitWarning, Reason, SourceLine, UncompilableError
from autojit.logs import log

_PACKAGE = os.path.dirname(os.path.dirname(__file__)) + os.sep


class Trouble:
    """Warns once of each kind of trouble, at the user's line.

    Args:
        name: The function's, as the user knows it.
        config: Its flags.
        strict: Whether a failure to compile is an error (`jit_compile`).
    """

    def __init__(self, name: str, config: Config, strict: bool) -> None:
        self.name = name
        self.config = config
        self.strict = strict
        self._warned: set[str] = set()

    def warn(self, id: str, message: str) -> None:
        """Warn, unless there was such a warning before."""
        if id not in self._warned:
            self._warned.add(id)
            warnings.warn(f"autojit [{id}]: {message}", AutojitWarning, stacklevel=_frames_of_autojit() + 1)

    def of_compiling(self, error: BaseException) -> None:
        """Capture or XLA has failed; `jit_compile` raises."""
        message = f"`{self.name}` could not be compiled: {type(error).__name__}: {error}"
        if self.strict:
            raise AutojitError(message) from error
        log.debug("%s", message, exc_info=error)
        # Neither a call that is near the limit of recursion nor the end of the process says anything of the function.
        if not isinstance(error, RecursionError) and not SERVICE.is_closed:
            self.warn("internal", message)

    def of_a_plan(self, error: Exception) -> None:
        """A plan has raised what no plan should."""
        self.warn("internal", f"a plan of `{self.name}` failed: {type(error).__name__}: {error}")
        log.debug("a plan failed", exc_info=error)

    def of_the_disk(self) -> None:
        """The disk cache cannot be used, if that is so."""
        disk = disk_cache(self.config)
        if disk is not None and (trouble := disk.take_trouble()) is not None:
            what = "programs are compiled again by each process"
            self.warn("disk-cache", f"{trouble}; {what} (`--cache_dir` takes another directory, `--disk_cache=0` none)")

    def uncompilable(self, reasons: tuple[Reason, ...]) -> UncompilableError:
        """The error of `jit_compile`."""
        return UncompilableError(self.name, reasons)


def left_to_numpy(count: int, line: SourceLine) -> Reason:
    """Why a region is given up whose plan has met nothing that it can take in so many calls."""
    return Reason("trapped", f"{count} calls met data that is NumPy's", line)


def _frames_of_autojit() -> int:
    """How many frames, from the caller of this function on, lie above the user's line."""
    count, frame = 0, sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        count, frame = count + 1, frame.f_back
    return count
