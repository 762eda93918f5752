"""`compare`: results, arguments, exceptions and the streams of random numbers afterwards, beside NumPy."""

import copy

import numpy as np

import autojit as aj
from autojit.runtime.streams import same_states, save
from tests.helpers import assert_same, outcome

EAGER = aj.autocluster(policy="eager")
LEGACY = np.random.mtrand._rand
X = np.arange(6.0)


def compare(function, *args, compiled=True, calls=2, decorator=EAGER):
    """NumPy and autojit on copies of the arguments: results, arguments, exceptions, and the streams afterwards."""
    fast = decorator(function)
    for call in range(calls):
        plain, mine = copy.deepcopy((args, args))
        np.random.seed(call)
        expected = outcome(function, plain, {})
        state = save(LEGACY, *streams_in(expected.arguments))
        np.random.seed(call)
        got = outcome(fast, mine, {})
        assert type(got.error) is type(expected.error) and str(got.error) == str(expected.error)
        assert_same(without_streams(got.result), without_streams(expected.result), 1e-12)
        assert_same(without_streams(got.arguments), without_streams(expected.arguments), 1e-12)
        assert same_states(state, save(LEGACY, *streams_in(got.arguments))), "the streams are left in other states"
    info = fast.cache_info()
    assert not compiled or (info.hits > 0 and not info.native), info
    return fast


def streams_in(value):
    if isinstance(value, np.random.Generator | np.random.RandomState):
        return [value]
    return [found for part in value for found in streams_in(part)] if isinstance(value, list | tuple) else []


def without_streams(value):
    if isinstance(value, list | tuple):
        return [without_streams(part) for part in value if not streams_in([part])]
    return value
