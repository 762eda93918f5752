"""The compiler process: it has jax, which takes longer to import than many a program runs, and this process has not.

It is started when a program has something to compile, and ends with it. It is no child of this process, which may wait
for its children, and does not compete with it for the interpreter. Three sockets lead to it: one for questions whose
answers the program waits for, one for others, and one over which nothing is said, and whose end is its end.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from time import perf_counter, sleep

from autojit.compile.outside import has_arrived
from autojit.compile.wire import Wire, wires
from autojit.config import current
from autojit.errors import AutojitError, comes_from_a_signal, expected
from autojit.handlers import handler_of
from autojit.jax_names import POSTPONED

#: How often in a row the process may end, as it starts or in the middle of its work, before it is given nothing more.
_MOST_ENDS = 3
#: For so many seconds it may wait for time that nobody else wants; then it is started as other processes are.
LEISURE = 2.0 if hasattr(os, "SCHED_IDLE") and len(os.sched_getaffinity(0)) > 1 else 0.0
#: At leisure an answer may take so many seconds; then the process is started anew, and asked again.
PATIENCE = 10.0
#: Its standard streams are nobody's: the program's own must not change.
_SHELL = ("/bin/sh", "-c", '"$0" "$@" </dev/null >/dev/null 2>&1 &')
_START = os.path.join(os.path.dirname(__file__), "start.py")
#: Seconds after which a thread for which nobody waits looks again whether it has started.
_LOOKS = 0.02
_NOT_STARTED = "the process that compiles could not be started"
#: What it says when questions can be asked.
READY = b"ready"
try:
    _HERE = os.getcwd()
except OSError:  # the folder is gone
    _HERE = os.sep
#: Where modules are found, before the program's own folder is among these places.
PATHS = [os.path.normpath(os.path.join(_HERE, path)) for path in sys.path]
PATHS.sort(key=_HERE.__eq__)  # where it may lie, too, if autojit was found there


class CompilerEnded(AutojitError):
    """The compiler process has ended in the middle of its work: XLA has crashed, or it took too much memory."""


class _Gone(EOFError):
    """The process was not there any more when it was to be asked."""


class _Late(OSError):
    """The answer takes too long."""


class _Line:
    """One of the connections to the process: one question at a time, and its answer."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._lock = threading.Lock()
        self._asks = 0  # the thread that does

    def ask(self, question: bytes, patience: float | None = None) -> bytes:
        """The answer to a question, or without one what the process says by itself.

        Args:
            question: What is asked.
            patience: How many seconds the answer may take.

        Raises:
            OSError, EOFError: The process is not there any more, or the answer takes longer.
            AutojitError: This thread is asking already.
        """
        me = threading.get_ident()
        if self._asks == me:
            raise AutojitError("autojit was asked while it was compiling")
        with self._lock:
            self._asks = me
            try:
                if not self._wire.is_there() or (question and self._wire.poll()):  # nothing is said without being asked
                    raise _Gone
                if question:
                    self._wire.send_bytes(question)
                if patience is not None and not self._wire.poll(patience):
                    raise _Late
                return self._wire.recv_bytes()
            finally:
                self._asks = 0

    def has_said(self) -> bool:
        """Whether there is something to read, be it that nothing will come any more."""
        return not self._wire.is_there() or self._wire.poll()

    def close(self, ends: bool) -> None:
        """Close it, which `ends` the process behind it and a wait for its answer."""
        if ends and self._wire.is_there():
            self._wire.end()
        self._wire.close()


def _options() -> Iterator[str]:
    """What Python was told when it was started, as far as it decides which code of others runs, and what is written."""
    flags = sys.flags
    options = {"-I": flags.isolated, "-E": flags.ignore_environment, "-s": flags.no_user_site, "-S": flags.no_site}
    return (option for option, is_set in {**options, "-B": sys.dont_write_bytecode}.items() if is_set)


def _may_start() -> bool:
    """Whether the process can be started, and the program will not notice.

    Where Python is embedded or frozen with a program, `sys.executable` is the program itself. The first process of a
    container waits for all processes whose parents are gone, and who has a handler for the ends of children is told of
    the shell's.
    """
    is_python = os.path.basename(sys.executable or "").lower().startswith(("python", "pypy"))
    if os.name != "posix" or not is_python or getattr(sys, "frozen", False) or os.getpid() == 1:
        return False
    return not callable(handler_of(signal.SIGCHLD))


class Service:
    """The compiler process of this one.

    Attributes:
        is_wanted: Whether this process leaves all compiling to another one.
        trouble: Why the process cannot be started; "" for nothing.
        is_closed: Whether this process ends.
        patient: The thread for which nobody waits; 0 for none.
    """

    def __init__(self, is_wanted: bool) -> None:
        self.is_wanted = is_wanted and os.name == "posix" and bool(sys.executable)
        self._lines: dict[str, _Line] = {}
        self._is_ready = self.is_closed = False
        #: Both ends of the connections, while it is being started.
        self._pairs: dict[str, tuple[Wire, Wire]] = {}
        self.trouble = ""
        self._is_leisurely = False
        self._began = 0.0  # when somebody first looked whether it is ready
        self.patient = 0
        self._ends = 0
        self._lock = threading.RLock()

    def start(self) -> None:
        """Start the process now, where there is to be one, and not at leisure."""
        if self.is_wanted:
            with self._lock:
                self._began = -LEISURE
                self._started(leisurely=False)

    def is_ready(self) -> bool:
        """Whether there is nothing to wait for; if the process was not started, it is now."""
        if self.is_wanted:
            self._look()
        return self._is_ready or not self.is_wanted

    def _look(self) -> None:
        """Start the process if it was not, at leisure at first, and see whether it is ready."""
        if not self._is_ready and self._lock.acquire(blocking=False):
            try:
                now = perf_counter()
                self._began = self._began or now
                is_late = now >= self._began + LEISURE
                if is_late and self._is_leisurely:
                    self._hang_up()
                lines = self._started(leisurely=not is_late)
                if lines and lines["later"].has_said():
                    self._wait_for_start()
            finally:
                self._lock.release()

    @property
    def is_used(self) -> bool:
        """Whether what nobody waits for, at least, is left to the process, which may not have been started yet."""
        return self.is_wanted or (not self.trouble and _may_start() and current().compiler_process)

    def answers(self) -> bool:
        """Whether this thread asks the process: where it could not be started, only those compile that must.

        Without `is_wanted` this process has jax itself, and compiles what the program waits for.
        """
        is_patient = self._is_patient()
        return (not self.trouble or is_patient) if self.is_wanted else (is_patient and self.is_used)

    def _is_patient(self) -> bool:
        return threading.get_ident() == self.patient

    def ask(self, question: bytes) -> bytes:
        """The answer to a question.

        Args:
            question: What is asked. Where `patient` is this thread, the answer may take its time.

        Raises:
            CompilerEnded: There is no answer.
        """
        if not self.is_wanted or self._is_patient():
            while not (self._is_ready or self.trouble or self.is_closed or self._ends >= _MOST_ENDS):
                self._look()  # others do not wait for this thread meanwhile
                sleep(_LOOKS)
        try:
            return self._ask(question)
        except _Gone:  # it has ended while nobody wanted anything, or was replaced
            try:
                return self._ask(question)
            except _Gone as error:
                raise CompilerEnded("the process that compiles ends again and again") from error

    def _ask(self, question: bytes) -> bytes:
        with self._lock:
            if self.is_closed or self._ends >= _MOST_ENDS:
                raise CompilerEnded("the process that compiles has ended")
            if self._is_leisurely and self._lines and not (self._is_ready or self._lines["later"].has_said()):
                self._hang_up()  # nobody knows when it gets the time to start
            lines = self._started(leisurely=False)
            if lines and not self._is_ready:
                self._wait_for_start()
            if not self._is_ready:
                raise CompilerEnded(self.trouble or f"{_NOT_STARTED}: it ended at once")
        patience = PATIENCE if self._is_leisurely else None
        try:
            answer = lines["later" if self._is_patient() else "now"].ask(question, patience)
            self._ends = 0
            return answer
        except AutojitError:  # nothing was asked
            raise
        except BaseException as error:  # also one of a signal: the answer would be taken for that to another question
            is_late = isinstance(error, _Late)
            is_end = isinstance(error, OSError | EOFError) and not is_late and not comes_from_a_signal(error)
            with self._lock:
                is_replaced = self._lines is not lines  # another thread's answer took too long
                if not is_replaced:
                    self._hang_up()  # the next one is not at leisure
                    self._ends += is_end
            if is_late or (is_replaced and is_end and not self.is_closed):
                raise _Gone from None
            if is_end and not isinstance(error, _Gone):
                raise CompilerEnded("the process that compiles has ended in the middle of its work") from error
            raise

    def _started(self, leisurely: bool) -> dict[str, _Line]:
        """The connections, made now if there are none."""
        if not (self._lines or self.is_closed or self.trouble):
            self._is_leisurely = leisurely
            pairs = self._pairs
            environment = {**os.environ, "AUTOJIT_FLAGS": "--disk_cache=0"}
            try:
                for name in ("now", "later", "end"):
                    pairs[name] = wires()
                theirs = [other.fileno() for _, other in pairs.values()]
                given = [*map(str, theirs), str(int(leisurely)), *PATHS]
                words = [*_SHELL, sys.executable, *_options(), "-P", "-W", "ignore", _START, *given]
                import subprocess  # five milliseconds that a start does not take

                subprocess.run(words, pass_fds=theirs, env=environment, cwd="/", check=False)
                self._lines = {name: _Line(mine) for name, (mine, _) in pairs.items()}
            except Exception as error:  # also where the program has put something of its own in the place of `run`
                if has_arrived(error):
                    raise
                self.trouble = f"{_NOT_STARTED}: {error}"
            finally:
                for _, other in pairs.values():
                    other.close()
                pairs.clear()
        return self._lines

    def _wait_for_start(self) -> None:
        """Read the first word."""
        try:
            self._lines["later"].ask(b"")
            self._is_ready = True
        except (OSError, EOFError) as error:
            self._hang_up()
            if comes_from_a_signal(error):
                raise
            self._ends += 1
            if self._ends >= _MOST_ENDS:
                self.trouble = f"{_NOT_STARTED}: it ended at once"

    def _hang_up(self, ends: bool = True) -> None:
        lines, self._lines, self._is_ready = self._lines, {}, False
        for line in lines.values():
            with expected(OSError):
                line.close(ends)

    def close(self) -> None:
        """End the process, whatever it is doing, and start no other one."""
        self.is_closed = True
        self._hang_up()

    def forget(self) -> None:
        """Leave the connections to the parent of this process, which was forked."""
        self._lock = threading.RLock()
        for pair in self._pairs.values():  # another thread starts it just now
            for wire in pair:
                wire.close()
        self._pairs = {}
        self._hang_up(ends=False)


#: The compiler process of this one.
SERVICE = Service(POSTPONED)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=SERVICE.forget)
