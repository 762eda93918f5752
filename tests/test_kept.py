"""Stand-ins of what calls were given: they hold none of the user's data, and none of the user's code runs for them."""

import collections
import enum
import gc
import io
import threading
import types
import weakref
from dataclasses import dataclass

import numpy as np
import pytest

import autojit as aj
from autojit.capture.kept import stand_in_for
from autojit.capture.options import Options
from autojit.capture.values import Unknown


class Color(enum.Enum):
    RED = 1


class Plain:
    kind = "class attribute"

    def __init__(self, size):
        self.data = np.zeros(size)
        self.size = size
        self.other = self

    @property
    def double(self):
        raise AssertionError("a property runs")

    def method(self):
        return self.data


@dataclass(slots=True)
class Slots:
    data: np.ndarray
    other: object = None


class Part(Slots):
    """A class with a dict of its own, and slots below."""


@pytest.fixture
def objects(monkeypatch):
    """A report is going to ask."""
    monkeypatch.setattr(Options, "keeps_objects", True)


def test_plain_values_stay_and_arrays_become_their_specs():
    values = (1, 2.0, "s", b"b", None, ..., slice(1, 2), range(3), np.float32(1), np.dtype("i4"), Color.RED, np.add, int)
    for value in (*values, np, np.mean, len, stand_in_for):
        assert stand_in_for(value) is value
    array = np.ones((2, 3), np.float32)
    kept = stand_in_for([array, {"a": (array, 1)}])
    spec = aj.ArraySpec((2, 3), np.float32)
    assert kept == [spec, {"a": (spec, 1)}]
    itself = []
    itself.append(itself)
    assert isinstance(stand_in_for(itself), list)


def test_of_objects_nothing_is_kept_unless_a_report_asks():
    kept = stand_in_for(Plain(3))
    assert isinstance(kept, Unknown) and "`Plain`" in kept.detail


def test_an_object_is_copied_without_its_data(objects):
    value = Plain(1000)
    kept = stand_in_for(value)
    assert type(kept) is Plain and kept is not value and kept.other is kept
    assert (kept.size, kept.data) == (1000, aj.ArraySpec((1000,)))
    gone = weakref.ref(value.data)
    del value
    gc.collect()
    assert gone() is None


def test_slots_and_methods(objects):
    value = Part(np.ones(2), [Slots(np.ones(3))])
    value.name = "more"
    kept = stand_in_for(value)
    assert type(kept) is Part and kept.name == "more" and kept.data == aj.ArraySpec((2,))
    assert kept.other[0].data == aj.ArraySpec((3,)) and kept.other[0].other is None
    bound = stand_in_for(Plain(2).method)
    assert type(bound) is types.MethodType and bound() == aj.ArraySpec((2,))
    half = Slots.__new__(Slots)
    assert not hasattr(stand_in_for(half), "data")


def test_generators_begin_anew(objects):
    rng, state = np.random.default_rng(3), np.random.RandomState(3)
    kept = stand_in_for((rng, state))
    assert [type(each) for each in kept] == [np.random.Generator, np.random.RandomState]
    assert kept[0] is not rng and rng.random() == np.random.default_rng(3).random()


def test_none_of_the_users_code_runs(objects):
    class Loud:
        def __new__(cls, *args):
            assert args
            return super().__new__(cls)

        def __init__(self, number):
            self.number = number

        def __setattr__(self, name, value):
            assert name == "number"
            object.__setattr__(self, name, value)

        def __eq__(self, other):
            raise AssertionError

        __hash__ = None

    class Looked:
        def __getattribute__(self, name):
            raise AssertionError(name)

    class Freed:
        def __del__(self):
            FREED.append(1)

    class Own:
        __dict__ = property(lambda self: 1 / 0)

    FREED = []
    value = Freed()
    for each in (Looked(), value, Own()):
        assert isinstance(stand_in_for(each), Unknown)
    assert stand_in_for(Loud(1)).number == 1
    del value, each
    gc.collect()
    assert FREED == [1]


@pytest.mark.parametrize(
    "value",
    [threading.Lock(), collections.deque([1]), io.StringIO(), ValueError("x"), iter([1]), {1}, [].append],
    ids=lambda value: type(value).__name__,
)
def test_what_is_not_plain_is_unknown(value, objects):
    assert isinstance(stand_in_for(value), Unknown)


def test_many_objects_are_not_all_copied(objects):
    kept = stand_in_for([Plain(1) for _ in range(5000)])
    kinds = collections.Counter(type(each) for each in kept)
    assert kinds[Plain] == 1000 and kinds[Unknown] == 4000


def test_what_holds_itself_and_what_is_shared(objects):
    shared = [1.0]
    both = [shared, shared]
    both.append(both)
    for _ in range(40):  # as a tree it would have 2**40 leaves
        shared = [shared, shared]
    kept = stand_in_for([both, shared, both])
    assert kept[0] is kept[2] and kept[0][0] is kept[0][1] and kept[0][2] is kept[0]


def test_long_lists_are_not_copied():
    assert isinstance(stand_in_for([0.0] * 20_000), Unknown)
    assert isinstance(stand_in_for({k: 0 for k in range(20_000)}), Unknown)
    assert stand_in_for([1] * 100) == [1] * 100


def test_keys_and_classes_with_rules_of_their_own(objects):
    class Key:
        def __hash__(self):
            assert not LOCKED
            return 1

    class Meta(type):
        def __getattribute__(cls, name):
            assert not LOCKED, name
            return super().__getattribute__(name)

    class Ruled(metaclass=Meta):
        pass

    class Text(str):
        pass

    LOCKED = []
    text = Text("held")
    text.data = np.ones(3)
    values = [{Key(): 1}, Ruled(), text]
    LOCKED.append(1)
    assert all(isinstance(stand_in_for(value), Unknown) for value in values)
    LOCKED.clear()


def test_a_dict_that_another_thread_changes(objects):
    value, end = Plain(2), threading.Event()

    def change():
        while not end.is_set():
            for k in range(100):
                value.__dict__[f"name{k}"] = k
            for k in range(100):
                del value.__dict__[f"name{k}"]

    thread = threading.Thread(target=change)
    thread.start()
    try:
        assert all(stand_in_for([value, value.__dict__])[0].size == 2 for _ in range(300))
    finally:
        end.set()
        thread.join()
