"""Pictures of graphs: what is drawn, in which groups, and where it stands."""

import copy
import pickle
import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest

import autojit as aj
from autojit.explain.function_graph import graph_html
from autojit.explain.layered import layout
from autojit.explain.listing import MAX_LINES, Listing
from autojit.explain.outline import MAX_BOXES, picture_of


def helper(x):
    y = np.tanh(x) * 2
    return y / (1 + np.abs(y))


def mixed(a, b):
    m = a - a.mean(axis=0)
    u = np.unique(b)
    s = np.zeros_like(a)
    for i in range(1, len(a)):
        s[i] = 0.9 * s[i - 1] + helper(m)[i]
    print("<sum> &", s.sum())
    return np.where(s > 0, s, 1.0), u


@pytest.fixture(scope="module")
def explanation():
    return aj.autocluster(policy="eager")(mixed).explain(np.ones((20, 3)), np.arange(4.0))


def pictures(html):
    return [ET.fromstring(text) for text in re.findall(r"<svg.*?</svg>", html, re.DOTALL)]


def test_a_function_with_all_kinds_of_boxes(explanation):
    html = explanation.graph.to_html()
    region, body, after = pictures(html)
    kinds = [set(group.get("class").split()) for group in region.iter("g")]
    assert sum("host" in kind for kind in kinds) == 1 and sum("loop" in kind for kind in kinds) == 1
    assert all(("in" in kind) == bool(kind & {"node", "loop"}) for kind in kinds)
    assert "what it repeats" in html and len(list(body.iter("rect"))) > 2
    bar = html.index('class="bar"')
    assert html.index("np.unique") < bar < html.index("np.where") and "&lt;sum&gt; &amp;" in html[bar:]
    assert {title.text.split(" = ")[0] for title in after.iter("title")} >= {"v0"}


def test_hovering_tells_the_spec_and_the_line(explanation):
    region = pictures(explanation.graph.to_html())[0]
    (text,) = [title.text for title in region.iter("title") if "np.unique" in title.text]
    assert "float64[4]" in text and f"{__file__}:" in text and "u = np.unique(b)" in text and "host-op" in text


def test_it_loads_nothing(explanation, tmp_path):
    pages = [explanation.graph.save(tmp_path / "graph.html").read_text(), explanation.to_html()]
    for page in pages:
        assert "<script" not in page and not re.search(r"https?://", page) and "prefers-color-scheme: dark" in page
    assert "<summary>Graph</summary>" in pages[1]


def test_clusters_have_the_colours_of_the_source(explanation):
    html = explanation.to_html()
    hues = dict.fromkeys(re.findall(r"--hue: (\d+)", html[: html.index("<summary>Graph")]))
    assert len(hues) == len(explanation.clusters) == 2
    assert list(dict.fromkeys(re.findall(r"--hue: (\d+)", html[html.index("<summary>Graph") :]))) == list(hues)


def long_program(count):
    lines = ["import numpy as np", "def part(x, k):", "    y = np.sin(x) * k", "    return y + np.cos(y)", "def long(x):"]
    for number in range(count):
        lines += [f"    a = x * {number}.5 + 1", "    b = part(a, 3) * part(x, 4)", "    x = x + b / (1 + np.abs(a))"]
    return "\n".join([*lines, "    return x"])


@pytest.mark.parametrize("count", [3, 40, 200])
def test_large_graphs_collapse(tmp_path, monkeypatch, count):
    (tmp_path / f"long_{count}.py").write_text(long_program(count))
    monkeypatch.syspath_prepend(tmp_path)
    module = __import__(f"long_{count}")
    explanation = aj.autocluster(policy="eager")(module.long).explain(np.ones(10))
    graph = explanation.clusters[0].prepared.graph

    def judge(picture):
        boxes = picture.boxes
        assert all(source < number for number, box in enumerate(boxes) for source in box.reads)
        assert len([box for box in boxes if box.kind not in ("input", "result")]) <= MAX_BOXES
        return sum(judge(box.inside) if box.inside else box.kind == "node" for box in boxes)

    picture = picture_of(graph, "long")
    assert judge(picture) == len(graph.nodes)
    assert any(box.kind == "group" for box in picture.boxes) == (len(graph.nodes) > MAX_BOXES)
    assert len(pictures(graph_html(graph, "long"))) > (count > 3)


def test_calls_of_helpers_are_one_box():
    def short(x):
        for k in range(4):
            x = helper(x + k) * helper(x * k)
            x = x / 3 - k
        return helper(x)

    explanation = aj.autocluster(policy="eager")(short).explain(np.ones(10))
    titles = [box.title for box in picture_of(explanation.clusters[0].prepared.graph, short.__qualname__).boxes]
    assert titles.count("helper()") == 9


def test_boxes_of_a_layer_do_not_overlap():
    rng = np.random.default_rng(0)
    for _ in range(20):
        count = int(rng.integers(1, 60))
        reads = [sorted({int(rng.integers(0, n)) for _ in range(int(rng.integers(0, 4)))} if n else []) for n in range(count)]
        widths = list(rng.uniform(20, 200, count))
        placed = layout(reads, widths, 10.0)
        rows: dict[int, list[tuple[float, float]]] = {}
        for (x, layer), width in zip(placed.places, widths, strict=True):
            rows.setdefault(layer, []).append((x - width / 2, x + width / 2))
        for row in rows.values():
            row.sort()
            assert all(one[1] + 9.9 <= other[0] for one, other in zip(row, row[1:]))
        assert max(rows) < placed.layers and min(x for row in rows.values() for x, _ in row) > -1e-6
        for (source, box), route in placed.routes.items():
            assert source in reads[box] and route[0] == placed.places[source] and route[-1] == placed.places[box]
            assert [layer for _, layer in route] == list(range(route[0][1], route[-1][1] + 1))


def test_an_empty_graph_and_no_boxes():
    assert layout([], [], 1.0).layers == 0
    assert aj.autocluster(policy="eager")(lambda x: x).explain(3).graph.to_html()


def test_stages_are_strings_in_colour():
    ir = aj.get_compiler_ir(helper, np.ones(5))
    for stage in ir.stages:
        found = ir(stage)
        if isinstance(found, bytes):
            continue
        assert isinstance(found, str) and found == str(found) and found + "" == found
        html = found._repr_html_()
        shown = re.sub(r"<[^>]*>", "", html[html.index("<pre") :]).replace("&lt;", "<").replace("&gt;", ">")
        shown = shown.replace("&#x27;", "'").replace("&quot;", '"').replace("&amp;", "&")
        lines = [line for line in found.splitlines()[:MAX_LINES] if line]
        assert all(line in shown for line in lines[:50])
        assert ("<svg" in html) == stage.startswith("graph")
    assert "<svg" in ir._repr_html_() and "optimized_hlo" in ir._repr_html_()


def test_a_listing_that_is_long_or_odd():
    text = "\n".join(f'%x.{n} = f64[2]{{0}} add("<a>", 1.5) // why' for n in range(MAX_LINES + 3))
    html = Listing(text, "txt")._repr_html_()
    assert html.count('<span class="comment">// why</span>') == MAX_LINES and "3 more lines" in html
    assert '<span class="string">&quot;&lt;a&gt;&quot;</span>' in html and '<span class="literal">1.5</span>' in html
    assert Listing("", "unknown")._repr_html_()
    for made in (copy.deepcopy(Listing(text, "txt", "<svg>")), pickle.loads(pickle.dumps(Listing(text, "txt", "<svg>")))):
        assert (made, made.suffix, made.picture) == (text, "txt", "<svg>")
