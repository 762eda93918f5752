"""Random programs about names: they trade arrays, lose their values and are read too early, between loops and errors.

Statements have no sense but to bind, return, print and raise in every order; numbers are halves of small integers.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.programs_strategy import Program

_ARRAYS, _NUMBERS = "xyabc", ("t", "u", "i", "k", "1", "2", "0.5")
_RANGES = ("n", "n", "3", "7", "1, n", "n, 0, -1")
_PLACES = ("0", "1", "1:", "i % 3", "::2")
_DEEPEST = 2


class _Maker:
    """Makes statements as lines of text; a `depth` is that of loops and branches around them."""

    def __init__(self, random: Any) -> None:
        self.random = random
        self.made = 0

    def one(self, choices: Any) -> Any:
        return choices[self.random.randrange(len(choices))]

    def chance(self, part: float) -> bool:
        return self.random.random() < part

    def names(self, count: int) -> list[str]:
        rest = list(_ARRAYS)
        return [rest.pop(self.random.randrange(len(rest))) for _ in range(count)]

    def array(self) -> str:
        return self.one(_ARRAYS)

    def value(self) -> str:
        a, b, number = self.array(), self.array(), self.one(_NUMBERS)
        return self.one([
            a, a, f"{a} + {number}", f"{a} * 0.5", f"{a} + {b}", f"{a}.copy()", f"{a}[::-1]", f"{a} - {b} * 0.5",
            f"np.where({a} > {number}, {a}, {b})",
        ])  # fmt: skip

    def condition(self) -> str:
        a, limit = self.array(), self.one(["k", "1", "3", "t"])
        return self.one([
            f"{a}[{self.random.randrange(3)}] {self.one('<>')} {limit}", f"{a}.sum() > {self.one(['k * 5', '20', '-3'])}",
            f"n > {self.random.randrange(6)}", f"t > {self.random.randrange(4)}", f"{a}.max() > {self.array()}.min() + 2",
        ])  # fmt: skip

    def leave(self) -> str:
        a, b = self.array(), self.array()
        results = [a, a, f"{a}, {b}", f"t, {a}", f"{a}, ({a}, {b}), u", f"{a} + 1", f"{a}[0], t"]
        return f"return {self.one(results)}"

    def fail(self) -> str:
        return self.one([
            "raise ValueError('no')", "raise KeyError(t)", f"assert {self.condition()}, 'as'",
            f"raise ValueError(float({self.array()}[0]))",
        ])  # fmt: skip

    def statement(self, depth: int, in_loop: bool) -> list[str]:
        """One statement, with what is in it."""
        if depth < _DEEPEST and self.chance(0.35):
            return self.one([self.branch, self.branch, self.count, self.repeat, self.attempt, self.quiet])(depth, in_loop)
        if in_loop and self.chance(0.15):
            return [f"if {self.condition()}:", "    " + self.one(["break", "continue", self.leave(), self.leave()])]
        return self.one([self.bind] * 5 + [self.trade, self.write, self.write, self.number, self.early])()

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
        return [self.one([f"t = {bound}", f"t = {bound}", f"u = {self.one(['t', 'u + 1', 'i'])}", "print(t, n)"])]

    def early(self) -> list[str]:
        return [f"if {self.condition()}:", f"    {self.one([self.leave(), self.fail()])}"]

    def branch(self, depth: int, in_loop: bool) -> list[str]:
        lines = [f"if {self.condition()}:", *self.block(depth, in_loop, 2)]
        return [*lines, "else:", *self.block(depth, in_loop, 2)] if self.chance(0.5) else lines

    def count(self, depth: int, in_loop: bool) -> list[str]:
        lines = [f"for {self.one('ij')} in range({self.one(_RANGES)}):", *self.block(depth, True, 3)]
        return [*lines, "else:", *self.block(depth, in_loop, 1)] if self.chance(0.25) else lines

    def repeat(self, depth: int, in_loop: bool) -> list[str]:
        self.made += 1
        turn = f"w{self.made}"
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

    def attempt(self, depth: int, in_loop: bool) -> list[str]:
        lines = ["try:", *self.block(depth, in_loop, 2)]
        if self.chance(0.6):
            handled = "except (ValueError, KeyError, UnboundLocalError) as e:"
            return [*lines, handled, *self.block(depth, in_loop, 1)]
        return [*lines, "finally:", *self.block(_DEEPEST, False, 1)]

    def quiet(self, depth: int, in_loop: bool) -> list[str]:
        return ["with np.errstate(all='ignore'):", *self.block(depth, in_loop, 2)]

    def block(self, depth: int, in_loop: bool, most: int) -> list[str]:
        """Some statements, indented."""
        lines = [line for _ in range(self.random.randint(1, most)) for line in self.statement(depth + 1, in_loop)]
        return [f"    {line}" for line in lines]


def make_name_program(random: Any) -> Program:
    """A random program about names.

    Args:
        random: The source of all choices, like a `random.Random`.
    """
    maker = _Maker(random)
    lines = [f"t = {maker.one(['0', '1.5', 'k'])}", "u = 1"]
    lines += ["i = 0"] if maker.chance(0.8) else []
    lines += [f"a = {maker.one(['x', 'x * 2', 'y', 'np.zeros(5)'])}", f"b = {maker.one(['x', 'a', 'y', 'a + 1'])}"]
    if maker.chance(0.7):
        lines.append(f"c = {maker.one(['x', 'a', 'b', 'a + 1'])}")
    elif maker.chance(0.7):
        lines += ["if n > 3:", "    c = x * 3"]
    for _ in range(random.randint(2, 5)):
        lines += maker.statement(0, False)
    lines += [maker.one([maker.leave(), maker.leave(), maker.fail()])] if maker.chance(0.9) else []
    x, y = np.array([1.0, 2.0, 3.0, -1.0, 0.5]), np.array([4.0, 0.0, -2.0, 8.0, 1.0])
    calls = ((x, y, 4, 2.0), (x, y, 0, 0.5), (x, x, 3, 1.0), (x, y, 9, 6.0), (y, x, 5, -1.0))
    return Program("import numpy as np\n", ("x", "y", "n", "k"), ("\n".join(lines),), calls)
