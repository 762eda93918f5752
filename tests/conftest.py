"""Fixtures that all tests share."""

import gc
import os
import warnings
import zlib
from pathlib import Path

# Read when jax starts; without it jax looks for accelerators and may warn that it found none.
os.environ.setdefault("JAX_PLATFORMS", "cpu")
# Tests count compilations, change what compiles, and leave nothing in the user's directories; the disk cache and the
# process that compiles have tests of their own.
os.environ["AUTOJIT_FLAGS"] = os.environ.get("AUTOJIT_FLAGS", "") + " --disk_cache=0 --compiler_process=0"

import numpy as np
import pytest

import autojit
from autojit.ir import warned
from autojit.runtime.allowance import ALLOWANCE
from autojit.runtime.background import BACKGROUND, Background
from autojit.runtime.door import DOOR
from autojit.runtime.watch import WATCH
from tests.chosen import choose
from tests.slow import is_slow

if "AUTOJIT_TEST_CHOICE" in os.environ:
    choose(os.environ["AUTOJIT_TEST_CHOICE"])

FOLDER = Path(__file__).parent
#: Whole programs, which `bench.scripts` runs in processes of their own.
collect_ignore_glob = ["programs/scripts/*"]

# No test imports what compiles in its middle; what opens the door has tests of its own, in processes of their own.
DOOR.open()


def pytest_configure(config):
    """Without arguments pytest leaves out what is slow (`slow.py`); the processes of xdist are told the same."""
    option = config.option
    if config.args_source is config.ArgsSource.TESTPATHS and not (option.markexpr or option.keyword):
        option.markexpr = "not slow"


@pytest.hookimpl(tryfirst=True)  # before tests are chosen by their markers
def pytest_collection_modifyitems(config, items):
    for item in items:
        if item.path.is_relative_to(FOLDER):
            if is_slow(item.path.relative_to(FOLDER).as_posix(), getattr(item, "originalname", item.name)):
                item.add_marker(pytest.mark.slow)


def users_filters():
    """The filters of warnings without ours, which are there while another thread asks NumPy something."""
    return [each for each in warnings.filters if each not in warned._FILTERS]


@pytest.hookimpl(wrapper=True, tryfirst=True)  # around what pytest itself does with filters
def pytest_runtest_protocol(item):
    """A test fails that leaves other filters behind, and those after it do not.

    What a test itself sets pytest puts back; a thread that sets filters beside it may undo that.
    """
    before = users_filters()
    result = yield
    if (left := users_filters()) != before:
        warnings.filters[:] = before
        new, gone = ([each for each in ones if each not in others] for ones, others in ((left, before), (before, left)))
        text = f"it leaves other filters of warnings behind: {new} are new, {gone} are gone"
        report = pytest.TestReport(item.nodeid, item.location, {}, "failed", text, "teardown")
        item.ihook.pytest_runtest_logreport(report=report)
    return result


@pytest.fixture
def rng(request):
    """A generator with a seed of the test's own, so that tests neither share nor repeat numbers."""
    return np.random.default_rng(zlib.crc32(request.node.nodeid.encode()))


@pytest.fixture
def no_collection():
    """As `timeit` does: collecting what other tests have left takes longer than what is measured."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.fixture(autouse=True)
def legacy_seed():
    """`np.random` starts from the same state in every test."""
    np.random.seed(0)


@pytest.fixture(autouse=True)
def without_a_limit():
    """A test that has modules armed leaves the others as much time for plans as they need."""
    yield
    if BACKGROUND.is_busy():  # what is still compiled would take time of the next test, and count as spent there
        BACKGROUND.wait()
    ALLOWANCE.is_limited = False
    ALLOWANCE._first_call = 0.0  # what other tests have spent is not this one's


@pytest.fixture(scope="module", autouse=True)
def forget_plans():
    """Compiled programs of one test file do not fill the memory of the next."""
    yield
    autojit.clear_cache()


@pytest.fixture
def watched(monkeypatch):
    """Loops are taken over as soon as they are looked at, and the plans win."""
    monkeypatch.setattr("autojit.runtime.heat.PAYS_AFTER", 1e-3)
    monkeypatch.setattr("autojit.runtime.heat.WAITS", 0.0)
    monkeypatch.setattr("autojit.runtime.watch.EVERY", 1e-3)
    wake = WATCH._wake
    WATCH.begin_again()  # its thread may be in a sleep of the usual length, at whose end a short loop is over
    wake.set()  # that one ends
    monkeypatch.setattr("autojit.runtime.course.JUDGED", 1e9)  # runs follow each other and are not judged
    monkeypatch.setattr(Background, "submit", lambda self, job: job() or True)
