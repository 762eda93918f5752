"""The flags: `AUTOJIT_FLAGS`, `set_flags`, `override`, and keywords of the decorators, all checked by one table."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Literal, NamedTuple

from autojit.errors import FlagError

Policy = Literal["measured", "eager", "native"]
#: What `--log` takes.
LOGS = ("captures", "compiles", "guards", "clusters")
POLICIES: tuple[Policy, ...] = ("measured", "eager", "native")

ENVIRONMENT_VARIABLE = "AUTOJIT_FLAGS"


class Config(NamedTuple):
    """The values of all flags. `FLAGS` documents each."""

    auto_jit: int = 1
    policy: Policy | None = None
    min_cluster_size: int = 1
    max_cluster_size: int = 2000
    ops_to_cluster: tuple[str, ...] = ()
    cluster_exclude_ops: tuple[str, ...] = ()
    clustering_fuel: int = -1
    clustering_debug: bool = False
    check: bool = False
    unroll_budget: int = 600
    max_plans: int = 8
    exact: bool = False
    disk_cache: bool = True
    cache_dir: str = ""
    log: tuple[str, ...] = ()
    compiler_process: bool = True

    @property
    def may_compile(self) -> bool:
        """Whether functions with these flags are compiled at all."""
        return self.auto_jit > 0 and self.policy != "native"


class _Kind(NamedTuple):
    """How the values of one kind of flag are read: from text, and from a keyword's object."""

    accepts: str
    parse: Callable[[str], Any]
    check: Callable[[Any], Any]


class Flag(NamedTuple):
    """One flag.

    Attributes:
        name: The name, of the flag, the keyword and the field of `Config` alike.
        type: The kind of value, for the documentation.
        default: The value when nothing is given.
        doc: One sentence.
        accepts: Which values are accepted, in words.
        parse: Reads the text of a flag; raises ValueError.
        check: Reads the object of a keyword; raises ValueError.
    """

    name: str
    type: str
    default: Any
    doc: str
    accepts: str
    parse: Callable[[str], Any]
    check: Callable[[Any], Any]


def _integer(low: int, high: int | None, accepts: str) -> _Kind:
    def check(value: Any) -> int:
        if not isinstance(value, int) or isinstance(value, bool) or value < low or (high is not None and value > high):
            raise ValueError
        return value

    return _Kind(accepts, lambda text: check(int(text)), check)


def _choice(choices: Sequence[str]) -> _Kind:
    def check(value: Any) -> str | None:
        if value is not None and value not in choices:
            raise ValueError
        return value

    return _Kind("one of " + ", ".join(f"`{choice}`" for choice in choices), check, check)


def _boolean() -> _Kind:
    words = {"1": True, "true": True, "0": False, "false": False}

    def check(value: Any) -> bool:
        if value not in (0, 1):
            raise ValueError
        return bool(value)

    def parse(text: str) -> bool:
        if text.lower() not in words:
            raise ValueError
        return words[text.lower()]

    return _Kind("`1`, `true`, `0` or `false`", parse, check)


def _names(accepts: str, choices: Sequence[str] = ()) -> _Kind:
    def parse(text: str) -> tuple[str, ...]:
        return check(tuple(name.strip() for name in text.split(",") if name.strip()))

    def check(value: Any) -> tuple[str, ...]:
        if isinstance(value, str):
            return parse(value)
        if not isinstance(value, Sequence) or not all(isinstance(name, str) for name in value):
            raise ValueError
        if choices and not set(value) <= {*choices}:
            raise ValueError
        return tuple(value)

    return _Kind(accepts, parse, check)


def _path() -> _Kind:
    def check(value: Any) -> str:
        if not isinstance(value, str | os.PathLike) or isinstance(text := os.fspath(value), bytes) or "\0" in text:
            raise ValueError
        return text

    return _Kind("a directory; empty means the user's cache directory", check, check)


_AUTO_JIT = (
    "0 leaves all functions to NumPy, decorated or not, and `explain` still tells what would be compiled; 1 obeys the "
    "decorators; 2 also takes the functions of all modules of your own that are imported after autojit."
)


def _table() -> Iterator[Flag]:
    def flag(name: str, type: str, kind: _Kind, doc: str) -> Flag:
        return Flag(name, type, Config._field_defaults[name], doc, *kind)

    yield flag("auto_jit", "int", _integer(0, 2, "0, 1 or 2"), _AUTO_JIT)
    yield flag(
        "policy",
        "choice",
        _choice(POLICIES),
        "When to compile: at the first call (`eager`), when it pays (`measured`), never (`native`); "
        "unset, each decorator has its own default.",
    )
    yield flag(
        "min_cluster_size",
        "int",
        _integer(1, None, "an integer of at least 1"),
        "Where a region would become several clusters, those of fewer operations run in NumPy; a region that is one "
        "cluster is compiled whatever its size.",
    )
    yield flag(
        "max_cluster_size", "int", _integer(1, None, "an integer of at least 1"), "The most operations in one cluster."
    )
    operations = _names("names of ops or families with commas between them, such as `elementwise,np.sum`")
    yield flag("ops_to_cluster", "names", operations, "Cluster these operations or families only; empty means all.")
    yield flag("cluster_exclude_ops", "names", operations, "Never cluster these operations or families.")
    yield flag(
        "clustering_fuel",
        "int",
        _integer(-1, None, "an integer of at least -1"),
        "The number of clusters that the process may make, or as a keyword the function, to bisect a wrong result; "
        "what comes later runs in NumPy. -1 means no limit.",
    )
    yield flag(
        "clustering_debug",
        "bool",
        _boolean(),
        "Log each compiled region, at level WARNING: its graph, its clusters and its plan.",
    )
    yield flag(
        "check",
        "bool",
        _boolean(),
        "Run NumPy beside every compiled region and warn of the first difference, with line, operation and values.",
    )
    yield flag(
        "unroll_budget",
        "int",
        _integer(0, None, "an integer of at least 0"),
        "The most operations that a region may have where a loop in it has been unrolled, those before the loop "
        "included; an eighth of it in the body of a loop that Python runs.",
    )
    yield flag(
        "max_plans",
        "int",
        _integer(1, None, "an integer of at least 1"),
        "The most compiled variants that are kept for one region of code.",
    )
    yield flag(
        "disk_cache",
        "bool",
        _boolean(),
        "Keep compiled programs in files, so that later processes load them.",
    )
    yield flag(
        "log",
        "names",
        _names(f"{', '.join(f'`{name}`' for name in LOGS)}, with commas between them", LOGS),
        "Log what happens, at level INFO of the logger `autojit`; to stderr where the program sets up no logging.",
    )
    yield flag("cache_dir", "path", _path(), "The directory of the disk cache.")
    yield flag(
        "compiler_process",
        "bool",
        _boolean(),
        "Compile what the program does not wait for in a process of its own, which leaves it the interpreter and the "
        "processor; otherwise in a thread. As a keyword it has no effect. Under `python -m autojit run` there is one "
        "in any case, but not in the first process of a container.",
    )
    yield flag(
        "exact",
        "bool",
        _boolean(),
        "Compile only what gives NumPy's results bit for bit; the rest, and subnormal numbers, are left to NumPy.",
    )


#: One row per flag, by name.
FLAGS: dict[str, Flag] = {flag.name: flag for flag in _table()}


def parse_flags(text: str, base: Config | None = None) -> Config:
    """The configuration that a line of flags describes.

    Args:
        text: Flags as a shell would take them: `--name=value`, and `--name` alone for a boolean.
        base: What the flags change; the defaults when `None`.

    Raises:
        FlagError: An unknown flag or a bad value.
    """
    return (base or Config())._replace(**parse_changes(text))


def parse_changes(text: str, options: Sequence[str] = ()) -> dict[str, Any]:
    """What a line of flags changes, by their names.

    Args:
        text: The line.
        options: The names of what else may be given, of which the caller has taken out what it knows: an unknown name
            may be meant for one of them.

    Raises:
        FlagError: An unknown flag or a bad value.
    """
    changes: dict[str, Any] = {}
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise FlagError(f"`{ENVIRONMENT_VARIABLE}` cannot be split into words: {error}") from None
    for word in words:
        if not word.startswith("--"):
            raise FlagError(f"`{word}` is not a flag: flags are written `--name=value`")
        name, equals, value = word[2:].partition("=")
        flag = _find(name, "--", options)
        if not equals and flag.type != "bool":
            raise FlagError(f"flag `--{flag.name}` needs a value: {flag.accepts}")
        try:
            changes[flag.name] = flag.parse(value) if equals else True
        except ValueError:
            raise _bad_value(flag, value, "--") from None
    return changes


def merge(config: Config, changes: Mapping[str, Any]) -> Config:
    """`config` with keyword changes, checked as flags are.

    Raises:
        FlagError: An unknown name or a bad value.
    """
    checked: dict[str, Any] = {}
    for name, value in changes.items():
        flag = _find(name, "")
        try:
            checked[flag.name] = flag.check(value)
        except (ValueError, TypeError):
            raise _bad_value(flag, value, "") from None
    return config._replace(**checked) if checked else config


def _find(name: str, prefix: str, options: Sequence[str] = ()) -> Flag:
    flag = FLAGS.get(name)
    if flag is not None:
        return flag
    import difflib  # a millisecond that a start does not take

    near = difflib.get_close_matches(name.replace("-", "_").lower(), [*options, *FLAGS], n=1, cutoff=0.5)
    hint = f"; did you mean `{prefix}{near[0]}`?" if near else ""
    known = ", ".join(f"`{prefix}{known}`" for known in (*options, *FLAGS))
    raise FlagError(f"unknown flag `{prefix}{name}`{hint}\nthe flags are {known}")


def _bad_value(flag: Flag, value: Any, prefix: str) -> FlagError:
    shown = value if isinstance(value, str) else repr(value)
    return FlagError(f"flag `{prefix}{flag.name}` does not take `{shown}`: it takes {flag.accepts}")


# The process-wide flags; an override shadows some of them in its own context (thread or task) only.
_process: Config | None = None
_overrides: ContextVar[tuple[tuple[str, Any], ...]] = ContextVar("autojit_flags", default=())


def current() -> Config:
    """The flags in force here: the environment's, changed by `set_flags`, changed by `override`.

    Raises:
        FlagError: `AUTOJIT_FLAGS` has an unknown flag or a bad value.
    """
    global _process
    if _process is None:
        _process = parse_flags(os.environ.get(ENVIRONMENT_VARIABLE, ""))
    changes = _overrides.get()
    return _process._replace(**dict(changes)) if changes else _process


def set_flags(**changes: Any) -> None:
    """Change flags for the whole process.

    Raises:
        FlagError: An unknown name or a bad value.
    """
    global _process
    if _process is None:
        current()
    assert _process is not None
    _process = merge(_process, changes)


@contextmanager
def override(**changes: Any) -> Iterator[Config]:
    """Change flags inside a `with` block, in this thread or task only.

    Raises:
        FlagError: An unknown name or a bad value.
    """
    checked = merge(Config(), changes)
    pairs = tuple((name, getattr(checked, name)) for name in changes)
    token = _overrides.set(_overrides.get() + pairs)
    try:
        yield current()
    finally:
        _overrides.reset(token)


def describe() -> str:
    """The flags as a help text: name, values, default, meaning."""
    lines = [f'{ENVIRONMENT_VARIABLE}="--flag=value ..."', ""]
    for flag in FLAGS.values():
        default = ",".join(flag.default) if isinstance(flag.default, tuple) else flag.default
        lines.append(f"  --{flag.name}  ({flag.type}, default: {'none' if default in ('', None) else default})")
        lines.append(f"      {flag.doc} Takes {flag.accepts}.")
    return "\n".join(lines)
