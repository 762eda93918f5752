"""Calls that neither a row nor NumPy's own source can take: a pure function runs on the host, inside the plan."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np

from autojit.capture.functions import Functions
from autojit.capture.lists import is_index_tuple, is_list, is_tuple
from autojit.capture.values import Arr, Items, Known, LoopInt, Partial, Sym
from autojit.errors import CannotCapture
from autojit.ops.chapters import TABLE
from autojit.ops.host import is_pure
from autojit.ops.host_calls import HOST_CALLS, METHOD_OPERANDS, METHOD_PARAMETERS, WRITING, host_call, host_method

#: Failures that another way of running the call cannot mend.
_FINAL = frozenset({"budget", "unknown-value", "read-only", "inexact", "excluded"})


class HostCalls(Functions):
    """The last resort of a call of a NumPy function."""

    def save(self) -> Any:
        """The present state of the capture (the branches' room provides it)."""
        raise NotImplementedError

    def restore(self, state: Any) -> None:
        """Undo everything since `save`."""
        raise NotImplementedError

    def may_run_on_host(self, function: Any) -> bool:
        """Whether a function is known to be pure, and what it returns can be found out now."""
        return self.examples is not None and isinstance(function, _HASHABLE) and function in HOST_CALLS

    def on_host(self, function: Any, args: list[Any], kwargs: dict[str, Any], why: CannotCapture) -> Any:
        """The call as a node on the host.

        Raises:
            CannotCapture: `why`, where the function is not known to be pure, or the arguments are none for a node.
        """
        if why.id in _FINAL or not self.may_run_on_host(function):
            raise why
        if function in (np.insert, np.take_along_axis) and any(map(is_list, (*args, *kwargs.values()))):
            raise why  # NumPy looks at the numbers of the list, or wants none
        try:
            given, operands, params = self._split(function, args, kwargs, why)
            if not any(isinstance(operand, Arr) for operand in operands) or _rounds_on_the_way(operands, params):
                raise why
            result = self.apply(host_call(function, given), operands, params)
        except CannotCapture as error:
            raise (error if error.id == "raises" else why) from None
        return Items(tuple, result) if isinstance(result, list) else result

    def _split(
        self, function: Any, args: list[Any], kwargs: dict[str, Any], why: CannotCapture
    ) -> tuple[tuple[str, ...], list[Any], dict[str, Any]]:
        """The operands with their names, and the static parameters."""
        names = HOST_CALLS[function]
        try:
            bound = inspect.signature(function).bind(*args, **kwargs)
        except (TypeError, ValueError) as error:
            raise CannotCapture("keyword", f"TypeError: {error}") from None
        given: list[str] = []
        operands: list[Any] = []
        params: dict[str, Any] = {}
        for name, value in bound.arguments.items():
            kind = bound.signature.parameters[name].kind
            if kind is inspect.Parameter.VAR_POSITIONAL:
                for number, one in enumerate(value):
                    given.append(f"*{number}")
                    operands.append(self._number_or_array(one))
            elif kind is inspect.Parameter.VAR_KEYWORD:
                params |= {key: self.parameter(key, one) for key, one in value.items()}
            elif name in names and not (isinstance(value, Known) and not isinstance(value.value, _OPERAND)):
                given.append(name)
                operands.append(self._number_or_array(value))
            elif name == "axis" and is_list(value) and not is_tuple(value):
                raise why
            else:
                params[name] = self.parameter(name, value)
        if any(params.get(name) not in (None, False) for name in WRITING) or any(map(callable, params.values())):
            raise CannotCapture("keyword", "the call writes to an array, or calls a function")
        return tuple(given), operands, params

    def _number_or_array(self, value: Any) -> Any:
        if isinstance(value, Items) or (isinstance(value, Known) and isinstance(value.value, list | tuple)):
            return self.as_array(value)
        if not isinstance(value, Arr | Sym | LoopInt | Known):
            raise CannotCapture("argument-type", "an operand that is no array")
        return value

    def call_partial(self, partial: Partial, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """`np.gcd.reduce(...)`, `np.add.reduceat(...)` and the like."""
        try:
            return super().call_partial(partial, args, kwargs)
        except CannotCapture as error:
            if error.id in _FINAL or self.examples is None or not is_pure(partial.function):
                raise
            try:
                given, operands, params = self._arguments_of(partial.name, args, kwargs)
                if _rounds_on_the_way(operands, params):
                    raise error
                result = self.apply(host_method(partial.function, partial.name, given), operands, params)
            except CannotCapture as inner:
                raise (inner if inner.id == "raises" else error) from None
        if partial.name != "at":
            return result
        self.write(operands[0], self.read(result))
        return Known(None)

    def _arguments_of(
        self, method: str, args: list[Any], kwargs: dict[str, Any]
    ) -> tuple[tuple[str, ...], list[Any], dict[str, Any]]:
        """The operands of a ufunc's method with their names, and the static parameters."""
        known = METHOD_PARAMETERS[method]
        named = {**dict(zip(known, args, strict=False)), **kwargs}
        twice = any(name in kwargs for name in (*known[: len(args)], *("A", "B", "a", "indices", "b")))
        if twice or len(args) > len(known) - (method == "outer") or any(name not in known for name in named):
            raise CannotCapture("keyword", f"the arguments of `.{method}`")
        if is_list(named.get("axis")) and not is_tuple(named.get("axis")):
            raise CannotCapture("raises", "TypeError: 'list' object cannot be interpreted as an integer")
        if any(name in named and _is_none(named[name]) for name in ("initial", "where", "indices")):
            raise CannotCapture("keyword", f"`None` as an argument of `.{method}`")
        if method == "at" and is_index_tuple(named.get("indices")):
            raise CannotCapture("keyword", "`.at` at a tuple of indices")
        first = named.get(known[0])
        if not isinstance(first, Arr) or (method == "at" and first.kind != "array"):
            raise CannotCapture("argument-type", f"`.{method}` of no array")
        given = tuple(name for name in known if name in METHOD_OPERANDS and not _is_none(named.get(name, Known(None))))
        operands = [self._number_or_array(named[name]) for name in given]
        params = {name: self.parameter(name, one) for name, one in named.items() if name not in METHOD_OPERANDS}
        if params.pop("out", None) is not None:
            raise CannotCapture("keyword", f"`out=` of `.{method}`")
        return given, operands, params

    def call_method(self, array: Arr, name: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """`array.name(*args, **kwargs)`."""
        try:
            return super().call_method(array, name, args, kwargs)
        except CannotCapture as error:
            row = TABLE.method(name)
            # What a method refuses, its function may take.
            if row is None or not row.numpy or name == "sort" or error.id == "raises":
                raise
            return self.on_host(row.numpy[0], [array, *args], kwargs, error)


def _is_none(value: Any) -> bool:
    return isinstance(value, Known) and value.value is None


def _rounds_on_the_way(operands: list[Any], params: dict[str, Any]) -> bool:
    """Whether the memory order, which copies for the host do not keep, decides where NumPy rounds float16."""
    arrays = [operand for operand in operands if isinstance(operand, Arr)]
    half = any(dtype == np.float16 for dtype in (params.get("dtype"), *(array.dtype for array in arrays)))
    return half and not all(array.dummy.flags.c_contiguous for array in arrays)


_OPERAND = (bool, int, float, complex, np.generic, np.ndarray, list, tuple)
_HASHABLE = (type(np.sum), np.ufunc)
