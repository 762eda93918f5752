"""The command line: `python -m autojit`."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Sequence

from autojit.errors import AutojitError
from autojit.launch import script


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and give the exit status."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    if words[:1] != ["run"] or words[1:] in (["-h"], ["--help"]):
        return importlib.import_module("autojit.launch.commands").main(words)
    ended: BaseException | None = None
    try:
        program = script.prepare(words[1:])
    except AutojitError as error:
        return script.refuse(error)
    except SystemExit:
        raise
    except BaseException as error:  # in the program's text, or of a package that it stands in
        ended = error
    return program() if ended is None else script.tell_of(ended)


def goes_on() -> bool:
    """Whether Python goes on with a prompt, for which an exit would be one exception more to tell."""
    is_wanted = bool(sys.flags.inspect or os.environ.get("PYTHONINSPECT"))
    return bool(sys.flags.interactive) or (is_wanted and os.isatty(0))


if __name__ == "__main__":
    status = main()
    if not goes_on():
        raise SystemExit(status)  # `sys.exit` may be the program's own by now
