"""Small programs of table rows, compiled as one: what single-row tests cannot show is how XLA treats neighbours."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from autojit.ir.build import Builder
from autojit.ir.graph import Const, Graph
from autojit.ir.spec import spec_of
from autojit.ops.chapters import TABLE


class Program:
    """Calls of rows, recorded: `p("np.add", x, 1.0)` adds a node and returns its value."""

    def __init__(self) -> None:
        self.builder = Builder()

    def __call__(self, name: str, *operands: Any, **params: Any) -> Any:
        inputs = [one if hasattr(one, "spec") else self.builder.const(one) for one in operands]
        outputs = self.builder.add(TABLE[name], inputs, params)
        return outputs[0] if len(outputs) == 1 else outputs


def compile_program(make: Callable[..., Any], *arrays: np.ndarray) -> tuple[Any, Graph]:
    """Compile `make(program, *values)`; the executable and the graph. The arrays give the specs."""
    program = Program()
    values = [program.builder.input(spec_of(array), f"x{n}") for n, array in enumerate(arrays)]
    results = make(program, *values)
    graph = program.builder.graph("program", results if isinstance(results, tuple) else (results,))

    def function(*arguments: Any) -> list[Any]:
        known = dict(zip((value.name for value in values), arguments, strict=True))
        flags: list[Any] = []

        def read(operand: Any) -> Any:
            return jnp.asarray(operand.value, operand.spec.dtype) if isinstance(operand, Const) else known[operand.name]

        for node in graph.nodes:
            outputs = node.op.lower(node, [read(operand) for operand in node.inputs], flags.append)
            known.update(zip((value.name for value in node.outputs), outputs, strict=True))
        trapped = [jnp.any(jnp.stack([jnp.any(flag) for flag in flags]))] if flags else []
        return [read(operand) for operand in graph.outputs] + trapped

    with jax.enable_x64(True):
        return jax.jit(function).lower(*arrays).compile(), graph


def run_program(make: Callable[..., Any], *arrays: np.ndarray) -> list[np.ndarray]:
    """The program's results; the last one is the trap flag when a node may trap."""
    executable, _ = compile_program(make, *arrays)
    with jax.enable_x64(True):
        return [np.asarray(result) for result in executable(*arrays)]
