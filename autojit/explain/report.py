"""`Explanation`: what of a function compiles, what does not, and why; found without running the user's code."""

from __future__ import annotations

import ast
import copy
import inspect
import linecache
from dataclasses import dataclass, field
from typing import Any

from autojit.capture.capture import Capture, Cut
from autojit.capture.explore import explore
from autojit.capture.regions import Region, RegionTree
from autojit.capture.streams import calls_in
from autojit.capture.values import UNKNOWN
from autojit.errors import Reason
from autojit.explain.changes import changing
from autojit.explain.function_graph import FunctionGraph, Section
from autojit.explain.html import to_html
from autojit.explain.losses import Loss, host_reason, losses_of
from autojit.explain.origin import Source
from autojit.explain.parts import ClusterInfo, LoopInfo, lines_of, loops_of, native_loop, places
from autojit.explain.recall import Recall, Recalled
from autojit.explain.standing import overlaps, standing_of
from autojit.explain.state import Left, PlanInfo, Resources, plans_of, resources_of, unused_of
from autojit.explain.style import hues_of
from autojit.explain.text import to_text
from autojit.explain.timed import native_seconds
from autojit.ir.text import to_text as graph_to_text
from autojit.partition.steps import ClusterStep
from autojit.runtime.compiler import USUAL, Prepared, Recipe, prepare, recipe_key
from autojit.runtime.function import Controller
from autojit.runtime.history import Event, Profiled

#: Of the plain data: it grows when a key is taken away or means something else.
VERSION = 1


@dataclass(slots=True)
class Explanation:
    """What becomes of one call.

    Attributes:
        name: The function.
        clusters: The compiled programs, in program order.
        host_nodes: Operations in the middle of compiled code that run in NumPy.
        native_statements: Statements that stay Python.
        unknown: Statements of which more is known after a first run: they need what a native statement makes. Those
            that runs have met, and left to Python, are among the native ones.
        regions: How many runs of statements are captured.
        recalled: The captured regions of which only a run has told what native lines make for them.
        loops: The loops in compiled code, and those that Python runs.
        source: The file, the number of the first line, and the lines.
        left: What raises in a branch that the data decides: a call that is led there is left to NumPy.
        plans: What earlier calls have left: what answers calls now.
        changes: What has changed from call to call.
        history: What has happened so far: captures, compilations, decisions.
        resources: What is kept for later calls.
        profiled: What profiles have measured of the function's lines.
        standing: Why NumPy answers calls as things stand, though their code could be compiled.
        is_decorated: Whether the function is; else this is what `autocluster` would make of it.
        timed: What native statements take in a call, where the policy `measured` has timed what is around them.
        waits: Whether NumPy runs until compiling is known to pay, and nothing is compiled so far.
        sections: The captured regions and native statements, in program order; `graph` is a picture of them.
        is_explored: Whether it was looked at what becomes of the call; else the rest of this is all that is known.
    """

    name: str
    clusters: list[ClusterInfo] = field(default_factory=list)
    host_nodes: list[Reason] = field(default_factory=list)
    native_statements: list[Reason] = field(default_factory=list)
    unknown: list[Reason] = field(default_factory=list)
    regions: int = 0
    source: tuple[str, int, list[str]] | None = None
    loops: list[LoopInfo] = field(default_factory=list)
    recalled: list[Recalled] = field(default_factory=list)
    left: list[Reason] = field(default_factory=list)
    plans: list[PlanInfo] = field(default_factory=list)
    history: list[Event] = field(default_factory=list)
    changes: list[Reason] = field(default_factory=list)
    resources: Resources | None = None
    profiled: Profiled | None = None
    sections: list[Section] = field(default_factory=list, repr=False)
    is_explored: bool = True
    waits: bool = False
    standing: list[Reason] = field(default_factory=list)
    is_decorated: bool = True
    timed: dict[Reason, float] = field(default_factory=dict, repr=False)

    @property
    def graph(self) -> FunctionGraph:
        """A picture of what becomes of the call: its clusters, host nodes and native statements."""
        hues = hues_of((id(cluster.prepared), cluster.step.name) for cluster in self.clusters)
        return FunctionGraph(self.name, self.sections, hues)

    @property
    def losses(self) -> list[Loss]:
        """What each break costs, where that is measured or can be estimated."""
        return losses_of(self.sections, self.profiled, self.source, self.timed)

    @property
    def reasons(self) -> list[Reason]:
        """Why not all is compiled, and what raises, in the order of the report."""
        return [
            *self.standing,
            *self.host_nodes,
            *self.native_statements,
            *self.left,
            *self.changes,
            *(left.reason for left in self.unused),
        ]

    @property
    def unused(self) -> list[Left]:
        """The regions that could be compiled, and whose calls NumPy answers."""
        return unused_of(self.plans)

    @property
    def is_whole(self) -> bool:
        """Whether the call is one captured region without native statements and host nodes."""
        return self.regions <= 1 and not self.native_statements and not self.host_nodes and not self.unknown

    @classmethod
    def native(cls, name: str, reason: Reason) -> Explanation:
        """The explanation of a function that runs native as a whole."""
        return cls(name, native_statements=[reason])

    def to_dict(self) -> dict[str, Any]:
        """The explanation as plain data."""
        return {
            "version": VERSION,
            "function": self.name,
            "is_whole": self.is_whole,
            "regions": self.regions,
            "clusters": [cluster.to_dict() for cluster in self.clusters],
            "host_nodes": [reason.to_dict() for reason in self.host_nodes],
            "native_statements": [reason.to_dict() for reason in self.native_statements],
            "unknown": [reason.to_dict() for reason in self.unknown],
            "recalled": [recalled.to_dict() for recalled in self.recalled],
            "loops": [loop.to_dict() for loop in self.loops],
            "left": [reason.to_dict() for reason in self.left],
            "changes": [reason.to_dict() for reason in self.changes],
            "unused": [{"lines": list(left.lines), **left.reason.to_dict()} for left in self.unused],
            "standing": [reason.to_dict() for reason in self.standing],
            "is_decorated": self.is_decorated,
            "waits": self.waits,
            "losses": [loss.to_dict() for loss in self.losses],
            "plans": [plan.to_dict() for plan in self.plans],
            "history": [event.to_dict() for event in self.history],
            "resources": self.resources.to_dict() if self.resources else None,
        }

    def __str__(self) -> str:
        return to_text(self)

    def to_html(self) -> str:
        """The report as a fragment of HTML that any page can hold; it loads nothing."""
        return to_html(self)

    def _repr_html_(self) -> str:
        return to_html(self)

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """What IPython shows where it has no HTML."""
        printer.text(str(self))


def explain_call(controller: Controller, /, *args: Any, **kwargs: Any) -> Explanation:
    """Explain what a call with these arguments becomes. Nothing of the user's code runs.

    Args:
        controller: The decorated function's (bound already).
        *args: The arguments of the call; `ArraySpec`s may stand for arrays.
        **kwargs: Its keyword arguments.
    """
    if controller.no_source is not None or controller.tree is None:
        assert controller.no_source is not None
        return Explanation.native(controller.original.__qualname__, controller.no_source)
    explanation = with_past(controller)
    try:
        values = bind(controller, args, kwargs)
    except TypeError as error:
        if not _is_method(controller):
            raise
        name = controller.original.__qualname__
        detail = f"of the method `{name}` the object is asked for, too: `{name}.explain(object, ...)`"
        raise TypeError(f"{error}; {detail}") from None
    _explore(controller, values, explanation)
    _add_overlap(controller, values, explanation)
    return explanation


def _add_overlap(controller: Controller, values: dict[str, Any], out: Explanation) -> None:
    """Where the body is one region, look whether a plan would take these very arguments."""
    assert controller.tree is not None
    for section in out.sections:
        if isinstance(section, Prepared) and not section.capture.region.number and controller.enabled:
            root = controller.tree.root
            found = overlaps(section.capture, values, controller.tree.source.line(root.statements[0]))
            out.standing += [found] if found is not None else []


def _is_method(controller: Controller) -> bool:
    """Whether the function stands in a class: Python does not tell `obj.f.explain` which object it is asked of."""
    owner = controller.original.__qualname__.rpartition(".")[0]
    return bool(owner) and not owner.endswith("<locals>")


def with_past(controller: Controller) -> Explanation:
    """An explanation that has only the source, and what earlier calls have left."""
    explanation = Explanation(controller.original.__qualname__, source=_source(controller))
    explanation.plans, explanation.history = plans_of(controller), list(controller.history.events)
    explanation.changes = changing(explanation.history, controller.original.__code__, explanation.source)
    explanation.resources = resources_of(controller)
    explanation.profiled = controller.history.profiled
    explanation.standing = standing_of(controller)
    explanation.waits = controller.warm_up is not None and not explanation.plans and not explanation.standing
    return explanation


def bind(controller: Controller, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """The local variables at the start of a call.

    Raises:
        TypeError: The arguments do not fit the function.
    """
    function = controller.function
    bound = inspect.signature(controller.original).replace().bind(*args, **kwargs)
    names = function.__code__.co_varnames
    defaults = function.__defaults__ or ()
    positional = names[: function.__code__.co_argcount]
    values: dict[str, Any] = dict(zip(positional[len(positional) - len(defaults) :], defaults, strict=True))
    values.update(function.__kwdefaults__ or {})
    bound.apply_defaults()
    values.update(
        {
            name: value
            for name, value in bound.arguments.items()
            if name in _given(bound, args, kwargs) or name not in values
        }
    )
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            values[name] = cell.cell_contents
        except ValueError:
            values[name] = UNKNOWN
    return values


def _given(bound: inspect.BoundArguments, args: tuple[Any, ...], kwargs: dict[str, Any]) -> set[str]:
    return set(list(bound.arguments)[: len(args)]) | set(kwargs)


def _source(controller: Controller) -> Source | None:
    source = controller.tree.source if controller.tree is not None else None
    if source is not None and source.is_in_module:  # `inspect` would look for a definition above
        first, last = source.node.lineno, source.node.end_lineno
        return source.file, first, linecache.getlines(source.file)[first - 1 : last]
    try:
        lines, first = inspect.getsourcelines(controller.original)
    except (OSError, TypeError):
        return None
    return controller.original.__code__.co_filename, first, lines


def _explore(controller: Controller, values: dict[str, Any], out: Explanation) -> None:
    """Explore a tree of its own, so that explaining changes nothing of what runs."""
    assert controller.tree is not None
    tree = controller.tree.again()
    explore_region(controller, tree, tree.root, values, out)


def explore_region(
    controller: Controller, tree: RegionTree, region: Region, values: dict[str, Any], out: Explanation
) -> None:
    """Add to an explanation what becomes of a region of a tree that nothing runs with."""
    recall = Recall(controller)
    find = None if controller.strict else recall.find
    options = copy.copy(controller.options)
    options.tells, options.recall, options.observed = True, find, dict(controller.options.observed)
    for found in explore(tree, region, values, options):
        if not isinstance(found, Cut):
            add_capture(controller, found, out)
            continue
        stays = recall.stays(found)
        for reason in (found.reason, *found.others):
            _add_native(reason, out, stays or reason.id != "unknown-value")
        if isinstance(found.statement, ast.For | ast.While | ast.AsyncFor):
            is_known = stays or found.reason.id != "unknown-value"
            _add_native_loop(native_loop(found, tree.source.line(found.statement), is_known), out)
    out.timed = native_seconds(controller, out.sections)
    out.loops.sort(key=lambda loop: loop.source.outermost.line if loop.source else 0)


def _add_native(reason: Reason, out: Explanation, stays: bool) -> None:
    # A statement in a loop is met once for each region around it; the last time between what surrounds it.
    for known in (out.unknown, out.native_statements):
        if reason in known:
            known.remove(reason)
            out.sections.remove(reason)
    (out.native_statements if stays else out.unknown).append(reason)
    out.sections.append(reason)


def _add_native_loop(loop: LoopInfo, out: Explanation) -> None:
    """A loop in a loop is met once for each region around it; what is found in the smallest one counts."""
    out.loops = [known for known in out.loops if known.source != loop.source]
    out.loops.append(loop)


def add_capture(controller: Controller, found: Capture, out: Explanation) -> None:
    """Add what is compiled of a captured region, and how."""
    if found.recalled:
        out.recalled.append(Recalled.of(found))
    _add_clusters(controller, prepare(found, controller.config, controller.strict, _recipe(controller, found)), out)


def _recipe(controller: Controller, found: Capture) -> Recipe:
    """What measurement has chosen for a capture; the regions of an explanation may have other numbers."""
    number, digest = recipe_key(found)
    known = dict(controller.recipes)
    alike = (recipe for (_, other), recipe in known.items() if other == digest)
    return known.get((number, digest)) or next(alike, USUAL)


def _add_clusters(controller: Controller, prepared: Prepared, out: Explanation) -> None:
    nodes = prepared.graph.nodes
    if not nodes:
        return
    out.regions += 1
    out.sections.append(prepared)
    number = prepared.capture.region.number
    prefix = f"region_{number}_" if number else ""
    for step in prepared.steps:
        if isinstance(step, ClusterStep):
            graph = step.graph
            lines, helpers = lines_of(places(graph.nodes), out.source)
            name, text = prefix + step.name, graph_to_text(graph)
            out.clusters.append(ClusterInfo(name, lines, len(graph.nodes), text, prepared, step, helpers))
    out.loops += loops_of(prepared)
    out.left += prepared.capture.left
    for draw in calls_in(prepared.capture.draws):
        out.host_nodes.append(Reason("host-op", f"{draw.what} runs in NumPy, before the program", draw.source))
    found = [host_reason(node) for node in nodes if node.cluster is None]
    out.host_nodes += [reason for reason in found if reason not in out.host_nodes]


def strict_reasons(controller: Controller, values: dict[str, Any]) -> tuple[Reason, ...]:
    """Every reason why a call is not one program, in program order."""
    explanation = Explanation(controller.original.__qualname__)
    _explore(controller, values, explanation)
    reasons = [*explanation.native_statements, *explanation.host_nodes] or explanation.unknown
    return tuple(sorted(reasons, key=lambda reason: reason.source.line if reason.source else 0))


__all__ = ["Explanation", "add_capture", "bind", "explain_call", "explore_region", "strict_reasons", "with_past"]
