"""`Maker`: from a call to a plan. What is imported from here on lies behind the door."""

from __future__ import annotations

import atexit
from collections import deque
from dataclasses import replace
from time import perf_counter
from typing import Any

from autojit.capture.capture import Capture, capture
from autojit.capture.explore import explore_parts
from autojit.capture.kept import stand_in_for
from autojit.capture.regions import region_key
from autojit.capture.rest import steady
from autojit.capture.varying import capture_varying
from autojit.compile.cache import CACHE
from autojit.compile.garbage import uncollected
from autojit.compile.patience import ending
from autojit.compile.xla import hold, is_started
from autojit.config import Config
from autojit.errors import Reason
from autojit.logs import log
from autojit.ops.chapters import TABLE
from autojit.partition import compilable
from autojit.partition.cost import Cost, entry_cost, estimate
from autojit.partition.products import leave_nothing
from autojit.runtime import plans
from autojit.runtime.allowance import ALLOWANCE
from autojit.runtime.check import Check
from autojit.runtime.compiler import Prepared, compile_plan, is_at_hand, prepare
from autojit.runtime.controllers import stop
from autojit.runtime.debug import describe
from autojit.runtime.doubt import look_again
from autojit.runtime.ending import wait_for_plans
from autojit.runtime.forks import cuts_off_if, when_cut_off
from autojit.runtime.fuel import FUEL, out_of_fuel
from autojit.runtime.function import Controller
from autojit.runtime.heat import Heat, rows_of
from autojit.runtime.history import span
from autojit.runtime.ledger import tell
from autojit.runtime.listening import EAR
from autojit.runtime.measured import try_later
from autojit.runtime.plan import Plan
from autojit.runtime.plan_writer import native_plan
from autojit.runtime.probe import Probe
from autojit.runtime.progress import progress

__all__ = ["CACHE", "Maker", "check_names"]

#: Seconds that saving the states of random streams takes: 0.7 us for a generator, 23 us for a random state.
_SAVING_STATES = 5e-6
#: Reasons that hold whatever the types of the arguments are.
_ALWAYS = frozenset(["effect", "statement", "long-loop", "unsupported-syntax"])


class Maker:
    """Makes the plans of one function.

    Args:
        controller: The function's.
    """

    def __init__(self, controller: Controller) -> None:
        self.controller = controller
        self.native_plan = native_plan

    def make(self, probe: Probe, values: dict[str, Any], heat: Heat | None) -> Plan | None:
        """Capture a region for these values, and compile it: now, or with `heat` in the background."""
        controller = self.controller
        if heat is not None:
            heat.cool()
        start = perf_counter()
        try:
            prepared = self.prepare(probe, values, heat)
        finally:
            probe.price = perf_counter() - start
            if controller.warm_up is not None:
                ALLOWANCE.spend(probe.price)
        if prepared is None:
            return None
        if heat is not None and controller.warm_up is not None:
            if not controller.config.check and leave_nothing(prepared.graph, heat.best):
                detail = f"matrix products take nearly all of {heat.best * 1e3:.3g} ms"
                plans.add(probe, native_plan(prepared.capture, Reason("products", detail, controller.line(probe))))
                return None
            trial = try_later(controller.warm_up, probe, heat, prepared)
            return None if trial is None else trial.plan
        plan = self.compile(prepared, probe)
        controller.trouble.of_the_disk()
        plans.add(probe, plan)
        return plan

    def prepare(self, probe: Probe, values: dict[str, Any], heat: Heat | None = None) -> Prepared | None:
        """Capture a region for these values; `None` if there is nothing to compile, which the probe then knows."""
        with EAR.span("capture", self.controller, probe), uncollected():
            return self._prepare(probe, values, heat)

    def _prepare(self, probe: Probe, values: dict[str, Any], heat: Heat | None) -> Prepared | None:
        controller = self.controller
        assert controller.tree is not None
        start = perf_counter()
        controller.counters.captures += 1
        stand_ins = {name: stand_in_for(value) for name, value in values.items()}
        controller.options.seen[region_key(probe.region)] = stand_ins
        rows = rows_of(values.values()) if heat is not None and heat.has_lengths else 0
        captured = capture_varying(controller.tree, probe.region, values, controller.options, rows)
        lengths = controller.options.lengths.get(region_key(probe.region))
        probe.heats.by_rows = lengths is None or not lengths.is_closed
        self._note_capture(captured, perf_counter() - start, lengths.trouble if lengths is not None else "")
        if captured.cuts:
            self._split(probe, captured, values, heat)
            return None
        probe.cuts = (), 0
        assert captured.graph is not None
        if not captured.graph.nodes and not controller.strict:
            if probe.region.branches:  # other arguments may find array work
                plans.add(probe, native_plan(captured, Reason("too-small", "no array work", controller.line(probe))))
            else:
                controller.turn_off(probe)
            return None
        with controller.fuel.partitioning(controller.config) as config:
            prepared = self._partitioned(captured, config, probe, values, heat)
            if prepared is not None:
                self._spend(config, prepared, probe)
                prepared.seconds = perf_counter() - start
        return prepared

    def _partitioned(
        self, captured: Capture, config: Config, probe: Probe, values: dict[str, Any], heat: Heat | None
    ) -> Prepared | None:
        """What is captured, in clusters; `None` where it is left to NumPy, which the probe then knows."""
        controller = self.controller
        reason = out_of_fuel(config)
        if reason is not None:
            plans.add(probe, native_plan(captured, reason._replace(source=controller.line(probe))))
            return None
        prepared = prepare(captured, config, controller.strict)
        if controller.strict and (captured.draws or any(node.cluster is None for node in prepared.graph.nodes)):
            raise controller.trouble.uncompilable(controller.explain_all(controller, values))
        if controller.strict and len({node.cluster for node in prepared.graph.nodes}) > 1:
            size, most = len(prepared.graph.nodes), controller.config.max_cluster_size
            detail = f"{size} operations, more than `--max_cluster_size={most}`"
            raise controller.trouble.uncompilable((Reason("budget", detail, controller.line(probe)),))
        if probe.region.depth and not controller.strict and self.too_small(prepared, heat):
            reason = Reason("too-small", "the loop body is too little work", controller.line(probe))
            plans.add(probe, native_plan(captured, reason))
            return None
        return prepared

    def compile(self, prepared: Prepared, probe: Probe) -> Plan:
        """Compile a prepared region."""
        controller = self.controller
        what = f"compiling {span(probe.region.lines)} of `{controller.original.__qualname__}`"
        with EAR.span("compile", controller, probe), progress(what):
            plan = self._compile(prepared, probe)
        EAR.made(controller, probe, plan)
        return plan

    def _compile(self, prepared: Prepared, probe: Probe) -> Plan:
        controller = self.controller
        counters, start = controller.counters, perf_counter()
        compiles, loads = counters.compiles, counters.loads
        plan = compile_plan(prepared, counters, controller.config, _prefix(probe))
        if counters.compiles > compiles or counters.loads > loads:
            what = "compiled" if counters.compiles > compiles else "loaded"
            controller.history.note(what, probe.region, perf_counter() - start, str(prepared.recipe))
        if "clusters" in controller.history.kinds:
            for step in prepared.clusters:
                names = ", ".join(node.op.name for node in step.graph.nodes)
                controller.history.log("clusters", f"{_prefix(probe)}{step.name}: {names}")
        if controller.config.clustering_debug:
            log.warning("%s", describe(controller.original.__qualname__, prepared, plan))
        if controller.config.check:
            plan.call = Check(plan, prepared, controller, probe).enter
        return plan

    def _note_capture(self, captured: Capture, seconds: float, trouble: str) -> None:
        cuts, rows = [cut.reason for cut in captured.cuts], captured.rows
        lines = dict.fromkeys(reason.source.line for reason in cuts if reason.source)
        detail = f"native: line{'s' * (len(lines) > 1)} {', '.join(map(str, lines))}" if cuts else ""
        if rows is not None:
            detail = f"for {rows.least + 1} to {rows.most} rows"
        elif trouble and not cuts:
            detail = f"for one number of rows: {trouble}"
        self.controller.history.captured(captured.region, captured.prologue, seconds, detail)

    def prepare_rest(self, probe: Probe, values: tuple[Any, ...]) -> Prepared | None:
        """Capture the rest of a loop; `None` where it is not one graph. The price is noted."""
        start = perf_counter()
        try:
            with EAR.span("capture", self.controller, probe), uncollected():
                return self._prepare_rest(probe, values)
        finally:
            probe.price = perf_counter() - start
            ALLOWANCE.spend(probe.price)

    def _prepare_rest(self, probe: Probe, values: tuple[Any, ...]) -> Prepared | None:
        controller, region = self.controller, probe.region
        assert controller.tree is not None
        controller.counters.captures += 1
        named = dict(zip(region.live_in, values, strict=True))
        captured = capture(controller.tree, region, named, controller.options)
        if captured.cuts and region.may_be_left:
            captured = capture(controller.tree, steady(region), named, controller.options)
        if captured.cuts or captured.graph is None or not captured.graph.nodes:
            return None
        with controller.fuel.partitioning(controller.config) as config:
            if out_of_fuel(config) is not None:
                return None
            prepared = prepare(captured, config)
            self._spend(config, prepared, probe)
        return prepared

    def _spend(self, config: Config, prepared: Prepared, probe: Probe) -> None:
        """Count the clusters, if there is a limit."""
        numbers = self.controller.fuel.spend(config, len(prepared.clusters))
        if numbers and self.controller.fuel is FUEL:
            tell(self.controller, probe.region, zip(numbers, prepared.clusters, strict=True))

    def is_at_hand(self, prepared: Prepared, probe: Probe) -> bool:
        """Whether `compile` would only have to load."""
        return is_at_hand(prepared, self.controller.config, _prefix(probe))

    def look_again(self, probe: Probe, plan: Plan) -> None:
        """Compare a plan that was kept with NumPy at the calls that come."""
        look_again(self.controller, probe, plan)

    def too_small(self, prepared: Prepared, heat: Heat | None = None) -> bool:
        """Whether entering a plan would take longer than NumPy does; where that was timed and the plan will be, too,
        whether it would take much longer.
        """
        cost = estimate(prepared.graph)
        saving = _SAVING_STATES if prepared.capture.draws else 0.0
        plan = Cost(cost.numpy_seconds, cost.plan_seconds + entry_cost(prepared.graph) + saving)
        if heat is None:
            return plan.plan_seconds > plan.numpy_seconds
        return replace(plan, numpy_seconds=max(plan.numpy_seconds, heat.best)).clearly_loses

    def _split(self, probe: Probe, captured: Capture, values: dict[str, Any], heat: Heat | None) -> None:
        """A region is not captured as a whole: split it; calls of these types stay native here."""
        controller = self.controller
        if controller.strict:
            raise controller.trouble.uncompilable(controller.explain_all(controller, values))
        assert controller.tree is not None
        cuts, warm_up = captured.cuts, controller.warm_up
        if warm_up is not None:  # it is not known yet which parts are worth a capture
            warm_up.split(probe, heat, captured.places)
        elif probe.region.parts is None:
            try:
                deque(explore_parts(controller.tree, captured, values, controller.options), 0)
            finally:
                controller.renew()
        captured.snapshots.clear()  # a plan keeps what was captured, and nothing of the caller's
        is_fruitless = warm_up is not None and warm_up.is_fruitless(probe)
        if is_fruitless or any(cut.reason.id in _ALWAYS for cut in cuts):
            controller.turn_off(probe)
        else:
            plans.add(probe, native_plan(captured, cuts[0].reason))


def check_names(config: Config) -> None:
    """Refuse spelling mistakes in the flags that name operations.

    Raises:
        FlagError: A name is neither that of a row of the table nor a family.
    """
    compilable.check_names(config, TABLE.rows.values())


def _prefix(probe: Probe) -> str:
    return f"region_{probe.region.number}_" if probe.region.number else ""


def _end() -> None:
    with ending():
        stop()
        wait_for_plans()


cuts_off_if(is_started)
when_cut_off(hold)
atexit.register(_end)  # before what jax does at the end
