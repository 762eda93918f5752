"""How rows learn the specs of their results, mostly by asking NumPy, and how a simple row is put together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from autojit.errors import CannotCapture, comes_from_a_signal
from autojit.ir.op import Family, Infer, Lower, Op
from autojit.ir.spec import COMPILED_DTYPES, Spec, result_spec, spec_of
from autojit.jax_names import jax
from autojit.ops import exact
from autojit.ops.families import flat_dummy, small_dummy

Trap = Callable[[Any], None]
#: The rules that are traced for the shapes of their results, by the names of their rows.
RULES: dict[str, Callable[..., Any]] = {}
#: At most one entry: what asks the process that has jax for the shapes that a rule gives, as `traced_shapes`.
ELSEWHERE: list[Callable[[str, Sequence[Spec], dict[str, Any]], list[tuple[int, ...]]]] = []


def specs_of(result: Any) -> tuple[Spec, ...]:
    """The specs of a NumPy result: of each part when it is a tuple or list."""
    return tuple(map(spec_of, result)) if isinstance(result, tuple | list) else (spec_of(result),)


def compiled(specs: Sequence[Spec]) -> tuple[Spec, ...]:
    """The specs, if all dtypes are compiled.

    Raises:
        CannotCapture: One is not.
    """
    for spec in specs:
        if spec.dtype not in COMPILED_DTYPES:
            raise CannotCapture("argument-type", f"an array of dtype `{spec.dtype}` is not compiled")
    return tuple(specs)


def by_call(call: Callable[..., Any]) -> Infer:
    """Ask NumPy on arrays of the full shape that own one element; for functions that give views."""

    def infer(specs: Sequence[Spec], params: dict[str, Any]) -> tuple[Spec, ...]:
        return compiled(specs_of(call(*map(flat_dummy, specs), **params)))

    return infer


def by_shape(
    name: str,
    call: Callable[..., Any],
    rule: Callable[..., Any],
    dtype: Callable[..., Any] | None = None,
    *,
    scalars: bool | None = None,
) -> Infer:
    """Shapes from tracing `rule`; the dtypes from NumPy.

    Args:
        name: The row's.
        call: The NumPy call, which tells what is wrong when `rule` refuses the shapes.
        rule: `rule(*xs, **params)`, in jax; it may take `trap`.
        dtype: `dtype(*dummies, **params)`: a call of NumPy on arrays whose axes have length 0 or 1. `None` when the
            result has the common dtype of the operands.
        scalars: Whether a result without axes is a NumPy scalar; it is by default, where `dtype` is given.
    """
    wrap = result_spec if (dtype is not None if scalars is None else scalars) else Spec
    shapes_of = shapes_by(name, rule)

    def infer(specs: Sequence[Spec], params: dict[str, Any]) -> tuple[Spec, ...]:
        pairs = tuple(params.items())
        return cached(tuple(specs), pairs, repr(pairs))

    @lru_cache(maxsize=4096)
    def cached(specs: tuple[Spec, ...], pairs: tuple[tuple[str, Any], ...], _: str) -> tuple[Spec, ...]:
        # The text tells numbers apart that are equal: 1 from 1.0 and True.
        params = dict(pairs)
        wanted = [common_dtype(specs)]
        if dtype is not None:
            wanted = [spec.dtype for spec in specs_of(dtype(*map(small_dummy, specs), **params))]
        compiled([Spec((), each) for each in wanted])
        try:
            shapes = shapes_of(specs, params)
        except Exception as error:
            if comes_from_a_signal(error):
                raise
            call(*map(flat_dummy, specs), **params)
            raise CannotCapture("keyword", f"not compiled for these arguments: {error}") from None
        wanted *= len(shapes) if len(wanted) == 1 else 1
        return tuple(wrap(shape, each) for shape, each in zip(shapes, wanted, strict=True))

    return infer


def common_dtype(specs: Sequence[Spec]) -> np.dtype:
    """The dtype that NumPy gives several arrays put into one."""
    return np.result_type(*(spec.dtype for spec in specs))


def shapes_by(name: str, rule: Callable[..., Any]) -> Callable[[Sequence[Spec], dict[str, Any]], list[tuple[int, ...]]]:
    """What tells the shapes of a row's `rule(*xs, **params)` for operands of one dtype."""
    assert name not in RULES, name
    RULES[name] = rule

    def shapes(specs: Sequence[Spec], params: dict[str, Any]) -> list[tuple[int, ...]]:
        return (ELSEWHERE[-1] if ELSEWHERE else traced_shapes)(name, specs, params)

    return shapes


def traced_shapes(name: str, specs: Sequence[Spec], params: dict[str, Any]) -> list[tuple[int, ...]]:
    """The shapes of what a row's rule in `RULES` gives for operands of one dtype."""
    rule = RULES[name]
    with jax.enable_x64(True):
        dtype = common_dtype(specs)
        # jax has no sums and products of bools.
        inputs = [jax.ShapeDtypeStruct(spec.shape, np.int8 if dtype == np.bool_ else dtype) for spec in specs]
        found = jax.eval_shape(lambda *xs: rule(*xs, **params), *inputs)
    return [part.shape for part in (found if isinstance(found, tuple | list) else [found])]


def lower_in_common(rule: Callable[..., Any]) -> Lower:
    """Cast the operands to the dtype of the (first) result, then apply `rule(*xs, **params)`."""

    def lower(node: Any, xs: Sequence[Any], trap: Trap) -> Any:
        dtype = node.outputs[0].spec.dtype
        results = rule(*(exact.cast(x, dtype) for x in xs), **node.keywords)
        return tuple(results) if isinstance(results, tuple | list) else (results,)

    return lower


def lower_as_is(rule: Callable[..., Any]) -> Lower:
    """Apply `rule(*xs, **params)` to the operands as they are; cast the results to the dtypes of the specs."""

    def lower(node: Any, xs: Sequence[Any], trap: Trap) -> Any:
        results = rule(*xs, **node.keywords)
        results = results if isinstance(results, tuple | list) else (results,)
        return tuple(exact.cast(result, value.spec.dtype) for result, value in zip(results, node.outputs, strict=True))

    return lower


def moving(
    function: Callable[..., Any],
    rule: Callable[..., Any],
    operands: tuple[str, ...] = ("a",),
    params: tuple[str, ...] = (),
    *,
    call: Callable[..., Any] | None = None,
    views: bool = False,
    family: Family = "shaping",
    **more: Any,
) -> Op:
    """A row for a function that moves elements without computing.

    Args:
        function: The NumPy function.
        rule: The same in jax, `rule(*xs, **params)`.
        operands: The names of the array parameters.
        params: The names of the static parameters.
        call: The NumPy call on flat operands, where it is not `function` itself.
        views: Whether NumPy gives a view (or the operand itself), so that it can be asked on dummies.
        family: The family.
        more: Other fields of `Op`.
    """
    call = call or function
    more.setdefault("numpy", (function,))
    more.setdefault("name", public_name(function))
    infer = by_call(call) if views else by_shape(more["name"], call, rule)
    return Op(
        call=call, family=family, operands=operands, params=params, infer=infer, lower=lower_in_common(rule), **more
    )


def public_name(function: Any) -> str:
    """How user code writes a NumPy function."""
    module = getattr(function, "__module__", None) or "numpy"
    return f"{module}.{function.__name__}".replace("numpy", "np", 1)


def keyword_text(name: str, operands: tuple[str, ...]) -> Callable[[list[str], dict[str, Any]], str]:
    """Print a call with all arguments by name, for functions whose static arguments come first."""

    def text(inputs: list[str], params: dict[str, Any]) -> str:
        parts = [f"{operand}={value}" for operand, value in zip(operands, inputs, strict=True)]
        parts += [f"{key}={printed(value)}" for key, value in params.items()]
        return f"{name}({', '.join(parts)})"

    return text


def printed(value: Any) -> str:
    """A static parameter as Python source."""
    if isinstance(value, tuple):
        return "(" + "".join(f"{printed(part)}, " for part in value).rstrip() + ")" if value else "()"
    if isinstance(value, np.dtype):
        return f"np.dtype('{value.name}')"
    if isinstance(value, type):
        return f"np.{value.__name__}" if issubclass(value, np.generic) else value.__name__
    if isinstance(value, float) and not np.isfinite(value):
        return f"float('{value}')"
    return repr(value)
