"""Functions of a file whose annotations are evaluated, unlike those of the tests."""

from typing import Any

import numpy as np

Vector = np.ndarray


def of_a_parameter(x):
    def g(y: undefined):  # noqa: F821 -- what is tested
        return y * 2

    return g(x)


def of_the_result(x):
    def g(y) -> undefined.attribute:  # noqa: F821 -- what is tested
        return y * 2

    return g(x)


def of_a_name_unbound_yet(x):
    def g(y: later):  # noqa: F821 -- what is tested
        return y * 2

    later = g(x)
    return later


def with_an_effect(x, log):
    def g(y: log.append(1)) -> log.append(2):
        return y * 2

    return g(x) + g(x)


def not_subscriptable(x):
    def g(y: int[3]):
        return y * 2

    return g(x)


def not_evaluated(x):
    y: undefined = x * 2  # noqa: F821 -- what is tested
    return y + 1


def an_item(x):
    undefined[0]: int  # noqa: F821 -- what is tested
    return x * 2


def keyword_default(x):
    def g(y, *, k=undefined):  # noqa: F821 -- what is tested
        return y * 2

    return x + 1


class Own:
    """A class of the user's."""


def usual(x):
    def own(y: Own) -> Own:
        return y - 1

    x = own(x)

    def g(
        a: np.ndarray,
        b: float = 2.0,
        c: list[int] | None = None,
        d: "Vector" = None,
        e: Any = 1,
        f: tuple[int, ...] = (),
    ) -> np.ndarray:
        return a * b

    return g(x) + 1
