"""Random loop programs that draw random numbers: numbers in a loop program become draws of its own streams."""

from __future__ import annotations

import ast
import dataclasses
from typing import Any

from tests.loop_programs import make_loop_program
from tests.programs_strategy import Program

#: What may stand for a number: few bits, so that no sum is rounded.
_NUMBERS = (
    "rng.integers(-2, 3)", "np.random.randint(-2, 3)", "rng.integers(-8, 9) / 4", "other.integers(0, n + 1)",
    "int(rng.integers(0, 3))", "rng.choice([1, 2, -1])", "rng.binomial(3, 0.5)", "np.random.randint(k + 1)",
)  # fmt: skip
#: What may stand for an array as long as `a`.
_ARRAYS = (
    "rng.integers(-3, 4, len(a))", "np.random.randint(-3, 4, size=a.shape)", "rng.permutation(len(a))",
    "rng.integers(-8, 9, size=n) / 4",
)  # fmt: skip
_INDICES = ("rng.integers(0, n)", "np.random.randint(n)", "other.permutation(n)[0]", "rng.integers(0, n, 2)")
#: After the program: where each stream has come to.
_ENDS = ("rng.integers(1000)", "other.integers(1000)", "np.random.randint(1000)")


def make_draw_program(random: Any) -> Program:
    """A random loop program with draws in it.

    Args:
        random: The source of all choices, like a `random.Random`.
    """
    program = make_loop_program(random)
    tree = ast.parse("\n".join(program.lines))
    tree = _Drawing(random).visit(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Return):
            parts = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]
            node.value = ast.Tuple([*parts, *(ast.parse(end, mode="eval").body for end in _ENDS)], ast.Load())
    same = random.random() < 0.2
    first = [
        f"rng = np.random.default_rng({random.randrange(9)})",
        "other = rng" if same else f"other = np.random.default_rng({random.randrange(9)})",
        f"np.random.seed({random.randrange(9)})",
    ]
    lines = [*first, *ast.unparse(ast.fix_missing_locations(tree)).split("\n")]
    return dataclasses.replace(program, lines=("\n".join(lines),))


class _Drawing(ast.NodeTransformer):
    """Puts draws in the place of some operands."""

    def __init__(self, random: Any) -> None:
        self.random = random

    def visit_BinOp(self, node: ast.BinOp) -> Any:
        self.generic_visit(node)
        for side in ("left", "right"):
            operand = getattr(node, side)
            choices: tuple[str, ...] = ()
            if isinstance(operand, ast.Constant) and type(operand.value) in (int, float):
                choices = _NUMBERS
            elif isinstance(operand, ast.Name) and operand.id in ("a", "b"):
                choices = _ARRAYS
            if choices and self.random.random() < 0.4:
                setattr(node, side, ast.parse(self.random.choice(choices), mode="eval").body)
        return node

    def visit_For(self, node: ast.For) -> Any:
        self.generic_visit(node)
        for place in [node.iter, *(node.iter.args if isinstance(node.iter, ast.Call) else [])]:
            if isinstance(place, ast.Name) and place.id in ("a", "b") and self.random.random() < 0.4:
                drawn = ast.parse(self.random.choice(_ARRAYS), mode="eval").body
                if place is node.iter:
                    node.iter = drawn
                elif isinstance(node.iter, ast.Call):
                    node.iter.args[node.iter.args.index(place)] = drawn
        return node

    def visit_Compare(self, node: ast.Compare) -> Any:
        self.generic_visit(node)
        if isinstance(node.comparators[0], ast.Constant) and self.random.random() < 0.2:
            node.comparators[0] = ast.parse(self.random.choice(_NUMBERS), mode="eval").body
        return node

    def visit_Subscript(self, node: ast.Subscript) -> Any:
        self.generic_visit(node)
        if isinstance(node.slice, ast.Constant | ast.Name) and self.random.random() < 0.1:
            node.slice = ast.parse(self.random.choice(_INDICES), mode="eval").body
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        self.generic_visit(node)
        if isinstance(node.value, ast.Constant) and self.random.random() < 0.5:
            node.value = ast.parse(self.random.choice(_NUMBERS), mode="eval").body
        return node
