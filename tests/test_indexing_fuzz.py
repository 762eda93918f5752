"""A seeded set of random indexing expressions; `python -m tests.fuzz --indexing` tries more."""

from __future__ import annotations

import pytest

from tests.evaluated import evaluated
from tests.index_expressions import make_expression
from tests.index_judge import judge_expressions, shown


def _judge(first: int, count: int) -> None:
    found = judge_expressions([make_expression(first + number) for number in range(count)])
    assert not found, "\n".join(f"{text}\n{shown(expressions)}" for expressions, text in found[:3])


@pytest.mark.parametrize("first", range(0, 320, 80))
def test_compiled(first: int) -> None:
    _judge(first, 80)


def test_captured() -> None:
    with evaluated():
        _judge(10_000, 1200)


def test_every_form_comes_up() -> None:
    text = "\n".join(line for seed in range(600) for line in make_expression(seed).text(0))
    forms = "np.ix_ np.take( .take( np.put( np.compress np.take_along_axis np.put_along_axis np.choose None ... += ::-1"
    assert not [form for form in forms.split() if form not in text]
