"""jax by name for the rooms that use it: the modules themselves, or what stands for them until jax is needed.

Importing jax takes longer than many a program runs. Under `python -m autojit run` another process compiles, and this
one has no use for jax unless something must be compiled here after all.
"""

from __future__ import annotations

import functools
import importlib.util
import os
import re
import sys
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from autojit.files import open_file


def _is_launched() -> bool:
    """Whether `python -m autojit` is being started, which imports this package before it has read its own words."""
    words = sys.orig_argv
    return sys.argv[:1] == ["-m"] and ("-mautojit" in words or ("-m", "autojit") in pairwise(words))


#: How jax writes the version of a release.
_RELEASED = re.compile(r"""^_release_version\b[^=\n]*= *['"]([^'"\n]+)['"]$""", re.MULTILINE)
#: Whether jax is left alone until it is needed. The first process of a container has no use for another one that
#: compiles: it would be its parent.
POSTPONED = _is_launched() and os.getpid() != 1


def import_jax() -> None:
    """As it is imported, jax draws from NumPy's generator: a program that has been seeded must not see that."""
    if "jax" not in sys.modules:
        state = np.random.get_state(legacy=False)
        try:
            importlib.import_module("jax")
        finally:
            np.random.set_state(state)


@functools.cache
def jax_version() -> str:
    """The version of jax, which need not have been imported."""
    known = getattr(sys.modules.get("jax"), "__version__", None)
    if known is not None:  # a module that another thread imports does not have it yet
        return known
    # Its own file says so; `importlib.metadata` does, too, and takes 10 ms to import.
    file, text = version_file("jax")
    written = _RELEASED.search(text)
    if written is not None:  # to run the file takes 5 ms
        return written[1]
    spec: Any = importlib.util.spec_from_file_location("autojit.jax_version", file)
    module: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.__version__


def version_file(package: str) -> tuple[str, str]:
    """The file that holds the version of jax or jaxlib, and its text. It takes 5 ms to import."""
    found: Any = importlib.util.find_spec(package)
    file = os.path.join(os.path.dirname(found.origin), "version.py")
    with open_file(file, encoding="utf-8") as opened:
        return file, opened.read()


class Name:
    """Stands for a module of jax's, or for something in it: imports jax when it is called.

    Once it has been, whatever is asked of it is jax's own.
    """

    __slots__ = ("_module", "_names")

    def __init__(self, module: str, names: tuple[str, ...] = ()) -> None:
        self._module, self._names = module, names

    def _found(self) -> Any:
        import_jax()
        return functools.reduce(getattr, self._names, importlib.import_module(self._module))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self._found(), name) if "jax" in sys.modules else Name(self._module, (*self._names, name))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._found()(*args, **kwargs)

    def __repr__(self) -> str:
        return ".".join((self._module, *self._names))


def named(module: str) -> Any:
    """A module of jax's, or what stands for it."""
    return Name(module) if POSTPONED else importlib.import_module(module)


if not POSTPONED:
    import_jax()

if TYPE_CHECKING:
    import jax
    from jax import lax
    from jax import numpy as jnp
    from jax.experimental.xla_metadata import set_xla_metadata
    from jax.extend import core
else:
    jax, jnp, lax = map(named, ("jax", "jax.numpy", "jax.lax"))
    core = Name("jax.extend.core")  # it brings Pallas: as long as all of `import autojit` takes, and only lowering asks
    set_xla_metadata = named("jax.experimental.xla_metadata").set_xla_metadata

__all__ = [
    "POSTPONED", "core", "import_jax", "jax", "jax_version", "jnp", "lax", "named", "set_xla_metadata", "version_file",
]  # fmt: skip
