"""A network namespace with one link to this machine's: what runs in it can be cut off."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pytest

_NET = 0xC6120000
"""198.18.0.0/15 is for tests of networks (RFC 2544): no machine outside has an address of it."""


@dataclass(frozen=True)
class FarNetwork:
    namespace: str
    address: str
    """Of the far side."""

    @property
    def inside(self) -> tuple[str, ...]:
        """What the command of a process begins with that shall run on the far side."""
        return ("nsenter", f"--net=/run/netns/{self.namespace}", "--")

    def cut(self) -> None:
        """Every packet is lost from now on, silently. The far end goes down: then this machine's route stays,
        and nothing leaves by another one."""
        self._link("down")

    def mend(self) -> None:
        self._link("up")

    def _link(self, state: str) -> None:
        _ip("-n", self.namespace, "link", "set", _far(self.namespace), state)


@contextmanager
def far_network() -> Iterator[FarNetwork]:
    """Until the block ends; skips the test, aloud, where there can be none."""
    if os.geteuid() != 0:
        pytest.skip("a network namespace of the test's own needs root")
    name = f"md{os.getpid():x}"
    here = _NET + 4 * (os.getpid() % (1 << 15))
    near, far = (".".join(str(byte) for byte in (here + each).to_bytes(4)) for each in (1, 2))
    try:
        _ip("netns", "add", name)
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"there is no network namespace here: {getattr(error, 'stderr', error)}")
    try:
        _ip("link", "add", name, "type", "veth", "peer", "name", _far(name), "netns", name)
        _ip("address", "add", f"{near}/30", "dev", name)
        _ip("link", "set", name, "up")
        _ip("-n", name, "address", "add", f"{far}/30", "dev", _far(name))
        for device in ("lo", _far(name)):
            _ip("-n", name, "link", "set", device, "up")
        yield FarNetwork(name, far)
    finally:
        # The link goes with either end.
        subprocess.run(["ip", "link", "del", name], capture_output=True, check=False)
        _ip("netns", "del", name)


def _far(name: str) -> str:
    return f"{name}-far"


def _ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], capture_output=True, text=True, check=True)
