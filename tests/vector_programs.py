"""Random loops over a matrix and three vectors, many of which can run all their iterations at once."""

from __future__ import annotations

import random

PLACES = ("{i}", "{i} + 1", "{i} - 1", "2 * {i}", "{i} + 3", "9 - {i}", "0", "3", "{i} + 7")
SLICES = ("0:6", "2:14:2", "{i}:{i} + 6", "2 * {i}:2 * {i} + 6", "8:2:-1")
RAGGED = (
    "np.sum(A[{i}, :{i}])", "np.sum(a[{i} + 1:])", "np.sum(A[{i}:, {i}])", "(A[{i}, :{i}] @ A[:{i}, {i}])",
    "(a[:{i}] @ A[:{i}, 0:6])", "np.max(b[:{i} + 1])", "np.sum(A[{i} + 1:, 3])", "(A[:, {i}] @ A)[0:6]",
)  # fmt: skip
PARTS = (
    ("A[{i}, :{i}]", "A[2, :{i}]"), ("A[{i} + 1:, {i}]", "A[{i} + 1:, 0]"), ("A[{i}, :{i} + 1]", "A[{i} + 3, :{i} + 1]"),
    ("A[{i}:, {i}]", "A[{i}, {i}:]"), ("a[:{i}]", "b[:{i}]"), ("b[{i} + 1:]", "A[{i}, {i} + 1:]"),
    ("A[:{i}, {i}]", "A[{i}, :{i}]"),
)  # fmt: skip
RANGES = ("range(6)", "range(1, 6)", "range(5, -1, -1)", "range(6, 0, -1)", "range(0, 6, 2)", "range(4, 4)")


class Maker:
    """Makes the text of one program, from one source of chance."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)

    def program(self) -> str:
        """A loop, perhaps with a loop inside."""
        pick = self.chance.choice
        body = self.statements("i", ())
        if self.chance.random() < 0.3:
            inner = [f"for j in {pick(RANGES)}:", *(f"    {line}" for line in self.statements("j", ("i",)))]
            place = self.chance.randint(0, len(body))
            body = body[:place] + inner + body[place:] if self.chance.random() < 0.5 else inner
        return "\n".join([f"for i in {pick(RANGES)}:", *(f"    {line}" for line in body)])

    def statements(self, i: str, outer: tuple[str, ...]) -> list[str]:
        return [self.statement(i, outer) for _ in range(self.chance.randint(1, 3))]

    def statement(self, i: str, outer: tuple[str, ...]) -> str:
        pick, kind = self.chance.choice, self.chance.random()
        value = self.expression(i, 0, outer)
        if kind < 0.2:
            return f"s {pick(('+', '+', '-'))}= np.sum({value})"
        if kind < 0.25:
            return f"s = np.{pick(('maximum', 'minimum'))}(s, np.sum({value}))"
        if kind < 0.35:
            return f"u {pick('+-')}= {value}"
        if kind < 0.5:
            target, other = (part.format(i=i) for part in pick(PARTS))
            if self.chance.random() < 0.2:
                return f"{target} = {other} = {other} * 2 + {target}"
            stored = pick((other, f"{other} * 2", f"{other} + {target}", "s", i, "1.0", f"a[{i}]"))
            return f"{target} {pick(('=', '+=', '*=', '-='))} {stored}"
        target = self.target(i, outer)
        return f"{target} {'=' if target == 't' else pick(('=', '=', '+=', '-='))} {value}"

    def target(self, i: str, outer: tuple[str, ...]) -> str:
        pick = self.chance.choice
        place = pick((i, i, f"{i} + 1", f"2 * {i}", f"9 - {i}", f"{i} + 7", *outer))
        other = pick((i, f"{i} + 1", f"9 - {i}", *outer))
        vector = pick("abc")
        return pick((
            f"{vector}[{place}]", f"{vector}[{place}]", f"A[{place}, 0:6]", f"A[0:6, {place}]", f"A[{place}, {other}]",
            f"A[3, {place}]", "t", "t", "b[3]", "A[0:6, 2]",
        ))  # fmt: skip

    def expression(self, i: str, depth: int, outer: tuple[str, ...]) -> str:
        pick, kind = self.chance.choice, self.chance.random()

        def place() -> str:
            return pick((*PLACES, *outer, *(f"{{i}} + {name}" for name in outer))).format(i=i)

        def inner() -> str:
            return self.expression(i, depth + 1, outer)

        if kind < 0.25:
            return f"{pick('abc')}[{place()}]"
        if kind < 0.35:
            return f"{pick('abc')}[{pick(SLICES).format(i=i)}]"
        if kind < 0.48:
            return pick((
                f"A[{place()}, 0:6]", f"A[0:6, {place()}]", f"A[{place()}, {place()}]", f"A[{i}:{i} + 6, {i}]",
                f"A[{i}, {i}:{i} + 6]", f"A[2, {place()}]", f"A[{i}:{i} + 2, {i}:{i} + 6].sum(axis=0)",
            ))  # fmt: skip
        if kind < 0.56:
            return pick(RAGGED).format(i=i)
        if kind < 0.6:
            return pick((i, "2", "1.0", "s"))
        if kind < 0.66:
            return f"np.sum({inner()})"
        if kind < 0.74:
            return pick(
                (
                    f"(A[0:6, 0:4] @ A[{i}:{i} + 4, {i}])",
                    f"(A[{i}, 0:6] @ A[0:6, 0:6])",
                    f"np.dot(A[0:6, {i}], A[{i}, 0:6])",
                )
            )
        if kind < 0.78:
            return f"np.where({inner()} > 2, {inner()}, {inner()})"
        return "1.0" if depth > 2 else f"({inner()} {pick('+-*')} {inner()})"
