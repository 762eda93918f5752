"""Classes and modules that change between two calls."""

from __future__ import annotations

import inspect
import sys
import types

import numpy as np
import pytest

import autojit as aj
from tests.helpers import check


def test_an_attribute_that_a_class_gets_later() -> None:
    class Settings:
        pass

    fast = aj.autocluster(policy="eager")(lambda x: x * 2 if hasattr(Settings, "flag") else x * 3)
    x = np.arange(3.0)
    np.testing.assert_array_equal(fast(x), x * 3)
    Settings.flag = 1  # type: ignore[attr-defined] -- that is the point
    np.testing.assert_array_equal(fast(x), x * 2)
    np.testing.assert_array_equal(fast(x), x * 2)


def test_a_module_that_is_replaced() -> None:
    def named(x):
        from autojit_test_module import k  # type: ignore[import-not-found] -- made below

        return x * k

    def whole(x):
        import autojit_test_module  # type: ignore[import-not-found] -- made below

        return x * autojit_test_module.k

    def install(k):
        module = types.ModuleType("autojit_test_module")
        module.k = k  # type: ignore[attr-defined] -- modules take attributes
        sys.modules["autojit_test_module"] = module
        return module

    x = np.arange(3.0)
    for function in (named, whole):
        module = install(3)
        fast = aj.autocluster(policy="eager")(function)
        for k in (3, 3, 5):
            module.k = k  # type: ignore[attr-defined] -- modules take attributes
            np.testing.assert_array_equal(fast(x), x * k)
        install(7)
        np.testing.assert_array_equal(fast(x), x * 7)
        del sys.modules["autojit_test_module"]
        with pytest.raises(ImportError):
            fast(x)


def test_functions_that_look_at_their_own_frame() -> None:
    def own(x):
        y = x * 2  # noqa: F841 -- found by its name
        return inspect.currentframe().f_locals["y"] + 1

    def named(x):
        y = x * 2  # noqa: F841 -- found by its name
        all_names = locals
        return all_names()["y"] + 1

    def evaluated(x):
        y = x * 2  # noqa: F841 -- found by its name
        compute = eval
        return compute("y + 1")

    for function in (own, named, evaluated):
        check(function, np.arange(3.0))
