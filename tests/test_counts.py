"""The command that counts everything: what it runs, what it reads of the output, what it does not run again."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests import counts
from tests.matrix.__main__ import main as matrix


def _part(kind: str) -> counts.Part:
    return next(part for part in counts.parts(1) if part.name.startswith(kind))


@pytest.mark.parametrize(
    "kind, text, expected",
    [
        ("table", "\n5000 programs from seed 1, 3839 compiled, 40 that raise, 2 failed, 342 s\n", ("5000", "2")),
        ("indexing", "\n20000 expressions from seed 1, 0 failed, 210 s\n", ("20000", "0")),
        (
            "conformance",
            "{'tests': 30, 'differ': 1, 'excluded': 0, 'failed in NumPy': 0, 'calls': 9, 'plans': 8, 'files without an outcome': 0}",
            ("30", "1"),
        ),
    ],
)
def test_last_lines(kind: str, text: str, expected: tuple[str, str]) -> None:
    assert re.findall(_part(kind).done, text, re.MULTILINE) == [expected]


def test_a_file_without_an_outcome_is_not_the_end() -> None:
    text = "{'tests': 30, 'differ': 0, 'calls': 9, 'plans': 8, 'files without an outcome': 1}"
    assert not re.findall(_part("conformance").done, text, re.MULTILINE)


def test_last_line_of_the_matrix(capsys: pytest.CaptureFixture[str]) -> None:
    matrix(["-k", "np.positive", "--shard", "1/8"])
    [(count, differing)] = re.findall(_part("matrix").done, capsys.readouterr().out, re.MULTILINE)
    assert int(count) > 0 and differing == "0"


def test_everything_is_counted() -> None:
    names = [part.name for part in counts.parts(1)]
    assert len(set(names)) == len(names)
    for kind, total in (("table", counts.PROGRAMS), ("indexing", counts.EXPRESSIONS)):
        found = [part.arguments for part in counts.parts(1) if part.name.startswith(kind)]
        assert sum(int(arguments[-1]) for arguments in found) == total


def test_what_was_kept_is_not_run_again(tmp_path: Path) -> None:
    kept, mine = tmp_path / "kept.jsonl", tmp_path / "ended.jsonl"
    line = '{"product": "%s", "kind": "k", "name": "%s", "count": 1, "differing": 0, "seconds": 1}\n'
    kept.write_text(line % ("one", "a") + line % ("two", "b"))
    assert list(counts.known("one", kept, mine)) == ["a"]
    mine.write_text(line % ("one", "c"))
    assert list(counts.known("one", kept, mine)) == ["a", "c"]


def test_what_has_ended_for_another_product_is_run_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[str] = []

    def run(part: counts.Part, folder: Path, identity: str) -> counts.Ended | None:
        ran.append(part.name)
        return None if part.name == "matrix-1" else counts.Ended(identity, part.kind, part.name, 10, 0, 1)

    monkeypatch.setattr(counts, "run", run)
    monkeypatch.setattr(counts, "KEPT", tmp_path / "kept.jsonl")
    monkeypatch.setattr("sys.argv", ["counts", str(tmp_path)])
    every = [part.name for part in counts.parts(1)]
    for identity, again in (("one", every), ("one", ["matrix-1"]), ("two", every)):
        monkeypatch.setattr(counts, "product", lambda identity=identity: identity)
        ran.clear()
        assert counts.main() == 1  # a part never ends
        assert sorted(ran) == sorted(again)
