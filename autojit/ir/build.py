"""`Builder`: grows a graph node by node, in program order; equal pure nodes become one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from autojit.errors import CannotCapture, SourceLine
from autojit.ir.graph import Const, Graph, Node, Operand, Value, Write
from autojit.ir.op import Op
from autojit.ir.spec import Spec, is_canonical, spec_of

#: No machine has as much memory, and no process as many addresses.
MOST_BYTES = 1 << 47

Mark = tuple[int, int, int]
Key = tuple[Any, ...]


class Builder:
    """A graph in the making.

    Every op is pure, so a node with the same op, operands and parameters as an earlier one is not added again:
    the earlier outputs are returned. This is needed for meaning, not only for speed: the two masks of
    `a[a > 0] = a[a > 0] * 2` must be one value.
    """

    def __init__(self) -> None:
        self.inputs: list[Value] = []
        self.nodes: list[Node] = []
        self._names: set[str] = set()
        self._numbered: dict[Key, Node] = {}
        self._keys: list[Key] = []
        self._next = 0

    def __len__(self) -> int:
        """The number of nodes."""
        return len(self.nodes)

    def input(self, spec: Spec, name: str | None = None) -> Value:
        """A new input.

        Args:
            spec: Its spec.
            name: Its name; a fresh one when `None` or taken.
        """
        value = Value(self._fresh(name), spec)
        self.inputs.append(value)
        return value

    def const(self, value: Any) -> Const:
        """A constant: a Python or NumPy scalar or an array, which nobody may change afterwards."""
        return Const(value, spec_of(value))

    def add(
        self,
        op: Op,
        inputs: Sequence[Operand],
        params: dict[str, Any] | None = None,
        source: SourceLine | None = None,
        specs: Sequence[Spec] | None = None,
    ) -> tuple[Value, ...]:
        """The outputs of a call of `op`: of a new node, or of the equal node that is already there.

        Args:
            op: The row of the op table.
            inputs: The operands.
            params: The static parameters; hashable values.
            source: The user's line.
            specs: The specs of the outputs; asked from `op.infer` when `None`.

        Raises:
            TypeError: The op has no `infer` and no `specs` are given, or a parameter cannot be hashed.
            CannotCapture: An output is larger than any memory: XLA ends the process for some of these.
            Exception: Whatever NumPy raises for operands of these specs.
        """
        pairs = tuple((params or {}).items())
        key = node_key(op, inputs, pairs)
        known = self._numbered.get(key)
        if known is not None:
            return known.outputs
        if specs is None:
            specs = _inferred(op, [operand.spec for operand in inputs], pairs, key[2])
        if any(spec.nbytes > MOST_BYTES for spec in specs):
            raise CannotCapture("raises", f"MemoryError: the result of `{op.name}` is larger than any memory")
        outputs = tuple(Value(self._fresh(), spec) for spec in specs)
        node = Node(op, tuple(inputs), pairs, outputs, source)
        self.nodes.append(node)
        self._keys.append(key)
        self._numbered[key] = node
        return outputs

    def mark(self) -> Mark:
        """The present state, for `rollback`."""
        return len(self.inputs), len(self.nodes), self._next

    def rollback(self, mark: Mark) -> None:
        """Take back every input and node added since `mark`; the names are free again."""
        inputs, nodes, self._next = mark
        for value in self.inputs[inputs:]:
            self._names.discard(value.name)
        for node, key in zip(self.nodes[nodes:], self._keys[nodes:], strict=True):
            self._names.difference_update(value.name for value in node.outputs)
            del self._numbered[key]
        del self.inputs[inputs:], self.nodes[nodes:], self._keys[nodes:]

    def graph(self, name: str, outputs: Iterable[Operand], writes: Iterable[Write] = ()) -> Graph:
        """The graph so far; the builder can go on afterwards."""
        return Graph(name, tuple(self.inputs), tuple(self.nodes), tuple(outputs), tuple(writes))

    def _fresh(self, wanted: str | None = None) -> str:
        name = wanted
        while name is None or name in self._names:
            name = f"v{self._next}"
            self._next += 1
        self._names.add(name)
        return name


#: What ops infer is kept for so many operands and parameters; then all of it is forgotten.
_MOST_INFERRED = 4096
#: By op, specs, and the key of the parameters.
_known: dict[Key, tuple[Spec, ...]] = {}


def _inferred(
    op: Op, specs: Sequence[Spec], params: tuple[tuple[str, Any], ...], params_key: Key
) -> tuple[Spec, ...]:
    """What `op.infer` says, remembered where dtypes that are equal are the same, and the op has no bodies."""
    if op.infer is None:
        raise TypeError(f"the result of `{op.name}` is known only after a run")
    dtypes = [spec.dtype for spec in specs] + [value for _, value in params if isinstance(value, np.dtype)]
    if op.lower is None or op.family == "loop" or not all(map(is_canonical, dtypes)):
        return tuple(op.infer(specs, dict(params)))
    key = op, tuple(specs), params_key
    found = _known.get(key)
    if found is None:
        found = tuple(op.infer(specs, dict(params)))
        if len(_known) >= _MOST_INFERRED:
            _known.clear()
        _known[key] = found
    return found


def node_key(op: Op, inputs: Sequence[Operand], params: tuple[tuple[str, Any], ...]) -> Key:
    """What two calls must share to be one node.

    Raises:
        TypeError: A parameter cannot be hashed.
    """
    operands = tuple(_operand_key(operand) for operand in inputs)
    key = op, operands, tuple(sorted(((name, exact_key(value)) for name, value in params), key=lambda pair: pair[0]))
    hash(key)
    return key


def _operand_key(operand: Operand) -> Any:
    if isinstance(operand, Const):
        return operand.spec.kind, exact_key(operand.value)
    return operand.name


def exact_key(value: Any) -> Any:
    """A hashable key that is equal only for values that NumPy cannot tell apart.

    Plain equality does not do: `1 == 1.0 == True`, `0.0 == -0.0`, and NaN differs from itself.

    >>> exact_key(0.0) == exact_key(-0.0), exact_key(float("nan")) == exact_key(float("nan"))
    (False, True)
    """
    kind = type(value)
    if kind is tuple:
        return kind, tuple(exact_key(part) for part in value)
    if kind is float or kind is complex:
        return kind, np.array(value).tobytes()
    if kind is np.ndarray and not value.dtype.hasobject:
        return kind, value.dtype.str, value.shape, value.tobytes()
    if isinstance(value, np.generic) and not value.dtype.hasobject:
        return kind, value.dtype.str, value.tobytes()
    if isinstance(value, slice):
        return kind, exact_key((value.start, value.stop, value.step))
    parameters = getattr(kind, "__dataclass_params__", None)
    if parameters is not None and parameters.eq:
        return kind, tuple(exact_key(getattr(value, name)) for name in getattr(kind, "__dataclass_fields__", ()))
    return kind, value
