"""`python -m autojit explain MODULE:FUNCTION --args ...`: what becomes of a call."""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import json
import operator
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from autojit.capture.values import ArraySpec
from autojit.errors import AutojitError
from autojit.explain.html import to_page


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's own arguments."""
    parser.add_argument("function", metavar="MODULE:FUNCTION", help="a module, or a file that ends in .py, and a name")
    parser.add_argument(
        "--args",
        default="",
        help="the call's arguments in Python; `np`, `ArraySpec` and the module's own names are known: "
        '"np.ones((3, 4)), n=5", "ArraySpec((3, 4), float)"',
    )
    parser.add_argument("--json", action="store_true", help="print it as JSON")
    parser.add_argument("--html", metavar="FILE", help="write it to a page")


def explain(given: argparse.Namespace, explain_call_of: Callable[..., Any]) -> int:
    """Print the explanation. The module is imported; of the function nothing runs.

    Args:
        given: The command's arguments.
        explain_call_of: Explains a call of any function: `explain_call_of(function, *args, **kwargs)`.

    Raises:
        AutojitError: There is no such function, the arguments cannot be made, or the page cannot be written.
    """
    module, function = find(given.function)
    args, kwargs = arguments(given.args, vars(module))
    try:
        explanation = explain_call_of(function, *args, **kwargs)
    except TypeError as error:
        raise AutojitError(f"{error}; `--args` gives the call's arguments") from error
    if given.html:
        try:
            Path(given.html).write_text(to_page(explanation), encoding="utf-8")
        except OSError as error:
            raise AutojitError(f"the page `{given.html}` cannot be written: {error.strerror}") from error
    elif given.json:
        print(json.dumps(explanation.to_dict(), indent=2))
    else:
        print(explanation)
    return 0


def find(name: str) -> tuple[Any, Any]:
    """The module and the function that `MODULE:FUNCTION` names.

    Raises:
        AutojitError: There is no such module or function.
    """
    place, colon, path = name.rpartition(":")
    if not colon:
        raise AutojitError(f"`{name}` names no function: write `module:function` or `file.py:function`")
    try:
        module = _from_file(Path(place)) if place.endswith(".py") else _from_path(place)
    except (ImportError, OSError) as error:
        raise AutojitError(f"`{place}` cannot be imported: {error}") from error
    try:
        return module, operator.attrgetter(path)(module)
    except AttributeError as error:
        raise AutojitError(f"there is no `{path}` in `{place}`: {error}") from error


def _from_path(name: str) -> Any:
    if str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    return importlib.import_module(name)


def _from_file(file: Path) -> Any:
    spec = importlib.util.spec_from_file_location(file.stem, file.resolve())
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[file.stem] = module
    sys.path.insert(0, str(file.resolve().parent))
    spec.loader.exec_module(module)
    return module


def arguments(text: str, names: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments that `text` describes, as a call would write them.

    Raises:
        AutojitError: The text is not Python, or fails.
    """
    known = {**names, "np": np, "ArraySpec": ArraySpec, "_given": lambda *args, **kwargs: (args, kwargs)}
    try:
        return eval(f"_given({text})", known)
    except Exception as error:
        raise AutojitError(f"`--args {text}` fails: {type(error).__name__}: {error}") from error
