"""Where the report of a launched program goes, and that the program does not notice."""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path

from autojit.capture.options import Options
from autojit.compile.service import SERVICE
from autojit.errors import AutojitError
from autojit.launch.findings import find
from autojit.launch.report import to_report, to_screen
from autojit.launch.report_page import to_page
from autojit.launch.samples import Samples
from autojit.launch.scope import Scope


class Reporting:
    """Looks at a program while it runs, and writes its report when it ends.

    Args:
        target: A file: a page, if it ends in .html or .htm, else text; or `-`: the top level on stderr.
        program: The program's name.
        scope: The modules that are the user's own.

    Raises:
        AutojitError: There is no file, or it cannot be written.
    """

    def __init__(self, target: str, program: str, scope: Scope) -> None:
        if not target:
            raise AutojitError("`--report` needs the name of a file, or `-` for stderr")
        self.program = program
        self.file = None if target == "-" else Path(os.path.abspath(target))  # the program may go elsewhere
        self._process = os.getpid()
        self._samples = Samples(scope)
        if self.file is not None:
            _try(self.file)

    def begin(self) -> None:
        """The program begins."""
        SERVICE.start()  # however short it is, it is to be looked into
        Options.keeps_objects = True
        with contextlib.suppress(RuntimeError):  # no more threads; the end tells it
            self._samples.start()

    def end(self) -> None:
        """The program ends. What goes wrong here is told on stderr, and nothing else changes for the program; a
        forked process that comes by writes nothing.
        """
        if os.getpid() != self._process:
            return
        try:
            self._samples.stop()
            findings = find(self.program, self._samples)
            if self.file is None:
                print(to_screen(findings), file=sys.stderr)
            else:
                is_page = self.file.suffix.lower() in (".html", ".htm")
                text = to_page(findings) if is_page else f"{to_report(findings)}\n"
                self.file.write_text(text, encoding="utf-8", errors="backslashreplace")
        except BaseException as error:  # Ctrl-C too: the program's own end is to be seen
            tell(f"autojit: the report could not be written: {type(error).__name__}: {error}")
        finally:
            Options.keeps_objects = False


def _try(file: Path) -> None:
    """Find out before the program runs whether a file can be written, and leave it as it is."""
    is_new = not file.exists()
    try:
        with file.open("a"):
            pass
        if is_new:
            file.unlink()
    except OSError as error:
        raise AutojitError(f"the report `{file}` cannot be written: {error.strerror}") from error


def tell(text: str) -> None:
    """Print on stderr, if there is one."""
    try:
        print(text, file=sys.stderr)
    except (OSError, ValueError, AttributeError):  # the program may have closed it
        return
