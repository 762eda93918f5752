"""Methods that name their own class."""

import numpy as np

import autojit as aj

X = np.linspace(0, 1, 50)


class Scale:
    factor = 3.0

    @aj.autocluster(policy="eager")
    def apply(self, x):
        return np.sin(x) * Scale.factor + x

    @staticmethod
    @aj.autocluster(policy="eager")
    def double(x):
        return x * Scale.factor * 2

    class Inner:
        @aj.autocluster(policy="eager")
        def apply(self, x):
            return x * Scale.factor + len(Scale.Inner.__name__)


def local():
    class Scale:
        factor = 5.0

        @aj.autocluster(policy="eager")
        def apply(self, x):
            return x * Scale.factor

    return Scale


def test_of_a_module():
    for function, arguments in ((Scale.apply, (Scale(), X)), (Scale.double, (X,)), (Scale.Inner.apply, (Scale.Inner(), X))):
        for Scale.factor in (3.0, 4.0):
            np.testing.assert_allclose(function(*arguments), function.__wrapped__(*arguments), rtol=1e-14)
        assert function.cache_info().hits == 2 and not function.explain(*arguments).native_statements


def test_of_a_function():
    kind = local()
    np.testing.assert_array_equal(kind().apply(X), X * 5)
    assert kind.apply.cache_info().hits == 1
