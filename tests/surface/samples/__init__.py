"""Sample calls by public name, as text over the letters of `values.py`.

A sample that starts with "(" calls the name that it stands under; any other is written out, with statements before the
last expression divided by "; ". The first sample of a name is the usual call: its status is the name's.
"""

from __future__ import annotations

from tests.surface.samples import (
    arrays,
    creation,
    excluded,
    fourier,
    indexing,
    linear,
    mathematics,
    methods,
    objects,
    rearranging,
    searching,
    statistics,
    ufuncs,
)
from tests.surface.samples import random as chance

#: By name; none for the names in `REASONS`.
SAMPLES: dict[str, tuple[str, ...]] = {}
for _part in (
    ufuncs, arrays, creation, rearranging, indexing, mathematics, statistics, searching, linear, fourier, chance, objects,
    methods,
):  # fmt: skip
    SAMPLES.update(_part.SAMPLES)

#: Why a public name has no sample.
REASONS: dict[str, str] = excluded.REASONS
