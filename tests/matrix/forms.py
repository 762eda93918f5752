"""The forms in which a row of the op table is called: its samples as text, and those of its family."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from random import Random
from typing import Any

import numpy as np

from autojit.ir.op import Op
from tests.matrix.arguments import DTYPES, as_dtype, laid_out, ordinary, special
from tests.matrix.spellings import BINARY, OPERATORS, PARTIAL, REDUCTION, SPELLED, UNARY, WITHOUT

#: The shape of an argument by its letter; all of them take the dtype and the layout.
SHAPES = {"a": (3, 4), "q": (3, 3), "u": (6,), "t": (2, 3, 4)}


@dataclass(frozen=True, slots=True)
class Form:
    """One way to call a row.

    Attributes:
        text: A statement or more, or an expression, with names in braces; a statement binds `{r}`.
        bases: Values of arguments by name: the arrays among them in `varied` take dtype and layout.
        varied: The names of the arguments that take dtype and layout; other names are made by their letter.
    """

    text: str
    bases: dict[str, Any] = field(default_factory=dict)
    varied: tuple[str, ...] = ()

    @property
    def lines(self) -> list[str]:
        """The statements, the last of which binds `{r}`."""
        lines = self.text.split("\n")
        return lines if "{r}" in self.text else [*lines[:-1], "{r} = " + lines[-1]]


def forms_of(row: Op, rng: np.random.Generator) -> list[Form]:
    """All forms of a row; none for one that no program calls by itself."""
    if row.name in WITHOUT:
        return []
    texts = list(SPELLED.get(row.name, ()))
    name = row.name
    if name.endswith(".outer"):
        texts += [text.format(name=name) for text in PARTIAL]
    elif row.family == "elementwise" and name not in SPELLED and len(row.operands) == 1:
        texts += [text.format(name=name) for text in (UNARY if isinstance(row.call, np.ufunc) else UNARY[::3])]
    elif row.numpy and isinstance(row.numpy[0], np.ufunc) and len(row.operands) == 2 and row.samples is None:
        texts += [text.format(name=name) for text in BINARY]
        texts += [text.format(OPERATORS[name]) for text in _OPERATED if name in OPERATORS]
    elif row.family == "reduction" and len(row.operands) == 1 and row.samples is None and name not in SPELLED:
        texts += [f"{name}({{a}}{more})" for more in REDUCTION if _known(more, row)]
        texts += [f"{{a}}.{method}({more[2:]})" for method in row.methods for more in REDUCTION if _known(more, row)]
    texts += [f"{{a}}.{method}()" for method in row.methods if row.family == "elementwise" and name not in SPELLED]
    found = [Form(text) for text in dict.fromkeys(texts)]
    return found + (list(_from_samples(row, rng)) if row.samples is not None and (row.numpy or row.methods) else [])


_OPERATED = ("{{a}} {0} {{b}}", "{{n}} {0} {{a}}", "{{a}} {0} {{x}}", "{{a}} {0}= {{b}}\n{{r}} = {{a}}")


def _known(more: str, row: Op) -> bool:
    return set(re.findall(r"(\w+)=", more)) <= set(row.params)


def _from_samples(row: Op, rng: np.random.Generator) -> Iterator[Form]:
    assert row.samples is not None
    for args, kwargs in row.samples(rng):
        bases: dict[str, Any] = {}
        varied: list[str] = []
        texts = [_argument(arg, bases, varied) for arg in _grouped(row, args)]
        keywords = {name: _argument(value, bases, []) for name, value in kwargs.items()}
        ahead = [keywords.pop(name) for name in ("subscripts", "start_or_stop") if name in keywords]
        named = [f"{name}={text}" for name, text in keywords.items()]
        called = [*ahead, *(_named(row, number, text) for number, text in enumerate(texts))]
        if row.numpy:
            yield Form(f"{row.name}({', '.join([*called, *named])})", bases, tuple(varied))
        for method in row.methods:
            if texts and texts[0].startswith("{"):
                yield Form(f"{texts[0]}.{method}({', '.join([*texts[1:], *named])})", bases, tuple(varied))


def _grouped(row: Op, args: tuple[Any, ...]) -> list[Any]:
    """A sample's operands, with those of a sequence parameter as one list each."""
    sequences = sum(name.startswith("[") for name in row.operands)
    if not sequences or any(isinstance(arg, list | tuple) for arg in args):
        return list(args)
    count = (len(args) - len(row.operands) + sequences) // sequences
    rest = list(args)
    return [
        [rest.pop(0) for _ in range(count)] if name.startswith("[") else rest.pop(0) for name in row.operands if rest
    ]


def _named(row: Op, number: int, text: str) -> str:
    """An operand by its name, where it does not stand at its place among the function's parameters."""
    try:
        names = list(inspect.signature(row.numpy[0]).parameters)
    except (IndexError, TypeError, ValueError):
        return text
    name = row.operands[min(number, len(row.operands) - 1)].strip("[]")
    return f"{name}={text}" if name in names and names.index(name) != number else text


def _argument(value: Any, bases: dict[str, Any], varied: list[str]) -> str:
    """The text of a sample's argument. The first array takes dtypes, others too unless they hold indices."""
    if isinstance(value, list | tuple):
        inner = [_argument(part, bases, varied) for part in value]
        return f"[{', '.join(inner)}]" if isinstance(value, list) else f"({', '.join(inner)}{',' * (len(inner) == 1)})"
    if isinstance(value, np.ndarray):
        name = f"y{len(bases)}_"
        bases[name] = value
        if not varied or value.dtype.kind in "fc":
            varied.append(name)
        return "{" + name + "}"
    if isinstance(value, np.dtype):
        return f"np.{value.name}" if value.name != "bool" else "bool"
    if isinstance(value, type) and issubclass(value, np.generic):
        return f"np.{value.__name__}"
    if isinstance(value, type):
        return value.__name__
    return repr(value).replace("inf", "np.inf") if isinstance(value, float) else repr(value)


def arguments(form: Form, dtype: np.dtype, layout: str, random: Random) -> dict[str, Any]:
    """The arguments of a form for one dtype and layout."""
    made: dict[str, Any] = {}
    for name, base in form.bases.items():
        if name in form.varied:
            made[name] = laid_out(as_dtype(base, dtype), layout, random)
        else:
            made[name] = base.copy() if isinstance(base, np.ndarray) else base
    shape: tuple[int, ...] = (3, 4)
    for letter, own in SHAPES.items():
        if "{" + letter + "}" in form.text:
            made[letter] = _main(letter, own, dtype, layout, random)
            shape = np.shape(made[letter])
    for letter, maker in _OTHERS.items():
        if "{" + letter + "}" in form.text:
            made[letter] = maker(random, dtype, shape, layout)
    return made


def _main(letter: str, shape: tuple[int, ...], dtype: np.dtype, layout: str, random: Random) -> Any:
    if layout == "turned" and letter == "a":
        return ordinary(random, dtype, (4, 2, 3)).transpose(1, 2, 0)
    if layout == "turned" and letter == "t":
        return ordinary(random, dtype, (3, 4, 2)).transpose(2, 0, 1)
    if layout == "special" and letter == "a":
        return special(random, dtype, (4, 6))
    values = ordinary(random, dtype, shape)
    if letter == "q":
        values = values + (12 * np.eye(3)).astype(dtype)
    return laid_out(values, layout, random)


def _partner(random: Random, dtype: np.dtype, shape: tuple[int, ...], layout: str) -> Any:
    if layout == "special":
        return special(random, dtype, shape)
    return ordinary(random, dtype, shape, positive=True)


def _other(random: Random, dtype: np.dtype, shape: tuple[int, ...], layout: str) -> Any:
    return ordinary(random, random.choice(DTYPES), shape[-1:], positive=True)


_OTHERS: dict[str, Callable[..., Any]] = {
    "b": _partner,
    "c": _other,
    "s": lambda random, dtype, shape, layout: ordinary(random, dtype, (1,), positive=True)[0],
    "n": lambda random, dtype, shape, layout: random.randint(1, 5),
    "x": lambda random, dtype, shape, layout: 1.5,
    "m": lambda random, dtype, shape, layout: ordinary(random, np.dtype(bool), shape),
    "i": lambda random, dtype, shape, layout: ordinary(random, np.dtype(np.int64), shape, positive=True) % 3,
    "p": lambda random, dtype, shape, layout: np.array([2, 0, -1]),
    "o": lambda random, dtype, shape, layout: np.zeros(shape, dtype),
    "v": lambda random, dtype, shape, layout: ordinary(random, dtype, (3,)),
    "w": lambda random, dtype, shape, layout: ordinary(random, dtype, shape[-1:]),
}
