"""A host that is lost: a waiting caller gets an error at once, with what the console said last."""

from __future__ import annotations

import os
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
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


def channel_to(console: str = "", alive_seconds: float | None = None) -> tuple[Channel, socket.socket]:
    """A channel and the other end of it, which the test itself holds."""
    ours, theirs = socket.socketpair()
    file = ours.detach()
    return Channel(file, file, name="guest", console=lambda: console, alive_seconds=alive_seconds), theirs


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
        with pytest.raises(HostError) as caught:
            wait()
        heard.append(caught.value.message)

    threads = [threading.Thread(target=expect, args=(wait,)) for wait in waits]
    for thread in threads:
        thread.start()
    started = time.monotonic()
    os.kill(host.pid, signal.SIGKILL)
    for thread in threads:
        thread.join(10)
    assert time.monotonic() - started < 5
    assert heard == ["the host agent was lost: its connection was closed"] * 3
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


def test_a_host_that_is_silent_without_an_end_of_its_stream_is_lost() -> None:
    channel, theirs = channel_to(alive_seconds=0.05)
    theirs.sendall(GREETING + HELLO.encoded())
    assert channel.hello(10).kernel == "6.1"
    with pytest.raises(HostError, match=r"the host guest was lost: nothing came from it for 0\.2 s$"):
        channel.wait(lambda: False, 60)
    channel.close()
    theirs.close()


def test_a_ping_is_a_request_for_the_clock_and_any_byte_is_its_answer() -> None:
    """Whoever reads late finds it in time, since pings are counted and not seconds."""
    channel, theirs = channel_to(alive_seconds=2)
    theirs.sendall(GREETING + HELLO.encoded())
    ping = Frame(Kind.REQUEST, 1, b'{"do": "clock"}').encoded()
    assert theirs.recv(len(ping), socket.MSG_WAITALL) == ping
    theirs.sendall(Frame(Kind.REPLY, 1, b'{"ok": {"nanoseconds": 1}}').encoded())
    assert not channel.wait(lambda: False, 0.1)
    channel.close()
    theirs.close()


def test_an_agent_answers_pings_while_a_long_request_is_under_way(
    host: SupervisedHost, tmp_path: Path
) -> None:
    with socket.socket(socket.AF_UNIX) as listener, ThreadPoolExecutor() as beside:
        listener.bind(str(tmp_path / "socket"))
        listener.listen(0)
        # As many as its queue holds; the next one waits in connect(2).
        queued = host.dial(tmp_path / "socket")
        waiting = beside.submit(host.dial, tmp_path / "socket")
        while len(list(Path(f"/proc/{host.pid}/task").iterdir())) < 2:
            time.sleep(0.01)
        assert host.clock() > 0
        assert not waiting.done()
        listener.accept()[0].close()
        waiting.result(60).close()
        queued.close()
