"""Functions whose local names are read as names of a frame: by themselves, or by what they call."""

from __future__ import annotations

import ast

from autojit.ir.syntax import walk

#: Who mentions these looks at frames, and may read any local name.
FRAMES = ("currentframe", "_getframe", "f_locals")
_ALL_NAMES = ("locals", "eval", "exec", *FRAMES)
#: What looks for names in the frame of its caller: of numexpr, of pandas (in its text), of debuggers and shells.
_SHOWN = ("evaluate", "re_evaluate", "query", "eval", "breakpoint", "set_trace", "embed", "interact")


def asks_for_names(function: ast.AST) -> str:
    """By what name a function asks for its own local names as such, or for its frame; "" if it does not."""
    nodes = list(walk(function))
    harmless = {id(node.func) for node in nodes if isinstance(node, ast.Call) and node.args}
    for node in nodes:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            if node.id in _ALL_NAMES or (node.id in ("vars", "dir") and id(node) not in harmless):
                return node.id
        elif isinstance(node, ast.Attribute) and node.attr in FRAMES:
            return node.attr
    return ""


def shows_names(function: ast.AST) -> bool:
    """Whether a function calls, by the name of it, what may read any of its local names at that moment."""
    called = (node.func for node in walk(function) if isinstance(node, ast.Call))
    return any((f.id if isinstance(f, ast.Name) else getattr(f, "attr", "")) in _SHOWN for f in called)
