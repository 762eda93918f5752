"""What an option may gain for a plan and lose: how long NumPy must have run before it is tried."""

import numpy as np
import pytest

import autojit as aj
from autojit.compile.options import FUSED, PLAIN_LOSS, WIDE
from autojit.runtime.maker import Maker
from autojit.runtime.rivals import largest_gain, largest_loss


def test_what_an_option_may_gain_or_lose_depends_on_the_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    compile_plan, seen = Maker.compile, []
    monkeypatch.setattr(Maker, "compile", lambda self, *given: seen.append(given[0]) or compile_plan(self, *given))
    large = np.ones((700, 700))
    aj.jit_compile(lambda a: a @ a)(large)
    aj.jit_compile(lambda a: (a @ a).sum(axis=0))(large)
    aj.jit_compile(lambda x: np.sqrt(x) * 3 + x)(large[0])
    products, softened, others = seen
    assert largest_gain(WIDE, others) == WIDE.gain and largest_gain(FUSED, products) == FUSED.gain
    assert 1 <= largest_gain(WIDE, products) < 1.5
    assert largest_loss(FUSED, products) == PLAIN_LOSS and largest_loss(FUSED, softened) == FUSED.loss
    assert largest_loss(WIDE, products) == WIDE.loss
