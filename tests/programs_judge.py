"""Whether autojit does with a random program what NumPy does, within what rounding can change.

How much a result may differ is asked of NumPy: the program is run again with every inexact intermediate result moved by
a few units in the last place. Where that flips a comparison or an integer, nothing can be said of the element.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

import autojit as aj
from tests.helpers import Outcome, _aliases, outcome
from tests.programs_strategy import Program, load

#: How far an intermediate result is moved, and what a result may differ without that, in units of the last place.
SHAKE_ULPS, ALLOWED_ULPS = 4, 64
#: Multiples of 1/grain below the limit are exact: sums and products of a few are without rounding.
_GRAIN = {"float64": (2.0**10, 2.0**14), "float32": (2.0**3, 2.0**7), "float16": (2.0, 8.0)}


#: Which of two zeros these return depends on how NumPy was compiled.
_ANY_ZERO = re.compile(r"\b(?:f|nan)?(?:min|max|clip|sort|ptp|median|centre|split|partition)")
_signs = [True]


#: After so many rounds of the calls nothing may be captured any more.
_ROUNDS = 7


class Shaker:
    """Runs a program with rounding errors of its own."""

    def __init__(self, source: str, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        tree = ast.fix_missing_locations(_Shake().visit(ast.parse(source)))
        extra = {"__shake__": self.value, "__shake_all__": self.value}
        self.program = load(ast.unparse(tree), extra)

    def value(self, value: Any) -> Any:
        """A value, or arrays in it, with inexact numbers moved a little."""
        if isinstance(value, dict | list | tuple):
            for item in value.values() if isinstance(value, dict) else value:
                if not isinstance(item, float | complex):
                    self.value(item)
            return value
        if isinstance(value, np.ndarray):
            if value.dtype.kind in "fc" and value.flags.writeable and value.size:
                self._array(value)
            return value
        if isinstance(value, float | complex | np.inexact):
            array = np.array(value)
            if array.dtype.name in _GRAIN or array.dtype.kind == "c":
                self._array(array)
                return array.item() if type(value) in (float, complex) else array[()]
        return value

    def _array(self, array: np.ndarray) -> None:
        if array.dtype.kind == "c":
            self._array(array.real)
            self._array(array.imag)
            return
        if array.dtype.name not in _GRAIN:
            return
        grain, limit = _GRAIN[array.dtype.name]
        eps = np.finfo(array.dtype).eps * SHAKE_ULPS
        with np.errstate(all="ignore"):
            exact = (array * grain == np.rint(array * grain)) & (np.abs(array) < limit)
            factor = 1 + eps * self.rng.uniform(-1, 1, array.shape)
            array[...] = np.where(exact, array, (array * factor).astype(array.dtype))


class _Shake(ast.NodeTransformer):
    """Puts the shaker around operations and after in-place statements."""

    def _wrapped(self, node: Any) -> Any:
        self.generic_visit(node)
        return ast.Call(ast.Name("__shake__", ast.Load()), [node], [])

    visit_BinOp = visit_Call = _wrapped

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        self.generic_visit(node)
        if isinstance(node.target, ast.Name):
            name = node.target.id
            shaken = ast.Call(ast.Name("__shake__", ast.Load()), [ast.Name(name, ast.Load())], [])
            return [node, ast.Assign([ast.Name(name, ast.Store())], shaken)]
        return [node, *ast.parse("__shake_all__(locals())").body]

    def visit_Expr(self, node: ast.Expr) -> Any:
        self.generic_visit(node)
        return [node, *ast.parse("__shake_all__(locals())").body]


def judge(program: Program, seed: int = 0, decorator: Any = None) -> Any:
    """Compare NumPy and autojit on all calls of a program, cold and warm.

    Raises:
        AssertionError: They differ.
    """
    source = program.source
    _signs[0] = _ANY_ZERO.search("\n".join(program.lines)) is None
    plain = load(source)
    decorated = (decorator or aj.autocluster(policy="eager"))(load(source))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # NumPy's own warnings are not what is judged
        warnings.filterwarnings("error", category=aj.AutojitWarning)
        expected = [outcome(plain, call, {}) for call in program.calls]
        shaken = [[outcome(Shaker(source, seed + k).program, call, {}) for k in range(3)] for call in program.calls]
        known: Any = None
        for turn in range(_ROUNDS):
            for number, call in enumerate(program.calls):
                got = outcome(decorated, call, {})
                compare_outcomes(got, expected[number], shaken[number], f"call {number}, {f'turn {turn}' if turn else 'cold'}")
            info = decorated.cache_info()
            before, known = known, (info.captures, info.compiles)
            # A region that fails for its data is split then, and its parts are captured when they are met.
            if turn > 1 and known == before:
                break
        else:
            raise AssertionError(f"a warm call still captures: {before}, then {known} captures and programs")
    return decorated


def compare_outcomes(got: Outcome, expected: Outcome, shaken: Sequence[Outcome], where: str) -> None:
    """Compare two outcomes in everything that a user can see."""
    kinds = {(type(one.error), str(one.error)) for one in [expected, *shaken]}
    if len(kinds) > 1:
        return  # rounding decides whether NumPy raises
    if expected.error is not None or got.error is not None:
        if expected.error is None:
            raise AssertionError(f"{where}: raised {got.error!r}") from got.error
        assert got.error is not None, f"{where}: did not raise {expected.error!r}"
        assert type(got.error) is type(expected.error), f"{where}: {got.error!r} instead of {expected.error!r}"
        assert str(got.error) == str(expected.error), f"{where}: {got.error!r} instead of {expected.error!r}"
    compare(got.result, expected.result, [one.result for one in shaken], f"{where}, result")
    compare(got.arguments, expected.arguments, [one.arguments for one in shaken], f"{where}, argument")
    if all(_aliases(one) == _aliases(expected) for one in shaken):
        assert _aliases(got) == _aliases(expected), f"{where}: results alias other arrays than in NumPy"


def compare(got: Any, expected: Any, shaken: Sequence[Any], where: str) -> None:
    """Compare two values; `shaken` are the same value with other rounding errors."""
    if any(_shape(one) != _shape(expected) for one in shaken):
        return
    assert type(got) is type(expected), f"{where}: {type(got)} instead of {type(expected)}: {got!r}, {expected!r}"
    if isinstance(expected, dict):
        assert list(got) == list(expected), where
        for key in expected:
            compare(got[key], expected[key], [one[key] for one in shaken], f"{where}[{key!r}]")
    elif isinstance(expected, list | tuple):
        assert len(got) == len(expected), where
        for number, item in enumerate(expected):
            compare(got[number], item, [one[number] for one in shaken], f"{where}[{number}]")
    elif isinstance(expected, np.ndarray | np.generic):
        assert got.dtype == expected.dtype, f"{where}: dtype {got.dtype} instead of {expected.dtype}"
        assert got.shape == expected.shape, f"{where}: shape {got.shape} instead of {expected.shape}"
        if isinstance(expected, np.ndarray):
            assert got.flags.writeable == expected.flags.writeable or not got.size, f"{where}: writeable"
            assert _layout(got) == _layout(expected), f"{where}: strides {got.strides} for {expected.strides}"
        _compare_numbers(got, expected, shaken, where)
    elif isinstance(expected, bool | int | float | complex):
        _compare_numbers(np.asarray(got), np.asarray(expected), [np.asarray(one) for one in shaken], where)
    elif isinstance(expected, str | type(None) | np.dtype):
        assert got == expected or any(one != expected for one in shaken), f"{where}: {got!r} instead of {expected!r}"


def _layout(array: np.ndarray) -> Any:
    """What decides whether reshaping copies: the order of the axes in memory, and gaps."""
    if array.ndim < 2 or not array.size:
        return None
    axes = [axis for axis in range(array.ndim) if array.shape[axis] > 1]
    flags = array.flags
    return flags.c_contiguous, flags.f_contiguous, sorted(axes, key=lambda axis: -abs(array.strides[axis]))


def _shape(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        return type(value), value.shape, value.dtype
    if isinstance(value, dict):
        return list(value)
    return type(value), len(value) if isinstance(value, list | tuple | str) else 0


def _compare_numbers(got: Any, expected: Any, shaken: Sequence[Any], where: str) -> None:
    with np.errstate(all="ignore"):
        if expected.dtype.kind not in "fc":
            wrong = np.asarray(got != expected) & np.all([one == expected for one in shaken], axis=0)
        else:
            wrong = _wrong_floats(np.asarray(got), np.asarray(expected), [np.asarray(one) for one in shaken])
    if np.any(wrong):
        at = np.argwhere(wrong)[0]
        one, other = np.asarray(got)[tuple(at)], np.asarray(expected)[tuple(at)]
        raise AssertionError(
            f"{where}: {np.count_nonzero(wrong)} of {expected.size} elements differ, at {tuple(map(int, at))}: "
            f"{one!r} instead of {other!r}\ngot {got!r}\nexpected {expected!r}"
        )


def _wrong_floats(got: np.ndarray, expected: np.ndarray, shaken: list[np.ndarray]) -> np.ndarray:
    finite = np.isfinite(expected)
    same = _same_or_odd if expected.dtype.kind == "c" else _same
    sure = np.all([(np.isfinite(one) == finite) & (finite | same(one, expected)) for one in shaken], axis=0)
    spread = np.max([np.where(finite, np.abs(one - expected), 0) for one in shaken], axis=0)
    info = np.finfo(expected.dtype)
    allowed = 16 * spread + ALLOWED_ULPS * info.eps * np.abs(expected) + info.tiny
    close = np.where(finite, np.abs(got - expected) <= allowed, same(got, expected))
    # The sign of a zero is part of the answer, where no rounding is at work.
    zeros = (expected == 0) & (got == 0) & (spread == 0)
    if expected.dtype.kind == "f" and _signs[0]:
        close &= ~zeros | (np.signbit(got) == np.signbit(expected))
    return sure & ~close


def _same_or_odd(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Which part of a complex number is infinite is not said by any standard that both follow."""
    return (one == other) | ~(np.isfinite(one) | np.isfinite(other))


def _same(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    return (one == other) | (np.isnan(one) & np.isnan(other))
