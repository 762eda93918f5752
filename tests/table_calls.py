"""How each row of the op table is called in a random program: text, with operands that a grower finds.

`FORMS` has one entry for each row; rows without one in `_OWN` are called as their family is.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autojit.ops.chapters import TABLE
from tests.table_families import Form, axis_of, binary, option_dtype, outer, pick_axis, reduction, unary
from tests.table_more import HOST, INTERNAL, JOINING, LINALG
from tests.table_writes import VIEWS, WRITES

__all__ = ["FORMS", "VIEWS", "WRITES"]


# ---- single rows


def _like_of(text: str, **options: Any) -> Form:
    """A template: `{x}` is an array; `{y}` and `{z}` broadcast with it; `{n}` is a number."""

    def form(g: Any) -> str:
        x = g.array(**{"scalars": True, **options})
        names = {"x": x}
        for name in "yz":
            if "{" + name + "}" in text:
                names[name] = g.like(x)
        for name in "nm":
            if "{" + name + "}" in text:
                names[name] = g.number()
        return text.format(**names)

    return form


def _choice(*forms: Form) -> Form:
    return lambda g: g.random.choice(forms)(g)


def _where(g: Any) -> str:
    x = g.array(scalars=True)
    return f"np.where({g.like(x, 'bbbif', 0)}, {x}, {g.like(x)})"


def _round(g: Any) -> str:
    x = g.array(scalars=True)
    places = g.random.choice(["", "", ", 1", ", decimals=2", ", -1"])
    return g.random.choice([f"np.round({x}{places})", f"np.round({x}{places})", f"{x}.round({places[2:]})"])


def _astype(g: Any) -> str:
    x = g.array(scalars=True)
    kinds = "biufc" if np.asarray(g.value(x)).dtype.kind in "biu" else "fcfcib"
    order = g.random.choice(["", "", "", ", copy=False", ", order='F'", ", order='C'"])
    return f"{x}.astype({g.dtype(kinds)!r}{order if isinstance(g.value(x), np.ndarray) else ''})"


def _item(g: Any) -> str:
    x = g.array(good=lambda a: a.size == 1, shape=lambda: g.random.choice([(), (1,), (1, 1)]), scalars=True)
    return g.random.choice(
        [f"{x}.item()", f"float({x}.item())", f"int({x}.item())", f"bool({x}.item())", f"complex({x}.item())"]
    )


def _average(g: Any) -> str:
    x = g.array("iuf", (1, 3))
    if g.random.random() < 0.5:
        return f"np.average({x}{axis_of(g, x)})"
    weights = g.array("iuf", (1, 3), lambda a: a.shape == np.shape(g.value(x)), lambda: np.shape(g.value(x)))
    return f"np.average({x}, weights={weights}{axis_of(g, x)})"


def _diff(g: Any) -> str:
    x = g.array(ndim=(1, 3))
    options = g.random.choice(
        ["", f", axis={pick_axis(g, x)}", ", n=2", ", n=1", f", prepend={g.number('i')}", ", append=0"]
    )
    return f"np.diff({x}{options})"


def _trace(g: Any) -> str:
    x = g.array(ndim=(2, 3))
    offset = g.random.choice(["", ", 1", ", offset=-1"])
    return g.random.choice([f"np.trace({x}{offset})", f"{x}.trace({offset[2:]})"])


def _quantile(name: str) -> Form:
    most = 100 if "percentile" in name else 1

    def form(g: Any) -> str:
        x = g.array("iuf", (1, 3), lambda a: a.size > 0)
        q = g.random.choice([str(0.5 * most), str(0.25 * most), f"[0, {0.75 * most}]"])
        method = g.random.choice(
            ["", "", "", ", method='lower'", ", method='nearest'", ", method='midpoint'", ", method='hazen'"]
        )
        keep = g.random.choice(["", "", ", keepdims=True"])
        return f"{name}({x}, {q}{axis_of(g, x)}{method}{keep})"

    return form


def _sort(g: Any) -> str:
    x = g.array(ndim=(1, 3))
    return f"np.sort({x}{axis_of(g, x, many=False)}{g.random.choice(['', '', ', kind=' + repr('stable')])})"


def _argsort(g: Any) -> str:
    x = g.array(ndim=(1, 3))
    return f"np.argsort({x}{axis_of(g, x, many=False)}, kind='stable')"


def _places(g: Any, length: int, shape: tuple[int, ...], low: int | None = None) -> str:
    low = -length if low is None else low
    found = [g.random.randrange(low, length) for _ in range(int(np.prod(shape)))]
    made = np.array(found, g.random.choice(["int64", "int64", "int32", "int8"])).reshape(shape)
    if g.random.random() < 0.3 and shape:
        return str(made.tolist())
    return g.argument(made if shape or g.random.random() < 0.5 else int(made))


def _take(g: Any) -> str:
    x = g.array(ndim=(1, 3), good=lambda a: a.size > 0)
    axis = pick_axis(g, x)
    whole = g.random.random() < 0.3
    value = g.value(x)
    places = _places(g, value.size if whole else value.shape[axis], g.random.choice([(), (2,), (2, 2), (0,)]))
    mode = g.random.choice(["", "", ", mode='wrap'", ", mode='clip'"])
    where = "" if whole else f", axis={axis}"
    return g.random.choice([f"np.take({x}, {places}{where}{mode})", f"{x}.take({places}{where}{mode})"])


def _take_along(g: Any) -> str:
    x = g.array(ndim=(1, 3), good=lambda a: a.size > 0)
    value = g.value(x)
    axis = g.random.randrange(value.ndim)
    shape = tuple(2 if n == axis else length for n, length in enumerate(value.shape))
    found = np.array([g.random.randrange(value.shape[axis]) for _ in range(int(np.prod(shape)))]).reshape(shape)
    return f"np.take_along_axis({x}, {g.argument(found)}, axis={axis})"


def _choose(g: Any) -> str:
    x = g.array(good=lambda a: a.size > 0)
    shape = np.shape(g.value(x))
    places = np.array([g.random.randrange(2) for _ in range(int(np.prod(shape)))]).reshape(shape)
    mode = g.random.choice(["", ", mode='wrap'", ", mode='clip'"])
    return f"np.choose({g.argument(places)}, [{x}, {g.like(x)}]{mode})"


def _searchsorted(name: str) -> Form:
    def form(g: Any) -> str:
        bins = np.sort(g.numbers((g.random.choice([1, 3, 4]),), g.dtype("if")))
        bins = g.argument(bins, fixed=True)
        x = g.array("biuf", scalars=True)
        if name == "np.digitize":
            return f"np.digitize({x}, {bins}{g.random.choice(['', ', right=True'])})"
        return f"np.searchsorted({bins}, {x}{g.random.choice(['', ', side=' + repr('right')])})"

    return form


def _interp(g: Any) -> str:
    points = g.argument(np.array([0.0, 1.0, 2.5, 4.0]), fixed=True)
    values = g.array("if", (1, 1), lambda a: a.shape == (4,), lambda: (4,))
    return f"np.interp({g.array('iuf', scalars=True)}, {points}, {values}{g.random.choice(['', ', left=-1.0', ', right=0.5'])})"


def _shape_text(g: Any, ndim: int | None = None) -> str:
    return str(g.shape(ndim))


def _creation(name: str) -> Form:
    def form(g: Any) -> str:
        order = g.random.choice(["", "", "", ", order='F'"])
        if name.endswith("full"):
            return f"np.full({_shape_text(g)}, {g.number()}{option_dtype(g, 0.5, 'biufc')}{order})"
        return f"{name}({_shape_text(g)}{option_dtype(g, 0.6, 'biufc')}{order})"

    return form


def _creation_like(name: str) -> Form:
    def form(g: Any) -> str:
        x = g.array(scalars=True)
        fill = f", {g.number()}" if "full" in name else ""
        shape = f", shape={_shape_text(g)}" if g.random.random() < 0.15 else ""
        order = g.random.choice(["", "", "", ", order='F'", ", order='C'"])
        return f"{name}({x}{fill}{option_dtype(g, 0.3, 'biufc')}{shape}{order})"

    return form


def _empty(name: str) -> Form:
    def form(g: Any) -> str:
        made = _creation_like(name)(g) if name.endswith("like") else _creation(name)(g)
        # Its contents mean nothing.
        return g.random.choice(
            [f"{made}.shape", f"({made} * 0 == 0) | True" if "complex" not in made else f"{made}.size"]
        )

    return form


def _arange(g: Any) -> str:
    return f"np.arange({g.random.choice(['4', '1, 5', '0, 3, 0.5', '5, 0, -2', '3.0', '0', '2, 8, 3'])}{option_dtype(g, 0.3, 'if')})"


def _linspace(g: Any) -> str:
    ends = g.random.choice(["0, 1", "-1.0, 3", f"0, {g.number('f')}", f"{g.array('f', (0, 1), scalars=True)}, 2.0"])
    more = g.random.choice(["", ", 5", ", num=3, endpoint=False", ", 4, dtype=int", ", 3, retstep=True", ", 1"])
    return f"np.linspace({ends}{more})"


def _meshgrid(g: Any) -> str:
    x, y = (g.array(ndim=(0, 1), good=lambda a: a.size < 6) for _ in range(2))
    options = g.random.choice(["", ", indexing='ij'", ", sparse=True", ", copy=False"])
    return f"np.meshgrid({x}, {y}{options})"


def _matrices(name: str) -> Form:
    """A product of vectors or matrices that fit."""

    def form(g: Any) -> str:
        x = g.array(ndim=(1, 3))
        value = g.value(x)
        low = 1 if name != "np.dot" else 0
        if name in ("np.inner", "np.vecdot"):
            y = g.array(
                ndim=(1, 2), good=lambda a: a.shape[-1] == value.shape[-1], shape=lambda: (g.sides[0], value.shape[-1])
            )
        else:
            y = g.array(
                ndim=(low, 2),
                good=lambda a: a.ndim == 0 or a.shape[max(a.ndim - 2, 0)] == value.shape[-1],
                shape=lambda: g.random.choice([(value.shape[-1],), (value.shape[-1], g.sides[0])]),
            )
        if name == "np.matmul" and g.random.random() < 0.6:
            return f"({x} @ {y})"
        if name == "np.dot" and g.random.random() < 0.3:
            return f"{x}.dot({y})"
        return f"{name}({x}, {y})"

    return form


def _vdot(g: Any) -> str:
    x = g.array(ndim=(1, 2))
    size = np.size(g.value(x))
    return f"np.vdot({x}, {g.array(ndim=(1, 2), good=lambda a: a.size == size, shape=lambda: np.shape(g.value(x)))})"


def _small_pair(text: str, ndim: tuple[int, int], kinds: str = "biufc") -> Form:
    def form(g: Any) -> str:
        x, y = (g.array(kinds, ndim, lambda a: 0 < a.size < 13) for _ in range(2))
        return text.format(x=x, y=y, mode=g.random.choice(["", ", 'same'", ", mode='valid'", ", 'full'"]))

    return form


def _tensordot(g: Any) -> str:
    x = g.array(ndim=(1, 3))
    shape = np.shape(g.value(x))
    y = g.array(ndim=(1, 3), good=lambda a: a.shape[:1] == shape[-1:], shape=lambda: (shape[-1], 2))
    return f"np.tensordot({x}, {y}, {g.random.choice(['axes=1', '1', 'axes=([-1], [0])', '0' if len(shape) < 2 else '1'])})"


def _cross(g: Any) -> str:
    def three(a: Any) -> bool:
        return a.shape[-1] == 3

    x, y = (g.array("iuf", (1, 2), three, lambda: g.random.choice([(3,), (2, 3)])) for _ in range(2))
    return f"np.cross({x}, {y})"


def _einsum(g: Any) -> str:
    kind = g.random.randrange(5)
    if kind == 0:
        x = g.array(ndim=(2, 2))
        return f"np.einsum('{g.random.choice(['ij->ji', 'ij->', 'ij->i', 'ij->j', 'ij'])}', {x})"
    if kind == 1:
        x = g.array(ndim=(2, 2), good=lambda a: a.shape[0] == a.shape[1], shape=lambda: (3, 3))
        return f"np.einsum('{g.random.choice(['ii->i', 'ii', 'ii->'])}', {x})"
    if kind == 2:
        x = g.array(ndim=(1, 1))
        shape = np.shape(g.value(x))
        y = g.array(ndim=(1, 1), good=lambda a: a.shape == shape, shape=lambda: shape)
        return f"np.einsum('{g.random.choice(['i,i->', 'i,i->i', 'i,j->ij', 'i,i'])}', {x}, {y})"
    x = g.array(ndim=(2, 2))
    shape = np.shape(g.value(x))
    y = g.array(ndim=(2, 2), good=lambda a: a.shape[0] == shape[1], shape=lambda: (shape[1], 2))
    return f"np.einsum('{g.random.choice(['ij,jk->ik', 'ij,jk', '...j,jk->...k', 'ij,jk->ki', 'ij,jk->'])}', {x}, {y})"


def _fft(name: str) -> Form:
    several = name.endswith(("2", "n"))
    real = "rfft" in name and "irfft" not in name or "ihfft" in name

    def form(g: Any) -> str:
        x = g.array("biuf" if real else "biufc", (2 if name.endswith("2") else 1, 3), lambda a: a.size > 0)
        options = g.random.choice(["", "", ", norm='ortho'", ", norm='forward'"])
        if not several:
            options += g.random.choice(["", ", n=4", f", axis={pick_axis(g, x)}"])
        return f"{name}({x}{options})"

    return form


_OWN: dict[str, Form] = {
    "np.where": _where,
    "np.real": _choice(_like_of("{x}.real"), _like_of("np.real({x})")),
    "np.imag": _choice(_like_of("{x}.imag"), _like_of("np.imag({x})")),
    "np.angle": _choice(_like_of("np.angle({x})"), _like_of("np.angle({x}, deg=True)")),
    **{f"np.{name}": _like_of(f"np.{name}({{x}})") for name in "isreal iscomplex isposinf isneginf sinc fix".split()},
    "np.nan_to_num": _choice(_like_of("np.nan_to_num({x})"), _like_of("np.nan_to_num({x}, nan={n}, posinf=3.0)")),
    "np.isclose": _choice(_like_of("np.isclose({x}, {y})"), _like_of("np.isclose({x}, {y}, equal_nan=True, atol=0.5)")),
    "np.round": _round,
    "np.clip": _choice(
        _like_of("np.clip({x}, {y}, {z})"),
        _like_of("np.clip({x}, {n}, {m})"),
        _like_of("{x}.clip({n})"),
        _like_of("np.clip({x}, None, {m})"),
        _like_of("np.clip({x}, min={n})"),
    ),
    "astype": _astype,
    "item": _item,
    "np.average": _average,
    "np.diff": _diff,
    "np.trace": _trace,
    "np.percentile": _quantile("np.percentile"),
    "np.quantile": _quantile("np.quantile"),
    "np.sort": _sort,
    "np.argsort": _argsort,
    "np.take": _take,
    "np.take_along_axis": _take_along,
    "np.choose": _choose,
    "np.searchsorted": _searchsorted("np.searchsorted"),
    "np.digitize": _searchsorted("np.digitize"),
    "np.interp": _interp,
    **{f"np.{name}": _creation(f"np.{name}") for name in "zeros ones full".split()},
    **{f"np.{name}_like": _creation_like(f"np.{name}_like") for name in "zeros ones full".split()},
    "np.empty": _empty("np.empty"),
    "np.empty_like": _empty("np.empty_like"),
    "np.eye": lambda g: (
        f"np.eye({g.sides[0]}, {g.random.choice(['None', '2', '4'])}, k={g.random.choice([0, 1, -1])}{option_dtype(g)})"
    ),
    "np.identity": lambda g: f"np.identity({g.sides[0]}{option_dtype(g, 0.3)})",
    "np.tri": lambda g: f"np.tri({g.sides[0]}, {g.sides[1]}, {g.random.choice([0, 1, -1])}{option_dtype(g, 0.3)})",
    "np.arange": _arange,
    "np.linspace": _linspace,
    "np.mgrid": lambda g: g.random.choice(["np.mgrid[0:3]", "np.mgrid[0:2, 1:4]", "np.mgrid[0:1:3j, 0:2]"]),
    "np.ogrid": lambda g: g.random.choice(["np.ogrid[0:3]", "np.ogrid[0:2, 1:4]"]),
    "np.indices": lambda g: (
        f"np.indices({(g.sides[0], 2)}{g.random.choice(['', ', dtype=np.float32', ', sparse=True'])})"
    ),
    "np.tril_indices": lambda g: f"np.tril_indices({g.sides[0]}, {g.random.choice([0, 1, -1])})",
    "np.triu_indices": lambda g: f"np.triu_indices({g.sides[0]}, {g.random.choice([0, 1, -1])})",
    "np.meshgrid": _meshgrid,
    **{f"np.{name}": _matrices(f"np.{name}") for name in "dot matmul vecdot inner".split()},
    "np.vdot": _vdot,
    "np.outer": _small_pair("np.outer({x}, {y})", (1, 2)),
    "np.kron": _small_pair("np.kron({x}, {y})", (1, 2)),
    "np.convolve": _small_pair("np.convolve({x}, {y}{mode})", (1, 1)),
    "np.correlate": _small_pair("np.correlate({x}, {y}{mode})", (1, 1)),
    "np.tensordot": _tensordot,
    "np.cross": _cross,
    "np.einsum": _einsum,
    **{name: _fft(name) for name in TABLE.rows if name.startswith("np.fft.")},
    **JOINING,
    **LINALG,
    **HOST,
    **INTERNAL,
}

#: Rows that no call names: what other forms become.
UNNAMED = frozenset("leave_if rounded normal uncontracted as_scalar sum_and_count py_not each_number".split())


def _form(name: str) -> Form | None:
    row = TABLE[name]
    if name in _OWN:
        return _OWN[name]
    if name.endswith(".outer"):
        return outer(name)
    if row.family == "elementwise" and isinstance(getattr(np, name.removeprefix("np."), None), np.ufunc):
        return unary(name) if len(row.operands) == 1 else binary(name)
    if row.family == "reduction" and name.startswith("np."):
        return reduction(name)
    return None


#: The form of each row.
FORMS: dict[str, Form] = {name: form for name in TABLE.rows if (form := _form(name)) is not None}
