"""How far NumPy's own answer moves when the inputs change in the last place: the limit of what can be asked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autojit.runtime.agree import Agreement, compare

#: How many changed inputs are tried.
DRAWS = 5


def judge(
    expected: dict[str, Any], actual: dict[str, Any], rerun: Callable[[int], dict[str, Any]]
) -> tuple[Agreement, float]:
    """Whether results agree, and the sensitivity that had to be asked for (0 when none had).

    A result out of tolerance agrees all the same when NumPy's own result moves at least as far after a
    last-place change of the inputs; where types, shapes or NaNs differ, it never does.

    Args:
        expected: NumPy's results, by what to call them.
        actual: The other results.
        rerun: `rerun(draw)`: NumPy's results for inputs changed in their last places.
    """
    outcomes = {name: compare(value, actual[name], name) for name, value in expected.items()}
    suspects = [name for name, outcome in outcomes.items() if not outcome and np.isfinite(outcome.error)]
    worst = 0.0
    if suspects:
        moved = [rerun(draw) for draw in range(DRAWS)]
        for name in suspects:
            reach = max(compare(expected[name], results[name]).error for results in moved)
            if np.isfinite(reach) and outcomes[name].error <= reach:
                outcomes[name] = Agreement(outcomes[name].error)
                worst = max(worst, reach)
    total = Agreement()
    for outcome in outcomes.values():
        total |= outcome
    return total, worst


def nudge(value: Any, draw: int) -> Any:
    """An array of floating point numbers with each element moved one place up or down; anything else as it is."""
    if not isinstance(value, np.ndarray) or value.dtype.kind not in "fc":
        return value
    signs = np.random.default_rng(draw).choice([-1, 1], value.shape)
    return (value * (1 + signs * np.finfo(value.dtype).eps)).astype(value.dtype)
