"""Comprehensions and generator expressions: their elements are made one after the other, in a scope of their own."""

from __future__ import annotations

import ast
import types
from collections.abc import Callable, Iterator
from typing import Any

from autojit.capture.calls import Calls
from autojit.capture.names import targets_of
from autojit.capture.values import Closure, Frame, Items, Known, Stream
from autojit.errors import CannotCapture


class Comprehensions(Calls):
    """One method per kind of comprehension."""

    def _comprehension(self, node: Any, element: Callable[[], Any]) -> Stream:
        """The elements of a comprehension, each made when it is asked for."""
        outer = self.frame
        frame = Frame(
            outer.name,
            outer.file,
            {},
            outer.namespace,
            outer.namespace_path,
            {},
            frozenset(targets_of(node)),
            outer,
            outer.trusted,
        )

        def inside(work: Callable[..., Any], *args: Any) -> Any:
            before, self.frame = self.frame, frame
            try:
                return work(*args)
            finally:
                self.frame = before

        # The first iterable belongs to the enclosing scope, and is evaluated at once.
        first = self.evaluate(node.generators[0].iter)
        items = self._elements(node.generators, self.each(first), element, inside)
        return self.stream(types.GeneratorType, items, self.count(first), first, Closure(node, frame, {}))

    def _elements_of(self, stream: Stream) -> list[Any]:
        """All elements of a comprehension."""
        held = len(self.held)
        self.held.append(stream)
        elements = list(stream.items)
        del self.held[held:]
        return elements

    def _elements(self, generators: Any, items: Iterator[Any], element: Any, inside: Any) -> Iterator[Any]:
        generator, *others = generators
        if generator.is_async:
            raise CannotCapture("unsupported-syntax", "an asynchronous comprehension")
        for item in items:
            inside(self.bind, generator.target, item)
            if not all(self.truth(inside(self.evaluate, test)) for test in generator.ifs):
                continue
            if others:
                further = self.each(inside(self.evaluate, others[0].iter))
                yield from self._elements(others, further, element, inside)
            else:
                yield inside(element)

    def _eval_ListComp(self, node: ast.ListComp) -> Any:
        return Items(list, self._elements_of(self._comprehension(node, lambda: self.evaluate(node.elt))))

    def _eval_GeneratorExp(self, node: ast.GeneratorExp) -> Any:
        return self._comprehension(node, lambda: self.evaluate(node.elt))

    def _eval_DictComp(self, node: ast.DictComp) -> Any:
        pairs = self._comprehension(node, lambda: (self.key(self.evaluate(node.key)), self.evaluate(node.value)))
        return Items(dict, dict(self._elements_of(pairs)))

    def _eval_SetComp(self, node: ast.SetComp) -> Any:
        elements = self._elements_of(self._comprehension(node, lambda: self.key(self.evaluate(node.elt))))
        return Known(self.ask(set, elements))

    # ---- what other rooms of the interpreter provide

    def evaluate(self, node: ast.expr) -> Any:
        raise NotImplementedError

    def bind(self, target: ast.expr, value: Any) -> None:
        raise NotImplementedError
