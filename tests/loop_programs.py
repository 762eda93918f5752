"""Random loop programs as source text: what loops over small arrays of small whole numbers may look like.

A program is grown one top-level statement at a time; each is kept if the program still runs, ends and computes without
rounding on its first arguments, or, now and then, if it raises: then it is the last.

What may stand where is written in `tests/loop_templates.py`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tests import loop_templates as templates
from tests.loop_judge import Immoderate, moderate
from tests.programs_strategy import Program
from tests.seen_names import IMPORTS, SeenNames

_MODULE = IMPORTS + templates.MODULE
_PARAMETERS = ("a", "b", "A", "n", "k", "log")
_INDICES = ("i", "j", "l")
#: How deep loops and branches may stand in each other.
_DEEPEST = 3
_TOKEN = re.compile(r"<(\w+)>")


def _indented(lines: Sequence[str]) -> list[str]:
    return ["    " + line for line in lines]


class LoopGrower(SeenNames):
    """Writes statements; knows which names stand for what.

    Attributes:
        vectors: Names of arrays as long as `a`.
        scalars: Names of numbers that come from elements.
        counters: Names of Python's integers.
        loops: The loop variables in scope, innermost last.
        values: Names of elements that loops go over.
    """

    def __init__(self, random: Any) -> None:
        super().__init__()
        self.random = random
        self.vectors = ["a", "b"]
        self.scalars = ["s"]
        self.counters = ["c"]
        self.loops: list[str] = []
        self.values: list[str] = []
        self._next = 0

    def pick(self, *choices: Any) -> Any:
        """One of the choices."""
        return self.random.choice(choices)

    def chance(self, probability: float) -> bool:
        """Whether something happens."""
        return self.random.random() < probability

    def fresh(self, letter: str) -> str:
        """A name that was not used before."""
        self._next += 1
        return f"{letter}{self._next}"

    def array_name(self) -> str:
        return self.pick(*self.vectors)

    def number_name(self) -> str:
        return self.pick(*self.scalars * 2, *self.counters * 2, *self.loops * 2, *self.values, "n", "k")

    def sure_name(self, kind: str) -> str:
        return self.pick("s", "c") if kind == "number" else self.pick("a", "b")

    def filled(self, choices: Sequence[str], depth: int = 1, slices: tuple[str, ...] = ()) -> str:
        """One of the templates with its tokens replaced; its arrays are of one length."""
        fixed = slices or self.slices()
        makers: dict[str, Callable[[], str]] = {
            "e": lambda: self.element(depth - 1),
            "v": lambda: self.vector(fixed, depth - 1),
            "p": lambda: self.part(fixed),
            "m": lambda: self.mask(fixed),
            "i": self.index,
            "n": lambda: self.integer(depth - 1),
            "c": lambda: self.condition(depth - 1),
            "V": lambda: self.pick(*self.vectors),
            "S": lambda: self.pick(*self.scalars),
            "C": lambda: self.pick(*self.counters),
            "l": lambda: self.pick(*self.loops) if self.loops else "k",
            "o": lambda: self.pick("<", ">", "<=", ">=", "==", "!="),
            "d": lambda: str(self.random.randint(-2, 4)),
        }
        once: dict[str, str] = {}

        def replaced(match: re.Match[str]) -> str:
            token = match[1]
            if token[-1].isdigit():  # `<p1>` is the same text wherever it stands
                if token not in once:
                    once[token] = makers[token[:-1]]()
                return once[token]
            return makers[token]()

        return _TOKEN.sub(replaced, self.pick(*choices))

    # ---- expressions

    def integer(self, depth: int = 1) -> str:
        """A Python integer."""
        if depth <= 0 or self.chance(0.6):
            return self.pick(
                *self.loops * 3, *self.counters, "n", "k", "len(a)", "a.shape[0]", str(self.random.randint(-2, 4))
            )
        return self.filled(templates.INTEGERS, depth)

    def index(self) -> str:
        """A position along an axis; mostly one that is inside."""
        return self.filled(templates.MOVING_INDICES if self.loops and self.chance(0.7) else templates.INDICES, 0)

    def slices(self) -> tuple[str, ...]:
        """Some slices along an axis that have the same length."""
        if self.loops and self.chance(0.65):
            one, other = self.pick(*self.loops), self.pick(*self.loops, "k")
            return tuple(text.replace("<l>", one).replace("<k>", other) for text in self.pick(*templates.MOVING_SLICES))
        return self.pick(*templates.SLICES)

    def part(self, slices: tuple[str, ...]) -> str:
        """A part of an array, one of the slices long; may be written."""
        text = self.pick(*slices)
        kind = self.random.random()
        if kind < 0.6:
            name = self.pick(*self.vectors)
            return name if text == ":" and self.chance(0.7) else f"{name}[{text}]"
        i = self.pick(*self.loops, "0", "-1") if self.chance(0.7) else self.index()
        return f"A[{i}, {text}]" if kind < 0.85 else f"A[{text}, {i}]"

    def vector(self, slices: tuple[str, ...], depth: int = 1) -> str:
        """An array, one of the slices long."""
        if self.asks["array"] and slices[0] == ":" and self.chance(0.2):
            return self.pick(*self.asks["array"])
        if depth <= 0 or self.chance(0.35):
            return self.part(slices)
        whole = slices[0] == ":" and self.chance(0.3)
        return self.filled(templates.WHOLE_VECTORS if whole else templates.VECTORS, depth, slices)

    def mask(self, slices: tuple[str, ...]) -> str:
        """A boolean array, one of the slices long."""
        return self.filled(templates.MASKS, 0, slices)

    def element(self, depth: int = 1) -> str:
        """A number that may come from an array."""
        if depth <= 0 or self.chance(0.4):
            i, j = self.pick(*self.loops, "0", "-1"), self.pick(*self.loops, "0", "-1")
            names = [f"{self.pick(*self.vectors)}[{i}]"] * 3 + [f"A[{i}, {j}]"] * 2
            names += [*self.scalars * 2, *self.values * 2, *self.loops, *self.counters, *self.asks["number"]]
            return self.pick(*names, self.pick("1", "2", "-1", "3.0", "0.5", "0", "LIMIT"))
        return self.filled(templates.ELEMENTS, depth)

    def condition(self, depth: int = 1) -> str:
        """What `if` and `while` ask."""
        if self.chance(0.3):
            return self.filled(templates.INTEGER_CONDITIONS, 1)
        if depth <= 0 or self.chance(0.4):
            return self.filled(("<e> <o> <e>",), depth)
        return self.filled(templates.CONDITIONS, 1)

    # ---- statements

    def block(self, depth: int, count: int) -> list[str]:
        """Some statements; names that only they bind are unknown afterwards."""
        known = self.names_now()
        lines = [line for _ in range(count) for line in self.statement(depth)]
        self.go_back(known)
        return lines

    def names_now(self) -> tuple[Any, ...]:
        """All names that are known."""
        return *(list(names) for names in (self.vectors, self.scalars, self.counters, self.values)), self.known()

    def go_back(self, known: tuple[Any, ...]) -> None:
        """Know the names that were known before."""
        self.vectors, self.scalars, self.counters, self.values, self.asks = known

    def statement(self, depth: int) -> list[str]:
        """One statement; at depth 0 at the top level."""
        kinds: list[tuple[float, Callable[[int], list[str]]]] = [(12, self._simple), (2.5, self._binding)]
        if depth < _DEEPEST:
            kinds += [(4 - depth, self._for), (1, self._while), (2.5 if self.loops else 1, self._if), (0.15, self._try)]
        if self.loops:
            kinds += [(1.2 + 2 * self.seeing, self._leave)]
        if self.seeing:
            kinds += [(1.5, self._see), (5, self._ask), (4, self._change), *[(2, self._over)] * (depth < _DEEPEST)]
        return self.random.choices([kind for _, kind in kinds], [weight for weight, _ in kinds])[0](depth)

    def _see(self, depth: int) -> list[str]:
        return self.see()

    def _ask(self, depth: int) -> list[str]:
        return self.ask()

    def _change(self, depth: int) -> list[str]:
        return [self.hide()] if self.loops and self.chance(0.6) else self.change()

    def _over(self, depth: int) -> list[str]:
        head, first = self.over()
        return [head, *_indented([*first, *self.block(depth + 1, self.random.randint(1, 3))])]

    def _simple(self, depth: int) -> list[str]:
        return self.filled(self.pick(*templates.STATEMENTS), 2).split("\n")

    def _binding(self, depth: int) -> list[str]:
        letter, names, choices = self.pick(
            ("s", self.scalars, templates.ELEMENTS),
            ("c", self.counters, ("n", "k", "0", "<n>")),
            ("u", self.vectors, templates.ARRAYS),
        )
        name = self.fresh(letter) if len(names) < 4 and not (self.loops and self.chance(0.6)) else self.pick(*names)
        line = f"{name} = {self.filled(choices, 2, (':',) if letter == 'u' else ())}"
        if name not in names:
            names.append(name)
        return [line]

    def _if(self, depth: int) -> list[str]:
        lines = [f"if {self.condition()}:", *_indented(self.block(depth + 1, self.random.randint(1, 2)))]
        while self.chance(0.2):
            lines += [f"elif {self.condition()}:", *_indented(self.block(depth + 1, 1))]
        if self.chance(0.4):
            lines += ["else:", *_indented(self.block(depth + 1, self.random.randint(1, 2)))]
        return lines

    def _try(self, depth: int) -> list[str]:
        lines = ["try:", *_indented(self.block(depth + 1, 2))]
        if self.seeing and self.chance(0.5):
            return [*lines, "finally:", *_indented(self.block(depth + 1, 1))]
        return [
            *lines,
            "except (IndexError, ValueError) as error:",
            "    log.append(str(error))",
        ]

    def _leave(self, depth: int) -> list[str]:
        before = self._simple(depth) if self.chance(0.3) else []
        return [f"if {self.condition()}:", *_indented([*before, self.filled(templates.LEAVES)])]

    def _for(self, depth: int) -> list[str]:
        if len(self.loops) >= len(_INDICES):
            return self._simple(depth)
        i, x = _INDICES[len(self.loops)], self.fresh("x")
        kind, inner, value = self.random.random(), i, []
        if kind < 0.78:
            header = f"for {i} in range({self.filled(templates.RANGES, 1)}):"
        elif kind < 0.85:
            header, value = f"for {i}, {x} in enumerate({self.pick('a', 'b', 'a[1:]', 'A.sum(axis=1)', 'a[:n]')}):", [x]
        elif kind < 0.9:
            header, value, inner = (
                f"for {x}, y{x} in zip({self.pick('a', 'a[1:]')}, {self.pick('b', 'b[::-1]', 'range(n)')}):",
                [x, f"y{x}"],
                "",
            )
        elif kind < 0.94:
            header, value, inner = f"for {x} in {self.pick('a', 'b[1:]', 'a[::-1]', '(1.0, 2.0, -1.0)')}:", [x], ""
        elif kind < 0.97:
            header, value = f"for {i}, {x} in enumerate(A):", [f"{x}[{i}]", f"{x}.sum()"]
        else:
            header = f"for {i} in {self.pick('reversed(range(n))', '[0, 2, 1]', '(k, 0, k)', 'list(range(n))')}:"
        self.loops += [inner] if inner else []
        self.values += value
        # Zero trips leave the loop's names as they were, or unbound.
        first = [f"{i} = {self.pick(0, -1)}"] if inner and self.chance(0.7) else []
        lines = [*first, header, *_indented(self.block(depth + 1, self.random.randint(1, 3)))]
        if inner:
            self.loops.pop()
        self.values = [name for name in self.values if name not in value]
        if self.chance(0.12):
            lines += ["else:", *_indented(self.block(depth + 1, 1))]
        if inner and self.chance(0.2):
            lines.append(self.pick(f"log.append({i})", f"a[0] += {i}"))
        return lines

    def _while(self, depth: int) -> list[str]:
        w, more = self.fresh("w"), self.condition()
        limit = self.pick("n", "k + 2", "4", "len(a)")
        first, test, step = (
            text.replace("<w>", w).replace("<m>", more).replace("<t>", limit) for text in self.pick(*templates.WHILES)
        )
        self.loops.append(w)
        body = self.block(depth + 1, self.random.randint(1, 3))
        leave = [f"if {w} >= {limit}:", "    break"] if test == "True" else []
        if test == "True" and self.seeing and self.chance(0.3):  # what stands before the test runs once more
            leave = [*(line for line in self._simple(depth)), *leave]
        # `continue` must not jump over the step.
        late = self.chance(0.3) and not any("continue" in line for line in body)
        body = [*body, step] if late else [step, *body]
        self.loops.pop()
        lines = [f"{w} = {first}", f"while {test}:", *_indented([*leave, *body])]
        if self.chance(0.12):
            lines += ["else:", *_indented(self.block(depth + 1, 1))]
        self.counters.append(w)
        return lines


def _array(random: Any, shape: tuple[int, ...], dtype: str) -> np.ndarray:
    values = np.array([random.randint(-4, 6) for _ in range(int(np.prod(shape)))], dtype).reshape(shape)
    if dtype == "float64" and values.size and random.random() < 0.03:
        values.flat[random.randrange(values.size)] = random.choice([np.nan, np.inf, -0.0])
    return values


def _call(random: Any, size: int, dtypes: tuple[str, ...]) -> tuple[Any, ...]:
    a, b, A = (_array(random, shape, dtype) for shape, dtype in zip([(size,), (size,), (size, size)], dtypes))
    return a, b, A, random.choice([size, size, size, size - 1, size // 2, 0]), random.choice([0, 1, 1, 2, 3]), []


def _is_loop(line: str) -> bool:
    return line.startswith(("for ", "while "))


def _grow(random: Any, call: tuple[Any, ...]) -> list[str]:
    grower = LoopGrower(random)
    lines = random.choice([["s = 0.0", "c = 0"], ["s = a[0]", "c = n"], ["s = 0", "c = 0"]])
    wanted = random.choice([1, 1, 2])
    grower.seeing, grower.simple = random.random() < 0.35, random.random() < 0.6
    if grower.seeing:
        lines += [*grower.hidden(), *(line for _ in range(random.randint(1, 2)) for line in grower.see())]
    for _ in range(40):
        if sum(map(_is_loop, lines)) >= wanted and random.random() < 0.7:
            break
        known = grower.names_now()
        maker = grower._for if random.random() < 0.4 else grower.statement
        trial = [*lines, *maker(0)]
        error = _error(trial, call)
        if error is None or random.random() < 0.05 and not isinstance(error, Immoderate):
            lines = trial
            if error is not None:
                break
        else:
            grower.go_back(known)
    ends = [*grower.vectors, "A", *grower.scalars, *grower.counters]
    if any(line.startswith(("for i ", "for i,")) for line in lines) and random.random() < 0.8:
        ends.append("i")
    ends += [text for texts in grower.asks.values() for text in texts]
    return [*lines, f"return {', '.join(ends)}"]


def _error(lines: list[str], call: tuple[Any, ...]) -> BaseException | None:
    try:
        return moderate(Program(_MODULE, _PARAMETERS, tuple(lines), ()).source, call).error
    except Immoderate as error:
        return error
    except SyntaxError as error:  # one conditional expression in another without parentheses
        return Immoderate(str(error))


def make_loop_program(random: Any) -> Program:
    """A random program of some loops, with two calls of the same shapes and one of others.

    Args:
        random: The source of all choices, like a `random.Random`.
    """
    while True:
        dtypes = tuple(random.choice(["float64", "float64", "int64"]) for _ in range(3))
        size = random.choice([4, 5, 5, 6, 7])
        first = _call(random, size, dtypes)
        first = (*first[:3], max(first[3], 2), *first[4:])
        lines = _grow(random, first)
        calls = (first, _call(random, size, dtypes), _call(random, random.choice([0, 1, 2, 3, 8, 9]), dtypes))
        if not any(map(_is_loop, lines)):
            continue
        if not any(isinstance(_error(lines, call), Immoderate) for call in calls):
            return Program(_MODULE, _PARAMETERS, tuple(lines), calls)
