"""Whether autojit does with a random loop program exactly what NumPy does.

The programs compute with few-bit numbers, so that no result is rounded and all compare bit by bit. That they do is
watched in a run of their own, which also counts iterations: what rounds or does not end is no program.
"""

from __future__ import annotations

import ast
import contextlib
import io
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import autojit as aj
from tests.helpers import Outcome, _aliases, arrays_of, assert_same, outcome
from tests.programs_strategy import Program, load

#: Floats are multiples of 1/64 below this: products of two are exact, and sums of some dozens of them.
_LARGEST_FLOAT, _GRAIN = 2.0**18, 64.0
_LARGEST_INT = 2**31
#: Iterations of all loops of a program together.
_MOST_TICKS = 1500
#: After so many rounds of the calls nothing may be captured any more.
_ROUNDS = 6
#: Which of two zeros these return depends on how NumPy was compiled.
_ANY_ZERO = ("min", "max", "sort", "clip")


class Immoderate(BaseException):
    """A program rounds, or does not end. Its own `except` does not catch this."""


class Watch:
    """Runs a program with every intermediate result looked at."""

    def __init__(self, source: str) -> None:
        tree = ast.fix_missing_locations(_Watched().visit(ast.parse(source)))
        self.program = load(
            ast.unparse(tree), {"__watch__": self.value, "__tick__": self.tick, "__stored__": self.stored}
        )
        self.ticks = 0

    def tick(self) -> None:
        """One more iteration."""
        self.ticks += 1
        if self.ticks > _MOST_TICKS:
            raise Immoderate("too many iterations")

    def value(self, value: Any) -> Any:
        """The value, if it has few bits."""
        if isinstance(value, np.ndarray | np.generic):
            if value.dtype.kind == "f":
                finite = np.where(np.isfinite(value), value, 0.0)
                if np.any(np.abs(finite) > _LARGEST_FLOAT) or np.any(finite * _GRAIN != np.rint(finite * _GRAIN)):
                    raise Immoderate("rounding")
            elif value.dtype.kind == "i" and value.size and max(int(np.max(value)), -int(np.min(value))) > _LARGEST_INT:
                raise Immoderate("large integers")
        elif isinstance(value, float):
            self.value(np.float64(value))
        elif isinstance(value, int) and abs(value) > _LARGEST_INT:
            raise Immoderate("large integers")
        return value

    def stored(self, value: Any, target: Callable[[], Any]) -> Any:
        """The value, unless it overlaps its target with another stride: NumPy then reads what it wrote just now."""
        if isinstance(value, np.ndarray):
            try:
                place = target()
            except (IndexError, ValueError, TypeError):
                return value
            if isinstance(place, np.ndarray) and place.strides != value.strides and np.shares_memory(place, value):
                raise Immoderate("overlap")
        return value


class _Watched(ast.NodeTransformer):
    """Puts the watch around operations and at the start of iterations."""

    def _wrapped(self, node: Any) -> Any:
        self.generic_visit(node)
        return ast.Call(ast.Name("__watch__", ast.Load()), [node], [])

    visit_BinOp = visit_Call = _wrapped

    def _loop(self, node: Any) -> Any:
        self.generic_visit(node)
        node.body.insert(0, ast.parse("__tick__()").body[0])
        return node

    visit_For = visit_While = _loop

    def visit_Assign(self, node: ast.Assign) -> Any:
        self.generic_visit(node)
        if isinstance(node.targets[0], ast.Subscript):
            place = ast.parse(f"lambda: {ast.unparse(node.targets[0])}", mode="eval").body
            node.value = ast.Call(ast.Name("__stored__", ast.Load()), [node.value, place], [])
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        self.generic_visit(node)
        return [node, *ast.parse(f"__watch__({ast.unparse(node.target)})").body]


def moderate(source: str, args: tuple[Any, ...]) -> Outcome:
    """What a watched program does.

    Raises:
        Immoderate: It rounds, or does not end.
    """
    with warnings.catch_warnings(), np.errstate(all="ignore"), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")  # NumPy's own warnings are not what is judged
        watch = Watch(source)
        done = outcome(watch.program, args, {})
        for array in arrays_of((done.result, done.arguments)):
            watch.value(array)
    return done


def _printed(function: Any, args: tuple[Any, ...]) -> tuple[Outcome, str]:
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        one = outcome(function, args, {})
    return one, text.getvalue()


def judge_loops(program: Program, decorator: Any = None) -> Any:
    """Compare NumPy and autojit on all calls of a program, cold and warm, bit by bit.

    Returns:
        The decorated function; `None` for what is no program.

    Raises:
        AssertionError: They differ.
    """
    source = program.source
    try:
        for call in program.calls:
            moderate(source, call)
    except Immoderate:
        return None
    signs = not any(name in "\n".join(program.lines) for name in _ANY_ZERO)
    plain = load(source)
    decorated = (decorator or aj.autocluster(policy="eager"))(load(source))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # NumPy's own warnings are not what is judged
        warnings.filterwarnings("error", category=aj.AutojitWarning)
        # A program may have many shapes; then NumPy answers, which is compared too.
        warnings.filterwarnings("ignore", "autojit .too-many-plans", aj.AutojitWarning)  # answers are judged
        expected = [_printed(plain, call) for call in program.calls]
        known: Any = None
        for turn in range(_ROUNDS):
            for number, call in enumerate(program.calls):
                where = f"call {number}, {f'turn {turn}' if turn else 'cold'}"
                _compare(_printed(decorated, call), expected[number], signs, where)
            info = decorated.cache_info()
            before, known = known, (info.captures, info.compiles)
            # A region that fails for its data is split then, and its parts are captured when they are met.
            if turn > 0 and known == before:
                break
        else:
            raise AssertionError(f"a warm call still captures: {before}, then {known} captures and programs")
    return decorated


def _compare(got: tuple[Outcome, str], expected: tuple[Outcome, str], signs: bool, where: str) -> None:
    one, other = got[0], expected[0]
    if one.error is not None and other.error is None:
        raise AssertionError(f"{where}: raised {one.error!r}") from one.error
    assert type(one.error) is type(other.error), f"{where}: {one.error!r} instead of {other.error!r}"
    assert str(one.error) == str(other.error), f"{where}: {one.error!r} instead of {other.error!r}"
    for mine, theirs, what in ((one.result, other.result, "result"), (one.arguments, other.arguments, "argument")):
        try:
            assert_same(mine, theirs, 0.0, what)
        except AssertionError as error:
            text = " ".join(str(error).split())[:200]
            raise AssertionError(f"{where}: {what}: {text}\ngot {mine!r}\nexpected {theirs!r}") from None
        if signs:
            for mine_float, their_float in zip(_floats(mine), _floats(theirs), strict=True):
                zeros = (their_float == 0) & (np.signbit(mine_float) != np.signbit(their_float))
                assert not np.any(zeros), f"{where}: {what}: the sign of a zero\ngot {mine!r}\nexpected {theirs!r}"
    assert _aliases(one) == _aliases(other), f"{where}: results alias other arrays than in NumPy"
    assert got[1] == expected[1], f"{where}: printed {got[1]!r} instead of {expected[1]!r}"


def _floats(value: Any) -> list[Any]:
    """The floats and arrays of floats in a nested value, in order; the parts of complex ones."""
    if isinstance(value, float | complex | np.ndarray | np.generic):
        kind = np.asarray(value).dtype.kind
        return [value.real, value.imag] if kind == "c" else [value] if kind == "f" else []
    if hasattr(value, "__dict__") and not callable(value) and not isinstance(value, type | BaseException):
        value = vars(value)
    if isinstance(value, dict):
        value = list(value.values())
    return [one for item in value for one in _floats(item)] if isinstance(value, list | tuple) else []
