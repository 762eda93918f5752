"""Programs compiled with XLA's options that measurement may choose, whatever it says here.

For the tests: `AUTOJIT_TEST_CHOICE=fused+wide python -m pytest`; for random programs: `--choice fused+wide`.
"""

from __future__ import annotations

from typing import Any

from autojit.compile import executable
from autojit.ir.graph import Graph


def choose(choice: str) -> None:
    """Compile with these options from now on."""
    compile_options = executable.compile_options

    def chosen(graph: Graph, given: str = "") -> dict[str, Any]:
        return compile_options(graph, given or choice)

    executable.compile_options = chosen
