"""Arguments that NumPy's own functions refuse, or take in another way, before a row would see them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autojit.capture.lists import is_list
from autojit.errors import CannotCapture


def _has_list(args: list[Any], kwargs: dict[str, Any]) -> bool:
    return any(map(is_list, (*args, *kwargs.values())))


def _of_a_number(args: list[Any], kwargs: dict[str, Any]) -> bool:
    return bool(args) and not is_list(args[0]) and not getattr(args[0], "shape", None)


def _weights_are_a_bool(args: list[Any], kwargs: dict[str, Any]) -> bool:
    given = args[2] if len(args) > 2 else kwargs.get("weights")
    return isinstance(getattr(given, "value", given), bool)


#: By function: which arguments, and what is said of them.
REFUSED: dict[Any, tuple[Callable[[list[Any], dict[str, Any]], bool], str]] = {
    np.take_along_axis: (_has_list, "a list of places"),
    np.poly: (_of_a_number, "a number"),
    np.average: (_weights_are_a_bool, "a bool as weights"),
}


def check_arguments(function: Any, args: list[Any], kwargs: dict[str, Any]) -> None:
    """Leave calls with such arguments to NumPy.

    Raises:
        CannotCapture: The arguments are refused.
    """
    found = REFUSED.get(function) if isinstance(function, type(np.poly)) else None
    if found is not None and found[0](args, kwargs):
        raise CannotCapture("raises", f"`np.{function.__name__}` of {found[1]}")
