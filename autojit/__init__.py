"""autojit makes unmodified NumPy functions fast.

Decorate a function with `jit_compile` (the whole function is one XLA program, or an error that lists every reason) or
`autocluster` (what compiles is compiled, the rest runs in NumPy). `docs/` and the README show how.
"""

from autojit.api import autocluster, clear_cache, jit_compile, set_jit
from autojit.capture.values import ArraySpec
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
from autojit.explain.compiler_ir import STAGES
from autojit.explain.report import ClusterInfo, Explanation
from autojit.ops.host import declare_host_op as host_op
from autojit.runtime.info import CacheInfo, MemoryInfo, memory_info, trim_memory

__version__ = "0.1.0"

__all__ = [
    "REASONS",
    "STAGES",
    "ArraySpec",
    "AutojitError",
    "AutojitWarning",
    "CacheInfo",
    "ClusterInfo",
    "Explanation",
    "FlagError",
    "MemoryInfo",
    "Reason",
    "ReasonKind",
    "SourceLine",
    "UncompilableError",
    "autocluster",
    "clear_cache",
    "host_op",
    "jit_compile",
    "memory_info",
    "set_jit",
    "trim_memory",
]
