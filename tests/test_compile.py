"""Executables: what goes in, what comes out, and the cache."""

import gc
import threading
import weakref

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autojit as aj
from autojit.compile import xla
from autojit.compile.cache import ExecutableCache
from autojit.compile.executable import Executable
from autojit.compile.key import cluster_key
from autojit.errors import Trapped
from autojit.ir.graph import Const, Graph, Node, Value, Write
from autojit.ir.spec import Spec, spec_of
from autojit.ops.families import elementwise, wants_trap


@wants_trap
def _positive_root(x, trap):
    trap(jnp.any(x < 0))
    return jnp.sqrt(x)


ADD = elementwise(np.add, jnp.add)
MULTIPLY = elementwise(np.multiply, jnp.multiply)
ROOT = elementwise(np.sqrt, _positive_root)


def binary(op, name, x, y):
    shape = np.broadcast_shapes(x.spec.shape, y.spec.shape)
    (spec,) = op.infer((x.spec, y.spec), {})
    assert spec.shape == shape
    return Node(op, (x, y), (), (Value(name, spec),))


def const(value):
    return Const(value, spec_of(value))


def axpy(shape=(10,), dtype=np.float64, name="cluster_0", prefix=""):
    """`a * s + b * 3`, of arrays and a Python scalar."""
    array = Spec(shape, np.dtype(dtype))
    a, b = Value(f"{prefix}a", array), Value(f"{prefix}b", array)
    s = Value(f"{prefix}s", spec_of(2.0))
    x = binary(MULTIPLY, f"{prefix}x", a, s)
    y = binary(MULTIPLY, f"{prefix}y", b, const(3))
    z = binary(ADD, f"{prefix}z", x.outputs[0], y.outputs[0])
    return Graph(name, (a, b, s), (x, y, z), z.outputs)


@pytest.mark.parametrize("shape", [(), (10,), (0, 3), (100, 100)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex128])
def test_run(shape, dtype):
    executable = Executable(axpy(shape, dtype))
    for _ in range(3):
        a, b = (np.asarray(np.random.rand(*shape), dtype) for _ in range(2))
        (result,) = executable.run([a, b, 2.5])
        expected = a * 2.5 + b * 3
        assert result.dtype == dtype and result.shape == shape and not result.flags.writeable
        np.testing.assert_allclose(result, expected, rtol=1e-6 if dtype == np.float32 else 1e-12)


def test_scalars_of_all_dtypes_are_packed():
    scalars = [True, 7, 1.5, 2 - 1j] + [np.dtype(d).type(3) for d in "?bhilBHILefdFD"]
    values = [Value(f"v{i}", spec_of(x)) for i, x in enumerate(scalars)]
    nodes = []
    for value in values:
        zero = Const(value.spec.dtype.type(0), Spec((), value.spec.dtype, "scalar"))
        node = binary(ADD, f"r{value.name}", Value(value.name, Spec((), value.spec.dtype, "scalar")), zero)
        nodes.append(node)
    graph = Graph("cluster_0", tuple(values), tuple(nodes), tuple(n.outputs[0] for n in nodes))
    executable = Executable(graph)
    for result, scalar in zip(executable.run(scalars), scalars, strict=True):
        expected = np.asarray(scalar)
        assert result.dtype == expected.dtype and result.shape == () and result == expected


def test_strided_unaligned_readonly_inputs():
    for n in (10, 200):
        executable = Executable(axpy((n, n)))
        base = np.random.rand(n, 2 * n)
        odd = np.frombuffer(b"x" + np.random.rand(n, n).tobytes(), np.uint8)[1:].view(np.float64).reshape(n, n)
        assert not odd.flags.writeable
        for a in (base[:, ::2], base[:, ::-2], base[:, :n].T, np.broadcast_to(base[0, :n], (n, n)), odd):
            (result,) = executable.run([a, odd, 2.0])
            np.testing.assert_allclose(result, a * 2.0 + odd * 3, rtol=1e-12)


def test_results_that_are_inputs_constants_or_twice():
    array = Spec((20000,), np.dtype(np.float64))
    a = Value("a", array)
    s = Value("s", spec_of(1))
    node = binary(ADD, "x", a, s)
    x = node.outputs[0]
    graph = Graph("cluster_0", (a, s), (node,), (x, x, a, s, const(4.0)), (Write(a, x),))
    executable = Executable(graph)
    values = np.random.rand(20000)
    results = executable.run([values, 5])
    expected = [values + 5, values + 5, values, 5, 4.0, values + 5]
    for result, want in zip(results, expected, strict=True):
        assert isinstance(result, np.ndarray) and result.dtype == np.asarray(want).dtype
        np.testing.assert_array_equal(result, want)
    for i, result in enumerate(results):
        assert not np.shares_memory(result, values)
        assert not any(np.shares_memory(result, other) for other in results[:i])


def test_trap():
    a = Value("a", Spec((5,), np.dtype(np.float64)))
    b = Value("b", a.spec)
    graph = Graph("cluster_0", (a,), (Node(ROOT, (a,), (), (b,)),), (b,))
    executable = Executable(graph)
    np.testing.assert_array_equal(executable.run([np.full(5, 4.0)])[0], np.full(5, 2.0))
    with pytest.raises(Trapped):
        executable.run([np.array([1.0, 2, -3, 4, 5])])
    np.testing.assert_array_equal(executable.run([np.full(5, 9.0)])[0], np.full(5, 3.0))


def test_a_python_int_past_64_bits_is_left_to_numpy():
    a, i = Value("a", Spec((), np.dtype(np.int64), "scalar")), Value("i", spec_of(1))
    executable = Executable(Graph("cluster_0", (a, i), (node := binary(ADD, "b", a, i),), node.outputs))
    assert executable.run([np.int64(2), -(2**63)])[0] == 2 - 2**63
    with pytest.raises(Trapped):
        executable.run([np.int64(2), 2**70])


def test_key_is_of_structure_not_of_names():
    assert cluster_key(axpy()) == cluster_key(axpy(name="other", prefix="p"))
    different = [axpy(), axpy((11,)), axpy(dtype=np.float32), axpy(dtype=np.complex128), axpy((1, 10))]
    assert len({cluster_key(graph) for graph in different}) == len(different)


def test_programs_that_are_dropped_leave_no_holes(monkeypatch):
    trimmed = []
    monkeypatch.setattr("autojit.compile.cache.trim", lambda: trimmed.append(None))
    monkeypatch.setattr("autojit.compile.cache.DROPPED", 3)
    cache = ExecutableCache(max_entries=1)
    for n in range(1, 9):
        cache.get_or_compile(axpy((n,)))
    assert cache.info().evictions == 7 and len(trimmed) == 2


def test_what_jax_has_traced_is_freed(monkeypatch):
    """It is larger than the program, and jax keeps it for as long as the function that it has traced."""
    traced, jit = [], jax.jit

    def noting(function, **options):
        traced.append(weakref.ref(function))
        return jit(function, **options)

    monkeypatch.setattr(jax, "jit", noting)
    executable = Executable(axpy((7,)))
    gc.collect()
    assert traced and not any(function() for function in traced)
    assert "tensor<7xf64>" in executable.program.stablehlo()  # traced again when it is asked for


def test_cache_compiles_once_and_evicts_the_oldest():
    cache = ExecutableCache(max_entries=2)
    first = cache.get_or_compile(axpy())
    assert cache.get_or_compile(axpy(prefix="q")) is first
    second = cache.get_or_compile(axpy((3,)))
    assert cache.get_or_compile(axpy()) is first
    cache.get_or_compile(axpy((4,)))
    assert cache.get_or_compile(axpy()) is first
    assert cache.get_or_compile(axpy((3,))) is not second
    info = cache.info()
    assert (info.hits, info.misses, info.compiles, info.evictions, info.entries) == (3, 4, 4, 2, 2)
    assert info.compile_seconds > 0
    cache.clear()
    assert cache.info().entries == cache.info().hits == 0


def test_concurrent_requests_compile_once():
    cache = ExecutableCache()
    found = []
    threads = [threading.Thread(target=lambda: found.append(cache.get_or_compile(axpy((7,))))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8 and len(set(map(id, found))) == 1
    assert cache.info().compiles == 1


def test_concurrent_runs_do_not_mix():
    executable = Executable(axpy((20000,)))
    wrong = []

    def work(number):
        a = np.full(20000, float(number))
        for _ in range(50):
            if not (executable.run([a, a, float(number)])[0] == number * number + 3 * number).all():
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_inside_the_users_own_jax():
    assert not jax.config.jax_enable_x64
    executables = []

    @jax.jit
    def users(x):
        executables.append(executable := Executable(axpy((6,))))
        (result,) = executable.run([np.arange(6.0), np.arange(6.0), 2.0])
        assert result.dtype == np.float64
        return x + jnp.asarray(result)

    np.testing.assert_allclose(users(jnp.zeros(6)), np.arange(6.0) * 5)

    def host(x):
        return np.asarray(executables[0].run([np.asarray(x, np.float64), np.zeros(6), 2.0])[0], np.float32)

    out = jax.jit(lambda x: jax.pure_callback(host, jax.ShapeDtypeStruct((6,), np.float32), x))(jnp.ones(6))
    np.testing.assert_allclose(out, np.full(6, 2.0))
    with jax.disable_jit(), jax.debug_nans(True):
        np.testing.assert_allclose(Executable(axpy((4,))).run([np.full(4, np.nan), np.ones(4), 1.0])[0], np.nan)
    assert not jax.config.jax_enable_x64


@pytest.mark.parametrize(
    ("function", "has_sums"),
    [
        (lambda x: (x > 0).any() | (x > 1).all(axis=0), False),
        (lambda x: x.astype(int) // x.astype(int), False),  # a trap
        (lambda x: x * 2, False),
        (lambda x: x.sum(), True),
        (lambda x: x.max(axis=1), False),  # two operands
        (lambda x: np.argmin(x), True),
        (lambda x: np.prod(x) + (x > 0).any(), True),
        (lambda x: np.tile(x, (2, 2)).sum(axis=0), False),  # in stages
    ],
)
def test_trees_are_for_sums(function, has_sums):
    x = np.ones((20, 30))
    decorated = aj.jit_compile(function)
    np.testing.assert_array_equal(decorated(x), function(x))
    (step,) = (each for each in decorated.__autojit_controller__.probes.values())
    (executable,) = step.plans[0].executables.values()
    assert xla._has_sums(executable.program.lowered) == has_sums


def test_long_chains_compile_in_a_time_that_grows_with_their_length():
    """Each value is read at two indices; written twice, the first one would be written a million million times."""

    def many(x):
        for k in range(1, 61):
            x = np.sin(x) / k + x[::-1]
        return x, x + 0, np.copysign(x, -x)

    decorated, x = aj.jit_compile(many, unroll_budget=2000), np.linspace(-3, 3, 100)
    for found, expected in zip(decorated(x), many(x), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-12)
    assert decorated.cache_info().compile_seconds < 30
