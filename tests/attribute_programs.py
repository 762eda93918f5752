"""Random programs about attributes: those about names, with some of the names made attributes of one or two objects.

Now and then a statement gives way to the call of a method that assigns, in a loop or in a branch that data decides.
"""

from __future__ import annotations

import ast
from typing import Any

from tests.name_programs import make_name_program
from tests.programs_strategy import Program

#: Names that may become attributes; the arrays `x` and `y` have a value when the program begins.
_NAMES = ("x", "y", "a", "b", "c", "t", "u")
_CALLS = (
    "p.swap(q)", "q.swap(p)", "p.bump(k)", "q.bump(1)", "p.grow(n)", "q.grow(3)", "p.pick(q)", "q.pick(p)",
    "t = p.settle().sum()", "p.make(q)", "p.name = 'q'",
)  # fmt: skip
#: What may be done before a way is left.
_BEFORE = ("p.t = k", "q.t += 1", "q.y = p.x", "p.x = p.x * 0.5", "p.bump(1)", "q.new = 1", "p.y[0] = k")


class Thing:
    """A plain object."""

    def __init__(self, x: Any, y: Any) -> None:
        self.x, self.y, self.t = x, y, 0

    def swap(self, other: Thing) -> None:
        self.x, other.x = other.x, self.x

    def bump(self, k: Any) -> None:
        self.t = self.t + k
        self.x = self.x * 0.5

    def grow(self, n: int) -> None:
        for _ in range(n):
            self.y = self.y * 0.5 + 1
            self.t += 1

    def pick(self, other: Thing) -> None:
        if self.x[0] > 1:
            self.y = other.x * 0.5
            other.t = other.t + 2
        else:
            self.y = other.x + 1

    def settle(self) -> Any:
        if self.x.sum() > 3:
            return self.y
        self.t = self.t + 1
        return self.x

    def told(self, n: int) -> int:
        self.t = self.t + 1
        self.y[1] = self.t
        return n

    def make(self, other: Thing) -> None:
        self.made = other.y + 1
        other.y = self.made * 0.5

    def __repr__(self) -> str:
        return f"Thing({', '.join(f'{name}={value!r}' for name, value in vars(self).items())})"


class _Attributes(ast.NodeTransformer):
    """Makes names attributes, and statements calls; names that functions write stay names, and are bound."""

    def __init__(self, random: Any, owners: dict[str, str], written: set[str]) -> None:
        self.random = random
        self.owners = owners
        self.written = written

    def visit_Name(self, node: ast.Name) -> ast.expr:
        owner = self.owners.get(node.id)
        return node if owner is None else ast.Attribute(ast.Name(owner, ast.Load()), node.id, node.ctx)

    def _statement(self, node: Any) -> Any:
        used = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
        if self.random.random() < 0.15 and not _counts(node) and used.isdisjoint(self.written):
            return ast.parse(self.random.choice(_CALLS)).body
        return self.generic_visit(node)

    visit_Assign = visit_AugAssign = _statement

    def visit_If(self, node: ast.If) -> ast.If:
        self.generic_visit(node)
        if isinstance(node.body[-1], ast.Break | ast.Continue | ast.Return) and self.random.random() < 0.5:
            node.body[-1:-1] = ast.parse(self.random.choice(_BEFORE)).body
        return node

    def visit_For(self, node: ast.For) -> ast.For:
        self.generic_visit(node)
        if self.random.random() < 0.15:
            node.iter = ast.parse(f"range(p.told({self.random.choice('n37')}))", mode="eval").body
        return node


def _counts(node: ast.AST) -> bool:
    """Whether a statement counts the turns of a `while`, which would not end without it."""
    return isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name) and node.target.id[0] == "w"


def make_attribute_program(random: Any) -> Program:
    """A program of two objects, which may be one, of two arrays, and of two numbers."""
    names = make_name_program(random)
    tree = ast.parse(names.source)
    written = {name for node in ast.walk(tree) if isinstance(node, ast.Nonlocal) for name in node.names}
    owners = {name: random.choice("pq") for name in _NAMES if name not in written and random.random() < 0.6}
    function = _Attributes(random, owners, written).visit(tree.body[-1])
    lines = tuple(ast.unparse(statement) for statement in ast.fix_missing_locations(function).body)
    calls = []
    for x, y, n, k in names.calls:
        one, other = Thing(x, y), Thing(y * 0.5, x + 1)
        calls.append((one, one if random.random() < 0.15 else other, x, y, n, k))
    return Program(names.module, ("p", "q", "x", "y", "n", "k"), lines, tuple(calls))
