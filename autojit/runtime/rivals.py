"""What a plan is timed against, besides NumPy: the same with another choice of options."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from autojit.compile.options import (
    APART,
    FUSED,
    PLAIN_LOSS,
    WIDE,
    Option,
    has_option,
    next_option,
    with_option,
    without_option,
)
from autojit.config import Config
from autojit.ir.graph import Graph
from autojit.ops.chapters import FASTER_IN_NUMPY
from autojit.partition.clusters import partition
from autojit.partition.products import is_product, may_pay_apart, share_of_products
from autojit.partition.steps import steps
from autojit.runtime.compiler import Prepared

#: The families that YNN does not fuse with products to their harm.
_PLAIN = frozenset({"contraction", "elementwise", "shaping", "indexing", "creation"})


def with_choice(prepared: Prepared, choice: str, config: Config) -> Prepared:
    """The same with another choice of options, partitioned anew where products leave their clusters, or come back."""
    recipe = prepared.recipe._replace(choice=choice)
    if is_apart(choice) == is_apart(prepared.recipe.choice):
        return replace(prepared, recipe=recipe)
    graph = _partitioned(prepared, choice, config)
    return replace(prepared, graph=graph, steps=steps(graph), recipe=recipe)


def next_choice(prepared: Prepared, tried: Iterable[str], config: Config) -> tuple[Option, str] | None:
    """What to try next for a plan, and the choice with it: products by NumPy, then XLA's options.

    Args:
        prepared: The fastest of what was measured.
        tried: The choices that were.
        config: The function's flags.
    """
    tried, choice = frozenset(tried), prepared.recipe.choice
    if not any(map(is_apart, [choice, *tried])) and _may_leave(prepared, config):
        return APART, with_option(choice, APART)
    if is_apart(choice) and not any(has_option(one, FUSED) for one in tried):
        # What YNN would take is in no cluster of this plan.
        whole = with_choice(prepared, without_option(choice, APART), config)
        found = next_option((step.graph for step in whole.clusters), tried, whole.recipe.choice)
        if found is not None and found[0] is FUSED:
            return found
    return next_option((step.graph for step in prepared.clusters), tried, choice)


def largest_gain(option: Option, prepared: Prepared) -> float:
    """How many times as fast an option makes a plan at most: the width of vectors leaves products as they are."""
    if option is not WIDE:
        return option.gain
    share = share_of_products(prepared.graph)
    return 1 / (share + (1 - share) / option.gain)


def largest_loss(option: Option, prepared: Prepared) -> float:
    """How many times as slow an option makes a plan at most: products suffer where YNN fuses them with reductions."""
    is_plain = all(node.op.family in _PLAIN for step in prepared.clusters for node in step.graph.nodes)
    return min(option.loss, PLAIN_LOSS) if option is FUSED and is_plain else option.loss


def is_apart(choice: str) -> bool:
    """Whether a choice leaves matrix products to NumPy."""
    return has_option(choice, APART)


def _may_leave(prepared: Prepared, config: Config) -> bool:
    """Whether there are products in clusters, which may be faster outside."""
    if config.clustering_fuel >= 0 or not any(node.cluster and is_product(node) for node in prepared.graph.nodes):
        return False
    return may_pay_apart(_partitioned(prepared, APART.name, config))


def _partitioned(prepared: Prepared, choice: str, config: Config) -> Graph:
    return partition(prepared.graph, config, FASTER_IN_NUMPY, is_apart(choice))
