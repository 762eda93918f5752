"""The policy `measured` before there are plans: NumPy runs, timed, until a plan pays for its compilation."""

from __future__ import annotations

import ast
import math
import types
from collections.abc import Sequence
from typing import Any

from autojit.capture.promise import fusable, operations
from autojit.compile.persistent import disk_cache
from autojit.ir.syntax import walk
from autojit.runtime import gate, plans
from autojit.runtime.allowance import ALLOWANCE, part_of_compiling
from autojit.runtime.background import BACKGROUND
from autojit.runtime.controllers import CONTROLLERS
from autojit.runtime.door import DOOR
from autojit.runtime.heat import BEGIN, EACH, FEW, LOST, MANY, SHORT, Heat, price_of
from autojit.runtime.probe import Probe
from autojit.runtime.remembered import Remembered, Verdict, key_of, kind_of
from autojit.runtime.waiting import waits

#: A region without plans is captured no more when so many captures in a row were cut at the same statements.
FRUITLESS = 2
#: Where an earlier process has found such cuts, it is split without a capture when NumPy has taken that long.
SPLITS_AFTER = 0.05
#: Seconds after which it is looked again whether a region may be captured that waits for others.
SOON = 0.05
#: Seconds that an operation in the text takes to capture ...
CAPTURED = 2e-4
#: ... and to compile, besides what every program takes: NPBench's programs of 3 to 600 operations took 0.07 to 1.2 s.
COMPILED, COMPILED_ALWAYS = 2e-3, 0.1
#: A call is long on which NumPy spends more seconds.
LONG_CALL = 1e-3
#: Where NumPy has taken that long for calls of a kind, the user is told what keeps them from being compiled.
LONG_CLOSED = 1.0


class WarmUp:
    """Decides for one function when its regions are captured and compiled.

    Args:
        controller: The function's.
    """

    def __init__(self, controller: Any) -> None:
        self.controller = controller
        self._memory: Remembered | None = None
        #: By region, and how many callees there were.
        self._fusable: dict[tuple[int, int], int | None] = {}

    def pays(self, probe: Probe, heat: Heat) -> bool:
        """Whether a call should be captured; what earlier processes have measured is asked once."""
        if waits(self.controller.original.__code__):  # one compilation will do for both
            heat.cool()
            return False
        ALLOWANCE.begin()
        price = price_of(probe.price, probe.crowd.dropped, probe.is_part)
        if heat.is_new:
            heat.is_new = False
            heat.verdict = self.recall(probe, heat)
        verdict = heat.verdict
        if verdict is not None:
            if verdict.cuts and heat.seconds >= SPLITS_AFTER:
                verdict = heat.verdict = self._split_as_before(probe, verdict)
            price = (0.0 if verdict.pays_at_once else verdict.capture_seconds) if verdict.wins else LOST * price
        if probe.around is not None:  # a loop's body: the loop goes first
            price *= math.inf if probe.around.is_at_work() else 2
        if heat.seconds < price:
            return False
        if any(map(plans.is_compiling, probe.plans)) and not any(map(plans.is_kept, probe.plans)):
            probe.wait_for(SOON)  # calls of another kind show whether the region gains at all
            return False
        if not ALLOWANCE.is_limited:
            if verdict is None or not verdict.wins:
                if delay := ALLOWANCE.lacks(self.cost(probe)):
                    probe.wait_for(min(delay, SOON))
                    return False
            return DOOR.is_ready() or self._opens(heat)
        delay = self._delay(probe, heat, verdict is not None and verdict.wins)
        if delay:  # what its calls take meanwhile counts for what promises to be faster
            probe.wait_for(min(delay, SOON) if heat.promises else delay)
        return not delay

    def cost(self, probe: Probe) -> float:
        """How many seconds the program is expected to lose by a plan for a region: its text tells how large that is."""
        if probe.expected is None:
            count = operations(*self._text(probe, self._others())) or 0
            compiling = COMPILED_ALWAYS + COMPILED * count
            probe.expected = CAPTURED * count + part_of_compiling() * compiling
        return max(probe.price, probe.expected) + DOOR.cost

    def _delay(self, probe: Probe, heat: Heat, wins: bool) -> float:
        """How many seconds to wait till a capture that pays is made, for all that may be spent on the program."""
        delay = 0.0 if wins else ALLOWANCE.delay_of_capture(probe.price, self.promises(probe, heat))
        # A capture may have to ask for shapes, which a compilation at leisure may keep from being answered.
        if delay or BACKGROUND.is_busy() or (not wins and self._is_left_to_callees(probe, heat)):
            return max(delay, SOON)
        return 0.0 if DOOR.is_ready() or self._opens(heat) else SOON

    def promises(self, probe: Probe, heat: Heat) -> bool:
        """Whether the text of a region promises that a plan is faster, for calls of a kind."""
        if heat.promises is None:
            count = self.fusable(probe) or 0
            heat.promises = count >= MANY and heat.mean >= max(SHORT, EACH * count) and heat.is_of_floats
        if heat.promises:
            ALLOWANCE.promise(probe.heats.promised)
        return heat.promises

    def is_of_small(self, probe: Probe, heat: Heat) -> bool:
        """Whether NumPy takes longer to begin the operations of a region than to do them, and it does nothing else."""
        count = operations(*self._text(probe, self._others())) or 0
        return count >= FEW and heat.mean < BEGIN * count

    def _callees(self) -> dict[str, list[Any]]:
        """The controllers of the functions that native statements have called, by name: classes share some."""
        found: dict[str, list[Any]] = {}
        functions = list(self.controller.twins.functions)  # which have their own, or are decorated
        theirs = [vars(function).get("__autojit_controller__") for function in functions]
        for callee in dict.fromkeys((*self.controller.callees, *theirs)):
            if callee is not None and callee is not self.controller:
                found.setdefault(callee.original.__name__, []).append(callee)
        return found

    def _others(self) -> dict[str, list[Any]]:
        """The controllers of all other functions, by name: any of them may be called, by way of a method for one."""
        found: dict[str, list[Any]] = {}
        for other in list(CONTROLLERS):
            if other is not self.controller:
                found.setdefault(other.original.__name__, []).append(other)
        return found

    def fusable(self, probe: Probe) -> int | None:
        """As `fusable` has it, for the region of a probe."""
        callees = self._others()
        key = probe.region.number, sum(map(len, callees.values()))
        if key not in self._fusable:
            self._fusable[key] = fusable(*self._text(probe, callees))
        return self._fusable[key]

    def _text(self, probe: Probe, callees: dict[str, list[Any]]) -> tuple[Any, ...]:
        """What `fusable` and `operations` are given: a region's statements, its names, and those of functions."""
        functions = {
            name: [(one.tree.root.statements, one.tree.source.namespace) for one in named if one.tree is not None]
            for name, named in callees.items()
        }
        return probe.region.statements, self.controller.tree.source.namespace, functions

    def _is_left_to_callees(self, probe: Probe, heat: Heat) -> bool:
        """Whether long calls of a region call functions of which no whole plan could be made.

        Its capture would take what theirs have taken together, and end where theirs did; all of it has probes.
        """
        if heat.best < LONG_CALL:
            return False
        calls = (node.func for s in probe.region.statements for node in walk(s) if isinstance(node, ast.Call))
        names = {getattr(function, "attr", getattr(function, "id", "")) for function in calls}
        called = [callee for name, named in self._callees().items() if name in names for callee in named]
        if not any(callee.tree is not None and callee.tree.root.parts is not None for callee in called):
            return False
        heat.cool()  # it is looked at again when as much time has passed
        return True

    def split(self, probe: Probe, heat: Heat | None, places: Sequence[int]) -> None:
        """A capture was cut at these statements: its region is split, here and by later processes.

        Args:
            probe: The region's.
            heat: The kind of the call; `None` if it was not timed.
            places: Which of its statements they are.
        """
        probe.cuts = tuple(places), probe.cuts[1] + 1 if probe.cuts[0] == tuple(places) else 1
        self.controller.split(probe.region, places)
        if heat is not None:
            self.remember(probe, heat.kind, Verdict(False, 0.0, 0.0, 0.0, cuts=tuple(places)))

    def is_fruitless(self, probe: Probe) -> bool:
        """Whether captures of a region will be cut again where they were: its parts have probes of their own."""
        return probe.cuts[1] >= FRUITLESS and all(map(plans.is_numpys, probe.plans))

    def _split_as_before(self, probe: Probe, verdict: Verdict) -> Verdict:
        """Split a region where a capture in an earlier process was cut; what is left of the verdict."""
        if not all(0 <= place < len(probe.region.statements) for place in verdict.cuts):  # the file is damaged
            return verdict._replace(cuts=())
        with self.controller.capturing() as may_split:
            if may_split:
                probe.cuts = tuple(verdict.cuts), 1
                self.controller.split(probe.region, verdict.cuts)
                return verdict._replace(cuts=())
        return verdict

    def _opens(self, heat: Heat) -> bool:
        """Whether the first plan of the process pays for what has to be imported."""
        if DOOR.pays(heat):
            return True
        if heat.seconds >= LONG_CLOSED and DOOR.found:
            self.controller.trouble.warn("not-imported", DOOR.found)
        return False

    def run_numpy(self, probe: Probe, heat: Heat) -> None:
        """NumPy takes a call, timed unless nothing follows from it."""
        if probe.watched:
            self.controller.wake()
        if probe.heats.are_tiny() and all(map(plans.is_numpys, probe.plans)):
            probe.sleep()
        elif not probe.naps() and not gate.closes(probe):
            probe.time(heat)

    def remember(self, probe: Probe, kind: tuple[Any, ...], verdict: Verdict) -> None:
        """Keep for later processes what a trial has found, without making the caller wait."""
        memory = self._of_earlier()
        if memory is not None:
            memory.put(kind_of(probe.region, kind), verdict)
            BACKGROUND.submit(memory.save)

    def recall(self, probe: Probe, heat: Heat) -> Verdict | None:
        """What earlier processes have found about such calls, if anything."""
        memory = self._of_earlier()
        return None if memory is None else memory.get(kind_of(probe.region, heat.kind))

    def has_won(self, probe: Probe) -> bool:
        """Whether earlier processes have found a plan of a region to be faster, for calls of whatever kind."""
        memory = self._of_earlier()
        return memory is not None and memory.has_won(probe.region)

    def knows(self, function: types.FunctionType) -> bool:
        """Whether earlier processes have measured another function that has no controller yet."""
        disk = disk_cache(self.controller.config)
        return disk is not None and disk.has(key_of(function, repr(self.controller.config)))

    def _of_earlier(self) -> Remembered | None:
        disk = disk_cache(self.controller.config)
        if disk is not None and self._memory is None:
            self._memory = Remembered(disk, key_of(self.controller.tree.source.function, repr(self.controller.config)))
        return self._memory
