"""XLA's options for a cluster: what is right for nearly all, and what only a measurement can tell."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autojit.compile.xla import EXTRA, TREES
from autojit.ir.graph import Graph

#: Loops that touch at most this many bytes per iteration become one machine function, which uses one core.
SMALL_LOOP = 256 * 1024
#: Arrays with more axes are kept from YNN; two fewer than crash, as lowerings may add an axis.
_SAFE_AXES = 5
_FUSIONS = "xla_cpu_experimental_ynn_fusion_type"
_WIDTH = "xla_cpu_prefer_vector_width"
#: The widest vectors that XLA may be asked for, in bits. It uses 256 by itself.
_WIDEST = 512


@dataclass(frozen=True, slots=True)
class Option:
    """Something that makes some clusters faster and others slower.

    Attributes:
        name: One word; a choice of several has them with "+" between them.
        text: What it is, for people.
        gain: How many times as fast it makes a cluster at most.
        loss: How many times as slow at most.
    """

    name: str
    text: str
    gain: float
    loss: float


#: XLA's YNN library, for clusters with matrix products: chains of them are up to twice as fast, and a chain with a
#: softmax is 13 times slower.
FUSED = Option("fused", "matrix products by XLA's YNN library", 3.0, 16.0)
#: ... and where there is no reduction, 1.5 times, if the product is a small one of a matrix and a vector.
PLAIN_LOSS = 4.0
#: Vectors of 512 bits, where the processor has them: 0.7 to 1.5 times as fast.
WIDE = Option("wide", "vectors of 512 bits", 1.6, 2.0)
#: In the order in which they are tried.
OPTIONS = (FUSED, WIDE)
#: No option of XLA's, but chosen as they are: large matrix products are NumPy's, between clusters of the rest. Some of
#: XLA's products of a matrix and a vector take many times as long.
APART = Option("apart", "matrix products by NumPy", 8.0, 2.0)


def compile_options(graph: Graph, choice: str = "") -> dict[str, Any]:
    """XLA's options for one cluster.

    The fusions of XLA's YNN library make plain reductions up to 4 times faster, but a chain of matrix products with a
    softmax 13 times slower. They store what they reduce, as does XLA's rewriting of reductions as trees, so that the
    sums in loops are up to 5 times faster without both. A loop whose iteration touches little memory is compiled into
    one machine function; else each of its operations is started by itself, which costs some 0.1 us. The emitter that
    works on tiles takes `x + 0` for `x`, which is wrong for -0.0. YNN's fusions of arrays with seven or eight axes
    crash the process (jax-ml/jax#39257, jaxlib 0.10.2 and 0.11.0).

    Args:
        graph: The cluster.
        choice: What measurement has chosen: names of `OPTIONS`, all of which apply to the cluster.
    """
    chosen = choice.split("+")
    options: dict[str, Any] = {EXTRA: {"xla_cpu_disable_tiled_emitter": "true"}}
    families = _families(graph)
    if _has_many_axes(graph) or "loop" in families or ("contraction" in families and FUSED.name not in chosen):
        options[_FUSIONS] = ""
    if "loop" in families:
        options["xla_disable_hlo_passes"] = TREES
        options[EXTRA] |= {"xla_cpu_small_while_loop_byte_threshold": str(SMALL_LOOP)}
    if WIDE.name in chosen:
        options[_WIDTH] = _WIDEST
    return options


def next_option(graphs: Iterable[Graph], tried: Iterable[str], best: str) -> tuple[Option, str] | None:
    """The option to try next for these clusters, and the choice with it.

    Args:
        graphs: The clusters of one plan.
        tried: The choices that were measured.
        best: The fastest of them.
    """
    graphs, tried = tuple(graphs), frozenset(tried)
    for option in OPTIONS:
        choice = with_option(best, option)
        is_new = not has_option(best, option) and choice not in tried
        if is_new and any(_applies(option, graph) for graph in graphs):
            return option, choice
    return None


def what_applies(choice: str, graph: Graph) -> str:
    """A choice without what means nothing for a cluster."""
    names = (option.name for option in OPTIONS if has_option(choice, option) and _applies(option, graph))
    return "+".join(sorted(names))


def in_words(choice: str) -> str:
    """A choice for people; "" for the usual options."""
    return ", ".join(option.text for option in (APART, *OPTIONS) if has_option(choice, option))


def with_option(choice: str, option: Option) -> str:
    """A choice and one option more."""
    return "+".join(sorted({*filter(None, choice.split("+")), option.name}))


def without_option(choice: str, option: Option) -> str:
    """A choice and one option less, if it has that."""
    return "+".join(name for name in choice.split("+") if name != option.name)


def has_option(choice: str, option: Option) -> bool:
    """Whether an option is part of a choice."""
    return option.name in choice.split("+")


def has_products(graph: Graph) -> bool:
    """Whether a cluster multiplies matrices, in loops or outside."""
    return any(
        node.op.family == "contraction"
        or any(has_products(value) for _, value in node.params if isinstance(value, Graph))
        for node in graph.nodes
    )


def _applies(option: Option, graph: Graph) -> bool:
    if option is WIDE:
        return has_wide_vectors()
    families = _families(graph)
    return "contraction" in families and "loop" not in families and not _has_many_axes(graph)


def _families(graph: Graph) -> set[str]:
    return {node.op.family for node in graph.nodes}


def _has_many_axes(graph: Graph) -> bool:
    axes = (value.spec.ndim for node in graph.nodes for value in (*node.outputs, *node.inputs))
    return max(axes, default=0) > _SAFE_AXES


@functools.cache
def has_wide_vectors() -> bool:
    """Whether the processor has vectors of 512 bits, as far as Linux tells; no other system is asked."""
    try:
        return "avx512f" in Path("/proc/cpuinfo").read_text().split()
    except OSError:
        return False
