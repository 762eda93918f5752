"""Call a NumPy function through a one-line function that autojit compiles."""

from __future__ import annotations

import linecache
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import autojit as aj
from autojit.compile.cache import CACHE

#: The namespaces whose public functions are driven, by what a user writes.
NAMESPACES = {"np": np, "np.linalg": np.linalg, "np.fft": np.fft}

#: The methods of ufuncs.
METHODS = ("reduce", "accumulate", "outer", "reduceat", "at")

#: Calls that say something about the place they are made from, or change the state of NumPy.
NOT_DRIVEN = frozenset("np.seterr np.seterrcall np.setbufsize np.set_printoptions np.printoptions np.test".split())

#: Plans are forgotten after so many calls: nearly every call of a test is one of its own. Tests call alike, so more of
#: the compiled programs are kept than by default, until those that nobody asks for again fill the memory.
_KEPT = 400
CACHE.max_entries, CACHE.max_bytes = 3000, None


def _public() -> Iterator[tuple[str, Any]]:
    for prefix, module in NAMESPACES.items():
        for name in module.__all__:
            function = getattr(module, name)
            if callable(function) and not isinstance(function, type) and f"{prefix}.{name}" not in NOT_DRIVEN:
                yield f"{prefix}.{name}", function


#: The driven functions by identity; the table keeps them alive.
FUNCTIONS: dict[int, tuple[str, Any]] = {id(function): (name, function) for name, function in _public()}


class Driver:
    """Drives calls, and counts what became of them.

    Attributes:
        calls: How many calls were driven.
        names: The functions, with the number of calls of each.
    """

    def __init__(self) -> None:
        self.calls = 0
        self.names: dict[str, int] = {}
        self._compiled: dict[tuple[Any, ...], Callable[..., Any]] = {}
        self.plans = 0
        self.native = 0

    def __call__(self, function: Any, /, *args: Any, **kwargs: Any) -> Any:
        name = name_of(function)
        if name is None:
            return function(*args, **kwargs)
        self.calls += 1
        self.names[name] = self.names.get(name, 0) + 1
        key = (name, len(args), tuple(kwargs))
        compiled = self._compiled.get(key)
        if compiled is None:
            compiled = self._compiled[key] = self._decorated(name, len(args), tuple(kwargs))
        if self.calls % _KEPT == 0:
            self.count()
            self._compiled.clear()
        return compiled(*args, *kwargs.values())

    def _decorated(self, name: str, count: int, keywords: tuple[str, ...]) -> Callable[..., Any]:
        positions = [f"a{number}" for number in range(count)]
        values = [f"k{number}" for number in range(len(keywords))]
        given = [*positions, *(f"{keyword}={value}" for keyword, value in zip(keywords, values, strict=True))]
        source = f"def call({', '.join([*positions, *values])}):\n    return {name}({', '.join(given)})\n"
        file = f"<{name} with {count} and {', '.join(keywords) or 'no keywords'}>"
        linecache.cache[file] = (len(source), None, source.splitlines(True), file)
        namespace: dict[str, Any] = {"np": np}
        exec(compile(source, file, "exec"), namespace)
        return aj.autocluster(policy="eager", max_plans=64)(namespace["call"])

    def count(self) -> None:
        """Add up what the functions that are kept have done."""
        for compiled in list(self._compiled.values()):  # tests call from several threads
            info: Any = compiled.cache_info()  # type: ignore[attr-defined] -- a decorated function has it
            self.plans += info.hits
            compiled.clear_cache()  # type: ignore[attr-defined] -- a decorated function has it


def name_of(function: Any) -> str | None:
    """What a user writes for a driven function, or `None`."""
    known = FUNCTIONS.get(id(function))
    if known is not None:
        return known[0]
    owner = getattr(function, "__self__", None)
    if isinstance(owner, np.ufunc) and getattr(function, "__name__", "") in METHODS and id(owner) in FUNCTIONS:
        return f"{FUNCTIONS[id(owner)][0]}.{function.__name__}"
    return None


def strict_warnings() -> None:
    """A mistake inside autojit fails the test that met it."""
    warnings.filterwarnings("error", r"autojit \[internal\]", aj.AutojitWarning)
    # A test calls with many shapes; then NumPy answers, which is compared too.
    warnings.filterwarnings("ignore", r"autojit \[too-many-plans\]", aj.AutojitWarning)  # NumPy's tests call with many kinds
