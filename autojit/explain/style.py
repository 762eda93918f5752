"""The look of what is shown in notebooks and pages: in light and dark, and nothing is loaded."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from html import escape
from typing import TypeVar

_T = TypeVar("_T", bound=Hashable)

#: Hues of the clusters, in turn.
_HUES = (210, 150, 265, 180, 30, 320)

#: What a page that has themes of its own says above the fragment: JupyterLab, VS Code, Material for MkDocs, others.
_SAYS_LIGHT = (
    '[data-jp-theme-light="true"], .vscode-light, [data-vscode-theme-kind$="light"], [data-md-color-scheme="default"], '
    '[data-theme="light"], [theme="light"]'
)
_SAYS_DARK = (
    '[data-jp-theme-light="false"], .vscode-dark, [data-vscode-theme-kind="vscode-dark"], '
    '[data-vscode-theme-kind="vscode-high-contrast"], [data-md-color-scheme="slate"], [data-theme="dark"], '
    '[theme="dark"]'
)
#: `initial` makes `var(--in-light, a)` to `a`, and an empty value to nothing: so each colour stands in one place.
_LIGHT = "color-scheme: light; --in-light: initial; --in-dark: ;"
_DARK = "color-scheme: dark; --in-light: ; --in-dark: initial;"

#: In light, and in dark.
_COLOURS = {
    "text": ("#1f2328", "#e6edf3"),
    "dim": ("#59636e", "#9198a1"),
    "line": ("#d1d9e0", "#3d444d"),
    "back": ("#ffffff", "#0d1117"),
    "light": ("92%", "22%"),
    "why": ("#fff1e5", "#3a2410"),
    "string": ("#0a3069", "#a5d6ff"),
    "name": ("#953800", "#ffa657"),
    "type": ("#116329", "#7ee787"),
    "word": ("#cf222e", "#ff7b72"),
    "call": ("#8250df", "#d2a8ff"),
}
_BOTH = "\n".join(
    f"  --{name}: var(--in-light, {one}) var(--in-dark, {other});" for name, (one, other) in _COLOURS.items()
)

_SHEET = f"""
.autojit {{ {_LIGHT} }}
@media (prefers-color-scheme: dark) {{ .autojit {{ {_DARK} }} }}
:is({_SAYS_LIGHT}) .autojit {{ {_LIGHT} }}
:is({_SAYS_DARK}) .autojit {{ {_DARK} }}
.autojit {{
{_BOTH}
  color: var(--text); background: var(--back); font: 13px/1.5 system-ui, sans-serif; padding: 8px 12px;
  overflow-x: auto; }}
"""
_SHEET += """\
.autojit h4 { margin: 12px 0 4px; font-size: 13px; }
.autojit table { border-collapse: collapse; width: 100%; color: inherit; }
.autojit td { padding: 0 8px; text-align: left; vertical-align: top; border: 0; }
.autojit .source td { font: 12px/1.5 ui-monospace, monospace; white-space: pre; }
.autojit .number { color: var(--dim); text-align: right; user-select: none; }
.autojit .mark { color: var(--dim); }
.autojit .cluster { background: hsl(var(--hue) 60% var(--light)); }
.autojit .out { background: var(--why); }
.autojit .why td { font: 12px/1.5 system-ui, sans-serif; white-space: normal; color: var(--dim);
  border-bottom: 1px solid var(--line); }
.autojit .list { width: auto; }
.autojit .list td { border-bottom: 1px solid var(--line); }
.autojit .list td:first-child { white-space: nowrap; }
.autojit code { font: 12px ui-monospace, monospace; color: inherit; background: none; }
.autojit summary { cursor: pointer; }
.autojit a { color: inherit; }
.autojit .picture { overflow: auto; max-height: 80vh; padding: 4px 0; }
.autojit .inside { margin-left: 16px; border-left: 2px solid var(--line); padding-left: 8px; }
.autojit .bar { border: 1px dashed var(--dim); border-radius: 4px; background: var(--why); padding: 2px 8px;
  margin: 6px 0; }
.autojit input { margin: 4px 0; width: 20em; color: inherit; background: var(--back); border: 1px solid var(--line); }
.autojit .listing { font: 12px/1.45 ui-monospace, monospace; overflow: auto; max-height: 80vh; color: inherit;
  background: none; margin: 4px 0; }
.autojit .comment { color: var(--dim); }
.autojit .string { color: var(--string); }
.autojit .name { color: var(--name); }
.autojit .type, .autojit .literal { color: var(--type); }
.autojit .word { color: var(--word); font-weight: 600; }
.autojit .call { color: var(--call); }
.autojit svg text { font: 12px ui-monospace, monospace; fill: var(--text); text-anchor: middle; }
.autojit svg text.spec { font-size: 10px; fill: var(--dim); }
.autojit svg rect { fill: var(--back); stroke: var(--dim); }
.autojit svg .in rect { fill: hsl(var(--hue) 60% var(--light)); }
.autojit svg .host rect { fill: var(--why); stroke-dasharray: 4 3; }
.autojit svg .group rect, .autojit svg .loop rect { stroke-width: 2.5; }
.autojit svg .input rect, .autojit svg .result rect { stroke: var(--line); }
.autojit svg path { fill: none; stroke: var(--dim); stroke-opacity: .55; }
.autojit svg .box:hover path { stroke: var(--text); stroke-opacity: 1; stroke-width: 2; }
.autojit svg .box:hover rect { stroke: var(--text); }
"""


def hues_of(clusters: Iterable[_T]) -> dict[_T, int]:
    """A hue for each cluster."""
    return {cluster: _HUES[number % len(_HUES)] for number, cluster in enumerate(clusters)}


def fragment(*parts: str) -> str:
    """HTML that any page can hold."""
    return "\n".join([f"<style>{_SHEET}</style>", '<div class="autojit">', *parts, "</div>"])


def page(title: str, html: str) -> str:
    """A page of its own."""
    head = (
        f'<meta charset="utf-8"><meta name="color-scheme" content="light dark"><title>autojit: {escape(title)}</title>'
    )
    return f"<!doctype html>\n<html><head>{head}</head>\n<body>\n{html}\n</body></html>\n"
