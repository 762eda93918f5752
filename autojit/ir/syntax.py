"""Python's parser, as threads need it, and faster ways through its trees: they are gone for every function."""

from __future__ import annotations

import ast
from collections.abc import Container, Iterable, Iterator
from typing import Any

from autojit.ir.warned import unheard

#: More threads than this do not disturb each other at the same moment.
_TRIES = 20


def parse(text: str) -> ast.Module:
    """`ast.parse` for many threads.

    CPython before 3.11.8 and 3.12.2 counts the depth of a tree in a place that all threads share: two that parse at the
    same time may end in a SystemError that says nothing about the text (python/cpython#106905).

    What the parser warns of, it has warned of when the user's module was compiled.

    Raises:
        SyntaxError: As `ast.parse`.
    """
    for _ in range(_TRIES):
        try:
            return unheard(lambda: ast.parse(text))
        except SystemError:
            continue
    return unheard(lambda: ast.parse(text))


#: Nodes without nodes in them.
LEAVES = frozenset(
    [ast.Constant, ast.Load, ast.Store, ast.Del, ast.Pass, ast.Break, ast.Continue, ast.Global, ast.Nonlocal]
    + [kind for base in (ast.operator, ast.unaryop, ast.boolop, ast.cmpop) for kind in base.__subclasses__()]
)
#: Fields that hold a string, a number, an operator or a context.
_PLAIN = frozenset(
    "ctx op ops id attr arg module level asname type_comment kind conversion is_async simple rest kwd_attrs".split()
)
#: The other fields, by kind of node.
_FIELDS = {
    kind: tuple(name for name in kind._fields if name not in _PLAIN)
    for kind in vars(ast).values()
    if isinstance(kind, type) and issubclass(kind, ast.AST)
}
SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
#: The fields that hold statements, or what holds statements.
_BLOCKS = ("body", "handlers", "orelse", "finalbody", "cases")
_HAVE_BLOCKS = (ast.stmt, ast.ExceptHandler, ast.match_case)


def parts_of(node: Any) -> list[Any]:
    """`ast.iter_child_nodes`, but for operators and contexts."""
    found: list[Any] = []
    for name in _FIELDS[type(node)]:
        value = getattr(node, name, None)
        if type(value) is list:
            found += [item for item in value if isinstance(item, ast.AST)]
        elif isinstance(value, ast.AST):
            found.append(value)
    return found


def walk(node: Any, into_scopes: bool = True) -> Iterator[Any]:
    """`ast.walk`, in its order, but for operators and contexts.

    Args:
        node: Where it begins.
        into_scopes: Whether to go into the functions and classes that `node` defines, too.
    """
    found = [node]
    for one in found:  # it grows
        yield one
        if type(one) not in LEAVES:
            parts = parts_of(one)
            found += parts if into_scopes else [part for part in parts if not isinstance(part, SCOPES)]


def statements_of(node: Any) -> list[Any]:
    """The statements that a statement holds, one level down, with the handlers and cases that hold statements."""
    if not isinstance(node, _HAVE_BLOCKS):
        return []
    return [part for name in _BLOCKS for part in getattr(node, name, ())]


def walk_statements(node: Any) -> Iterator[Any]:
    """A statement and all that it holds, with those of the functions and classes that it defines."""
    found = [node]
    for one in found:  # it grows
        yield one
        found += statements_of(one)


def has_loop(statements: Iterable[Any]) -> bool:
    """Whether there is a `for` or `while` loop among statements, those of functions and classes apart."""
    found = list(statements)
    for one in found:  # it grows
        if isinstance(one, ast.For | ast.While):
            return True
        if not isinstance(one, SCOPES):
            found += statements_of(one)
    return False


def give_places(node: Any, but: Container[int] = ()) -> None:
    """`ast.fix_missing_locations`: what has no place in the file gets that of the node around it.

    Args:
        node: The outermost node.
        but: The identities of nodes that have places, and so has all that is in them.
    """
    left = [(node, (1, 0, 1, 0))]
    while left:
        one, place = left.pop()
        if "lineno" in one._attributes:
            place = _placed(one, place)
        if type(one) not in LEAVES and id(one) not in but:
            left += [(part, place) for part in parts_of(one)]


def _placed(node: Any, place: tuple[int, int, int, int]) -> tuple[int, int, int, int]:
    try:
        own = node.lineno, node.col_offset, node.end_lineno, node.end_col_offset
        if None not in own:
            return own
    except AttributeError:
        pass
    for name, value in zip(("lineno", "col_offset", "end_lineno", "end_col_offset"), place, strict=True):
        if getattr(node, name, None) is None:
            setattr(node, name, value)
    return node.lineno, node.col_offset, node.end_lineno, node.end_col_offset
