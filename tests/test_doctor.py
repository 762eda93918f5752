"""`python -m autojit doctor`."""

import dataclasses
import re

import numpy as np
import pytest

import autojit as aj
from autojit.__main__ import main
from autojit.launch import doctor
from autojit.ops.chapters import TABLE


def test_the_report_and_the_test(capsys, monkeypatch):
    monkeypatch.setenv("AUTOJIT_FLAGS", "--policy=eager")
    assert main(["doctor", "--seconds", "0.5"]) == 0
    text = capsys.readouterr().out
    for name in ("Python: 3.", "packages: autojit ", f"numpy {np.__version__}", "jaxlib ", "flags: ", "disk cache: ", "huge pages: "):
        assert name in text
    assert re.search(r"\b[1-9]\d* functions of the op table, 0 differ from NumPy", text)


def test_without_a_test(capsys):
    assert main(["doctor", "--seconds", "0"]) == 0
    assert "self-test" not in capsys.readouterr().out


@pytest.mark.filterwarnings("ignore:autojit .check:autojit.AutojitWarning")  # of the row that is broken on purpose
def test_a_difference_is_told(capsys, monkeypatch):
    row = TABLE["np.sin"]

    def wrong(node, xs, trap):
        return tuple(result + 1 for result in row.lower(node, xs, trap))

    broken = dataclasses.replace(row, lower=wrong)
    monkeypatch.setitem(TABLE.rows, "np.sin", broken)
    monkeypatch.setitem(TABLE._by_callable, id(np.sin), broken)
    monkeypatch.setattr(doctor, "TABLE", type("OneRow", (), {"rows": {"np.sin": broken}}))
    aj.clear_cache()  # programs of the row as it was
    assert main(["doctor", "--seconds", "20"]) == 1
    assert "differs from NumPy: np.sin: " in capsys.readouterr().out
