"""`Memory`: the graph that is being grown, and what statements read from and write to the storages of arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from autojit.capture.build import CaptureBuilder
from autojit.capture.inverse import READONLY_VIEWS, inverse
from autojit.capture.prologue import Prologue
from autojit.capture.values import Arr, Known, Storage
from autojit.errors import CannotCapture, SourceLine
from autojit.ir.graph import Operand
from autojit.ops.chapters import TABLE

if TYPE_CHECKING:  # for annotations alone: they stand on this room
    from autojit.capture.attributes import Assigned, Place, Scout

#: Flags of NumPy's arrays. To ask whether one is writeable would warn where writing to it does.
_WRITEABLE, _WARNS = 0x0400, 1 << 31


class Memory:
    """Reads and writes of arrays, as nodes of the graph, and the attributes of objects that were assigned.

    Args:
        parameters: The prologue's parameters.
    """

    def __init__(self, parameters: tuple[str, ...]) -> None:
        self.root = CaptureBuilder()
        self.builder: CaptureBuilder = self.root  # the graph being grown: the region's, or the body of a loop
        self.journal: list[tuple[Storage, Operand]] = []  # storages written, with their contents before
        self.reads: list[Storage] = []  # storages read, in order
        self.laid_out: list[Storage] = []  # storages of which something depends on the strides
        self.prologue = Prologue(parameters)
        self.line: SourceLine | None = None
        self._memo: dict[str, Any] = {}  # outside objects by their path
        self.assigned: dict[tuple[int, str], Assigned] = {}  # attributes, by the object's `id`
        self.attribute_places: dict[tuple[int, str], Place] = {}  # those that loops and branches assign
        self.scouts: list[Scout] = []  # of the loops whose attributes are being found
        self.owners_met: dict[tuple[str, str], Known] = {}  # by attribute and path: objects that are one, or are not

    def make_sure(self, value: Any) -> None:
        """Leave the call to NumPy where a NumPy scalar is a Python number, as the data decides."""
        if isinstance(value, Arr) and value.python is not None:
            self.trap_if(value.python)

    def read(self, array: Arr) -> Operand:
        """The present contents of an array. A NumPy scalar that may be a Python number is made sure of."""
        self.make_sure(array)
        self.reads.append(array.storage)
        value = array.storage.value
        for step in array.steps:
            (value,) = self.builder.add(step.op, [value, *step.operands], dict(step.params), self.line)
        return value

    def write(self, array: Arr, value: Operand) -> None:
        """Replace the contents of an array where the present condition holds; `value` has its shape and dtype.

        Raises:
            CannotCapture: NumPy refuses to write to this array.
        """
        if self.builder.predicate is not None:
            value = self.where(value, self.read(array))
        self.commit(array, value)

    def where(self, value: Operand, old: Operand) -> Operand:
        """`value` where the present condition holds, else `old`; both of one shape and dtype."""
        assert self.builder.predicate is not None
        return self.builder.add(TABLE["np.where"], [self.builder.predicate, value, old], {}, self.line)[0]

    def trap_if(self, condition: Operand) -> None:
        """Leave the call to NumPy when a bool of the graph is true: Python would raise here."""
        self.builder.add(TABLE["leave_if"], [condition], {}, self.line)

    def change(self) -> None:
        """A list or dict made in the region is about to be changed.

        Raises:
            CannotCapture: Whether it is changed depends on array data.
        """
        if self.builder.predicate is not None:
            raise CannotCapture("data-branch", "a list or dict is changed in a branch that data decides")

    def commit(self, array: Arr, value: Operand) -> None:
        """Replace the contents of an array, whatever the present condition.

        Raises:
            CannotCapture: NumPy refuses to write to this array.
        """
        storage = array.storage
        if array.readonly or array.kind != "array":
            by_view = any(step.op.name in READONLY_VIEWS for step in array.steps)
            if storage.path is not None and not by_view:
                readonly = f"{storage.path}.__array_interface__['data'][1]"
                self.prologue.check(readonly, "the array that is written is read-only")
            raise CannotCapture("read-only", "the array is read-only")
        bases = [storage.value]
        for step in array.steps[:-1]:
            (base,) = self.builder.add(step.op, [bases[-1], *step.operands], dict(step.params), self.line)
            bases.append(base)
        for step, base in zip(reversed(array.steps), reversed(bases), strict=False):
            op, operands, params = inverse(step, base.spec)
            inputs = [value] if op.name in ("np.transpose", "np.reshape") else [base, value, *operands]
            (value,) = self.builder.add(op, inputs, params, self.line)
        if value.spec.kind != "array":  # arithmetic on an array of no axes gives a scalar
            (value,) = self.builder.add(TABLE["np.broadcast_to"], [value], {"shape": ()}, self.line)
        self.journal.append((storage, storage.value))
        storage.value = value
        if storage.path is not None and not storage.written:
            flags = f"{storage.path}.flags.num & {_WARNS | _WRITEABLE} == {_WRITEABLE}"
            self.prologue.check(flags, "the array that is written is writeable")
        storage.written = True

    def layout_matters(self, array: Arr) -> None:
        """The result depends on the strides of the caller's array: make them part of the key."""
        self.laid_out.append(array.storage)
        root = next((value for value in self._memo.values() if _is_root(value, array.storage)), None)
        if root is not None:
            self.prologue.check(f"{array.storage.path}.strides == {root.dummy.strides!r}", "the strides are the same")


def _is_root(value: Any, storage: Storage) -> bool:
    return isinstance(value, Arr) and value.storage is storage and not value.steps
