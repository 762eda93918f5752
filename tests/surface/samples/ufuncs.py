"""Ufuncs and their methods."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tests.surface.names import methods_of

_INTEGERS = frozenset("bitwise_and bitwise_or bitwise_xor invert left_shift right_shift gcd lcm bitwise_count".split())
#: Operands that lie where the function is defined.
_OPERANDS = {
    "arcsin": ("(b)",), "arccos": ("(b)",), "arctanh": ("(b)",), "arccosh": ("(u)",), "log": ("(b)", "(w)", "(j + 1)"),
    "log2": ("(b)",), "log10": ("(b)",), "log1p": ("(b)",), "sqrt": ("(b)", "(w)", "(a)"), "isnat": (), "ldexp": ("(v, j)",),
    "matmul": ("(m, m)", "(c, d.T)", "(v, s)", "m @ z", "(i, j)"), "vecdot": ("(a, b)", "(w, v)"), "matvec": ("(m, m[0])",),
    "vecmat": ("(m[0], m)", "(z[0], z)"), "frexp": ("(v)",), "modf": ("(v)",), "divmod": ("(i, 4)", "(a, b)", "divmod(i, 4)"),
    "power": ("(b, a)", "(i, j)", "a**2", "(w, 2)"), "float_power": ("(b, 3)",), "left_shift": ("(i, j)", "i << 2"),
    "right_shift": ("(i, j)", "i >> 1"), "logical_not": ("(p)", "(a)"), "bitwise_and": ("(i, j)", "(p, v > 0)", "i & j"),
    "bitwise_count": ("(k)", "(i)"), "invert": ("(i)", "(p)", "~p"), "reciprocal": ("(b)", "(w)"), "conjugate": ("(w)", "(a)"),
    "nextafter": ("(v, s)",), "spacing": ("(v)",), "heaviside": ("(v, 0.5)",),
    "add": ("(a, b)", "(i, j)", "(a, 2)", "a + i[:4]", "y = np.zeros(6); np.add(v, s, out=y); y", "(v, s, dtype=np.float32)",
            "(v, s, where=p, out=np.zeros(6))", "(a, d)", "(k, k)", "(p, p)", "(w, 1)", "(d, d)", "(o, 1)", "(h, 1.5)"),
    "remainder": ("(a, b)", "(i, 4)", "a % 0.75"), "floor_divide": ("(a, b)", "(i, 4)", "a // 0.75"),
}  # fmt: skip


def _ufuncs() -> dict[str, np.ufunc]:
    return {name: one for name in sorted(np.__all__) if isinstance(one := getattr(np, name), np.ufunc)}


def _calls(one: np.ufunc) -> tuple[str, ...]:
    name = one.__name__
    if name in _OPERANDS:
        return _OPERANDS[name]
    if name in _INTEGERS:
        return ("(i)",) if one.nin == 1 else ("(i, j)", "(i, 3)")
    return ("(a)", "(i)", "(h)") if one.nin == 1 else ("(a, b)", "(i, j + 1)", "(a, 2)")


def _methods(one: np.ufunc) -> Iterator[tuple[str, tuple[str, ...]]]:
    name = f"np.{one.__name__}"
    vector, other, matrix = ("i", "j", "g") if one.__name__ in _INTEGERS else ("v", "s", "a")
    if "power" in name:
        vector, matrix = "u", "b"
    elif one.types[0] == "??->?" and "ll->?" in one.types:
        vector = other = "p"
        matrix = "q"
    elif one.__name__ == "ldexp":
        other = "j"
    samples = {
        "outer": (f"({vector}, {other})", f"({matrix}, {other})"),
        "reduce": (f"({vector})", f"({matrix}, axis=0)", f"({matrix}, axis=1, keepdims=True)"),
        "accumulate": (f"({vector})", f"({matrix}, axis=1)"),
        "reduceat": (f"({vector}, [0, 2, 4])", f"({matrix}, [0, 2], axis=1)"),
        "at": (f"y = {vector}.copy(); {name}.at(y, [0, 2, 2]{f', {other}[:3]' if one.nin == 2 else ''}); y",),
    }
    for method in methods_of(one):
        yield method, samples[method]


SAMPLES: dict[str, tuple[str, ...]] = {}
for _name, _one in _ufuncs().items():
    SAMPLES[f"np.{_name}"] = _calls(_one)
    if _name == _one.__name__:
        SAMPLES.update({f"np.{_name}.{method}": samples for method, samples in _methods(_one)})
SAMPLES = {name: samples for name, samples in SAMPLES.items() if samples}
SAMPLES["np.add.reduce"] += ("(a, axis=(0, 1))", "(a, axis=None)", "(v, initial=2.0)", "(a, where=q)", "(k, dtype=int)")
SAMPLES["np.add.at"] += (
    "y = v.copy(); np.add.at(y, j, 1); y",
    "y = a.copy(); np.add.at(y, (slice(None), [0, 0]), 1.0); y",
)
