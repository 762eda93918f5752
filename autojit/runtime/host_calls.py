"""Host nodes: calls of a plan that NumPy, or a function of the user's, answers. Their results must be as captured."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autojit.capture.layout import arranged, not_new, own_strides
from autojit.capture.observed import Layouts
from autojit.errors import Trapped, Varies, comes_from_a_signal
from autojit.ir.graph import Node
from autojit.ir.spec import Spec, spec_of
from autojit.ops.declared import is_declared
from autojit.partition.products import is_product
from autojit.runtime.interrupts import comes_from_outside


def host_call(node: Node, is_quiet: bool, layouts: Layouts | None) -> Callable[..., tuple[Any, ...]]:
    """What runs a host node and checks that its results are what the plan was built for.

    Args:
        node: The node.
        is_quiet: Whether floating point errors are ignored.
        layouts: How the arguments lie in memory in NumPy, and how the results did then; `None` where the results are
            known without a run.
    """
    call, keywords = node.op.call, node.keywords
    multiplies = is_product(node)
    if is_quiet or multiplies:  # compiled code does not warn, either
        call = np.errstate(all="ignore")(call)
    specs = [value.spec for value in node.outputs]
    is_foreign = node.op.family == "host"
    is_the_users = is_declared(node.op)  # it may raise what is the program's
    orders = [] if layouts is None else [layouts.results]  # how the results lay in memory, or the first ones do

    def run(*arguments: Any) -> tuple[Any, ...]:
        if layouts is not None:
            pairs = zip(arguments, layouts.arguments, strict=True)
            arguments = tuple(_laid_out(argument, strides) for argument, strides in pairs)
        try:
            found = call(*arguments, **keywords)
        except Exception as error:
            if comes_from_a_signal(error) or (comes_from_outside(error) and not is_the_users):
                raise
            raise Trapped(str(error)) from error  # NumPy raises it again at the user's line
        results = found if len(specs) > 1 else (found,)
        if not isinstance(results, tuple) or len(results) != len(specs):
            text = f"`{node.op.name}` gave a `{type(results).__name__}` instead of {len(specs)} results"
            raise Varies((node.op.name, node.source), text)
        if is_foreign:
            _check_memory(node, arguments, results, orders)
        for result, spec in zip(results, specs, strict=True):
            if (given := _given(result)) != spec:
                raise Varies((node.op.name, node.source), f"`{node.op.name}` gave {given} instead of {spec}")
        if multiplies and not np.isfinite(results[0]).all() and all(np.isfinite(each).all() for each in arguments):
            raise Trapped(f"`{node.op.name}` overflows")  # NumPy warns of it at the user's line
        return tuple(results)

    return run


def _check_memory(node: Node, arguments: Sequence[Any], results: Sequence[Any], orders: list[Any]) -> None:
    """Trap where results lie in memory in another way than the plan was built for, or than those of its first run."""
    if any(_may_share(result, argument) for result in results for argument in arguments):
        raise Trapped(f"`{node.op.name}` gave memory of its arguments")  # which may be written afterwards
    if trouble := not_new(results):
        raise Trapped(f"`{node.op.name}` {trouble}")
    order = tuple(map(own_strides, results))
    if not orders:
        orders.append(order)
    if order != orders[0]:
        raise Trapped(f"`{node.op.name}` gave an array in another memory order")


def _laid_out(argument: Any, strides: tuple[int, ...] | None) -> Any:
    """An argument as it lies in memory in NumPy: some functions ask, and their results follow."""
    if strides is None or not isinstance(argument, np.ndarray) or argument.strides == strides:
        return argument
    return arranged(argument, strides)


def _may_share(one: Any, other: Any) -> bool:
    return isinstance(one, np.ndarray) and isinstance(other, np.ndarray) and np.may_share_memory(one, other)


def _given(result: Any) -> Spec | str:
    """The spec of what a function gave, or its type where it has none, as `None` or a subclass of arrays."""
    try:
        found = spec_of(result)
    except TypeError:
        return f"a `{type(result).__name__}`"
    is_derived = isinstance(result, np.ndarray) and type(result) is not np.ndarray
    return f"a `{type(result).__name__}`" if is_derived else found
