"""Graphs for tests: a small op table, a notation of one line per graph, and random graphs."""

import ast

import numpy as np
from hypothesis import strategies as st

from autojit.errors import SourceLine
from autojit.ir.build import Builder, exact_key
from autojit.ir.graph import Const, Graph, Node, Value, Write
from autojit.ir.index import Index, Place, Slice
from autojit.ir.op import Op
from autojit.ir.spec import Spec, spec_of

FLOAT3 = Spec((3,), np.dtype(np.float64))
FLOAT33 = Spec((3, 3), np.dtype(np.float64))


def _dummy(spec):
    if spec.kind == "python":
        return spec.dtype.type(1).item()
    return np.ones((), spec.dtype)[()] if spec.kind == "scalar" else np.ones(spec.shape, spec.dtype)


def make(name, call, family="elementwise", operands=("x",), **more):
    """An op whose specs come from a run on ones; its lowering is never called by the tests."""

    def infer(specs, params):
        result = call(*map(_dummy, specs), **params)
        return tuple(map(spec_of, result if isinstance(result, tuple) else (result,)))

    more.setdefault("infer", infer)
    lower = None if family == "host" else (lambda node, xs, trap: xs)
    return Op(name, call, family, operands, lower=lower, **more)


def concatenate(*arrays, axis=0):
    return np.concatenate(arrays, axis)


def getitem(x, *operands, index):
    return x[index.fill(operands)]


def setitem(base, value, *operands, index):
    result = base.copy()
    result[index.fill(operands)] = value
    return result


class _IndexMaker:
    """`I[1:, 0]` is the `Index` of these entries."""

    def __getitem__(self, item):
        entries = item if isinstance(item, tuple) else (item,)
        return Index(tuple(Slice(e.start, e.stop, e.step) if isinstance(e, slice) else e for e in entries))


I = _IndexMaker()

OPS = {
    op.name.removeprefix("np."): op
    for op in [
        make("np.square", np.square),
        make("np.negative", np.negative),
        make("np.sqrt", np.sqrt),
        make("np.add", np.add, operands=("x1", "x2")),
        make("np.multiply", np.multiply, operands=("x1", "x2")),
        make("np.floor_divide", np.floor_divide, operands=("x1", "x2"), traps=True),
        make("np.divmod", np.divmod, operands=("x1", "x2")),
        make("np.sum", np.sum, "reduction", ("a",), params=("axis", "keepdims")),
        make("np.dot", np.dot, "contraction", ("a", "b")),
        make("np.reshape", np.reshape, "shaping", ("a",), params=("shape",)),
        make("np.transpose", np.transpose, "shaping", ("a",), params=("axes",)),
        make("np.concatenate", concatenate, "shaping", ("[arrays]",), params=("axis",)),
        make("np.zeros", np.zeros, "creation", (), params=("shape", "dtype")),
        make("astype", lambda x, dtype: x.astype(dtype), "elementwise", params=("dtype",)),
        make("getitem", getitem, "indexing", ("x", "*operands"), params=("index",), traps=True),
        make("setitem", setitem, "indexing", ("base", "value", "*operands"), params=("index",), traps=True),
        make("np.sort", np.sort, "host", ("a",)),
        make("np.cumsum", np.cumsum, "host", ("a",)),
        make("lib.tools.spread", lambda a: np.full(3, a.std()), "host", ("a",)),
    ]
}


def graph_of(text, name="f", spec=FLOAT3, **specs):
    """The graph that a line describes: `a = square(x); b, c = divmod(a, 2.0) -> b, c; u := c`.

    Names that are read but never assigned are inputs, of `spec` or of what `specs` says. After the arrow stand the
    outputs, then the writes. Equal nodes are not merged.
    """
    body, _, tail = text.partition("->")
    statements = [ast.parse(part.strip()).body[0] for part in body.split(";") if part.strip()]
    first, *writes = tail.split(";")
    outputs = [ast.parse(part.strip(), mode="eval").body for part in first.split(",") if part.strip()]
    pairs = [[word.strip() for word in write.split(":=")] for write in writes]

    known, inputs, nodes = {}, [], []

    def operand(node):
        if not isinstance(node, ast.Name):
            return const(literal(node))
        if node.id not in known:
            known[node.id] = Value(node.id, specs.get(node.id, spec))
            inputs.append(known[node.id])
        return known[node.id]

    for number, statement in enumerate(statements, 1):
        target, call = statement.targets[0], statement.value
        names = [part.id for part in target.elts] if isinstance(target, ast.Tuple) else [target.id]
        op = OPS[ast.unparse(call.func)]
        operands = tuple(operand(argument) for argument in call.args)
        params = {keyword.arg: literal(keyword.value) for keyword in call.keywords}
        fresh = op.infer([argument.spec for argument in operands], params)
        values = tuple(Value(word, found) for word, found in zip(names, fresh, strict=True))
        known |= dict(zip(names, values, strict=True))
        source = SourceLine("/home/user/demo.py", number, "f", ast.unparse(statement))
        nodes.append(Node(op, operands, tuple(params.items()), values, source))
    results = tuple(operand(part) for part in outputs)
    written = tuple(Write(operand(ast.Name(target)), operand(ast.Name(value))) for target, value in pairs)
    return Graph(name, tuple(inputs), tuple(nodes), results, written)


def const(value):
    return Const(value, spec_of(value))


def literal(node):
    """The value of a constant expression; `np`, `I`, `Index` and `Place` are known."""
    return eval(compile(ast.Expression(node), "<literal>", "eval"), {"np": np, "I": I, "Index": Index, "Place": Place})


_SCALARS = st.sampled_from([2, -3, 0.5, -0.0, float("inf"), np.float32(1.5), np.int64(7), True])
_ARRAYS = st.sampled_from([np.array([1.0, -0.0, 3.0]), np.array(2.0), np.array([1, 2, 3], np.int8)])
_INDICES = st.sampled_from([{"index": index} for index in (I[...], I[:], I[1:], I[::-1], I[0], I[None, 1])])
_PARAMS = {
    "reshape": st.sampled_from([{"shape": (3,)}, {"shape": (1, 3)}, {"shape": (-1,)}]),
    "sum": st.sampled_from([{}, {"axis": 0}, {"axis": -1, "keepdims": True}]),
    "zeros": st.sampled_from([{"shape": (3,), "dtype": np.dtype(np.float32)}, {"shape": 3, "dtype": float}]),
    "transpose": st.sampled_from([{}, {"axes": None}, {"axes": (0,)}]),
    "astype": st.sampled_from([{"dtype": np.dtype(np.float64)}, {"dtype": np.dtype(np.float32)}]),
    "concatenate": st.just({"axis": 0}),
    "getitem": _INDICES,
    "setitem": _INDICES,
}


@st.composite
def graphs(draw, max_nodes=12, ops=tuple(OPS)):
    """Random graphs over the small table; calls that NumPy refuses for their specs are left out."""
    builder = Builder()
    values = [builder.input(FLOAT3, name) for name in ("x", "y")]
    for number in range(draw(st.integers(0, max_nodes))):
        op = OPS[draw(st.sampled_from(ops))]
        count = draw(st.integers(1, 3)) if op.operands == ("[arrays]",) else sum(o[0] != "*" for o in op.operands)
        operands = []
        for _ in range(count):
            value = draw(st.one_of(st.sampled_from(values), _SCALARS, _ARRAYS))
            operands.append(value if isinstance(value, Value) else const(value))
        params = draw(_PARAMS.get(op.name.removeprefix("np."), st.just({})))
        try:
            with np.errstate(all="ignore"):
                values += builder.add(op, operands, params, SourceLine("/home/user/demo.py", number + 1))
        except (TypeError, ValueError, AttributeError, IndexError, OverflowError):
            continue
    outputs = draw(st.lists(st.sampled_from(values), max_size=3))
    fits = [value for value in values if value.spec == FLOAT3]
    writes = [Write(builder.inputs[0], draw(st.sampled_from(fits)))] if draw(st.booleans()) else []
    return builder.graph("f", outputs, writes)


def arguments_of(graph, seed=0):
    """Arrays and scalars of the inputs' specs."""
    rng = np.random.default_rng(seed)
    return [rng.uniform(0.5, 2.0, value.spec.shape).astype(value.spec.dtype)[()] for value in graph.inputs]


def assert_same(first, second):
    """The results are equal in type, dtype, shape and value, bit for bit."""
    assert len(first) == len(second)
    for one, other in zip(first, second, strict=True):
        assert type(one) is type(other)
        assert exact_key(one) == exact_key(other)


def outcome(run, *arguments):
    """The results of a run, or the type of the exception that it raises."""
    try:
        with np.errstate(all="ignore"):
            return run(*arguments)
    except Exception as error:
        return (type(error).__name__,)
