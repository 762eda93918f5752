"""Run rows of the op table on concrete operands: in NumPy, through XLA and as printed text, and compare."""

import jax
import jax.numpy as jnp
import numpy as np

from autojit.ir.graph import Graph, Node, Value
from autojit.ir.spec import Spec, spec_of
from autojit.ir.text import run_text
from autojit.ops import text_helpers


class Trap(Exception):
    """The lowering trapped."""


def make_node(op, operands, params):
    hash(tuple(params.items()))
    specs = [spec_of(operand) for operand in operands]
    inputs = tuple(Value(f"x{i}", spec) for i, spec in enumerate(specs))
    outputs = tuple(Value(f"y{i}", spec) for i, spec in enumerate(op.infer(specs, params)))
    return Node(op, inputs, tuple(params.items()), outputs)


def run_lowered(nodes, arguments):
    """`(outputs, trapped)` of each node, all from one compiled program."""

    def program(arguments):
        found = []
        for node, xs in zip(nodes, arguments, strict=True):
            flags = []
            results = tuple(node.op.lower(node, xs, flags.append))
            assert node.op.traps or not flags, f"`{node.op.name}` does not say that it traps"
            found.append((results, jnp.any(jnp.stack([jnp.any(flag) for flag in flags] or [jnp.bool_(False)]))))
        return found

    with jax.enable_x64(True):
        arrays = [[np.asarray(x, spec_of(x).dtype) for x in xs] for xs in arguments]
        return [([np.asarray(x) for x in xs], bool(trap)) for xs, trap in jax.jit(program)(arrays)]


def lowered(op, *operands, **params):
    """The outputs of one call as NumPy arrays.

    Raises:
        Trap: The program traps.
    """
    results, trapped = run_lowered([make_node(op, operands, params)], [operands])[0]
    if trapped:
        raise Trap
    return results


def agree(got, wanted, rtol):
    """Equal bit for bit up to the payload of NaN (`rtol=0`), or to a tolerance."""
    got, wanted = np.asarray(got), np.asarray(wanted)
    assert got.dtype == wanted.dtype, f"{got.dtype} is not {wanted.dtype}"
    assert got.shape == wanted.shape, f"{got.shape} is not {wanted.shape}"
    if rtol:
        scale = np.abs(wanted[np.isfinite(wanted)]).max(initial=0) * rtol
        np.testing.assert_allclose(got, wanted, rtol=rtol, atol=scale)
        return
    np.testing.assert_array_equal(got, wanted)
    if got.dtype.kind in "fc":
        for one, other in ((got.real, wanted.real), (got.imag, wanted.imag)):
            zeros = (one == 0) & (other == 0)
            np.testing.assert_array_equal(np.signbit(one[zeros]), np.signbit(other[zeros]))


def check_all(cases, rtol=0):
    """Compare specs, lowering and printed text of `(op, operands, params)` cases with NumPy's results."""
    prepared = []
    for op, operands, params in cases:
        with Label(op, operands, params):
            before = [np.array(operand) for operand in operands]
            node = make_node(op, operands, params)
            result = op.call(*operands, **params)
            wanted = list(result) if len(node.outputs) > 1 else [result]
            assert [spec_of(value) for value in wanted] == [
                Spec(v.spec.shape, v.spec.dtype, v.spec.kind) for v in node.outputs
            ]
            for one, two in zip(before, operands):
                np.testing.assert_array_equal(one, two)
            graph = Graph("printed", node.inputs, (node,), node.outputs)
            printed = run_text(graph, operands, namespace={"np": np, "aj": text_helpers})
            for got, value in zip(printed, wanted, strict=True):
                agree(got, value, 0)
            prepared.append((node, operands, params, wanted))
    compiled = [case for case in prepared if case[0].op.lower is not None]
    results = run_lowered([case[0] for case in compiled], [case[1] for case in compiled])
    for (node, operands, params, wanted), (outputs, trapped) in zip(compiled, results, strict=True):
        with Label(node.op, operands, params):
            assert not trapped
            for got, value in zip(outputs, wanted, strict=True):
                agree(got, value, rtol)


class Label:
    """Says which case failed."""

    def __init__(self, op, operands, params):
        self.text = f"{op.name} of {[getattr(x, 'shape', x) for x in operands]} with {params}"

    def __enter__(self):
        return self

    def __exit__(self, kind, error, traceback):
        if isinstance(error, Exception):
            error.add_note(self.text)


def check(op, *operands, rtol=0, **params):
    check_all([(op, operands, params)], rtol)


def check_samples(*ops, rng, rtol=0):
    check_all([(op, args, params) for op in ops for args, params in op.samples(rng)], rtol)


def raised(call, *args, **kwargs):
    """The type of the exception that a call raises, or `None`."""
    try:
        call(*args, **kwargs)
    except Exception as error:
        return type(error)
    return None
