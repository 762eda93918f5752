"""`get_compiler_ir`: find a cluster of a call, compile it if nothing in the cache does, and show a stage of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autojit.errors import AutojitError
from autojit.explain.compiler_ir import STAGES, compiler_ir
from autojit.explain.report import ClusterInfo, explain_call
from autojit.runtime.compiler import compile_step
from autojit.runtime.function import Controller


def compiler_ir_of(controller: Controller, /, *args: Any, **kwargs: Any) -> Callable[..., str | bytes]:
    """What the compiler makes of a call with these arguments. Nothing of the user's code runs.

    Args:
        controller: The decorated function's (bound already).
        *args: The arguments of the call; `ArraySpec`s may stand for arrays.
        **kwargs: Its keyword arguments.

    Returns:
        A function `(stage="optimized_hlo", cluster=None)` that returns the text or bytes of a stage. `cluster` is a
        name from `explain(...).clusters`, needed when there are several.

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

    def show(stage: str = "optimized_hlo", cluster: str | None = None) -> str | bytes:
        if stage not in STAGES:
            raise ValueError(f"unknown stage {stage!r}; the stages are {', '.join(map(repr, STAGES))}")
        chosen = _choose(explanation.clusters, cluster, explanation.name)
        if stage == "graph":
            return chosen.text
        prefix = chosen.name.removesuffix(chosen.step.name)
        choice = chosen.prepared.recipe.choice
        executable = compile_step(chosen.step, prefix, controller.counters, controller.config, choice)
        return compiler_ir(executable, stage)

    return show


def _choose(clusters: list[ClusterInfo], name: str | None, function: str) -> ClusterInfo:
    names = ", ".join(f"`{cluster.name}`" for cluster in clusters)
    if name is None:
        if len(clusters) > 1:
            raise ValueError(f"`{function}` has {len(clusters)} clusters; choose one with `cluster=`: {names}")
        return clusters[0]
    for cluster in clusters:
        if cluster.name == name:
            return cluster
    raise ValueError(f"`{function}` has no cluster `{name}`; it has {names}")
