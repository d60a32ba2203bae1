import json
import socket
import threading
from collections.abc import Callable, Iterator

import pytest

from mydyno.core.errors import HostError
from mydyno.machine.vm.host import Control


@pytest.fixture
def ends() -> Iterator[tuple[Control, socket.socket]]:
    ours, theirs = socket.socketpair()
    control = Control(ours)
    with theirs:
        yield control, theirs
        control.close()


def answering(theirs: socket.socket, answer: Callable[[dict[str, object]], list[object]]) -> threading.Thread:
    """Reads one command at the far end and writes what `answer` makes of it."""

    def speak() -> None:
        asked = json.loads(theirs.makefile("rb").readline())
        for line in answer(asked):
            theirs.sendall(json.dumps(line).encode() + b"\n")

    thread = threading.Thread(target=speak)
    thread.start()
    return thread


def test_what_a_command_returns_is_found_among_the_events(ends: tuple[Control, socket.socket]) -> None:
    control, theirs = ends
    thread = answering(
        theirs, lambda asked: [{"event": "RESUME"}, {"return": {"running": True}, "id": asked["id"]}]
    )
    assert control.execute("query-status") == {"running": True}
    thread.join()


def test_a_refusal_is_reported_with_qemus_own_words(ends: tuple[Control, socket.socket]) -> None:
    control, theirs = ends
    refusal = {"class": "GenericError", "desc": "Device 'x' not found"}
    thread = answering(theirs, lambda asked: [{"error": refusal, "id": asked["id"]}])
    with pytest.raises(HostError, match="refused query-status: Device 'x' not found"):
        control.execute("query-status")
    thread.join()


def test_a_qemu_that_has_gone_is_an_error_and_no_wait(ends: tuple[Control, socket.socket]) -> None:
    control, theirs = ends
    theirs.close()
    with pytest.raises(HostError, match="QEMU has"):
        control.execute("query-status")
