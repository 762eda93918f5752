"""`python -m autojit explain`, and explanations as HTML."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import autojit as aj
from autojit.__main__ import main

PROGRAM = """
import numpy as np

SIZE = 7

def total(x, n=2):
    y = x * n
    print("<b>" + "&")
    return np.sum(y[:n])

class Model:
    def step(self, x):
        return x + 1

MODEL = Model()
"""


@pytest.fixture
def program(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "some_program.py").write_text(PROGRAM)
    yield tmp_path
    sys.modules.pop("some_program", None)
    while str(tmp_path) in sys.path:
        sys.path.remove(str(tmp_path))


@pytest.mark.parametrize("place", ["some_program", "some_program.py", "./some_program.py"])
def test_as_text(program, capsys, place):
    assert main(["explain", f"{place}:total", "--args", "np.ones(SIZE), n=3"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("total: ") and "[effect] the call of `print`" in " ".join(text.split())
    assert "|    7     y = x * n" in text


def test_as_data_and_with_specs(program, capsys):
    assert main(["explain", "some_program:total", "--args", "ArraySpec((3, 4), np.float32)", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["function"] == "total" and data["native_statements"][0]["page"] == "reference/reasons/#effect"


def test_a_page_that_cannot_be_written(program, capsys):
    assert main(["explain", "some_program:total", "--args", "np.ones(7)", "--html", "missing/report.html"]) == 1
    assert capsys.readouterr().err == "the page `missing/report.html` cannot be written: No such file or directory\n"


@pytest.mark.skipif(sys.platform == "win32", reason="pipes of POSIX")
@pytest.mark.parametrize("words", [["flags"], ["explain", "some_program.py:total", "--args", "np.ones(7)", "--json"]])
def test_nobody_reads_on(program, words):
    """As in `... | head`: no traceback, and Python does not flush once more when it ends."""
    reader, writer = os.pipe()
    os.close(reader)
    env = {**os.environ, "PYTHONPATH": str(Path(aj.__file__).parents[1])}
    with os.fdopen(writer, "w") as pipe:
        command = [sys.executable, "-m", "autojit", *words]
        done = subprocess.run(command, cwd=program, env=env, stdout=pipe, stderr=subprocess.PIPE, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (1, "")


def test_as_a_page(program):
    assert main(["explain", "some_program:total", "--args", "np.ones(7)", "--html", "report.html"]) == 0
    page = (program / "report.html").read_text()
    assert page.startswith("<!doctype html>") and "&lt;b&gt;" in page and "<b>\" +" not in page
    assert "prefers-color-scheme: dark" in page and "<script" not in page and not re.search(r"https?://", page)


def test_methods(program, capsys):
    assert main(["explain", "some_program:Model.step", "--args", "Model(), np.ones(3)"]) == 0
    assert "one program" in capsys.readouterr().out
    assert main(["explain", "some_program:MODEL.step", "--args", "np.ones(3)"]) == 0
    assert "one program" in capsys.readouterr().out


def test_helpers_in_another_file(program, capsys):
    (program / "some_helpers.py").write_text("import numpy as np\n\ndef twice(a):\n    return np.unique(a) * 2\n")
    (program / "some_program.py").write_text(
        "import some_helpers\n\ndef f(x):\n    y = x + 1\n    return some_helpers.twice(y)\n"
    )
    assert main(["explain", "some_program:f", "--args", "__import__('numpy').ones(5)", "--html", "page.html"]) == 0
    page = (program / "page.html").read_text()
    assert "some_helpers.py:4</code>" in page and page.count("host: host-op</td>") == page.count('<tr class="out">') == 1
    assert main(["explain", "some_program:f", "--args", "__import__('numpy').ones(5)"]) == 0
    text = capsys.readouterr().out
    assert "some_helpers.py:4: [host-op]" in " ".join(text.split())
    assert "cluster_1, host: host-op |    5     return some_helpers.twice(y)" in text
    sys.modules.pop("some_helpers", None)


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["some_program"], "names no function: write `module:function`"),
        (["no_such_program:f"], "`no_such_program` cannot be imported"),
        (["no_such_program.py:f"], "`no_such_program.py` cannot be imported"),
        (["some_program:totals"], "there is no `totals` in `some_program`"),
        (["some_program:SIZE", "--args", "1"], "`7` is not a Python function"),
        (["some_program:total"], "missing a required argument: 'x'; `--args` gives"),
        (["some_program:total", "--args", "np.one(3)"], "`--args np.one(3)` fails: AttributeError"),
        (["some_program:total", "--args", "(("], "fails: SyntaxError"),
    ],
)
def test_mistakes(program, capsys, arguments, message):
    assert main(["explain", *arguments]) == 1
    assert message in capsys.readouterr().err


def test_notebooks_show_plans_history_and_loops(no_collection):  # which frees what the page counts
    @aj.autocluster(policy="eager")
    def f(x, n):
        total = 0.0
        for row in x:
            total = total + row[0] * 2
        print(end="")
        return total * n + len("<tag>")

    f(np.ones((5, 3)), 2)
    text = f.explain(np.ones((5, 3)), 2)._repr_html_()
    assert text == f.explain(np.ones((5, 3)), 2).to_html()
    for part in ("<h4>Plans</h4>", "<h4>History</h4>", "<h4>Loops</h4>", "`x` is an array of dtype float64", "&lt;tag&gt;"):
        assert part in text
    assert text.count("<table") == text.count("</table>") and text.count("<tr") == text.count("</tr>")


def test_a_function_without_source_as_html():
    space = {}
    exec("def made(x):\n    return x * 2", space)
    text = aj.autocluster(space["made"]).explain(np.ones(3)).to_html()
    assert "no-source" in text
