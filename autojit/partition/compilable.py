"""Whether a node may enter a cluster, and if not, why not."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from autojit.config import Config
from autojit.errors import FlagError, Reason
from autojit.ir.graph import Graph, Node
from autojit.ir.op import Op
from autojit.ir.spec import COMPILED_DTYPES
from autojit.ops.quantiles import is_fast
from autojit.ops.trust import public_name_of


def why_not(node: Node, config: Config, slower: frozenset[str] = frozenset()) -> Reason | None:
    """The reason why `node` stays on the host, or `None` when it may enter a cluster."""
    op = node.op
    if op.name in slower and not is_fast(node):
        return Reason("host-op", f"`{_called(op)}` is faster in NumPy", node.source)
    if op.lower is None:
        return Reason("host-op", f"`{_called(op)}` has no lowering", node.source)
    if config.ops_to_cluster and not _is_named(op, config.ops_to_cluster):
        names = ",".join(config.ops_to_cluster)
        return Reason("excluded", f"`{op.name}` is not among `--ops_to_cluster={names}`", node.source)
    if _is_named(op, config.cluster_exclude_ops):
        names = ",".join(config.cluster_exclude_ops)
        return Reason("excluded", f"`{op.name}` is among `--cluster_exclude_ops={names}`", node.source)
    for spec in (*node.specs, *(value.spec for value in node.outputs)):
        if spec.dtype not in COMPILED_DTYPES:
            return Reason("argument-type", f"`{op.name}` on dtype `{spec.dtype}`", node.source)
    for graph in subgraphs(node):
        for inner in graph.nodes:
            reason = why_not(inner, config)  # in NumPy the whole loop would run by its operations
            if reason is not None:
                return reason
    return None


def subgraphs(node: Node) -> tuple[Graph, ...]:
    """The graphs that a loop or branch node holds in its parameters."""
    found: list[Graph] = []
    for _, value in node.params:
        parts = value if isinstance(value, tuple) else (value,)
        found += [part for part in parts if isinstance(part, Graph)]
    return tuple(found)


def _is_named(op: Op, names: tuple[str, ...]) -> bool:
    return any(name in (op.name, op.family) or f"np.{name}" == op.name for name in names)


def check_names(config: Config, ops: Iterable[Op]) -> None:
    """Refuse spelling mistakes in the knobs that name operations.

    Raises:
        FlagError: A name is neither an op of `ops` nor a family.
    """
    known = list(ops)
    for name in unknown_names(config, known):
        all_names = dict.fromkeys(part for op in known for part in (op.name, op.name.removeprefix("np."), op.family))
        near = difflib.get_close_matches(name, all_names, n=1, cutoff=0.5)
        flag = "ops_to_cluster" if name in config.ops_to_cluster else "cluster_exclude_ops"
        families = ", ".join(f"`{family}`" for family in dict.fromkeys(op.family for op in known))
        hint = f"; did you mean `{near[0]}`?" if near else ""
        raise FlagError(f"unknown operation `{name}` in `--{flag}`{hint}\nthe families are {families}")


def unknown_names(config: Config, ops: Iterable[Op]) -> tuple[str, ...]:
    """The names in the knobs that are neither an op of `ops` nor a family: spelling mistakes, most likely."""
    known = list(ops)
    names = config.ops_to_cluster + config.cluster_exclude_ops
    return tuple(name for name in names if not any(_is_named(op, (name,)) for op in known))


def _called(op: Op) -> str:
    """How a user calls an operation: not by a private module in which a package keeps it."""
    if "._" not in op.name or not op.numpy:
        return op.name
    return public_name_of(op.numpy[0]) or op.name
