"""The commands of `python -m autojit` beside `run`, which has no use for what they import."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from autojit.api import explain_call_of
from autojit.compile.persistent import opened
from autojit.config import current, describe
from autojit.errors import AutojitError, FlagError
from autojit.explain import command
from autojit.launch import bisect, doctor
from autojit.launch.script import USAGE, refuse


def main(words: Sequence[str]) -> int:
    """Run one command and give the exit status."""
    try:
        status = _run(words)
        if sys.stdout is not None:
            sys.stdout.flush()
        return status
    except BrokenPipeError:  # as in `... | head`: nobody reads on
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or Python would flush it once more
        return 1


def _run(words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser("python -m autojit", description="What autojit keeps, and how it is set.")
    commands = parser.add_subparsers(dest="command", required=True)
    cache = commands.add_parser("cache", help="the disk cache of compiled programs")
    cache.add_argument("what", choices=["info", "clear", "path"])
    commands.add_parser("flags", help="the flags that AUTOJIT_FLAGS takes")
    command.add_arguments(commands.add_parser("explain", help="what becomes of a call of a function"))
    doctor.add_arguments(commands.add_parser("doctor", help="versions, flags, caches, and a self-test against NumPy"))
    bisect.add_arguments(
        commands.add_parser(
            "bisect", help="the one cluster that makes a program's output differ, or its run slow", usage=bisect.USAGE
        )
    )
    commands.add_parser("run", help="run a program with its functions autoclustered", usage=USAGE)
    given = parser.parse_args(words)
    try:
        flags = current()
    except FlagError as error:
        return refuse(error)
    if given.command == "flags":
        print(describe())
        return 0
    if given.command == "explain":
        try:
            return command.explain(given, explain_call_of)
        except AutojitError as error:
            return refuse(error)
    if given.command == "bisect":
        try:
            return bisect.bisect(given)
        except AutojitError as error:
            return refuse(error)
    if given.command == "doctor":
        return doctor.examine(given.seconds)
    disk = opened(flags.cache_dir)
    if disk is None:
        print("there is no directory for the cache: this user has no home; `--cache_dir` names one", file=sys.stderr)
        return 1
    if given.what == "path":
        print(disk.root)
    elif given.what == "clear":
        print(f"{disk.clear()} programs removed from {disk.root}")
    else:
        print(disk)
        print(f"disk cache: {'on' if flags.disk_cache else 'off'}")
    return 0
