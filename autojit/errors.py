"""Exceptions, warnings, and the table of reasons why something is not compiled."""

from __future__ import annotations

import contextlib
import functools
import types
from collections.abc import Iterator
from typing import Any, NamedTuple

from autojit.handlers import handler_of, numbers


class SourceLine(NamedTuple):
    """One line of the user's program.

    Attributes:
        file: The file name as the code object has it.
        line: The line number, 1-based.
        function: The qualified name of the function the line stands in.
        text: The stripped text of the line, or "".
        caller: The line that called the function, where that was followed into; places are equal without it.
    """

    file: str
    line: int
    function: str = ""
    text: str = ""
    caller: SourceLine | None = None

    @property
    def outermost(self) -> SourceLine:
        """The line of the function that calls all others on the way to this one; the line itself where none does."""
        place = self
        while place.caller is not None:
            place = place.caller
        return place

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SourceLine) and self[:4] == other[:4]

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(self[:4])

    def __repr__(self) -> str:
        return f"SourceLine(file={self.file!r}, line={self.line}, function={self.function!r}, text={self.text!r})"

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


class ReasonKind(NamedTuple):
    """A row of the reason table: one way in which code stays out of a cluster.

    Attributes:
        id: Its name, as reports and warnings have it in brackets.
        title: The same in words.
        why: What stands in the way.
        hint: What to do.
    """

    id: str
    title: str
    why: str
    hint: str

    @property
    def page(self) -> str:
        """Where the documentation explains it."""
        return f"reference/reasons/#{self.id}"


_ROWS = [
    ReasonKind(
        "no-source",
        "the source is not available",
        "clusters are found in a function's source, and this function has none that matches its bytecode",
        "define the function in a file or a notebook cell, and reload the module after editing it",
    ),
    ReasonKind(
        "not-a-function",
        "not a plain Python function",
        "only functions written in Python have statements to look into",
        "decorate the Python function that does the array work",
    ),
    ReasonKind(
        "no-row",
        "a NumPy function without a lowering",
        "the function has no row in the op table and could not be interpreted",
        "write the line with functions of the op table in the docs, or declare a pure function with `autojit.host_op`",
    ),
    ReasonKind(
        "host-op",
        "a pure function that runs on the host",
        "the function has no XLA lowering, or a slower one; NumPy runs it, beside the clusters",
        "nothing to do in most cases; for one program, call it outside of the function",
    ),
    ReasonKind(
        "effect",
        "a call that may have side effects",
        "compiled code cannot repeat or reorder what this call does to the outside",
        "move the call out of the function, or to where it does not stand between array work",
    ),
    ReasonKind(
        "statement",
        "a statement that stays Python",
        "this kind of statement changes state that is not an array",
        "move the statement before or after the array work",
    ),
    ReasonKind(
        "unknown-value",
        "depends on a value that is known only after an earlier line has run",
        "an earlier line runs natively, so its result is not known before the run",
        "fix the earlier line first",
    ),
    ReasonKind(
        "data-branch",
        "a branch on array data",
        "which way to go is known only when the array has been computed",
        "use `np.where`, or leave the branch to Python",
    ),
    ReasonKind(
        "data-shape",
        "a shape that depends on array data",
        "the number of elements is known only when the array has been computed",
        "use `np.where` or a masked assignment with a scalar",
    ),
    ReasonKind(
        "moving-shape",
        "a shape or number that changes from one iteration to the next",
        "every new one would need a compilation",
        "keep shapes the same, for example by writing into an array that is made before the loop",
    ),
    ReasonKind(
        "data-value",
        "Python needs the value of an array element",
        "an index, a shape or a key depends on array data",
        "leave the line to Python, or compute the index from scalars",
    ),
    ReasonKind(
        "long-loop",
        "a loop too long to unroll",
        "unrolled it would take more operations than the budget allows; Python runs it, and its body may be compiled",
        "hand only arrays and numbers, of shapes that stay the same, from one iteration to the next: then it is rolled",
    ),
    ReasonKind(
        "budget",
        "too many operations for one program",
        "compile time grows faster than the number of operations",
        "split the function, or raise `--max_cluster_size`",
    ),
    ReasonKind(
        "argument-type",
        "an argument or variable of a type that is not compiled",
        "only exact `np.ndarray`s of bool, integer, float and complex types, and scalars, enter a cluster",
        "convert the value with `np.asarray(value, dtype=...)` before the call, or where it is made",
    ),
    ReasonKind(
        "keyword",
        "an argument of a NumPy function that is not compiled",
        "the function compiles, but not with this argument",
        "leave the argument out, or let the line run in NumPy",
    ),
    ReasonKind(
        "raises",
        "NumPy raises an exception here",
        "the line fails for arguments of these types and shapes",
        "see the exception that the call raises",
    ),
    ReasonKind(
        "overlap",
        "arguments share memory and one of them is written",
        "a compiled program sees its arguments as separate arrays",
        "pass arrays that do not overlap",
    ),
    ReasonKind(
        "read-only",
        "a write to a read-only array",
        "NumPy raises ValueError here",
        "copy the array first",
    ),
    ReasonKind(
        "errstate",
        "NumPy's error state or the warning filters are not the default",
        "compiled code does not report floating point warnings",
        "leave the `np.errstate` block before the call",
    ),
    ReasonKind(
        "followed",
        "a debugger, a coverage tool or another tracer follows the lines",
        "compiled lines do not run in Python: nobody could stop at them or count them",
        "run it without, or with `policy='eager'`, which compiles all the same",
    ),
    ReasonKind(
        "off",
        "autojit is switched off",
        "a flag, the policy or a call of `set_jit` leaves every call to NumPy",
        "take away `policy='native'`, `--auto_jit=0` or `set_jit('off')`",
    ),
    ReasonKind(
        "unsupported-syntax",
        "Python syntax that is not interpreted",
        "the abstract interpreter has no rule for this kind of expression or statement, so the line runs in Python",
        "take the line apart into plainer statements, or move it before or after the array work",
    ),
    ReasonKind(
        "unbound",
        "a variable that may be unbound",
        "the name is assigned only on some paths before this line",
        "assign the variable before the branch or the loop",
    ),
    ReasonKind(
        "too-many-plans",
        "too many different argument shapes or constants",
        "every new combination needs a compilation",
        "pass arguments of fewer different shapes",
    ),
    ReasonKind(
        "changing-shape",
        "an array whose shape or dtype changes from call to call",
        "a program is compiled for the shapes of its arrays, and each new one takes a capture and a compilation",
        "pass arrays of one shape, such as blocks of one size or arrays padded to it",
    ),
    ReasonKind(
        "changing-value",
        "a value that the program is built for changes from call to call",
        "the line needs the value itself (for a shape, a slice, a branch), so each new one takes a capture",
        "keep the value the same from call to call, or leave the line outside of the function",
    ),
    ReasonKind(
        "changing-kind",
        "an argument of another type, length or memory layout from call to call",
        "a program is compiled for the types of its arguments, the lengths of lists, and the memory layout of arrays",
        "pass arguments of one type and length, and arrays of one layout (`np.ascontiguousarray`)",
    ),
    ReasonKind(
        "too-small",
        "too little work for a compiled program",
        "entering a compiled program costs more than NumPy needs for these operations",
        "nothing to do",
    ),
    ReasonKind(
        "inexact",
        "an operation whose compiled form does not give NumPy's bits",
        "with `exact=True` only operations with results equal to NumPy's, bit for bit, are compiled",
        "leave out `exact=True` where rounding errors of a few units in the last place do no harm",
    ),
    ReasonKind(
        "excluded",
        "excluded by a flag",
        "the cluster knobs keep this operation out of clusters",
        "change `--ops_to_cluster`, `--cluster_exclude_ops`, `--max_cluster_size` or `--clustering_fuel`",
    ),
    ReasonKind(
        "slower",
        "measured slower than NumPy",
        "the compiled program was timed against NumPy on this machine and lost",
        "nothing to do: NumPy is faster; `policy='eager'` compiles it all the same",
    ),
    ReasonKind(
        "products",
        "matrix products and next to nothing else",
        "they take nearly all of the time, and NumPy leaves them to a library that no compiled program is faster than",
        "nothing to do; `policy='eager'` compiles it all the same",
    ),
    ReasonKind(
        "trapped",
        "data that is left to NumPy",
        "for this data the statements raise an exception, caught in the program or not, or do what a compiled program "
        "cannot; NumPy runs them, and after some such calls all",
        "look for a caught exception, an index out of range or an integer divided by zero, and keep such data out",
    ),
    ReasonKind(
        "internal",
        "autojit failed",
        "an error inside autojit; the statements ran in NumPy",
        "please report it, with the message",
    ),
]

REASONS: dict[str, ReasonKind] = {row.id: row for row in _ROWS}


class Reason(NamedTuple):
    """Why one place in the user's program is not compiled.

    Attributes:
        id: A key of `REASONS`.
        detail: What exactly was met, in the user's words.
        source: Where.
        cause: The earlier line that stays native for a reason of its own, and makes a value that is missing here, or
            meets the same object.
    """

    id: str
    detail: str
    source: SourceLine | None = None
    cause: SourceLine | None = None

    @property
    def kind(self) -> ReasonKind:
        return REASONS[self.id]

    def to_dict(self) -> dict[str, object]:
        """The reason as plain data."""
        where = self.source
        return {
            "id": self.id,
            "title": self.kind.title,
            "detail": self.detail,
            "why": self.kind.why,
            "hint": self.kind.hint,
            "page": self.kind.page,
            "file": where.file if where else None,
            "line": where.line if where else None,
            "cause_line": self.cause.line if self.cause else None,
            "source": where.text if where else None,
        }

    def __str__(self) -> str:
        head = f"{self.source}: " if self.source else ""
        body = f"\n    {self.source.text}" if self.source and self.source.text else ""
        return f"{head}[{self.id}] {self.detail}{body}\n    why: {self.kind.why}\n    hint: {self.kind.hint}"


class AutojitError(Exception):
    """The base of every exception that autojit itself raises: `except autojit.AutojitError` catches them all.

    What NumPy or your own code raises is none of them; it comes as without autojit, with its own type and text.

    It is raised as itself where something is asked for that cannot be had: the compiler IR of a call of which nothing
    compiles, machine code without the packages that read it, a profile inside of another one, a file or a function
    that a command does not find. A function under `jit_compile` raises it if autojit or XLA fails inside (with the
    cause as its `__cause__`); one under `autocluster` warns, and NumPy goes on.

    The text says what was asked for, why it cannot be had, and what would help. For the failures of a decorated
    function change the decorator to `autocluster`, and please report it.
    """


class UncompilableError(AutojitError):
    """`jit_compile` met code that cannot be one XLA program.

    Raised by a call, before anything of it has run, and by `get_compiler_ir` of such a function. The text has all
    reasons, not only the first, each with its line, why it stands in the way, and a hint.

    Follow the hints, or use `autocluster`, which compiles the rest and leaves these places to NumPy.

    Attributes:
        name: The function.
        reasons: Every reason, in program order.
    """

    def __init__(self, name: str, reasons: tuple[Reason, ...]) -> None:
        self.name = name
        self.reasons = reasons
        lines = [f"`{name}` cannot be compiled as a whole, for {len(reasons)} reason(s):"]
        lines += [f"  {number}. {reason}" for number, reason in enumerate(reasons, 1)]
        lines.append("use `@autocluster` to compile what compiles and run the rest in NumPy")
        super().__init__("\n".join(lines))


class FlagError(AutojitError, ValueError):
    """An unknown flag or a bad value of one, in `AUTOJIT_FLAGS`, on a command line or as a keyword; a ValueError, too.

    Raised where the mistake stands: by the decorator that has the keyword, by the first decorator of a process whose
    `AUTOJIT_FLAGS` are wrong; a command says it on stderr and ends with status 2. The text names the flag that is
    spelled most like it, or what the flag takes.

    `python -m autojit flags` prints all flags.
    """


class AutojitWarning(Warning):
    """autojit fell back to NumPy for a reason that the user should know. Results are NumPy's all the same,
    except under `[check]`: the program goes on with the compiled ones, which differ.

    A warning is given once for each function and kind, at your line that made the call or has the decorator. The text
    begins with its kind in brackets:

    - `[too-many-plans]`: more combinations of shapes and constants than `--max_plans`; it names the arguments that
      change, and what they were. Pass fewer shapes, or raise the flag.
    - `[not-a-function]`: what is decorated is not written in Python and runs as it is. Decorate what calls it.
    - `[internal]`: autojit or XLA failed. Please report it, with the text.
    - `[disk-cache]`: programs cannot be kept in files, and why. `--cache_dir` takes another directory.
    - `[not-imported]`: the part of autojit that compiles cannot be imported now, and why.
    - `[check]`: under `--check`, results that differ from NumPy's: where, by how much, and in which operation.

    Python's own filters treat it like others: `warnings.simplefilter("error", autojit.AutojitWarning)` raises it.
    """


class CannotCapture(Exception):
    """Internal: a place that cannot enter a graph; carries a reason id and the detail.

    Attributes:
        where: The line, where it stands in a function that is called.
    """

    where: SourceLine | None = None

    def __init__(self, id: str, detail: str, cause: SourceLine | None = None) -> None:
        super().__init__(f"[{id}] {detail}")
        self.id = id
        self.detail = detail
        self.cause = cause


class Trapped(Exception):
    """Internal: a compiled program or a host node met data that NumPy must handle."""


class NoRoom(MemoryError):
    """Internal: there is no memory for the results of a program now."""


class Varies(Trapped):
    """Internal: a host node gave another dtype or shape than in the run that its plan was made in.

    Attributes:
        place: The op's name and its line.
    """

    def __init__(self, place: tuple[str, SourceLine | None], message: str) -> None:
        super().__init__(message)
        self.place = place


def comes_from_a_signal(error: BaseException) -> bool:
    """Whether an exception has passed through the handler of a signal."""
    handlers = set(_handlers())
    return bool(handlers) and any(frame.f_code in handlers for frame, _ in frames_of(error))


class expected(contextlib.suppress):
    """`contextlib.suppress`, but of what the handler of a signal has raised: `TimeoutError` is an `OSError`."""

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> bool:
        return bool(super().__exit__(kind, error, trace)) and error is not None and not comes_from_a_signal(error)


def frames_of(error: BaseException) -> Iterator[tuple[types.FrameType, int]]:
    """The frames that an exception has passed through, each with its line."""
    trace = error.__traceback__
    while trace is not None:
        yield trace.tb_frame, trace.tb_lineno
        trace = trace.tb_next


def _handlers() -> Iterator[types.CodeType]:
    for number in numbers():
        handler: Any = handler_of(number)
        while isinstance(handler, functools.partial):
            handler = handler.func
        if not isinstance(handler, types.FunctionType | types.MethodType):
            handler = getattr(type(handler), "__call__", None)  # noqa: B004 -- of the class, as the call itself does
        function = getattr(handler, "__func__", handler)
        if isinstance(function, types.FunctionType):
            yield function.__code__


def refusal(error: Exception, detail: str = "") -> CannotCapture:
    """What an exception of NumPy's is as a reason.

    Args:
        error: The exception.
        detail: What has raised it, with a colon and a blank behind it.

    Raises:
        Exception: `error` itself, if the handler of a signal has raised it: that is the program's.
    """
    if comes_from_a_signal(error):
        raise error
    return CannotCapture("raises", f"{detail}{type(error).__name__}: {error}")
