"""Programs that XLA itself cannot compile or run: each is kept from what fails."""

import os
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import autojit as aj

#: `XLA:CPU`'s fusions crash the process on such products of seven and eight axes.
MANY_AXES = """
import sys
import numpy as np
import autojit as aj

def f(x, a):
    return np.log(np.sum(x * a, axis=2) + 1)

axes = int(sys.argv[1])
a = np.ones((4, 3, *[5] * (axes - 2)), np.float32)
x = np.ones((4, 3, 5) + (1,) * (axes - 3), np.float32)
fast = aj.autocluster(policy="eager")(f)
assert np.allclose(fast(x, a), f(x, a), rtol=1e-4) and fast.cache_info().hits == 1
"""


def deep_chain(a, k):
    s = 0.0
    for _ in range(6):
        for j in range(-k, k):
            b = np.ones(7, int)
            s = min(b[j], s)
            if a[j]:
                s += s * 2


def test_what_the_emitter_of_fusions_cannot_take_compiles_without_fusions():
    fast = aj.autocluster(policy="eager")(deep_chain)
    with warnings.catch_warnings():
        warnings.filterwarnings("error", category=aj.AutojitWarning)
        assert fast(np.array([-2, 1, 5, 3, 1, -2, 6]), 1) is None
    assert fast.cache_info().compiles == 1


@pytest.mark.parametrize("axes", [6, 7, 8])
def test_products_of_many_axes(axes, tmp_path):
    """In a process of its own, which a crash would end."""
    script = tmp_path / "axes.py"
    script.write_text(MANY_AXES)
    root = Path(aj.__file__).parents[1]
    path = os.pathsep.join([str(root), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, str(script), str(axes)], capture_output=True, text=True, env={**os.environ, "PYTHONPATH": path}
    )
    assert done.returncode == 0, done.stderr
