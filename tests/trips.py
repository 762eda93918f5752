"""`every`: programs with a loop, compared with NumPy for many trip counts."""

from __future__ import annotations

import warnings

from tests.attacks import rand, sequence

TRIPS = (6, 0, 1, 2, 5, 40, -3)


def every(programs, *arguments, trips=TRIPS, rounds=1) -> None:
    """Compare programs of `n` and some arrays for many trip counts; all that fail are named."""
    failed = []
    for program in programs:
        calls = [(n, *(argument() for argument in arguments)) for n in trips]
        try:
            with warnings.catch_warnings():
                # NumPy's floating point warnings, which compiled code does not repeat.
                warnings.simplefilter("ignore", RuntimeWarning)
                sequence(program, *calls, rounds=rounds, rtol=1e-9)
        except Exception as error:
            failed.append(f"{program.__name__}: {' '.join(str(error).split())[:400]}")
    assert not failed, "\n".join(failed)


def vector():
    return rand(50)
