"""When a plan is given up because its calls meet data that is NumPy's: each such call is computed twice."""

from __future__ import annotations

from autojit.runtime.plan import Plan

#: A plan with this many traps, and more of them than the region has answers, is given up.
_MOST = 8
#: So is one with so many in a row, whatever it did before: the data has changed ...
_MOST_IN_A_ROW = 256
#: ... and one whose last traps, so many, have cost more than what was answered meanwhile has saved.
_LOOKED_AT = 256


def is_given_up(plan: Plan, hits: int) -> bool:
    """Count a trap of a plan; whether it was one too many.

    Args:
        plan: The plan.
        hits: How many calls the region's plans have answered.
    """
    plan.traps += 1
    plan.in_a_row = plan.in_a_row + 1 if plan.hits == hits else 1
    plan.hits = hits
    if (plan.traps >= _MOST and plan.traps > hits) or plan.in_a_row >= _MOST_IN_A_ROW:
        return True
    if plan.traps % _LOOKED_AT:
        return False
    answered, plan.answered = hits - plan.answered, hits
    if not plan.numpy_seconds:
        return answered < _LOOKED_AT
    return answered * (plan.numpy_seconds - plan.seconds) < _LOOKED_AT * plan.seconds
