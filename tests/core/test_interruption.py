import os
import signal
import threading
from collections.abc import Callable

import pytest
from pydantic import BaseModel, model_serializer
from pydantic_core import PydanticSerializationError

from mydyno.core.interruption import interruptible, uninterrupted


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_each_request_to_stop_ends_the_run_as_ctrl_c_does(number: signal.Signals) -> None:
    with pytest.raises(KeyboardInterrupt), interruptible():
        os.kill(os.getpid(), number)


class _Stopped(BaseModel):
    """Its serializer is running when the signal arrives."""

    @model_serializer
    def _serialized(self) -> dict[str, int]:
        os.kill(os.getpid(), signal.SIGTERM)
        return {}


class _Unserializable(BaseModel):
    @model_serializer
    def _serialized(self) -> dict[str, int]:
        raise ValueError("no number")


@pytest.mark.parametrize("dump", [_Stopped.model_dump, _Stopped.model_dump_json])
def test_a_stop_within_a_serializer_is_no_error_of_pydantic(dump: Callable[[_Stopped], object]) -> None:
    with pytest.raises(KeyboardInterrupt), interruptible():
        dump(_Stopped())


def test_what_cannot_be_serialized_stays_an_error_of_pydantic() -> None:
    with pytest.raises(PydanticSerializationError), interruptible():
        _Unserializable().model_dump()


def test_a_terminal_that_may_go_does_not_end_the_run() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with interruptible():
            os.kill(os.getpid(), signal.SIGHUP)
    finally:
        signal.signal(signal.SIGHUP, before)


def test_handlers_are_as_before_after_the_run() -> None:
    before = signal.getsignal(signal.SIGTERM)
    with interruptible():
        assert signal.getsignal(signal.SIGTERM) is not before
    assert signal.getsignal(signal.SIGTERM) is before


def test_a_stop_during_a_whole_stretch_arrives_at_its_end_whatever_thread_takes_it() -> None:
    steps = []
    over = threading.Event()

    def whole_stretch() -> None:
        with interruptible(), uninterrupted():
            os.kill(os.getpid(), signal.SIGINT)
            os.kill(os.getpid(), signal.SIGTERM)
            over.wait(0.05)
            steps.append("the end")

    other = threading.Thread(target=over.wait)
    other.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            whole_stretch()
    finally:
        over.set()
        other.join()
    assert steps == ["the end"]


def test_an_error_in_a_whole_stretch_is_reported_rather_than_the_stop() -> None:
    def failing() -> None:
        with interruptible(), uninterrupted():
            os.kill(os.getpid(), signal.SIGINT)
            raise ValueError("the disk is full")

    with pytest.raises(ValueError, match="the disk is full"):
        failing()


def test_a_whole_stretch_in_another_thread_leaves_the_handlers_as_they_are() -> None:
    before, seen = signal.getsignal(signal.SIGINT), []

    def stretch() -> None:
        with uninterrupted():
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=stretch)
    thread.start()
    thread.join()
    assert seen == [before]
