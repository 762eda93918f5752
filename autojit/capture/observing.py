"""`OBSERVING`: where a capture waits for code of the user's."""

from __future__ import annotations

#: The threads in which a host op runs while a capture waits for it: what it waits for must not wait for the capture.
OBSERVING: set[int] = set()
