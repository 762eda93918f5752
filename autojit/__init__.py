"""autojit makes unmodified NumPy functions fast.

Decorate a function with `jit_compile` (the whole function is one XLA program, or an error that lists every reason) or
`autocluster` (what compiles is compiled, the rest runs in NumPy). `docs/` and the README show how.
"""

from typing import TYPE_CHECKING, Any

from autojit.api import autocluster, clear_cache, get_compiler_ir, jit_compile, late, set_jit
from autojit.errors import (
    REASONS,
    AutojitError,
    AutojitWarning,
    FlagError,
    Reason,
    ReasonKind,
    SourceLine,
    UncompilableError,
)
from autojit.launch.hook import install_by_flag
from autojit.notebook import load_ipython_extension, unload_ipython_extension
from autojit.ops.declared import declare_host_op as host_op
from autojit.runtime.info import CacheInfo, MemoryInfo, memory_info, trim_memory

if TYPE_CHECKING:  # for annotations alone: what lies behind the door
    from autojit.capture.values import ArraySpec
    from autojit.explain.compiler_ir import STAGES
    from autojit.explain.cost import Cost
    from autojit.explain.parts import ClusterInfo
    from autojit.explain.report import Explanation
    from autojit.explain.select import CompilerIR
    from autojit.profiling.profile import profile
    from autojit.profiling.table import ProfileRow, ProfileTable, profile_table

__version__ = "0.1.0"

install_by_flag()

__all__ = [
    "REASONS",
    "STAGES",
    "ArraySpec",
    "AutojitError",
    "AutojitWarning",
    "CacheInfo",
    "ClusterInfo",
    "CompilerIR",
    "Cost",
    "Explanation",
    "FlagError",
    "MemoryInfo",
    "ProfileRow",
    "ProfileTable",
    "Reason",
    "ReasonKind",
    "SourceLine",
    "UncompilableError",
    "autocluster",
    "clear_cache",
    "get_compiler_ir",
    "host_op",
    "jit_compile",
    "load_ipython_extension",
    "memory_info",
    "profile",
    "profile_table",
    "set_jit",
    "trim_memory",
    "unload_ipython_extension",
]


def __getattr__(name: str) -> Any:
    """The names that need what compiles, which is imported when they are asked for."""
    if name not in __all__:
        raise AttributeError(f"module `autojit` has no attribute `{name}`")
    try:
        found = globals()[name] = late(name)
    except AutojitError as error:
        raise AttributeError(str(error)) from error
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
