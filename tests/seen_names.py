"""Functions that see the names of a random program: made before a loop, in it or behind it, and asked anywhere.

Functions, generator expressions and iterators made of them read a name when they are asked, not when they are made; some
write it. What a loop leaves in a name has to be there for them, whether or not the program reads it itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

#: What a program that has them needs.
IMPORTS = "from functools import partial\nfrom types import SimpleNamespace\n"
#: So many may be made in one program.
_MOST = 4
#: Names of a number and of an array that functions read, and otherwise only what binds them anew.
_HIDDEN = ("h", "g")


class SeenNames:
    """Writes functions that see names, and what asks them; to be mixed with what writes the rest of a program.

    Attributes:
        seeing: Whether the program has such functions at all.
        simple: Whether it has only such as can be compiled: a statement that cannot splits all that is around it.
        asks: Expressions that ask one, of those whose values are numbers, and of those whose values are arrays.
    """

    random: Any

    def __init__(self) -> None:
        self.seeing = self.simple = False
        self.asks: dict[str, list[str]] = {"number": [], "array": []}
        self._made = 0

    # ---- what the rest of a program tells

    def number_name(self) -> str:
        """A name that stands for a number."""
        raise NotImplementedError

    def array_name(self) -> str:
        """A name that stands for an array, all of one length."""
        raise NotImplementedError

    def sure_name(self, kind: str) -> str:
        """A name of a number or an array that every way through the program binds somewhere."""
        raise NotImplementedError

    # ---- statements

    def _one(self, *choices: Any) -> Any:
        return choices[self.random.randrange(len(choices))]

    def asked(self) -> str | None:
        """An expression that asks one of the functions, if there are any."""
        both = [*self.asks["number"], *self.asks["array"]]
        return self._one(*both) if both else None

    def known(self) -> dict[str, list[str]]:
        """A copy of what can be asked now, for `asks` when a branch has ended."""
        return {kind: list(texts) for kind, texts in self.asks.items()}

    def hidden(self) -> list[str]:
        """The statements that bind, at first, the names that only functions read."""
        return [f"h = {self._one(0, 1, self.number_name())}", f"g = {self._one('{0}', '{0} * 2', '{0}[::-1]').format(self.array_name())}"]

    def hide(self) -> str:
        """A statement that binds such a name anew, or writes the array."""
        number, array = self.number_name(), self.array_name()
        return self._one(
            "h = h + 1", "h += 1", f"h = {number}", f"h = {number} + 1", f"h = {array}[0]", f"g = {array} * 0.5", "g = g + 1", "g += 1",
            f"g = {array}", f"g[...] = {array}", f"g = g + {number}", "g[1:] = 0",
        )  # fmt: skip

    def see(self) -> list[str]:
        """The statements that make one function, or what holds it."""
        if self._made >= _MOST:
            return ["pass"]
        self._made += 1
        name = f"f{self._made}"
        if self.random.random() < 0.25:
            return self._stream(name)
        kind = self._one("number", "number", "array")
        makers: list[Callable[[str, str], tuple[list[str], str]]] = [
            self._plain, self._plain, self._definition, self._default, self._maker, self._held, self._held, self._storer,
        ]  # fmt: skip
        if not self.simple:
            makers += [self._writer, self._writer, self._partial, self._own_cell, self._held_elsewhere]
        lines, text = self._one(*makers)(name, kind)
        self.asks[kind].append(text)
        return lines

    def _body(self, kind: str, *more: str) -> str:
        """An expression over names; `more` are names of a number or an array that it may use."""
        number, array = self._one(*more, self.number_name(), self.number_name()), self.array_name()
        if self._one(True, False):
            number, array = self._one((_HIDDEN[0], array), (_HIDDEN[0], array), (number, _HIDDEN[1]), _HIDDEN)
        if kind == "array":
            other = self._one(*more, self.array_name())
            return self._one(f"{array} + {other}", f"{array} * 0.5", array, f"{array}.copy()", f"{array} - {number}", f"{array}[::-1]")
        element = f"{array}[{self._one(0, 1, -1)}]"
        return self._one(
            number, f"{number} + 1", f"{number} + 1", f"{number} + {self.number_name()}", element, f"{array}.sum() + {number}",
            f"({number} if {element} > 1 else {self.number_name()})", f"max({number}, {self.number_name()})",
        )  # fmt: skip

    def _plain(self, name: str, kind: str) -> tuple[list[str], str]:
        return [f"{name} = lambda: {self._body(kind)}"], f"{name}()"

    def _definition(self, name: str, kind: str) -> tuple[list[str], str]:
        first = self._one([], [], [f"    v = {self._body(kind)}"])
        return [f"def {name}():", *first, f"    return {self._body(kind, *['v' for _ in first])}"], f"{name}()"

    def _default(self, name: str, kind: str) -> tuple[list[str], str]:
        default = self._one(self.number_name(), self._body(kind), "lambda: " + self._body(kind))
        if default.startswith("lambda"):
            return [f"def {name}(v={default}):", f"    return v() + {self.number_name()}"], f"{name}()"
        if self.simple or self._one(True, False):
            return [f"{name} = lambda v={default}: {self._body(kind)} + v"], f"{name}()"
        return [f"def {name}(*, v={default}):", f"    return v + {self._body(kind)}"], f"{name}()"

    def _writer(self, name: str, kind: str) -> tuple[list[str], str]:
        """A function that gives a name another value."""
        target = self.sure_name(kind)
        value = self._body(kind)
        if kind == "number":
            does = self._one(f"{target} = {target} + 1", f"{target} += 1", f"{target} = {value}", f"{target} = 1 - {target}")
        else:
            does = self._one(
                f"{target} = {target} + 1", f"{target} += 1", f"{target} = {value}", f"{target}[...] = {value}", f"{target} *= 0.5",
                f"{target} = {self.array_name()}",
            )  # fmt: skip
        back = self._one(target, self._body(kind))
        return [f"def {name}():", f"    nonlocal {target}", f"    {does}", f"    return {back}"], f"{name}()"

    def _storer(self, name: str, kind: str) -> tuple[list[str], str]:
        """A function that writes into an array."""
        array = self.array_name()
        does = self._one(f"{array}[0] = {self._body('number')}", f"{array}[1:] += 1", f"{array}[...] = {self._body('array')}")
        return [f"def {name}():", f"    {does}", f"    return {self._body(kind)}"], f"{name}()"

    def _partial(self, name: str, kind: str) -> tuple[list[str], str]:
        return [f"{name} = partial(lambda v: {self._body(kind)} + v, {self.number_name()})"], f"{name}()"

    def _maker(self, name: str, kind: str) -> tuple[list[str], str]:
        """A function that makes one, which is asked at once or kept."""
        lines = [f"def m{name}():", f"    return lambda: {self._body(kind)}"]
        return self._one((lines, f"m{name}()()"), ([*lines, f"{name} = m{name}()"], f"{name}()"))

    def _own_cell(self, name: str, kind: str) -> tuple[list[str], str]:
        """A function that keeps a count in a cell of its own maker."""
        lines = [
            f"def m{name}(v):", "    def inner():", "        nonlocal v", "        v = v + 1",
            f"        return {self._body(kind)} + v", "    return inner", f"{name} = m{name}({self.number_name()})",
        ]  # fmt: skip
        return lines, f"{name}()"

    def _held(self, name: str, kind: str) -> tuple[list[str], str]:
        """A function in something else."""
        one, other = f"lambda: {self._body(kind)}", f"lambda: {self._body(kind)}"
        return self._one(
            ([f"{name} = [{one}, {other}]"], f"{name}[{self._one(0, 1, -1)}]()"),
            ([f"{name} = ({one}, {other})"], f"{name}[{self._one(0, 1, -1)}]()"),
            ([f"{name} = {{'k': {one}, 1: {other}}}"], f"{name}[{self._one(repr('k'), 1)}]()"),
            ([f"{name} = []", f"{name}.append({one})"], f"{name}[-1]()"),
            ([f"{name} = [lambda v=v: {self._body(kind)} + v for v in range(3)]"], f"{name}[{self._one(0, 1, -1)}]()"),
        )

    def _held_elsewhere(self, name: str, kind: str) -> tuple[list[str], str]:
        """A function that an attribute holds."""
        made = self._one("SimpleNamespace()", "lambda: 0")
        return [f"{name} = {made}", f"{name}.f = lambda: {self._body(kind)}"], f"{name}.f()"

    def _iterated(self) -> str:
        """What reads names when it is asked for its next item, which is a number."""
        body = self._body("number", "v")
        if not self.simple and self._one(True, False, False):
            return self._one(f"filter(lambda v: v < {self.number_name()}, [0, 3, 1, 2])", f"iter([v + {body} for v in range(3)])")
        return self._one(
            f"({body} for v in range(4))", f"({self.number_name()} + v for v in range(3))", f"map(lambda v: {body}, (1, 2, 0))",
            f"(v for v in range(5) if v < {self.number_name()})", f"map(max, range(3), ({body} for v in range(4)))",
            f"(v + u[0] for v, u in zip(range(3), (({self.number_name()},) for _ in range(3))))",
        )  # fmt: skip

    def _stream(self, name: str) -> list[str]:
        self.asks["number"].append(self._one(f"next({name}, 0)", f"next({name}, 0)", f"sum({name})"))
        if not self.simple and self._one(True, False, False):
            body = [f"    for v in range({self._one(2, 5)}):", f"        yield {self._body('number', 'v')}"]
            return [f"def m{name}():", *body, f"{name} = m{name}()"]
        return [f"{name} = {self._iterated()}"]

    def over(self) -> tuple[str, list[str]]:
        """The head of a loop over such functions or over an iterator made of one, and the first statement in it."""
        name = f"z{self._made}{self._one('a', 'b')}"
        target = self.sure_name("number")
        functions = ", ".join(f"lambda: {self._body('number')}" for _ in range(self._one(2, 3)))
        return self._one(
            (f"for {name} in [{functions}]:", [f"{target} = {name}()"]),
            (f"for {name} in {self._iterated()}:", [f"{target} = {name}"]),
            (f"for {name}, v in zip({self._iterated()}, {self._iterated()}):", [f"{target} = {name} - v"]),
            (f"for v, {name} in enumerate({self._iterated()}):", [f"{target} = {target} + {name}"]),
        )

    def ask(self) -> list[str]:
        """One statement that asks a function; `pass` where there are none."""
        kind = self._one("number", "number", "array")
        if not self.asks[kind]:
            return ["pass"]
        text, number, array = self._one(*self.asks[kind]), self.sure_name("number"), self.array_name()
        if kind == "number":
            return [self._one(
                f"{number} = {text}", f"{number} = {text}", f"{number} = {number} + {text}", f"{array}[0] = {text}",
                f"{array} = {array} + {text}", text, f"{array}[{self._one(0, -1)}] += {text}",
            )]  # fmt: skip
        return [self._one(
            f"{array} = {text}", f"{array} = {array} + {text}", f"{array}[...] = {text}", f"{array} += {text}", f"{number} = {text}[1]",
            text,
        )]  # fmt: skip

    def change(self) -> list[str]:
        """One statement that writes arrays which others may see, or takes a name away."""
        number, array, other = self.sure_name("number"), self.array_name(), self.array_name()
        return self._one(
            [f"{array}[...] = {other}"], [f"{array} += 1"], [f"{array} = {array} + 1"], [f"{array}[...] = {array} + {number}"],
            [f"{array} += {other}"], [f"{array} = {other}[::-1]"], [f"{array} = {other}[:]"], [f"{array} = {other}"],
            [f"np.add({array}, 1, out={array})"], [f"{number} = {number} + 1"], [f"{number} += 1"],
            [f"del {number}", f"{number} = {self.number_name()}"] if self.random.random() < 0.1 else [f"{number} = 1"],
            [f"v = {array}", f"del {array}", f"{array} = v * 0.5"],
            [f"del {number}"] if self.random.random() < 0.1 else [f"{number} = 2"],
        )  # fmt: skip
