"""Ctrl-C and its relatives: one clean stop, and no second one while changes are being undone."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def interruptible() -> Iterator[None]:
    """Within this block SIGTERM and SIGHUP (a closed terminal) end the run as Ctrl-C does.

    A SIGHUP that is ignored already stays so: nohup(1) says that the terminal may go. Code that catches
    KeyboardInterrupt belongs around the block: where a signal arrives while pydantic calls one of our
    serializers, pydantic raises another error, which becomes KeyboardInterrupt at the end of the block.
    """
    interrupted = False

    def interrupt(number: int, frame: FrameType | None) -> None:
        nonlocal interrupted
        interrupted = True
        raise KeyboardInterrupt

    with _handled(interrupt):
        try:
            yield
        except ValueError as error:
            # Imported here: `mydyno --help` needs no pydantic.
            from pydantic_core import PydanticSerializationError

            if interrupted and isinstance(error, PydanticSerializationError):
                raise KeyboardInterrupt from error
            raise


@contextmanager
def stopping(stop: Callable[[], object]) -> Iterator[None]:
    """Within this block each of those signals calls `stop` and interrupts nothing.

    For a load under way, which ends by itself on request, and then reports what it did.
    """
    with _handled(lambda number, frame: stop()):
        yield


@contextmanager
def _handled(handler: Callable[[int, FrameType | None], object]) -> Iterator[None]:
    may_go = signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    numbers = [number for number in _SIGNALS if not (may_go and number == signal.SIGHUP)]
    before = {number: signal.signal(number, handler) for number in numbers}
    try:
        yield
    finally:
        for number, previous in before.items():
            signal.signal(number, previous)


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Within this block those signals are held back: the first of them arrives when it is left.

    For the stretches that must be whole: saving a trial, taking a stack down. All of them are bounded
    in time by their own limits, so a held Ctrl-C is late by seconds at most. Held by handlers and not by
    a signal mask: a mask is one thread's, and the kernel gives the signal to any thread that takes it.
    Python runs handlers in the main thread alone: any other is uninterrupted anyway.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    held: list[int] = []
    with _handled(lambda number, _: held.append(number)):
        yield
    if held:
        signal.raise_signal(held[0])
