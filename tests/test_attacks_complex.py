"""Complex functions of numbers so large, or so near a pole, that a step on the way is infinite."""

from __future__ import annotations

import math

import numpy as np
import pytest

import autojit as aj
from tests.helpers import check

# NumPy's own, of numbers that overflow.
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # NumPy's own

LARGE = [711 + 0j, 711 + 1j, -711 + 0j, 711j, 1 + 711j, -711j, 300j, 1.7e308 + 1e308j, -1.7e308 + 1j, 1e300 + 1e300j]
NEAR = [1e-154 + 1j, 1e-200 - 1j, 1 + 1e-200j, -1 + 1e-154j, 1j, 1 + 0j]
NAMES = "exp log log2 log10 sin cos tan sinh cosh tanh arctan arctanh arcsinh sqrt sign sinc exp2 abs".split()


@pytest.mark.parametrize("dtype", [np.complex128, np.complex64])
@pytest.mark.parametrize("name", NAMES)
def test_large_numbers_and_poles(name, dtype):
    function = getattr(np, name)

    def f(a):
        return function(a)

    for number in [*LARGE, *NEAR]:
        with np.errstate(all="ignore"):
            a = np.array([number, 0.5 + 0.25j], dtype)
        check(f, a)


@pytest.mark.parametrize("name", ["degrees", "radians"])
def test_exact_conversions_of_angles(name):
    convert = getattr(math, name)

    def f(a, b):
        return convert(float(a[0])) + float(b[0]), convert(a[1]) - b[1]

    for a, b in (([1 / 3, 0.7], [-19.098593, 40.1]), ([1e-307, 0.1], [1.0, 2.0])):
        a, b = np.array(a), np.array(b)
        fast = aj.autocluster(policy="eager", exact=True)(f)
        assert fast(a, b) == f(a, b) == fast(a, b)
