"""A jax or NumPy that autojit was not made for: NumPy's answers, and a warning that says it."""

from pathlib import Path

import pytest

import autojit as aj
from autojit import versions
from tests.test_door import run


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ("JAX = '0.9'", "autojit needs jax 0.9, and jax 0."),
        ("NUMPY = 3, 1", "autojit needs NumPy 3.1 or later, and 2."),
        ("jax_version = lambda: {}['none']", "no jax was found: KeyError('none')"),
    ],
)
def test_other_ones(tmp_path, change, text):
    printed = run(
        tmp_path,
        f"""
        import autojit.versions
        autojit.versions.{change}
        other = work(X)
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("default")
            eager = aj.autocluster(work, policy="eager")
            for _ in range(3):
                assert np.allclose(eager(X), other, rtol=1e-12, atol=1e-12)
        try:
            aj.jit_compile(work)
        except aj.AutojitError as error:
            assert "{text}" in str(error)
        print(DOOR.is_open, len(told), "{text}" in str(told[0].message))
        """,
    )
    assert printed.split() == ["False", "1", "True"]


def test_those_that_are_asked_for():
    text = Path(aj.__file__).parents[1].joinpath("pyproject.toml").read_text()
    major, minor = map(int, versions.JAX.split("."))
    assert f'"jax>={versions.JAX},<{major}.{minor + 1}"' in text
    assert f'"numpy>={".".join(map(str, versions.NUMPY))}"' in text
