"""The notebooks of `examples/` run without an error, and are stored without what they have shown."""

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

NOTEBOOKS = sorted((Path(__file__).resolve().parent.parent / "examples").glob("*.ipynb"))


def read(path):
    return nbformat.read(path, as_version=4)


def test_there_are_notebooks():
    assert {path.stem for path in NOTEBOOKS} >= {"heat-equation", "image-filter", "monte-carlo"}


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_runs(path, tmp_path):
    """An exception in any cell, a failed assert among them, is an error of the client."""
    notebook = read(path)
    resources = {"metadata": {"path": str(tmp_path)}}
    NotebookClient(notebook, timeout=120, kernel_name="python3", resources=resources).execute()
    assert all(cell.execution_count for cell in notebook.cells if cell.cell_type == "code")


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_is_stored_without_outputs(path):
    for cell in read(path).cells:
        if cell.cell_type == "code":
            assert cell.outputs == [] and cell.execution_count is None


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_ends_with_a_comparison(path):
    last = read(path).cells[-1]
    assert last.cell_type == "code" and "np.allclose" in last.source and "assert" in last.source
