"""Indices, views and writes of random programs over the op table, as text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Form = Callable[[Any], str]


def _axis(g: Any, x: str) -> int:
    ndim = np.ndim(g.value(x))
    return g.random.randrange(-ndim, ndim)


def basic_index(g: Any, shape: tuple[int, ...]) -> str:
    """What stands between the brackets of a basic index."""
    parts = []
    for length in shape[: g.random.randint(0, len(shape))]:
        number = str(g.random.randrange(-length, length)) if length else ":"
        parts.append(g.random.choice([":", "1:", ":-1", "::2", "::-1", "::-2", number, number, ":2", "-2:"]))
    if g.random.random() < 0.15:
        parts.insert(g.random.randint(0, len(parts)), "None")
    if g.random.random() < 0.15 or not parts:
        parts.append("...")
    return ", ".join(parts)


def any_index(g: Any, x: str) -> str:
    """A basic index, a mask, or places."""
    shape = np.shape(g.value(x))
    roll = g.random.random()
    if roll < 0.5 or not shape:
        return basic_index(g, shape)
    if roll < 0.75:
        ndim = g.random.randint(1, len(shape))
        return g.array("b", (1, 3), lambda a: a.shape == shape[:ndim], lambda: shape[:ndim])
    if not shape[0]:
        return ":"
    places = [g.random.randrange(-shape[0], shape[0]) for _ in range(2)]
    index = str(places) if g.random.random() < 0.5 else g.argument(np.array(places))
    return g.random.choice([index, index, f"{index}, ...", f"..., {index}" if shape[-1:] == shape[:1] else index])


# ---- views of an expression: `(grower, text) -> text`


def _reshape_view(g: Any, x: str) -> str:
    shape = np.shape(g.value(x))
    order = g.random.choice(["", "", "", ", order='F'", ", order='A'"])
    return (
        f"{x}.reshape({g.random.choice([shape[::-1], (-1,), (1, *shape), (*shape, 1), (int(np.prod(shape)),)])}{order})"
    )


def _subscripts(shape: tuple[int, ...]) -> str:
    # NumPy reads beyond the end of an array of shape (0, 1).
    return "ii->i" if len(shape) == 2 and shape[0] == shape[1] else "ij->ji"


def _permuted(g: Any, x: str) -> str:
    order = list(range(np.ndim(g.value(x))))
    g.random.shuffle(order)
    return f"{x}.transpose({tuple(order)})"


def _template(*texts: str) -> Callable[[Any, str], str]:
    return lambda g, x: g.random.choice(texts).format(x=x)


VIEWS: list[Callable[[Any, str], str]] = [
    *[lambda g, x: f"{x}[{basic_index(g, np.shape(g.value(x)))}]"] * 6,
    *[_template("{x}.T", "{x}[::-1]", "{x}[...]", "{x}[None]", "{x}[..., None]")] * 3,
    *[_reshape_view] * 3,
    _permuted,
    _template("{x}.ravel()", "np.ravel({x})", "{x}.ravel('F')", "{x}.ravel('K')", "{x}.flatten()", "{x}.flatten('F')"),
    _template("{x}.real", "{x}.imag", "np.real({x})", "np.imag({x})", "{x}.real[...]"),
    _template("np.diagonal({x})", "{x}.diagonal(1)", "np.diag({x})"),
    lambda g, x: f"np.einsum('{_subscripts(np.shape(g.value(x)))}', {x})",
    _template("np.swapaxes({x}, 0, -1)", "np.moveaxis({x}, 0, -1)", "np.rollaxis({x}, -1)", "{x}.swapaxes(0, -1)", "np.matrix_transpose({x})", "{x}.mT"),
    _template("np.flip({x})", "np.flipud({x})", "np.fliplr({x})", "np.rot90({x})", "np.flip({x}, -1)", "np.rot90({x}, 2)"),
    _template("np.expand_dims({x}, 0)", "np.squeeze({x})", "{x}.squeeze()", "np.atleast_1d({x})", "np.atleast_2d({x})", "np.atleast_3d({x})"),
    _template("np.asarray({x})", "np.ascontiguousarray({x})", "np.asanyarray({x})", "np.array({x}, copy=None)", "np.asfortranarray({x})", "{x}.view()"),
    _template("np.broadcast_to({x}, {x}.shape)", "np.broadcast_to({x}, (2, *{x}.shape))"),
    _template("np.split({x}, [1])[1]", "np.array_split({x}, 2)[0]", "np.hsplit({x}, [1])[0]", "np.vsplit({x}, [1])[-1]"),
    _template("{x}.astype({x}.dtype, copy=False)", "np.lib.stride_tricks.sliding_window_view({x}, 2)", "{x}.conj()"),
]  # fmt: skip


# ---- writes: statements


def _target(g: Any, kinds: str = "biufc", ndim: tuple[int, int] = (0, 3)) -> str:
    """A variable to write to, now and then a read-only one."""
    known = [
        name
        for name, value in g.env.items()
        if isinstance(value, np.ndarray)
        and g.fits(value, kinds, *ndim)
        and (value.flags.writeable or g.random.random() < 0.03)
        and name not in g.fixed
    ]
    if not known or g.random.random() < 0.1 and len(g.values) < 6:
        name = g.new_array(g.shape(g.random.randint(*ndim)), g.dtype(kinds))
        if not g.env[name].flags.writeable:
            raise LookupError
        return name
    return g.random.choice(known)


def _sources(g: Any, x: str) -> str:
    """The kinds that may be assigned without a warning."""
    kind = g.value(x).dtype.kind
    return {"b": "b", "i": "biu", "u": "biu", "f": "biuf", "c": "biufc"}[kind]


def _values(g: Any, x: str, index: str, python: float) -> str:
    """Values for `x[index]`.

    Raises:
        LookupError: There are several, and a mask in `x` itself says where they go: NumPy writes while it reads the mask, and
            reads wild memory when more of it becomes true.
    """
    text = g.like(f"{x}[{index}]", _sources(g, x), python)
    try:
        mask = np.asarray(g.value(index))
    except SyntaxError:  # a slice
        return text
    if mask.dtype == np.bool_ and np.size(g.value(text)) > 1 and np.shares_memory(mask, g.value(x)):
        raise LookupError
    return text


def _assign(g: Any) -> str:
    x = _target(g)
    index = any_index(g, x)
    return f"{x}[{index}] = {_values(g, x, index, 0.3)}"


def _update(g: Any) -> str:
    x = _target(g)
    kind = g.value(x).dtype.kind
    symbols = {
        "b": ["|", "&", "^"],
        "i": ["+", "*", "-", "//", "%", "&", "|", "<<", ">>"],
        "u": ["+", "*", "//", "^", "%"],
    }
    symbol = g.random.choice(symbols.get(kind, ["+", "-", "*", "/", "+", "*", "**"]))
    if g.random.random() < 0.4:
        return f"{x} {symbol}= {g.like(x, _sources(g, x), 0.4)}"
    index = any_index(g, x)
    return f"{x}[{index}] {symbol}= {_values(g, x, index, 0.4)}"


def _view_write(g: Any) -> str:
    x = _target(g, ndim=(1, 3))
    text = g.random.choice(VIEWS)(g, x)
    # A view of a view: the parts of the tree that make memory of their own write to nothing.
    name = g.fresh()
    value = g.value(text)
    if not isinstance(value, np.ndarray) or not value.flags.writeable:
        raise LookupError
    g.env[name] = value
    index = basic_index(g, value.shape)
    symbol = g.random.choice(["", "", "+", "*"]) if value.dtype.kind != "b" else ""
    right = g.like(f"{name}[{index}]", _sources(g, name), 0.4)
    del g.env[name]
    return f"{name} = {text}\n{name}[{index}] {symbol}= {right}"


_OUT_UNARY = "negative absolute square sqrt exp floor sign conjugate logical_not isnan rint positive".split()
_OUT_BINARY = "add subtract multiply maximum minimum divide less logical_and equal fmod copysign hypot".split()


def _out(g: Any) -> str:
    target = _target(g)
    shape = g.value(target).shape
    kinds = {"b": "biuf", "i": "bi", "u": "bu", "f": "biuf", "c": "biufc"}[g.value(target).dtype.kind]
    mask = f", where={g.like(target, 'b', 0)}" if g.random.random() < 0.35 else ""
    casting = ", casting='unsafe'" if g.random.random() < 0.1 else ""

    def operand() -> str:
        def good(a: Any) -> bool:
            return a.ndim <= len(shape) and all(n in (1, m) for n, m in zip(a.shape[::-1], shape[::-1]))

        return g.array(kinds, (0, 3), good, lambda: shape, scalars=True)

    roll = g.random.random()
    if roll < 0.35:
        return f"np.{g.random.choice(_OUT_UNARY)}({operand()}, out={target}{mask}{casting})"
    if roll < 0.8:
        form = g.random.choice(["out={}", "out=({},)", "{}"]).format(target)
        return f"np.{g.random.choice(_OUT_BINARY)}({operand()}, {operand()}, {form}{mask}{casting})"
    if roll < 0.9:
        return f"np.clip({operand()}, {g.number('i')}, 5, out={target})"
    # NumPy reads wild memory when a cumulative sum does not fit to `out=`.
    x = g.array(kinds, (len(shape), len(shape)), lambda a: a.shape == shape and a.ndim > 0, lambda: shape)
    return f"{g.random.choice(['np.cumsum', 'np.cumprod'])}({x}, axis=0, out={target})"


def _reduce_out(g: Any) -> str:
    x = g.array(ndim=(1, 3))
    axis = _axis(g, x)
    shape = (
        np.max(g.value(x), axis=axis, initial=0).shape
        if g.value(x).dtype.kind != "c"
        else np.sum(g.value(x), axis=axis).shape
    )
    kind = g.value(x).dtype.kind
    known = [n for n, v in g.env.items() if isinstance(v, np.ndarray) and v.shape == shape and v.flags.writeable]
    target = g.random.choice(known) if known else g.new_array(shape, g.dtype("fc" if kind == "c" else "if"), True)
    name = g.random.choice(["sum", "max", "min", "mean", "prod", "any", "argmax"])
    return g.random.choice([f"np.{name}({x}, axis={axis}, out={target})", f"{x}.{name}(axis={axis}, out={target})"])


def _copyto(g: Any) -> str:
    x = _target(g)
    mask = f", where={g.like(x, 'b', 0)}" if g.random.random() < 0.5 else ""
    return f"np.copyto({x}, {g.like(x, _sources(g, x), 0.3)}{mask})"


def _methods(g: Any) -> str:
    x = _target(g, ndim=(1, 3))
    value = g.value(x)
    number = g.number({"b": "b", "f": "if", "c": "ifc"}.get(value.dtype.kind, "i"))
    forms = [
        f"{x}.fill({number})", f"{x}.sort()", f"{x}.sort(axis=0)", f"{x}.flat[...] = {number}",
        f"np.putmask({x}, {x} > 1, {number})", f"np.place({x}, {x} > 1, [{number}])", f"{x}.T[...] = {number}",
        f"{x}.ravel()[...] = {number}", f"{x}.reshape(-1)[::2] = {number}", f"np.nan_to_num({x}, copy=False)",
        f"{x}.flat[0] = {number}", f"{x}.partition(0)", f"{x}[...] = {x}[::-1]", f"{x}[1:] = {x}[:-1]",
        f"{x}[1:] += {x}[:-1]", f"{x}.flat = {number}", f"np.ndarray.fill({x}, {number})",
    ]  # fmt: skip
    if value.size:
        places = [g.random.randrange(-value.size, value.size) for _ in range(2)]
        forms += [f"{x}.put({places}, {number})", f"np.put({x}, {places}, [{number}, {number}], mode='wrap')"]
    if len(value) > 1:
        forms += [f"{x}[:2] = {x}[1], {x}[0]", f"{x}[:2] = [{x}[1], {x}[0]]", f"{x}.flat[1:] = {x}.ravel()[:-1]"]
        forms += [f"np.copyto({x}[1:], {x}[:-1], where={x}[:-1] != 0)", f"{x}.flat = {x}[::-1]"]
    if value.ndim >= 2:
        forms += [f"np.fill_diagonal({x}, np.diagonal({x})[::-1])"] if value.ndim == 2 else []
        forms += [f"np.fill_diagonal({x}, {number})", f"np.fill_diagonal({x}, {number}, wrap=True)"]
    if value.ndim == 2 and value.shape[0] == value.shape[1]:
        forms += [f"np.einsum('ii->i', {x})[...] = {number}", f"np.einsum('ii->i', {x})[1:] += 1"]
    if value.dtype.kind == "c":
        forms += [
            f"{x}.real = {g.like(x, 'if', 0.5)}",
            f"{x}.imag[...] = {number}",
            f"{x}.imag += 1",
            f"{x}.real[::2] *= 2",
        ] * 3
    return g.random.choice(forms)


def _scatter(g: Any) -> str:
    x = _target(g, "iufc", (1, 2))
    length = np.shape(g.value(x))[0]
    if not length:
        raise LookupError
    places = g.argument(np.array([g.random.randrange(-length, length) for _ in range(3)]))
    name = g.random.choice(["add", "subtract", "multiply", "maximum", "minimum"])
    part = f"{x}[{places}]"
    return f"np.{name}.at({x}, {places}, {g.like(part, _sources(g, x), 0.5)})"


def _put_along(g: Any) -> str:
    x = _target(g, ndim=(1, 2))
    value = g.value(x)
    if not value.size:
        raise LookupError
    shape = (1, *value.shape[1:])
    found = np.array([g.random.randrange(value.shape[0]) for _ in range(int(np.prod(shape)))]).reshape(shape)
    return f"np.put_along_axis({x}, {g.argument(found)}, 1, axis=0)"


def _attempt(g: Any) -> str:
    x = _target(g, ndim=(1, 2))
    return f"if {x}.size > 2:\n    {x}[0] = 1\nelse:\n    {x}[...] = 0"


def _looped(g: Any) -> str:
    x = _target(g, "iuf", (1, 2))
    return f"for k_ in range(len({x})):\n    {x}[k_] += {g.random.choice(['k_', '1', f'{x}[0]', f'{x}[-1]'])}"


WRITES: list[Form] = [
    *[_assign] * 5, *[_update] * 5, *[_view_write] * 5, *[_out] * 6, *[_copyto] * 2, *[_methods] * 6, *[_scatter] * 2,
    _reduce_out, _put_along, _attempt, _looped,
]  # fmt: skip
