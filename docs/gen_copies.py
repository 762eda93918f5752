"""The pages that are files of the repository: the README is the front page. Their links are turned to the pages."""

from __future__ import annotations

import posixpath
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

#: A file of the repository, and the page that it is; all of them lie at the top.
COPIES = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "bench/README.md": "benchmarks.md",
}

_LINK = re.compile(r"(?<!!)\[([^\]]+)\]\(([^)#:\s]+)(#[^)\s]*)?\)")


def copied(source: str) -> str:
    """The page that a file of the repository is.

    Args:
        source: A key of `COPIES`.
    """

    def turned(found: re.Match[str]) -> str:
        text, path, anchor = found[1], found[2], found[3] or ""
        place = posixpath.normpath(posixpath.join(posixpath.dirname(source), path))
        target = COPIES.get(place, place.removeprefix("docs/") if place.startswith("docs/") else None)
        if target is None:  # the pages do not have it
            return text if "`" in text else f"`{text}`"
        return f"[{text}]({target}{anchor})"

    return _LINK.sub(turned, (ROOT / source).read_text())
