"""Random programs without end: `python -m tests.fuzz --seed 1 --minutes 5`, of loops with `--loops`.

Prints each program on which autojit and NumPy differ, made as small as a few hundred tries can.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import dataclasses
import gc
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from random import Random
from typing import Any

os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("AUTOJIT_FLAGS", "--disk_cache=0")

import autojit as aj
from tests import measured_mode, table_judge
from tests.attribute_programs import make_attribute_program
from tests.chosen import choose
from tests.draw_programs import make_draw_program
from tests.evaluated import evaluated
from tests.exact_judge import judge_bits
from tests.index_expressions import make_expression
from tests.index_judge import PACK, judge_expressions, shown
from tests.lean import be_lean
from tests.loop_judge import judge_loops
from tests.loop_programs import make_loop_program
from tests.module_judge import judge_script
from tests.name_programs import make_name_program
from tests.programs_judge import judge
from tests.programs_strategy import Program, make_program
from tests.row_programs import judge_rows, make_row_program
from tests.table_programs import make_table_program

#: Seconds that one program may take; one that was made smaller may have lost the end of a loop.
_LONGEST = 30


class Endless(BaseException):
    """A program took too long. Nobody on the way catches this."""


def _too_long(*_: object) -> None:
    raise Endless("the program does not end")


#: So many programs of which none is compiled are a failure, too.
_MANY = 20


#: The policy that is tried; under "measured" compiling pays at once, "strict" is `jit_compile`.
_policy = ["eager"]
#: Whether `exact=True` is.
_exact = [False]


def failure(program: Program, judge: Callable[..., object] = judge) -> BaseException | None:
    """What is wrong with a program, if anything is."""
    signal.signal(signal.SIGALRM, _too_long)
    signal.setitimer(signal.ITIMER_REAL, _LONGEST, 1)
    try:
        strict = _policy[0] == "strict"
        measured_mode.begin_program(program.source)
        options = {"exact": True} if _exact[0] else {}
        judge(program, decorator=aj.jit_compile(**options) if strict else aj.autocluster(policy=_policy[0], **options))
    except (Exception, Endless) as error:
        if _policy[0] == "measured" and "a warm call still captures" in str(error):
            return None  # parts come before the whole there
        return None if strict and "UncompilableError" in str(error) and "[internal]" not in str(error) else error
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    return None


class Tally:
    """Judges programs and counts who answered: programs that compiled code never answers try little."""

    def __init__(self, judge: Callable[..., Any]) -> None:
        self._judge = judge
        self.whole = self.parts = self.native = self.trapped = 0

    def judge(self, program: Program, decorator: Any = None) -> None:
        """Judge one program.

        Raises:
            AssertionError: NumPy and autojit differ.
        """
        function = self._judge(program, decorator=decorator)
        if function is None:
            return
        info = function.cache_info()
        if info.hits:
            self.whole += not info.native + info.traps
            self.parts += info.native + info.traps > 0
        elif info.traps:
            self.trapped += 1
        else:
            self.native += 1

    def __str__(self) -> str:
        return (
            f"{self.whole} compiled, {self.parts} compiled in part or for some calls, {self.native} NumPy's, "
            f"{self.trapped} that only trapped"
        )


def minimise(program: Program, is_same: Callable[[Program], bool], seconds: float = 60.0) -> Program:
    """Take away calls, statements and parts of expressions as long as the program still fails.

    Args:
        program: A program that fails.
        is_same: Whether a smaller one fails in the same way.
        seconds: When to give up.
    """
    end = time.monotonic() + seconds
    progress = True
    while progress and time.monotonic() < end:
        progress = False
        for smaller in _smaller(program):
            if time.monotonic() > end:
                break
            if is_same(smaller):
                program, progress = smaller, True
                break
    return program


def _smaller(program: Program) -> Iterator[Program]:
    if len(program.calls) > 1:
        for number in range(len(program.calls)):
            yield dataclasses.replace(program, calls=(program.calls[number],))
    text = "\n".join(program.lines)
    count = sum(1 for _ in ast.walk(ast.parse(text)))
    seen = {text}
    for number in range(count):
        for choice in range(4):
            tree = ast.parse(text)
            if not _shrink(tree, number, choice):
                break
            try:
                made = ast.unparse(tree)
            except (AttributeError, IndexError):
                continue
            if made and made not in seen:
                seen.add(made)
                yield dataclasses.replace(program, lines=tuple(made.split("\n")))


def _shrink(tree: ast.Module, number: int, choice: int) -> bool:
    """Take something away at a node of the tree; whether there was such a choice."""
    node = list(ast.walk(tree))[number]
    for name in ("body", "orelse"):
        block = getattr(node, name, None)
        if isinstance(block, list):
            if choice < len(block):
                # From the end: what comes last depends on the rest.
                position = len(block) - 1 - choice
                inner = getattr(block[position], "body", [])
                del block[position]
                if isinstance(inner, list) and choice % 2:
                    block[position:position] = inner
                return True
            choice -= len(block)
    parts: list[ast.AST] = []
    if isinstance(node, ast.expr):
        parts = [child for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr)]
        if isinstance(node, ast.Tuple | ast.List) and choice < len(node.elts) > 1:
            del node.elts[choice]
            return True
        if choice < len(parts) and not isinstance(node, ast.Slice | ast.Constant | ast.Name):
            return _replace(tree, node, parts[choice])
    return False


def _replace(tree: ast.AST, old: ast.AST, new: ast.AST) -> bool:
    for parent in ast.walk(tree):
        for name, value in ast.iter_fields(parent):
            if value is old:
                setattr(parent, name, new)
                return True
            if isinstance(value, list) and any(item is old for item in value):
                value[[item is old for item in value].index(True)] = new
                return True
    return False


def _kind(error: BaseException | None) -> str:
    """What two failures must share to be the same: the message without numbers."""
    text = f"{type(error).__name__} {str(error).splitlines()[0]}"
    text = text.split("elements differ")[0].split(": ", 1)[-1]
    return "".join(letter for letter in text if not letter.isdigit())[:60]


def main(arguments: list[str] | None = None) -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="tests.fuzz", description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=int(time.time()), help="the first program's seed")
    parser.add_argument("--minutes", type=float, default=None, help="when to stop; never when not given")
    parser.add_argument("--count", type=int, default=None, help="how many programs")
    parser.add_argument("--whole", action="store_true", help="print failing programs as they were made")
    parser.add_argument("--stop", action="store_true", help="stop at the first failure")
    parser.add_argument("--indexing", action="store_true", help="indexing expressions, many of them in one function")
    parser.add_argument("--table", action="store_true", help="programs over the whole op table, many in one function")
    parser.add_argument("--rows", action="store_true", help="programs that are called with many numbers of rows")
    parser.add_argument("--loops", action="store_true", help="programs of loops, compared bit by bit")
    parser.add_argument("--names", action="store_true", help="programs whose names trade arrays between loops and errors")
    parser.add_argument("--attributes", action="store_true", help="the same with attributes of objects among the names")
    parser.add_argument("--draws", action="store_true", help="programs of loops that draw random numbers")
    parser.add_argument("--scripts", action="store_true", help="with `--loops` or `--names`: as statements of a script")
    parser.add_argument("--exact", action="store_true", help="with `exact=True`, compared bit by bit")
    parser.add_argument(
        "--numpy", action="store_true", help="clusters run in NumPy: some times faster, tries capture alone"
    )
    parser.add_argument("--policy", choices=["eager", "measured", "strict"], default="eager", help="when to compile")
    parser.add_argument("--choice", default="", help="XLA's options that measurement may choose: fused+wide")
    options = parser.parse_args(arguments)
    if options.choice:
        choose(options.choice)
    _policy[0] = options.policy
    _exact[0] = options.exact
    if options.policy == "measured":
        measured_mode.at_once()
    if options.table:
        return _run_table(options)
    if options.rows:
        return _run_rows(options)
    with evaluated() if options.numpy else contextlib.nullcontext():
        return _run_expressions(options) if options.indexing else _run(options)


def _run_expressions(options: argparse.Namespace) -> int:
    start, done, failed = time.monotonic(), 0, 0
    while (options.minutes is None or time.monotonic() - start < 60 * options.minutes) and (
        options.count is None or done < options.count
    ):
        seed = options.seed + done
        print(f"\rseed {seed} ", end="", file=sys.stderr, flush=True)
        count = min(4 * PACK, (options.count or sys.maxsize) - done)
        for expressions, text in judge_expressions([make_expression(seed + number) for number in range(count)]):
            failed += 1
            print(f"\n==== from seed {seed}: {text}\n{shown(expressions)}", flush=True)
        done += count
        aj.clear_cache()
    seconds = time.monotonic() - start
    print(f"\n{done} expressions from seed {options.seed}, {failed} failed, {seconds:.0f} s")
    return 1 if failed else 0


def _run_table(options: argparse.Namespace) -> int:
    start, done, failed, captured, raising = time.monotonic(), 0, 0, 0, 0
    known: dict[str, int] = {}
    gc.freeze()  # what is imported stays
    while (options.minutes is None or time.monotonic() - start < 60 * options.minutes) and (
        options.count is None or done < options.count
    ):
        seed = options.seed + done
        print(f"\rseed {seed} ", end="", file=sys.stderr, flush=True)
        count = min(table_judge.BATCH, (options.count or sys.maxsize) - done)
        programs = [make_table_program(seed + number) for number in range(count)]
        size = table_judge.PACK if done // table_judge.BATCH % 30 else table_judge.LARGE_PACK
        if options.numpy:
            tally, _ = table_judge.judge_evaluated(programs)
        else:
            tally = table_judge.judge_compiled(programs, size)
        for found, text in tally.failures:
            failed += 1
            seeds = ", ".join(str(one.seed) for one in found)
            print(f"\n==== seed {seeds}: {text}", flush=True)
            kind = table_judge.kind(text)
            known[kind] = known.get(kind, 0) + 1
            if len(found) == 1 and not options.whole and known[kind] < 10:
                with evaluated() if options.numpy else contextlib.nullcontext():
                    smaller, text = table_judge.minimise(found[0])
                print(text)
                found = [smaller]
            print(table_judge.shown(found), flush=True)
        done, captured, raising = done + count, captured + tally.captured, raising + tally.raising
        if options.stop and failed:
            break
        aj.clear_cache()
    how = "captured whole and run by NumPy" if options.numpy else "compiled"
    print(
        f"\n{done} programs from seed {options.seed}, {captured} {how}, {raising} that raise, {failed} failed, "
        f"{time.monotonic() - start:.0f} s"
    )
    return 1 if failed or (done >= _MANY and not captured) else 0


def _run_rows(options: argparse.Namespace) -> int:
    start, done, failed, general = time.monotonic(), 0, 0, 0
    while (options.minutes is None or time.monotonic() - start < 60 * options.minutes) and (
        options.count is None or done < options.count
    ):
        seed = options.seed + done
        print(f"\rseed {seed} ", end="", file=sys.stderr, flush=True)
        program = make_row_program(seed)
        text, is_general = judge_rows(program)
        general += is_general
        if text:
            failed += 1
            print(f"\n==== seed {seed}: {text}\n{program.source}", flush=True)
            if options.stop:
                break
        done += 1
        if done % 20 == 0:
            aj.clear_cache()
    seconds = time.monotonic() - start
    print(f"\n{done} programs from seed {options.seed}, {general} for many lengths, {failed} failed, {seconds:.0f} s")
    return 1 if failed else 0


def _run(options: argparse.Namespace) -> int:
    make, judged = (make_loop_program, judge_loops) if options.loops else (make_program, judge)
    if options.draws:
        make, judged = make_draw_program, judge_loops
    if options.names:
        make, judged = make_name_program, judge_loops
    if options.attributes:
        make, judged = make_attribute_program, judge_loops
    judged = judge_bits if options.exact else judged
    if options.scripts:
        judged = partial(judge_script, policy=options.policy)
    tally = Tally(judged)
    start, seed, failed = time.monotonic(), options.seed, 0
    known: set[str] = set()
    while (options.minutes is None or time.monotonic() - start < 60 * options.minutes) and (
        options.count is None or seed < options.seed + options.count
    ):
        # A crash of the process leaves the seed behind.
        print(f"\rseed {seed} ", end="", file=sys.stderr, flush=True)
        program = make(Random(seed))
        error = failure(program, tally.judge)
        if isinstance(error, Endless):  # be it in NumPy: then the generator must not draw it
            failed += 1
            print(f"\nseed {seed}: {error}", flush=True)
        elif error is not None:
            failed += 1
            kind = _kind(error)
            print(f"\n==== seed {seed}: {type(error).__name__}: {str(error).splitlines()[0][:300]}", flush=True)
            if not options.whole and kind not in known:
                program = minimise(program, lambda smaller, kind=kind: _kind(failure(smaller, judged)) == kind)
            if options.whole or kind not in known:
                print(program, "\n", str(failure(program, judged))[:1500], flush=True)
            # Wrong numbers may have many causes.
            if "Not equal" not in kind:
                known.add(kind)
            if options.stop:
                break
        if seed % 50 == 49:
            aj.clear_cache()
        seed += 1
    print(
        f"\n{seed - options.seed} programs from seed {options.seed}, {tally}, {failed} failed, "
        f"{time.monotonic() - start:.0f} s"
    )
    is_idle = seed - options.seed >= _MANY and not (tally.whole or tally.parts)
    return 1 if failed or (is_idle and not options.scripts) else 0  # scripts are not counted


if __name__ == "__main__":
    be_lean()
    sys.exit(main())
