"""`note`: something only Python can do, which keeps what it is given."""

from __future__ import annotations

LOG: list = []


def note(value=None):
    """Something only Python can do."""
    LOG.append(value)
    return value
