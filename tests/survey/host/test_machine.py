"""This machine, read by somebody who may not see everything."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from mydyno.core.server_version import parse_version
from mydyno.survey.facts import Unread
from mydyno.survey.host.machine import LocalMachine
from mydyno.survey.host.read import read_host

NOBODY = 65534


@pytest.fixture
def nobody() -> Iterator[None]:
    """A time without root's rights."""
    if os.geteuid() != 0:
        pytest.skip("only root can become somebody else")
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.mark.usefixtures("nobody")
def test_a_user_without_rights_reads_the_rest_and_hears_what_root_would_see() -> None:
    unread: list[Unread] = []
    version = parse_version("mysqld Ver 8.4.3")
    host = read_host(LocalMachine(), 1, {"datadir": "/root/mysql"}, version, unread).host
    assert host is not None
    assert host.process is not None
    assert host.process.limits["Max open files"]
    assert host.process.binary is None
    (mount,) = host.storage.filesystems
    assert mount.size_bytes
    assert Unread(what="how many files the server has open", why="permission denied", hint="sudo") in unread


def test_another_folder_taken_for_the_root_is_never_left(tmp_path: Path) -> None:
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc" / "passwd").write_text("nobody here\n")
    here = LocalMachine(tmp_path)
    assert here.read_text("/etc/passwd") == "nobody here\n"
    assert here.glob("/etc/*") == ("/etc/passwd",)
    assert here.real_path("/etc/passwd") == "/etc/passwd"
    assert here.run(["true"]) is None
