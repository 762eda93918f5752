"""Long chains of operations: the same results, in segments of bounded length."""

import linecache
import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jax import lax

import autojit as aj
from autojit.capture import explore
from autojit.capture.capture import capture
from autojit.lowering import chains
from autojit.lowering.segments import segmented

EAGER = aj.autocluster(policy="eager")
X = np.random.default_rng(0).uniform(0.1, 0.9, 100)


def program(lines, parameters="x, y", file="<a long program>"):
    """A function of these lines."""
    source = "\n".join([f"def program({parameters}):", *(f"    {line}" for line in lines)])
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    namespace = {"np": np}
    exec(compile(source, file, "exec"), namespace)
    return namespace["program"]


def conditionals(function, *arguments):
    """The conditionals of the cut program, or `None` if it is not cut."""
    cut = segmented(jax.jit(function).trace(*arguments).jaxpr)
    if cut is None:
        return None
    return [e for e in jax.make_jaxpr(cut)(*arguments).jaxpr.eqns if e.primitive.name == "cond"]


def repeat(times, step):
    def function(x):
        for number in range(times):
            x = step(x, number)
        return [x]

    return function


def test_short_programs_are_left_as_they_are():
    assert segmented(jax.jit(lambda x: [jnp.sin(x) * 2 + 1]).trace(X).jaxpr) is None
    assert conditionals(repeat(chains.LIMIT, lambda x, n: x * (n + 0.5)), X) is None


def test_a_chain_is_cut_where_it_is_too_long():
    found = conditionals(repeat(4 * chains.LIMIT, lambda x, n: x * (n + 0.5)), X)
    assert len(found) == 3
    for conditional in found:
        never, always = conditional.params["branches"]
        assert len(always.jaxpr.eqns) == chains.LIMIT
        assert len(always.out_avals) == 1


def test_it_is_cut_where_little_has_to_be_stored():
    def step(x, n):
        parts = [x * (n + 0.5), x + n, x - n, x * x]  # four arrays at once, then one
        return parts[0] * parts[1] + parts[2] * parts[3]

    found = conditionals(repeat(60, step), X)
    assert len(found) >= 2
    assert all(len(conditional.outvars) == 1 for conditional in found)


def test_numbers_and_equal_elements_are_not_stored():
    def function(x, number):
        ones = jnp.full(100, 1.5) + jnp.zeros(100)
        many = jnp.full(100, number)
        for _ in range(100):
            x = x * ones + many
        return [x]

    found = conditionals(function, X, 0.5)
    assert found
    assert all(len(conditional.outvars) == 1 for conditional in found)


def test_what_takes_long_is_not_computed_again():
    def function(x):
        many = [
            jnp.sort(jnp.arange(100.0)),
            jnp.eye(100) @ jnp.ones(100),
            lax.scan(lambda carry, _: (carry + 1.0, None), jnp.zeros(100), None, length=7)[0],
            lax.reduce(jnp.ones((9, 100)), 0.0, lambda a, b: a * b + 1, (0,)),
            jax.nn.relu(jnp.exp(jnp.arange(100.0))),
        ]
        for _ in range(100):
            x = x * many[0] + many[1] * many[2] - many[3] * many[4]
        return [x]

    cut = segmented(jax.jit(function).trace(X).jaxpr)
    text = str(jax.make_jaxpr(cut)(X))
    for name in ("sort[", "dot_general[", "scan[", "reduce["):
        assert text.count(name) == 1, name
    np.testing.assert_allclose(cut(X)[0], function(X)[0], rtol=1e-5)


def test_what_is_wide_is_cut_too():
    def function(x):
        parts = [x * (n + 0.5) for n in range(2 * chains.MOST)]
        while len(parts) > 1:
            parts = [a + b for a, b in zip(parts[::2], parts[1::2], strict=True)]
        return parts

    assert conditionals(function, X)


def test_chains_of_few_elements_may_be_longer():
    assert conditionals(repeat(2 * chains.LIMIT, lambda x, n: x * (n + 0.5)), X[:10]) is None
    assert conditionals(repeat(2 * chains.MOST, lambda x, n: x * (n + 0.5)), X[:10])


def test_a_stored_result_ends_a_chain():
    assert conditionals(repeat(100, lambda x, n: x - jnp.sum(x) * (n + 0.5)), X) is not None
    assert conditionals(repeat(100, lambda x, n: jnp.sort(x * (n + 0.5))), X) is None


def test_bodies_of_loops_are_cut():
    def body(n, x):
        return repeat(3 * chains.LIMIT, lambda x, n: x * (n + 0.5))(x)[0]

    program = jax.jit(lambda x: [lax.fori_loop(0, 3, body, x)]).trace(X).jaxpr
    assert "cond[" not in str(program)
    assert "cond[" in str(jax.make_jaxpr(segmented(program))(X))


@st.composite
def graphs(draw):
    """Random operations on numbers, arrays and arrays of integers, and which of their values are results."""
    kinds = st.sampled_from(["add", "multiply", "where", "sum", "spread", "literal", "integers", "loop"])
    steps = draw(st.lists(st.tuples(kinds, st.integers(0, 50), st.integers(0, 50)), min_size=1, max_size=60))
    results = draw(st.lists(st.integers(0, 60), min_size=1, max_size=6))
    return steps, results


def run_graph(steps, results, x, number):
    arrays, numbers = [x, x + 1], [number, number * 2]
    for kind, one, two in steps:
        a, b = arrays[-1 - one % min(6, len(arrays))], arrays[two % len(arrays)]
        n = numbers[two % len(numbers)]
        if kind == "sum":
            numbers.append(jnp.sum(a) * 2**-7)
        elif kind == "literal":
            numbers.append(jnp.float64(one) * 0.5)
        else:
            arrays.append(
                {
                    "add": lambda: a + b * 0.5,
                    "multiply": lambda: a * n,
                    "where": lambda: jnp.where(a > b, a, n),
                    "spread": lambda: jnp.full(x.shape, n) + 1.0,
                    "integers": lambda: (a.astype(np.int64) * 3 % 7).astype(np.float64),
                    "loop": lambda: lax.fori_loop(0, 2, lambda _, v: v * 0.5 + b, a),
                }[kind]()
            )
    values = [*arrays, *numbers]
    return [values[-1 - number % len(values)] for number in results]


@settings(deadline=None)
@given(graph=graphs(), limit=st.integers(1, 12), most=st.integers(1, 12))
def test_segments_compute_what_the_program_does(graph, limit, most):
    with pytest.MonkeyPatch.context() as patch, jax.enable_x64(True):
        patch.setattr(chains, "LIMIT", limit)
        patch.setattr(chains, "MOST", most)
        patch.setattr(chains, "_FEW", 4)
        function = lambda x, number: run_graph(*graph, x, number)  # noqa: E731 -- a name for two uses
        x = np.linspace(-2, 2, 9)  # halves: a last bit, which contraction changes, would decide a cast to an integer
        traced = jax.jit(function).trace(x, 0.75)
        cut = segmented(traced.jaxpr)
        if cut is not None:
            for got, want in zip(cut(x, 0.75), function(x, 0.75), strict=True):
                np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-12)


CHAINS = {
    "products": "x = x * {c} + y",
    "log1p": "x = np.log1p(np.abs(x)) * {c}",
    "choices": "x = np.where(x > {c}, x * 0.5, x + y)",
    "several": "x, y = x * {c} + y, y - x * {c} * 0.01",
    "items": "x[{n} % 7] = x[{n} % 11] * {c}",
    "slices": "x[1:] = x[:-1] * {c} + y[1:]",
    "reductions": "x = x * {c} + y - np.mean(x)",
}


# NumPy's own warnings, for the arrays without elements.
@pytest.mark.filterwarnings("ignore:Mean of empty slice", "ignore:invalid value encountered in scalar divide")  # NumPy's own
@pytest.mark.parametrize("name", CHAINS)
def test_long_programs(name):
    lines = [CHAINS[name].format(c=1 - 1 / (n + 2), n=n) for n in range(150)]
    function = program([*lines, "return x, y"])
    for x, y in ((X, X * 0.5), (X[:5], X[:5] * 0.5), (X[:0], X[:0])):
        if name == "items":
            x, y = X[: len(x) + 11], X[: len(x) + 11]
        want = function(x.copy(), y.copy())
        for _ in range(2):
            got = EAGER(function)(x.copy(), y.copy())
            for one, other in zip(got, want, strict=True):
                np.testing.assert_allclose(one, other, rtol=1e-10)


def test_long_programs_of_integers_agree_exactly():
    function = program([*(f"x = x * {n + 3} ^ y + {n}" for n in range(200)), "return x"])
    x = np.arange(100)
    np.testing.assert_array_equal(EAGER(function)(x, x[::-1].copy()), function(x, x[::-1].copy()))


def test_an_error_inside_of_a_chain():
    lines = [f"x = x * {1 - 1 / (n + 2)} + y" for n in range(100)]
    function = program([*lines, "x = x * y[i]", *lines, "return x"], "x, y, i")
    compiled = EAGER(function)
    np.testing.assert_allclose(compiled(X, X, 7), function(X, X, 7), rtol=1e-12)
    with pytest.raises(IndexError, match="index 100 is out of bounds"):
        compiled(X, X, 100)
    with pytest.raises(IndexError, match="index 100 is out of bounds"):
        compiled(X, X, np.int64(100))


LONG = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
import numpy as np, autojit as aj
from tests.test_segments import program
lines = {lines}
function = program(lines, {parameters!r})
x, y = np.full(1000, 0.5), np.full(1000, 0.25)
got, want = aj.autocluster(function, policy="eager")(x.copy(), y), function(x.copy(), y)
np.testing.assert_allclose(got, want, rtol=1e-10)
"""
FATAL = {
    "a chain": '[*(f"x = x * {1 - 1 / (n + 2)} + y" for n in range(600)), "return x"]',
    "a tree": '[*(f"a{n} = x * {1 / (n + 2)} + y" for n in range(512)), '
    '*(f"a{n} = a{2 * (n - 512)} + a{2 * (n - 512) + 1}" for n in range(512, 1023)), "return a1022"]',
    "a loop": '["s = 0.5", "for t in range(x.shape[0]):", *(f"    s = s * {1 - 1 / (n + 2)} + y[t]" for n in range(600)), '
    '"    x[t] = s", "return x"]',
}


@pytest.mark.skipif(sys.platform != "linux", reason="memory is bounded on Linux only")
@pytest.mark.parametrize("name", FATAL)
def test_what_ends_a_process_without_segments(name):
    source = LONG.format(lines=FATAL[name], parameters="x, y")
    subprocess.run([sys.executable, "-c", source], check=True, timeout=120)


def test_a_long_program_after_a_native_line_is_captured_once(monkeypatch):
    tried = []
    monkeypatch.setattr(explore, "capture", lambda *given: tried.append(given[1].lines) or capture(*given))
    lines = [f"x = x * {1 - 1 / (n + 2)} + y" for n in range(300)]
    function = program(["import json", "x = json.loads('[1.0]')[0] + x", *lines, "return x"])
    compiled = EAGER(function)
    for _ in range(2):
        np.testing.assert_allclose(compiled(X, X), function(X, X), rtol=1e-12)
    # Not again after each line whose value is not known before the native line has run.
    assert len(tried) <= 10
    assert [(c.lines[0], c.lines[-1]) for c in compiled.explain(X, X).clusters] == [(4, 303)]
