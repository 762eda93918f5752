"""Dependence: which loops may run all their iterations at once, and why others may not."""

import numpy as np
import pytest

from autojit.ir.graph import Const
from autojit.passes.access import Access, Reach, Refused, meeting
from autojit.passes.affine import Affine, Trips, affine_forms
from autojit.passes.bodies import bodies
from autojit.passes.dependence import Last, Reduction, Stores, dependence
from autojit.passes.vectorize import trips_of
from tests.loop_graphs import arrays, captured, function_of, loops_in


def verdict(text, exact=False):
    """The verdict on the first loop of a few lines."""
    found = captured(function_of(text), arrays())
    assert found is not None
    (loop, *_) = loops_in(bodies(found[0]))
    body, carried = loop.keywords["body"], loop.keywords["carried"]
    inputs = zip(body.inputs[1 + carried :], loop.inputs[2 + carried :], strict=True)
    known = {value.name: given.value for value, given in inputs if isinstance(given, Const)}
    return dependence(body, carried, trips_of(loop), affine_forms(body, carried, known), exact)


def loop(*lines, over="range(6)"):
    return "\n".join([f"for i in {over}:", *(f"    {line}" for line in lines)])


INDEPENDENT = {
    "own element": loop("a[i] = b[i] * 2"),
    "own row": loop("A[i] = b + i"),
    "own column": loop("A[:, i] = b * 2"),
    "diagonal": loop("A[i, i] = b[i]"),
    "every second": loop("a[2 * i] = b[i]"),
    "backwards": loop("a[9 - i] = b[i]"),
    "negative": loop("a[-1 - i] = b[i]"),
    "read and write": loop("a[i] = a[i] * 2"),
    "read what was written": loop("a[i] = b[i] * 2", "a[i] = a[i] + a[i] * 3"),
    "what a later one writes": loop("a[i] = a[i + 1] * 2"),
    "what an earlier one writes, backwards": loop("a[i] = a[i - 1] * 2", over="range(8, 1, -1)"),
    "what nobody writes": loop("a[i] = a[i + 6] * 2"),
    "even and odd": loop("a[2 * i] = b[i]", "a[2 * i + 1] = a[2 * i + 3]"),
    "other rows": loop("A[i, 3] = A[i + 6, 3] + A[2, 4]"),
    "two statements in order": loop("a[i] = b[i] + 1", "a[i + 1] = c[i]", over="range(8, 1, -1)"),
    "the same element, last": loop("a[3] = b[i]"),
    "stored and read back": loop("a[3] = b[i] * 2", "c[i] = a[3] + 1"),
    "a part of the row": loop("A[i, :i] = A[i, :i] * 2"),
    "the rest of the row": loop("A[i, i + 1:] = b[i]"),
    "symmetric": loop("A[i:, i] = A[i, i:] = b[i:] * 2"),
    "reads of rows below": loop("A[i, :6] += A[i + 1:, i] @ A[i + 1:, :6]"),
    "reads of a triangle": loop("a[i] = np.sum(a[i + 1:])"),
    "two arrays": loop("a[i] = b[i + 1]", "b[i] = c[i]"),
}

DEPENDENT = {
    "recurrence": (loop("a[i + 1] = a[i] * 2"), "an earlier one wrote"),
    "prefix": (loop("a[i] = a[i - 1] + b[i]", over="range(1, 6)"), "an earlier one wrote"),
    "backwards": (loop("a[i] = a[i + 1] * 2", over="range(6, 0, -1)"), "an earlier one wrote"),
    "crossing": (loop("a[9 - i] = a[i] * 2", over="range(10)"), "an earlier one wrote"),
    "first element": (loop("a[i] = a[0] * 2"), "an earlier one wrote"),
    "rows above": (loop("A[i, :6] += A[:i, i] @ A[:i, :6]"), "an earlier one wrote|all of the array"),
    "a growing sum": (loop("a[i] = np.sum(a[:i])"), "an earlier one wrote|all of the array"),
    "the whole row": (loop("A[i, :i] = A[i] @ A[:, :i]"), "all of the array|earlier one wrote"),
    "the same twice": (loop("a[3] = b[i]", "a[i] = c[i]"), "two statements"),
    "order of statements": (loop("a[i] = b[i] + 1", "a[i + 1] = c[i]"), "two statements"),
    "unknown places": (loop("a[int(b[i]) % 3] = c[i]"), "several iterations may write"),
    "halves": (loop("a[i // 2] = c[i]"), "several iterations may write"),
    "other symbol": (loop("A[i, 0] = A[int(abs(b[0])), 0]"), "an earlier one wrote"),
    "a part of the same": (loop("A[i, 0:4] = b[0:4]", "c[i] = A[i, 2]"), "in the same iteration"),
    "under a mask, read in full": (loop("A[i, :i] = 2", "c[i] = np.sum(A[i])"), "in the same iteration"),
    "product": (loop("s = s * a[i]"), "another order may overflow"),
    "decay": (loop("s = s * 0.5 + a[i]"), "of the one before"),
    "running sum seen": (loop("s = s + a[i]", "b[i] = s"), "of the one before"),
    "subtracted from": (loop("s = a[i] - s"), "of the one before"),
    "a whole vector": (loop("u = np.maximum(u, t) + u"), "of the one before"),
    "swap": (loop("t, u = u, t * 2"), "change places|of the one before"),
    "all of it": (loop("a[:] = a * 2"), "of the one before|an earlier one wrote|all of the array"),
    "mixed": (loop("s = np.maximum(s, a[i]) + b[i]"), "of the one before"),
}


@pytest.mark.parametrize("name", INDEPENDENT)
def test_independent(name):
    slots = verdict(INDEPENDENT[name]).slots
    assert slots and all(isinstance(slot, Stores | Last) for slot in slots)


@pytest.mark.parametrize("name", DEPENDENT)
def test_dependent(name):
    text, reason = DEPENDENT[name]
    with pytest.raises(Refused, match=reason):
        verdict(text)


@pytest.mark.parametrize(
    ("line", "reduce"),
    [
        ("s += a[i] * b[i]", "np.sum"),
        ("s -= a[i]", "np.sum"),
        ("s = a[i] + (s + b[i]) - c[i]", "np.sum"),
        ("u += A[i, :6]", "np.sum"),
        ("s = np.maximum(s, a[i])", "np.max"),
        ("u = np.minimum(A[:6, i], u)", "np.min"),
    ],
)
def test_reductions(line, reduce):
    (slot,) = (slot for slot in verdict(loop(line)).slots if not isinstance(slot, Last))
    found = slot.element if isinstance(slot, Stores) else slot
    assert isinstance(found, Reduction) and found.reduce == reduce


@pytest.mark.parametrize("line", ["a[3] += b[i]", "A[9, :6] -= A[i, :6]", "A[9, :i0] += A[i, :i0]"])
def test_reductions_in_an_element(line):
    text = loop(line)
    if "i0" in line:
        text = "for j in range(1, 9):\n" + "\n".join(f"    {one}" for one in text.replace("i0", "j").splitlines())
        found = captured(function_of(text), arrays())
        assert found is not None
        inner = loops_in(bodies(found[0]))[1]
        body, carried = inner.keywords["body"], inner.keywords["carried"]
        slots = dependence(body, carried, trips_of(inner), affine_forms(body, carried)).slots
    else:
        slots = verdict(text).slots
    assert any(isinstance(slot, Stores) and slot.element is not None for slot in slots)


def test_exact_sums_keep_their_order():
    with pytest.raises(Refused, match="keeps its order"):
        verdict(loop("s += a[i]"), exact=True)
    assert verdict(loop("s = np.maximum(s, a[i])"), exact=True).slots


def test_last_values():
    slots = verdict(loop("x = b[i] * 2", "a[i] = x + 1") + "\ns = x").slots
    assert {type(slot) for slot in slots} == {Last, Stores}


def reach(low, high, change, rise=None, stride=1, **more):
    return Reach(low, high, change, change if rise is None else rise, stride, (), None, **more)


@pytest.mark.parametrize("seed", range(40))
def test_meetings_are_never_missed(seed):
    """Against a comparison of all pairs of trips."""
    rng = np.random.default_rng(seed)
    trips = Trips(0, 1, int(rng.integers(1, 8)))
    accesses = []
    for _ in range(2):
        reaches = []
        for _ in range(2):
            low = int(rng.integers(0, 6))
            length, stride = int(rng.integers(0, 4)), int(rng.integers(1, 4))
            change, rise = (int(n) for n in rng.integers(-3, 4, 2))
            if rng.random() < 0.6 or stride > 1:
                rise = change
            reaches.append(reach(low, low + length * stride, change, rise, stride))
        accesses.append(Access(tuple(reaches)))

    def elements(one, trip):
        axes = [
            range(r.low + r.change * trip, r.high + r.rise * trip + 1, r.stride if r.change == r.rise else 1)
            for r in one.reaches
        ]
        return {(x, y) for x in axes[0] for y in axes[1]}

    met = meeting(*accesses, trips)
    for t in range(trips.count):
        for u in range(trips.count):
            if elements(accesses[0], t) & elements(accesses[1], u):
                assert (met.earlier, met.same, met.later)[int(np.sign(u - t)) + 1]


def test_affine_forms():
    text = loop("a[2 * (i + 3) - 4] = b[-(1 - i)] * i", over="range(5)")
    found = captured(function_of(text), arrays())
    assert found is not None
    (node,) = loops_in(found[0])
    body = node.keywords["body"]
    forms = affine_forms(body, node.keywords["carried"])
    assert {Affine(2, 2), Affine(1, -1)} <= set(forms.values())
    assert trips_of(node).bounds(Affine(2, 2)) == (2, 10)
