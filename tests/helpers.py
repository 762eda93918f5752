"""`check`: the one way in which tests compare a decorated function with NumPy."""

from __future__ import annotations

import copy
import dataclasses
import types
from collections.abc import Callable
from typing import Any

import numpy as np

import autojit as aj

#: Relative tolerance by dtype name: sums are ordered differently, transcendentals differ in the last places.
TOLERANCE = {"float16": 2e-2, "float32": 2e-5, "complex64": 2e-5, "float64": 1e-12, "complex128": 1e-12}


def clone(value: Any, memo: dict[int, Any] | None = None) -> Any:
    """A deep copy that keeps strides, overlaps and identities among arrays."""
    memo = {} if memo is None else memo
    if id(value) in memo:
        return memo[id(value)][0]
    if type(value) is np.ndarray and not value.dtype.hasobject:
        made: Any = _clone_array(value, memo)
    elif isinstance(value, list):
        made = [clone(item, memo) for item in value]
    elif isinstance(value, tuple):
        parts = [clone(item, memo) for item in value]
        made = tuple.__new__(type(value), parts) if hasattr(value, "_fields") else tuple(parts)
    elif isinstance(value, dict):
        made = {key: clone(item, memo) for key, item in value.items()}
    elif hasattr(value, "__dict__") and not callable(value) and not isinstance(value, type):
        made = copy.copy(value)
        for name, item in vars(value).items():
            object.__setattr__(made, name, clone(item, memo))
    else:
        made = value if callable(value) else copy.deepcopy(value)
    memo[id(value)] = (made, value)
    return made


def _clone_array(array: np.ndarray, memo: dict[int, Any]) -> np.ndarray:
    root = array
    while isinstance(root.base, np.ndarray):
        root = root.base
    if root is array or not array.size:
        made = array.copy(order="K")
    else:
        base = clone(root, memo)
        offset = array.__array_interface__["data"][0] - root.__array_interface__["data"][0]
        made = np.ndarray(array.shape, array.dtype, base, offset, array.strides)
    made.flags.writeable = array.flags.writeable
    return made


@dataclasses.dataclass
class Outcome:
    """What one call did."""

    result: Any
    error: BaseException | None
    arguments: tuple[Any, ...]


def outcome(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Outcome:
    """Call a function on clones of its arguments."""
    memo: dict[int, Any] = {}
    mine = clone(args, memo), clone(kwargs, memo)
    try:
        result, error = function(*mine[0], **mine[1]), None
    except Exception as caught:
        result, error = None, caught
    return Outcome(result, error, (*mine[0], *mine[1].values()))


def check(
    function: Callable[..., Any],
    *args: Any,
    decorator: Callable[..., Any] | None = None,
    rtol: float | None = None,
    whole: bool | None = None,
    **kwargs: Any,
) -> Any:
    """Compare a decorated function with the original: values, dtypes, shapes, types, mutation, aliasing, exceptions.

    The decorated function is called cold and warm; the warm call must neither capture nor compile.

    Args:
        function: The plain function.
        *args: Its arguments; every call gets clones.
        decorator: What to apply; `autocluster(policy="eager")` by default.
        rtol: A relative tolerance in place of the table's.
        whole: Whether the call must (or must not) be one captured region.
        **kwargs: Its keyword arguments.

    Returns:
        The decorated function.
    """
    decorated = (decorator or aj.autocluster(policy="eager"))(function)
    expected = outcome(function, args, kwargs)
    for _ in range(2):
        _compare_outcomes(outcome(decorated, args, kwargs), expected, rtol)
    before = decorated.cache_info()
    # A region that was split meanwhile is captured in the second call, never in a later one.
    _compare_outcomes(outcome(decorated, args, kwargs), expected, rtol)
    after = decorated.cache_info()
    assert after.captures == before.captures, "a warm call captured again"
    assert after.compiles == before.compiles, "a warm call compiled again"
    if whole is not None:
        explanation = decorated.explain(*clone(args), **clone(kwargs))
        assert explanation.is_whole == whole, str(explanation)
        if whole and expected.error is None and explanation.clusters:
            assert after.hits > 0, f"no call was answered by a plan: {after}\n{explanation}"
    return decorated


def check_calls(function: Callable[..., Any], *calls: tuple[Any, ...], rtol: float = 0.0) -> None:
    """Compare several calls with the original, in both orders: a plan that is made for one may answer another.

    Args:
        function: The plain function.
        *calls: The arguments of each.
        rtol: The relative tolerance; by default values are equal.
    """
    for ordered in (calls, calls[::-1]):
        decorated = aj.autocluster(policy="eager")(function)
        for args in ordered * 2:
            expected = outcome(function, args, {})
            _compare_outcomes(outcome(decorated, args, {}), expected, rtol)


def check_call(fast: Callable[..., Any], function: Callable[..., Any], *args: Any, rtol: float | None = None) -> None:
    """Compare one call of a decorated function with the original: results, arguments and exceptions."""
    expected = outcome(function, args, {})
    _compare_outcomes(outcome(fast, args, {}), expected, rtol)


def _compare_outcomes(got: Outcome, expected: Outcome, rtol: float | None) -> None:
    if expected.error is not None or got.error is not None:
        if expected.error is None:
            raise AssertionError(f"raised {got.error!r}") from got.error
        assert type(got.error) is type(expected.error), f"{got.error!r} instead of {expected.error!r}"
        assert str(got.error) == str(expected.error), f"{got.error!r} instead of {expected.error!r}"
    assert_same(got.result, expected.result, rtol, "result")
    assert_same(got.arguments, expected.arguments, rtol, "argument")
    assert _aliases(got) == _aliases(expected), "results alias other arrays than in NumPy"


def _aliases(one: Outcome) -> list[tuple[bool, bool]]:
    results, arguments = arrays_of(one.result), arrays_of(one.arguments)
    everything = results + arguments
    return [(np.shares_memory(a, b), a is b) for a in results for b in everything]


def arrays_of(value: Any) -> list[np.ndarray]:
    """The arrays in a nested value, in order."""
    if isinstance(value, np.ndarray):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple):
        return [array for item in value for array in arrays_of(item)]
    if hasattr(value, "__dict__") and not callable(value) and not isinstance(value, type | BaseException):
        return arrays_of(vars(value))
    return []


def assert_same(got: Any, expected: Any, rtol: float | None = None, where: str = "value") -> None:
    """Compare two nested values exactly in type, dtype and shape, and within the tolerance in value."""
    assert type(got) is type(expected), f"{where}: {type(got)} instead of {type(expected)}"
    if isinstance(expected, np.ndarray | np.generic):
        assert got.dtype == expected.dtype, f"{where}: dtype {got.dtype} instead of {expected.dtype}"
        assert got.shape == expected.shape, f"{where}: shape {got.shape} instead of {expected.shape}"
        if isinstance(expected, np.ndarray):
            assert got.flags.writeable == expected.flags.writeable, f"{where}: writeable"
        _assert_close(got, expected, rtol, where)
    elif isinstance(expected, float | complex):
        _assert_close(np.asarray(got), np.asarray(expected), rtol, where)
    elif isinstance(expected, dict):
        assert list(got) == list(expected), where
        for key, item in expected.items():
            assert_same(got[key], item, rtol, f"{where}[{key!r}]")
    elif isinstance(expected, list | tuple):
        assert len(got) == len(expected), where
        for number, item in enumerate(expected):
            assert_same(got[number], item, rtol, f"{where}[{number}]")
    elif hasattr(expected, "__dict__") and not callable(expected) and not isinstance(expected, type):
        assert_same(vars(got), vars(expected), rtol, where)
    elif isinstance(expected, type):  # a call may make one anew
        names = [(kind.__module__, kind.__qualname__) for kind in (got, expected)]
        assert names[0] == names[1], f"{where}: {got!r} instead of {expected!r}"
    elif _is_for_all_calls(expected):
        assert got is expected, f"{where}: {got!r} instead of {expected!r}"
    elif not callable(expected):
        assert got == expected, f"{where}: {got!r} instead of {expected!r}"


def _is_for_all_calls(value: Any) -> bool:
    """Whether it is a ufunc or a module's builtin; methods are bound anew by each call, and functions made."""
    is_builtin = isinstance(value, types.BuiltinFunctionType) and isinstance(value.__self__, types.ModuleType)
    return is_builtin or isinstance(value, np.ufunc)


def _assert_close(got: Any, expected: Any, rtol: float | None, where: str) -> None:
    tolerance = TOLERANCE.get(expected.dtype.name)
    if tolerance is None:
        np.testing.assert_array_equal(got, expected, err_msg=where)
        return
    finite = np.abs(expected[np.isfinite(expected)]) if expected.size else np.zeros(0)
    scale = float(finite.max()) if finite.size else 0.0
    limit = rtol if rtol is not None else tolerance
    np.testing.assert_allclose(got, expected, rtol=limit, atol=limit * scale, err_msg=where)
