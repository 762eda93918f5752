"""Which modules are the user's own: not Python's, not installed ones, and as `--include` and `--exclude` say."""

from __future__ import annotations

import os
from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import NamedTuple

from autojit.runtime.twins import is_installed

_PACKAGE = os.path.dirname(os.path.dirname(os.path.realpath(__file__))) + os.sep


class Scope(NamedTuple):
    """The modules whose functions are autoclustered.

    Attributes:
        include: Patterns of module names (`shop.*`) that are the user's wherever they lie.
        exclude: Patterns of module names that stay as they are; they win.
    """

    include: Sequence[str] = ()
    exclude: Sequence[str] = ()

    def has(self, module: str, file: str) -> bool:
        """Whether a module is the user's own.

        Args:
            module: Its name.
            file: Where its source lies.
        """
        if file.startswith(_PACKAGE) or self.leaves_out(module):
            return False
        if any(_matches(module, pattern) for pattern in self.include):
            return True
        return not (file.startswith("<") or is_installed(file))

    def leaves_out(self, module: str) -> bool:
        """Whether a module stays as it is because the user has said so; the program itself is `__main__`."""
        return any(_matches(module, pattern) for pattern in self.exclude)


def _matches(module: str, pattern: str) -> bool:
    return fnmatchcase(module, pattern) or module.startswith(f"{pattern}.")
