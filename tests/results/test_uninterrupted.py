"""Ctrl-C waits until numbers are written."""

import signal
import threading

import pytest

from phlexible.results.files.writing import uninterrupted


def test_an_interruption_comes_at_the_end():
    done, handler = [], signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        with uninterrupted():
            signal.raise_signal(signal.SIGINT)
            done.append("all")
        done.append("more")
    assert done == ["all"] and signal.getsignal(signal.SIGINT) is handler


def test_an_interruption_says_more_than_the_error_that_it_meets():
    with pytest.raises(KeyboardInterrupt) as caught:
        with uninterrupted():
            signal.raise_signal(signal.SIGINT)
            raise OSError("full")
    assert isinstance(caught.value.__context__, OSError)


def test_other_threads_write_as_they_are():
    done = []

    def write():
        with uninterrupted():
            done.append("all")

    thread = threading.Thread(target=write)
    thread.start()
    thread.join()
    assert done == ["all"]
