"""Grids and tables of indices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autojit.errors import CannotCapture
from autojit.ir.index import Index, Slice
from autojit.ir.op import Op
from autojit.ir.spec import Spec
from autojit.jax_names import jnp, lax
from autojit.ops.inference import compiled, public_name, specs_of

Trap = Callable[[Any], None]

#: Tables of more elements than this are left to NumPy: they would stand in the program as they are.
TABLE_SIZE = 1 << 20


def _key(slices: Any) -> Any:
    """The index of `np.mgrid[...]` from its hashable form."""
    if isinstance(slices, Index):
        return slices.fill(()) if len(slices.entries) > 1 else slices.fill(())[0]
    if isinstance(slices, Slice):
        return slice(slices.start, slices.stop, slices.step)
    if isinstance(slices, tuple):
        is_bounds = len(slices) == 3 and not any(isinstance(part, tuple | Slice | slice) for part in slices)
        return slice(*slices) if is_bounds else tuple(map(_key, slices))
    return slices


def _grid(name: str, grid: Any) -> Op:
    def call(slices: Any) -> Any:
        return grid[_key(slices)]

    def infer(specs: Sequence[Spec], params: dict[str, Any]) -> tuple[Spec, ...]:
        found = compiled(specs_of(call(**params)))
        if max(spec.size for spec in found) > TABLE_SIZE:
            raise CannotCapture("budget", f"a grid of more than {TABLE_SIZE} elements in a program")
        return found

    def lower(node: Any, xs: Sequence[Any], trap: Trap) -> Any:
        result = call(**node.keywords)
        return tuple(map(jnp.asarray, result if isinstance(result, tuple) else (result,)))

    def text(inputs: list[str], params: dict[str, Any]) -> str:
        key = _key(params["slices"])
        parts = key if isinstance(key, tuple) else (key,)
        inner = ", ".join(f"slice({part.start!r}, {part.stop!r}, {part.step!r})" for part in parts)
        return f"{name}[{inner}]"

    return Op(
        name=name,
        call=call,
        family="creation",
        operands=(),
        params=("slices",),
        bitwise="",
        infer=infer,
        lower=lower,
        text=text,
        samples=lambda rng: [
            ((), {"slices": ((0, 3, None), (1, 5, 2))}),
            # The checker cannot know: a grid takes complex steps.
            ((), {"slices": (Slice(-1, 1, 5j), Slice(0, 2, None))}),  # type: ignore[arg-type]
            ((), {"slices": Index((Slice(0, 4, None),))}),
        ],
    )


def _tables(function: Any, params: tuple[str, ...], cases: list[dict[str, Any]]) -> Op:
    """A function of static arguments whose result stands in the program as it is."""

    def infer(specs: Sequence[Spec], params: dict[str, Any]) -> tuple[Spec, ...]:
        result = function(**params)
        found = compiled(specs_of(result))
        if isinstance(result, tuple) and len(result) < 2:
            raise CannotCapture("keyword", "a tuple of one table or none")
        if sum(spec.size for spec in found) > TABLE_SIZE:
            raise CannotCapture("budget", f"a table of more than {TABLE_SIZE} indices in a program")
        return found

    def lower(node: Any, xs: Sequence[Any], trap: Trap) -> Any:
        result = function(**node.keywords)
        return tuple(map(jnp.asarray, result if isinstance(result, tuple) else (result,)))

    return Op(
        name=public_name(function),
        call=function,
        family="creation",
        operands=(),
        params=params,
        infer=infer,
        lower=lower,
        numpy=(function,),
        samples=lambda rng: [((), case) for case in cases],
    )


def _meshgrid_shape(specs: Sequence[Spec], params: dict[str, Any]) -> list[tuple[int, ...]]:
    sizes = [spec.size for spec in specs]
    order = list(range(len(sizes)))
    if params.get("indexing", "xy") == "xy" and len(sizes) > 1:
        order[:2] = [1, 0]
    shapes = []
    for number in range(len(sizes)):
        whole = [sizes[place] for place in order]
        shapes.append(tuple(n if order[a] == number or not params.get("sparse") else 1 for a, n in enumerate(whole)))
    return shapes


def _meshgrid_infer(specs: Sequence[Spec], params: dict[str, Any]) -> tuple[Spec, ...]:
    if len(specs) < 2:
        raise CannotCapture("keyword", "`np.meshgrid` of one array")
    np.meshgrid(*(np.zeros(1) for _ in specs), **params)
    return tuple(Spec(shape, spec.dtype) for shape, spec in zip(_meshgrid_shape(specs, params), specs, strict=True))


def _meshgrid(node: Any, xs: Sequence[Any], trap: Trap) -> Any:
    results = []
    for number, (x, value) in enumerate(zip(xs, node.outputs, strict=True)):
        axis = 1 - number if node.keywords.get("indexing", "xy") == "xy" and number < 2 else number
        results.append(lax.broadcast_in_dim(x.reshape(-1), value.spec.shape, (axis,)))
    return tuple(results)


MESHGRID = Op(
    name="np.meshgrid",
    call=np.meshgrid,
    family="creation",
    operands=("*xi",),
    params=("sparse", "indexing"),
    infer=_meshgrid_infer,
    lower=_meshgrid,
    numpy=(np.meshgrid,),
    samples=lambda rng: [
        ((rng.random(3), np.arange(4)), {}),
        ((rng.random(3), np.arange(4), rng.random(2)), {"indexing": "ij"}),
        ((rng.random(3), np.arange(4), rng.random(2)), {"sparse": True}),
    ],
)

ROWS = (
    _grid("np.mgrid", np.mgrid),
    _grid("np.ogrid", np.ogrid),
    _tables(
        np.indices,
        ("dimensions", "dtype", "sparse"),
        [{"dimensions": (2, 3)}, {"dimensions": (2, 3), "dtype": np.int8}],
    ),
    _tables(np.tril_indices, ("n", "k", "m"), [{"n": 4}, {"n": 3, "k": -1, "m": 5}]),
    _tables(np.triu_indices, ("n", "k", "m"), [{"n": 4}, {"n": 3, "k": 1, "m": 5}]),
    *(
        _tables(function, ("M",), [{"M": 5}, {"M": 1}])
        for function in (np.hanning, np.hamming, np.blackman, np.bartlett)
    ),
    _tables(np.kaiser, ("M", "beta"), [{"M": 5, "beta": 14.0}]),
    MESHGRID,
)
