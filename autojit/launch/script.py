"""`python -m autojit run`: a script or module as Python would run it, with the functions of its own modules armed."""

from __future__ import annotations

import builtins
import contextlib
import functools
import importlib
import importlib.util
import os
import shlex
import sys
import types
import warnings
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from time import process_time
from typing import TYPE_CHECKING, NamedTuple

from autojit import config as flags
from autojit.config import Config
from autojit.errors import AutojitError, FlagError
from autojit.launch import hook, memory
from autojit.launch.rewrite import script_code_of
from autojit.launch.scope import Scope
from autojit.launch.tracebacks import clean, is_of_the_text
from autojit.logs import log
from autojit.runtime.allowance import ALLOWANCE
from autojit.runtime.controllers import before_the_end

if TYPE_CHECKING:
    from autojit.launch.reporting import Reporting

USAGE = (
    "python -m autojit run [--include=NAMES] [--exclude=NAMES] [--summary] [--report=FILE] [--keep_memory=0] "
    "[--FLAG=VALUE ...] (SCRIPT | -m MODULE) ..."
)
#: The part that autojit has of the time until the program begins; the rest is Python's and NumPy's.
OURS = 0.6
_OPTIONS = ("include", "exclude", "summary", "report", "keep_memory")


class NoScript(AutojitError):
    """The script cannot be read."""


class Given(NamedTuple):
    """The command's own options, which its help explains, and the program with its words."""

    include: str = ""
    exclude: str = ""
    summary: bool = False
    report: str | None = None
    keep_memory: int = 1
    is_module: bool = False
    program: Sequence[str] = ()


def parse(words: Sequence[str]) -> tuple[Given, Config]:
    """The command's own options and the flags, up to the program; the rest is the program's.

    Raises:
        AutojitError: There is no program, or a flag is wrong.
    """
    count = 0
    while count < len(words) and words[count].startswith("-") and words[count] != "-m":
        count += 1 + (words[count] == "--report")  # the file may stand behind it
    given, others = _options(words[:count]) if count else (Given(), [])
    config = flags.merge(flags.current(), flags.parse_changes(shlex.join(others), _OPTIONS) if others else {})
    is_module = words[count : count + 1] == ["-m"]
    given = given._replace(is_module=is_module, program=list(words[count + is_module :]))
    if not given.program:
        raise AutojitError(f"there is no program to run: {USAGE}")
    return given, hook.measured(config)


def _options(words: Sequence[str]) -> tuple[Given, list[str]]:
    """The options among some words, and the other ones."""
    import argparse  # three milliseconds that a start without options does not take

    # To find out how wide the terminal is takes 2 ms of imports, and nobody is shown help here.
    wide = functools.partial(argparse.HelpFormatter, width=100)
    parser = argparse.ArgumentParser(
        "python -m autojit run", usage=USAGE, exit_on_error=False, allow_abbrev=False, formatter_class=wide
    )
    parser.add_argument("--include", default="", help="names of modules that count as yours: `shop,tools.*`")
    parser.add_argument("--exclude", default="", help="names of modules that stay as they are")
    parser.add_argument("--summary", action="store_true", help="tell at the end, on stderr, what was gained")
    parser.add_argument("--report", metavar="FILE", help="write at the end what became of each function; - for stderr")
    parser.add_argument(
        "--keep_memory", type=int, choices=(0, 1), default=1, help="0: freed memory goes back to the system at once"
    )
    try:
        given, others = parser.parse_known_args(words)
    except argparse.ArgumentError as error:
        raise AutojitError(f"{error}: options are written `--name=value`") from error
    return Given(**vars(given)), others


def prepare(words: Sequence[str]) -> Callable[[], int]:
    """Make everything ready for a program.

    Args:
        words: What stands behind `run` on the command line.

    Returns:
        What runs it and gives the exit status. What the program raises, and how it ends, is as without autojit.

    Raises:
        AutojitError: There is no such program, or a flag is wrong.
        SyntaxError: The program is not Python.
    """
    given, config = parse(words)
    if not config.log:  # the program's own logs are as without autojit, whatever their level
        log.is_quiet = True
    scope = Scope(_names(given.include), _names(given.exclude))
    # What tells of a program is imported where it is asked for: starting takes a tenth longer with it.
    names = {"reporting": given.report is not None or given.summary, "summary": given.summary}
    late = {name: importlib.import_module(f"autojit.launch.{name}") for name, is_asked in names.items() if is_asked}
    hook.install(scope, config)
    if given.keep_memory and config.auto_jit:
        memory.keep_freed()
    ALLOWANCE.spend(OURS * process_time())
    if given.report is not None:  # somebody wants to know what would become of each function
        ALLOWANCE.is_limited = ALLOWANCE.is_bounded = False
    reporting = None if given.report is None else late["reporting"].Reporting(given.report, given.program[0], scope)
    tells = (lambda: late["reporting"].tell(late["summary"].summary())) if given.summary else None
    name, sys.argv = given.program[0], list(given.program)
    if given.is_module:
        sys.argv[0] = "-m"  # as long as the module is looked for
        sys.modules["__main__"] = types.ModuleType("__main__")  # likewise: a package that is imported may look
        code, module = _module(name, config, scope)
        sys.argv[0] = str(module.__file__)
    else:
        code, module = _script(name, config, scope)
    sys.modules["__main__"] = module
    return lambda: _run(code, module, tells, reporting, is_file=module.__spec__ is None)


def refuse(error: AutojitError) -> int:
    """Tell what is wrong with a command's words; the exit status."""
    print(error, file=sys.stderr)
    return 2 if isinstance(error, FlagError | NoScript) else 1


def _run(
    code: types.CodeType,
    module: types.ModuleType,
    tells: Callable[[], None] | None,
    reporting: Reporting | None,
    is_file: bool,
) -> int:
    if tells is not None:
        process = os.getpid()
        before_the_end(lambda: tells() if os.getpid() == process else None)
    if reporting is not None:
        before_the_end(reporting.end)
        reporting.begin()
    ended: BaseException | None = None
    try:
        try:
            exec(code, vars(module))
        finally:
            if is_file:  # as Python does it, for files alone
                _flush()
    except SystemExit:
        raise
    except BaseException as error:
        ended = error
    if ended is None:
        return 0
    return tell_of(ended)  # no exception is handled any more: hooks may ask


def tell_of(ended: BaseException) -> int:
    """Tell the user, and whom else it interests, of the exception that has ended the program; the exit status."""
    clean(ended)
    if isinstance(ended, SyntaxError) and is_of_the_text(ended):
        BaseException.with_traceback(ended, None)
    _remember(ended)
    _tell(ended)
    if isinstance(ended, KeyboardInterrupt):
        sys.excepthook = lambda *_: None  # shown already; Python knows how to end for it
        raise ended
    return 1


def _flush() -> None:
    """Have what the program has printed written before anything is told of how it has ended."""
    for stream in (sys.stderr, sys.stdout):
        with contextlib.suppress(Exception):  # as Python does: the program may have put anything there
            stream.flush()


def _tell(error: BaseException) -> None:
    """Tell the user of it, in the program's own way, if that works."""
    try:
        sys.excepthook(type(error), error, error.__traceback__)
    except SystemExit:
        raise
    except BaseException as of_the_hook:
        clean(of_the_hook)
        # It is told behind. The class may have its own way to set attributes, and the stubs do not know slots.
        BaseException.__context__.__set__(of_the_hook, None)  # type: ignore[attr-defined] -- as above
        print("Error in sys.excepthook:", file=sys.stderr)
        sys.__excepthook__(type(of_the_hook), of_the_hook, of_the_hook.__traceback__)
        print("\nOriginal exception was:", file=sys.stderr)
        sys.__excepthook__(type(error), error, error.__traceback__)


def _remember(error: BaseException) -> None:
    """Tell what has ended the program to whom that interests at the end of the process, as Python does."""
    sys.last_type, sys.last_value, sys.last_traceback = type(error), error, error.__traceback__
    if sys.version_info >= (3, 12):
        sys.last_exc = error


def _names(text: str) -> list[str]:
    return [name for name in text.split(",") if name]


def _look_in(folder: str, is_program: bool = False) -> None:
    """Have modules found in the program's folder, as Python would, and no more where autojit was found.

    Args:
        folder: The folder, or an archive.
        is_program: Whether it is the program itself: there modules are found even if paths are to be safe.
    """
    if not sys.flags.safe_path:
        sys.path[0] = folder
    elif is_program:
        sys.path.insert(0, folder)


def _main(file: str | None, spec: ModuleSpec | None, package: str | None) -> types.ModuleType:
    """An empty `__main__`."""
    module = types.ModuleType("__main__")
    module.__builtins__ = builtins  # type: ignore[attr-defined] -- as Python does
    module.__file__, module.__spec__, module.__package__ = file, spec, package
    module.__loader__ = spec.loader if spec is not None else SourceFileLoader("__main__", str(file))
    module.__cached__ = spec.cached if spec is not None else None  # type: ignore[attr-defined] -- as Python does
    module.__annotations__ = {}
    return module


def _script(name: str, config: Config, scope: Scope) -> tuple[types.CodeType, types.ModuleType]:
    """The code and the module of a script, a folder or an archive, as `python SCRIPT` would have them."""
    try:
        here = os.getcwd()
        # As Python has it, dots and all.
        whole = name if os.path.isabs(name) else here if name == os.curdir else os.path.join(here, name)
        spec = PathFinder.find_spec("__main__", [whole])  # a folder's or an archive's
        source = _read(name) if spec is None else b""
    except OSError as error:
        raise NoScript(f"`{name}` cannot be read: {error.strerror}") from error
    if spec is None:
        _look_in(os.path.dirname(os.path.realpath(name)))
        module = _main(whole, None, None)
        return _code_of(source, whole, module, config, scope), module
    _look_in(whole, is_program=True)
    module = _main(spec.origin, spec, "")
    return _code_by(spec, name, module, config, scope), module


def _read(file: str) -> bytes:
    with open(file, "rb") as opened:
        return opened.read()


def _module(name: str, config: Config, scope: Scope) -> tuple[types.CodeType, types.ModuleType]:
    """The code and the module of a module, as `python -m MODULE` would have them."""
    _look_in(os.getcwd())
    try:
        spec = importlib.util.find_spec(name)
        _warn_of_two(name)
        if spec is not None and spec.submodule_search_locations is not None:
            spec = importlib.util.find_spec(f"{name}.__main__")
            _warn_of_two(f"{name}.__main__")
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise  # of a module that a package imports
        raise AutojitError(f"`{name}` cannot be found: {error}") from error
    if spec is None:
        raise AutojitError(f"there is no module `{name}` that can be run")
    module = _main(spec.origin, spec, spec.parent)
    return _code_by(spec, name, module, config, scope), module


def _warn_of_two(name: str) -> None:
    """Warn as Python does of a module that its package has imported, and that is about to run once more."""
    package = name.rpartition(".")[0]
    if package and not hasattr(sys.modules.get(name, sys), "__path__") and name in sys.modules:
        text = (
            f"{name!r} found in sys.modules after import of package {package!r}, but prior to execution of {name!r}; "
            "this may result in unpredictable behaviour"
        )
        warnings.warn_explicit(text, RuntimeWarning, "<frozen runpy>", 128)


def _code_of(source: bytes | str, file: str, module: types.ModuleType, config: Config, scope: Scope) -> types.CodeType:
    """The code of the program's own file: with probes, unless the user wants it as it is."""
    if scope.leaves_out("__main__"):
        return compile(source, file, "exec", dont_inherit=True)
    return script_code_of(source, file, hook.arms(config), vars(module), config)


def _code_by(spec: ModuleSpec, name: str, module: types.ModuleType, config: Config, scope: Scope) -> types.CodeType:
    """The code that a module's own loader gives."""
    if type(spec.loader) is hook.Loader and spec.origin is not None:
        source = spec.loader.get_data(spec.origin)
        return _code_of(source, spec.origin, module, config, scope)
    get_code = getattr(spec.loader, "get_code", None)
    code = get_code(spec.name) if get_code is not None else None
    if code is None:
        raise AutojitError(f"there is no module `{name}` that can be run")
    return code
