"""Whether a program treats the rows of arrays one by one: then one for many rows does for fewer.

What is filled up behind the rows of a call must not reach them. Two captures of the same statements, for arrays of two
lengths, are compared operation by operation: an axis whose length differs holds the rows. Each operation has to keep
them apart, and nothing else may differ: neither a number made of the length nor the way the statements have taken.
"""

from __future__ import annotations

from typing import Any

from autojit.capture.row_rules import MAKING, Refused, of_length, rule_of
from autojit.ir.build import exact_key
from autojit.ir.graph import Const, Graph, Node, Operand, Value
from autojit.ir.spec import Spec


def check_rowwise(
    few: Graph, many: Graph, lengths: tuple[int, int], least: int, counts: frozenset[str] = frozenset()
) -> frozenset[int]:
    """The numbers of the outputs whose first axis holds rows; the others are the same for any number of rows.

    Args:
        few: The statements, captured for arrays of one length.
        many: The same for a greater length.
        lengths: The two lengths.
        least: All calls of the plan have more rows than that.
        counts: The names of inputs of the graph of many that say how many rows a call has.

    Raises:
        Refused: What is computed for a row may depend on others, or on how many there are.
    """
    sizes = [(len(one.inputs), len(one.nodes), len(one.outputs), len(one.writes)) for one in (few, many)]
    if sizes[0] != sizes[1]:
        raise Refused("another length leads to other operations")
    check = _Check(many, lengths, least, counts)
    check.names = {one.name: other.name for one, other in zip(few.inputs, many.inputs, strict=True)}
    for one, other in zip(few.nodes, many.nodes, strict=True):
        check.node(one, other)
    rows = set()
    for number, (one, other) in enumerate(zip(few.outputs, many.outputs, strict=True)):
        check.operand(one, other)
        axis = check.axis(one.spec, other.spec)
        if axis:
            raise Refused("the rows of a result are not its first axis")
        if axis == 0:
            rows.add(number)
    for one, other in zip(few.writes, many.writes, strict=True):
        check.operand(one.target, other.target)
        check.operand(one.value, other.value)
        axes = check.axis(one.target.spec, other.target.spec), check.axis(one.value.spec, other.value.spec)
        if one.index is not None or axes[0] != axes[1] or one.value.spec.shape != one.target.spec.shape:
            raise Refused("rows are written to other places")
    return frozenset(rows)


class _Check:
    """Compares two captures.

    Args:
        many: The one for more rows.
        lengths: How many rows the one has, and the other.
        least: All calls have more rows than that.
        counts: The names of inputs that say how many rows a call has.

    Attributes:
        names: By the name of a value in the one, that in the other.
    """

    def __init__(self, many: Graph, lengths: tuple[int, int], least: int, counts: frozenset[str]) -> None:
        self.lengths, self.least, self.counts = lengths, least, counts
        self.names: dict[str, str] = {}
        self._makers = {value.name: node for node in many.nodes for value in node.outputs}

    def node(self, one: Node, other: Node) -> None:
        """Compare two operations."""
        if one.op is not other.op or len(one.inputs) != len(other.inputs):
            raise Refused("another length leads to other operations")
        for mine, theirs in zip(one.inputs, other.inputs, strict=True):
            self.operand(mine, theirs)
        given, wanted = one.keywords, other.keywords
        differing = {name for name in given.keys() | wanted.keys() if not _equal(given.get(name), wanted.get(name))}
        if differing - of_length(one):
            raise Refused(f"`{one.op.name}` depends on the length")
        axes = [self.axis(a.spec, b.spec) for a, b in zip(one.inputs, other.inputs, strict=True)]
        results = [self.axis(a.spec, b.spec) for a, b in zip(one.outputs, other.outputs, strict=True)]
        self.names |= {a.name: b.name for a, b in zip(one.outputs, other.outputs, strict=True)}
        if all(axis is None for axis in axes):
            if any(axis is not None for axis in results) and one.op.name not in MAKING:
                raise Refused(f"`{one.op.name}` makes rows")
            return
        expected = rule_of(other)(other, axes, self)
        if any(axis != expected for axis in results):
            raise Refused(f"`{one.op.name}` mixes rows")

    def operand(self, one: Operand, other: Operand) -> None:
        """Compare two operands, of operations of which all before were the same."""
        if isinstance(one, Const) or isinstance(other, Const):
            same = isinstance(one, Const) and isinstance(other, Const) and _equal(one.value, other.value)
            if not same or one.spec != other.spec:
                raise Refused("a number depends on the length")
        elif self.names.get(one.name) != other.name:
            raise Refused("another length leads to other operations")

    def axis(self, one: Spec, other: Spec) -> int | None:
        """The axis that holds rows."""
        if (one.dtype, one.kind, one.ndim) != (other.dtype, other.kind, other.ndim):
            raise Refused("another length leads to other operations")
        found = [axis for axis, (a, b) in enumerate(zip(one.shape, other.shape, strict=True)) if a != b]
        if len(found) > 1 or any((one.shape[axis], other.shape[axis]) != self.lengths for axis in found):
            raise Refused("the shape of an array depends on the length in another way")
        return found[0] if found else None

    def is_masked(self, operand: Operand, neutral: Any) -> bool:
        """Whether an array has only the call's rows, and a certain value behind them."""
        node = self._maker(operand)
        if node is None or node.op.name != "np.where":
            return False
        condition, _, other = node.inputs
        value = other.spec.dtype.type(neutral)
        return isinstance(other, Const) and _equal(other.value, value) and self.is_inside(condition)

    def is_inside(self, condition: Operand) -> bool:
        """Whether an array says which rows are the call's: `np.arange(most) < count`, perhaps with more axes."""
        node = self._maker(condition)
        if node is not None and node.op.name == "np.reshape":
            node = self._maker(node.inputs[0])
        if node is None or node.op.name != "np.less" or node.params:
            return False
        numbers, count = self._maker(node.inputs[0]), node.inputs[1]
        is_counting = (
            numbers is not None and numbers.op.name == "np.arange" and list(numbers.keywords) == ["start_or_stop"]
        )
        return is_counting and isinstance(count, Value) and count.name in self.counts

    def _maker(self, operand: Operand) -> Node | None:
        return self._makers.get(operand.name) if isinstance(operand, Value) else None


def _equal(one: Any, other: Any) -> bool:
    return exact_key(one) == exact_key(other)
