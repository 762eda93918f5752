"""How the rows of the op table are written in programs, where a row's own samples do not say so.

Arguments by letter: `a` a matrix, `q` a regular square one, `u` a vector, `t` of three axes, all in the dtype and layout
that is tried; `b` like the first of them, `c` of another dtype, `s` a NumPy scalar, `n` an int, `x` a float, `m` a mask,
`i` an array of indices, `p` a vector of them, `o` a place for the result, `v` and `w` vectors.
"""

from __future__ import annotations

UNARY = ("{name}({{a}})", "{name}({{a}}, out={{o}})\n{{r}} = {{o}}", "{name}({{a}}, dtype=np.float64)", "{name}({{n}})")
BINARY = (
    "{name}({{a}}, {{b}})",
    "{name}({{b}}, {{a}})",
    "{name}({{a}}, {{c}})",
    "{name}({{a}}, {{s}})",
    "{name}({{a}}, {{n}})",
    "{name}({{a}}, 3)",
    "{name}({{a}}, 300)",
    "{name}({{x}}, {{a}})",
    "{name}({{a}}, True)",
    "{name}({{a}}, {{b}}, out={{o}})\n{{r}} = {{o}}",
    "{name}({{a}}, {{b}}, dtype=np.float32)",
)
PARTIAL = ("{name}({{a}}, {{v}})", "{name}({{u}}, 3)", "{name}({{u}}, {{c}})")
REDUCTION = (
    "",
    ", axis=0",
    ", axis=-1",
    ", axis=1, keepdims=True",
    ", axis=(0, 1)",
    ", axis=None",
    ", axis=2",
    ", keepdims=True",
    ", dtype=np.float32",
    ", dtype=np.int64, axis=0",
    ", ddof=1, axis=1",
)
OPERATORS = {
    "np.add": "+", "np.subtract": "-", "np.multiply": "*", "np.divide": "/", "np.floor_divide": "//",
    "np.remainder": "%", "np.power": "**", "np.left_shift": "<<", "np.right_shift": ">>", "np.bitwise_and": "&",
    "np.bitwise_or": "|", "np.bitwise_xor": "^", "np.matmul": "@",
}  # fmt: skip

_DTYPES = "bool int8 int32 int64 uint8 uint64 float16 float32 float64 complex64 complex128".split()
_CASTS = tuple(f"np.{name}" if name != "bool" else "bool" for name in _DTYPES)
_PYTHON = {
    "py_add": "+", "py_subtract": "-", "py_multiply": "*", "py_divide": "/", "py_int_add": "+", "py_int_subtract": "-",
    "py_int_multiply": "*", "py_floor_divide": "//", "py_modulo": "%", "py_left_shift": "<<", "py_right_shift": ">>",
    "py_and": "&", "py_or": "|", "py_xor": "^", "py_less": "<", "py_less_equal": "<=", "py_greater": ">",
    "py_greater_equal": ">=", "py_equal": "==", "py_not_equal": "!=",
}  # fmt: skip


def _python(sign: str) -> tuple[str, ...]:
    return (
        f"{{u}}[0].item() {sign} {{u}}[1].item()",
        f"{{u}}[2].item() {sign} 3",
        f"{{n}} {sign} {{u}}.sum().item()",
        f"{{u}}.max().item() {sign} 0.5",
    )


_INDICES = (
    "{a}[1]", "{a}[-1, 2]", "{a}[:, 1]", "{a}[1:, ::2]", "{a}[::-1]", "{a}[None, ..., 0]", "{a}[...]", "{a}[()]",
    "{a}[{p}]", "{a}[:, {p}]", "{a}[{p}, {p}]", "{a}[[0, 2], 1:]", "{a}[{n}:]", "{a}[{i}]", "{a}[np.int64(1)]",
    "{a}[{a} > 1]", "{a}[{m}].sum()", "{a}[5]", "{a}[True]", "{t}[:, {p}, 0]", "{t}[0, :, {p}]", "{t}.T[1:]",
    "{a}.T", "{a}.flat[3]", "np.squeeze({a})", "np.ravel({a})", "{a}.ravel()", "{a}.flatten()",
    "{a}.swapaxes(0, 1)", "np.moveaxis({t}, 0, -1)", "np.expand_dims({a}, 1)", "np.atleast_2d({a})", "np.flip({a}, 0)",
    "np.rot90({a})", "np.split({u}, 3)", "{a}.squeeze()", "np.atleast_1d({a})", "np.atleast_3d({a})", "list({u})",
    "np.flip({a})", "np.hsplit({a}, 2)", "np.array_split({u}, 4)",
)  # fmt: skip
_WRITES = (
    "{a}[1] = {w}\n{r} = {a}", "{a}[...] = 7\n{r} = {a}", "{a}[:, 1:] = 1.5\n{r} = {a}", "{a}[::-1] = {b}\n{r} = {a}",
    "{a}[{p}] = {s}\n{r} = {a}", "{a}[{a} > 1] = 0\n{r} = {a}", "{a}[{m}] += {s}\n{r} = {a}", "{a}[{i}] = 2\n{r} = {a}",
    "{a}[0, 1] = {x}\n{r} = {a}", "{a}[()] = {s}\n{r} = {a}", "{a}[1:] *= 2\n{r} = {a}", "{a}[-1] = {c}\n{r} = {a}",
    "{a}[5] = 1\n{r} = {a}", "{a}.T[0] = 3\n{r} = {a}", "{t}[:, {p}, 0] = 4\n{r} = {t}", "{a}.fill({n})\n{r} = {a}",
    "np.copyto({a}, {b})\n{r} = {a}", "{a}.ravel()[1] = 5\n{r} = {a}", "{a}.reshape(-1)[1:3] = 5\n{r} = {a}",
    "{a}[{p}, 0] = {w}[:3]\n{r} = {a}", "np.put({a}, {p}, 3)\n{r} = {a}", "np.putmask({a}, {m}, {b})\n{r} = {a}",
    "np.place({a}, {m}, [1, 2])\n{r} = {a}", "{a}.flat[1] = 2\n{r} = {a}", "{a}[0] = {a}[1]\n{r} = {a}",
    "{a}[1:] = {a}[:-1]\n{r} = {a}", "np.fill_diagonal({a}, 1)\n{r} = {a}", "{a}.sort()\n{r} = {a}",
    "{a}.sort(0)\n{r} = {a}", "{a}[:] = {a}.T[:, ::-1].T\n{r} = {a}",
)  # fmt: skip

#: Rows that stand in no program by themselves.
_MATH = """sqrt exp expm1 log log2 log10 log1p sin cos tan asin acos sinh cosh acosh atanh atan tanh asinh fabs degrees
radians isnan isinf isfinite""".split()
_MATH_OF_TWO = "pow atan2 hypot copysign".split()

WITHOUT: dict[str, str] = {
    "each_number": "what functions of `math` in loops become",
    "rounded": "put behind others by `exact=True`",
    "normal": "put behind others by `exact=True`",
    "uncontracted": "put behind products where a last bit decides",
    "set_diagonal": "writes to a diagonal: NumPy gives none that may be written",
}

SPELLED: dict[str, tuple[str, ...]] = {
    "getitem": _INDICES,
    "setitem": _WRITES,
    "astype": (
        *(f"{{a}}.astype({cast})" for cast in _CASTS),
        "{a}.astype(np.int16)", "{a}.astype(np.uint16)", "{a}.astype(np.uint32)", "{a}.astype(float)",
        "{a}.astype(np.float64, copy=False)", "{a}.astype('float32')", "np.asarray({a}, np.float32)", "np.array({a})",
        "np.array({a}, dtype=np.int64)", "np.float32({s})", "np.int8({s})", "np.complex64({s})", "np.asarray({a})",
        "np.asarray({a}, copy=True)", "np.ascontiguousarray({a})", "np.array({a}, copy=False, dtype=float)", "np.array({a}, ndmin=3)",
        "np.asfortranarray({a})", "{a}.view()", "np.float64({a})", "np.uint8({s})", "np.bool_({s})",
    ),
    "item": ("{a}.item()", "{a}.item(0)", "{a}.item(1, 2)", "{s}.item()", "{a}[0, 0].item()", "{a}.tolist()"),
    "item_float": ("float({a})", "float({s})", "float({a}[0, 0])", "float({u}.sum()) + 1"),
    "item_int": ("int({a})", "int({s})", "int({a}[1, 1])", "int({u}.max()) * 2", "round({s})", "len({a})"),
    "item_bool": ("bool({a})", "bool({s})", "bool({a}[0, 0])", "bool({u}.any())", "not {s}"),
    "item_complex": ("complex({a})", "complex({s})", "complex({a}[0, 0])"),
    **{name: _python(sign) for name, sign in _PYTHON.items()},
    "py_negative": ("-{u}[0].item()", "-float({u}[1])", "-int({s})"),
    **{f"math.{name}": (f"math.{name}({{u}}[0])", f"math.{name}({{s}})", f"math.{name}({{u}}[1].item())") for name in _MATH},
    **{f"math.{name}": (f"math.{name}({{u}}[0], {{u}}[1])", f"math.{name}({{s}}, 0.5)") for name in _MATH_OF_TWO},
    "py_absolute": ("abs({u}[0].item())", "abs({u}.min().item())"),
    "py_invert": ("~{u}[0].item()", "~int({s})"),
    "py_not": ("not {u}[0].item()", "not ({u}[1].item() > 2)", "not {u}.any()"),
    "select": (
        "{u}[0] if {u}[1] > 2 else {u}[2]", "{r} = {u}\nif {u}[0] > 1:\n    {r} = {u} * 2",
        "if {s} > 3:\n    {u}[1] = 7\nelse:\n    {u}[0] = 1\n{r} = {u}", "{u}[0] and {u}[1]", "max({u}[0], {u}[1])",
        "min({u}[0], {s}, {u}[2])", "{u}[0] > 1 or {u}[2] < 3", "-{u}[0] * 1 if {u}.sum() else 0",
    ),
    "as_scalar": ("{r} = {u}[0]\nif {u}[1] > 2:\n    {r} = {u}[2] * 1.0",),
    "leave_if": (
        "{r} = 0\nfor k in range(4):\n    if {u}[k] > 3:\n        break\n    {r} = {r} + k",
        "{r} = {u}[0]\nfor k in range(5):\n    if {u}[k] == 0:\n        continue\n    {r} = {r} + {u}[k]",
    ),
    "loop": (
        "for k in range(1, 5):\n    {u}[k] = {u}[k - 1] + {u}[k]\n{r} = {u}",
        "{r} = {u}[0]\nfor k in range(5):\n    {r} = {r} * {u}[k]",
        "{r} = 0\nfor z in {u}:\n    {r} += z",
        "{r} = np.zeros(6)\nfor k in range(6):\n    {r}[k] = {u}[k] / 2",
        "for k in range(3):\n    {a}[k] = {a}[k] - {a}[0]\n{r} = {a}",
    ),
    "pack": ("np.array([{u}[0], {u}[1]])", "np.array([[{s}, 1], [2, {s}]])", "np.array([{u}.sum(), 2.5])"),
    "set_real": ("{a}.real = 1\n{r} = {a}", "{a}.real[1] = {x}\n{r} = {a}", "{a}.real *= 2\n{r} = {a}"),
    "set_imag": ("{a}.imag = 1\n{r} = {a}", "{a}.imag = {a}.real\n{r} = {a}", "{a}.imag[0] += 3\n{r} = {a}"),
    "sum_and_count": ("{a}[{m}].mean()", "np.mean({a}[{m}])", "{a}[{a} > 0].mean()", "{a}[{m}].sum()"),
    "np.real": ("{a}.real", "np.real({a})"),
    "np.imag": ("{a}.imag", "np.imag({a})"),
    "np.where": (
        "np.where({m}, {a}, {b})", "np.where({a} > 1, {a}, 0)", "np.where({a}, 1, 2)", "np.where({m}, {a}, {c})",
        "np.where({m}, {a}, 2.5)", "np.where({m}, {s}, {x})", "np.where({a})", "np.where({m}, {a}, {n})",
    ),
    "np.clip": (
        "np.clip({a}, 1, 3)", "np.clip({a}, {n}, 7)", "np.clip({a}, 0.5, 2.5)", "{a}.clip(1, 3)", "np.clip({a}, {b}, 9)",
        "np.clip({a}, None, 3)", "{a}.clip(min=2)", "np.clip({a}, {s}, {s})", "np.clip({a}, -300, 300)",
        "np.clip({a}, 1, 3, out={o})\n{r} = {o}", "np.clip({a}, {c}, {b})", "{a}.clip(max={x})",
    ),
    "np.round": (
        "np.round({a})", "np.round({a}, 1)", "{a}.round(-1)", "round({s})", "round({s}, 1)", "np.around({a}, 2)",
        "{a}.round(decimals=1)", "np.round({s}, 2)",
    ),
    "np.isclose": (
        "np.isclose({a}, {b})", "np.isclose({a}, {a}, equal_nan=True)", "np.isclose({a}, 2, rtol=0.3)", "np.allclose({a}, {b})",
    ),
    "np.angle": ("np.angle({a})", "np.angle({a}, deg=True)"),
    "np.nan_to_num": ("np.nan_to_num({a})", "np.nan_to_num({a}, nan=1.5)", "np.nan_to_num({a}, posinf=9, neginf=-9)"),
    "np.absolute": ("np.absolute({a})", "abs({a})", "np.abs({a}, out={o})\n{r} = {o}", "abs({s})", "np.abs({a}, dtype=np.float64)"),
    "np.negative": ("np.negative({a})", "-{a}", "-{s}", "np.negative({a}, out={o})\n{r} = {o}"),
    "np.positive": ("np.positive({a})", "+{a}", "+{s}"),
    "np.invert": ("np.invert({a})", "~{a}", "~{s}"),
    "np.conjugate": ("np.conjugate({a})", "{a}.conj()", "{a}.conjugate()", "np.conj({a}, out={o})\n{r} = {o}"),
    "np.equal": ("np.equal({a}, {b})", "{a} == {b}", "{a} == 300", "{a} == {x}", "{a} == None", "{a} == {c}", "{a} == -1"),
    "np.less": ("np.less({a}, {b})", "{a} < {b}", "{a} < 300", "{x} < {a}", "{a} < {c}", "0 < {s}", "{a} < -1", "1 < {s} < 3"),
    "np.greater_equal": ("np.greater_equal({a}, {b})", "{a} >= {b}", "{a} >= 2**70", "{a} >= {s}", "{a} >= {c}"),
    "np.divmod": ("np.divmod({a}, {b})", "divmod({a}, {n})", "divmod({s}, 2)", "np.divmod({a}, {c})"),
    "np.trace": ("np.trace({a})", "{a}.trace(1)", "np.trace({t}, 1, 1, 2)", "np.trace({a}, dtype=np.float32)", "np.trace({q})"),
    "np.average": (
        "np.average({a})", "np.average({a}, axis=0)", "np.average({a}, weights={b})", "np.average({a}, 1, {w})",
        "np.average({a}, axis=1, keepdims=True)", "np.average({a}, axis=(0, 1), weights={b})",
    ),
    "np.diff": ("np.diff({a})", "np.diff({a}, axis=0)", "np.diff({a}, 2)", "np.diff({a}, 0)", "np.diff({u}, prepend=0)"),
    **{
        f"np.cumulative_{kind}": tuple(
            f"np.cumulative_{kind}({more})"
            for more in ("{u}", "{a}, axis=0", "{a}, axis=-1, include_initial=True", "{u}, dtype=np.float32", "{a}")
        )
        for kind in ("sum", "prod")
    },
    **{f"{kind}_at": (f"np.{kind}.at({{u}}, {{p}}, {{v}})\n{{r}} = {{u}}", f"np.{kind}.at({{u}}, {{p}}, 2)\n{{r}} = {{u}}",
                      f"np.{kind}.at({{a}}, ({{p}}, {{p}}), {{v}})\n{{r}} = {{a}}")
       for kind in "add subtract multiply maximum minimum".split()},
    "np.mgrid": ("np.mgrid[0:3, 0:4] * {s}", "np.mgrid[0:1:5j]", "np.mgrid[: {n}]"),
    "np.ogrid": ("np.ogrid[0:3, 0:4]", "np.ogrid[0:2:0.5]"),
    "np.linalg.eig": ("np.linalg.eig({q})",),
    "np.linalg.eigvals": ("np.linalg.eigvals({q})",),
    "np.linalg.lstsq": ("np.linalg.lstsq({q}, {v})", "np.linalg.lstsq({a}, {v}, rcond=None)"),
    "np.linalg.matrix_rank": ("np.linalg.matrix_rank({q})", "np.linalg.matrix_rank({a})"),
    "np.bincount": ("np.bincount({u})", "np.bincount({i}.ravel(), minlength=5)", "np.bincount({p} + 1)"),
    "np.unique": ("np.unique({a})", "np.unique({a}, return_counts=True)", "np.unique({a}, axis=0)"),
    "np.flatnonzero": ("np.flatnonzero({a})", "np.nonzero({a})", "{a}.nonzero()"),
    "np.argwhere": ("np.argwhere({a})", "np.argwhere({a} > 2)"),
    "np.compress": ("np.compress({m}.ravel(), {a})", "np.compress([True, False, True], {a}, axis=0)"),
    "compress": ("{a}.compress({m}.ravel())", "{a}.compress([True, False, True], axis=0)"),
    "byteswap": ("{a}.byteswap()",),
    "np.extract": ("np.extract({m}, {a})", "np.extract({a} > 1, {a})"),
    "np.isin": ("np.isin({a}, {v})", "np.isin({a}, [1, 2, 3])", "np.isin({a}, {v}, invert=True)"),
    **{f"np.{name}": (f"np.{name}({{u}}, {{v}})", f"np.{name}({{a}}, {{b}})")
       for name in "intersect1d union1d setdiff1d setxor1d".split()},
    "np.partition": ("np.partition({a}, 2)", "np.partition({a}, 1, axis=0)"),
    "np.argpartition": ("np.argpartition({u}, 2)",),
    "np.lexsort": ("np.lexsort(({u}, {w}))", "np.lexsort([{u}])"),
    "np.polyfit": ("np.polyfit(np.arange(6.0), {u}, 2)",),
    "np.roots": ("np.roots({v})",),
    "np.packbits": ("np.packbits({a})", "np.packbits({a}, axis=0, bitorder='little')"),
    "np.unpackbits": ("np.unpackbits({a})", "np.unpackbits({a}, axis=1, count=5)"),
    "np.i0": ("np.i0({u})",),
    "np.geomspace": ("np.geomspace(1, 8, 4) * {s}", "np.geomspace({x}, 12, num={n})"),
    "np.empty": ("np.empty((2, 3)).shape", "{r} = np.empty(3, {a}.dtype)\n{r}[...] = {n}"),
    "np.sort": ("np.sort({a})", "np.sort({a}, axis=0)", "np.sort({a}, axis=None)", "np.sort({a}, kind='stable')", "sorted({u})"),
    "np.argsort": ("np.argsort({a})", "np.argsort({u}, kind='stable')", "{u}.argsort()"),
    "np.searchsorted": ("np.searchsorted(np.sort({u}), {v})", "np.sort({u}).searchsorted({s}, side='right')"),
    "np.transpose": ("np.transpose({t}, (1, 0, 2))", "{t}.transpose(2, 0, 1)", "{a}.transpose()", "np.transpose({a})"),
    "np.reshape": (
        "{a}.reshape(-1)", "np.reshape({a}, (4, 3))", "{a}.reshape(2, 6)", "{a}.reshape((3, 4), order='F')",
        "{a}.reshape(-1, order='F')", "{t}.reshape(6, -1)", "{a}.T.reshape(-1)", "{a}.reshape(5)", "np.reshape({a}, -1)",
    ),
    "np.broadcast_to": ("np.broadcast_to({a}, (2, 3, 4))", "np.broadcast_to({s}, (2,))", "np.broadcast_arrays({a}, {w})"),
    "np.diagonal": ("np.diagonal({a})", "{a}.diagonal(1)", "{t}.diagonal(0, 1, 2)", "np.diag({a})", "np.diag({u}, 1)"),
    "np.copy": ("np.copy({a})", "{a}.copy()", "{a}.copy('K')", "{a}.copy(order='F')", "np.copy({a}, 'C')", "{s}.copy()"),
    "np.concatenate": (
        "np.concatenate([{a}, {b}])", "np.concatenate(({a}, {b}), axis=1)", "np.concatenate([{a}, {c}], axis=None)",
        "np.concatenate({t})", "np.hstack([{a}, {b}])", "np.vstack([{a}, {w}])", "np.concatenate([{a}, {a}.T], axis=None)",
    ),
    "np.stack": ("np.stack([{a}, {b}])", "np.stack(({a}, {b}), axis=-1)", "np.stack([{a}, {b}], 1)"),
    "np.zeros_like": ("np.zeros_like({a})", "np.zeros_like({a}, shape=(3, 2, 2))", "np.zeros_like({a}, dtype=np.int8)", "np.zeros({a}.shape, {a}.dtype)"),
    "np.ones_like": ("np.ones_like({a})", "np.ones_like({a}, shape=(2, 2))", "np.ones_like({a}, order='C')"),
    "np.empty_like": ("np.empty_like({a}).shape", "{r} = np.empty_like({a})\n{r}[...] = {b}"),
    "np.full_like": ("np.full_like({a}, 3)", "np.full_like({a}, {s})", "np.full_like({a}, 2.5)", "np.full({a}.shape, {s})"),
    "np.full": ("np.full((2, 3), {s})", "np.full(3, {n}, {a}.dtype)", "np.full(2, 300, {a}.dtype)", "np.full((2,), {x})"),
    "np.arange": ("np.arange({n})", "np.arange({s})", "np.arange(3, dtype={a}.dtype)", "np.arange(0, {x}, 0.25)"),
    "np.linspace": ("np.linspace({s}, 9, 4)", "np.linspace(0, {x}, {n})", "np.linspace({u}[0], {u}[1], 3)", "np.linspace({v}, {w}[:3], 2)"),
    "np.dot": ("np.dot({a}, {b}.T)", "{q}.dot({v})", "np.dot({u}, {w})", "np.dot({a}, {n})", "{q}.dot({q})", "np.dot({q}, {q}, out={o})"),
    "np.matmul": ("{q} @ {q}", "{a} @ {b}.T", "{q} @ {v}", "np.matmul({a}, {c}[..., None])", "{u} @ {w}", "{t} @ {t}.transpose(0, 2, 1)"),
    "np.inner": ("np.inner({a}, {b})", "np.inner({u}, {w})", "np.inner({a}, {n})"),
    "np.outer": ("np.outer({u}, {v})", "np.outer({a}, {v})"),
    "np.vdot": ("np.vdot({a}, {b})",),
    "np.cross": ("np.cross({q}, {v})",),
    "np.kron": ("np.kron({a}, {q})",),
    "np.einsum": ("np.einsum('ij,kj->ik', {a}, {b})", "np.einsum('ii', {q})", "np.einsum('ij->ji', {a})", "np.einsum('ij->j', {a})"),
    "np.convolve": ("np.convolve({u}, {v})", "np.convolve({u}, {v}, 'same')"),
    "np.correlate": ("np.correlate({u}, {v})", "np.correlate({u}, {v}, 'full')"),
    "np.take": ("np.take({a}, {p})", "np.take({a}, {p}, axis=0)", "{a}.take(1)", "{a}.take({i}, mode='clip')", "{a}.take([0, 9], mode='wrap')"),
    "np.choose": ("np.choose({i}, [{a}, {x}, 300])", "np.choose({i}, [{a}, {b}, 3])", "{i}.choose([{a}, {b}], mode='clip')", "np.choose({a}, [{b}, 1])"),
    "np.select": ("np.select([{m}, {a} > 1], [{a}, {b}])", "np.select([{m}], [{a}], {s})", "np.select([{m}], [{a}], default={x})"),
    "np.insert": ("np.insert({u}, 1, {s})", "np.insert({a}, 1, 5, axis=0)", "np.insert({u}, {p}, 2)"),
    "np.delete": ("np.delete({u}, 1)", "np.delete({a}, [0, 2], axis=0)", "np.delete({u}, {p})"),
    "np.linalg.norm": ("np.linalg.norm({a})", "np.linalg.norm({u}, 1)", "np.linalg.norm({a}, axis=0)", "np.linalg.norm({u}, np.inf)"),
    "np.linalg.solve": ("np.linalg.solve({q}, {v})", "np.linalg.solve({q}, {q})"),
    "np.linalg.inv": ("np.linalg.inv({q})",),
    "np.linalg.det": ("np.linalg.det({q})",),
}  # fmt: skip
