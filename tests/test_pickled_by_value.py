"""Functions that are pickled with their code, as cloudpickle does it for joblib, dask and others."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import autojit as aj

PROGRAM = """
    import pickle, sys
    import cloudpickle
    import numpy as np

    def helper(x):
        return np.sin(x) + 1

    DECORATOR
    def work(x, n, *, shift=0.5, **more):
        \"\"\"Words.\"\"\"
        for i in range(n):
            x = helper(x) * shift + i
        while x.sum() > 1e3:
            x = x * 0.5
        return x

    class Model:
        def __init__(self, a):
            self.a = a

        def run(self, n):
            for _ in range(n):
                self.a = np.cos(self.a)
            return self.a.sum()

    x = np.linspace(0, 1, 20_000)
    early = cloudpickle.dumps((work, Model(x)))  # nothing was called
    for _ in range(CALLS):
        work(x, 5)
        Model(x).run(5)
    late = cloudpickle.dumps((work, Model(x)))
    open(sys.argv[1], "wb").write(pickle.dumps((early, late, work(x, 5), Model(x).run(5))))
"""
READ = """
    import pickle, sys
    import cloudpickle
    import numpy as np
    early, late, wanted, total = pickle.loads(open(sys.argv[1], "rb").read())
    for text in (early, late):
        work, model = pickle.loads(text)
        x = model.a
        np.testing.assert_allclose(work(x, 5), wanted, rtol=1e-12)
        np.testing.assert_allclose(model.run(5), total, rtol=1e-12)
        hash(work.__code__)
        again, _ = pickle.loads(cloudpickle.dumps((work, model)))  # to a third process
        np.testing.assert_allclose(again(x, 5), wanted, rtol=1e-12)
        print(work.__name__, work.__doc__, work.__kwdefaults__, "jax" in sys.modules)
"""


def _python(*words: object) -> str:
    environment = {**os.environ, "PYTHONPATH": str(Path(aj.__file__).parents[1]), "AUTOJIT_FLAGS": "--disk_cache=0"}
    command = [sys.executable, *map(str, words)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=150, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


@pytest.mark.parametrize("way", ["decorated", "launched"])
def test_the_copy_runs_in_numpy(tmp_path, way):
    script, reader, file = tmp_path / "script.py", tmp_path / "reader.py", tmp_path / "pickled"
    decorator = "import autojit as aj\n@aj.autocluster(policy='eager')" if way == "decorated" else ""
    text = textwrap.dedent(PROGRAM).replace("DECORATOR", decorator).replace("CALLS", "3")
    script.write_text(text)
    reader.write_text(textwrap.dedent(READ))
    _python(*(["-m", "autojit", "run", "--policy=eager"] if way == "launched" else []), script, file)
    read = _python(reader, file).splitlines()
    assert read == ["work Words. {'shift': 0.5} False"] * 2  # nothing of autojit's is needed there
