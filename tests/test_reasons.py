"""Every reason why something is not compiled: what is told, where, why, and what to do."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import autojit as aj
from tests.helpers import clone

X = np.arange(6.0) + 1
LOG: list[float] = []
EAGER = aj.autocluster(policy="eager")


# ---- programs that are not one program; the line that is meant says so


def effect(x):
    y = x * 2
    LOG.append(float(y[0]))  # here
    return y


def statement(x):
    global COUNT
    COUNT = 1  # here
    return x + 1


def unknown_value(x):
    shift = LOG.pop()
    return x + shift


def data_branch(x):
    y = x * 2
    if y.sum() > 1:  # here
        return y
    return x


def data_shape(x):
    return np.diff(x[x > 2])  # here


def moving_shape(x, names):
    total = 0.0
    for k in range(40):
        print(end="")  # here
        total += x[: k % 6].sum()  # here
    return total


def data_value(x):
    return np.zeros(int(x[0])) + 1  # here


def long_loop(x):
    for k in range(5000):  # here
        x = x + (1, 2, 3)[k % 3]  # here
    return x


def budget(x):
    x = np.sin(np.cos(np.tan(np.exp(x))))  # here
    return x


def argument_type(x):
    return x * 2  # here


def keyword(x):
    return np.add(x, 1, casting="unsafe")  # here


def raises(x):
    y = x * 2
    return y + np.zeros(4)  # here


def read_only(x):
    x += 1  # here
    return x


def unsupported_syntax(x):
    return x + (lambda *numbers: 2)()  # here


def no_row(x):
    return np.busday_count(x, x)  # here


def host_op(x):
    return np.unique(x) * 2  # here


def excluded(x):
    return np.cos(x) * 2  # here


FROZEN = X.copy()
FROZEN.flags.writeable = False
CASES = {
    "effect": (effect, (X,), {}),
    "statement": (statement, (X,), {}),
    "data-branch": (data_branch, (X,), {}),
    "data-shape": (data_shape, (X,), {}),
    "moving-shape": (moving_shape, (X, []), {}),
    "data-value": (data_value, (X,), {}),
    "long-loop": (long_loop, (X,), {}),
    "budget": (budget, (X,), {"max_cluster_size": 3}),
    "argument-type": (argument_type, (np.ma.array(X),), {}),
    "keyword": (keyword, (X,), {}),
    "raises": (raises, (X,), {}),
    "read-only": (read_only, (FROZEN,), {}),
    "unsupported-syntax": (unsupported_syntax, (X,), {}),
    "no-row": (no_row, (X,), {}),
    "host-op": (host_op, (X,), {}),
    "excluded": (excluded, (X,), {"cluster_exclude_ops": "cos"}),
}
#: Reasons that no call of `jit_compile` meets: they are about native calls of `autocluster`, or have tests of their own.
ELSEWHERE = {
    "off", "unknown-value", "no-source", "not-a-function", "overlap", "errstate", "followed", "unbound", "too-many-plans",
    "changing-shape", "changing-value", "changing-kind", "too-small", "slower", "products", "inexact", "trapped", "internal",
}  # fmt: skip


def test_all_reasons_are_here():
    assert set(CASES) | ELSEWHERE == set(aj.REASONS)


@pytest.mark.parametrize("id", CASES)
def test_reasons_say_what_where_why_and_what_to_do(id):
    function, arguments, flags = CASES[id]
    LOG[:] = [1.0]
    with pytest.raises(aj.UncompilableError) as caught:
        aj.jit_compile(function, **flags)(*arguments)
    assert LOG == [1.0]
    error = caught.value
    assert id in [reason.id for reason in error.reasons], str(error)
    text = str(error)
    assert text.startswith(f"`{function.__name__}` cannot be compiled as a whole, for {len(error.reasons)} reason(s):")
    assert text.endswith("use `@autocluster` to compile what compiles and run the rest in NumPy")
    lines = Path(__file__).read_text().split("\n")
    marked = set()
    for reason in error.reasons:
        kind = aj.REASONS[reason.id]
        assert reason.source.file == __file__ and reason.source.function == function.__name__
        assert reason.source.text == lines[reason.source.line - 1].strip()
        for part in (
            f"{__file__}:{reason.source.line}: [{reason.id}] {reason.detail}",
            reason.source.text,
            kind.why,
            kind.hint,
        ):
            assert part in text
        marked.add(reason.source.line)
    first = function.__code__.co_firstlineno
    wanted = {n for n in range(first, first + 12) if lines[n - 1].endswith("# here")}
    end = next(n for n in range(first, len(lines)) if not lines[n].startswith(" ") and lines[n])
    assert marked == {n for n in wanted if n <= end}, text
    assert [r.source.line for r in error.reasons] == sorted(r.source.line for r in error.reasons)


@pytest.mark.parametrize("id", CASES)
def test_every_explanation_is_data(id):
    function, arguments, flags = CASES[id]
    explanation = aj.autocluster(policy="eager", **flags)(function).explain(*clone(arguments))
    assert json.loads(json.dumps(explanation.to_dict())) == explanation.to_dict()
    assert explanation.is_whole == (id == "budget") and str(explanation)


def test_what_follows_from_a_native_line_is_told_apart():
    explanation = EAGER(unknown_value).explain(X)
    first = unknown_value.__code__.co_firstlineno
    assert [(r.id, r.source.line - first) for r in explanation.native_statements] == [("effect", 1)]
    assert [(r.id, r.source.line - first) for r in explanation.unknown] == [("unknown-value", 2)]
    assert f"known after a first run: line {first + 2}\n" in str(explanation)


def test_a_function_without_source():
    space = {"np": np}
    exec("def made(x):\n    return x * 2", space)
    strict = aj.jit_compile(space["made"])
    with pytest.raises(aj.UncompilableError, match=r"\[no-source\]") as caught:
        strict(X)
    assert aj.REASONS["no-source"].hint in str(caught.value)
    with pytest.raises(aj.UncompilableError):
        strict.get_compiler_ir(X)
    with pytest.raises(aj.UncompilableError, match=r"\[no-source\]"):
        strict.get_compiler_ir(X)("hlo")
    native = EAGER(space["made"])
    np.testing.assert_array_equal(native(X), X * 2)
    assert [r.id for r in native.explain(X).native_statements] == ["no-source"]
    aj.set_jit("off")
    try:
        np.testing.assert_array_equal(strict(X), X * 2)
    finally:
        aj.set_jit(True)


def test_nothing_to_show():
    with pytest.raises(aj.AutojitError, match="nothing of `.*` compiles for these arguments"):
        EAGER(lambda x: LOG.append(x)).get_compiler_ir(X)
    with pytest.raises(aj.UncompilableError, match=r"\[host-op\]"):
        aj.jit_compile(host_op).get_compiler_ir(X)
