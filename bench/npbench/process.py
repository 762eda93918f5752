"""Start a worker, wait no longer than allowed, and make one row of what it reported."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

_FOLDERS = re.compile(r"(?<![\w.])/(?:[^\s/:'\"`]+/)+")


def work(options: dict[str, Any], timeout: float) -> tuple[list[dict[str, Any]], str]:
    """The events of one worker, and why it ended early ("" when it did not)."""
    with tempfile.TemporaryDirectory() as folder:
        events, errors = Path(folder, "events"), Path(folder, "errors")
        command = [sys.executable, "-m", "bench.npbench.worker", json.dumps({**options, "events": str(events)})]
        environment = {"JAX_PLATFORMS": "cpu", **os.environ}
        with errors.open("w") as stderr:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=stderr,
                env=environment,
                start_new_session=True,
            )
            problem = _wait(process, timeout)
        if problem and process.returncode > 0:
            problem = without_paths(errors.read_text().strip().splitlines()[-1:] or [problem])
        lines = events.read_text().splitlines() if events.exists() else []
        return [json.loads(line) for line in lines], problem


def _wait(process: subprocess.Popen[bytes], timeout: float) -> str:
    try:
        code = process.wait(timeout)
    except subprocess.TimeoutExpired:
        return f"no end after {timeout:.0f} s"
    finally:
        # The worker leads its own group: whatever it has started ends with it.
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    return f"ended by signal {-code}" if code < 0 else f"exit status {code}" if code else ""


def without_paths(lines: list[str]) -> str:
    """A message that may be published: folders are dropped, and it is short."""
    return _FOLDERS.sub("", " ".join(lines))[:200]


def autojit_row(name: str, options: dict[str, Any], timeout: float) -> dict[str, Any]:
    """The row of a kernel: what was measured, and what went wrong."""
    events, problem = work({**options, "kernel": name, "competitor": "autojit"}, timeout)
    row: dict[str, Any] = {"kernel": name, "agree": False, "problem": "", "peers": {}}
    for event in events:
        row.update(event)
    row["problem"] = without_paths([row["problem"]]) or problem
    return row


def peer_entry(name: str, peer: str, options: dict[str, Any], timeout: float) -> dict[str, Any]:
    """The best port of a kernel to `peer`: the fastest of those that agree."""
    events, problem = work({**options, "kernel": name, "competitor": peer}, timeout)
    ports = [event for event in events if "port" in event]
    good = [port for port in ports if port["agree"]]
    if not good:
        problems = [problem, *(port["problem"] for port in ports)]
        return {"agree": False, "problem": without_paths([next(filter(None, problems), "no port")])}
    return max(good, key=lambda port: port["speedup"])
