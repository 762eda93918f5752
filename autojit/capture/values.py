"""The abstract values of the interpreter: what is known of a Python object before the run."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from autojit.capture.names import names
from autojit.errors import CannotCapture, SourceLine
from autojit.ir.graph import Operand, Value
from autojit.ir.op import Op
from autojit.ir.spec import Kind, Spec


@dataclass(frozen=True, slots=True)
class ArraySpec:
    """Stands for an array in `explain` and `get_compiler_ir`: a shape and a dtype, and no data.

    Args:
        shape: The shape, an int or a tuple of ints.
        dtype: Anything that `np.dtype` takes; float64 by default.
        scalar: Whether it stands for a NumPy scalar, whose shape is ().
    """

    shape: tuple[int, ...]
    dtype: np.dtype
    scalar: bool = False

    def __init__(self, shape: int | tuple[int, ...], dtype: Any = float, *, scalar: bool = False) -> None:
        lengths = (shape,) if isinstance(shape, int) else tuple(int(length) for length in shape)
        object.__setattr__(self, "shape", lengths)
        object.__setattr__(self, "dtype", np.dtype(dtype))
        object.__setattr__(self, "scalar", scalar)


@dataclass(frozen=True, slots=True)
class Unknown:
    """Stands for an object that only a run can make.

    Attributes:
        detail: Why nothing is known of it, if there is more to say than that an earlier line makes it.
        cause: That line, or the first one that has met the object.
        id: Of the reason: "argument-type" for an object that is known, and never enters a graph.
    """

    detail: str = ""
    cause: SourceLine | None = None
    id: str = "unknown-value"

    def __repr__(self) -> str:
        return "<unknown>"


UNKNOWN = Unknown()


def unknown_after(name: str, line: SourceLine | None) -> Unknown:
    """Stands for what a native statement binds."""
    return Unknown(f"`{name}` is known after {f'line {line.line}' if line else 'an earlier line'} has run", line)


#: An integer as a sum of names with coefficients, and a constant: `({"i": 1}, -1)` is `i - 1`.
Affine = tuple[tuple[tuple[str, int], ...], int]


@dataclass(eq=False, slots=True)
class Known:
    """A concrete Python object.

    Attributes:
        value: The object.
        path: The expression that finds it at run time, when it came from outside.
        loose: Whether the guard asks for its type only: at run time it may be another object of that type.
        owner: For a bound method, the object it is bound to.
        made: Whether the plan makes the object, behind its guard.
    """

    value: Any
    path: str | None = None
    loose: bool = False
    owner: Known | None = None
    made: bool = False


@dataclass(eq=False, slots=True)
class Sym:
    """A Python or NumPy scalar that the prologue computes at run time.

    Attributes:
        name: Its name in the prologue.
        value: Its value at capture; an example, unless it is demanded.
        moving: Whether it changes from one entry of the region to the next (a loop variable).
        affine: For a moving int, its form in loop variables.
    """

    name: str
    value: Any
    moving: bool = False
    affine: Affine | None = None

    @property
    def spec(self) -> Spec:
        if isinstance(self.value, np.generic):
            return Spec((), self.value.dtype, "scalar")
        kinds = {bool: "bool", int: "int64", float: "float64", complex: "complex128"}
        return Spec((), np.dtype(kinds[type(self.value)]), "python")


@dataclass(eq=False, slots=True)
class LoopInt:
    """A Python int made from the index of a rolled loop: a value of the loop's body, with known bounds.

    Attributes:
        value: The graph value, a Python int.
        low: The least value it can have, inclusive; `None` when the loop's bounds are run-time values.
        high: The greatest.
        affine: Its form in loop indices, when it is affine.
    """

    value: Operand
    low: int | None
    high: int | None
    affine: Affine | None = None


@dataclass(eq=False, slots=True)
class Storage:
    """The memory of an array, as a value with versions. Views share their storage.

    Attributes:
        value: The current version.
        spec: Shape and dtype, which never change.
        input: The graph input that it started as, when it is the caller's array.
        path: The prologue's name of that array.
        written: Whether a statement has written it.
        strides: Those of a new array that is not in C order.
        shared: Whether somebody else may see the array too: contents must not stand for the object.
        origins: The memories of which this one is a choice that the data makes: it may be any of them.
    """

    value: Operand
    spec: Spec
    input: Value | None = None
    path: str | None = None
    written: bool = False
    strides: tuple[int, ...] | None = None
    shared: bool = False
    origins: tuple[Storage, ...] = ()

    def choose(self, storages: Iterable[Storage]) -> None:
        """Say that this memory is a choice of others, as the data decides."""
        origins = (origin for storage in storages for origin in storage.origins or (storage,))
        self.origins = tuple({id(origin): origin for origin in origins}.values())

    def may_be(self, other: Storage) -> bool:
        """Whether two memories may be one."""
        mine = {id(storage) for storage in self.origins or (self,)}
        return any(id(storage) in mine for storage in other.origins or (other,))


@dataclass(frozen=True, slots=True)
class ViewStep:
    """One step from an array to a view of it: an op of the table with its parameters and index operands."""

    op: Op
    params: tuple[tuple[str, Any], ...]
    operands: tuple[Operand, ...] = ()
    names: tuple[str, ...] = ()  # the operands' names in the prologue


@dataclass(eq=False, slots=True)
class Arr:
    """An array, a NumPy scalar made from one, or a Python scalar taken out of one.

    Attributes:
        storage: The memory.
        steps: The way from the storage to this view of it.
        dummy: An array of the same shape, dtype and strides, whose memory must not be read.
        kind: What kind of object Python sees.
        readonly: Whether NumPy refuses to write to it.
        python: For a NumPy scalar: a bool of the graph; where it holds, Python sees a Python number of the same value.
        is_native: Whether NumPy makes an array of this dtype of that Python number: 0 for 0.0 is another one.
        several: Whether it stands for one object or another, as the data or the iteration decides.
        ints: How large that Python number is at most where it is an int; less than 0 where it is none.
    """

    storage: Storage
    steps: tuple[ViewStep, ...]
    dummy: np.ndarray
    kind: Kind = "array"
    readonly: bool = False
    python: Operand | None = None
    is_native: bool = False
    several: bool = False
    ints: float = math.inf

    @property
    def spec(self) -> Spec:
        return Spec(self.dummy.shape, self.dummy.dtype, self.kind)

    @property
    def shape(self) -> tuple[int, ...]:
        return self.dummy.shape

    @property
    def dtype(self) -> np.dtype:
        return self.dummy.dtype


class Selected:
    """Elements of an array: how many they are, only the run knows."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Span:
    """The elements of an axis from `start` to `stop`, each a `Known` int or a `LoopInt` between 0 and the length.

    The stop may be less than the start: then there are none.
    """

    start: Any
    stop: Any


@dataclass(eq=False, slots=True)
class Ragged(Selected):
    """`x[i:, :k]` for bounds that move with a loop: a view of the whole axes, and what of them is meant.

    Attributes:
        full: The array with whole axes; when it is a view, writes reach the memory behind it.
        spans: One per axis of `full`; `None` for an axis that is meant as a whole.
    """

    full: Arr
    spans: tuple[Span | None, ...]


@dataclass(eq=False, slots=True)
class Masked(Selected):
    """`x[mask]` for a boolean mask of the first axes of `x`: how many elements it has, the data decides.

    Elementwise operations are applied to all of `full`; a masked assignment with the same mask selects.

    Attributes:
        full: An array whose first axes are those of the mask; the mask makes one axis of them.
        mask: The mask's value; equal masks are one value.
        places: For a result of `np.nonzero`, of which axis of the mask it has the numbers, and what the memory of
            `full` holds as long as it has them.
    """

    full: Arr
    mask: Operand
    places: tuple[int, Operand] | None = None


@dataclass(eq=False, slots=True)
class Items:
    """A tuple, list, dict or record made inside the region. `kind` is its type."""

    kind: type
    items: list[Any] | dict[Any, Any]
    path: str | None = None

    @property
    def values(self) -> list[Any]:
        return list(self.items.values()) if isinstance(self.items, dict) else self.items


@dataclass(eq=False, slots=True)
class Rows:
    """A list that a compiled loop has filled: its items are the rows of an array.

    Attributes:
        array: The array, which nothing else means.
        spec: Of an item: a number or a new array.
        length: How many rows are items, where the data decides that: an array of one integer.
    """

    array: Arr
    spec: Spec
    length: Arr | None = None

    @property
    def count(self) -> int:
        """How many items there are.

        Raises:
            CannotCapture: The data decides.
        """
        if self.length is not None:
            raise CannotCapture("data-shape", "the data decides how long a list gets in a loop")
        return self.array.shape[0]


@dataclass(eq=False, slots=True)
class Stream:
    """An iterator made inside the region. It is used up by being asked, and never leaves the region.

    Attributes:
        kind: Its type.
        items: The items that are left; each is made when it is asked for.
        length: How many there were, as far as that is known.
        again: For a view of a dict: makes a new iterator for each loop.
        holds: What its items are made of: values, and a comprehension as a function in its own frame.
        number: How many streams were made before it.
        level: The condition under which it was made, or asked for an item last.
        is_lost: Whether it was asked for items by what was taken back afterwards.
    """

    kind: type
    items: Iterator[Any]
    length: int | None = None
    again: Callable[[], Iterator[Any]] | None = None
    holds: tuple[Any, ...] = ()
    number: int = 0
    level: Operand | None = None
    is_lost: bool = False


@dataclass(eq=False, slots=True)
class Closure:
    """A function or lambda defined inside the region. A comprehension's `Stream` holds one that nobody calls."""

    node: ast.FunctionDef | ast.Lambda
    frame: Any
    defaults: dict[str, Any]

    def sees(self, frame: Frame) -> bool:
        """Whether the names of a frame can be read in the function."""
        outer: Frame | None = self.frame
        while outer is not None and outer is not frame:
            outer = outer.parent
        return outer is not None

    @property
    def captured(self) -> set[str]:
        """The names outside that it, or a function made in it, reads or binds."""
        return names([self.node]).captured


@dataclass(eq=False, slots=True)
class Method:
    """An attribute of an abstract object that waits for its call."""

    owner: Any
    name: str


@dataclass(eq=False, slots=True)
class Flat:
    """`array.flat`.

    Attributes:
        array: The array.
        builder: Of the graph that it was made in: that of a rolled loop repeats what it does.
        is_used: Whether it was asked for items: it goes on where it was.
    """

    array: Arr
    builder: Any
    is_used: bool = False


@dataclass(eq=False, slots=True)
class Partial:
    """`np.add.outer` and the like: a ufunc with one of its methods."""

    function: Any
    name: str


@dataclass(eq=False, slots=True)
class Vectorize:
    """`np.vectorize(pyfunc, otypes)`: the abstract arguments it was made with."""

    pyfunc: Any
    otypes: Any


@dataclass(eq=False, slots=True)
class Opaque:
    """A value that cannot enter a graph; using it raises its reason.

    Attributes:
        id: Of a reason.
        detail: What the user is told.
        cause: The native line that makes it, or that has met it first.
        unset: Whether its name may have no value: then Python raises where it is read.
    """

    id: str
    detail: str
    cause: SourceLine | None = None
    unset: bool = False

    def error(self) -> CannotCapture:
        """What its use raises."""
        return CannotCapture(self.id, self.detail, self.cause)


@dataclass(eq=False, slots=True)
class Frame:
    """One function being interpreted.

    Attributes:
        env: Local names to abstract values.
        namespace: The function's globals.
        namespace_path: Their name in the prologue; `None` for NumPy's own modules, which are taken as constant.
        cells: Free variables to abstract values, for functions that are not the region's own.
        local_names: The names that are local.
        caller: The frame that called this one.
        called: The line that did.
        node: The function's definition.
        postponed: Whether annotations are not evaluated in the function's file.
        maybe: Local names that may have a value which nobody here knows.
        shared: Local names that others may read, too, at any time.
        level: The condition under which the present statement is executed.
    """

    name: str
    file: str
    env: dict[str, Any]
    namespace: dict[str, Any]
    namespace_path: str | None
    cells: dict[str, Any] = field(default_factory=dict)
    local_names: frozenset[str] = frozenset()
    parent: Frame | None = None
    trusted: bool = False
    caller: Frame | None = None
    called: SourceLine | None = None
    node: Any = None
    postponed: bool = False
    maybe: frozenset[str] = frozenset()
    shared: frozenset[str] = frozenset()
    level: Any = None

    def unbound(self, name: str) -> CannotCapture:
        """The error where a local name is read that has no value."""
        if name in self.maybe:
            return CannotCapture("unbound", f"`{name}` may have no value here")
        return CannotCapture("raises", f"UnboundLocalError: `{name}` has no value here")


def is_number(value: Any) -> bool:
    """Whether Python sees a number, its own or NumPy's."""
    if isinstance(value, Known):
        return isinstance(value.value, bool | int | float | complex | np.generic)
    return isinstance(value, Sym | LoopInt) or (isinstance(value, Arr) and value.kind != "array")


def plain(value: Any) -> Any:
    """A NumPy scalar that may be a Python number of the same value, where that makes no difference."""
    return replace(value, python=None) if isinstance(value, Arr) and value.python is not None else value


def freeze(value: Any) -> Any:
    """A static parameter in its hashable form, with Python's ints, as the text of a plan has them."""
    if isinstance(value, list | tuple):
        return tuple(freeze(part) for part in value)
    if isinstance(value, np.integer):
        return int(value)
    if isinstance(value, np.ndarray):
        return tuple(value.tolist()) if value.ndim == 1 else value
    return value
