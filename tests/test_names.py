"""Names that statements read and bind; liveness and definite assignment."""

from __future__ import annotations

import ast
import linecache
import textwrap
import types
from pathlib import Path

import pytest

from autojit.capture.assigned import assigned_before
from autojit.capture.early import split_early
from autojit.capture.names import Flow, names, names_are_remembered
from autojit.capture.regions import RegionTree
from autojit.capture.source import source_of
from autojit.errors import CannotCapture


def parse(text: str) -> list[ast.stmt]:
    return ast.parse(textwrap.dedent(text)).body


@pytest.mark.parametrize(
    ("text", "reads", "binds"),
    [
        ("a = b + c", "b c", "a"),
        ("a += b", "a b", "a"),
        ("a[i] = b", "a i b", ""),
        ("ys = [x * s for x in xs]", "s xs", "ys"),
        ("ys = [x for x in x]", "x", "ys"),
        ("f = lambda a, b=c: a + d", "c d", "f"),
        ("def f(a, b=c):\n    t = a + d\n    return t", "c d", "f"),
        ("for i, j in z:\n    a = i", "z i", "i j a"),
        ("import numpy.linalg as la, os.path", "", "la os"),
        ("if (n := m) > 2:\n    pass", "m", "n"),
    ],
)
def test_reads_and_binds(text: str, reads: str, binds: str) -> None:
    found = names(parse(text))
    assert found.reads == set(reads.split())
    assert found.binds == set(binds.split())


def live(text: str, local: str) -> list[str]:
    """The names live after each top-level statement."""
    body = parse(text)
    flow = Flow(body, frozenset(local.split()))
    return [" ".join(sorted(flow.live_after(statement))) for statement in body]


def test_liveness_of_straight_code() -> None:
    assert live("a = x\nb = a\nc = b\nreturn_ = c", "a b c x") == ["a", "b", "c", ""]


def test_liveness_of_branches_and_loops() -> None:
    assert live("a = 1\nif p:\n    b = a\nc = b", "a b c p") == ["a b p", "b", ""]
    assert live("s = 0\nfor i in r:\n    s = s + t\n    t = i\nprint(s)", "s t i r") == ["r s t", "s", ""]
    assert live("k = 0\nwhile k < n:\n    k = k + d\nprint(1)", "k n d") == ["d k n", "", ""]


def test_liveness_of_handlers_and_closures() -> None:
    body = parse("a = 1\ntry:\n    a = f()\n    b = a\nexcept E:\n    print(a)\nprint(b)")
    flow = Flow(body, frozenset("ab"))
    inside = body[1].body[0]  # type: ignore[attr-defined] -- the test knows the statement
    assert flow.live_after(inside) >= {"a"}
    closure = parse("a = 1\ng = lambda: a\nb = 2")
    flow = Flow(closure, frozenset("abg"))
    assert flow.held([closure[0]], again=False) == {"a"}
    assert flow.held(closure, again=False) == set()
    assert flow.held(closure, again=True) == {"a"}


def bound(text: str, usually: bool = False) -> str:
    """The names bound before the last statement."""
    body = parse(text)
    return " ".join(sorted(assigned_before(body, frozenset(), usually)[id(body[-1])]))


def test_definite_assignment() -> None:
    assert bound("a = 1\nif p:\n    b = 1\n    c = 1\nelse:\n    c = 2\nend") == "a c"
    assert bound("for i in r:\n    a = 1\nend") == ""
    assert bound("try:\n    a = 1\nexcept E:\n    b = 2\nend") == ""
    assert bound("if p:\n    raise E\nelse:\n    a = 1\nend") == "a"
    assert bound("a = 1\ndel a\nend") == ""
    assert bound("if (n := f()) and (m := g()):\n    a = 1\nend") == "n"
    assert bound("with p as a, q as b, (r := s):\n    c = 1\nend") == "a"
    assert bound("with p(n := 1) as (a, b):\n    c = 1\nend") == "n"
    assert bound("match p:\n    case 1:\n        a = 1\nend") == ""
    assert bound("match p:\n    case 1 as k:\n        a = k\n    case _:\n        a = 2\nend") == "a"
    assert bound("match p:\n    case [k, *_] | k:\n        a = k\nend") == "a k"
    assert bound("match p:\n    case 1:\n        a = 1\n    case _ if q:\n        a = 2\nend") == ""
    assert bound("match p:\n    case 1:\n        a = 1\n    case _:\n        raise E\nend") == "a"


def test_what_is_usually_bound() -> None:
    assert bound("with p as a, q as b:\n    c = 1\n    del a\nend", True) == "b c"
    assert bound("with p:\n    return 1\nend", True) == ""
    assert bound("match p:\n    case 1:\n        a = 1\n    case 2:\n        a = b = 2\nend", True) == "a"
    assert bound("for i in r:\n    if p:\n        continue\n    a = 1\nend", True) == "a i"
    assert bound("for i in r:\n    if p:\n        a = 1\n        break\nelse:\n    raise E\nend", True) == "a i"
    assert bound("for i in r:\n    a = 1\n    break\nend", True) == "a i"
    assert bound("while True:\n    a = 1\n    if p:\n        break\n    b = 1\nend", True) == "a"
    assert bound("if p:\n    a = 1\nend", True) == ""
    assert bound("try:\n    with p:\n        a = 1\nfinally:\n    b = 1\nend", True) == "a b"


FILES = sorted((Path(__file__).parent / "programs").rglob("*.py"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_what_is_remembered_is_the_same(file: Path) -> None:
    """Regions, split early, with the names of each statement looked up once and again and again."""
    module = types.ModuleType("anything")
    functions = [
        node
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.FunctionDef) and not node.decorator_list
    ]
    for node in functions[:40]:
        text = ast.unparse(node)
        made = load(text, node.name, vars(module))
        if made is None:
            continue
        kept = [_regions(made)]
        with names_are_remembered():
            kept.append(_regions(made))
        assert kept[0] == kept[1], node.name


def load(text: str, name: str, namespace: dict[str, object]) -> types.FunctionType | None:
    """A function whose source can be found."""
    file = f"<names {name} {len(linecache.cache)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    try:
        exec(compile(text, file, "exec"), namespace)
    except NameError:  # a default value that is not there
        return None
    return namespace[name]  # type: ignore[return-value] -- a function, by its text


def _regions(function: types.FunctionType) -> list[object]:
    try:
        tree = RegionTree(source_of(function))
        split_early(tree)
    except CannotCapture as error:
        return [str(error)]
    return [
        (one.live_in, one.live_out, one.certain, one.moving, one.maybe, one.depth, one.live_return, one.usual, one.late)
        for one in tree.regions
    ]
