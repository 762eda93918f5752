"""Sample calls for rows whose operands or parameters are not those of their family."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ops.samples import DTYPES, Case, binary, edges, layouts, ordinary, pairs, unary

Maker = Callable[[np.random.Generator], list[Case]]


def where(rng: np.random.Generator) -> list[Case]:
    cases = []
    for case in binary(rng):
        x, y = case.args
        shape = np.broadcast_shapes(np.shape(x), np.shape(y))
        cases.append(Case(case.label, (rng.integers(0, 2, shape).astype(bool), x, y), constant=case.constant))
    x = ordinary(rng, np.dtype(np.float64), (3, 4))
    for condition in (np.True_, True, x > 0, x[0], np.array([1 + 0j, 0, 2, 0]), x.astype(np.int8), np.array(False)):
        cases.append(Case(f"condition {condition!r}", (condition, x, 1.5)))
    return cases + [Case("no axes", (True, 1, 2.5)), Case("no axes of arrays", (np.array(True), np.array(1), 2))]


def astype(rng: np.random.Generator) -> list[Case]:
    cases = []
    for have in DTYPES:
        positive = have.kind in "fc"
        for want in DTYPES:
            params = {"dtype": want}
            x = ordinary(rng, have, (3, 5))
            if positive and want.kind == "u":
                x = np.abs(x).astype(have)
            cases.append(Case(f"{have} to {want}", (x,), params))
            if have.kind != "f" or want.kind not in "iu":
                cases.append(Case(f"{have} to {want} edges", (edges(have),), params))
        cases += [Case(f"{have} {name}", (x,), {"dtype": have}) for name, x in layouts(rng, have)]
        cases.append(Case(f"{have} scalar", (ordinary(rng, have, (1,))[0],), {"dtype": np.dtype(np.float32)}))
    halves = (rng.normal(size=4000) * 10.0 ** rng.integers(-8, 6, 4000)).astype(np.float64)
    ties = np.array([1 + 2.0**-11, 1 + 2.0**-11 + 2.0**-40, 1 + 2.0**-11 - 2.0**-40, 65520, 65519.999, 2.0**-24])
    near = np.concatenate([halves, ties, -ties])
    cases.append(Case("double rounding", (near[np.abs(near) > 1e-4],), {"dtype": np.dtype(np.float16)}))
    whole = np.array([2**53 + 1, 2**62 + 3, 2**24 + 1, -(2**63), 2**63 - 1, 33554433])
    for want in (np.float16, np.float32, np.float64):
        cases.append(Case(f"large integers to {want.__name__}", (whole,), {"dtype": np.dtype(want)}))
        cases.append(Case(f"large unsigned to {want.__name__}", (whole.astype(np.uint64),), {"dtype": np.dtype(want)}))
    limits = np.array([127.9, -128.9, 0.0, -0.9])
    cases.append(Case("fractions to int8", (limits,), {"dtype": np.dtype(np.int8)}))
    for value in (-129.0, 128.0, np.nan, np.inf, -np.inf, 1e30, 2.0**31):
        cases.append(Case(f"edges {value}", (np.array([1.0, value]),), {"dtype": np.dtype(np.int8)}))
    return cases


def item(rng: np.random.Generator) -> list[Case]:
    cases = []
    for dtype in DTYPES:
        for shape in ((), (1,), (1, 1)):
            cases.append(Case(f"{dtype} {shape}", (ordinary(rng, dtype, shape),)))
        cases.append(Case(f"{dtype} scalar", (ordinary(rng, dtype, (1,))[0],)))
        cases.append(Case(f"{dtype} two", (ordinary(rng, dtype, (2,)),)))
        cases += [Case(f"{dtype} edges {n}", (value,)) for n, value in enumerate(edges(dtype)[:30])]
    return cases


def clip(rng: np.random.Generator) -> list[Case]:
    cases = []
    for dtype in DTYPES:
        x, low, high = (ordinary(rng, dtype, (3, 5)) for _ in range(3))
        cases.append(Case(f"{dtype} arrays", (x, low, high)))
        cases += [Case(f"{dtype} ints", (x, 1, 3)), Case(f"{dtype} floats", (x, -0.5, 0.5))]
        cases.append(Case(f"{dtype} runtime ints", (x, 1, 3), constant=False))
        cases.append(Case(f"{dtype} wide ints", (x, -(10**9), 10**9)))
        cases.append(Case(f"{dtype} edges wrong ints", (x, 10**9, 10**10)))
        cases.append(Case(f"{dtype} scalar", (x[0, 0], low[0, 0], high[0, 0])))
        left, right = pairs(edges(dtype), edges(dtype))
        cases.append(Case(f"{dtype} edges", (left, right, np.roll(right, 1))))
    return cases


def with_params(maker: Maker, *choices: dict[str, Any]) -> Maker:
    """The same calls with each choice of parameters."""

    def made(rng: np.random.Generator) -> list[Case]:
        cases = maker(rng)
        return [
            Case(f"{case.label} {choice or ''}", case.args, choice, case.constant)
            for choice in choices
            for case in cases
        ]

    return made


def rounded(rng: np.random.Generator) -> list[Case]:
    cases = unary(rng)
    for dtype in DTYPES:
        x = ordinary(rng, dtype, (50,)) * np.asarray(100).astype(dtype if dtype.kind != "b" else int)
        for decimals in (0, 1, 2, 5, -1, -2):
            cases.append(Case(f"{dtype} decimals {decimals}", (x,), {"decimals": decimals}))
            cases.append(Case(f"{dtype} edges decimals {decimals}", (edges(dtype),), {"decimals": decimals}))
    return cases


def close(rng: np.random.Generator) -> list[Case]:
    cases = []
    for case in binary(rng):
        x, y = case.args
        if np.shape(x) == np.shape(y) and np.ndim(x):
            mixed = np.where(rng.integers(0, 2, np.shape(x)), x, y)
            cases.append(Case(f"{case.label} mixed", (x, mixed)))
            cases.append(Case(f"{case.label} equal_nan", (x, mixed), {"equal_nan": True, "rtol": 0.1}))
    return cases + binary(rng)


def without_zero(rng: np.random.Generator) -> list[Case]:
    cases = [Case(f"{dtype} {name}", (x,)) for dtype in DTYPES for name, x in layouts(rng, dtype, positive=True)]
    return cases + [Case(f"{dtype} edges", (edges(dtype),)) for dtype in DTYPES]


def trace(rng: np.random.Generator) -> list[Case]:
    cases = []
    for dtype in DTYPES:
        x = ordinary(rng, dtype, (4, 3, 5))
        cases += [Case(f"{dtype}", (x,)), Case(f"{dtype} flat", (x[:, :, 0],)), Case(f"{dtype} line", (x[0, 0],))]
        cases.append(Case(f"{dtype} axes", (x,), {"axis1": 2, "axis2": 0, "offset": 1}))
        cases.append(Case(f"{dtype} far", (x[0],), {"offset": -9}))
        cases.append(Case(f"{dtype} dtype", (x[0],), {"dtype": np.dtype(np.complex128)}))
    return cases


def average(rng: np.random.Generator) -> list[Case]:
    cases = []
    for dtype in DTYPES:
        x, weights = ordinary(rng, dtype, (3, 5)), ordinary(rng, np.dtype(np.float32), (3, 5), positive=True)
        for params in ({}, {"axis": 0}, {"axis": 1, "keepdims": True}, {"axis": (1, 0)}, {"axis": 5}):
            cases += [Case(f"{dtype} {params}", (x, True), params), Case(f"{dtype} {params} w", (x, weights), params)]
        cases.append(Case(f"{dtype} vector", (x, weights[0]), {"axis": 1}))
        cases.append(Case(f"{dtype} turned", (x, weights.T), {"axis": (1, 0)}))
        cases.append(Case(f"{dtype} wrong", (x, weights[0]), {"axis": 0}))
        cases.append(Case(f"{dtype} whole weights", (x, ordinary(rng, np.dtype(np.int64), (3, 5), positive=True))))
        cases.append(Case(f"{dtype} edges zero weights", (x, weights * 0)))
    return cases


def diff(rng: np.random.Generator) -> list[Case]:
    cases = []
    for dtype in DTYPES:
        cases += [Case(f"{dtype} {name}", (x,)) for name, x in layouts(rng, dtype)]
        x = ordinary(rng, dtype, (4, 5))
        cases += [Case(f"{dtype} {params}", (x,), params) for params in ({"axis": 0}, {"n": 2}, {"n": 0}, {"n": 9})]
        cases.append(Case(f"{dtype} edges", (edges(dtype),)))
        cases.append(Case(f"{dtype} wrong", (x,), {"n": -1}))
    return cases


def outer(rng: np.random.Generator) -> list[Case]:
    cases = []
    for name in ("int8", "float64", "complex64"):
        dtype = np.dtype(name)
        x, y = ordinary(rng, dtype, (3,)), ordinary(rng, dtype, (2, 2), positive=True)
        cases += [Case(f"{dtype}", (x, y)), Case(f"{dtype} int", (x, 3)), Case(f"{dtype} float", (x[0], 0.7))]
    return cases


SPECIAL: dict[str, Maker] = {
    "np.where": where,
    "astype": astype,
    "np.astype": astype,
    "item": item,
    "item_float": item,
    "item_int": item,
    "item_bool": item,
    "item_complex": item,
    "np.clip": clip,
    "np.round": rounded,
    "np.isclose": close,
    "np.angle": with_params(unary, {}, {"deg": True}),
    "np.nan_to_num": with_params(unary, {}, {"nan": 7.0}, {"posinf": 1.5, "neginf": -3.0}),
    "np.reciprocal": without_zero,
    "np.trace": trace,
    "np.average": average,
    "np.diff": diff,
}
