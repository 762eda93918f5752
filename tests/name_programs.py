"""Random programs about names: they trade arrays, lose their values and are read too early, between loops and errors.

Statements have no sense but to bind, return, print and raise in every order; numbers are halves of small integers.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.programs_strategy import Program
from tests.seen_names import IMPORTS, SeenNames

_ARRAYS, _NUMBERS = "xyabc", ("t", "u", "i", "k", "1", "2", "0.5")
_RANGES = ("n", "n", "3", "7", "1, n", "n, 0, -1")
_PLACES = ("0", "1", "1:", "i % 3", "::2")
_DEEPEST = 2


class _Maker(SeenNames):
    """Makes statements as lines of text; a `depth` is that of loops and branches around them."""

    def __init__(self, random: Any) -> None:
        super().__init__()
        self.random = random
        self.made = 0
        self.turns: list[str] = []

    def one(self, choices: Any) -> Any:
        return choices[self.random.randrange(len(choices))]

    def chance(self, part: float) -> bool:
        return self.random.random() < part

    def names(self, count: int) -> list[str]:
        rest = list(_ARRAYS)
        return [rest.pop(self.random.randrange(len(rest))) for _ in range(count)]

    def array(self) -> str:
        return self.one(_ARRAYS)

    def array_name(self) -> str:
        return "d" if self.chance(0.02) else self.array()

    def number_name(self) -> str:
        return self.one(["t", "t", "u", "i", "n", "k", *self.turns * 2, *["j"] * self.chance(0.05)])

    def sure_name(self, kind: str) -> str:
        return self.one("tu") if kind == "number" else self.one("abx")

    def value(self) -> str:
        if self.asks["array"] and self.chance(0.2):
            return self.one(self.asks["array"])
        a, b, number = self.array(), self.array(), self.one(_NUMBERS)
        return self.one([
            a, a, f"{a} + {number}", f"{a} * 0.5", f"{a} + {b}", f"{a}.copy()", f"{a}[::-1]", f"{a} - {b} * 0.5",
            f"np.where({a} > {number}, {a}, {b})",
        ])  # fmt: skip

    def condition(self) -> str:
        a, limit = self.array(), self.one(["k", "1", "3", "t"])
        if self.seeing and self.chance(0.3):
            number = self.one(["h", self.number_name(), *self.asks["number"]])
            return f"{number} {self.one(['<', '>', '>=', '=='])} {limit}"
        return self.one([
            f"{a}[{self.random.randrange(3)}] {self.one('<>')} {limit}", f"{a}.sum() > {self.one(['k * 5', '20', '-3'])}",
            f"n > {self.random.randrange(6)}", f"t > {self.random.randrange(4)}", f"{a}.max() > {self.array()}.min() + 2",
        ])  # fmt: skip

    def leave(self) -> str:
        a, b = self.array(), self.array()
        asked = self.asked()
        if asked is not None and self.chance(0.7):
            return f"return {self.one([f'{a}, {asked}', f't, {asked}, {b}', asked, f'[{asked}, {self.asked()}]'])}"
        results = [a, a, f"{a}, {b}", f"t, {a}", f"{a}, ({a}, {b}), u", f"{a} + 1", f"{a}[0], t"]
        return f"return {self.one(results)}"

    def fail(self) -> str:
        return self.one([
            "raise ValueError('no')", "raise KeyError(t)", f"assert {self.condition()}, 'as'",
            f"raise ValueError(float({self.array()}[0]))",
        ])  # fmt: skip

    def statement(self, depth: int, in_loop: bool) -> list[str]:
        """One statement, with what is in it."""
        if self.seeing and self.chance(0.35):
            if in_loop and self.chance(0.4):
                return [self.hide()]
            return self.one([self.see, self.ask, self.ask, self.ask, self.change, self.change])()
        if depth < _DEEPEST and self.chance(0.35 + 0.1 * self.seeing):
            loops = [self.count, self.repeat, *[self.count, self.repeat, self.over_functions] * self.seeing]
            return self.one([self.branch, self.branch, *loops, self.attempt, self.quiet])(depth, in_loop)
        if in_loop and self.chance(0.15 + 0.15 * self.seeing):
            return [f"if {self.condition()}:", "    " + self.one(["break", "continue", self.leave(), self.leave()])]
        early = [] if self.seeing and self.simple else [self.early]
        return self.one([self.bind] * 5 + [self.trade, self.write, self.write, self.number, *early])()

    def bind(self) -> list[str]:
        return [f"{self.array()} = {self.value()}"]

    def trade(self) -> list[str]:
        names = self.names(self.one([2, 2, 3]))
        return [f"{', '.join(names)} = {', '.join([*names[1:], self.one([names[0], self.value()])])}"]

    def write(self) -> list[str]:
        masked = f"{self.array()}[{self.array()} > k] = {self.one(['0.0', '1', self.array() + '[:2]'])}"
        kind, number = self.one(["=", "+=", "*="]), self.one(["t", "2", "k", "0.5"])
        return [self.one([masked, *[f"{self.array()}[{self.one(_PLACES)}] {kind} {number}"] * 4])]

    def number(self) -> list[str]:
        bound = self.one(["t + 1", "u", "t * 2", "int(k)", f"{self.array()}[1]"])
        return [self.one([f"t = {bound}", f"t = {bound}", f"u = {self.one(['t', 'u + 1', 'i'])}", "print(t, n)" if not self.seeing else "t = t + 1"])]

    def early(self) -> list[str]:
        return [f"if {self.condition()}:", f"    {self.one([self.leave(), self.fail()])}"]

    def branch(self, depth: int, in_loop: bool) -> list[str]:
        lines = [f"if {self.condition()}:", *self.block(depth, in_loop, 2)]
        return [*lines, "else:", *self.block(depth, in_loop, 2)] if self.chance(0.5) else lines

    def count(self, depth: int, in_loop: bool) -> list[str]:
        lines = [f"for {self.one('ij')} in range({self.one(_RANGES)}):", *self.block(depth, True, 3)]
        return [*lines, "else:", *self.block(depth, in_loop, 1)] if self.chance(0.25) else lines

    def over_functions(self, depth: int, in_loop: bool) -> list[str]:
        head, first = self.over()
        lines = [head, f"    {first[0]}", *self.block(depth, True, 3)]
        return [*lines, "else:", *self.block(depth, in_loop, 1)] if self.chance(0.25) else lines

    def repeat(self, depth: int, in_loop: bool) -> list[str]:
        self.made += 1
        turn = f"w{self.made}"
        if self.seeing:
            return self.left_first(turn, depth, in_loop)
        return [
            f"{turn} = 0",
            f"while {self.one(['True', self.condition(), f'{turn} < n'])}:",
            f"    {turn} += 1",
            f"    if {turn} > {self.one([5, 12, 30])}:",
            f"        {self.one(['break', self.leave(), self.fail()])}",
            f"    if {turn} > 40:",
            "        raise ValueError('long')",
            *self.block(depth, True, 3),
        ]

    def left_first(self, turn: str, depth: int, in_loop: bool) -> list[str]:
        """A loop over a counter that others may see, which is left at once or behind other statements."""
        before = self.see() if self.chance(0.3) else []
        self.turns.append(turn)
        before += self.see() if self.chance(0.3) else []
        leave = [f"    if {turn} >= {self.one(['n', '3', 'k', '6'])}:", f"        {self.one(['break', 'break', self.leave()])}"]
        late = self.block(depth, True, 1) if self.chance(0.5) else []
        late = [] if any("continue" in line for line in late) else late
        lines = [
            f"{turn} = 0", *before, f"while {self.one(['True', 'True', self.condition()])}:", *late, *leave, f"    {turn} += 1",
            *self.block(depth, True, 3),
        ]  # fmt: skip
        return [*lines, "else:", *self.block(depth, in_loop, 1)] if self.chance(0.2) else lines

    def attempt(self, depth: int, in_loop: bool) -> list[str]:
        lines = ["try:", *self.block(depth, in_loop, 2)]
        if self.chance(0.6):
            handled = "except (ValueError, KeyError, NameError) as e:"
            return [*lines, handled, *self.block(depth, in_loop, 1)]
        return [*lines, "finally:", *self.block(_DEEPEST - self.seeing, False, 1)]

    def quiet(self, depth: int, in_loop: bool) -> list[str]:
        return ["with np.errstate(all='ignore'):", *self.block(depth, in_loop, 2)]

    def block(self, depth: int, in_loop: bool, most: int) -> list[str]:
        """Some statements, indented; most functions that they make are unknown afterwards."""
        known = self.known()
        lines = [line for _ in range(self.random.randint(1, most)) for line in self.statement(depth + 1, in_loop)]
        lines += [self.hide()] if self.seeing and in_loop and self.chance(0.4) else []
        self.asks = self.asks if self.chance(0.2) else known
        return [f"    {line}" for line in lines]


def make_name_program(random: Any) -> Program:
    """A random program about names.

    Args:
        random: The source of all choices, like a `random.Random`.
    """
    maker = _Maker(random)
    maker.seeing, maker.simple = maker.chance(0.5), maker.chance(0.6)
    lines = [f"t = {maker.one(['0', '1.5', 'k'])}", "u = 1"]
    lines += ["i = 0"] if maker.seeing or maker.chance(0.8) else []
    lines += [f"a = {maker.one(['x', 'x * 2', 'y', 'np.zeros(5)'])}", f"b = {maker.one(['x', 'a', 'y', 'a + 1'])}"]
    if maker.seeing or maker.chance(0.7):
        lines.append(f"c = {maker.one(['x', 'a', 'b', 'a + 1'])}")
    elif maker.chance(0.7):
        lines += ["if n > 3:", "    c = x * 3"]
    if maker.seeing:
        lines += [*maker.hidden(), *(line for _ in range(random.randint(1, 3)) for line in maker.see())]
        lines += maker.one([maker.count, maker.repeat, maker.repeat, maker.over_functions])(0, False)
    for _ in range(random.randint(2, 5)):
        lines += maker.statement(0, False)
    ends = [maker.leave(), maker.leave(), maker.leave() if maker.seeing else maker.fail()]
    lines += [maker.one(ends)] if maker.chance(0.9) else []
    x, y = np.array([1.0, 2.0, 3.0, -1.0, 0.5]), np.array([4.0, 0.0, -2.0, 8.0, 1.0])
    calls = ((x, y, 4, 2.0), (x, y, 0, 0.5), (x, x, 3, 1.0), (x, y, 9, 6.0), (y, x, 5, -1.0))
    module = f"{IMPORTS}import numpy as np\n" if maker.seeing else "import numpy as np\n"
    return Program(module, ("x", "y", "n", "k"), ("\n".join(lines),), calls)
