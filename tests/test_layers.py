"""The house rules: imports point one way, files are small, private jax names stand in one file."""

import ast
from pathlib import Path

import pytest

from autojit.capture.loops import Loops

PACKAGE = Path(__file__).resolve().parent.parent / "autojit"
FILES = sorted(PACKAGE.rglob("*.py"))
ROOT = PACKAGE.parent
BESIDE = [*(ROOT / "tests").rglob("*.py"), *(ROOT / "bench").rglob("*.py"), *(ROOT / "docs").glob("*.py")]

# Rooms that stand in one line may not import each other, `errors` and `config` excepted.
ORDER = [
    ("handlers",),
    ("errors", "files", "logs", "threads"),
    ("config",),
    ("jax_names",),
    ("versions",),
    ("ir",),
    ("ops",),
    ("capture", "passes", "shard"),
    ("partition",),
    ("lowering",),
    ("compile",),
    ("backends",),
    ("runtime",),
    ("explain",),
    ("profiling",),
    ("lazy",),
    ("api",),
    ("launch",),
    ("notebook",),
    ("__init__",),
    ("__main__",),
]
RANK = {room: rank for rank, rooms in enumerate(ORDER) for room in rooms}
WITHOUT_JAX = {"errors", "config", "ir", "capture", "passes", "partition"}
PRIVATE_JAX_FILE = "compile/xla.py"


def relative(path: Path) -> str:
    return path.relative_to(PACKAGE).as_posix()


def room_of(path: Path) -> str:
    return relative(path).split("/")[0].removesuffix(".py")


def parse(path: Path) -> ast.Module:
    return ast.parse(path.read_text(), str(path))


def imported(node: ast.AST) -> list[str]:
    """The dotted names that an import statement makes available: `from a import b` gives `a.b`."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        return [f"{node.module or ''}.{alias.name}" for alias in node.names]
    return []


def own_rooms(node: ast.AST) -> list[str]:
    """The rooms of this package that an import statement reaches."""
    names = [name.split(".") for name in imported(node)]
    rooms = [parts[1] if len(parts) > 1 else "__init__" for parts in names if parts[0] == "autojit"]
    return [room if room in RANK else "__init__" for room in rooms]


def is_jax(name: str) -> bool:
    return name.split(".")[0] in ("jax", "jaxlib")


def is_private_jax(name: str) -> bool:
    return is_jax(name) and any(part.startswith("_") and not part.startswith("__") for part in name.split("."))


def dotted(node: ast.AST) -> str:
    """`a.b.c` for an attribute chain, "" for anything else."""
    if isinstance(node, ast.Attribute):
        head = dotted(node.value)
        return f"{head}.{node.attr}" if head else ""
    return node.id if isinstance(node, ast.Name) else ""


@pytest.fixture(params=FILES, ids=relative)
def path(request):
    return request.param


def test_file_stands_in_a_known_room(path):
    assert room_of(path) in RANK, f"give `{room_of(path)}` a place in ORDER"


def test_imports_point_one_way(path):
    mine = room_of(path)
    for node in ast.walk(parse(path)):
        assert not (isinstance(node, ast.ImportFrom) and node.level), f"line {node.lineno}: relative import"
        for room in own_rooms(node):
            assert room == mine or RANK[room] < RANK[mine], f"line {node.lineno}: `{mine}` imports `{room}`"


def test_own_imports_stand_at_the_top(path):
    for node in ast.walk(parse(path)):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        for inner in ast.walk(node):
            assert not own_rooms(inner), f"line {inner.lineno}: own import inside `{node.name}`"


def test_only_rooms_below_the_line_know_jax(path):
    if room_of(path) in WITHOUT_JAX:
        for node in ast.walk(parse(path)):
            names = imported(node)
            is_named = any(name.startswith("autojit.jax_names") for name in names)
            assert not is_named and not any(map(is_jax, names)), f"line {node.lineno}: `{room_of(path)}` imports jax"


def test_private_jax_names_stand_in_one_file(path):
    if relative(path) == PRIVATE_JAX_FILE:
        return
    for node in ast.walk(parse(path)):
        names = [*imported(node), dotted(node)]
        assert not any(map(is_private_jax, names)), f"line {node.lineno}: private jax name outside {PRIVATE_JAX_FILE}"


def test_file_is_small(path):
    assert len(path.read_text().splitlines()) <= 500


def test_files_beside_the_package_are_small():
    assert not [file for file in BESIDE if len(file.read_text().splitlines()) > 500]


def test_file_has_a_docstring(path):
    assert ast.get_docstring(parse(path)), "say what the file holds"


def test_no_unfinished_marks(path):
    text = path.read_text()
    assert not [mark for mark in ("TO" + "DO", "FIX" + "ME") if mark in text]


def test_rooms_of_the_capture_keep_their_own_names():
    """A method with a leading underscore is one class's own; those named after a node of the syntax tree are found by it."""
    owners: dict[str, str] = {}
    for room in Loops.__mro__:
        for name in vars(room):
            if name.startswith("_") and not name.startswith(("__", "_run_", "_eval_")):
                assert name not in owners, f"`{name}` of {room.__name__} is hidden by {owners[name]}'s"
                owners[name] = room.__name__
