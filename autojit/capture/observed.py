"""What operations give that run on the host: it is known when they have run once."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from autojit.capture import layout
from autojit.capture.observing import OBSERVING
from autojit.errors import CannotCapture, Trapped, refusal
from autojit.ir.build import exact_key
from autojit.ir.evaluate import run_node
from autojit.ir.graph import Const, Node, Operand
from autojit.ir.op import Op
from autojit.ir.spec import Spec, spec_of
from autojit.ir.warned import unheard
from autojit.ops.declared import is_declared

#: The strides of an array; `None` of what is none.
Strides = tuple[int, ...] | None
#: The specs of a host op's results, and their strides where these are not those of C order.
Observed = tuple[tuple[Spec, ...], tuple[Strides, ...]]
#: Operations on fewer bytes take as long as on so many, ...
_SMALL = 10_000
#: ... and a capture runs loops whose operations write no more bytes in all: a tenth of a second.
_MOST_BYTES = 300_000_000


class Layouts(NamedTuple):
    """How arrays of a host op's lie in memory.

    Attributes:
        arguments: The strides that its arguments have in NumPy.
        results: Those of its results where they are not those of C order.
    """

    arguments: tuple[Strides, ...]
    results: tuple[Strides, ...]



@np.errstate(all="ignore")  # the plan runs it, too
def observe(self: Any, op: Op, inputs: Sequence[Operand], params: dict[str, Any], layouts: Any) -> Observed:
    """The specs and strides of a host op's results: from an earlier run, or by running it now on real inputs."""
    if self.observed.get((op.name, self.line), ()) is None:
        raise CannotCapture("data-shape", f"the dtype or shape that `{op.name}` gives varies from call to call")
    given = repr(exact_key(tuple(params.items())))
    key = (op, self.line, tuple(operand.spec for operand in inputs), layouts, given)
    known = self.observed.get(key)
    if known is not None:
        return known
    is_explained = is_declared(op) and getattr(self, "tells", False)  # then nothing of the user's runs
    if self.examples is None or is_explained:
        raise CannotCapture("host-op", f"`{op.name}` runs on the host; its result is known after a first run")
    nodes = self.builder.nodes[self.evaluated :]
    if any(_is_long(node, self.examples) for node in nodes):
        raise CannotCapture("host-op", f"`{op.name}` runs on the host, after a loop that the capture does not run")
    try:
        for node in nodes:
            run_node(node, self.examples)
    except Exception as error:
        raise refusal(error, f"before `{op.name}`: ") from None
    self.evaluated = len(self.builder.nodes)
    arguments = [o.value if isinstance(o, Const) else self.examples[o.name] for o in inputs]
    me = threading.get_ident()
    is_inner = me in OBSERVING
    OBSERVING.add(me)
    try:
        # The plan will warn.
        result = unheard(lambda: op.call(*map(layout.protected, arguments, layouts), **params))
    except Trapped as error:  # a plan could not run it either
        raise CannotCapture("host-op", str(error)) from None
    except Exception as error:
        raise refusal(error, f"`{op.name}`: ") from None
    finally:
        if not is_inner:
            OBSERVING.discard(me)
    results = result if isinstance(result, tuple) else (result,)
    try:
        specs = tuple(spec_of(part) for part in results)
    except TypeError as error:
        raise CannotCapture("host-op", f"`{op.name}`: {error}") from None
    if any(type(part) is not np.ndarray and isinstance(part, np.ndarray) for part in results):
        raise CannotCapture("host-op", f"`{op.name}` returns a subclass of `np.ndarray`")
    if op.family == "host" and (trouble := layout.not_new(results)):
        raise CannotCapture("host-op", f"`{op.name}` {trouble}")
    found = self.observed[key] = specs, tuple(map(layout.own_strides, results))
    return found


def _is_long(node: Node, examples: Mapping[str, Any]) -> bool:
    """Whether a node would take long outside of a cluster: a loop runs there by its operations, each on new arrays."""
    if node.op.family != "loop":
        return False
    nodes = node.keywords["body"].nodes
    bounds: list[Any] = [one.value if isinstance(one, Const) else examples.get(one.name) for one in node.inputs[:2]]
    if None in bounds or any(one.op.family == "loop" for one in nodes):
        return True
    start, stop = bounds
    trips = len(range(int(start), int(stop), node.keywords["step"]))
    return trips * sum(max(_SMALL, value.spec.nbytes) for one in nodes for value in one.outputs) > _MOST_BYTES
