"""Memory: the user sees nothing shared, nothing of the user's is written, nothing is freed too early."""

import ctypes
import gc
import itertools
import mmap
import threading
import weakref

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from autojit.compile import transfer
from autojit.compile.executable import LARGE, Executable
from autojit.compile.frame import MEDIUM, SMALL
from autojit.compile.pool import Pool
from autojit.compile.transfer import REUSED, Places, ResultMemory, aligned_empty, readable_at
from autojit.ir.graph import Const, Graph, Node, Value, Write
from autojit.ir.spec import Spec, spec_of
from autojit.lowering.parameters import WINDOW_BYTES
from autojit.ops.families import elementwise, row
from autojit.runtime.buffers import own, to_scalar

ADD = elementwise(np.add, jnp.add)
NEGATIVE = elementwise(np.negative, jnp.negative)
FLIP = row("flip", np.flip, "reduction", ("m",), lower=lambda node, xs, trap: jnp.flip(xs[0]))

#: Element counts (float64) on both sides of each threshold.
SIZES = [5, LARGE // 8, WINDOW_BYTES // 8 - 8, WINDOW_BYTES // 8 + 3, REUSED // 8 + 1, 300_001]


def increment(n, op=ADD):
    """`(a + s, a)`; with another op than an elementwise one, the input is not a window."""
    a, s = Value("a", Spec((n,), np.dtype(np.float64))), Value("s", spec_of(1.0))
    b, c = Value("b", a.spec), Value("c", a.spec)
    nodes = (Node(ADD, (a, s), (), (b,)), Node(op, (b,) if op is not ADD else (b, b), (), (c,)))
    return Executable(Graph("cluster_0", (a, s), nodes, (b, c, a), (Write(a, b),)))


def expected(op, a, s):
    b = a + s
    return [b, b + b if op is ADD else op.call(b), a, b]


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("op", [ADD, FLIP])
def test_results_are_nobody_elses(n, op):
    executable = increment(n, op)
    kept = []
    for call in range(4):
        a = np.random.rand(n)
        before = a.copy()
        want = expected(op, a, float(call))
        results = executable.run([a, float(call)])
        assert not any(result.flags.writeable for result in results)
        owned = [own(result) for result in results]
        for result in owned:
            assert type(result) is np.ndarray and result.flags.writeable and result.flags.c_contiguous
            assert not np.shares_memory(result, a)
        for x, y in itertools.combinations(owned, 2):
            assert not np.shares_memory(x, y)
        np.testing.assert_array_equal(a, before)
        kept.append((owned, want))
    del executable, results, result, x, y
    gc.collect()
    for owned, want in kept:
        for result, values in zip(owned, want, strict=True):
            np.testing.assert_array_equal(result, values)
    # Writing to one result changes no other one.
    for number, result in enumerate(result for owned, _ in kept for result in owned):
        result[:] = number
    for number, result in enumerate(result for owned, _ in kept for result in owned):
        assert (result == number).all()


def test_results_do_not_alias_the_programs_constants():
    table = np.arange(20_000.0)
    a = Value("a", spec_of(1.0))
    b = Value("b", Spec((20_000,), np.dtype(np.float64)))
    constant = Const(table, spec_of(table))
    graph = Graph("cluster_0", (a,), (Node(ADD, (constant, a), (), (b,)),), (b, constant))
    executable = Executable(graph)
    for _ in range(3):
        results = [own(result) for result in executable.run([0.0])]
        for result in results:
            np.testing.assert_array_equal(result, np.arange(20_000.0))
            result[:] = -1
    np.testing.assert_array_equal(table, np.arange(20_000.0))


def test_memory_is_reused_only_when_no_array_is_left():
    n = REUSED // 8
    executable = increment(n)
    first = own(executable.run([np.zeros(n), 1.0])[0])
    address = transfer.address(first)
    tail = first[-3:]
    del first
    others = [own(executable.run([np.zeros(n), 2.0])[0]) for _ in range(5)]
    assert all(not np.shares_memory(tail, other) for other in others)
    np.testing.assert_array_equal(tail, 1.0)
    del tail
    more = [own(executable.run([np.zeros(n), 3.0])[0]) for _ in range(5)]
    assert address in [transfer.address(result) for result in more]
    assert all((result == 2.0).all() for result in others)
    assert all((result == 3.0).all() for result in more)


def test_a_buffer_export_keeps_the_memory():
    n = REUSED // 8
    executable = increment(n)
    exported = memoryview(own(executable.run([np.zeros(n), 1.0])[0]))
    for _ in range(5):
        executable.run([np.zeros(n), 2.0])
    assert exported[0] == exported[-1] == 1.0


def test_unowned_results_return_their_memory():
    n = REUSED // 8
    executable = increment(n)
    addresses = {transfer.address(executable.run([np.zeros(n), 1.0])[0]) for _ in range(20)}
    assert len(addresses) <= 6


@pytest.mark.parametrize("dtype", [np.bool_, np.int8, np.float16, np.float32, np.complex128])
@pytest.mark.parametrize("offset", [0, 1, 8, 16, 48])
def test_windows_at_every_offset(dtype, offset):
    n = WINDOW_BYTES // np.dtype(dtype).itemsize + 7
    a, b = Value("a", Spec((n,), np.dtype(dtype))), Value("b", Spec((n,), np.dtype(dtype)))
    executable = Executable(Graph("cluster_0", (a,), (Node(ADD, (a, a), (), (b,)),), (b,)))
    assert executable.lowered.parameters[0].kind == "window"
    memory = aligned_empty((n * np.dtype(dtype).itemsize + 64,), np.dtype(np.uint8))
    values = memory[offset : offset + n * np.dtype(dtype).itemsize].view(dtype)
    values[:] = np.random.randint(0, 50, n)
    assert (readable_at(values) > 0) == (offset == 0)
    for array in (values, values[::-1], np.broadcast_to(values[3], (n,))):
        np.testing.assert_array_equal(executable.run([array])[0], array + array)


def test_places_are_found_again_and_own_nothing():
    places = Places((100,), np.dtype(np.float64))
    memory = aligned_empty((104 * 40,), np.dtype(np.float64))
    parts = [memory[start : start + 100] for start in range(0, 104 * 40, 104)]  # 832 bytes further each
    for _ in range(2):
        for number, part in enumerate(parts):
            part[:] = number
            place = places.at(readable_at(part))
            assert place is places.at(readable_at(part))
            assert place.unsafe_buffer_pointer() == transfer.address(part)
            np.testing.assert_array_equal(np.asarray(place), part)
    assert len(places._known) <= transfer._MOST_PLACES < len(parts)
    gone = weakref.ref(parts[-1])
    del part, parts, place
    assert gone() is None


@pytest.mark.parametrize("n", [SMALL // 8 + 1, MEDIUM // 8 + 1, WINDOW_BYTES // 8 + 1])
@pytest.mark.parametrize("op", [ADD, FLIP])
def test_other_arrays_at_the_same_addresses(n, op):
    """Arrays that come and go, are written between calls, and overlap."""
    executable = increment(n, op)
    memory = aligned_empty((n + 40,), np.dtype(np.float64))
    for call in range(60):
        memory[:] = call
        a = memory[call % 40 :][:n]
        a[::3] = np.arange(a[::3].size) + call
        for got, want in zip(executable.run([a, 0.5]), expected(op, a.copy(), 0.5), strict=True):
            np.testing.assert_array_equal(got, want)
        fresh = np.arange(float(n)) + call
        for got, want in zip(executable.run([fresh, 0.5]), expected(op, fresh.copy(), 0.5), strict=True):
            np.testing.assert_array_equal(got, want)
        del fresh


def test_a_window_between_pages_that_cannot_be_read():
    nbytes, page = WINDOW_BYTES, mmap.PAGESIZE
    n = nbytes // 8
    a, b = Value("a", Spec((n,), np.dtype(np.float64))), Value("b", Spec((n,), np.dtype(np.float64)))
    executable = Executable(Graph("cluster_0", (a,), (Node(NEGATIVE, (a,), (), (b,)),), (b,)))
    pages = mmap.mmap(-1, nbytes + 2 * page, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    memory = np.frombuffer(pages, np.uint8)
    start = transfer.address(memory)
    protect = ctypes.CDLL(None).mprotect
    protect.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    assert protect(start, page, 0) == protect(start + page + nbytes, page, 0) == 0
    array = memory[page : page + nbytes].view(np.float64)
    array[:] = np.random.rand(n)
    for _ in range(3):
        np.testing.assert_array_equal(executable.run([array])[0], -array)


def test_read_only_inputs_stay_as_they_are():
    for n in SIZES:
        executable = increment(n)
        a = np.random.rand(n)
        a.flags.writeable = False
        results = [own(result) for result in executable.run([a, 1.0])]
        np.testing.assert_array_equal(results[0], a + 1)
        assert not a.flags.writeable


def test_scalars():
    x = np.array(2.5)
    assert type(to_scalar(x, Spec((), x.dtype, "scalar"))) is np.float64
    assert type(to_scalar(x, Spec((), x.dtype, "python"))) is float
    assert type(to_scalar(np.array(3), Spec((), np.dtype(int), "python"))) is int
    assert type(to_scalar(np.array(True), Spec((), np.dtype(bool), "python"))) is bool
    assert type(to_scalar(np.array(1j), Spec((), np.dtype(complex), "python"))) is complex


def test_pool_is_bounded():
    pool = Pool(100)
    pool.give(40, "a")
    pool.give(40, "b")
    pool.give(30, "c")
    assert pool.nbytes == 70 and pool.take(30) == "c" and pool.take(40) == "a" and pool.take(40) is None
    pool.give(200, "large")
    assert pool.nbytes == 0 and pool.take(200) is None
    pool.give(10, "x")
    pool.clear()
    assert pool.nbytes == 0 and pool.take(10) is None


def test_threads_do_not_share_buffers():
    n = 300_001
    executables = [increment(n), increment(n, FLIP)]
    wrong = []

    def work(number):
        a = np.full(n, float(number))[::-1]
        kept = []
        for call in range(20):
            executable = executables[call % 2]
            kept.append((own(executable.run([a, float(call)])[0]), number + call))
            if len(kept) > 3:
                kept.pop(0)
            if not all((result == value).all() for result, value in kept):
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_without_the_allocator(monkeypatch):
    def fail(nbytes):
        raise jax.errors.JaxRuntimeError("no")

    n = REUSED // 8 + 1000
    executable = increment(n)
    transfer.RESULTS.clear()
    monkeypatch.setattr(transfer, "allocate", fail)
    results = [own(result) for _ in range(3) for result in executable.run([np.arange(n, dtype=float), 1.0])]
    for result in results:
        assert result[5] in (5, 6, 12) and not any(np.shares_memory(result, r) for r in results if r is not result)


def test_result_memory_is_the_base():
    executable = increment(LARGE // 8)
    result = own(executable.run([np.zeros(LARGE // 8), 1.0])[0])
    assert isinstance(result.base.base, ResultMemory)
    result.flags.writeable = False
    result.flags.writeable = True
    assert own(increment(4).run([np.zeros(4), 1.0])[0]).base is None
