"""A pytest plugin that drives NumPy's tests through autojit and writes down their outcomes.

`AUTOJIT_CONFORMANCE` says how: "plain", "functions" or "bodies", with ",numpy" for clusters that NumPy evaluates.
`AUTOJIT_OUTCOMES` names the file for the outcomes.
"""

from __future__ import annotations

import json
import os
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

import autojit as aj
from tests.conformance import rewrite
from tests.conformance.drive import Driver, strict_warnings
from tests.evaluated import evaluated

_stack = ExitStack()
_outcomes: dict[str, str] = {}
_problems: dict[str, str] = {}
_left_out: list[Any] = []
_driver = Driver()
_mode, *_options = os.environ.get("AUTOJIT_CONFORMANCE", "plain").split(",")


def pytest_configure(config: Any) -> None:
    """Start driving before a test module is imported."""
    if "numpy" in _options:
        _stack.enter_context(evaluated())
    if _mode != "plain":
        strict_warnings()
    if _mode == "functions":
        rewrite.install(_driver)


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: Any) -> None:
    """Compile the body of a test itself."""
    if _mode == "bodies":
        function = pyfuncitem.obj
        plain = getattr(function, "__func__", function)
        made = aj.autocluster(policy="eager")(plain)
        owner = getattr(function, "__self__", None)
        pyfuncitem.obj = made if owner is None else made.__get__(owner)


def pytest_deselected(items: Any) -> None:
    """Remember that there are tests which were not asked for."""
    _left_out.extend(items)


def pytest_runtest_logreport(report: Any) -> None:
    """Remember the outcome; the worst of setup, call and teardown."""
    outcome = "xfailed" if hasattr(report, "wasxfail") and report.skipped else report.outcome
    if report.when == "call" or outcome != "passed":
        if _outcomes.get(report.nodeid) != "failed":
            _outcomes[report.nodeid] = outcome
        if outcome == "failed":
            _problems[report.nodeid] = str(report.longrepr)[-1500:]


def pytest_unconfigure(config: Any) -> None:
    """Write everything down."""
    _driver.count()
    _stack.close()
    found = {
        "outcomes": _outcomes, "problems": _problems, "calls": _driver.calls, "plans": _driver.plans,
        "names": _driver.names, "left out": len(_left_out),
    }  # fmt: skip
    Path(os.environ["AUTOJIT_OUTCOMES"]).write_text(json.dumps(found))
