"""Grows the body of a random program, statement by statement, on concrete variables."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.helpers import clone

#: No array may have more elements, unless the arguments are larger.
_MOST_ELEMENTS = 120
_ARITHMETIC = ("+", "-", "*", "+", "-", "*", "/", "//", "%")
_COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")
_UNARY = (
    "np.abs", "np.sqrt", "np.exp", "np.sin", "np.cos", "np.tanh", "np.log1p", "np.square", "np.sign", "np.floor",
    "np.ceil", "np.rint", "np.negative", "np.isnan", "np.isfinite", "np.reciprocal", "np.conj", "np.angle", "np.trunc",
    "np.signbit", "np.logical_not", "np.arctan", "np.log", "np.cbrt", "np.positive", "np.expm1", "np.nan_to_num",
)  # fmt: skip
_BINARY = (
    "np.maximum", "np.minimum", "np.add", "np.subtract", "np.multiply", "np.divide", "np.power", "np.arctan2",
    "np.hypot", "np.logical_and", "np.logical_or", "np.fmax", "np.mod", "np.floor_divide", "np.copysign", "np.equal",
    "np.greater", "np.dot", "np.outer", "np.matmul", "np.logaddexp", "np.fmod", "np.array_equal", "np.allclose",
)  # fmt: skip
_REDUCTIONS = (
    "sum", "sum", "mean", "max", "min", "prod", "any", "all", "std", "var", "argmax", "argmin", "cumsum", "cumprod",
    "ptp", "count_nonzero", "median", "nansum", "nanmax", "average", "sort", "argsort",
)  # fmt: skip
_METHODS = ("sum", "mean", "max", "min", "prod", "any", "all", "std", "var", "argmax", "argmin", "cumsum")


class Grower:
    """Grows the body of a program on the concrete variables of one call."""

    def __init__(self, random: Any, module: str, parameters: tuple[str, ...], arguments: tuple[Any, ...]) -> None:
        self.random = random
        self.module: dict[str, Any] = {"__name__": "random_program"}
        exec(module, self.module)
        self.env: dict[str, Any] = dict(zip(parameters, arguments, strict=True))
        self.lines: list[str] = []
        self.dead = False
        sizes = [argument.size for argument in arguments if isinstance(argument, np.ndarray)]
        self.most = max(_MOST_ELEMENTS, 4 * max(sizes))
        self._next = 0

    # ---- running what was grown

    def value(self, text: str) -> Any:
        """The value of an expression."""
        return eval(text, {**self.module, **self.env})

    def statement(self, text: str) -> bool:
        """Add a statement if NumPy takes it."""
        trial = clone(self.env)
        space = {**self.module, **trial}
        try:
            exec(text, space)
        except Exception:
            if self.lines and self.random.random() < 0.02:
                self.lines.append(text)
                self.dead = True
                return True
            return False
        fresh = {k: v for k, v in space.items() if k not in self.module and not k.startswith("__")}
        if not all(self.moderate(value) for value in fresh.values()):
            return False
        self.env = fresh
        self.lines.append(text)
        return True

    def moderate(self, value: Any) -> bool:
        """Whether a value is small, and of a kind that compiles."""
        if isinstance(value, np.ndarray):
            return value.size <= self.most and value.ndim <= 4 and value.dtype.kind in "biufc"
        if isinstance(value, int):
            return abs(value) < 2**60
        if isinstance(value, list | tuple):
            return len(value) < 400 and all(self.moderate(item) for item in value)
        return True

    def fresh(self) -> str:
        """A new name."""
        self._next += 1
        return f"v{self._next}"

    def arrays(self, good: Callable[[np.ndarray], bool] = lambda array: True) -> list[str]:
        """The variables that are arrays of a certain kind."""
        return [name for name, value in self.env.items() if isinstance(value, np.ndarray) and good(value)]

    def scalars(self) -> list[str]:
        """The variables that are scalars."""
        kinds = int | float | np.number
        return [name for name, value in self.env.items() if isinstance(value, kinds)]

    # ---- expressions

    def literal(self) -> str:
        return self.random.choice(["2", "3", "-1", "0.5", "1.5", "-2.0", "0", "1", "2.0", "np.float32(0.5)", "OFFSET", "True"])

    def scalar(self) -> str:
        names = self.scalars()
        if names and self.random.random() < 0.5:
            return self.random.choice(names)
        names = self.arrays(lambda a: a.ndim > 0)
        if names and self.random.random() < 0.25:
            name = self.random.choice(names)
            return self.random.choice([f"{name}.shape[0]", f"{name}.ndim", f"len({name})", f"{name}.size", f"{name}.max()"])
        return self.literal()

    def operand(self, near: Any, depth: int) -> str:
        """An operand that fits to a value: an array that broadcasts with it, or a scalar."""
        if isinstance(near, np.ndarray) and self.random.random() < 0.65:
            names = self.arrays(lambda a: _broadcasts(a, near))
            if names:
                name = self.random.choice(names)
                return self.expression(depth - 1, name) if depth > 0 and self.random.random() < 0.3 else name
        return self.scalar()

    def expression(self, depth: int, start: str | None = None) -> str:
        """An expression of some array; `depth` operations deep at most."""
        names = self.arrays()
        text = start or (self.random.choice(names) if names and self.random.random() < 0.93 else "WEIGHTS")
        for _ in range(self.random.randint(1, max(depth, 1))):
            for _ in range(3):
                candidate = self.grow(text, depth)
                try:
                    with np.errstate(all="ignore"):
                        value = self.value(candidate)
                except Exception:
                    continue
                if self.moderate(value) and not isinstance(value, tuple | str):
                    text = candidate
                    break
        return text

    def grow(self, text: str, depth: int) -> str:
        """One operation around an expression."""
        random = self.random
        value = self.value(text)
        if not isinstance(value, np.ndarray):
            return random.choice([f"({text} + {self.scalar()})", f"({text} * {self.scalar()})", f"np.sqrt({text})", text])
        kind = random.choice(["binary"] * 6 + ["unary"] * 3 + ["reduce"] * 3 + ["index"] * 3 + ["shape"] * 3 + ["more"] * 4)
        return getattr(self, f"_{kind}")(text, value, depth)

    def _binary(self, text: str, value: np.ndarray, depth: int) -> str:
        random = self.random
        other = self.operand(value, depth)
        roll = random.random()
        if roll < 0.55:
            operators = _ARITHMETIC if value.dtype.kind != "b" else ("&", "|", "^", "*", "+")
            if value.dtype.kind in "iu" and random.random() < 0.3:
                operators = ("&", "|", "^", "<<", ">>")
            pair = (text, other) if random.random() < 0.7 else (other, text)
            return f"({pair[0]} {random.choice(operators)} {pair[1]})"
        if roll < 0.65:
            return f"({text} ** {random.choice(['2', '3', '0.5', '-1', other])})"
        if roll < 0.78:
            return f"({text} {random.choice(_COMPARISONS)} {other})"
        return f"{random.choice(_BINARY)}({text}, {other})"

    def _unary(self, text: str, value: np.ndarray, depth: int) -> str:
        if self.random.random() < 0.2:
            return f"(~{text})" if value.dtype.kind in "biu" else f"(-{text})"
        return f"{self.random.choice(_UNARY)}({text})"

    def _reduce(self, text: str, value: np.ndarray, depth: int) -> str:
        random = self.random
        options = []
        if value.ndim and random.random() < 0.6:
            axes = [str(random.randrange(-value.ndim, value.ndim))]
            if value.ndim > 1:
                axes.append("(0, -1)")
            options.append(f"axis={random.choice(axes)}")
        if random.random() < 0.25:
            options.append("keepdims=True")
        if random.random() < 0.5:
            return f"{text}.{random.choice(_METHODS)}({', '.join(options)})"
        return f"np.{random.choice(_REDUCTIONS)}({', '.join([text, *options])})"

    def index(self, value: np.ndarray, basic: bool = False) -> str:
        """An index into an array, without the brackets."""
        random = self.random
        parts = []
        for length in value.shape[: random.randint(1, max(value.ndim, 1))]:
            at = str(random.randrange(-length, length)) if length else "0"
            half = str(length // 2)
            names = [n for n in self.scalars() if isinstance(self.env[n], int | np.integer) and abs(int(self.env[n])) < length]
            parts.append(
                random.choice([":", at, "1:", ":-1", "::2", "::-1", f"{half}:", f":{half}", "1:-1", *names, *[f"{n}:" for n in names]])
            )
        if random.random() < 0.12:
            parts.insert(random.randint(0, len(parts)), random.choice(["None", "...", "np.newaxis"]))
        if not basic and random.random() < 0.12:
            masks = self.arrays(lambda a: a.dtype == bool and a.shape == value.shape)
            wide = self.arrays(lambda a: a.dtype.kind in "iu" and a.ndim == 1)
            return random.choice(["[0, -1]", "np.array([0, 0])", *masks, *wide])
        return ", ".join(parts) if parts else "..."

    def _index(self, text: str, value: np.ndarray, depth: int) -> str:
        return f"{text}[{self.index(value)}]"

    def _shape(self, text: str, value: np.ndarray, depth: int) -> str:
        random = self.random
        ndim = value.ndim
        axis = str(random.randrange(-max(ndim, 1), max(ndim, 1)))
        choices = [
            f"{text}.T", f"{text}.reshape(-1)", f"{text}.ravel()", f"{text}.copy()", f"{text}.flatten()",
            f"np.flip({text}, {axis})", f"np.expand_dims({text}, {axis})", f"{text}.reshape(1, -1)", f"{text}[:, None]",
            f"np.roll({text}, {random.choice(['1', '-1', 'OFFSET'])})", f"np.swapaxes({text}, 0, -1)", f"np.squeeze({text})",
            f"{text}.real", f"{text}.imag", f"np.atleast_2d({text})", f"np.repeat({text}, 2, axis={axis})",
            f"np.broadcast_to({text}, (2, *{text}.shape))", f"np.moveaxis({text}, 0, -1)", f"np.tile({text}, 2)",
            f"{text}.transpose()", f"np.array({text})", f"np.asarray({text})", f"np.diagonal({text})",
        ]  # fmt: skip
        if ndim == 2:
            rows, columns = value.shape
            choices += [f"{text}.reshape({columns}, {rows})", f"np.triu({text})", f"np.rot90({text})", f"{text}.reshape({rows * columns}, 1)"]
        return random.choice(choices)

    def _more(self, text: str, value: np.ndarray, depth: int) -> str:
        random = self.random
        other = self.operand(value, depth)
        dtype = random.choice(["np.float64", "np.float32", "np.int64", "np.int32", "bool", "int", "'uint8'", "complex", "float"])
        axis = str(random.randrange(max(value.ndim, 1)))
        choices = [
            f"np.where({text} > {self.scalar()}, {text}, {other})", f"np.where({text}, {other}, {self.scalar()})",
            f"np.clip({text}, {self.scalar()}, {self.scalar()})", f"{text}.astype({dtype})",
            f"np.concatenate([{text}, {other}])", f"np.concatenate(({text}, {text}), axis={axis})",
            f"np.stack([{text}, {other}])", f"np.zeros_like({text})", f"np.full({text}.shape, {self.scalar()})",
            f"np.ones({text}.shape, {dtype})", f"np.diff({text})", f"np.cumsum({text}, axis={axis})",
            f"centre({text})", f"centre({text}, axis={axis})", f"split({text}, {other})[{random.randint(0, 1)}]",
            f"np.arange({text}.shape[0])", f"({text} @ {other})", f"np.einsum('...i->...', {text})",
            f"np.take({text}, [0, -1], axis={axis})", f"np.pad({text}, 1)", f"np.linspace(0, 1, {text}.size)",
            f"np.array([{self.scalar()}, {self.scalar()}])", f"np.sort({text}, axis={axis})", f"np.asarray({text}, {dtype})",
            f"np.trace({text})", f"np.add.reduce({text})", f"np.multiply.outer({text}, {self.scalar()})",
            f"{text}.clip({self.scalar()}, {self.scalar()})", f"{text}.round()", f"np.round({text}, 1)", f"{text}.dot({other})",
            f"np.sum({text}, dtype={dtype})", f"np.sum({text}, where={text} > 0)", f"np.empty_like({text}).shape[0]",
            f"np.isin({text}, [1, 2])", f"np.searchsorted(WEIGHTS, {text})", f"np.bincount({text})", f"np.unique({text})",
            f"(lambda x, k=2: x * k + {self.scalar()})({text})", f"np.array([x * 2 for x in {text}])", f"sum({text})",
            f"max({text}.max(), {self.scalar()})", f"({text} if {self.scalar()} > 1 else {other})", f"abs({text})",
            f"float({text}.sum())", f"int({text}.max())", f"{text}.item(0)", f"{text}.tolist()[0]", f"round(float({text}.min()), 2)",
        ]  # fmt: skip
        return random.choice(choices)

    # ---- statements

    def step(self) -> None:
        """Add one statement."""
        kinds = {
            "assign": 9, "inplace": 4, "slice_write": 5, "mask_write": 2, "keep_view": 4, "loop": 2, "branch": 2,
            "call": 2, "out": 1, "structure": 1, "while": 1, "native": 1, "attempt": 1, "return_early": 0.3, "rebind": 1,
        }  # fmt: skip
        names = [name for name, weight in kinds.items() for _ in range(int(weight * 10))]
        for _ in range(4):
            text = getattr(self, f"_do_{self.random.choice(names)}")()
            if text and self.statement(text):
                return

    def _do_assign(self) -> str:
        name = self.fresh() if self.random.random() < 0.85 else self.random.choice(self.arrays() or ["v0"])
        return f"{name} = {self.expression(self.random.randint(1, 4))}"

    def _do_rebind(self) -> str:
        names = self.arrays()
        if len(names) < 2:
            return ""
        one, two = self.random.choice(names), self.random.choice(names)
        return self.random.choice([f"{one}, {two} = {two}, {one}", f"{one} = {two}", f"{self.fresh()} = {one}"])

    def _do_inplace(self) -> str:
        names = self.arrays(lambda a: a.flags.writeable)
        if not names:
            return ""
        name = self.random.choice(names)
        operator = self.random.choice(["+=", "-=", "*=", "/=", "+=", "*=", "**=", "//=", "%=", "|=", "&="])
        return f"{name} {operator} {self.operand(self.env[name], 2)}"

    def _do_slice_write(self) -> str:
        names = self.arrays(lambda a: a.flags.writeable or self.random.random() < 0.05)
        if not names:
            return ""
        name = self.random.choice(names)
        index = self.index(self.env[name])
        try:
            part = self.value(f"{name}[{index}]")
        except Exception:
            return ""
        operator = self.random.choice(["=", "=", "=", "+=", "*=", "-="])
        return f"{name}[{index}] {operator} {self.operand(part, 2)}"

    def _do_mask_write(self) -> str:
        names = self.arrays(lambda a: a.flags.writeable and a.ndim > 0)
        if not names:
            return ""
        name = self.random.choice(names)
        mask = f"{name} {self.random.choice(_COMPARISONS)} {self.scalar()}"
        operator = self.random.choice(["=", "=", "=", "+=", "*="])
        value = self.random.choice([self.scalar(), self.scalar(), f"{name}[{mask}] * 2", f"{name}.mean()"])
        return f"{name}[{mask}] {operator} {value}"

    def _do_keep_view(self) -> str:
        names = self.arrays(lambda a: a.ndim > 0)
        if not names:
            return ""
        name = self.random.choice(names)
        value = self.env[name]
        made = self.random.choice(
            [f"{name}[{self.index(value, basic=True)}]"] * 4
            + [f"{name}.T", f"{name}.reshape(-1)", f"{name}.ravel()", f"{name}[::-1]", f"{name}.real", f"{name}[:, None]",
               f"{name}[None]", f"{name}.view()", f"np.asarray({name})", f"{name}.conj()", f"np.atleast_1d({name})"]
        )  # fmt: skip
        view = self.fresh()
        text = f"{view} = {made}"
        return text + (f"\n{view} += 1" if self.random.random() < 0.3 else "")

    def _inner(self, names: list[str], count: int, loop: str = "") -> list[str]:
        """A few statements for a block; each is written for the variables as they are now."""
        lines = []
        for _ in range(count):
            kind = self.random.choice(["assign", "inplace", "slice_write", "mask_write", "index"])
            if kind == "index" and loop and names:
                name = self.random.choice(names)
                other = self.random.choice(names)
                forms = [f"{name}[{loop}] = {other}[{loop}] * 2", f"{name}[{loop}:] += 1", f"{name}[{loop}] += {other}[-{loop} - 1]",
                         f"{name}[: {loop} + 1] = {loop}", f"{name} = {name} * {loop} + {other}", f"{name}[{loop} : {loop} + 2] *= 2"]
                lines.append(self.random.choice(forms))
            elif kind == "assign" and names:
                name = self.random.choice(names)
                lines.append(f"{name} = {self.expression(2, name)}")
            elif kind != "index":
                lines += [text for text in [getattr(self, f"_do_{kind}")()] if text]
        return lines or ["pass"]

    def _do_loop(self) -> str:
        arrays = self.arrays(lambda a: a.ndim > 0)
        if not arrays:
            return ""
        name = self.random.choice(arrays)
        k = self.random.choice(["k", "i"])
        heads = [f"for {k} in range({self.random.choice(['2', '3', f'len({name})', f'1, {name}.shape[0]', *self.scalars()])}):"] * 3
        heads += [f"for {k}, row in enumerate({name}):", f"for row in {name}:", f"for {k} in [0, 1]:", f"for {k}, x in zip([0, 1], {name}):"]
        head = self.random.choice(heads)
        has_index = f"for {k}" in head
        body = self._inner(arrays, self.random.randint(1, 2), k if has_index else "")
        if "row" in head and self.random.random() < 0.6:
            body.append(self.random.choice(["row += 1", "row[...] = row * 2", "row[0] = 5", f"{name} = {name} + row"]))
        if self.random.random() < 0.1:
            body.append(f"if {name}.ndim == 2:\n    break")
        if self.random.random() < 0.06:
            body.append(f"if {name}.sum() > 3:\n    {self.random.choice(['break', 'continue', f'return {name}'])}")
        return head + "".join("\n" + _indent(line) for line in body)

    def _do_while(self) -> str:
        k = self.fresh()
        body = self._inner(self.arrays(), 1, k)
        return f"{k} = 0\nwhile {k} < {self.random.choice(['2', '3', self.scalar()])} and {k} < 5:" + "".join(
            "\n" + _indent(line) for line in [*body, f"{k} += 1"]
        )

    def _do_branch(self) -> str:
        arrays = self.arrays()
        if not arrays:
            return ""
        name = self.random.choice(arrays)
        tests = [f"{self.scalar()} > 1", f"{name}.ndim > 1", f"{name}.dtype == np.float64", f"not {self.scalar()}",
                 f"{self.scalar()} == 2 and {name}.size > 3", f"isinstance({self.scalar()}, int)"] * 2
        tests += [f"{name}.sum() > 1", f"np.any({name} > 2)", f"{name}.size and {name}.max() > 2"]
        body, other = self._inner(arrays, 1), self._inner(arrays, 1)
        text = f"if {self.random.choice(tests)}:" + "".join("\n" + _indent(line) for line in body)
        if self.random.random() < 0.6:
            text += "\nelse:" + "".join("\n" + _indent(line) for line in other)
        return text

    def _do_call(self) -> str:
        names = self.arrays(lambda a: a.flags.writeable)
        if not names:
            return ""
        name, other = self.random.choice(names), self.random.choice(self.arrays())
        one, two = self.fresh(), self.fresh()
        return self.random.choice(
            [f"{one} = bump({name})", f"bump({name}, {self.scalar()})", f"{one}, {two} = split({name}, {other})",
             f"{one}, *{two} = split({name}, {other}, scale={self.scalar()})", f"{one} = bump({name}[1:])",
             f"{one} = np.meshgrid({name}, {other})[1]", f"{one}, {two} = np.divmod({name}, {other})",
             f"def inner(x, y={self.scalar()}):\n    z = x * y\n    return z + {other}\n{one} = inner({name})",
             f"{one}, {two} = {name}.shape, {name}.dtype"]
        )  # fmt: skip

    def _do_out(self) -> str:
        names = self.arrays(lambda a: a.flags.writeable)
        if not names:
            return ""
        name = self.random.choice(names)
        other = self.operand(self.env[name], 1)
        return self.random.choice(
            [f"np.add({name}, {other}, out={name})", f"np.copyto({name}, {other})", f"{name}.fill({self.scalar()})",
             f"np.multiply({name}, {other}, {name})", f"{name}.sort()", f"np.putmask({name}, {name} > 1, {self.scalar()})",
             f"np.exp({name}, out={name})", f"np.clip({name}, 0, 2, out={name})", f"{name}.flat[0] = 1", f"np.maximum.at({name}, 0, 3)"]
        )  # fmt: skip

    def _do_structure(self) -> str:
        names = self.arrays()
        if not names:
            return ""
        name, other, made = self.random.choice(names), self.random.choice(names), self.fresh()
        return self.random.choice(
            [f"{made} = []\nfor k in range(2):\n    {made}.append({name} * k)", f"{made} = {{'x': {name}, 'y': {other}.sum()}}",
             f"{made} = [{name}, {other}, {self.scalar()}]", f"{made} = ({name} + 1, {other})", f"{made} = {name}, {other}[...]",
             f"{made} = [{name} * k for k in range(2)]", f"{made} = dict(p={name}.max(), q={other}.T)"]
        )  # fmt: skip

    def _do_native(self) -> str:
        names = self.arrays()
        name = self.random.choice(names) if names else "WEIGHTS"
        made = self.fresh()
        return self.random.choice(
            [f"log.append({name}.ndim)", f"log.append(float(np.sum({name})))", f"log.append({name})", f"{made} = str({name}.shape)",
             f"log.append({name}.copy())", f"{made} = sorted({name}.ravel().tolist())", f"log[0] = {self.scalar()}"]
        )  # fmt: skip

    def _do_attempt(self) -> str:
        names = self.arrays(lambda a: a.flags.writeable)
        if not names:
            return ""
        name = self.random.choice(names)
        body = "".join("\n" + _indent(line) for line in self._inner(names, 1))
        return self.random.choice(
            [f"try:{body}\n    {name} = {name}[{self.random.choice(['0', '9', 'n'])}:] * 2\nexcept (IndexError, TypeError):\n    {name} = {name} + 1",
             f"with np.errstate(all='ignore'):{body}", f"try:{body}\nfinally:\n    {name} *= 2",
             f"assert {name}.ndim < 9\ndel {name}" if len(names) > 2 else ""]
        )  # fmt: skip

    def _do_return_early(self) -> str:
        names = self.arrays()
        return f"if {self.scalar()} == 3:\n    return {self.random.choice(names)}" if names else ""

    def result(self) -> str:
        """The last statement."""
        names = [name for name, value in self.env.items() if not isinstance(value, types.ModuleType | types.FunctionType)]
        chosen = self.random.sample(names, min(len(names), self.random.randint(1, 4)))
        roll = self.random.random()
        if roll < 0.08:
            return "pass"
        if roll < 0.2 and self.arrays():
            chosen = [self.expression(2)]
        if len(chosen) == 1:
            return f"return {chosen[0]}"
        return f"return {', '.join(chosen)}" if roll < 0.85 else f"return [{', '.join(chosen)}]"


def _indent(text: str) -> str:
    return "\n".join("    " + line for line in text.split("\n"))


def _broadcasts(one: np.ndarray, other: np.ndarray) -> bool:
    try:
        return np.broadcast_shapes(one.shape, other.shape) == other.shape
    except ValueError:
        return False
