"""`log`: the logger `autojit`, without `logging` until something is to be logged: it takes 4 ms to import."""

from __future__ import annotations

import sys
from typing import Any


class Log:
    """What this package logs.

    Attributes:
        is_quiet: Whether only warnings are, unless the program has given the logger a level.
    """

    def __init__(self) -> None:
        self.is_quiet = False

    def debug(self, text: str, *args: object, exc_info: object = None) -> None:
        """Log what is of interest to who looks into this package. Without `logging` in the process nobody does."""
        if "logging" in sys.modules and (logger := self.logger()) is not None and (not self.is_quiet or logger.level):
            logger.debug(text, *args, exc_info=exc_info, stacklevel=2)

    def info(self, text: str, *args: object) -> None:
        """Log what the user has asked for."""
        if (logger := self.logger()) is not None:
            logger.info(text, *args, stacklevel=2)

    def warning(self, text: str, *args: object) -> None:
        """Log what the user has to see."""
        if (logger := self.logger()) is not None:
            logger.warning(text, *args, stacklevel=2)

    def logger(self) -> Any:
        """Python's logger; `None` where a module of the program's has its module's name, or that is half imported."""
        import logging

        get = getattr(logging, "getLogger", None)
        return None if get is None else get("autojit")

    def show(self) -> None:
        """Have what is logged at level INFO shown on stderr, unless the program has set up logging."""
        logger = self.logger()
        if logger is None:
            return
        import logging

        if logger.getEffectiveLevel() > logging.INFO:
            logger.setLevel(logging.INFO)
        if not logger.hasHandlers():
            handler = logging.StreamHandler()
            handler.setFormatter(logging.Formatter("autojit: %(message)s"))
            logger.addHandler(handler)


log = Log()
