"""Attributes of objects from outside that a region assigns, one statement after the other.

A plan sets them at its very end, when nothing can fail any more. Until then the capture remembers what they mean, so
that later statements read what earlier ones have assigned. For loops and branches see `capture.carried_attributes`.
"""

from __future__ import annotations

import abc
import ast
import functools
import types
from dataclasses import dataclass, field
from typing import Any

from autojit.capture.protocols import overrides
from autojit.capture.records import MISSING, find_in_class
from autojit.capture.results import RecipeMaker
from autojit.capture.values import Frame, Items, Known, Opaque
from autojit.capture.words import describe
from autojit.errors import CannotCapture
from autojit.ir.graph import Operand
from autojit.ir.syntax import walk

#: What puts attributes into an object, and does nothing else.
_SETTERS = (object.__setattr__, types.SimpleNamespace.__setattr__)
#: What stands for an attribute's name in `owners_met` where a dict is noted.
_DICT = ""


@dataclass(frozen=True, slots=True)
class Assigned:
    """An attribute that has been assigned.

    Attributes:
        owner: The object.
        name: The attribute's.
        value: What it means now.
    """

    owner: Known
    name: str
    value: Any


@dataclass(frozen=True, slots=True)
class Place:
    """Where an attribute lives while a loop, or a branch that data decides, is interpreted: a local name.

    Attributes:
        owner: The object.
        frame: The function that has the loop or branch.
        name: The name.
        depths: In how many rolled loops statements may stand that bind it: as many as the loop or branch, and those of
            a loop's body in one more.
        is_read: Whether a loop's iterations read it before they assign it.
    """

    owner: Known
    frame: Frame
    name: str
    depths: tuple[int, ...]
    is_read: bool


@dataclass(slots=True)
class Scout:
    """What the first, provisional interpretation of a loop's body has met.

    Attributes:
        depth: In how many rolled loops the body is.
        read: The attributes that were read before they were assigned.
        assigned: Those that were assigned, with what they mean then.
    """

    depth: int
    read: set[tuple[int, str]] = field(default_factory=set)
    assigned: dict[tuple[int, str], Assigned] = field(default_factory=dict)

    def report(self) -> Carries:
        """All that it has met, for the loop to begin again."""
        return Carries(*((one.owner, one.name, key in self.read) for key, one in self.assigned.items()))


class Carries(Exception):
    """Asks the loop or branch around to begin again, with names for attributes that it assigns; some are read first."""

    def __init__(self, *needs: tuple[Known, str, bool]) -> None:
        self.needs = needs

    @property
    def refusal(self) -> CannotCapture:
        """What is told where that does not help."""
        name = self.needs[0][1]
        return CannotCapture("data-branch", f"the attribute `.{name}` is assigned in a branch that data decides")


def find_assigned(self: Any, owner: Known, name: str) -> Any:
    """What the region has assigned to `owner.name`, or `MISSING`. That it is read is noted.

    Raises:
        Carries: The loop or branch has to know that it reads it first.
        CannotCapture: Nobody knows what it means.
    """
    _note_owners(self, owner, name)
    place = self.attribute_places.get((id(owner.value), name))
    if place is not None:
        value = place.frame.env[place.name]
        if isinstance(value, Opaque):
            raise value.error() if place.is_read else Carries((owner, name, True))
        return value
    key = id(owner.value), name
    for scout in self.scouts[::-1]:
        if key in scout.assigned:
            return scout.assigned[key].value
        scout.read.add(key)
    found = self.assigned.get(key)
    return MISSING if found is None else found.value


def _note_owners(self: Any, owner: Known, name: str) -> None:
    """Note, for `tell_apart`, an object that is asked about and those whose attribute of that name was assigned.

    Raises:
        CannotCapture: Two of them have their attributes in one dict.
    """
    given = [one.owner for one in self.assigned.values() if one.name == name]
    given += [place.owner for (_, assigned), place in self.attribute_places.items() if assigned == name]
    others = [each for each in given if each.path != owner.path]
    own = _dict_of(owner)
    if own is not None and any(each.value is not owner.value and _dict_of(each) is own for each in others):
        raise CannotCapture("effect", "two objects whose attributes are in one dict are assigned to")
    self.owners_met.update(((name, each.path), each) for each in (*others, owner) if others)


def note_dict(self: Any, known: Known) -> None:
    """Note, for `tell_apart`, a dict from outside whose items are read: it may hold an object's attributes."""
    if isinstance(known.value, dict) and known.path is not None:
        self.owners_met[_DICT, known.path] = known


def tell_apart(self: Any) -> None:
    """Make sure that what was taken for one object, or for two, when attributes were assigned, is so at every run.

    Raises:
        CannotCapture: An object's attributes were assigned, and read from its dict.
    """
    check, why = self.prologue.check, "objects are the same ones, or different ones"
    for name in dict.fromkeys(name for name, _ in self.owners_met if name != _DICT):
        owners: dict[int, Known] = {}
        for (assigned, path), owner in self.owners_met.items():
            if assigned == name and (first := owners.setdefault(id(owner.value), owner).path) != path:
                check(f"{path} is {first}", why)
        _check_differ(self, [str(owner.path) for owner in owners.values()], why)
        dicts = [f"{owner.path}.__dict__" for owner in owners.values() if _dict_of(owner) is not None]
        _check_differ(self, dicts, "objects have attributes of their own")
    opened = [known for (name, _), known in self.owners_met.items() if name == _DICT]
    for owner in {one.owner.path: one.owner for one in self.assigned.values()}.values() if opened else ():
        own = _dict_of(owner)
        if any(known.value is own for known in opened):
            raise CannotCapture("effect", "a dict that holds the attributes of an object, which are assigned")
        for known in opened if own is not None else ():
            check(f"{known.path} is not {owner.path}.__dict__", "a dict holds no attributes that are assigned")


def _check_differ(self: Any, paths: list[str], why: str) -> None:
    """Check that several objects are different ones."""
    if len(paths) == 2:
        self.prologue.check(" is not ".join(paths), why)
    elif len(paths) > 2:
        self.prologue.check(f"len({{{', '.join(f'id({path})' for path in paths)}}}) == {len(paths)}", why)


def _dict_of(owner: Known) -> dict[str, Any] | None:
    """The dict that holds an object's attributes, where it is Python that says which one that is."""
    kind = type(owner.value)
    getter = find_in_class(kind, "__dict__")
    if not isinstance(getter, types.GetSetDescriptorType | types.MemberDescriptorType) or not kind.__dictoffset__:
        return None
    return None if overrides(kind, "__getattribute__") else getter.__get__(owner.value)


def assign_attribute(self: Any, owner: Any, name: str, value: Any) -> None:
    """`owner.name = value`, where that runs no code of the user's.

    Raises:
        CannotCapture: It may run some, or a plan cannot do it.
    """
    if isinstance(owner, Items):
        _assign_field(self, owner, name, value)
        return
    _check_settable(self, owner, name)
    if self.looks_up:
        raise CannotCapture("effect", "an attribute is assigned between the look-up of a function and its call")
    bind_attribute(self, owner, name, value, self.builder.predicate)


def bind_attribute(self: Any, owner: Known, name: str, value: Any, condition: Operand | None) -> None:
    """From now on an attribute means `value`, if a condition holds under which the present statement is executed.

    Raises:
        Carries: A loop or a branch that data decides is to begin again, with a name for the attribute.
    """
    _note_owners(self, owner, name)
    place = self.attribute_places.get((id(owner.value), name))
    if place is not None and _may_bind(self, place, condition):
        place.frame.env[place.name] = value
    elif condition is None and self.scouts and self.scouts[-1].depth == len(self.turns):
        self.scouts[-1].assigned[id(owner.value), name] = Assigned(owner, name, value)
    elif place is not None or self.in_loop or condition is not None:
        raise Carries((owner, name, False))
    else:
        _assign_at_end(self, owner, name, value)


def _may_bind(self: Any, place: Place, condition: Operand | None) -> bool:
    """Whether the name of an attribute may be bound: under the condition of what its function executes now."""
    if len(self.turns) not in place.depths:
        return False
    frame = self.frame
    if frame is place.frame:
        return True
    while frame is not place.frame and frame.level is condition:
        frame = frame.caller or frame.parent
    return frame is place.frame and frame.level is condition


def _assign_at_end(self: Any, owner: Known, name: str, value: Any) -> None:
    if isinstance(value, Opaque):
        raise value.error()
    RecipeMaker(self, [value]).make(value)  # what a plan cannot make is refused at this statement
    self.assigned[id(owner.value), name] = Assigned(owner, name, value)


def is_own_attribute(self: Any, owner: Any, name: str) -> bool:
    """Whether an attribute is an object's own, so that setting it runs no code and hides nothing of the class."""
    if not isinstance(owner, Known) or isinstance(owner.value, type) or overrides(type(owner.value), "__setattr__"):
        return False
    in_class = find_in_class(type(owner.value), name)
    is_slot = isinstance(in_class, types.MemberDescriptorType)
    if not is_slot and (name not in getattr(owner.value, "__dict__", {}) or hasattr(type(in_class), "__set__")):
        return False
    if owner.path is not None:
        if not is_slot:
            self.prologue.check(f"{name!r} in {owner.path}.__dict__", f"`.{name}` is an attribute of its own")
        _check_look_up(self, type(owner.value), "__setattr__")
        _check_look_up(self, type(owner.value), name)
    return True


def _assign_field(self: Any, record: Items, name: str, value: Any) -> None:
    """The same for a record that the region has made."""
    in_class = find_in_class(record.kind, name)
    is_field = isinstance(record.items, dict) and record.kind is not dict and name in record.items
    if not is_field or overrides(record.kind, "__setattr__") or hasattr(type(in_class), "__set__"):
        raise CannotCapture("statement", f"the assignment to an attribute of {describe(record)}")
    _check_look_up(self, record.kind, "__setattr__")
    self.change()
    record.items[name] = value  # type: ignore[index] -- a dict, as was asked


def _check_settable(self: Any, owner: Any, name: str) -> None:
    """Make sure that setting an attribute puts it into the object, now and at every run."""
    if not isinstance(owner, Known) or not owner.loose or owner.path is None:
        raise CannotCapture("statement", "the assignment to an attribute")
    kind = type(owner.value)
    in_class, setter = find_in_class(kind, name), find_in_class(kind, "__setattr__")
    if name.startswith("__") or type(kind) not in (type, abc.ABCMeta) or all(setter is not one for one in _SETTERS):
        raise CannotCapture("effect", f"`{kind.__name__}` sets attributes in its own way")
    if isinstance(in_class, types.MemberDescriptorType):
        is_slot = "__slots__" in vars(in_class.__objclass__) and in_class.__name__ == name
        if not is_slot or not issubclass(kind, in_class.__objclass__):
            raise CannotCapture("effect", f"the attribute `.{name}` of `{kind.__name__}` is assigned")
    elif not kind.__dictoffset__ or hasattr(type(in_class), "__set__") or hasattr(type(in_class), "__delete__"):
        raise CannotCapture("effect", f"`{kind.__name__}` decides what assigning `.{name}` does")
    _check_look_up(self, kind, "__setattr__")
    _check_look_up(self, kind, name)


def _check_look_up(self: Any, kind: type, name: str) -> None:
    """The class and its bases still have the same under a name. It is not read: that may run the user's code."""
    check, constant = self.prologue.check, self.prologue.constant
    why = f"`{kind.__name__}` sets attributes as objects do"
    check(f"{constant(kind)}.__mro__ is {constant(kind.__mro__)}", why)
    for base in kind.__mro__[:-1]:
        if name in vars(base):
            check(f"{constant(base)}.__dict__.get({name!r}) is {constant(vars(base)[name])}", why)
            return
        check(f"{name!r} not in {constant(base)}.__dict__", why)


def is_assigned_here(self: Any, name: str) -> bool:
    """Whether the functions that run assign an attribute of that name: it will be another one at the next call."""
    frame = self.frame
    while frame is not None:
        if frame.node is not None and name in _assigned_in(frame.node):
            return True
        frame = frame.caller or frame.parent
    return False


@functools.lru_cache(maxsize=256)
def _assigned_in(function: ast.AST) -> frozenset[str]:
    """The names of the attributes that a function assigns, of whatever object."""
    targets = (node for node in walk(function) if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store))
    return frozenset(node.attr for node in targets)
