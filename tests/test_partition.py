"""The partition: one line per case, and random graphs."""

import time
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autojit.config import Config
from autojit.errors import Reason
from autojit.ir.build import Builder
from autojit.ir.evaluate import evaluate, read, run_node
from autojit.ir.graph import Const, Graph, Node, Value
from autojit.ir.spec import Spec
from autojit.ir.verify import verify
from autojit.partition.clusters import partition
from autojit.partition.compilable import subgraphs, unknown_names, why_not
from autojit.partition.cost import estimate, numpy_cost
from autojit.partition.steps import ClusterStep, HostStep, steps
from tests.graphs import FLOAT3, FLOAT33, OPS, arguments_of, assert_same, graph_of, graphs, make, outcome

ALL = Config()
BIG = Spec((100, 100), np.dtype(float))


def clusters(graph, **flags):
    """The first outputs of the nodes in each cluster, in the clusters' order: `a b | d`."""
    groups = {}
    for node in partition(graph, Config(**flags)).nodes:
        if node.cluster is not None:
            groups.setdefault(node.cluster, []).append(node.outputs[0].name)
    assert list(groups) == [f"cluster_{number}" for number in range(len(groups))]
    return " | ".join(" ".join(names) for names in groups.values())


def order(graph, **flags):
    """The steps in order: clusters by the number, host nodes by the first output."""
    found = []
    for step in steps(partition(graph, Config(**flags))):
        host = isinstance(step, HostStep)
        found.append(step.node.outputs[0].name if host else step.name.removeprefix("cluster_"))
    return " ".join(found)


# graph, clusters, steps
CASES = {
    "everything compiles": ("a = square(x); b = sqrt(a); c = add(a, b) -> c", "a b c", "0"),
    "nothing compiles": ("a = sort(x); b = cumsum(a) -> b", "", "a b"),
    "nothing at all": ("-> x", "", ""),
    "one host node between": ("a = square(x); h = sort(a); b = sqrt(h) -> b", "a | b", "0 h 1"),
    "host first": ("h = sort(x); b = sqrt(h) -> b", "b", "h 0"),
    "host last": ("b = sqrt(x); h = sort(b) -> h", "b", "0 h"),
    "host beside": ("a = square(x); h = sort(y); b = add(a, 1) -> b, h", "a b", "0 h"),
    "a diamond around a host node": ("a = square(x); h = sort(a); b = sqrt(a); c = add(h, b) -> c", "a | b c", "0 h 1"),
    "a diamond without": ("a = square(x); l = sqrt(a); r = negative(a); c = add(l, r) -> c", "a l r c", "0"),
    "independent parts become one": ("a = square(x); b = sqrt(y) -> a, b", "a b", "0"),
    "independent parts around a host node": (
        "a = square(x); h = sort(x); b = sqrt(y); c = negative(z) -> a, b, c, h",
        "a b c",
        "0 h",
    ),
    "a chain of host nodes": ("a = square(x); h = sort(a); i = cumsum(h); b = sqrt(i) -> b", "a | b", "0 h i 1"),
    "two round trips": (
        "a = square(x); h = sort(a); b = sqrt(h); i = sort(b); c = add(i, a) -> c",
        "a | b | c",
        "0 h 1 i 2",
    ),
    "two host nodes at once": (
        "a = square(x); h = sort(a); i = cumsum(a); b = sqrt(h); c = add(b, i) -> c",
        "a | b c",
        "0 h i 1",
    ),
    "what only a later cluster reads moves there": (
        "a = square(x); s = sqrt(y); h = sort(a); b = add(s, h) -> b",
        "a | s b",
        "0 h 1",
    ),
    "a chain moves": ("a = square(x); s = sqrt(y); t = sqrt(s); h = sort(a); b = add(t, h) -> b", "a | s t b", "0 h 1"),
    "what several clusters read stays": (
        "a = square(x); s = sqrt(y); h = sort(a); b = add(s, h); i = sort(b); c = add(s, i) -> c",
        "a s | b | c",
        "0 h 1 i 2",
    ),
    "a host node before any cluster is no border": (
        "a = square(x); h = sort(y); b = sqrt(h); c = add(a, h) -> a, b, c",
        "a b c",
        "h 0",
    ),
    "a reduction stays where its operand is": (
        "a = add(x, 1); h = sort(a); s = sum(a); b = multiply(h, s) -> b",
        "a s | b",
        "0 h 1",
    ),
    "a result stays": ("a = square(x); s = sqrt(y); h = sort(a); b = add(s, h) -> s, b", "a s | b", "0 h 1"),
    "shaping between host nodes stays there": (
        "h = sort(x); r = reshape(h, shape=(1, 3)); i = cumsum(r) -> i",
        "",
        "h r i",
    ),
    "shaping alone compiles": ("r = reshape(x, shape=(1, 3)) -> r", "r", "0"),
    "shaping beside arithmetic compiles": ("h = sort(x); r = reshape(h, shape=(1, 3)); a = sqrt(r) -> a", "r a", "h 0"),
    "several outputs": ("a, b = divmod(x, 2.0); h = sort(a); c = add(b, h) -> c", "a | c", "0 h 1"),
}


@pytest.mark.parametrize("name", CASES)
def test_case(name):
    text, expected, expected_steps = CASES[name]
    graph = graph_of(text)
    assert clusters(graph) == expected
    assert order(graph) == expected_steps


def test_clusters_are_numbered_by_their_first_node():
    graph = graph_of("z = zeros(shape=3); a = square(x); h = sort(a); b = add(z, h) -> b")
    assert clusters(graph) == "z b | a"
    assert order(graph) == "1 h 0"


# graph, flags, clusters
KNOBS = [
    ("a = square(x); h = sort(a); b = sqrt(h); c = add(b, b) -> c", {"min_cluster_size": 2}, "b c"),
    ("a = square(x); h = sort(a); b = sqrt(h); c = add(b, b) -> c", {"min_cluster_size": 3}, ""),
    ("a = square(x) -> a", {"min_cluster_size": 100}, "a"),
    ("a = square(x); b = sqrt(a); c = sqrt(b) -> c", {"max_cluster_size": 2}, "a b | c"),
    ("a = square(x); b = sqrt(a); c = sqrt(b) -> c", {"max_cluster_size": 1}, "a | b | c"),
    ("a = square(x); p = sqrt(y); b = sqrt(a); q = square(p) -> b, q", {"max_cluster_size": 2}, "a b | p q"),
    ("a = square(x); p = sqrt(y); b = sqrt(a); q = square(p) -> b, q", {"max_cluster_size": 3}, "a b | p q"),
    ("a = square(x); b = sqrt(a); c = sqrt(b); p = sqrt(y) -> c, p", {"max_cluster_size": 2}, "a b | c p"),
    ("a = square(x); h = sort(a); b = sqrt(h) -> b", {"clustering_fuel": 0}, ""),
    ("a = square(x); h = sort(a); b = sqrt(h) -> b", {"clustering_fuel": 1}, "a"),
    ("a = square(x); h = sort(a); b = sqrt(h) -> b", {"clustering_fuel": 2}, "a | b"),
    ("a = square(x); b = sqrt(a); c = square(b) -> c", {"cluster_exclude_ops": ("np.sqrt",)}, "a | c"),
    ("a = square(x); b = sqrt(a); c = square(b) -> c", {"cluster_exclude_ops": ("sqrt",)}, "a | c"),
    ("a = square(x); b = sum(a); c = square(b) -> c", {"cluster_exclude_ops": ("reduction",)}, "a | c"),
    ("a = square(x); b = sum(a); c = square(b) -> c", {"ops_to_cluster": ("elementwise",)}, "a | c"),
    ("a = square(x); b = sum(a); c = square(b) -> c", {"ops_to_cluster": ("np.sum", "square")}, "a b c"),
    ("a = square(x); b = sum(a) -> b", {"ops_to_cluster": ("sum", "square"), "cluster_exclude_ops": ("sum",)}, "a"),
    ("a = square(x); h = sort(x); b = sqrt(y) -> a, h, b", {"clustering_fuel": 1}, "a b"),
]


@pytest.mark.parametrize(("text", "flags", "expected"), KNOBS)
def test_knob(text, flags, expected):
    assert clusters(graph_of(text), **flags) == expected
    steps(partition(graph_of(text), Config(**flags)))


# graph, flags, the reasons of the nodes
REASONS = [
    ("a = sort(x) -> a", {}, ["host-op: `np.sort` has no lowering"]),
    (
        "a = square(x) -> a",
        {"cluster_exclude_ops": ("elementwise",)},
        ["excluded: `np.square` is among `--cluster_exclude_ops=elementwise`"],
    ),
    (
        "a = square(x) -> a",
        {"ops_to_cluster": ("np.sum", "linalg")},
        ["excluded: `np.square` is not among `--ops_to_cluster=np.sum,linalg`"],
    ),
    ("a = square(x) -> a", {"clustering_fuel": 0}, ["excluded: out of fuel: `--clustering_fuel=0`"]),
    (
        "a = square(x); h = sort(a) -> h",
        {"min_cluster_size": 2},
        ["too-small: 1 operation(s), fewer than `--min_cluster_size=2`", "host-op: `np.sort` has no lowering"],
    ),
    (
        "h = sort(x); r = reshape(h, shape=(1, 3)) -> r",
        {},
        ["host-op: `np.sort` has no lowering", "too-small: `np.reshape` between host operations: nothing to compute"],
    ),
]


@pytest.mark.parametrize(("text", "flags", "expected"), REASONS)
def test_reason(text, flags, expected):
    nodes = partition(graph_of(text), Config(**flags)).nodes
    assert [f"{node.reason.id}: {node.reason.detail}" for node in nodes] == expected
    assert [node.reason.source for node in nodes] == [node.source for node in nodes]


def test_dtypes_that_are_not_compiled():
    spec = Spec((3,), np.dtype(np.longdouble))
    node = Node(OPS["square"], (Value("x", spec),), (), (Value("a", spec),))
    assert why_not(node, ALL) == Reason("argument-type", f"`np.square` on dtype `{spec.dtype}`")
    swapped = Spec((3,), np.dtype(">f8"))
    assert why_not(Node(OPS["square"], (Value("x", swapped),), (), (Value("a", FLOAT3),)), ALL) is not None


def test_a_loop_compiles_when_its_body_does():
    loop = make("loop", lambda x, body: x, infer=lambda specs, params: specs)
    builder = Builder()
    x = builder.input(FLOAT3, "x")
    good, bad = graph_of("a = square(y); b = sqrt(a) -> b"), graph_of("a = square(y); b = sort(a) -> b")
    (v0,) = builder.add(loop, [x], {"body": good})
    (v1,) = builder.add(loop, [v0], {"body": (bad,)})
    graph = builder.graph("f", [v1])
    assert subgraphs(graph.nodes[1]) == (bad,)
    first, second = partition(graph, ALL).nodes
    assert (first.cluster, second.reason.id) == ("cluster_0", "host-op")
    assert second.reason.source.line == 2
    # The body counts: 3 operations do not fit with another one.
    (v2,) = builder.add(OPS["square"], [v0])
    assert (
        clusters(replace(builder.graph("f", [v2]), nodes=(graph.nodes[0], builder.nodes[2])), max_cluster_size=3)
        == "v0 | v2"
    )


def test_unknown_names_in_the_knobs():
    config = Config(ops_to_cluster=("elementwise", "np.sqaure", "sum"), cluster_exclude_ops=("nothing",))
    assert unknown_names(config, {op.name: op for op in OPS.values()}.values()) == ("np.sqaure", "nothing")


def test_a_cluster_step_has_the_graph_of_the_cluster():
    graph = partition(
        graph_of("a, b = divmod(x, y); h = sort(a); c = add(b, h); d = add(c, 1) -> b, c, d; x := c"), ALL
    )
    first, host, second = steps(graph)
    assert isinstance(first, ClusterStep) and isinstance(host, HostStep) and isinstance(second, ClusterStep)
    assert [value.name for value in first.graph.inputs] == ["x", "y"]
    assert [value.name for value in first.graph.outputs] == ["a", "b"]
    assert [value.name for value in second.graph.inputs] == ["b", "h"]
    assert [value.name for value in second.graph.outputs] == ["c", "d"]
    assert (first.name, first.graph.name, second.graph.writes) == ("cluster_0", "cluster_0", ())


def test_clusters_that_wait_for_each_other_are_refused():
    graph = graph_of("a = square(x); h = sort(a); b = sqrt(h) -> b")
    nodes = tuple(replace(node, cluster="c" if node.op is not OPS["sort"] else None) for node in graph.nodes)
    with pytest.raises(ValueError, match="in a circle"):
        steps(replace(graph, nodes=nodes))


def run_steps(graph, arguments):
    """The results of running step by step, each program from its own inputs alone."""
    values = dict(zip((value.name for value in graph.inputs), arguments, strict=True))
    for step in steps(graph):
        if isinstance(step, HostStep):
            run_node(step.node, values)
            continue
        found = evaluate(step.graph, [values[value.name] for value in step.graph.inputs])
        names = [value.name for value in step.graph.outputs]
        assert not set(names) & set(values)
        values |= dict(zip(names, found, strict=True))
    return tuple(read(operand, values) for operand in graph.results)


def errors_of(graph, arguments):
    """The names of what the nodes raise of which the operands are there, in whatever order they run."""
    values = dict(zip((value.name for value in graph.inputs), arguments, strict=True))
    found = set()
    for node in graph.nodes:
        if all(isinstance(operand, Const) or operand.name in values for operand in node.inputs):
            error = outcome(run_node, node, values)
            found |= set(error or ())
    return found


FLAGS = st.fixed_dictionaries(
    {},
    optional={
        "min_cluster_size": st.integers(1, 4),
        "max_cluster_size": st.integers(1, 5),
        "clustering_fuel": st.integers(-1, 3),
        "cluster_exclude_ops": st.sampled_from([("np.add",), ("reduction", "square"), ()]),
    },
)


@given(graph=graphs(max_nodes=25), flags=FLAGS, seed=st.integers(0, 3))
@settings(max_examples=200, deadline=None)
def test_random_graphs(graph, flags, seed):
    config = Config(**flags)
    result = partition(graph, config)
    with np.errstate(all="ignore"):
        verify(result)
    assert [node.cluster for node in partition(graph, config).nodes] == [node.cluster for node in result.nodes]
    assert [node.outputs for node in result.nodes] == [node.outputs for node in graph.nodes]
    for node in result.nodes:
        assert (node.cluster is None) != (node.reason is None)

    order = steps(result)
    inside = [node for step in order for node in (step.graph.nodes if isinstance(step, ClusterStep) else [step.node])]
    assert sorted(map(id, inside)) == sorted(map(id, result.nodes))
    for step in order:
        if isinstance(step, ClusterStep):
            assert len(step.graph.nodes) <= config.max_cluster_size
            with np.errstate(all="ignore"):
                verify(step.graph)
    if all(why_not(node, config) is None for node in graph.nodes) and len(graph.nodes) <= config.max_cluster_size:
        assert len(order) == min(1, len(graph.nodes)) or config.clustering_fuel == 0
    arguments = arguments_of(graph, seed)
    expected = outcome(evaluate, graph, arguments)
    found = outcome(run_steps, result, arguments)
    if isinstance(expected[0] if expected else None, str):
        assert isinstance(found[0], str) and found[0] in errors_of(graph, arguments)
    else:
        assert_same(found, expected)


@given(graph=graphs(max_nodes=25, ops=("square", "add", "sort", "sum", "cumsum", "divmod")))
@settings(max_examples=200, deadline=None)
def test_no_partition_has_fewer_clusters(graph):
    """The longest alternation of compiled and host nodes bounds the number of clusters from below."""
    makers = {value.name: node for node in graph.nodes for value in node.outputs}
    depth = {}
    for node in graph.nodes:
        before = [makers[operand.name] for operand in node.inputs if getattr(operand, "name", None) in makers]
        entered = [depth[id(maker)] + (maker.is_host and not node.is_host) for maker in before]
        depth[id(node)] = max(entered, default=0 if node.is_host else 1)
    least = max(depth.values(), default=0)
    made = {node.cluster for node in partition(graph, ALL).nodes} - {None}
    assert len(made) <= least


def chain(length, every):
    builder = Builder()
    value = builder.input(FLOAT3, "x")
    for number in range(length):
        (value,) = builder.add(OPS["sort" if number % every == every - 1 else "negative"], [value])
    return builder.graph("f", [value])


@pytest.mark.parametrize(("every", "count"), [(2, 1000), (10, 200), (3000, 1)])
@pytest.mark.parametrize("limit", [2000, 7])
def test_long_chains_are_fast(every, count, limit, no_collection):
    graph = chain(2000, every)
    start = time.thread_time()
    order = steps(partition(graph, Config(max_cluster_size=limit)))
    assert time.thread_time() - start < 0.5
    assert sum(isinstance(step, ClusterStep) for step in order) >= count


def test_wide_graphs_are_fast(no_collection):
    builder = Builder()
    inputs = [builder.input(FLOAT3, f"x{number}") for number in range(700)]
    parts = [builder.add(OPS["square"], [value])[0] for value in inputs]
    parts = [builder.add(OPS["sqrt"], [value])[0] for value in parts]
    total = parts[0]
    for part in parts[1:]:
        (total,) = builder.add(OPS["add"], [total, part])
    graph = builder.graph("f", [total])
    start = time.thread_time()
    assert len(steps(partition(graph, Config(max_cluster_size=100)))) >= 21
    assert time.thread_time() - start < 0.5


def test_cost_of_small_and_large_arrays():
    small = estimate(graph_of("a = square(x); b = add(a, x) -> b"))
    assert small.clearly_loses
    assert small.numpy_seconds == pytest.approx(1.2e-6, rel=0.1)
    large = graph_of("a = square(x); b = add(a, x); c = sqrt(b) -> c", spec=Spec((1000, 1000), np.dtype(float)))
    assert not estimate(large).clearly_loses
    assert estimate(large).plan_seconds < estimate(large).numpy_seconds
    assert estimate(partition(large, ALL)) == estimate(large)


def test_cost_counts_what_crosses():
    text = "a = square(x); h = sort(a); b = sqrt(h); c = sqrt(b) -> c"
    graph = graph_of(text, spec=BIG)
    parted = estimate(partition(graph, ALL))
    assert parted.numpy_seconds == estimate(graph).numpy_seconds
    assert parted.plan_seconds > estimate(graph).plan_seconds
    none = estimate(partition(graph, Config(clustering_fuel=0)))
    assert none.plan_seconds == none.numpy_seconds
    assert estimate(Graph("f", (), (), ())).plan_seconds == 0


def test_cost_of_contractions_and_views():
    dot = estimate(graph_of("a = dot(x, y) -> a", spec=BIG))
    assert dot.numpy_seconds > 2 * 100**3 / 20e9
    slow, fast = (numpy_cost(graph_of(f"a = {op}(x) -> a", spec=BIG).nodes[0]) for op in ("sqrt", "square"))
    assert slow > fast
    view = estimate(graph_of("a = transpose(x) -> a", spec=FLOAT33))
    assert view.numpy_seconds < 1e-6
    assert view.clearly_loses
