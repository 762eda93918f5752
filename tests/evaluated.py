"""Clusters that NumPy runs in place of XLA: what capture understood is judged without waiting for a compiler."""

from __future__ import annotations

import contextlib
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from typing import Any
from unittest import mock

import numpy as np

from autojit.compile import cache
from autojit.errors import Trapped
from autojit.ir.evaluate import evaluate
from autojit.ir.graph import Graph


class Evaluated:
    """Stands for an `Executable`.

    Attributes:
        name: The name of the cluster.
    """

    compile_seconds = 0.0
    is_loaded = False
    nbytes = 0

    def __init__(self, graph: Graph, stored: object = None, choice: str = "", is_portable: bool = False) -> None:
        self.name = graph.name
        self.graph = graph

    def run(self, values: Sequence[Any]) -> list[np.ndarray]:
        """Evaluate the graph; what raises is trapped, casts of NaN to integers too."""
        # In the memory they have: where a sum begins depends on it.
        inputs = [np.asarray(value, one.spec.dtype)[()] for value, one in zip(values, self.graph.inputs)]
        # A Python number is weak, and an integer may be too large for an array's dtype.
        kinds = [one.spec.kind for one in self.graph.inputs]
        inputs = [value.item() if kind == "python" else value for value, kind in zip(inputs, kinds)]
        try:
            with np.errstate(all="ignore", invalid="raise"):
                results = evaluate(self.graph, inputs)
            # An int that int64 does not hold is trapped, too.
            made = [np.array(result, one.spec.dtype, order="C") for result, one in zip(results, self.graph.results)]
        except (ArithmeticError, ValueError, LookupError, RuntimeError) as error:  # of NumPy, of loops that give up
            raise Trapped(self.name) from error
        for result in made:
            result.flags.writeable = False
        return made


@contextlib.contextmanager
def evaluated() -> Iterator[None]:
    """While this lasts, what is compiled is a program that NumPy runs, and none of them is found afterwards."""
    with mock.patch.object(cache, "Executable", Evaluated), mock.patch.object(cache.CACHE, "_entries", OrderedDict()):
        yield
