"""Edges: products that are rounded before anything is added to them, where the last bit of the sum decides something.

LLVM makes one operation of a product and a sum, with one rounding: `r**2 - x**2` is not zero where `x` is `r`, and its
root may be no number. And where XLA computes a value twice, one of the two may be contracted alone: a mask that is
counted here and applied there need not be one mask.

Comparisons, casts to integers, floors and the ends of domains are edges. The way from a product to an edge leads
through sums and through what works element by element. It ends at reductions, which are added up in another order in
any case, and at complex numbers, whose products NumPy contracts, too.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace

import numpy as np

from autojit.ir.graph import Const, Graph, Node, Operand, Value, values_of
from autojit.ops.chapters import TABLE
from autojit.passes.lanes import names_of
from autojit.passes.substitute import with_body


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_DTYPES = frozenset(map(np.dtype, ("float32", "float64")))  # products of float16 are always rounded
_PRODUCTS = _names(
    "np.multiply py_multiply np.square np.multiply.outer np.outer np.kron np.radians np.deg2rad np.degrees np.rad2deg "
    "math.radians math.degrees"
)
_POWERS = _names("np.power np.float_power math.pow")
#: What adds something to its operands, be it on its way to another result.
_SUMS = _names(
    "np.add np.subtract py_add py_subtract np.diff np.linspace np.isclose np.interp "
    "np.var np.std np.nanvar np.nanstd np.modf np.remainder np.floor_divide np.divmod np.arcsin np.arccos np.arccosh "
    "np.log1p math.asin math.acos math.acosh math.log1p"
)
#: Families that move elements ...
_MOVES = _names("shaping indexing creation")
#: ... what changes no more than a sign, or chooses ...
_SAME = _names(
    "np.negative py_negative np.positive as_scalar item item_float np.where select np.select np.nan_to_num "
    "np.conjugate np.real"
)
#: ... and reductions and others that an edge behind them makes an edge for their operands.
_THROUGH = _names(
    "np.max np.min np.nanmax np.nanmin np.maximum.reduce np.minimum.reduce np.ptp np.diff np.var np.std np.nanvar "
    "np.nanstd np.outer np.kron np.cross np.median np.percentile np.quantile"
)
_AT_ZERO = _names(
    "np.sqrt np.cbrt np.log np.log2 np.log10 np.sign math.sqrt math.cbrt math.log math.log2 math.log10"
)
_AT_ZERO |= _POWERS
#: Python raises where the divisor is zero.
_DIVISIONS = _names("py_divide math.divide")
_COMPARISONS = frozenset(
    f"{room}{name}"
    for room in ("np.", "py_")
    for name in ("less", "less_equal", "greater", "greater_equal", "equal", "not_equal")
)
_JUMPS = _names(
    "np.floor np.ceil np.trunc np.rint np.fix np.round np.modf np.floor_divide np.remainder np.divmod np.fmod "
    "np.heaviside np.copysign np.arctan2 np.angle np.interp np.log1p np.arcsin np.arccos np.arccosh np.arctanh "
    "math.copysign math.atan2 math.log1p math.asin math.acos math.acosh math.atanh"
)
#: Their results are no floats, and do not depend on last bits.
_CHECKS = _names(
    "np.isnan np.isfinite np.isinf np.isposinf np.isneginf np.isreal np.iscomplex math.isnan math.isinf math.isfinite "
    "normal sum_and_count np.zeros_like np.ones_like np.empty_like"
)
_POSITIVE = _names(
    "np.absolute np.fabs np.exp np.exp2 np.sqrt np.cosh np.hypot np.square py_absolute math.fabs math.exp math.sqrt "
    "math.cosh math.hypot"
)
_POSITIVE_OF_FIRST = _names(
    "getitem np.reshape np.transpose np.broadcast_to np.copy np.sum np.mean np.max np.min astype item item_float "
    "as_scalar"
)
_NEVER_ZERO = _names("np.exp np.exp2 np.cosh math.exp math.cosh")
_POSITIVE_OF_ALL = _names("np.add py_add np.multiply py_multiply np.divide py_divide np.minimum")


def edges(graph: Graph) -> Graph:
    """Keep products apart from sums whose last bits decide something.

    >>> from tests.graphs import graph_of
    >>> from autojit.ir.text import to_text
    >>> print(to_text(edges(graph_of("a = square(x); b = negative(a); c = add(y, b); d = sqrt(c) -> d"))))
    def f(x, y):  # float64[3], float64[3]
        a_ = np.square(x)  # float64[3] | demo.py:1
        a = aj.uncontracted(a_)  # float64[3] | demo.py:1
        b = np.negative(a)  # float64[3] | demo.py:2
        c = np.add(y, b)  # float64[3] | demo.py:3
        d = np.sqrt(c)  # float64[3] | demo.py:4
        return d
    <BLANKLINE>
    """
    return _kept(graph, ())[0]


def _kept(graph: Graph, outputs: Iterable[str]) -> tuple[Graph, set[str]]:
    """The graph with products kept apart, and the values whose last bits decide something, as these outputs' do."""
    positive, taken = _not_negative(graph), names_of(graph)
    decided, added = set(outputs), set[str]()
    nodes: list[Node] = []
    for old in reversed(graph.nodes):
        made = {value.name for value in old.outputs}
        if old.op.name == "loop":
            node, before = _in_loop(old, decided)
            decided |= before
            nodes.append(node)
            continue
        floats = {value.name for value in values_of(old.inputs) if value.spec.dtype.kind == "f"}
        falls = _falling(old, floats, positive)
        passes = bool(made & decided) and (old.op.family in {"elementwise", *_MOVES} or old.op.name in _THROUGH)
        moves = old.op.family in _MOVES or old.op.name in _SAME
        decided |= floats if passes else falls
        if (_name(old) in _SUMS and (falls or passes)) or (moves and made & added):
            added |= floats
        nodes += reversed(_apart(old, taken)) if made & added and _is_rounded(old) else [old]
    nodes.reverse()
    same = len(nodes) == len(graph.nodes) and all(new is old for new, old in zip(nodes, graph.nodes, strict=True))
    return graph if same else replace(graph, nodes=tuple(nodes)), decided


def _in_loop(node: Node, decided: Collection[str]) -> tuple[Node, set[str]]:
    """A loop with its body's products kept apart, and its operands whose last bits decide something."""
    body, count = node.keywords["body"], node.keywords["carried"]
    wanted = {place for place, value in enumerate(node.outputs) if value.name in decided}
    while True:
        outputs = (body.outputs[place] for place in wanted)
        made, found = _kept(body, [output.name for output in outputs if isinstance(output, Value)])
        places = {place for place, value in enumerate(body.inputs[1:]) if value.name in found}
        carried = {place for place in places if place < count}
        if carried <= wanted:
            break
        wanted |= carried
    given = (node.inputs[2 + place] for place in places | wanted)
    before = {operand.name for operand in given if isinstance(operand, Value)}
    return node if made is body else with_body(node, made), before


def _falling(node: Node, floats: set[str], positive: Collection[str]) -> set[str]:
    """The operands of which a last bit may decide something in this node."""
    name = _name(node)
    if name in _POWERS and (_exponent(node) or 0.5).is_integer():
        return set()
    if name in _DIVISIONS:
        return {value.name for value in values_of(node.inputs[1:])} & floats.difference(positive)
    if name in _AT_ZERO or (name in _COMPARISONS and any(map(_is_zero, node.inputs))):
        return floats.difference(positive)
    is_no_float = any(value.spec.dtype.kind in "biu" for value in node.outputs)
    return floats if name in _JUMPS or (is_no_float and name not in _CHECKS) else set()


def _name(node: Node) -> str:
    """What is done to each element."""
    if node.op.name == "each_number":
        return f"math.{node.keywords['function']}"
    return node.op.name.removesuffix(".outer")


def _is_rounded(node: Node) -> bool:
    """Whether a node is a product that is not exact in any case."""
    if node.outputs[0].spec.dtype not in _DTYPES:
        return False
    if node.op.name in _POWERS:
        return node.op.name != "math.pow" and _exponent(node) in (2.0, 3.0, 4.0)  # which are multiplied out
    return node.op.name in _PRODUCTS and not any(map(_is_power_of_two, node.inputs))


def _apart(node: Node, taken: set[str]) -> list[Node]:
    """The product under another name, and what has its name now."""
    (value,) = node.outputs
    name = f"{value.name}_"
    while name in taken:
        name += "_"
    taken.add(name)
    product = Value(name, value.spec)
    behind = Node(TABLE["uncontracted"], (product,), (), (value,), node.source, node.cluster)
    return [replace(node, outputs=(product,)), behind]


def _not_negative(graph: Graph) -> set[str]:
    """The floats that are not negative, and zero where NumPy's are, whichever products on their way are contracted."""
    found, products, unsure = set[str](), set[str](), set[str]()

    def holds(operand: Operand) -> bool:
        if isinstance(operand, Const) and operand.spec.dtype.kind in "iuf":
            return bool(np.all(np.asarray(operand.value) >= 0))
        return operand.spec.dtype.kind in "bu" or (isinstance(operand, Value) and operand.name in found)

    for node in graph.nodes:
        name, given = node.op.name, node.inputs
        is_square = name in ("np.multiply", "py_multiply") and isinstance(given[0], Value) and given[0] == given[1]
        is_even = name in _POWERS and (_exponent(node) or 1.0) % 2 == 0
        is_made = (
            (name in _POSITIVE_OF_FIRST and holds(given[0]))
            or (name in _POSITIVE_OF_ALL and all(map(holds, given)))
            or (name == "np.maximum" and any(map(holds, given)))
        )
        made, taken = {value.name for value in node.outputs}, {value.name for value in values_of(given)}
        if name in _POSITIVE or is_square or is_even or is_made:
            found.update(value.name for value in node.outputs if value.spec.dtype.kind == "f")
        moves = node.op.family in _MOVES or name in _SAME
        if name in _PRODUCTS or name in _POWERS or (moves and taken & products):
            products |= made
        # A difference of products may be zero in one way and not in the other, and so may be what is made of it.
        if (_name(node) in _SUMS and taken & products and not is_made) or (taken & unsure and name not in _NEVER_ZERO):
            unsure |= made
    return found - unsure


def _exponent(node: Node) -> float | None:
    power = node.inputs[1]
    if isinstance(power, Const) and power.spec.dtype.kind in "biuf" and not power.spec.shape:
        return float(power.value)
    return None


def _is_zero(operand: Operand) -> bool:
    return isinstance(operand, Const) and operand.spec.dtype.kind in "biuf" and not np.any(operand.value)


def _is_power_of_two(operand: Operand) -> bool:
    if not isinstance(operand, Const) or operand.spec.dtype.kind not in "biuf":
        return False
    return bool(np.isin(np.abs(np.frexp(np.asarray(operand.value, float))[0]), (0.0, 0.5)).all())
