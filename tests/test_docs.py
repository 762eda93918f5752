"""The pages' code runs and prints what they say, and they name what the package has."""

import dataclasses
import doctest
import re
from pathlib import Path
from typing import NamedTuple

import pytest

import autojit
from autojit.__main__ import main
from autojit.config import FLAGS
from autojit.errors import REASONS
from autojit.launch import script
from docs.gen_call import call_page
from docs.gen_copies import COPIES, copied
from docs.gen_errors import errors_page

ROOT = Path(__file__).resolve().parent.parent
PAGES = [*map(ROOT.joinpath, COPIES), *sorted((ROOT / "docs").rglob("*.md"))]
#: Pages that `docs/gen.py` makes.
GENERATED = ("flags.md", "reasons.md", "ops.md", "errors.md")

#: The options of the commands that the pages name.
OPTIONS = "repeat rtol path preset peers kernels strict seed minutes count loops indexing numpy bodies table shard odd slow args json html stage cluster include exclude summary report seconds logdir settle keep_memory".split()


class Block(NamedTuple):
    """What stands between two fences; `below` is what stands directly above it, between it and the block before."""

    kind: str
    text: str
    below: str


def blocks(page):
    found, lines, kind, between = [], [], None, ""
    for line in page.read_text().splitlines():
        if not line.startswith("```"):
            lines.append(line)
            continue
        if kind is None:
            kind, between = line[3:].strip(), "\n".join(lines).strip()
        else:
            found.append(Block(kind, "\n".join(lines) + "\n", between))
            kind = None
        lines = []
    return found


def has_code(page):
    return any(block.kind == "python" for block in blocks(page))


def name(page):
    return page.relative_to(ROOT).as_posix()


class Program:
    """The blocks of a page as a program. Each is a file of its own, as in a notebook, or the page says that they are one."""

    def __init__(self, page, folder):
        text = page.read_text()
        self.is_one = re.search(r"are one file, `(\w+\.py)`", text)
        named = self.is_one or re.search(r"\b(\w+\.py):\d", text)
        self.file = named[1] if named else "page.py"
        self.folder, self.names, self.lines = folder, {"__name__": "page"}, 0
        if self.is_one:
            code = [block.text for block in blocks(page) if block.kind == "python"]
            (folder / self.file).write_text("\n\n".join(code))

    def run(self, number, text):
        folder = self.folder if self.is_one else self.folder / str(number)
        if self.is_one:
            before, self.lines = self.lines, self.lines + text.count("\n") + 2
            text = "\n" * before + text
        else:
            folder.mkdir()
            (folder / self.file).write_text(text)
        exec(compile(text, str(folder / self.file), "exec"), self.names)

    def without_folders(self, printed):
        return re.sub(re.escape(f"{self.folder}/") + r"(\d+/)?", "", printed)


@pytest.mark.parametrize("page", list(filter(has_code, PAGES)), ids=name)
def test_the_code_of_a_page_runs_and_prints_what_the_page_says(page, tmp_path, monkeypatch, capsys):
    """What stands directly below a block of code is what it prints; `...` stands for anything. A comment between the two
    says that the numbers are those of one machine.
    """
    monkeypatch.chdir(tmp_path)
    program, printed = Program(page, tmp_path), None
    for number, block in enumerate(blocks(page)):
        if block.kind == "python":
            program.run(number, block.text)
            printed = program.without_folders(capsys.readouterr().out)
        elif printed is not None and not block.below:
            said, printed = block.text.rstrip(), printed.rstrip()
            same = doctest.OutputChecker().check_output(said, printed, doctest.ELLIPSIS)
            assert same, f"printed:\n{printed}\nthe page says:\n{said}"
            printed = None
        else:
            printed = None


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_page_names_only_flags_and_reasons_that_exist(page):
    text = page.read_text()
    assert {flag for flag in re.findall(r"--([a-z]\w+)", text) if flag not in {*FLAGS, *OPTIONS}} == set()
    assert set(re.findall(r"reasons\.md#([\w-]+)", text)) <= REASONS.keys()


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_lead_to_files(page):
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text()):
        assert target.endswith(GENERATED) or (page.parent / target).exists(), target


@pytest.mark.parametrize("source", COPIES)
def test_links_of_copied_files_lead_to_pages(source):
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", copied(source)):
        assert target in COPIES.values() or (ROOT / "docs" / target).is_file(), target


def test_everything_public_is_documented():
    """And what an explanation holds."""
    text = (ROOT / "docs" / "reference" / "api.md").read_text() + errors_page()
    told = set(re.findall(r"\w+", text))
    assert set(autojit.__all__) <= told
    held = {hint for field in dataclasses.fields(autojit.Explanation) for hint in re.findall(r"[A-Z]\w+", str(field.type))}
    assert held - {"None", "Any", "Profiled", "Section"} <= told


def test_errors_say_what_the_page_says():
    page = errors_page()
    assert "for 2 reason(s):" in page and "did you mean `policy`?" in page and "[too-many-plans]: line 7 of `norm`" in page


def test_one_call_is_followed_through_every_stage():
    page = call_page()
    parts = ["probe_0.enter(rate, u)", "# `rate` is of type float", "def region_1(", "```diff\n", "| host-op |"]
    parts += ["host node: np.unique", "stablehlo.multiply", "ENTRY %main", "def plan(L_flow, L_u):"]
    places = [page.index(part) for part in parts]
    assert places == sorted(places) and "<!--" not in page
    assert [row.split("|")[2:6] for row in page.splitlines() if row.startswith("| `relax")] == [
        [" 3 ", " 2 ", " 3 ", " 2 "], [" 3 ", " 2 ", " 3 ", " 4 "], [" 5 ", " 4 ", " 5 ", " 6 "],
    ]
    assert all((ROOT / "autojit" / file).exists() for file in re.findall(r"`(\w+/\w+\.py)`", page))


COMMAND = re.compile(r"python3? -m ([\w.]+)([^\n`#|()]*)")


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_commands_of_a_page_exist(page, capsys):
    for module, words in COMMAND.findall(page.read_text()):
        if module == "autojit":
            check_command(words.split(), capsys)
        elif module.split(".")[0] in ("bench", "tests"):
            check_module(module, re.findall(r"--(\w+)", words))


def check_command(words, capsys):
    """A command of autojit takes these words."""
    if words[:1] == ["run"]:
        script.parse([*words[1:], "script.py"])
        return
    with pytest.raises(SystemExit) as ended:
        main([*words[:1], "--help"])
    told = capsys.readouterr().out
    assert ended.value.code == 0
    for word in words[1:2] if words[:1] == ["cache"] else re.findall(r"--\w+", " ".join(words)):
        assert word in told, f"{word} in {told}"


def check_module(module, options):
    """A module of the repository can be run, and knows the options."""
    place = ROOT.joinpath(*module.split("."))
    files = sorted(place.glob("*.py")) if place.is_dir() else [place.with_suffix(".py")]
    text = "".join(file.read_text() for file in files)
    assert "__main__" in text or (place / "__main__.py").exists(), module
    assert [option for option in options if f'"--{option}"' not in text and option not in FLAGS] == [], module


def test_the_front_page_is_the_readme():
    page = copied("README.md")
    assert page.startswith("# autojit\n") and "](docs/" not in page and "[how it\nworks](how-it-works.md)" in page
