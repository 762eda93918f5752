"""`get_compiler_ir`: find the clusters of a call, compile what no cache has, and show the stages."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any

from autojit.compile.executable import Executable
from autojit.errors import AutojitError
from autojit.explain.compiler_ir import PRINTERS, STAGES, compiler_ir
from autojit.explain.cost import Cost, cost_of
from autojit.explain.function_graph import graph_html
from autojit.explain.listing import Listing
from autojit.explain.parts import ClusterInfo
from autojit.explain.report import explain_call
from autojit.explain.style import fragment
from autojit.ir.graph import Graph
from autojit.ir.text import to_text
from autojit.passes.pipeline import PIPELINE
from autojit.runtime.compiler import compile_step
from autojit.runtime.function import Controller
from autojit.runtime.plan_writer import build

#: The graphs of a whole region: as captured, after each pass, and with its clusters.
_GRAPHS = ("captured", *(step.__name__ for step in PIPELINE), "partition")
_GRAPH = "graph:"


class CompilerIR:
    """What the compiler makes of a call: `ir(stage, cluster)` shows a stage of it.

    The stages "plan" and those that begin with "graph:" are the same for all clusters of one region.

    Attributes:
        function: The name of the function.
        clusters: The names of its clusters, in program order.
        stages: The names of the stages.
    """

    stages = (*STAGES, *(f"{_GRAPH}{name}" for name in _GRAPHS))

    def __init__(self, controller: Controller, function: str, clusters: list[ClusterInfo]) -> None:
        self.function = function
        self.clusters: tuple[str, ...] = tuple(cluster.name for cluster in clusters)
        self._controller = controller
        self._infos = {cluster.name: cluster for cluster in clusters}

    def __call__(self, stage: str = "optimized_hlo", cluster: str | None = None) -> str | bytes:
        """A stage of a cluster. What is compiled already is not compiled again.

        Args:
            stage: One of `stages`. XLA does not keep "llvm_ir", nor "asm" of a program from the disk cache, so that
                the cluster is compiled once more for it.
            cluster: One of `clusters`, needed when there are several.

        Returns:
            `bytes` for the stages that end in "serialized", else text, which a notebook shows in colour, and graphs as
            pictures.

        Raises:
            ValueError: There is no such stage or cluster.
            AutojitError: For "asm": what reads machine code is not installed.
        """
        if stage not in self.stages:
            raise ValueError(f"unknown stage {stage!r}; the stages are {', '.join(map(repr, self.stages))}")
        info = self._choose(cluster)
        if stage == "graph":
            return Listing(info.text, "py", graph_html(info.step.graph, self.function))
        if stage == "plan":
            return Listing(self._plan(info), "py")
        if stage.startswith(_GRAPH):
            graph = _graph(info, stage.removeprefix(_GRAPH))
            return Listing(to_text(graph), "py", graph_html(graph, self.function))
        found = compiler_ir(self._executable(info), stage)
        return found if isinstance(found, bytes) else Listing(found, PRINTERS[stage].suffix)

    def cost(self, cluster: str | None = None) -> Cost:
        """What a cluster costs by XLA's analysis, beside what this machine can do.

        Args:
            cluster: One of `clusters`, needed when there are several.
        """
        return cost_of(self._executable(self._choose(cluster)))

    def diff(
        self, stage: str, other: str | CompilerIR, cluster: str | None = None, other_cluster: str | None = None
    ) -> str:
        """The lines in which two stages of a cluster differ, or a stage for two signatures.

        Args:
            stage: A stage that is text.
            other: Another stage of the same cluster, or what `get_compiler_ir` gives for other arguments.
            cluster: The cluster; needed when there are several.
            other_cluster: The cluster of the other call, where it has another name there.

        Returns:
            A unified difference, "" for none.

        Raises:
            ValueError: There is no such stage or cluster, or a stage is not text.
        """
        left = self._text(stage, cluster)
        if isinstance(other, CompilerIR):
            names = f"{stage} of {self.function}", f"{stage} of {other.function}, the other call"
            right = other._text(stage, other_cluster or cluster)
        else:
            names, right = (stage, other), self._text(other, cluster)
        return "\n".join(difflib.unified_diff(left.splitlines(), right.splitlines(), *names, lineterm=""))

    def save(self, directory: str | os.PathLike[str]) -> list[Path]:
        """Write every stage of every cluster to a file of its own, `CLUSTER.STAGE.SUFFIX`.

        Stages that cannot be had here, "asm" without what it needs, are left out.

        Args:
            directory: Where; it is made if need be.

        Returns:
            The files.
        """
        folder = Path(directory)
        folder.mkdir(parents=True, exist_ok=True)
        return [file for cluster in self.clusters for file in self._save(folder, cluster)]

    def _save(self, folder: Path, cluster: str) -> Iterator[Path]:
        for stage in self.stages:
            suffix = PRINTERS[stage].suffix if stage in PRINTERS else "py"
            file = folder / f"{cluster}.{stage.replace(':', '.')}.{suffix}"
            try:
                found = self(stage, cluster)
            except AutojitError:
                continue
            file.write_bytes(found if isinstance(found, bytes) else found.encode())
            yield file

    def _text(self, stage: str, cluster: str | None) -> str:
        found = self(stage, cluster)
        if isinstance(found, bytes):
            raise ValueError(f"the stage {stage!r} is not text, so that there are no lines to compare")
        return found

    def _choose(self, name: str | None) -> ClusterInfo:
        names = ", ".join(f"`{cluster}`" for cluster in self.clusters)
        if name is None:
            if len(self._infos) > 1:
                raise ValueError(
                    f"`{self.function}` has {len(self._infos)} clusters; choose one with `cluster=`: {names}"
                )
            return next(iter(self._infos.values()))
        if name not in self._infos:
            raise ValueError(f"`{self.function}` has no cluster `{name}`; it has {names}")
        return self._infos[name]

    def _executable(self, info: ClusterInfo) -> Executable:
        prefix = info.name.removesuffix(info.step.name)
        controller, choice = self._controller, info.prepared.recipe.choice
        return compile_step(info.step, prefix, controller.counters, controller.config, choice)

    def _plan(self, info: ClusterInfo) -> str:
        prepared = info.prepared
        others = [other for other in self._infos.values() if other.prepared is prepared]
        executables = {other.step.name: self._executable(other) for other in others}
        return build(prepared.capture, prepared.graph, prepared.steps, executables).source

    def _repr_html_(self) -> str:
        parts = [f"<div>{escape(repr(self))}</div>"]
        for name, info in self._infos.items():
            parts += [f"<h4><code>{escape(name)}</code></h4>", graph_html(info.step.graph, self.function)]
        return fragment(*parts, f"<div>stages: {escape(', '.join(self.stages))}</div>")

    def __repr__(self) -> str:
        return f"<compiler IR of `{self.function}`: {', '.join(self.clusters)}; call it with one of its `stages`>"


def _graph(info: ClusterInfo, name: str) -> Graph:
    if name == "partition":
        return info.prepared.graph
    # A pass that measurement has put in the place of another one stands for it.
    position = _GRAPHS.index(name)
    return info.prepared.stages[position].graph


def compiler_ir_of(controller: Controller, /, *args: Any, **kwargs: Any) -> CompilerIR:
    """What the compiler makes of a call with these arguments. Nothing of the user's code runs.

    Args:
        controller: The decorated function's (bound already).
        *args: The arguments of the call; `ArraySpec`s may stand for arrays.
        **kwargs: Its keyword arguments.

    Raises:
        AutojitError: Nothing of the call compiles.
        UncompilableError: The function is decorated with `jit_compile` and does not compile as a whole.
    """
    explanation = explain_call(controller, *args, **kwargs)
    if controller.strict and not (explanation.is_whole and explanation.clusters):
        reasons = (*explanation.native_statements, *explanation.host_nodes)
        if reasons:
            raise controller.trouble.uncompilable(reasons)
    if not explanation.clusters:
        raise AutojitError(f"nothing of `{explanation.name}` compiles for these arguments\n{explanation}")
    return CompilerIR(controller, explanation.name, explanation.clusters)
