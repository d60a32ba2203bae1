"""Conversations of real servers, changed at random: a client ends with rows or one error, in bounded memory.

A longer one: MYDYNO_FUZZ_SECONDS=600 pytest tests/server/access/test_client_fuzz.py
"""

from __future__ import annotations

import time
from itertools import cycle
from pathlib import Path

import pymysql
import pytest
from mutation import SECONDS

from server.access.certificates import make_public_key
from server.access.conversations import connections, mutations, recordings, replayed

PASSWORD = b"a word"
MOST_SECONDS = 5.0
MOST_MB = 100


def peak_mb() -> float:
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


def test_the_recordings_are_understood(tmp_path: Path) -> None:
    key = make_public_key(tmp_path / "key.pem").read_bytes()
    assert len(recordings()) > 1
    for packets in recordings():
        over_socket = connections(PASSWORD, key)[0]
        assert len(replayed(b"".join(map(bytes, packets)), over_socket)) > 10


@pytest.mark.timeout(SECONDS + 120)
def test_a_changed_conversation_ends_in_rows_or_in_one_error(tmp_path: Path) -> None:
    key = make_public_key(tmp_path / "key.pem").read_bytes()
    Path("/proc/self/clear_refs").write_text("5")  # The peak begins again.
    before = peak_mb()
    ends = {"rows": 0, "error": 0}
    number = cycle(range(3))
    for said in mutations(SECONDS):
        began = time.monotonic()
        try:
            replayed(said, connections(PASSWORD, key)[next(number)])
            ends["rows"] += 1
        except pymysql.Error as error:
            ends["error"] += 1
            code, text = error.args[:2]
            assert isinstance(code, int), said
            assert text.strip(), said
            assert text.isprintable(), said
            assert len(text) < 1200, said
        assert time.monotonic() - began < MOST_SECONDS, said
    assert min(ends.values()) > 0
    assert peak_mb() - before < MOST_MB
