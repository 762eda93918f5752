"""What `memory_info` counts and `trim_memory` frees."""

import numpy as np

import autojit as aj

_BYTES = 1_000_000 * 8


@aj.autocluster(policy="eager")
def double(x):
    return x * 2


def test_memory_of_results_is_kept_and_freed():
    aj.trim_memory()
    assert aj.memory_info().results == aj.memory_info().staging == 0
    x = np.ones(1_000_000)
    y = double(x)
    assert aj.memory_info().results == 0  # the program uses it
    del y
    info = aj.memory_info()
    assert info.results == _BYTES and info.results <= info.results_limit and info.staging <= info.staging_limit
    y = double(x)
    assert aj.memory_info().results == 0
    view = y[5:7]
    del y
    assert aj.memory_info().results == 0  # a view uses it
    del view
    assert aj.trim_memory() >= _BYTES
    assert aj.memory_info().results == 0
    np.testing.assert_array_equal(double(x), x * 2)
