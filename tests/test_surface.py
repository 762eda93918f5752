"""Every public name of NumPy: none is missing, none differs, and each has the status that the documentation says."""

import numpy as np
import pytest

from tests.evaluated import evaluated
from tests.surface.names import NAMESPACES, public_names
from tests.surface.observe import observe, text_of
from tests.surface.samples import REASONS, SAMPLES
from tests.surface.table import recorded

NAMES = public_names()
RECORDED = recorded()
#: The NumPy of the record. Others have other Python code, of which more or less can be compiled.
IS_RECORDED = np.__version__.startswith("2.4.")
#: What later versions of NumPy do not have.
GONE = {"np.row_stack"} - NAMES.keys()


def test_no_public_name_is_missing():
    assert NAMES.keys() == (SAMPLES.keys() | REASONS.keys()) - GONE
    assert not SAMPLES.keys() & REASONS.keys()
    assert NAMES.keys() == RECORDED.keys() - GONE, "run `python -m tests.surface`"


@pytest.mark.parametrize("space", NAMESPACES)
def test_statuses_are_as_recorded(space):
    """NumPy evaluates the clusters: what is tried is the capture."""
    for name in (name for name in SAMPLES if name not in GONE and NAMES[name][0] == space):
        with evaluated():
            check(name)


@pytest.mark.parametrize("name", [name for name in SAMPLES if RECORDED[name]["status"] != "native" and name not in GONE][::17])
def test_compiled(name):
    check(name)


def check(name):
    assert list(RECORDED[name]["samples"]) == [text_of(name, sample) for sample in SAMPLES[name]]
    for sample, told in zip(SAMPLES[name], RECORDED[name]["samples"].values(), strict=True):
        seen = observe(name, sample)
        assert not seen.difference, f"{text_of(name, sample)}: {seen.difference}"
        # What traps differs: evaluated by NumPy, operations that warn; compiled, what XLA cannot do as NumPy does.
        trapped = "trapped" in told or "trapped" in seen.reason
        assert seen.status == told.partition(":")[0] or trapped or not IS_RECORDED, f"{text_of(name, sample)}: {seen}"
