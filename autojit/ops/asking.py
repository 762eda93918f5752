"""What NumPy says of calls on small arrays, remembered: to ask it takes 100 to 400 us, and a capture asks often."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autojit.ir.build import exact_key
from autojit.ir.spec import Spec, is_canonical, spec_of
from autojit.ir.warned import asked
from autojit.ops.families import small_dummy

#: So many answers are kept; then all are forgotten.
_MOST = 4096
#: By what `_key` gives.
_answers: dict[Any, tuple[Spec, tuple[str, ...]]] = {}


def asked_of_small(
    call: Callable[..., Any], specs: Sequence[Spec], params: dict[str, Any], *, runtime: bool = True
) -> tuple[Spec, tuple[str, ...]]:
    """The spec of what a function of NumPy's gives for ones of length 0 or 1, and what it warns of.

    Args:
        call: The function, which gives one array or number, and the same one for the same arguments.
        specs: Its operands.
        params: Its other arguments.
        runtime: Whether a `RuntimeWarning` is among the warnings.

    Raises:
        Exception: Whatever NumPy raises, which is not remembered.
    """
    key = _key(call, specs, params, runtime)
    known = _answers.get(key)
    if known is not None:
        return known
    result, warned = asked(lambda: call(*map(small_dummy, specs), **params), runtime=runtime)
    found = spec_of(result), tuple(warned)
    if key is not None and not warned:  # what warns may be a finalizer that came in between
        if len(_answers) >= _MOST:
            _answers.clear()
        _answers[key] = found
    return found


def _key(call: Any, specs: Sequence[Spec], params: dict[str, Any], runtime: bool) -> Any:
    """What tells two questions apart; `None` for one that is not remembered: equal dtypes may be different ones."""
    dtypes = [spec.dtype for spec in specs] + [value for value in params.values() if isinstance(value, np.dtype)]
    if not all(map(is_canonical, dtypes)):
        return None
    operands = tuple((tuple(min(length, 1) for length in spec.shape), spec.dtype, spec.kind) for spec in specs)
    key = call, runtime, operands, tuple((name, exact_key(value)) for name, value in params.items())
    try:
        hash(key)
    except TypeError:
        return None
    return key
