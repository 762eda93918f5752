"""The README's example runs, and the pages say what the package has."""

import re
from pathlib import Path

import pytest

from autojit.config import FLAGS
from autojit.errors import REASONS

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]

#: The options of the commands that the pages name.
OPTIONS = "path preset peers kernels strict seed minutes count loops indexing numpy bodies table shard odd slow args json html stage cluster include exclude summary report seconds logdir".split()


def example(page: Path) -> str:
    return re.search(r"```python\n(import numpy.*?)```", page.read_text(), re.S).group(1)


@pytest.mark.parametrize("page", [ROOT / "README.md", ROOT / "docs" / "index.md"], ids=lambda page: page.name)
def test_example_runs(page, tmp_path, capsys):
    file = tmp_path / "example.py"
    file.write_text(example(page))
    exec(compile(file.read_text(), str(file), "exec"), {"__name__": "example"})
    assert capsys.readouterr().out.strip()


@pytest.mark.parametrize("page", [ROOT / "docs" / "tutorial.md", *sorted((ROOT / "docs" / "guides").glob("*.md"))], ids=lambda page: page.name)
def test_the_code_of_guides_runs(page, tmp_path, monkeypatch):
    """All blocks of a page as one program; what is printed stands in blocks of other kinds."""
    monkeypatch.chdir(tmp_path)
    lines, is_code = [], False
    for line in page.read_text().splitlines():
        is_code = is_code and line != "```"
        lines.append(line if is_code else "")
        is_code |= line == "```python"
    text = "\n".join(lines)
    file = tmp_path / "guide.py"
    file.write_text(text)
    exec(compile(text, str(file), "exec"), {"__name__": "guide"})


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_page_names_only_flags_and_reasons_that_exist(page):
    text = page.read_text()
    assert {name for name in re.findall(r"--([a-z]\w+)", text) if name not in {*FLAGS, *OPTIONS}} == set()
    assert set(re.findall(r"reasons\.md#([\w-]+)", text)) <= REASONS.keys()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_to_files(page):
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text()):
        generated = target.endswith(("flags.md", "reasons.md", "ops.md"))
        assert generated or (page.parent / target).exists(), target
