"""Attributes that loops and branches assign: for as long as one is interpreted they are local names of its function.

What loops carry and what branches choose is found for names (`capture.carry`, `capture.branches`). An attribute that is
assigned there for the first time has everything begin again, with a name of ours for it that no name of the program's
can be; afterwards the attribute means what the name does.
"""

from __future__ import annotations

import ast
import re
import types
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from autojit.capture.attributes import Carries, Place, Scout, bind_attribute, is_own_attribute
from autojit.capture.branches import Exit
from autojit.capture.loop_parts import Course, Leaving, Names
from autojit.capture.loops import Loops
from autojit.capture.records import MISSING, find_in_class
from autojit.capture.statements import Signal
from autojit.capture.values import Known, Opaque
from autojit.errors import CannotCapture
from autojit.ir.graph import Operand

Key = tuple[int, str]
_OBJECT = re.compile(r"o\d+")


class _Attempt:
    """One interpretation with attributes that are names: their places, what they meant before it and mean after it."""

    def __init__(self) -> None:
        self.places: dict[Key, Place] = {}
        self.begun: dict[Key, Any] = {}
        self.ends: dict[Key, Any] = {}

    def values(self) -> dict[Key, Any]:
        """What the names mean."""
        return {key: place.frame.env.get(place.name) for key, place in self.places.items()}

    def end(self) -> None:
        """It has come to its end."""
        self.ends = self.values()


class CarriedAttributes(Loops):
    """Rolls loops, and takes both ways of branches, that assign attributes."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # What a loop assigns, and whether it reads it first, by their `id`: they live as long as the capture.
        self._carried_by: dict[int, dict[Key, bool]] = {}

    def _rolled(self, node: Any, course: Course) -> Signal:
        return self._with_names(node, lambda: super(CarriedAttributes, self)._rolled(node, course))

    def branch(self, test: Operand, body: Callable[[], Signal], orelse: Callable[[], Signal]) -> Signal:
        return self._with_names(None, lambda: super(CarriedAttributes, self).branch(test, body, orelse))

    def _names_of(self, node: Any) -> Names:
        names = super()._names_of(node)
        depth = len(self.turns)
        places = [one for one in self.attribute_places.values() if one.frame is self.frame]
        mine = [one for one in places if one.depths == (depth, depth + 1)]
        return replace(
            names,
            bound=[*names.bound, *(one.name for one in mine)],
            exposed=names.exposed | {one.name for one in mine if one.is_read},
            live=names.live | {one.name for one in mine},  # the object outlives the loop
        )

    def _meet(self, *args: Any) -> Leaving:
        """An iteration ends. A scout has seen all of it when the test of a `while` was evaluated, too."""
        leaving = super()._meet(*args)
        if self.scouts and self.scouts[-1].depth == len(self.turns) and self.scouts[-1].assigned:
            raise self.scouts[-1].report()
        return leaving

    def _with_names(self, loop: ast.AST | None, work: Callable[[], Signal]) -> Signal:
        """Interpret a loop, or a branch, whose attributes are names."""
        state, exits, condition = self.save(), len(self.exits), self.builder.predicate
        known = self._carried_by.setdefault(id(loop), {}) if loop is not None else dict[Key, bool]()
        objects = {id(one.value): one for one in self._memo.values() if isinstance(one, Known) and one.loose}
        owners = {(number, name): objects[number] for number, name in known if number in objects}
        chains: dict[Key, list[tuple[str, Known]]] = {}
        scouts = self.scouts
        if loop is not None and not known:
            self.scouts = [*scouts, Scout(len(self.turns) + 1)]
        while True:
            try:
                with self._as_names(owners, known, loop) as attempt:
                    signal = work()
                    attempt.end()
                break
            except Carries as carries:
                needs = {(id(owner.value), name): (owner, is_read) for owner, name, is_read in carries.needs}
                # It has its name, and all is known of what is read: to begin again would end in the same way.
                if all(known.get(key, False) or (key in owners and not is_read) for key, (_, is_read) in needs.items()):
                    raise carries.refusal from None
                chains |= {key: self._chain(owner) for key, (owner, _) in needs.items() if key not in owners}
                self.restore(state)
                owners.update((key, self._again(chain)) for key, chain in chains.items())
                known.update((key, is_read or known.get(key, False)) for key, (_, is_read) in needs.items())
            finally:
                self.scouts = scouts
        self._check_ways(attempt, self.exits[exits:], is_branch=loop is None)
        for key, end in attempt.ends.items():
            if end is not attempt.begun[key]:
                bind_attribute(self, attempt.places[key].owner, key[1], end, condition)
        return signal

    @contextmanager
    def _as_names(self, owners: dict[Key, Known], known: dict[Key, bool], loop: ast.AST | None) -> Iterator[_Attempt]:
        """While this lasts, attributes are names."""
        before, attempt = dict(self.attribute_places), _Attempt()
        try:
            for key, owner in owners.items():
                attempt.places[key] = self._place(owner, key[1], loop, known[key])
            attempt.begun = attempt.values()
            yield attempt
        finally:
            self.attribute_places = before
            for key, place in attempt.places.items():
                outer = before.get(key)
                if outer is None or outer.name != place.name or outer.frame is not place.frame:
                    place.frame.env.pop(place.name, None)

    def _check_ways(self, attempt: _Attempt, ways: Sequence[Exit], is_branch: bool) -> None:
        """All ways must find the same attributes; and an object gets new ones in one order.

        Raises:
            CannotCapture: The data decides.
        """
        for way in ways:
            if any(way.env.get(attempt.places[key].name) is not end for key, end in attempt.ends.items()):
                detail = "the data decides whether an attribute is assigned before a way is left"
                raise CannotCapture("data-branch", detail)
        new = [
            key for key, value in attempt.begun.items() if isinstance(value, Opaque) and attempt.ends[key] is not value
        ]
        if is_branch and len(new) > 1:
            raise CannotCapture("data-branch", "the data decides in which order an object gets new attributes")

    def _place(self, owner: Known, name: str, loop: ast.AST | None, is_read: bool) -> Place:
        """A name for an attribute, which means what the attribute does now."""
        key, frame, depth = (id(owner.value), name), self.frame, len(self.turns)
        outer = self.attribute_places.get(key)
        is_here = outer is not None and outer.frame is frame
        text = outer.name if outer is not None and is_here else f".{name}"
        while text in frame.env and not is_here:
            text += "'"
        if loop is None or is_read or not is_here:
            frame.env[text] = self._present(owner, name, is_needed=loop is None or is_read)
        place = Place(owner, frame, text, (depth, depth + 1) if loop is not None else (depth,), is_read)
        self.attribute_places[key] = place
        return place

    def _present(self, owner: Known, name: str, is_needed: bool) -> Any:
        """What an attribute means now; an `Opaque` where the object has none, or where nothing of it is needed.

        What the class has stays the class's on ways that assign nothing: the object has none then.
        """
        try:
            found = self.attribute(owner, name)
            if self._is_the_objects(owner, name):
                return found
        except CannotCapture as error:
            if error.id != "raises":
                raise
        except Carries:
            if is_needed:
                raise
        return Opaque("long-loop", f"the attribute `.{name}` may have no value here")

    def _is_the_objects(self, owner: Known, name: str) -> bool:
        """Whether an attribute that can be read is the object's own by now."""
        key = id(owner.value), name
        if key in self.assigned or key in self.attribute_places or any(key in scout.assigned for scout in self.scouts):
            return True
        in_class = find_in_class(type(owner.value), name)
        is_alone = in_class is MISSING or isinstance(in_class, types.MemberDescriptorType)
        return is_alone or is_own_attribute(self, owner, name)

    # ---- objects that the interpretation has met, when it begins again

    def _chain(self, owner: Known) -> list[tuple[str, Known]]:
        """How an object was found: the expressions from the first one on, each with what it gave."""
        chain: list[tuple[str, Known]] = []
        found: Any = owner
        while found is not None:
            path = next((path for path, value in self._memo.items() if value is found), None)
            if path is None:
                raise CannotCapture("statement", "the assignment to an attribute")
            chain.append((path, found))
            start = _OBJECT.match(path)
            found = start and next(
                (v for v in self._memo.values() if isinstance(v, Known) and v.path == start[0]), None
            )
        return chain[::-1]

    def _again(self, chain: list[tuple[str, Known]]) -> Known:
        """Find an object in the same way."""
        found: Any = None
        for position, (path, known) in enumerate(chain):
            if position:
                path = found.path + path[len(chain[position - 1][1].path or "") :]
            found = self.wrap(known.value, path, self.prologue.words(path))
        return found
