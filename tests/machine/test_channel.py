"""A host that is lost: a waiting caller gets an error at once, with what the console said last."""

from __future__ import annotations

import os
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from mydyno.core.errors import HostError
from mydyno.machine.channel import Channel
from mydyno.machine.frames import GREETING, Frame, Kind
from mydyno.machine.supervised import SupervisedHost

HELLO = Frame(
    Kind.HELLO, 0, b'{"version": "1", "kernel": "6.1", "cpus": 1, "memory_bytes": 1, "window": null}'
)


@pytest.fixture
def host() -> Iterator[SupervisedHost]:
    host = SupervisedHost(name="agent", ephemeral=True, server_identity=None)
    yield host
    host.close()


def channel_to(console: str = "") -> tuple[Channel, socket.socket]:
    """A channel and the other end of it, which the test itself holds."""
    ours, theirs = socket.socketpair()
    file = ours.detach()
    return Channel(file, file, name="guest", console=lambda: console), theirs


def test_a_waiting_caller_gets_an_error_at_once_when_the_host_is_lost(
    host: SupervisedHost, tmp_path: Path
) -> None:
    process = host.start(["sleep", "60"], output=tmp_path / "log")
    talk = host.open(["sleep", "60"])
    waits: list[Callable[[], object]] = [
        lambda: host.run(["sleep", "60"]),
        lambda: process.wait(60),
        lambda: talk.wait(60),
    ]
    heard: list[str] = []

    def expect(wait: Callable[[], object]) -> None:
        with pytest.raises(HostError) as told:
            wait()
        heard.append(told.value.message)

    threads = [threading.Thread(target=expect, args=(wait,)) for wait in waits]
    for thread in threads:
        thread.start()
    started = time.monotonic()
    os.kill(host.pid, signal.SIGKILL)
    for thread in threads:
        thread.join(10)
    assert time.monotonic() - started < 5
    assert heard == ["the host agent was lost: it has gone"] * 3
    assert talk.stdout.read() == b""
    # What had to end has ended.
    process.terminate()
    talk.close()
    with pytest.raises(HostError):
        process.returncode()
    with pytest.raises(HostError):
        host.read_text(Path("/etc/hostname"))


def test_a_host_that_was_closed_says_so(host: SupervisedHost) -> None:
    host.close()
    with pytest.raises(HostError, match="the host agent was closed"):
        host.run(["true"])


def test_the_end_of_the_console_is_in_the_error() -> None:
    channel, theirs = channel_to(console="booting\n\nKernel panic - not syncing\n")
    theirs.close()
    with pytest.raises(HostError, match=r"its console ends:\n    booting\n    Kernel panic - not syncing$"):
        channel.hello(10)
    channel.close()


def test_a_guest_that_never_answers_is_not_waited_for_longer_than_configured() -> None:
    channel, theirs = channel_to(console="Mounting root...\n")
    with pytest.raises(HostError, match=r"did not answer within 0\.1 s; its console ends:\n    Mounting"):
        channel.hello(0.1)
    channel.close()
    theirs.close()


@pytest.mark.parametrize(
    "said", [b"\0\0\0\0\x63\0\0\0\0", Frame(Kind.REPLY, 1, b"{").encoded()], ids=["kind", "json"]
)
def test_a_guest_that_speaks_something_else_is_lost(said: bytes) -> None:
    channel, theirs = channel_to()
    theirs.sendall(GREETING + HELLO.encoded())
    assert channel.hello(10).kernel == "6.1"

    def answer() -> None:
        theirs.recv(1)
        theirs.sendall(said)

    asking = threading.Thread(target=answer)
    asking.start()
    with pytest.raises(HostError, match="does not speak the agent's protocol"):
        channel.request("exists", path="/")
    asking.join()
    channel.close()
    theirs.close()
