"""The programs that digests are checked against; a test is skipped, aloud, where they cannot be had."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from pathlib import Path

import pytest

from mydyno.core.errors import HostError, MissingToolError
from mydyno.machine.images import unpacked

SUITE = "bookworm"
_MOST_SECONDS = 120
_MILLION = 1_000_000

# Its own function for fingerprints, over statements that end with a zero byte.
_ITS_FINGERPRINTS = r"""
require $ARGV[0];
my $rewriter = QueryRewriter->new();
local $/ = "\0";
while (my $statement = <STDIN>) { chomp $statement; print $rewriter->fingerprint($statement), "\0"; }
"""


@dataclass(frozen=True, order=True)
class Sums:
    """What a group comes to; times in microseconds."""

    count: int
    query_time_us: int
    lock_time_us: int
    rows_sent: int
    rows_examined: int | None = None


def mysqldumpslow() -> str:
    """That in PATH, which servers and clients bring."""
    found = shutil.which("mysqldumpslow")
    if found is None:
        pytest.skip("mysqldumpslow is not here: apt-get install mariadb-client")
    return found


@cache
def pt_query_digest() -> str:
    """That in PATH, or Debian's, unpacked into mydyno's cache: to read logs it needs perl only."""
    name = "pt-query-digest"
    fetched = unpacked.folder_of("percona-toolkit") / "usr" / "bin" / name
    if (found := shutil.which(name)) is not None:
        return found
    try:
        if not fetched.is_file():
            unpacked.fetch("percona-toolkit", SUITE, print)
    except (HostError, MissingToolError) as error:
        pytest.skip(f"{name} cannot be had here: {error}")
    return str(fetched)


def its_fingerprints(statements: Sequence[str]) -> list[str]:
    """What pt-query-digest makes of statements."""
    given = "".join(f"{statement}\0" for statement in statements)
    command = ["perl", "-e", _ITS_FINGERPRINTS, pt_query_digest()]
    return _said(command, given).split("\0")[:-1]


def its_groups(log: Path) -> list[Sums]:
    """The classes of pt-query-digest's JSON."""
    options = ("--no-version-check", "--limit", "100%", "--output", "json")
    classes = json.loads(_said(["perl", pt_query_digest(), *options, str(log)]))["classes"]
    return [_sums(group["query_count"], group["metrics"]) for group in classes]


def _sums(count: int, metrics: dict[str, dict[str, str]]) -> Sums:
    return Sums(
        count,
        int(Decimal(metrics["Query_time"]["sum"]) * _MILLION),
        int(Decimal(metrics["Lock_time"]["sum"]) * _MILLION),
        int(metrics["Rows_sent"]["sum"]),
        int(metrics["Rows_examined"]["sum"]),
    )


def counts_of_mysqldumpslow(log: Path) -> list[int]:
    """How often each of its statements was met."""
    said = _said([mysqldumpslow(), str(log)])
    return [int(count) for count in re.findall(r"^Count: (\d+) ", said, re.MULTILINE)]


def _said(command: Sequence[str], given: str = "") -> str:
    done = subprocess.run(
        command, input=given, capture_output=True, text=True, check=False, timeout=_MOST_SECONDS
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout
