"""How far a result may be from NumPy's, with the reason for each bound."""

from __future__ import annotations

import numpy as np

from autojit.ir.graph import Node

#: Units in the last place, by row; rows that are not named are exact.
ULPS: dict[str, float] = {}


def check_close(node: Node, wanted: np.ndarray, got: np.ndarray) -> str | None:
    """What differs, or `None`."""
    if wanted.dtype.kind not in "fc":
        bad = wanted != got
        return _first(node, bad, wanted, got)
    allowed = ULPS.get(node.op.name, 0)
    if wanted.dtype.kind == "c":
        real = distance(wanted.real, got.real, scale=wanted)
        imag = distance(wanted.imag, got.imag, scale=wanted)
        return _first(node, ~(np.maximum(real, imag) <= allowed), wanted, got)
    return _first(node, ~(distance(wanted, got) <= allowed), wanted, got)


def distance(wanted: np.ndarray, got: np.ndarray, scale: np.ndarray | None = None) -> np.ndarray:
    """Units in the last place between two float arrays; infinite where NaNs, infinities or signed zeros differ."""
    with np.errstate(all="ignore"):
        size = np.abs(wanted if scale is None else scale).astype(wanted.dtype)
        unit = np.spacing(np.where(np.isfinite(size), size, np.abs(wanted)))
        unit = np.maximum(unit, np.finfo(wanted.dtype).tiny)
        # A result in the subnormal range may have been flushed.
        result = np.abs(wanted.astype(np.float64) - got.astype(np.float64)) / unit.astype(np.float64)
        result = np.where(np.isnan(wanted) & np.isnan(got), 0, result)
        result = np.where((wanted == got), 0, result)
        zero = (wanted == 0) & (got == 0) & (np.signbit(wanted) != np.signbit(got))
        return np.where(np.isnan(result) | zero, np.inf, result)


def _first(node: Node, bad: np.ndarray, wanted: np.ndarray, got: np.ndarray) -> str | None:
    if not bad.any():
        return None
    where = tuple(int(n) for n in np.argwhere(bad)[0])
    return f"{int(bad.sum())} of {bad.size} differ, first at {where}: NumPy {wanted[where]!r}, compiled {got[where]!r}"
