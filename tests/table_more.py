"""How rows are called in a random program, continued: joining, linear algebra, the host's rows, scalars."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autojit.ops.chapters import TABLE
from tests.table_writes import any_index

Form = Callable[[Any], str]


def _axis(g: Any, x: str) -> int:
    ndim = np.ndim(g.value(x))
    return g.random.randrange(-ndim, ndim)


# ---- joining, repeating, selecting


def _joined(name: str, low: int) -> Form:
    def form(g: Any) -> str:
        x = g.array(ndim=(low, 3))
        shape = np.shape(g.value(x))
        parts = [
            x,
            *(
                g.array(ndim=(low, 3), good=lambda a: a.shape == shape, shape=lambda: shape)
                for _ in range(g.random.choice([1, 1, 2]))
            ),
        ]
        g.random.shuffle(parts)
        axis = (
            f", axis={_axis(g, x)}"
            if name in ("np.concatenate", "np.stack") and shape and g.random.random() < 0.6
            else ""
        )
        brackets = g.random.choice(["[{}]", "({})"])
        return f"{name}({brackets.format(', '.join(parts))}{axis})"

    return form


def _tile(g: Any) -> str:
    return f"np.tile({g.array(scalars=True)}, {g.random.choice(['2', '(2, 1)', '(1, 2)', '0', '(2, 1, 1)'])})"


def _repeat(g: Any) -> str:
    x = g.array(ndim=(0, 3))
    axis = f", axis={_axis(g, x)}" if np.ndim(g.value(x)) and g.random.random() < 0.6 else ""
    return g.random.choice([f"np.repeat({x}, 2{axis})", f"{x}.repeat({g.random.choice([0, 1, 3])}{axis})"])


def _roll(g: Any) -> str:
    x = g.array(ndim=(0, 3))
    if np.ndim(g.value(x)) > 1 and g.random.random() < 0.3:
        return f"np.roll({x}, (1, -2), axis=(0, 1))"
    axis = f", axis={_axis(g, x)}" if np.ndim(g.value(x)) and g.random.random() < 0.6 else ""
    return f"np.roll({x}, {g.random.choice([1, -1, 2, 7, 0])}{axis})"


def _append(g: Any) -> str:
    x = g.array(ndim=(0, 3))
    if g.random.random() < 0.5 or not np.ndim(g.value(x)):
        return f"np.append({x}, {g.like(x)})"
    shape = np.shape(g.value(x))
    return f"np.append({x}, {g.array(ndim=(1, 3), good=lambda a: a.shape == shape, shape=lambda: shape)}, axis={_axis(g, x)})"


def _triangle(name: str) -> Form:
    return lambda g: f"{name}({g.array(ndim=(1 if 'diag' in name else 2, 2))}{g.random.choice(['', ', 1', ', k=-1'])})"


def _pad(g: Any) -> str:
    x = g.array(ndim=(1, 3))
    width = g.random.choice(["1", "(1, 2)", "0", "((1, 0),)"])
    mode = g.random.choice(
        ["", "", ", constant_values=3", ", mode='edge'", ", mode='reflect'", ", mode='symmetric'", ", mode='wrap'"]
    )
    return f"np.pad({x}, {width}{mode})"


def _delete(g: Any) -> str:
    x = g.array(ndim=(1, 3), good=lambda a: a.size > 0)
    axis = g.random.randrange(np.ndim(g.value(x)))
    return f"np.delete({x}, {g.random.choice(['0', '-1', '[0]', 'slice(0, 2)', '[0, 0, -1]'])}, axis={axis})"


def _insert(g: Any) -> str:
    x = g.array(ndim=(1, 3), good=lambda a: a.size > 0)
    axis = g.random.choice(["", ", axis=0", ", axis=-1"])
    return f"np.insert({x}, {g.random.choice(['0', '1', '-1', '[0, 1]', 'slice(0, 1)'])}, {g.number('if')}{axis})"


def _select(g: Any) -> str:
    x = g.array()
    first, second = g.like(x, "b", 0), g.like(x, "b", 0)
    return f"np.select([{first}, {second}], [{x}, {g.like(x)}]{g.random.choice(['', f', default={g.number()}'])})"


def _unravel(g: Any) -> str:
    shape = (2, g.sides[0])
    places = np.array([g.random.randrange(2 * g.sides[0]) for _ in range(3)])
    return f"np.unravel_index({g.random.choice([g.argument(places), str(int(places[0]))])}, {shape})"


def _ravel_multi(g: Any) -> str:
    first, second = (g.argument(np.array([g.random.randrange(n) for _ in range(3)])) for n in (2, g.sides[0]))
    mode = g.random.choice(["", "", ", mode='clip'", ", mode='wrap'"])
    return f"np.ravel_multi_index(({first}, {second}), {(2, g.sides[0])}{mode})"


JOINING: dict[str, Form] = {
    "np.concatenate": _joined("np.concatenate", 1),
    "np.stack": _joined("np.stack", 0),
    "np.hstack": _joined("np.hstack", 0),
    "np.vstack": _joined("np.vstack", 0),
    "np.dstack": _joined("np.dstack", 0),
    "np.column_stack": _joined("np.column_stack", 1),
    "pack": lambda g: (
        f"np.array([{g.number()}, {g.array(ndim=(1, 2), good=lambda a: a.size > 0)}.flat[0], {g.number()}])"
    ),
    "np.tile": _tile,
    "np.repeat": _repeat,
    "np.roll": _roll,
    "np.append": _append,
    "np.diag": _triangle("np.diag"),
    "np.diagflat": _triangle("np.diagflat"),
    "np.tril": _triangle("np.tril"),
    "np.triu": _triangle("np.triu"),
    "np.pad": _pad,
    "np.delete": _delete,
    "np.insert": _insert,
    "np.select": _select,
    "np.unravel_index": _unravel,
    "np.ravel_multi_index": _ravel_multi,
    "np.copy": lambda g: g.random.choice(
        ["np.copy({})", "{}.copy()", "{}.copy(order='F')", "np.array({})", "np.array({}, copy=False)"]
    ).format(g.array()),
}


# ---- linear algebra


def _square(g: Any, kinds: str = "biuf") -> str:
    """A matrix that is not singular: dominated by its diagonal."""
    side = g.random.choice([1, 2, 3, g.sides[0]])
    made = g.numbers(g.random.choice([(side, side), (side, side), (2, side, side)]), g.dtype(kinds.replace("b", "")))
    small = np.nan_to_num(made.astype(complex if made.dtype.kind == "c" else float), nan=1, posinf=1, neginf=1)
    small = np.clip(small.real, 0, 8) + (1j * np.clip(small.imag, -4, 4) if made.dtype.kind == "c" else 0)
    made = (small + 10 * side * np.eye(side)).astype(made.dtype)
    return g.argument(made, fixed=True)


def _solve(g: Any) -> str:
    a = _square(g, "iufc")
    side = np.shape(g.value(a))[-1]
    return f"np.linalg.solve({a}, {g.array('iufc', (1, 2), lambda b: b.shape[:1] == (side,) and b.size > 0, lambda: g.random.choice([(side,), (side, 2)]))})"


def _positive(g: Any) -> str:
    a = _square(g, "f")
    return f"({a} + np.swapaxes({a}, -1, -2))"


def _on_square(text: str, kinds: str = "iufc") -> Form:
    return lambda g: text.format(x=_square(g, kinds))


def _matrix(text: str) -> Form:
    return lambda g: text.format(x=g.array("iuf", (2, 2), lambda a: a.size > 0 and bool(np.all(np.isfinite(a)))))


def _norm(g: Any) -> str:
    x = g.array("biufc", (1, 3))
    ndim = np.ndim(g.value(x))
    options = [""]
    if ndim == 1:
        options += [", 1", ", np.inf", ", 0", ", ord=3", ", -np.inf"]
    if ndim == 2:
        options += [", 'fro'", ", 1", ", np.inf", ", ord=-1"]
    options += [f", axis={_axis(g, x)}", f", axis={_axis(g, x)}, keepdims=True", f", 1, axis={_axis(g, x)}"]
    return f"np.linalg.norm({x}{g.random.choice(options)})"


LINALG: dict[str, Form] = {
    "np.linalg.solve": _solve,
    "np.linalg.inv": _on_square("np.linalg.inv({x})"),
    "np.linalg.det": _on_square("np.linalg.det({x})"),
    "np.linalg.slogdet": _on_square("np.linalg.slogdet({x})"),
    "np.linalg.cholesky": lambda g: f"np.linalg.cholesky({_positive(g)})",
    "np.linalg.qr": _on_square("np.linalg.qr({x})", "f"),
    "np.linalg.eigvalsh": lambda g: f"np.linalg.eigvalsh({_positive(g)})",
    "np.linalg.svdvals": _matrix("np.linalg.svdvals({x})"),
    "np.linalg.pinv": _on_square("np.linalg.pinv({x})", "f"),
    "np.linalg.cond": _on_square("np.linalg.cond({x})", "f"),
    "np.linalg.norm": _norm,
    "np.linalg.matrix_power": lambda g: (
        f"np.linalg.matrix_power({_square(g, 'if')}, {g.random.choice([0, 1, 2, 3, -1])})"
    ),
    "np.linalg.multi_dot": lambda g: (lambda a: f"np.linalg.multi_dot([{a}, {a}.T, {a}])")(g.array("if", (2, 2))),
    "np.linalg.svd": _matrix("np.linalg.svd({x}, compute_uv=False)"),
    "np.linalg.eigh": lambda g: f"np.linalg.eigh({_positive(g)})[0]",
    "np.linalg.eig": lambda g: f"np.linalg.eig({_positive(g)})[0]",
    "np.linalg.eigvals": lambda g: f"np.linalg.eigvals({_positive(g)})",
    "np.linalg.lstsq": lambda g: f"np.linalg.lstsq({_square(g, 'f')}, {g.array('f', (1, 2))}, rcond=None)[0]",
    "np.linalg.matrix_rank": _on_square("np.linalg.matrix_rank({x})", "if"),
}


# ---- rows of the host


def _one(text: str, kinds: str = "biuf", ndim: tuple[int, int] = (1, 2), least: int = 0) -> Form:
    def form(g: Any) -> str:
        x = g.array(kinds, ndim, lambda a: a.size >= least and (a.dtype.kind not in "fc" or not np.isnan(a).any()))
        return text.format(x=x, axis=f", axis={_axis(g, x)}" if g.random.random() < 0.5 else "")

    return form


def _two(text: str) -> Form:
    return lambda g: text.format(x=g.array("biuf", (1, 2)), y=g.array("biuf", (1, 2)))


def _whole(text: str) -> Form:
    """Of small integers that are not negative."""
    return lambda g: text.format(
        x=g.array("u", (1, 1), lambda a: a.size == 0 or int(a.max()) < 50 and a.dtype != np.uint64)
    )


def _compress(g: Any) -> str:
    x = g.array(ndim=(1, 3), good=lambda a: a.size > 0)
    axis = g.random.randrange(np.ndim(g.value(x)))
    length = np.shape(g.value(x))[axis]
    mask = g.array("b", (1, 1), lambda a: a.shape == (length,), lambda: (length,))
    return g.random.choice([f"np.compress({mask}, {x}, axis={axis})", f"{x}.compress({mask}, axis={axis})"])


def _masked(text: str) -> Form:
    def form(g: Any) -> str:
        x = g.array(ndim=(1, 3))
        shape = np.shape(g.value(x))
        return text.format(x=x, m=g.array("b", (1, 3), lambda a: a.shape == shape, lambda: shape), n=g.number("if"))

    return form


def _unique(g: Any) -> str:
    x = g.array("biuf", (1, 2), lambda a: a.dtype.kind != "f" or not np.isnan(a).any())
    return f"np.unique({x}{g.random.choice(['', '', ', return_counts=True', ', return_inverse=True', ', axis=0'])})"


HOST: dict[str, Form] = {
    "np.nanmedian": _one("np.nanmedian({x}{axis})", "if", least=1),
    "np.nanpercentile": _one("np.nanpercentile({x}, 30{axis})", "if", least=1),
    "np.nanquantile": _one("np.nanquantile({x}, [0.5, 0.25]{axis})", "if", least=1),
    "np.histogram": lambda g: (
        _one("np.histogram({x}, bins=4, range=(-3.0, 5.0))", "iuf")(g)
        if g.random.random() < 0.7
        else _one("np.histogram({x}, 3)", "if")(g)
    ),
    "np.bincount": _whole("np.bincount({x}, minlength=3)"),
    "np.unique": _unique,
    "np.flatnonzero": _one("np.flatnonzero({x})", "biufc"),
    "np.argwhere": _one("np.argwhere({x})", "biufc"),
    "np.compress": _compress,
    "compress": _compress,
    "np.extract": _masked("np.extract({m}, {x})"),
    "np.isin": _two("np.isin({x}, {y})"),
    "np.intersect1d": _two("np.intersect1d({x}, {y})"),
    "np.union1d": _two("np.union1d({x}, {y})"),
    "np.setdiff1d": _two("np.setdiff1d({x}, {y})"),
    "np.setxor1d": _two("np.setxor1d({x}, {y})"),
    "np.partition": _one("np.partition({x}, 0{axis})", "iuf", least=1),
    "np.argpartition": _one("np.argpartition({x}, 0{axis})", "iuf", least=1),
    "np.lexsort": lambda g: (lambda a: f"np.lexsort([{a}, {a}])")(g.array("iuf", (1, 1))),
    "np.polyfit": lambda g: (
        f"np.polyfit(np.arange(5.0), {g.array('f', (1, 1), lambda a: a.shape == (5,) and bool(np.isfinite(a).all()), lambda: (5,))}, 1)"
    ),
    "np.roots": lambda g: "np.roots([1.0, -3.0, 2.0])",
    "np.packbits": _one("np.packbits({x})", "b"),
    "np.unpackbits": lambda g: f"np.unpackbits({g.array('u', (1, 2), lambda a: a.dtype == np.uint8 and a.size < 9)})",
    "np.i0": _one("np.i0({x})", "f"),
    "byteswap": _one("{x}.byteswap()", "iu"),
    "np.geomspace": lambda g: "np.geomspace(1.0, 8.0, 4)",
}


# ---- Python's numbers, branches, loops, indexing


def _scalar(g: Any, kind: str) -> str:
    """A Python number that the data gives."""
    x = g.array("iuf" if kind == "float" else "iu" if kind == "int" else "biuf", (1, 2), lambda a: a.size > 0)
    ndim = np.ndim(g.value(x))
    text = g.random.choice([f"{kind}({x}[{', '.join(['0'] * ndim)}])", f"{kind}({x}.max())", f"{x}.min().item()"])
    return text


def _python(symbol: str, kind: str) -> Form:
    def form(g: Any) -> str:
        x = _scalar(g, kind)
        y = _scalar(g, kind) if g.random.random() < 0.4 else g.number("i" if kind == "int" else "if")
        return f"({x} {symbol} {y})" if g.random.random() < 0.7 else f"({y} {symbol} {x})"

    return form


_PYTHON = {
    "py_add": ("+", "float"), "py_subtract": ("-", "float"), "py_multiply": ("*", "float"), "py_divide": ("/", "float"),
    "py_int_add": ("+", "int"), "py_int_subtract": ("-", "int"), "py_int_multiply": ("*", "int"),
    "py_floor_divide": ("//", "int"), "py_modulo": ("%", "int"), "py_left_shift": ("<<", "int"),
    "py_right_shift": (">>", "int"), "py_and": ("&", "int"), "py_or": ("|", "int"), "py_xor": ("^", "int"),
    "py_less": ("<", "float"), "py_less_equal": ("<=", "int"), "py_greater": (">", "int"),
    "py_greater_equal": (">=", "float"), "py_equal": ("==", "int"), "py_not_equal": ("!=", "float"),
}  # fmt: skip


def _getitem(g: Any) -> str:
    x = g.array(ndim=(0, 4))
    return f"{x}[{any_index(g, x)}]"


def _branch(g: Any) -> str:
    x = g.array("iuf", (0, 2), lambda a: a.size > 0)
    y = g.array()
    return f"({y} if {x}.max() > {g.number('if')} else {g.random.choice([f'{y} * 2', f'{y}.T', f'{y} + 1', y])})"


def _comprehension(g: Any) -> str:
    x = g.array(ndim=(1, 2), good=lambda a: 0 < len(a) < 6)
    return g.random.choice(
        [f"np.array([row * 2 for row in {x}])", f"sum(row for row in {x})", f"[row + 1 for row in {x}]"]
    )


def _math(name: str) -> Form:
    count = len(TABLE[name].operands)
    return lambda g: f"{name}({', '.join(_scalar(g, g.random.choice(['float', 'int'])) for _ in range(count))})"


INTERNAL: dict[str, Form] = {
    **{name: _python(*parts) for name, parts in _PYTHON.items()},
    "py_negative": lambda g: f"(-{_scalar(g, 'float')})",
    "py_invert": lambda g: f"(~{_scalar(g, 'int')})",
    "py_absolute": lambda g: f"abs({_scalar(g, 'float')})",
    **{name: _math(name) for name in TABLE.rows if name.startswith("math.")},
    "item_float": lambda g: _scalar(g, "float"),
    "item_int": lambda g: _scalar(g, "int"),
    "item_bool": lambda g: _scalar(g, "bool"),
    "item_complex": lambda g: f"complex({g.array('iuf', (1, 2), lambda a: a.size > 0)}.flat[0])",
    "getitem": _getitem,
    "select": _branch,
    "loop": _comprehension,
    "np.transpose": lambda g: f"np.transpose({g.array()})",
    "np.reshape": lambda g: f"np.reshape({g.array()}, {g.random.choice(['-1', '(-1, 1)', '(1, -1)'])})",
    "np.broadcast_to": lambda g: (lambda x: f"np.broadcast_to({x}, (2, *{x}.shape))")(g.array()),
    "np.lib.stride_tricks.sliding_window_view": lambda g: (
        f"np.lib.stride_tricks.sliding_window_view({g.array(ndim=(1, 3), good=lambda a: len(a) > 1)}, 2, axis=0)"
    ),
    **{
        f"np.{name}": lambda g, name=name: f"np.{name}({g.sides[0]})"
        for name in ("hanning", "hamming", "blackman", "bartlett")
    },
    "np.kaiser": lambda g: f"np.kaiser({g.sides[0]}, 14.0)",
    "np.diagonal": lambda g: f"np.diagonal({g.array(ndim=(2, 3))}{g.random.choice(['', ', 1', ', -1'])})",
}
