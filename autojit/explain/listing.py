"""Text of a compiler's stage that a notebook shows in colour, with a field to search it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape
from itertools import islice

from autojit.explain.style import fragment

#: More lines than these are not shown; the text has them all.
MAX_LINES = 5000

#: How comments begin, by the suffix of the stage's files.
_COMMENTS = {"py": r"(?:^|(?<=\s))[#][ ].*", "mlir": "//.*", "txt": "//.*", "ll": ";.*", "s": ";.*", "dot": "//.*"}
_TOKENS = r"""
    (?P<string>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')
  | (?P<name>[%@][\w.$-]+)
  | (?P<type>\b(?:tensor<[^>]*>|(?:[fsuc]|bf)\d+\[[\d,]*\](?:\{[\d,]*\})?|pred\[[\d,]*\](?:\{[\d,]*\})?|i\d+|ptr|double)(?!\w))
  | (?P<word>\b(?:def|return|for|in|if|else|while|import|not|and|or|is|None|True|False|define|declare|ENTRY|ROOT)\b)
  | (?P<call>\b[A-Za-z_][\w.-]*(?=\())
  | (?P<literal>(?<![\w.%])-?\d[\d.]*(?:[eE][+-]?\d+)?(?!\w))
"""  # noqa: E501 -- a line of a table
#: Hides the lines without the words that are searched for.
_SEARCH = (
    "for (const line of this.nextElementSibling.children) "
    "line.hidden = !line.textContent.toLowerCase().includes(this.value.toLowerCase())"
)


class Listing(str):
    """A stage as text. In a notebook it is coloured and can be searched; elsewhere it is a string like others.

    Attributes:
        suffix: What the names of its files end in, which tells the language.
        picture: HTML to show above it; "" for none.
    """

    suffix: str
    picture: str

    def __new__(cls, text: str, suffix: str, picture: str = "") -> Listing:
        made = super().__new__(cls, text)
        made.suffix, made.picture = suffix, picture
        return made

    def __getnewargs__(self) -> tuple[str, str, str]:
        """What a copy is made of."""
        return str(self), self.suffix, self.picture

    def _repr_html_(self) -> str:
        field = f'<input type="search" placeholder="search" aria-label="search" oninput="{_SEARCH}">'
        lines = self.splitlines()
        shown = "".join(f"<div>{line or ' '}</div>" for line in islice(_coloured(lines, self.suffix), MAX_LINES))
        left = len(lines) - MAX_LINES
        more = f"<div>{left} more lines are not shown here; print the text, or save it</div>" if left > 0 else ""
        return fragment(self.picture, field, f'<pre class="listing">{shown}</pre>', more)


def _coloured(lines: list[str], suffix: str) -> Iterator[str]:
    comment = _COMMENTS.get(suffix)
    pattern = re.compile(f"(?P<comment>{comment})|{_TOKENS}" if comment else _TOKENS, re.VERBOSE)
    for line in lines:
        parts, end = [], 0
        for found in pattern.finditer(line):
            parts += [escape(line[end : found.start()]), f'<span class="{found.lastgroup}">{escape(found[0])}</span>']
            end = found.end()
        yield "".join([*parts, escape(line[end:])])
