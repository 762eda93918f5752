"""Intervals and what is proven with them: nothing lies outside, and what may lie outside is checked."""

import itertools

import numpy as np
import pytest

import autojit as aj
from autojit.ir.build import exact_key
from autojit.ir.evaluate import evaluate
from autojit.ir.graph import Const
from autojit.ir.index import Place
from autojit.ir.spec import spec_of
from autojit.ir.verify import verify
from autojit.ops.chapters import TABLE
from autojit.passes.bodies import bodies
from autojit.passes.fold import fold
from autojit.passes.intervals import NAMES, Interval, of_constant, of_node, whole
from autojit.passes.ranges import ranges
from tests.helpers import check
from tests.loop_graphs import arrays, captured, function_of
from tests.op_checks import make_node, run_lowered

# ---- no element lies outside


def numbers(dtype):
    """Numbers of a dtype where rules may go wrong: ends, zeros, halves, and what has no size."""
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return np.array([False, True])
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        return np.array([info.min, info.max, 0, 1, 2, 3, 7, 100, info.max // 2, info.min // 2], dtype)
    info = np.finfo(dtype)
    some = [0.0, -0.0, 0.5, -0.5, 1.5, 2.5, -3.0, 1e3, info.max, -info.max, info.tiny, np.inf, -np.inf, np.nan]
    return np.array([*some, 1 / 3, 100.999], dtype)


DTYPES = "bool int8 uint8 int64 uint64 float16 float32 float64".split()
#: Few numbers each, since a rule sees only the ends.
PARTS = {name: np.array_split(numbers(name), max(1, len(numbers(name)) // 3)) for name in DTYPES}


def cases_of(name):
    """Operands and parameters for an operation: its samples, and numbers where rules may go wrong."""
    op = TABLE[name]
    found = [] if op.samples is None else list(op.samples(np.random.default_rng(0)))
    if op.family == "reduction":
        arrays = [np.stack([part, part[::-1]]) for parts in PARTS.values() for part in parts]
        return found + [((x,), {"axis": axis}) for x in arrays for axis in (None, 0, 1)]
    if op.family != "elementwise":
        return found
    if name == "astype":
        return found + [((x,), {"dtype": np.dtype(to)}) for parts in PARTS.values() for x in parts for to in DTYPES]
    if name.startswith(("py_", "item", "as_scalar", "select")):
        return found + list(of_numbers(name, len(op.operands)))
    if len(op.operands) == 1:
        return found + [((x,), {}) for parts in PARTS.values() for x in parts]
    for one, other in itertools.product(DTYPES, repeat=2):
        for x, y in itertools.product(PARTS[one], PARTS[other]):
            first = np.arange(len(x))[:, None, None] % 2 == 0 if name == "np.where" else x[:, None, None]
            found.append(((first, x[:, None], y)[3 - len(op.operands) :], {}))
    return found


def of_numbers(name, count):
    """The operands of an operation on numbers; ints of Python's are such that have a stand-in."""
    for dtype in DTYPES:
        listed = [number[()] if name == "item" else number.item() for number in numbers(dtype)]
        listed = [number for number in listed if not isinstance(number, int) or -(2**63) <= number < 2**63]
        for one, other in itertools.product(listed, listed[::3]):
            yield ((True, one, other) if name == "select" else (one, other)[:count]), {}


def lies_in(result, interval):
    """Whether an interval has all elements that are not NaN."""
    result = np.asarray(result)
    if result.dtype.kind not in "biuf":
        return True
    listed = [number for number in result.astype(object).flat if number == number]
    return all(interval.low <= number <= interval.high for number in listed)


# Operands are at the ends of their ranges, where NumPy warns of overflow and of invalid values.
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", sorted(NAMES))
def test_no_element_lies_outside(name):
    op = TABLE[name]
    nodes, operands = [], []
    for values, params in cases_of(name):
        try:
            node = make_node(op, values, params)
        except Exception:  # NumPy has no such operation
            continue
        nodes.append(node)
        operands.append(values)
    assert nodes
    for start in range(0, len(nodes), 100):  # programs of a size that XLA takes a second for
        some = slice(start, start + 100)
        results = run_lowered(nodes[some], operands[some])
        for node, values, (outputs, trapped) in zip(nodes[some], operands[some], results, strict=True):
            if trapped:  # nobody uses what it computes
                continue
            result = op.call(*values, **node.keywords)
            if isinstance(result, int) and not -(2**63) <= result < 2**63:  # which has no stand-in, nor a trap
                continue
            found = of_node(node, [of_constant(Const(value, spec_of(value))) for value in values])
            for interval, *parts in zip(found, outputs, result if len(found) > 1 else [result], strict=True):
                for part in parts:
                    assert lies_in(part, interval), (values, node.keywords, part, interval)


def test_an_interval_that_cannot_be_had():
    assert Interval(3, 4).within(whole(np.dtype(np.int8)))
    huge = Const(10**30, spec_of(1))
    assert of_constant(huge) == whole(np.dtype(np.int64))
    nothing = Const(np.float64("nan"), spec_of(np.float64(1)))
    assert of_constant(nothing) == whole(np.dtype(float))


# ---- what is proven


def proven(text):
    """Of each index with arrays or numbers of the run, in order, whether it is proven; the results are compared."""
    found = captured(function_of(text), arrays())
    assert found is not None
    graph, inputs = found
    after = ranges(bodies(fold(graph)))
    verify(after)
    assert exact_key(evaluate(after, inputs)) == exact_key(evaluate(graph, inputs))
    return places(after)


def places(graph):
    flags = []
    for node in graph.nodes:
        if node.op.name == "loop":
            flags += places(node.keywords["body"])
        elif node.op.name in ("getitem", "setitem"):
            flags += [entry.proven for entry in node.keywords["index"].entries if isinstance(entry, Place)]
    return flags


INSIDE = [
    "k = np.clip(b, 0, 13).astype(int)\ns = a[k]",
    "k = np.clip(b, 0, 12.999).astype(int)\ns = a[k] + a[k + 1]",
    "k = np.minimum(np.maximum(b, 0), 5).astype(np.int32)\nt = A[k, k]",
    "k = np.abs(b).astype(int) % 14\ns = a[k]",
    "k = b.astype(int) % 7\ns = a[k] + a[2 * k] + a[13 - k]",
    "k = np.floor(np.clip(b, -1, 1)).astype(int) + 1\ns = a[k]",
    "k = np.argsort(b, kind='stable')\ns = a[k] + c[k]",
    "k = np.searchsorted(np.array([0.0, 1.0]), b)\ns = a[k]",
    "k = np.where(b > 0, 3, 5)\ns = a[k]",
    "k = (b > 0).astype(int)\ns = np.array([0.5, 2.5])[k]",
    "k = b.astype(int) & 7\ns = a[k]",
    "k = np.arange(14)[::-1]\ns = a[k] + b[13 - k]",
    "k = A.argmax(axis=1)\ns = A[np.arange(14), k]",
    "s = a[int(A.argmax()) % 14]",
    "k = np.clip(b, 0, 13).astype(int)\na[k] = 1.0",
    "k = np.clip(b, 0, 13).astype(int)\nfor i in range(3):\n    k = (k + i) % 14\n    s = s + a[k].sum()",
    "k = np.zeros(14, int)\nfor i in range(16):\n    k = (k + 1) % 14\n    s = s + a[k].sum()",
    "k = np.clip(b, 0, 14).astype(int)\ns = a[k * 0] + a[k % 14] * a[np.minimum(k, 13)]",
]
OUTSIDE = [
    "k = b.astype(int)\ns = a[k]",
    "k = np.clip(b, 0, 14).astype(int)\ns = a[k]",
    "k = np.zeros(14, int)\nfor i in range(16):\n    k = np.where(b > i, k, np.minimum(k + 1, 13))\ns = a[k]",
    "k = np.clip(b, -1, 13).astype(int)\ns = a[k]",
    "k = np.maximum(b, 0).astype(int)\ns = a[k]",
    "k = np.clip(b, 0, 13).astype(int)\nfor i in range(3):\n    s = s + a[k - i].sum()\n    k = k + 1 - 1",
]


@pytest.mark.parametrize("text", INSIDE)
def test_proven(text):
    flags = proven(text)
    assert flags and all(flags)


@pytest.mark.parametrize("text", OUTSIDE)
def test_not_proven(text):
    assert not all(proven(text))


def test_what_wraps_around_is_not_proven():
    assert proven("k = (b.astype(np.int8) % 100) + np.int8(100)\ns = a[k * 0]") == [True]
    assert proven("k = ((b.astype(np.int8) % 100) + np.int8(100)) // np.int8(20)\ns = a[k]") == [False]
    assert proven("k = np.clip(b, 0, 200).astype(np.int64).astype(np.int8)\ns = a[k % 14]") == [True]


# ---- whole functions


def test_bounds_of_numbers():
    def interpolated(view, x):
        place = np.clip(x, 0, len(view) - 1.001)
        left = place.astype(int)
        part = place - left
        return (1 - part) * view[left] + part * view[left + 1]

    rng = np.random.default_rng(0)
    for x in (rng.normal(5, 9, 1000), np.array([np.inf, -np.inf, 0.0, 9.0, 8.999]), np.array([np.nan, 1.0])):
        check(interpolated, rng.random(10), x)
    check(interpolated, rng.random(10).astype(np.float32), rng.normal(5, 9, 1000).astype(np.float32))


def test_casts_that_stay_in_numpy_prove_nothing():
    def f(a, b):
        k = np.clip(b, 0, 13).astype(int)
        return a[k] * 2.0

    a, b = np.arange(14.0), np.array([np.nan, 1.0])
    for options in ({}, {"cluster_exclude_ops": ("astype",)}):
        fast = aj.autocluster(policy="eager", **options)(f)
        np.testing.assert_array_equal(fast(a, b[1:]), [2.0])
        with np.errstate(invalid="ignore"), pytest.raises(IndexError):
            fast(a, b)


def test_an_unused_read_raises():
    def f(a, b):
        k = np.clip(b, 0, 13).astype(int)
        a[k]
        return a.sum()

    with np.errstate(invalid="ignore"), pytest.raises(IndexError):
        aj.autocluster(f, policy="eager")(np.arange(14.0), np.array([np.nan]))


def test_the_place_of_the_greatest_of_one_number():
    def f(a, x):
        return a[np.argmax(x.sum(), axis=0)] * 2.0

    check(f, np.arange(14.0), np.arange(3.0))


def test_meshgrid_of_two_dtypes():
    def f(x, u, k):
        _, kk = np.meshgrid(u, k)
        return x[kk] + 0.0

    check(f, np.arange(300.0), np.array([1, 2], np.uint8), np.array([-1, 5]))
    check(f, np.arange(300.0), np.array([True, False]), np.array([-1, 5]))


@pytest.mark.parametrize("far", [10, -11, 2**62])
def test_out_of_bounds_raises(far):
    def f(x, k):
        return x[np.minimum(k, 20)] + x[np.maximum(k, -20)]

    fast = aj.autocluster(f, policy="eager")
    x = np.arange(10.0)
    np.testing.assert_array_equal(fast(x, np.array([-10, 9])), f(x, np.array([-10, 9])))
    with pytest.raises(IndexError):
        fast(x, np.array([0, far]))


def test_a_float32_bound_that_rounds_up():
    def f(x, k):
        return x[np.clip(k, 0, len(x) - 0.001).astype(int)]  # the bound is the length, for float32

    check(f, np.arange(100_000.0), np.array([5.0, 99_999.0], np.float32))
    with pytest.raises(IndexError):
        aj.autocluster(f, policy="eager")(np.arange(100_000.0), np.array([5.0, 3e5], np.float32))


class Scanner:
    def __init__(self, bins, factor=1.0):
        self.bins, self.factor = bins, factor

    def smear(self, view, x):
        place = np.clip(x, 0, self.bins - 1.001)
        left = place.astype(int)
        part = place - left
        return (1 - part) * view[left] + part * view[left + 1]

    def scaled(self, view, x):
        return view[np.clip(x, 0, self.bins * self.factor).astype(int)]


def test_ints_of_objects_bound_indices():
    rng = np.random.default_rng(0)
    fast = aj.autocluster(Scanner.smear, policy="eager")
    x = rng.normal(5, 9, 1000)
    for bins in (10, 10, 12, 14, 9):  # as many as the view has, and other ones
        one, view = Scanner(bins), rng.random(14)
        np.testing.assert_allclose(fast(one, view, x), one.smear(view, x), rtol=1e-12)
    assert fast.cache_info().captures <= 4  # one for 10, then one for any
    with pytest.raises(IndexError):
        fast(Scanner(20), rng.random(14), x)


def test_floats_are_no_constants():
    rng = np.random.default_rng(0)
    fast = aj.autocluster(Scanner.scaled, policy="eager")
    x = rng.normal(5, 9, 1000)
    for factor in (0.5, 0.6, 0.7, 0.8, 0.9, 1.0):
        one, view = Scanner(10, factor), rng.random(14)
        np.testing.assert_array_equal(fast(one, view, x), one.scaled(view, x))
    assert fast.cache_info().captures == 1
