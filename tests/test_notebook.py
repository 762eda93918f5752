"""The magics, in a notebook's kernel."""

import nbformat
import pytest
from nbclient import NotebookClient

CELLS = {
    "load": "%load_ext autojit\nimport numpy as np",
    "define": (
        "%%autocluster --policy=eager\n"
        "def f(x, n=2):\n    return np.sin(x) * n\n\n"
        "class Model:\n    def step(self, x):\n        return x + 1\n\n"
        "g = lambda x: x\n"
        "!echo made\n"
        "f(np.ones(3))\nf(np.ones(3)).shape"
    ),
    "used": "f(np.ones(3)), Model().step(np.ones(3))\n(f.cache_info().plans, Model.step.cache_info().plans, hasattr(g, 'explain'))",
    "explain": "%explain f(np.ones((3, 4)), n=5)",
    "method": "%explain Model().step(np.ones(2))",
    "graph": "%compiler_ir --stage=graph f(np.ones((3, 4)))",
    "ir": "%compiler_ir f(np.ones((3, 4)))",
    "plain": (
        "def plain(x):\n    return np.cos(x) * 2\n"
        "class Plain:\n    @staticmethod\n    def run(x):\n        return np.cos(x) * 2\n"
        "import functools\n@functools.lru_cache\ndef cached(n):\n    return n + 1\n"
        "plain(np.ones(3)), Plain.run(np.ones(3)), cached(2)\n"
        "taken = lambda f: '__autojit_controller__' in vars(f)\n"
        "taken(plain), taken(Plain.run), cached(2), cached.cache_info().hits, hasattr(plain, 'explain')"
    ),
    "once": "taken(f), '__autojit_original__' in vars(f.__wrapped__)",
    "pickled": "import pickle, inspect\npickle.loads(pickle.dumps(plain)) is plain, inspect.getsource(plain).splitlines()[0]",
    "explained": "%explain plain(np.ones(3))",
    "unloaded": "%unload_ext autojit",
    "later": "def alone(x):\n    return x\nalone(np.ones(3)); taken(alone)",
    "loaded again": "%load_ext autojit",
    "again": "def more(x):\n    return x\nmore(np.ones(3)); taken(more), len(get_ipython().ast_transformers)",
    "undecorated": "def h(x):\n    return np.cos(x) + 1\n%explain h(np.ones(3))",
    "imports": (
        "import numpy as np, autojit as aj\n"
        "def both(x):\n    return np.sin(x) + np.cos(x)\n"
        "class Both:\n    def do(self, x):\n        return np.sin(x) + np.cos(x)\n"
        "fast = aj.autocluster(policy='eager')(both)\n"
        "fast(np.ones(3)), aj.autocluster(policy='eager')(Both().do)(np.ones(3))\n"
        "fast.explain(np.ones(3)).is_whole, fast.cache_info().plans"
    ),
    "shell": "%%autocluster\n!echo 'hi :)'\nshout = 3",
    "quiet": "%%autocluster\nshout;  # nothing is shown",
    "loud": "%%autocluster\nshout  # no end; of a statement",
    "beside Numba": (
        "%%autocluster --policy=eager\n"
        "import sys, types\n"
        "sys.modules.setdefault('numba', types.ModuleType('numba'))\n"
        "keep = lambda function: function\n"
        "@keep\ndef reads(x):\n    return x\n"
        "@staticmethod\ndef plain(x):\n    return x\n"
        "hasattr(reads, 'explain'), hasattr(plain.__func__, 'explain')"
    ),
    "graph of": "f.explain(np.ones(3)).graph",
    "ended": "'__autojit_autocluster__' in globals(), len(get_ipython().ast_transformers)",
}
MISTAKES = {
    "%explain f": "UsageError: `%explain` takes a call, as `%explain f(x, y)`, not `f`",
    "%explain f(": "UsageError: `%explain` takes a call",
    "%compiler_ir --stages=hlo f(np.ones(3))": "UsageError: `%compiler_ir` takes `--stage` and `--cluster`, not `--stages`",
    "%%autocluster --polcy=eager\n1": "UsageError: unknown flag `--polcy`; did you mean `--policy`",
    "%%autocluster\n1 / 0": "ZeroDivisionError",
    "%%autocluster\nimport asyncio\nawait asyncio.sleep(0)": "UsageError: `%%autocluster` runs no cells that await",
    "%%autocluster\ndef (": "SyntaxError",
}


@pytest.fixture(scope="module")
def outputs():
    cells = [*CELLS.values(), *MISTAKES]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in cells])
    NotebookClient(notebook, timeout=120, kernel_name="python3", allow_errors=True).execute()
    return dict(zip([*CELLS, *MISTAKES], [cell.outputs for cell in notebook.cells], strict=True))


def shown(outputs, kind="text/html"):
    assert outputs, "nothing is shown"
    (data,) = [output.data for output in outputs if output.output_type in ("execute_result", "display_data")]
    return data[kind]


def test_functions_of_the_cell_are_decorated(outputs):
    assert not outputs["load"]
    assert outputs["define"][0].text.strip() == "made" and shown(outputs["define"][1:], "text/plain") == "(3,)"
    assert shown(outputs["used"], "text/plain") == "(1, 1, False)"
    assert shown(outputs["ended"], "text/plain") == "(False, 1)"


def test_plain_cells_are_autoclustered(outputs):
    assert shown(outputs["plain"], "text/plain") == "(True, True, 3, 1, False)"
    assert shown(outputs["once"], "text/plain") == "(True, False)"
    assert shown(outputs["pickled"], "text/plain") == "(True, 'def plain(x):')"
    assert "one program" in shown(outputs["explained"])


def test_until_the_extension_is_unloaded(outputs):
    assert shown(outputs["later"], "text/plain") == "False"
    assert shown(outputs["again"], "text/plain") == "(True, 1)"


def test_functions_of_a_cell_that_imports(outputs):
    assert shown(outputs["imports"], "text/plain") == "(True, 1)"


def test_what_ends_a_cell(outputs):
    assert "hi :)" in outputs["shell"][0].text
    assert not outputs["quiet"]
    assert shown(outputs["loud"], "text/plain") == "3"


def test_functions_that_other_decorators_may_read(outputs):
    assert shown(outputs["beside Numba"], "text/plain") == "(False, True)"


def test_explanations_are_shown(outputs):
    assert "one program" in shown(outputs["explain"]) and "np.sin(x) * n" in shown(outputs["explain"])
    assert "<svg" in shown(outputs["explain"])
    assert "Model.step" in shown(outputs["method"]) and "one program" in shown(outputs["undecorated"])
    assert shown(outputs["explain"], "text/plain").startswith("f: one program")


def test_graphs_and_ir_are_shown(outputs):
    for name in ("graph", "ir", "graph of"):
        assert "np.sin" in shown(outputs[name]) and "<svg" in shown(outputs[name]) and "<script" not in shown(outputs[name])
    assert 'type="search"' in shown(outputs["graph"])


@pytest.mark.parametrize("cell", MISTAKES)
def test_mistakes_are_told(outputs, cell):
    wanted = MISTAKES[cell]
    if wanted.startswith("UsageError"):  # one line, and no traceback through autojit
        assert {output.output_type for output in outputs[cell]} == {"stream"}, outputs[cell]
        said = "".join(output.text for output in outputs[cell])  # a busy kernel sends it in parts
        assert said.startswith(wanted) and len(said.splitlines()) <= 2, outputs[cell]
        return
    (error,) = [output for output in outputs[cell] if output.output_type == "error"]
    assert wanted in f"{error.ename}: {error.evalue}"
