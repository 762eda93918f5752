"""Array work among the arguments of calls that stay Python's, and numbers that mostly stay what they are."""

from __future__ import annotations

import numpy as np
import pytest

import autojit as aj
from tests.helpers import check


def by_name(x, logs, names):
    for k, name in enumerate(names):
        logs[name].append(np.exp(x * k).sum())
    return logs


def nested(x, logs):
    logs["a"][0].append(np.tanh(x) + 1)
    logs["b"].update(total=np.cumsum(x), last=x[-1] * 2)
    return logs


def rebinds(x, logs):
    logs["a"].append((logs := {"a": []}) and x * 2)
    return logs


def test_arguments_are_compiled_where_the_function_is_an_item() -> None:
    x = np.random.default_rng(0).random((200, 300))
    decorated = check(by_name, x, {"a": [], "b": [1]}, ["a", "b", "a"])
    assert decorated.explain(x, {"a": [], "b": [1]}, ["a", "b", "a"]).clusters
    check(nested, x[0], {"a": [[]], "b": {}})
    check(rebinds, x[0], {"a": []})


def test_an_item_that_is_missing_is_noticed_before_the_arguments() -> None:
    check(by_name, np.ones(3), {"a": []}, ["a", "b"])

    def function(x, logs, seen):
        logs["missing"].append(np.exp(x) * seen.pop())

    x, seen = np.ones(5), [1.0, 2.0]
    decorated = aj.autocluster(policy="eager")(function)
    for _ in range(3):
        with pytest.raises(KeyError, match="missing"):
            decorated(x, {}, seen)
    assert seen == [1.0, 2.0]


def in_batches(x, size, sums):
    done = 0
    while done < len(x):
        count = min(size, len(x) - done)
        part = np.zeros((count, 6000))
        part += x[done]
        sums.append(np.exp(np.cumsum(part, axis=1) * 1e-4))
        done += count
    return sums


def at_least(x, rows):
    for k in range(40):
        width = max(3, k - 37)
        rows.append(np.cos(np.full((width, 20000), x[k])))
    return rows


@pytest.mark.parametrize(("function", "args"), [(in_batches, (7, [])), (at_least, ([],))])
def test_the_least_of_what_stays_and_what_changes_stays(function, args) -> None:
    x = np.random.default_rng(1).random(107)
    decorated = check(function, x, *args)
    assert decorated.cache_info().plans <= 5
    assert decorated.cache_info().hits >= 30, decorated.explain(x, *args)
