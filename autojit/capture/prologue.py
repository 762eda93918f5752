"""The prologue of a plan: its guard, and the scalars that Python computes, as lines of one generated function."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from autojit.capture.huge import is_huge
from autojit.capture.names import TEMPORARY
from autojit.errors import SourceLine

#: Types whose `repr` is source text that gives the same object again.
_LITERALS = (int, bool, str, bytes, type(None))


@dataclass(slots=True)
class Line:
    """One line: a check (`name` is empty; `why` says what it asks, and `source` for what line) or a binding.

    A `soft` check that fails sends this call to NumPy; no other plan would do better. What is bound `quietly` is a
    number that NumPy computes: it would warn there, in a line that is not the user's.
    """

    name: str
    text: str
    why: str = ""
    soft: bool = False
    source: SourceLine | None = None
    quietly: bool = False


#: In a binding: a live-in, a global, another object that is there, a name that is bound; no attribute and no text that
#: looks like one.
_PARTS = re.compile(
    r"(?<![\w.])(?:L_(\w+)|K\d+\['(\w+)'\]|(K\d+)|([so]\d+))(?!\w)|'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\""
)
#: A name that is bound.
_BOUND = re.compile(r"(?<![\w.])[a-z]\d+(?!\w)")
#: How a loop asks whether it runs at all.
_HAS_ITEMS = re.compile(r"bool\((range\([^()]*?)(?:, 1)?\)\[0:\]\)")
#: So deep are expressions shown, and so long; what is longer on the way is not looked into.
_DEPTH, _LENGTH, _LONG = 3, 60, 120


def _is_array(name: str) -> str:
    """How the check begins that something is an array."""
    return f"type({name}) is ndarray"


@dataclass(slots=True)
class Prologue:
    """Checks and bindings in the order in which the capture met them.

    Attributes:
        parameters: The names of the generated function's parameters.
        constants: Objects that the text refers to by name.
        source: The user's line that is captured; none for the live-ins.
    """

    parameters: tuple[str, ...]
    lines: list[Line] = field(default_factory=list)
    constants: dict[str, Any] = field(default_factory=dict)
    source: SourceLine | None = None
    _bound: dict[str, str] = field(default_factory=dict)
    _checked: set[str] = field(default_factory=set)
    _ids: dict[int, str] = field(default_factory=dict)
    _next: int = 0
    _texts: dict[str, str] = field(default_factory=dict)

    def constant(self, value: Any) -> str:
        """A name for an object; equal identity gives the equal name."""
        name = self._ids.get(id(value))
        if name is None:
            name = f"K{len(self.constants)}"
            self.constants[name] = value
            self._ids[id(value)] = name
        return name

    def literal(self, value: Any) -> str:
        """Source text for a constant."""
        if is_huge(value):  # Python may not write so many digits
            return self.constant(value)
        if type(value) in _LITERALS:
            return f"({value!r})" if type(value) is int and value < 0 else repr(value)
        if type(value) is float and np.isfinite(value):
            return f"({value!r})" if value < 0 or str(value).startswith("-") else repr(value)
        return self.constant(value)

    def equal(self, name: str, value: Any) -> str:
        """A condition for a number to be this one: `==` knows no sign of zero, and no NaN."""
        text = f"{name} == {self.literal(value)}" if value == value else f"{name} != {name}"
        if isinstance(value, complex | np.complexfloating):
            is_plain = value == value and value.real and value.imag
            return text if is_plain else f"repr(complex({name})) == {repr(complex(value))!r}"
        if isinstance(value, float | np.floating) and (value == 0 or value != value):
            sign = math.copysign(1.0, value)
            return f"{text} and {self.constant(math.copysign)}(1.0, {name}) == {sign}"
        return text

    def equal_items(self, path: str, items: tuple[Any, ...] | set[Any] | frozenset[Any]) -> str:
        """A condition for the keys of a dict or the items of a set to be these: `True`, 1 and 1.0 are equal."""
        if isinstance(items, tuple):
            known = f"({''.join(f'{self.literal(item)}, ' for item in items)})"
            # Types first: a key of the program's own may do anything when it is compared.
            return f"(*map(type, {path}),) == {self._types(tuple(map(type, items)))} and tuple({path}) == {known}"
        same = f"{path} == {self.constant(items)}"
        kinds = f"{{*map(type, {path})}} == {self._types(frozenset(map(type, items)))}"  # in whatever order
        is_text = all(type(item) is str for item in items)
        known = sorted(map(repr, items))
        return f"{kinds} and {same}" if is_text else f"{kinds} and {same} and sorted(map(repr, {path})) == {known!r}"

    def _types(self, types: tuple[type, ...] | frozenset[type]) -> str:
        """A name for types, the same one for equal ones: what is asked twice is checked once."""
        for name, known in self.constants.items():
            if type(known) is type(types) and known == types:
                return name
        return self.constant(types)

    def let(self, prefix: str, text: str, quietly: bool = False) -> str:
        """Bind an expression to a fresh name; the same text is evaluated once, `quietly` if NumPy is not to warn."""
        name = self._bound.get(text)
        if name is None:
            name = f"{prefix}{self._next}"
            self._next += 1
            self._bound[text] = name
            self._texts[name] = text
            self.lines.append(Line(name, text, quietly=quietly))
        return name

    def check(self, text: str, why: str, soft: bool = False) -> None:
        """Require a condition; when it fails the plan does not apply."""
        if text not in self._checked:
            self._checked.add(text)
            self.lines.append(Line("", text, why, soft, self.source))

    def words(self, path: str) -> str:
        """An expression over bound names in the user's words: "self.u" for "o0.u"."""
        return self._words(path, _DEPTH)

    def in_words(self, name: str) -> str:
        """What a bound name stands for in the user's words, such as "`n`"; "a scalar" where that is long."""
        text = self._words(self._texts.get(name, ""), _DEPTH)
        if TEMPORARY in text:
            return "a loop's range"
        return f"`{text}`" if text and "..." not in text and len(text) <= _LENGTH else "a scalar"

    def _words(self, text: str, depth: int) -> str:
        def replaced(found: re.Match[str]) -> str:
            local, named, constant, bound = found.groups()
            if constant:
                return getattr(self.constants.get(constant), "__name__", "...")
            if bound:
                return self._words(self._texts.get(bound, ""), depth - 1) if depth else "..."
            return local or named or found[0]

        return _HAS_ITEMS.sub(r"len(\1)) > 0", _PARTS.sub(replaced, text)) if len(text) <= _LONG else "..."

    def _arrays_first(self) -> list[Line]:
        """The lines; those first that ask for arrays among the parameters: most plans that do not apply fail there."""
        parameters = [line for line in self.lines if line.text.startswith("L_") and line.text.isidentifier()]
        checks = [line.text for line in self.lines if not line.name]
        arrays = {line.name for line in parameters if any(text.startswith(_is_array(line.name)) for text in checks)}

        def is_late(line: Line) -> bool:
            used = {line.name} if line.name else set(_BOUND.findall(line.text))
            return line.soft or not used or not used <= arrays

        return sorted(self.lines, key=is_late)

    def render(self, indent: str = "    ", are_native: bool = False) -> list[str]:
        """The lines as source text. A failed check returns `None`, a failed soft one `NATIVE`.

        Args:
            indent: What each line begins with.
            are_native: Whether the calls are NumPy's in any case: what follows the last check that is not soft could
                only raise then, as the statements would.
        """
        out, lines = [], self._arrays_first()
        if are_native:
            hard = [number for number, line in enumerate(lines, 1) if not line.name and not line.soft]
            lines = lines[: max(hard, default=0)]
        for line in lines:
            if line.name:
                text = f"quiet(lambda: {line.text})" if line.quietly else line.text
                out.append(f"{indent}{line.name} = {text}")
            else:
                out.append(f"{indent}if not ({line.text}): return {'NATIVE' if line.soft else 'None'}  # {line.why}")
        return out
