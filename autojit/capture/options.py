"""What a capture may cost, and what earlier ones have shown."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:  # for annotations alone: what lies behind the door
    from autojit.capture.capture import Capture
    from autojit.capture.generalize import Lengths
    from autojit.capture.observed import Observed
    from autojit.capture.regions import Region
    from autojit.capture.varying import Ints

#: A region may have so many operations, if no cluster may have more: what is sensible to interpret.
NODES = 2000


class Options:
    """Budgets of a capture, and what earlier runs have shown.

    Attributes:
        node_budget: How many operations a graph may have.
        unroll_budget: How many of them may come from an unrolled loop.
        exact: Whether only what gives NumPy's bits is captured.
        observed: Specs and strides of host results, by what produced them; `None`, by the op's name and line, for those
            that vary from run to run.
        tells: Whether all reasons of a statement that stays native are looked for, not only the first.
        seen: By region, stand-ins for the live-ins of its last capture in a run.
        ints: By region, what is known of the ints from outside.
        lengths_before_many: After how many changes of the number of rows a plan for many is made.
        lengths: By region, what is known of the lengths of its arrays.
        recall: Finds what a run has captured of a region, given what was captured of it now, and the live-ins.
        keeps_objects: Whether those hold copies of objects of the user's classes: a report of the program will ask.
    """

    keeps_objects: ClassVar[bool] = False

    def __init__(self, node_budget: int = NODES, unroll_budget: int = 600, exact: bool = False) -> None:
        self.node_budget = node_budget
        self.unroll_budget = unroll_budget
        self.exact = exact
        self.observed: dict[Any, Observed | None] = {}
        self.seen: dict[Any, dict[str, Any]] = {}
        self.ints: dict[Any, Ints] = {}
        self.lengths_before_many = 2
        self.lengths: dict[Any, Lengths] = {}
        self.tells = False
        self.recall: Callable[[Region, Capture, dict[str, Any]], Capture | None] | None = None
