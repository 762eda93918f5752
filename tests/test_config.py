"""The flags: every spelling that is accepted, every error, and who overrides whom."""

import threading

import pytest

from autojit import config
from autojit.config import FLAGS, Config, current, describe, merge, override, parse_flags, set_flags
from autojit.errors import AutojitError, FlagError


@pytest.fixture(autouse=True)
def clean(monkeypatch):
    """Each test starts from an empty environment and leaves the process as it was."""
    monkeypatch.setattr(config, "_process", None)
    monkeypatch.delenv("AUTOJIT_FLAGS", raising=False)


GOOD = {
    "": {},
    "  ": {},
    "--auto_jit=0": {"auto_jit": 0},
    "--auto_jit=1 --policy=eager": {"policy": "eager"},
    "--policy=measured": {"policy": "measured"},
    "--policy=native --policy=eager": {"policy": "eager"},
    "--min_cluster_size=2 --max_cluster_size=10": {"min_cluster_size": 2, "max_cluster_size": 10},
    "--ops_to_cluster=elementwise,np.sum": {"ops_to_cluster": ("elementwise", "np.sum")},
    "--ops_to_cluster='elementwise, np.sum,'": {"ops_to_cluster": ("elementwise", "np.sum")},
    "--ops_to_cluster=": {"ops_to_cluster": ()},
    "--cluster_exclude_ops=np.dot": {"cluster_exclude_ops": ("np.dot",)},
    "--clustering_fuel=-1": {"clustering_fuel": -1},
    "--clustering_fuel=0": {"clustering_fuel": 0},
    "--clustering_debug": {"clustering_debug": True},
    "--clustering_debug=1": {"clustering_debug": True},
    "--clustering_debug=True": {"clustering_debug": True},
    "--clustering_debug --clustering_debug=0": {"clustering_debug": False},
    "--exact": {"exact": True},
    "--exact=0": {"exact": False},
    "--clustering_debug=false": {"clustering_debug": False},
    "--unroll_budget=0\n--max_plans=1": {"unroll_budget": 0, "max_plans": 1},
}


@pytest.mark.parametrize("text", GOOD)
def test_accepts(text):
    assert parse_flags(text) == Config(**GOOD[text])


BAD = {
    "--auto_jit=3": "flag `--auto_jit` does not take `3`: it takes 0, 1 or 2",
    "--auto_jit=yes": "flag `--auto_jit` does not take `yes`: it takes 0, 1 or 2",
    "--auto_jit": "flag `--auto_jit` needs a value: 0, 1 or 2",
    "--policy=fast": "flag `--policy` does not take `fast`: it takes one of `measured`, `eager`, `native`",
    "--policy=": "flag `--policy` does not take ``: it takes one of `measured`, `eager`, `native`",
    "--min_cluster_size=0": "flag `--min_cluster_size` does not take `0`: it takes an integer of at least 1",
    "--min_cluster_size=1.5": "flag `--min_cluster_size` does not take `1.5`: it takes an integer of at least 1",
    "--clustering_fuel=-2": "flag `--clustering_fuel` does not take `-2`: it takes an integer of at least -1",
    "--clustering_debug=2": "flag `--clustering_debug` does not take `2`: it takes `1`, `true`, `0` or `false`",
    "--polcy=eager": "unknown flag `--polcy`; did you mean `--policy`?\nthe flags are `--auto_jit`, `--policy`, ",
    "--min-cluster-size=2": "unknown flag `--min-cluster-size`; did you mean `--min_cluster_size`?\n",
    "--AUTO_JIT=1": "unknown flag `--AUTO_JIT`; did you mean `--auto_jit`?\n",
    "--xyzzy": "unknown flag `--xyzzy`\nthe flags are ",
    "policy=eager": "`policy=eager` is not a flag: flags are written `--name=value`",
    "-policy=eager": "`-policy=eager` is not a flag: flags are written `--name=value`",
    "--policy eager": "flag `--policy` needs a value: one of `measured`, `eager`, `native`",
    "--policy='eager": "`AUTOJIT_FLAGS` cannot be split into words: No closing quotation",
}


@pytest.mark.parametrize("text", BAD)
def test_refuses(text):
    with pytest.raises(FlagError) as caught:
        parse_flags(text)
    assert str(caught.value).startswith(BAD[text])
    assert isinstance(caught.value, AutojitError) and isinstance(caught.value, ValueError)


KEYWORDS = [
    ({}, {}),
    ({"policy": "eager"}, {"policy": "eager"}),
    ({"policy": None}, {}),
    ({"ops_to_cluster": ["elementwise", "np.sum"]}, {"ops_to_cluster": ("elementwise", "np.sum")}),
    ({"ops_to_cluster": "elementwise,np.sum"}, {"ops_to_cluster": ("elementwise", "np.sum")}),
    ({"clustering_debug": True}, {"clustering_debug": True}),
    ({"clustering_debug": 0}, {"clustering_debug": False}),
    ({"max_plans": 3}, {"max_plans": 3}),
]


@pytest.mark.parametrize(("changes", "expected"), KEYWORDS)
def test_merge(changes, expected):
    merged = merge(Config(), changes)
    assert merged == Config(**expected)
    assert hash(merged) == hash(Config(**expected))
    assert type(merged.clustering_debug) is bool


BAD_KEYWORDS = [
    ({"auto_jit": 3}, "flag `auto_jit` does not take `3`: it takes 0, 1 or 2"),
    ({"auto_jit": True}, "flag `auto_jit` does not take `True`: it takes 0, 1 or 2"),
    ({"policy": "fast"}, "flag `policy` does not take `fast`: it takes one of "),
    ({"policy": ["eager"]}, "flag `policy` does not take `['eager']`: "),
    ({"max_plans": "3"}, "flag `max_plans` does not take `3`: it takes an integer of at least 1"),
    ({"max_plans": 2.0}, "flag `max_plans` does not take `2.0`: "),
    ({"clustering_debug": "yes"}, "flag `clustering_debug` does not take `yes`: "),
    ({"clustering_debug": None}, "flag `clustering_debug` does not take `None`: "),
    ({"ops_to_cluster": 3}, "flag `ops_to_cluster` does not take `3`: "),
    ({"ops_to_cluster": [3]}, "flag `ops_to_cluster` does not take `[3]`: "),
    (
        {"min_clustersize": 3},
        "unknown flag `min_clustersize`; did you mean `min_cluster_size`?\nthe flags are `auto_jit`, ",
    ),
]


@pytest.mark.parametrize(("changes", "message"), BAD_KEYWORDS)
@pytest.mark.parametrize("use", [lambda **c: merge(Config(), c), set_flags, lambda **c: override(**c).__enter__()])
def test_keyword_errors(changes, message, use):
    before = current()
    with pytest.raises(FlagError) as caught:
        use(**changes)
    assert str(caught.value).startswith(message)
    assert current() == before


def test_the_environment_is_read_once(monkeypatch):
    monkeypatch.setenv("AUTOJIT_FLAGS", "--policy=eager --max_plans=2")
    assert current() == Config(policy="eager", max_plans=2)
    monkeypatch.setenv("AUTOJIT_FLAGS", "--policy=native")
    assert current().policy == "eager"


def test_a_bad_environment_is_told_every_time(monkeypatch):
    monkeypatch.setenv("AUTOJIT_FLAGS", "--auto_jit=3")
    for _ in range(2):
        with pytest.raises(FlagError, match="0, 1 or 2"):
            current()


def test_overrides_stand_above_flags_and_nest(monkeypatch):
    monkeypatch.setenv("AUTOJIT_FLAGS", "--max_plans=2")
    set_flags(policy="eager")
    assert current() == Config(policy="eager", max_plans=2)
    with override(max_plans=3, policy="native") as inner:
        assert inner == current() == Config(policy="native", max_plans=3)
        with override(policy=None):
            assert current() == Config(max_plans=3)
        set_flags(unroll_budget=5, max_plans=9)
        assert current() == Config(policy="native", max_plans=3, unroll_budget=5)
    assert current() == Config(policy="eager", max_plans=9, unroll_budget=5)


def test_an_override_ends_with_an_exception():
    with pytest.raises(KeyError), override(max_plans=3):
        raise KeyError
    assert current() == Config()


def test_an_override_is_the_threads_own():
    seen = []
    with override(max_plans=3):
        thread = threading.Thread(target=lambda: seen.append(current().max_plans))
        thread.start()
        thread.join()
    assert seen == [8]


def test_the_table_has_a_row_per_field():
    assert {name: flag.default for name, flag in FLAGS.items()} == Config._field_defaults
    for name, flag in FLAGS.items():
        assert flag.name == name
        assert flag.doc.endswith(".") and flag.accepts


def test_defaults_are_accepted():
    assert merge(Config(), {name: flag.default for name, flag in FLAGS.items()}) == Config()


def test_describe_tells_all():
    text = describe()
    for flag in FLAGS.values():
        assert f"  --{flag.name}  ({flag.type}, default: " in text
        assert flag.doc in text
