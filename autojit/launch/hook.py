"""An import hook: the user's own modules are armed when they are imported."""

from __future__ import annotations

import contextlib
import functools
import os
import struct
import sys
import threading
import types
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from importlib.util import MAGIC_NUMBER, cache_from_source
from typing import Any

from autojit.api import AUTOCLUSTERS
from autojit.capture.observing import OBSERVING
from autojit.compile.service import PATHS
from autojit.config import Config, current, merge
from autojit.errors import FlagError
from autojit.files import open_file
from autojit.ir.warned import unheard
from autojit.launch.arm import arm
from autojit.launch.rewrite import code_of
from autojit.launch.scope import Scope
from autojit.ops.trust import LEFT_ALONE
from autojit.runtime.allowance import ALLOWANCE
from autojit.runtime.background import MAKING
from autojit.runtime.twins import libraries


class Loader(SourceFileLoader):
    """Loads a module from its source with its functions armed. Nothing is written beside it."""

    config: Config

    def get_code(self, fullname: str) -> types.CodeType:
        """The module's code; the compiled one beside the source is of the module as it is."""
        path = self.get_filename(fullname)

        def compiled() -> types.CodeType:
            return code_of(self.get_data(path), path, arms(self.config))

        # Python itself would not compile it again, so that the compiler would not warn.
        return unheard(compiled) if _is_compiled(path) else compiled()


def _is_compiled(path: str) -> bool:
    """Whether what Python has compiled of a source before is there, and would be taken."""
    try:
        status = os.stat(path)
        with open_file(cache_from_source(path), "rb") as file:
            header = file.read(16)
    except (OSError, NotImplementedError):
        return False
    if header[:4] != MAGIC_NUMBER or len(header) < 16:
        return False
    times = struct.pack("<2I", int(status.st_mtime) & 0xFFFFFFFF, status.st_size & 0xFFFFFFFF)
    return any(header[4:8]) or header[8:] == times  # by a digest, or by the time


class Finder:
    """Finds the modules that Python's own finder finds, and has the user's loaded by `Loader`."""

    def __init__(self, scope: Scope, config: Config) -> None:
        self.scope = scope
        self.config = config

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: Any = None) -> ModuleSpec | None:
        """The import system's question."""
        me = threading.get_ident()
        if path is None and me in MAKING and me not in OBSERVING:
            spec = PathFinder.find_spec(name, PATHS, target)
            if spec is not None:
                return spec  # what autojit imports late is not what lies beside the script
        spec = PathFinder.find_spec(name, path, target)
        if spec is None or type(spec.loader) is not SourceFileLoader or spec.origin is None:
            return spec
        if not self.scope.has(name, spec.origin):
            return spec
        loader = Loader(spec.loader.name, spec.loader.path)
        loader.config = self.config
        spec.loader, spec.cached = loader, None
        return spec


def arms(config: Config) -> Callable[[Any], Any]:
    """What arms a function with these flags."""
    return functools.partial(arm, config=config)


def measured(config: Config) -> Config:
    """The flags with the policy of functions that nobody has decorated, if none is given."""
    return config if config.policy is not None else merge(config, {"policy": "measured"})


def install_by_flag() -> None:
    """With `AUTOJIT_FLAGS=--auto_jit=2`, `import autojit` has later modules armed. A wrong flag is told later."""
    with contextlib.suppress(FlagError):
        if current().auto_jit == 2:
            install()


def install_once() -> None:
    """As `set_jit("autoclustering")` asks for it; what a launcher has set stays."""
    if not any(type(finder) is Finder for finder in sys.meta_path):
        install()


AUTOCLUSTERS.append(install_once)


def install(scope: Scope | None = None, config: Config | None = None) -> None:
    """Have the modules that are imported from now on armed. A second call changes what the first has set.

    Args:
        scope: Which modules; the user's own by default.
        config: The flags of their functions; those of the process by default.
    """
    ALLOWANCE.limit()
    LEFT_ALONE[:] = [scope.leaves_out] if scope is not None and scope.exclude else []
    libraries()  # what it imports must not ask the finder
    others = [other for other in sys.meta_path if type(other) is not Finder]
    # In the place of Python's own finder, which it asks: those before it go first, as ever.
    place = others.index(PathFinder) if PathFinder in others else len(others)
    sys.meta_path[:] = [*others[:place], Finder(scope or Scope(), measured(config or current())), *others[place:]]
