"""The list of tests that the default run leaves out names tests that there are."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.slow import SLOW, is_slow

FOLDER = Path(__file__).parent


@pytest.mark.parametrize("name", sorted(SLOW))
def test_names(name):
    path, _, function = name.partition("::")
    (*_, file) = files = sorted(FOLDER.glob(path))
    assert files
    assert not function or re.search(rf"^def {function}\(", file.read_text(), re.MULTILINE)


def test_what_is_slow():
    assert is_slow("test_attacks_views.py", "test_every_view_function")
    assert is_slow("test_service.py", "test_forked_processes") and not is_slow("test_service.py", "test_another")
    assert not is_slow("test_api.py", "test_random_programs")


def test_tests_that_are_named_run_and_others_are_chosen_by_the_marker(request):
    config = request.config
    assert "slow" in " ".join(config.getini("markers"))
    assert request.node.get_closest_marker("slow") is None
