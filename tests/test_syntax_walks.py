"""The ways through syntax trees, beside those of `ast`."""

from __future__ import annotations

import ast
import copy
from pathlib import Path

import pytest

from autojit.ir.syntax import LEAVES, SCOPES, give_places, parse, parts_of, walk, walk_statements

FILES = sorted((Path(__file__).parent.parent / "autojit").rglob("*.py"))[::12]
_UNSEEN = ast.operator | ast.unaryop | ast.boolop | ast.cmpop | ast.expr_context
TEXT = """
def f(x, *, k=1):
    global A
    with open(x) as file, g():
        try:
            for n in range(3):
                while n: break
                else: n = 1
        except* ValueError as error:
            return [y for y in x if (z := y)]
        finally:
            del x
    match x:
        case {"a": [1, *rest], **more} | C(b=2) if x: pass
        case _: return lambda a: (yield a)
    class C(B, metaclass=M):
        def g(self): return f"{x!r:>{k}}"
    async def h():
        async for a in b: await a
"""


@pytest.mark.parametrize("file", [None, *FILES], ids=str)
def test_all_that_has_something_to_see_is_met(file):
    tree = parse(TEXT if file is None else file.read_text())
    seen = [node for node in ast.walk(tree) if not isinstance(node, _UNSEEN)]
    assert list(walk(tree)) == seen
    for node in seen:
        parts = [part for part in ast.iter_child_nodes(node) if not isinstance(part, _UNSEEN)]
        assert parts_of(node) == parts
        assert type(node) not in LEAVES or not parts
        if isinstance(node, ast.stmt):
            held = [part for part in ast.walk(node) if isinstance(part, ast.stmt | ast.ExceptHandler | ast.match_case)]
            assert set(walk_statements(node)) == set(held)


def test_functions_and_classes_may_be_left_out():
    (function,) = parse(TEXT).body
    inside = list(walk(function, into_scopes=False))
    assert function in inside and not any(isinstance(node, SCOPES) for node in inside[1:])
    assert any(isinstance(node, ast.MatchMapping) for node in inside)


def places(tree):
    names = "lineno", "col_offset", "end_lineno", "end_col_offset"
    return [tuple(getattr(node, name, None) for name in names) for node in ast.walk(tree)]


@pytest.mark.parametrize("every", [1, 2, 3, 7])
@pytest.mark.parametrize("names", [("lineno", "col_offset", "end_lineno", "end_col_offset"), ("end_lineno",)])
def test_places_are_those_of_the_nodes_around(every, names):
    tree = parse(TEXT)
    for number, node in enumerate(ast.walk(tree)):
        for name in names if number % every == 0 and hasattr(node, "lineno") else ():
            if name.startswith("end"):
                setattr(node, name, None)
            else:
                delattr(node, name)
    expected = ast.fix_missing_locations(copy.deepcopy(tree))
    give_places(tree)
    assert places(tree) == places(expected)
