"""Where a benchmark's results go: numbers for programs, and a table to read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).resolve().parent / "results"


def save(base: Path, content: dict[str, Any], text: str) -> None:
    """Write `base`.json and `base`.md; directories are made."""
    base.parent.mkdir(parents=True, exist_ok=True)
    base.with_name(base.name + ".json").write_text(json.dumps(content, indent=1) + "\n")
    base.with_name(base.name + ".md").write_text(text)
