"""`Controller`: the regions, probes and plans of one decorated function."""

from __future__ import annotations

import contextlib
import inspect
import threading
import types
import weakref
from collections.abc import Callable, Iterator, Sequence
from time import perf_counter
from typing import TYPE_CHECKING, Any

from autojit.capture import cells
from autojit.capture.early import loops_with_rest, split_early
from autojit.capture.hidden import NOTHING, Reduced
from autojit.capture.names import names_are_remembered
from autojit.capture.options import NODES, Options
from autojit.capture.probes import can_be_timed, instrument
from autojit.capture.regions import END, RETURN, Region, RegionTree, leaves
from autojit.capture.source import put_code, source_of
from autojit.compile.garbage import uncollected
from autojit.config import Config
from autojit.errors import CannotCapture, NoRoom, Reason, SourceLine, Trapped, Varies
from autojit.runtime import plans
from autojit.runtime.allowance import ALLOWANCE
from autojit.runtime.background import MAKING, making
from autojit.runtime.capturing import Capturing
from autojit.runtime.controllers import CONTROLLERS
from autojit.runtime.counters import Counters
from autojit.runtime.door import DOOR
from autojit.runtime.environment import is_default, is_followed
from autojit.runtime.forks import is_cut_off
from autojit.runtime.fuel import FUEL
from autojit.runtime.heat import Heat
from autojit.runtime.history import History, span
from autojit.runtime.interrupts import is_the_programs
from autojit.runtime.kept import Kept
from autojit.runtime.plan import UNSET, Plan
from autojit.runtime.probe import AGAIN, Probe, Restart
from autojit.runtime.remade import refusing, remade
from autojit.runtime.stack import has_room
from autojit.runtime.takeover import Takeover
from autojit.runtime.traps import is_given_up
from autojit.runtime.trouble import Trouble, left_to_numpy
from autojit.runtime.twins import Known, Twins
from autojit.runtime.warmup import WarmUp

if TYPE_CHECKING:  # for annotations alone: what lies behind the door
    from autojit.runtime.compiler import Recipe, RecipeKey
    from autojit.runtime.maker import Maker

SUSPENDS = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
#: Where a function names these, it may see that the arguments are held twice.
COUNTS = frozenset(("resize", "getrefcount", "getweakrefcount", "ref"))


class Controller:
    """Owns the instrumented function.

    Args:
        function: The user's function; it stays as it is.
        config: The flags, with the decorator's keywords merged in.
        strict: Whether everything must be one program (`jit_compile`).
        explain: Lists all reasons why a call is not one program; given by the rooms above.
        enabled: Whether the probes are on.
        is_callee: Whether it is a twin of a function that another one calls.
    """

    def __init__(
        self,
        function: types.FunctionType,
        config: Config,
        strict: bool,
        explain: Callable[[Controller, dict[str, Any]], tuple[Reason, ...]],
        enabled: bool = True,
        is_callee: bool = False,
    ) -> None:
        self.original = function
        self.config = config
        self.strict = strict
        self.is_callee = is_callee
        self.explain_all = explain
        self.trouble = Trouble(function.__qualname__, config, strict)
        self.counters = Counters()
        self.history = History(function.__qualname__, function.__code__.co_filename, config.log)
        self.options = Options(max(config.max_cluster_size, NODES), config.unroll_budget, config.exact)
        self.probes: dict[int, Probe] = {}
        self.kept: list[Kept] = []
        self.known = Known()
        self.tree: RegionTree | None = None
        self.no_source: Reason | None = None
        self.enabled = enabled and not is_cut_off()
        self.callees: list[Controller] = []
        self.caller: weakref.ref[Controller] | None = None  # of a twin: whose native statements call it
        self.fuel = FUEL
        #: What measurement has chosen, where that is not the usual recipe.
        self.recipes: dict[RecipeKey, Recipe] = {}
        self.warm_up = WarmUp(self) if config.policy == "measured" and not strict else None
        if self.warm_up is not None:  # what comes again and again would have been captured by then
            self.options.lengths_before_many = 1
        self.twins = Twins(self, rests=self.warm_up is not None)
        self._maker: Maker | None = None
        self._capturing = Capturing()
        self._looks_again = 0.0  # for probes that have slept long enough
        try:
            with names_are_remembered(), uncollected():
                self.tree = self._read()
                if self.warm_up is not None:
                    split_early(self.tree)
        except CannotCapture as error:
            self.no_source = Reason(error.id, error.detail)
        except RecursionError:
            self.tree, self.no_source = None, Reason("budget", "its text is nested too deeply")
        if self.enabled and self.warm_up is None and self.no_source is None:
            self._prepare()
        with uncollected():
            self.function = self._install()
        CONTROLLERS.add(self)

    def __reduce__(self) -> Reduced:
        return NOTHING

    def _read(self) -> RegionTree:
        """The regions of the function; `CannotCapture` is raised where they are not known."""
        return RegionTree(source_of(self.original), self.original.__closure__ or ())

    def _prepare(self) -> None:
        """The first call is compiled: import what that needs."""
        try:
            DOOR.open()
        except Exception as error:
            if is_the_programs(error):
                raise
            self.enabled = False
            self.trouble.of_compiling(error)

    # ---- the instrumented function

    def _install(self) -> types.FunctionType:
        original = self.original
        code = original.__code__
        if self.tree is None and self.strict:
            return refusing(original, self._refuse)
        if self.tree is not None:
            code = self.instrumented()
        return remade(original, code)

    def renew(self) -> None:
        """Regions have been split: give the function the code with their probes."""
        put_code(self.function, self.instrumented())

    def instrumented(self) -> types.CodeType:
        """The function's code with probes before all regions that there are now."""
        assert self.tree is not None
        marks, is_timed = self.marks(), self.warm_up is not None
        try:
            return instrument(self.tree, marks, self.twins, is_timed)
        except (SyntaxError, RecursionError):  # CPython takes 20 blocks inside each other; asking and timing need some
            marks = {number: mark for number, mark in marks.items() if not self.tree.regions[number].usual}
            try:
                return instrument(self.tree, marks, self.twins, is_timed)
            except (SyntaxError, RecursionError) as error:
                if self.warm_up is None and isinstance(error, SyntaxError):
                    raise
                self.switch(False)
                return self.original.__code__

    def marks(self) -> dict[int, object]:
        """What stands in the code, by the region's number: probes for all regions that there are now, and takeovers."""
        assert self.tree is not None
        for region in self.tree.regions:
            is_new = region.number not in self.probes and not region.once
            is_asked = self.warm_up is None or can_be_timed(region)
            if is_new and is_asked and region.worthwhile:
                self.probes[region.number] = Probe(region, self, self.enabled)
        takeovers, root = self._takeovers(), self.tree.root
        left = {loop.rest.number for loop in loops_with_rest(root) if loop.rest.number not in takeovers}
        return {number: mark for number, mark in {**self.probes, **takeovers}.items() if number not in left}

    def looks(self, region: Region) -> Callable[..., bool]:
        """Tells whether Python looks up the function of the call behind a region without running code."""
        assert self.tree is not None and region.lookup is not None
        return region.lookup.checked(self.tree.local_names, self.original.__globals__)

    def _takeovers(self) -> dict[int, Takeover]:
        """By region number, what takes over the loops of the body while they run."""
        assert self.tree is not None
        root = self.probes.get(self.tree.root.number)
        if root is None or self.warm_up is None or self.original.__code__.co_flags & SUSPENDS:
            return {}
        if not root.takeovers:
            for loop in loops_with_rest(self.tree.root):
                takeover = Takeover(self.probes[loop.rest.number])
                root.takeovers += (takeover,)
                body = self.probes.get(loop.blocks["body", -1].number)
                if body is not None:
                    takeover.body, body.around = body, takeover
        root.watched = bool(root.takeovers or self.callees) or any(probe.is_deep for probe in self.probes.values())
        return {takeover.probe.region.number: takeover for takeover in root.takeovers}

    def _refuse(self) -> None:
        """Nothing can be compiled for `jit_compile` of a function without source."""
        if not vars(self):  # the process ends
            return
        assert self.no_source is not None
        if self.enabled:
            raise self.trouble.uncompilable((self.no_source,))

    def twin(self, function: types.FunctionType) -> types.FunctionType:
        """Instrument a function that a native statement calls."""
        one: Controller | None = self
        while one is not None and one.original is not function:
            one = one.caller() if one.caller is not None else None
        if one is not None:  # it calls itself, or who calls it
            return one.function
        with ALLOWANCE.spending():
            controller = Controller(function, self.config, False, self.explain_all, self.enabled, is_callee=True)
        controller.caller = weakref.ref(self)
        self.adopt(controller)
        return controller.function

    def may_wait(self, function: types.FunctionType) -> bool:
        """Whether no earlier process has found plans for a function that a native statement calls."""
        return self.warm_up is None or not self.warm_up.knows(function)

    def adopt(self, callee: Controller) -> None:
        """Look after a function that a native statement calls."""
        callee.fuel = self.fuel
        self.callees.append(callee)
        if self.warm_up is not None and self.tree is not None and self.tree.root.number in self.probes:
            self.probes[self.tree.root.number].watched = True

    def switch(self, on: bool) -> None:
        """Switch all probes. In a forked process without XLA's threads they stay off."""
        on = on and not is_cut_off()
        self.enabled = on
        for probe in list(self.probes.values()):
            probe.ask()

    def wake(self) -> None:
        """Wake the probes that have slept long enough, here and in the functions called."""
        now = perf_counter()
        if now < self._looks_again:
            return
        self._looks_again = now + 0.5
        for probe in list(self.probes.values()):
            probe.wake(now)
        for callee in list(self.callees):
            callee.wake()

    def split(self, region: Region, places: Sequence[int]) -> None:
        """Take statements out of a region that is whole, by their places: there are probes for what is left."""
        assert self.tree is not None
        if region.parts is None:
            known = set(self.probes)
            self.tree.split(region, [region.statements[place] for place in places])
            self.renew()
            for number in self.probes.keys() - known:
                self.probes[number].is_part = True

    def turn_off(self, probe: Probe) -> None:
        """Ask a probe no more."""
        probe.state = "off"
        probe.on = probe.sleeps = probe.busy = False
        probe.plans = ()
        plans.ask_early(probe)

    # ---- plans

    @property
    def maker(self) -> Maker:
        """Makes the plans. The first one in the process opens the door."""
        made = self._maker
        if made is None:
            made = self._maker = DOOR.open().Maker(self)
        return made

    def miss(self, probe: Probe, values: tuple[Any, ...], tried: tuple[Plan, ...]) -> Any:
        """None of the plans `tried` applies: make one, if it pays; `AGAIN` if there is another one now."""
        me = threading.get_ident()
        # A signal handler or finalizer may call a function while its thread makes a plan, perhaps of the same function.
        if me in MAKING:
            return None
        if not self.may_answer():
            probe.native += 1
            return None
        heat = None
        if self.warm_up is not None:
            heat = probe.heats.of(values)
            if not self.warm_up.pays(probe, heat) or not self._capturing.begin(waits=False):
                self.counters.misses += 1
                ALLOWANCE.asked()
                return self.warm_up.run_numpy(probe, heat)
        elif not self._capturing.begin():
            probe.native += 1
            return None
        made = None
        try:
            is_late = probe.plans is not tried  # another thread has made one meanwhile
            if not is_late:
                made = self._make_for(probe, values, heat)
        finally:
            self._capturing.end(self._forget)
        if is_late:
            return AGAIN
        if made is None or type(made) is Restart:
            return made
        probe.made_for = me, values, made
        return AGAIN

    def may_answer(self) -> bool:
        """Whether compiled code may answer a call of this thread now."""
        if not is_default():
            self.counters.environments += 1
            return False
        if self.warm_up is not None and is_followed():  # under other policies the user wants it compiled
            self.counters.followed += 1
            return False
        return True

    def _make_for(self, probe: Probe, values: tuple[Any, ...], heat: Heat | None) -> Plan | Restart | None:
        """A plan for a call that has none, made by the only thread that makes plans of this function."""
        me = threading.get_ident()
        if not (probe.on and has_room()):
            return None
        if probe.is_made_for(me, values):
            if probe.refuses():
                self.trouble.warn("internal", f"a plan of `{self.trouble.name}` refuses the call it was made for")
                self.turn_off(probe)
            return None
        self.counters.misses += 1
        if plans.are_too_many(probe.plans, self.config.max_plans) and not self._finds_room(probe, values):
            return None
        probe.crowd.note(values)
        named = dict(zip(probe.region.live_in, values, strict=True))
        was_whole = probe.region.parts is None
        with making():
            plan = self.maker.make(probe, named, heat)
        plans.watch(probe, self.config.max_plans)
        assert self.tree is not None
        if plan is None and was_whole and probe.region is self.tree.root and probe.region.parts is not None:
            return Restart(named)
        return plan

    def start_again(self, values: dict[str, Any]) -> tuple[Any, ...] | None:
        """The body was split at its entry, before anything ran: this call can use the new probes already."""
        code = self.function.__code__
        if code.co_flags & SUSPENDS:
            return None
        names = code.co_varnames
        if not COUNTS.isdisjoint(code.co_names):  # the caller's frame holds the arguments, too
            return None
        if not cells.have(self.function, values):  # a copy was called
            return None
        count, keywords = code.co_argcount, code.co_kwonlyargcount
        # What is not live-in is never read.
        args = [values.get(name) for name in names[:count]]
        kwargs = {name: values.get(name) for name in names[count : count + keywords]}
        rest = count + keywords
        if code.co_flags & inspect.CO_VARARGS:
            args += values.get(names[rest], ())
            rest += 1
        if code.co_flags & inspect.CO_VARKEYWORDS:
            kwargs.update(values.get(names[rest], {}))
        assert self.tree is not None
        root, returned = self.tree.root, self.function(*args, **kwargs)
        # The names of outer functions are bound: the call has done it.
        if root.exits:
            return RETURN, returned, *(UNSET for _ in root.live_return)
        return END, *(UNSET for _ in root.live_out)

    @contextlib.contextmanager
    def capturing(self) -> Iterator[bool]:
        """Whether this thread may capture now; then it is the only one."""
        if not self._capturing.begin(waits=False):
            yield False
            return
        try:
            with making():
                yield True
        finally:
            self._capturing.end(self._forget)

    # ---- trouble

    def idle(self, probe: Probe) -> None:
        """All calls of a probe stay native: inside a loop, asking would cost more than it brings."""
        if all(map(plans.is_numpys, probe.plans)):
            if self.warm_up is not None and probe.is_deep:  # other arguments may gain
                probe.sleep()
            elif self.warm_up is None and probe.region.depth:
                probe.on = False

    def trapped(self, probe: Probe, plan: Plan, error: Trapped) -> None:
        """A plan met data that is NumPy's; one that meets nothing else is given up.

        Where a host node's result varies, the next capture ends before it: what follows has plans for its shapes.
        """
        if isinstance(error, Varies):
            self.options.observed[error.place] = None
            plans.remove(probe, plan)
            plans.ask_early(probe)
            self.history.note("left", probe.region, detail=str(error))
        probe.traps += 1
        if is_given_up(plan, probe.hits):
            first = self.line(probe)
            reason = left_to_numpy(plan.traps, first)
            self.history.note("left", probe.region, detail=reason.detail)
            plans.replace(probe, plan, self.maker.native_plan(plan.capture, reason))
            plans.ask_early(probe)
            self.idle(probe)
        return None

    def plan_failed(self, probe: Probe, plan: Plan, error: Exception) -> None:
        """A plan raised: run the statements from now on. A call near a limit says nothing of others."""
        if not isinstance(error, RecursionError):
            self.trouble.of_a_plan(error)
            if not isinstance(error, NoRoom):
                self.turn_off(probe)

    def line(self, probe: Probe) -> SourceLine:
        """Where a region begins."""
        assert self.tree is not None
        return self.tree.source.line(probe.region.statements[0])

    def miss_failed(self, probe: Probe, error: Exception) -> None:
        """Making a plan failed inside autojit or XLA."""
        self.trouble.of_compiling(error)
        self.turn_off(probe)
        return None

    def _finds_room(self, probe: Probe, values: tuple[Any, ...]) -> bool:
        """Whether a call may get a plan where there are as many as there may be: the oldest one makes room."""
        waits = not self.strict and self.warm_up is None
        may_have = not waits or probe.crowd.comes_often(values)
        if may_have:
            plans.make_room(probe, self.config.max_plans)
            plans.ask_early(probe)
            self.history.note("dropped", probe.region, detail=f"the oldest of {self.config.max_plans} plans")
            probe.crowd.dropped += 1
        elif probe.region.depth and probe.crowd.is_storm(probe.hits):
            self.turn_off(probe)
        if probe.region.parts is not None and all(map(plans.is_numpys, probe.plans)):
            return may_have  # nothing is lost: its parts have plans of their own
        then = "others run in NumPy unless they come often" if waits else "the oldest is compiled again when it is back"
        self.trouble.warn(
            "too-many-plans",
            f"{span(probe.region.lines)} of `{self.trouble.name}`: more than {self.config.max_plans} "
            f"combinations of shapes and constants; {then}{probe.crowd.history(probe.region.live_in, values)}",
        )
        return may_have

    # ---- what the user asks

    def clear(self) -> None:
        """Forget all plans and all that was learned about the regions, and what a capture that takes long will make."""
        for callee in self.callees:
            callee.clear()
        self._capturing.clear(self._forget)

    def _forget(self, is_alone: bool) -> None:
        for probe in list(self.probes.values()):
            probe.forget()
        self.counters = Counters()
        self.history = History(self.history.name, self.history.file, self.history.kinds)
        if is_alone:  # a capture goes through these
            self.recipes.clear()
            self.options.observed.clear()
            self.options.seen.clear()
            for lengths in self.options.lengths.values():
                lengths.general = None

    def cut_off(self) -> None:
        """Leave everything to NumPy in a forked process, whose locks may be held by threads that are not there."""
        self._capturing.renew()
        self.switch(False)

    def let_go(self) -> None:
        """Give the function its own code back, and hold nothing any more: the process ends.

        The collector does not look into code objects, so that the names of the function's module would never be freed:
        what was written to a file among them, and not flushed, would be lost.
        """
        function, original, probes = self.function, self.original, self.probes
        if type(function) is types.FunctionType and self.tree is not None:
            put_code(function, original.__code__)
        for probe in probes.values():
            probe.on, probe.region = False, None  # type: ignore[assignment] -- nothing asks for it any more
        CONTROLLERS.discard(self)
        self.twins.let_go()
        self.known.clear()
        vars(self).clear()

    def leaf_regions(self) -> list[Region]:
        """The regions that are not split, in program order."""
        return list(leaves(self.tree.root)) if self.tree is not None else []
