"""Whether a random program does the same as a script, in NumPy and with probes in the loops of its own statements.

The functions of `make_loop_program` and `make_name_program` become scripts: parameters are bound in the first lines, and
`return` ends the script. What is compared is what has been printed, what has ended it, and all that its names stand for
then, array by array.
"""

from __future__ import annotations

import ast
import contextlib
import dataclasses
import io
import itertools
import linecache
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

import autojit as aj
from autojit.config import current, merge
from autojit.launch.module_loops import LOOPS
from autojit.launch.rewrite import script_code_of
from autojit.runtime.info import cache_info
from tests.helpers import arrays_of, assert_same, clone
from tests.loop_judge import Immoderate, moderate
from tests.programs_strategy import Program

_numbers = itertools.count()


class _Ends(ast.NodeTransformer):
    """`return x` becomes `result = x` and the end of the script; functions write its names as global ones."""

    def visit_Return(self, node: ast.Return) -> list[ast.stmt]:
        assign = ast.Assign([ast.Name("result", ast.Store())], node.value or ast.Constant(None))
        return [assign, ast.Raise(ast.Call(ast.Name("SystemExit", ast.Load()), [], []), None)]

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        own = {part.arg for part in ast.walk(node) if isinstance(part, ast.arg)}
        for function in ast.walk(node):
            if isinstance(function, ast.FunctionDef):
                function.body = [
                    ast.Global(part.names) if isinstance(part, ast.Nonlocal) and own.isdisjoint(part.names) else part
                    for part in function.body
                ]
        return node

    visit_Lambda = visit_FunctionDef  # type: ignore[assignment] -- neither is looked into


def script_of(module: str, parameters: Sequence[str], lines: Sequence[str]) -> str:
    """A program as a script, which takes the values of its parameters from a list `given`."""
    body = ast.unparse(ast.fix_missing_locations(_Ends().visit(ast.parse("\n".join(lines)))))
    bound = "\n".join(f"{name} = given.pop()" for name in reversed(parameters))
    return f"{module}\n{bound}\n{body}\n"


def run(text: str, given: Sequence[Any], config: Any = None) -> tuple[dict[str, Any], BaseException | None, str, int]:
    """Run a script on clones of the values.

    Returns:
        Its names, what has ended it, what it has printed, and how many of its loops were given probes.
    """
    file = f"<random script {next(_numbers)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    namespace: dict[str, Any] = {"__name__": "__main__", "given": list(clone(tuple(given)))}
    printed, error = io.StringIO(), None
    LOOPS.clear()
    if config is None:
        code = compile(text, file, "exec", dont_inherit=True)
    else:
        code = script_code_of(text, file, lambda value: value, namespace, config)
    with contextlib.redirect_stdout(printed):
        try:
            exec(code, namespace)
        except (Exception, SystemExit) as caught:
            error = caught
    for name in ("__builtins__", "__warningregistry__"):
        namespace.pop(name, None)
    return namespace, error, printed.getvalue(), len(LOOPS)


def same_script(text: str, given: Sequence[Any], policy: str, rtol: float | None = 0.0) -> int:
    """Compare a script's two ways to run; how many of its loops have probes.

    Raises:
        AssertionError: They differ.
    """
    wanted, error, printed, _ = run(text, given)
    with warnings.catch_warnings():
        warnings.filterwarnings("error", category=aj.AutojitWarning)
        warnings.filterwarnings("ignore", "autojit .too-many-plans", aj.AutojitWarning)  # answers are judged
        got, raised, told, count = run(text, given, merge(current(), {"policy": policy}))
    if (type(raised), str(raised)) != (type(error), str(error)):
        raise AssertionError(f"{raised!r} instead of {error!r}") from raised
    assert told == printed, f"printed {told!r} instead of {printed!r}"
    assert got.keys() == wanted.keys(), f"names {sorted(got.keys() ^ wanted.keys())} are there in one of the two only"
    names = [name for name, value in wanted.items() if not isinstance(value, Iterator) and not hasattr(value, "__loader__")]
    for name in names:
        assert_same(got[name], wanted[name], rtol, name)
    mine, theirs = ([space[name] for name in names] for space in (got, wanted))
    assert _aliases(mine) == _aliases(theirs), "names share memory with others than in NumPy"
    return count


def _aliases(values: list[Any]) -> list[tuple[bool, bool]]:
    arrays = arrays_of(values)
    return [(np.shares_memory(one, other), one is other) for one in arrays for other in arrays]


@dataclasses.dataclass
class Tally:
    """What became of the loops of some scripts, as `cache_info` tells it of functions."""

    loops: int = 0
    hits: int = 0
    native: int = 0
    traps: int = 0

    def add(self) -> None:
        """Add what is known of the last script."""
        for controller in LOOPS:
            info = cache_info(controller)
            self.loops, self.hits = self.loops + 1, self.hits + info.hits
            self.native, self.traps = self.native + info.native, self.traps + info.traps

    def cache_info(self) -> Tally:
        return self


def judge_script(program: Program, decorator: Any = None, policy: str = "eager") -> Tally | None:
    """Compare all calls of a program, as scripts; `None` for what is no program.

    Raises:
        AssertionError: They differ.
    """
    try:
        for call in program.calls:
            moderate(program.source, call)
    except Immoderate:
        return None
    text, tally = script_of(program.module, program.parameters, program.lines), Tally()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # NumPy's own warnings are not what is judged
        for call in program.calls:
            same_script(text, call, policy)
            tally.add()
    return tally
