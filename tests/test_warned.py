"""Warnings while a function is captured: those of other threads stay warnings, and the filters stay the user's."""

import threading
import warnings

from autojit.ir.warned import recorded


def run(function):
    thread = threading.Thread(target=function)
    thread.start()
    return thread


def test_what_is_recorded_is_not_shown():
    with recorded() as seen:
        warnings.warn("once", DeprecationWarning, stacklevel=1)
        with recorded() as inner:
            warnings.warn("twice", DeprecationWarning, stacklevel=1)
    assert [str(warning.message) for warning in seen] == ["once"]
    assert [str(warning.message) for warning in inner] == ["twice"]


def test_other_threads_get_warnings_not_errors():
    errors = []

    def warn():
        try:
            warnings.warn("a user's", UserWarning, stacklevel=1)
        except Warning as error:
            errors.append(error)

    with recorded() as seen:
        run(warn).join()
    assert not errors
    assert len(seen) == 1


def test_one_thread_after_the_other():
    begun, first, order = threading.Event(), threading.Event(), []

    def one():
        with recorded():
            begun.set()
            first.wait(10)
            order.append("one")

    def two():
        with recorded():
            order.append("two")

    before, show = list(warnings.filters), warnings.showwarning
    threads = [run(one)]
    begun.wait(10)
    threads.append(run(two))
    first.set()
    for thread in threads:
        thread.join()
    assert order == ["one", "two"]
    assert warnings.filters == before
    assert warnings.showwarning is show
