"""One sample call through autojit: compared with NumPy, and what became of it."""

from __future__ import annotations

import ast
import linecache
import types
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from unittest import mock

import numpy as np

import autojit as aj
from autojit.capture.calls import Calls
from autojit.ops.chapters import TABLE
from tests.helpers import Outcome, _compare_outcomes, arrays_of, clone, outcome
from tests.ops.tolerances import check_close
from tests.surface.values import values

#: From best to worst.
STATUSES = ("compiled", "host", "interpreted", "native", "raises", "not applicable")


@dataclass(frozen=True)
class Observed:
    """What became of a call.

    Attributes:
        status: One of `STATUSES`; "raises" where NumPy raises.
        reason: Why it is native; "" otherwise.
        difference: What differs from NumPy; "" when nothing.
    """

    status: str
    reason: str = ""
    difference: str = ""


def text_of(name: str, sample: str) -> str:
    """The statements of a sample, of which the last is an expression; one that starts with "(" calls the function."""
    return f"{name}{sample}" if sample.startswith("(") else sample


def program(name: str, sample: str) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """A function whose source can be read, and its arguments."""
    text = text_of(name, sample)
    *before, last = text.split("; ")
    known = values()
    used = {node.id for node in ast.walk(ast.parse("\n".join([*before, last]))) if isinstance(node, ast.Name)}
    letters = [letter for letter in known if letter in used]
    lines = [f"def sample({', '.join(letters)}):", *(f"    {line}" for line in before), f"    return {last}"]
    source = "\n".join([*lines, ""])
    file = f"<{text}>"
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    namespace: dict[str, Any] = {"np": np}
    exec(compile(source, file, "exec"), namespace)
    return namespace["sample"], tuple(known[letter] for letter in letters)


def observe(name: str, sample: str) -> Observed:
    """Call a sample cold and warm, compare, and ask what became of it."""
    plain, args = program(name, sample)
    fast: Any = aj.autocluster(policy="eager")(plain)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # NumPy's own warnings are not what is judged
        expected = _generators_opened(outcome(plain, args, {}))
        warnings.filterwarnings("error", category=aj.AutojitWarning)
        difference = ""
        for turn in ("cold", "warm", "warm again"):
            try:
                compare(
                    _generators_opened(outcome(fast, args, {})), expected, name if sample.startswith("(") else "", args
                )
            except Exception as error:
                difference = f"{turn}: {type(error).__name__}: {' '.join(str(error).split())[:300]}"
                break
        inlined: list[str] = []
        with _inlined(inlined):
            explained = fast.explain(*clone(args))
    if expected.error is not None:
        return Observed("raises", "", difference)
    info = fast.cache_info()
    if explained.native_statements:
        first = explained.native_statements[0]
        return Observed("native", f"{first.id}: {first.detail}", difference)
    if not info.hits and explained.regions:
        reason = "trapped: the data is left to NumPy" if info.traps else f"internal: no plan answered: {info}"
        return Observed("native", reason, difference)
    if explained.host_nodes:
        return Observed("host", "", difference)
    return Observed("interpreted" if inlined else "compiled", "", difference)


def _generators_opened(one: Outcome) -> Outcome:
    """The outcome with the states of generators in their place, which can be compared."""
    arguments = tuple(
        value.bit_generator.state if isinstance(value, np.random.Generator) else value for value in one.arguments
    )
    return Outcome(one.result, one.error, arguments)


def compare(got: Outcome, expected: Outcome, name: str, args: tuple[Any, ...]) -> None:
    """Compare everything that a user can see, within the tolerance of the function.

    Raises:
        AssertionError: They differ.
    """
    _compare_outcomes(got, expected, None)
    for one, other in zip(arrays_of(got.result), arrays_of(expected.result), strict=True):
        if other.size > 1:
            orders = [(x.flags.c_contiguous, x.flags.f_contiguous) for x in (one, other)]
            assert orders[0] == orders[1], f"C and F order: {orders[0]} instead of {orders[1]}"
    single = isinstance(expected.result, np.ndarray | np.generic)
    if single and name in TABLE.rows and expected.result.dtype.kind in "fc":
        arrays = tuple(value for value in args if isinstance(value, np.ndarray | float | int))
        node: Any = types.SimpleNamespace(op=TABLE.rows[name])
        text = check_close(node, arrays, np.asarray(expected.result), np.asarray(got.result))
        assert text is None, text


@contextmanager
def _inlined(names: list[str]) -> Iterator[None]:
    """Collect the functions of NumPy whose own source is interpreted."""
    before = Calls._inline

    def spy(self: Any, known: Any, args: Any, kwargs: Any) -> Any:
        result = before(self, known, args, kwargs)
        if (known.value.__module__ or "").split(".")[0] == "numpy":
            names.append(known.value.__name__)
        return result

    with mock.patch.object(Calls, "_inline", spy):
        yield
