"""What tests of the policy `measured` share: compiling that pays at once, or waits for an event."""

import threading

import numpy as np
import pytest

from autojit.runtime.background import BACKGROUND
from autojit.runtime.heat import Heat
from autojit.runtime.maker import Maker

X = np.linspace(0.0, 1.0, 1000)


def probe_of(function):
    return next(iter(function.__autojit_controller__.probes.values()))


@pytest.fixture(name="pays")
def compiling_pays(monkeypatch):
    """Compiling pays after the first call, and plans win."""
    monkeypatch.setattr("autojit.runtime.heat.PAYS_AFTER", 1e-9)
    monkeypatch.setattr("autojit.runtime.heat.WAITS", 0.0)
    monkeypatch.setattr(Heat, "best", 1.0)
    monkeypatch.setattr(Heat, "mean", 1.0)


@pytest.fixture(name="held")
def compiling_waits(monkeypatch):
    """Compiling waits for an event."""
    let, began, compile = threading.Event(), threading.Event(), Maker.compile

    def late(*args):
        began.set()
        assert let.wait(60)
        return compile(*args)

    monkeypatch.setattr(Maker, "compile", late)
    yield began, let
    let.set()
    BACKGROUND.wait()
