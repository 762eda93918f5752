"""The versions of jax and NumPy that autojit was made for: with others what it promises is not known to hold."""

from __future__ import annotations

import numpy as np

from autojit.jax_names import jax_version

#: The version of jax, but for its last number. XLA comes with it, and others round and fuse in other ways.
JAX = "0.10"
#: The first version of NumPy. Before it some functions had other results, of which the op table knows nothing.
NUMPY = (2, 4)


def unsuited() -> str:
    """What speaks against the versions that are installed; "" for nothing."""
    try:
        found = jax_version()
    except Exception as error:  # there is none, or a module of that name lies beside the script
        return f"no jax was found: {error!r}"
    if not found.startswith(f"{JAX}."):
        return f"autojit needs jax {JAX}, and jax {found} is installed: `pip install 'jax=={JAX}.*'`"
    if tuple(map(int, np.__version__.split(".")[:2])) < NUMPY:
        least = ".".join(map(str, NUMPY))
        found = np.__version__
        return f"autojit needs NumPy {least} or later, and {found} is installed: `pip install 'numpy>={least}'`"
    return ""
