"""How many iterations of a loop a plan is given, and when it is given up."""

import pytest

from autojit.runtime.course import FIRST, GROWS, JUDGED, SHARE, STRIKES, Course, whole


def course_with(**values):
    course = Course(None, 0, 0.0)
    for name, value in values.items():
        setattr(course, name, value)
    return course


class Loop:
    """A loop in which NumPy takes `pace` for an iteration, and a plan `fixed` and `seconds` for each."""

    def __init__(self, pace, fixed, seconds, left=10**9):
        self.course = Course(iterator=None, thread=0, start=0.0)
        self.pace, self.fixed, self.seconds = pace, fixed, seconds
        self.now, self.left = 1.0, left
        self.spent = 0.0

    def run(self):
        """NumPy's turn, and the plan's; what the plan's run has told."""
        course = self.course
        if course.times_numpy_first:
            assert not course.time_numpy(self.now, self.left)
            self.now += 0.05
            self.left -= max(1, int(0.05 / self.pace))
            assert course.time_numpy(self.now, self.left)
        count = min(course.next_count(self.now, self.left), self.left)
        took = self.fixed + self.seconds * count
        told = course.took(took, self.now - course.start)
        self.now, self.left, self.spent = self.now + took, self.left - count, self.spent + took
        return told


def test_a_plan_that_takes_long_to_enter_is_given_longer_runs():
    loop = Loop(pace=8e-6, fixed=0.05, seconds=0.5e-6)
    told = [loop.run() for _ in range(12)]
    assert told[0] is None and told[-1] is True and False not in told
    assert loop.course.is_known and loop.course.fixed == pytest.approx(0.05, rel=0.1)
    assert loop.course.seconds == pytest.approx(0.5e-6, rel=0.2)
    assert loop.course.count * loop.pace > 4 * loop.fixed  # then it is worth it
    assert sum(one is None for one in told) <= 4


@pytest.mark.parametrize(("pace", "fixed", "seconds"), [(1e-4, 0.0, 1e-5), (8e-6, 1e-4, 0.2e-6), (0.02, 0.001, 0.004)])
def test_a_fast_plan_is_given_more_and_more(pace, fixed, seconds):
    loop = Loop(pace, fixed, seconds)
    told = [loop.run() for _ in range(10)]
    assert told[-1] is True and False not in told
    assert loop.spent > 0.5 * (loop.now - 1.0) * SHARE


@pytest.mark.parametrize(
    ("pace", "fixed", "seconds", "at_most"),
    [
        (1e-3, 0.0, 2e-3, 0.5),
        (8e-6, 0.0, 1e-3, 0.5),
        (8e-6, 0.05, 1e-4, 1.5),
        (0.01, 0.0, 1.0, 2.5),
        (1e-3, 0.0, 0.99e-3, 1.0),
    ],
)
def test_a_slow_plan_is_given_up_soon(pace, fixed, seconds, at_most):
    loop = Loop(pace, fixed, seconds)
    for _ in range(20):
        told = loop.run()
        assert told is not True
        if told is False and loop.course.is_lost:
            break
    assert loop.course.is_lost and loop.course.strikes <= STRIKES
    assert loop.spent < at_most


def test_what_chance_makes_longer_is_not_the_iterations():
    course = course_with(pace=1e-5, count=100, last=(10, 0.05))
    assert course.took(0.052, 1.0) is None and not course.strikes
    assert course.fixed == pytest.approx(0.05, rel=0.1)


def test_a_run_that_is_not_worth_its_entry_is_not_made():
    course = course_with(pace=1e-5, is_known=True, fixed=0.05, seconds=1e-6)
    assert course.is_near(1000) and not course.is_near(100_000)
    course.is_known = False
    assert not course.is_near(1000)
    course.end = 500
    assert course.is_near(500) and course.is_near(500 + int(JUDGED / 1e-5) - 1)


def test_the_first_run_is_short():
    for pace, count in ((1e-6, 996), (1e-4, 6), (0.5, 1)):
        course = course_with(pace=pace)
        assert course.next_count(1.0, 10**6) == count == whole(max(1, int(FIRST / pace)))
    assert course_with(pace=1e-6).next_count(1.0, 100) == 96
    fast = course_with(pace=1e-4, count=12, last=(12, 1e-5))
    assert fast.next_count(1.0, 10**6) == 12 * GROWS
