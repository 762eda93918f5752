"""From a capture to a plan: passes, partition, compilation."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import NamedTuple

from autojit.capture.capture import Capture
from autojit.compile.cache import CACHE
from autojit.compile.executable import Executable
from autojit.compile.key import cluster_key
from autojit.compile.options import APART, has_option, in_words, what_applies
from autojit.compile.persistent import disk_cache
from autojit.config import Config
from autojit.ir.graph import Graph
from autojit.ops.chapters import FASTER_IN_NUMPY
from autojit.partition.clusters import partition
from autojit.partition.steps import ClusterStep, Step, steps
from autojit.passes.pipeline import PIPELINE, Pass, Stage, run_pipeline, with_rung
from autojit.passes.vectorize import keep_rolled, vectorize_always
from autojit.runtime.counters import Counters
from autojit.runtime.plan import Plan
from autojit.runtime.plan_writer import build


class Recipe(NamedTuple):
    """How a region is compiled; all but the default is chosen by measurement.

    Attributes:
        passes: Which ones run.
        choice: Of options, as in `compile/options.py`.
    """

    passes: tuple[Pass, ...] = PIPELINE
    choice: str = ""

    def __str__(self) -> str:
        """What is not usual about it, in words; "" for nothing."""
        ways = ["loops compiled the other way"] if self.passes is not PIPELINE else []
        return ", ".join([*ways, *filter(None, [in_words(self.choice)])])


#: A region's number, and a digest of its graph.
RecipeKey = tuple[int, str]
#: How a region is compiled at first.
USUAL = Recipe()


@dataclass(slots=True, eq=False)
class Prepared:
    """A capture whose graph has been through the passes and the partition; `seconds` is how long all that took."""

    capture: Capture
    graph: Graph
    steps: tuple[Step, ...]
    stages: list[Stage] = field(default_factory=list)
    recipe: Recipe = USUAL
    seconds: float = 0.0

    @property
    def clusters(self) -> tuple[ClusterStep, ...]:
        """What is compiled."""
        return tuple(step for step in self.steps if isinstance(step, ClusterStep))


def prepare(capture: Capture, config: Config, strict: bool = False, recipe: Recipe = USUAL) -> Prepared:
    """Run the passes and the partition on a captured graph; `strict` compiles what is slower compiled, too."""
    assert capture.graph is not None
    stages: list[Stage] = []
    optimized = run_pipeline(capture.graph, stages, recipe.passes)
    apart = has_option(recipe.choice, APART) and not strict
    graph = partition(optimized, config, frozenset() if strict else FASTER_IN_NUMPY, apart)
    return Prepared(capture, graph, steps(graph), stages, recipe)


def other_rung(prepared: Prepared) -> tuple[Pass, ...] | None:
    """The passes that choose for the loops what their expected cost spoke against; `None` where there is no choice."""
    rungs = [rung for stage in prepared.stages for rung in stage.rungs]
    if any(rung.taken == "vectorized" for rung in rungs):
        return with_rung(keep_rolled)
    return with_rung(vectorize_always) if any(rung.dearer for rung in rungs) else None


def recipe_key(capture: Capture) -> RecipeKey:
    """What a recipe is chosen for: a region and what was captured of it."""
    assert capture.graph is not None
    return capture.region.number, cluster_key(capture.graph).digest


def note_recipe(recipes: dict[RecipeKey, Recipe], prepared: Prepared) -> None:
    """Note how what was captured is compiled from now on."""
    if prepared.recipe != USUAL:
        recipes[recipe_key(prepared.capture)] = prepared.recipe
    elif recipes:
        recipes.pop(recipe_key(prepared.capture), None)


def is_at_hand(prepared: Prepared, config: Config, prefix: str = "") -> bool:
    """Whether the caches have all clusters, so that nothing has to be compiled."""
    disk = disk_cache(config)
    choice = prepared.recipe.choice
    return all(
        CACHE.is_at_hand(_named(step, prefix), disk, what_applies(choice, step.graph)) for step in prepared.clusters
    )


def _named(step: ClusterStep, prefix: str) -> Graph:
    return replace(step.graph, name=f"{prefix}{step.name}")


def compile_step(step: ClusterStep, prefix: str, counters: Counters, config: Config, choice: str) -> Executable:
    """The executable of a cluster with a choice of options, from the caches or compiled now."""
    choice = what_applies(choice, step.graph)
    executable, made = CACHE.request(_named(step, prefix), disk_cache(config), choice)
    if made and executable.is_loaded:
        counters.loads += 1
    elif made:
        counters.compiles += 1
        counters.compile_seconds += executable.compile_seconds
    return executable


def compile_plan(prepared: Prepared, counters: Counters, config: Config, prefix: str = "") -> Plan:
    """Compile the clusters and write the plan."""
    executables = {
        step.name: compile_step(step, prefix, counters, config, prepared.recipe.choice) for step in prepared.clusters
    }
    is_hidden = config.policy != "measured"
    return build(prepared.capture, prepared.graph, prepared.steps, executables, is_hidden)
