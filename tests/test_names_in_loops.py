"""Loops whose variables are called as autojit calls values of its own, beside values from outside of the loop."""

import numpy as np
import pytest

import autojit as aj
from tests.helpers import check

X, Y = np.linspace(0.0, 1.0, 8), np.linspace(2.0, 3.0, 8)
NAMES = ["index", "v0", "v1", "v2", "a0", "a1", "s0", "b1_v0", "b2_index", "b2_0", "body", "L_x", "K0", "zero", "größe"]


CARRIED = """
def f(x, y, n):
    first = y * 2.0
    second = first + x
    third = second * y
    NAME = x * 0.0
    for k in range(n):
        NAME = NAME * 0.5 + first * second - third
    return NAME
"""
WRITTEN = """
def f(x, y, n):
    first = y * 2.0
    second = first + x
    NAME = x * 0.0
    for k in range(n):
        NAME[k % 8] = NAME[(k + 1) % 8] * 0.5 + first[k % 8] * second[1]
    return NAME
"""
NESTED = """
def f(x, y, n):
    first = y * 2.0
    NAME = x * 0.0
    for k in range(n):
        other = NAME + first
        for NAME_inner in range(n):
            other = other * 0.5 + NAME * first
        NAME = NAME * 0.25 + other
    return NAME
"""
COUNTED = """
def f(x, y, n):
    NAME, first = 0, y * 2.0
    while NAME < n:
        x = x * 0.5 + first
        NAME += 2
    return x, NAME
"""


@pytest.mark.parametrize("template", [CARRIED, WRITTEN, NESTED, COUNTED], ids=["carried", "written", "nested", "counted"])
@pytest.mark.parametrize("name", NAMES)
def test_a_name_of_ours(name, template, tmp_path):
    file = tmp_path / "named.py"
    file.write_text("import numpy as np\n" + template.replace("NAME", name))
    names = {}
    exec(compile(file.read_text(), str(file), "exec"), names)
    function = names["f"]
    for n in (0, 1, 30):
        check(function, X.copy(), Y.copy(), n)
    strict = aj.jit_compile(function)
    np.testing.assert_allclose(strict(X.copy(), Y.copy(), 30)[0], function(X.copy(), Y.copy(), 30)[0], rtol=1e-12)
