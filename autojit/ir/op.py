"""`Op`: one row of the op table, everything that is known of one NumPy function."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from autojit.ir.spec import Spec

Family = Literal["elementwise", "reduction", "contraction", "shaping", "indexing", "creation", "linalg", "loop", "host"]

#: `infer(specs, params) -> specs of the outputs`; raises what NumPy would raise for these specs.
Infer = Callable[[Sequence[Spec], dict[str, Any]], "tuple[Spec, ...]"]

#: `lower(node, xs, trap) -> one jax value per output`. `xs` are jax values of the inputs' dtypes and shapes;
#: `trap(flag)` takes a jax bool that says "this data must be left to NumPy".
Lower = Callable[[Any, Sequence[Any], Callable[[Any], None]], Any]


@dataclass(frozen=True, slots=True, eq=False)
class Op:
    """One NumPy function.

    Attributes:
        name: Unique; how the call prints in a graph's text ("np.sum", "np.linalg.inv").
        call: Runs the op in NumPy: `call(*inputs, **params)`. Never changes its inputs.
        family: The family of the function.
        operands: The names of the array parameters, in the order of a node's inputs. A name that starts with
            "*" takes all remaining positional arguments; one in brackets, "[arrays]", is a sequence parameter.
        params: The names of the static parameters that may be given. Others keep the call out of the graph.
        infer: Specs of the outputs. `None` for a host op whose result is known only after its first run.
        lower: Builds the jax value. `None`: the op runs on the host.
        numpy: The NumPy callables that this row stands for.
        methods: The names of the `np.ndarray` methods that this row stands for (`self` is the first operand).
        defaults: Values for operands left out of a call.
        traps: Whether the lowering may trap.
        bitwise: The kinds of floating point dtypes ("f", "c") for which the compiled form gives NumPy's bits, apart
            from the payloads of NaN; integers and bools always do. `None`: all in the families that only move data.
        rounds: How a floating point result is rounded, which tells what `exact=True` puts behind it.
        text: Prints the call: `text(inputs, params, output names) -> str`; `None` for the usual form.
        blas_axes: NumPy leaves operands of floats and of at most so many axes to BLAS; 0: none.
        fuses: Whether XLA fuses the compiled form with what makes its operands, also where its family is not fused.
        sharding: How a sharding passes through, for the sharding rooms.
        samples: Example calls for the generated tests: `samples(rng) -> [(args, kwargs), ...]`.
        note: One line for the documentation table.
    """

    name: str
    call: Callable[..., Any]
    family: Family
    operands: tuple[str, ...]
    params: tuple[str, ...] = ()
    infer: Infer | None = None
    lower: Lower | None = None
    numpy: tuple[Callable[..., Any], ...] = ()
    methods: tuple[str, ...] = ()
    defaults: dict[str, Any] = field(default_factory=dict)
    traps: bool = False
    bitwise: str | None = None
    rounds: str = ""
    text: Callable[[list[str], dict[str, Any]], str] | None = None
    sharding: str = ""
    blas_axes: int = 0
    fuses: bool = False
    samples: Callable[[Any], list[tuple[tuple[Any, ...], dict[str, Any]]]] | None = None
    note: str = ""

    @property
    def broadcasts(self) -> bool:
        """Whether an element of a result depends on those of the operands at its place only, which are broadcast."""
        return self.family == "elementwise" and self.sharding == "elementwise"

    @property
    def compilable(self) -> bool:
        return self.lower is not None

    def is_bitwise(self, dtypes: Iterable[np.dtype]) -> bool:
        """Whether the compiled form gives NumPy's bits for operands and results of these dtypes."""
        kinds = self.bitwise
        if kinds is None:
            kinds = "fc" if self.family in ("shaping", "indexing", "creation", "loop") else ""
        return all(dtype.kind in "biu" or dtype.kind in kinds for dtype in dtypes)

    def __repr__(self) -> str:
        return f"<op {self.name}>"

    def __reduce__(self) -> str:
        return self.name
