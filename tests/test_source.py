"""Functions whose source is theirs, although a second compilation gives another code object."""

import importlib
import os
import sys

import numpy as np

import autojit as aj
from autojit.capture.source import load
from tests.helpers import check


def power(a, n):
    if n == 0:
        return np.ones_like(a)
    return a * power(a, n - 1) + 1


def halved(a):
    if a.max() > 1:
        return halved(a / 2)
    return a


def scaled(a, kind):
    if kind in {"double", "twofold", "two", "zwei", "deux", "dos"}:
        return a * 2 + 1
    return a


class Holder:
    def power(self, a, n):
        return a if n == 0 else power(a, n) + self.power(a, n - 1)


def test_functions_of_a_module_that_call_themselves():
    check(power, np.arange(3.0), 3, whole=True)
    check(halved, np.arange(9.0))
    assert aj.autocluster(Holder.power).explain(Holder(), np.arange(3.0), 2).clusters


def test_sets_of_strings_have_no_order():
    check(scaled, np.arange(3.0), "two", whole=True)
    assert load(scaled).name == "scaled"


def test_a_module_that_is_edited_and_loaded_again(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    file = tmp_path / "module_edited.py"
    module = None
    for number in range(3):
        comments = "# a comment\n" * number
        file.write_text(
            "import numpy as np\nimport autojit as aj\n"
            f"{comments}@aj.autocluster(policy='eager')\ndef f(x):\n    return np.sin(x) * {number} + x.sum()\n"
        )
        os.utime(file, (1e9 + number, 1e9 + number))
        module = importlib.import_module("module_edited") if module is None else importlib.reload(module)
        x = np.arange(4.0)
        np.testing.assert_allclose(module.f(x), np.sin(x) * number + 6, rtol=1e-15)
        assert module.f.cache_info().plans == 1
    monkeypatch.delitem(sys.modules, "module_edited")
