"""Bundles made to do harm: refused with one sentence, in little memory, and nothing is written."""

from __future__ import annotations

import gzip
import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from lab.results.bundle.mutations import Members, archive, members, mutated, signed
from lab.results.bundle.test_bundle import FILE, ROOM, bundled, full_lab
from mydyno.core.errors import LabError, MydynoError
from mydyno.lab.results.bundle import Bundle, unbundle
from mydyno.lab.results.store import Lab

SECONDS = float(os.environ.get("MYDYNO_FUZZ_SECONDS", "4"))
"""A longer one: MYDYNO_FUZZ_SECONDS=600 pytest tests/lab/results/bundle/test_hostile_bundles.py -k mutated"""
SEED = int(os.environ.get("MYDYNO_FUZZ_SEED", "1"))
MOST_RSS_KB = 300 << 10


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("bundle")
    return bundled(full_lab(path / "lab"), path / FILE).read_bytes()


@pytest.mark.timeout(SECONDS + 120)
def test_a_mutated_bundle_is_taken_in_or_refused_with_one_error(good: bytes, tmp_path: Path) -> None:
    ends = time.monotonic() + SECONDS
    number = refused = 0
    messages: set[str] = set()
    path = tmp_path / FILE
    while number <= 10 or time.monotonic() < ends:
        number += 1
        chance = random.Random(SEED * 1_000_003 + number)
        content = mutated(chance, good)
        path.write_bytes(content)
        try:
            with Bundle.open(path, ROOM) as bundle, Lab.open(tmp_path / f"{number}", write=True) as lab:
                run, _ = unbundle(bundle, lab)
                run.trials()
                lab.list_runs()
        except MydynoError as error:
            refused += 1
            messages.add(error.message)
        except BaseException:
            print(f"MYDYNO_FUZZ_SEED={SEED}, number {number}")
            raise
    print(f"{number} bundles, {refused} refused")
    assert all(str(path) in message for message in messages)
    assert refused > number / 2


def rows_of(table: str, columns: tuple[str, ...], row: str, times: int) -> bytes:
    return json.dumps({"table": table, "columns": columns}).encode() + b"\n" + f"{row}\n".encode() * times


def many(make: Callable[[], bytes]) -> Callable[[Members], Members]:
    """The rows of a good bundle with more of them behind."""

    def change(found: Members) -> Members:
        return signed([found[0], (found[1][0], make()), *found[2:]])

    return change


def of_manifest(document: bytes) -> Callable[[Members], Members]:
    return lambda found: [(found[0][0], document), *found[1:]]


MIB = 1 << 20
ATTACKS: dict[str, Callable[[Members], Members]] = {
    "many rows of one trial": many(
        lambda: rows_of("counters", ("trial_key", "name", "value"), '[1,"a",1]', 5_000_000)
    ),
    "many rows of the run": many(
        lambda: rows_of("environments", ("run_id", "start", "name", "value"), '[1,1,"a",1]', 5_000_000)
    ),
    "one long line": many(lambda: b'["' + b"a" * (80 * MIB) + b'"]\n'),
    "a line of many values": many(lambda: b"[" + b"[]," * (25 * MIB) + b"1]\n"),
    "deep nesting": many(lambda: b"[" * (80 * MIB) + b"\n"),
    "a large number": many(lambda: b"[" + b"9" * (80 * MIB) + b"]\n"),
    "many lines without a table": many(lambda: b"\n" * (80 * MIB)),
    "a manifest of many objects": of_manifest(b"[" + b"{}," * (5 * MIB) + b"1]"),
    "a manifest of many texts": of_manifest(b"[" + b'"aa",' * (3 * MIB) + b"1]"),
    "a large manifest": of_manifest(b" " * (80 * MIB)),
    "a manifest that is one number": of_manifest(b"9" * (15 * MIB)),
    "a deep manifest": of_manifest(b"[" * (15 * MIB)),
}

_OPEN = """
import re, sys
from pathlib import Path
from mydyno.core.errors import LabError
from mydyno.lab.results.bundle import Bundle
for name in sys.argv[1:]:
    try:
        Bundle.open(Path(name), 1 << 40)
    except LabError as error:
        # The high-water mark of this program alone: that of getrusage(2) begins with its parent's.
        most = re.search(r"VmHWM:\\s*(\\d+) kB", Path("/proc/self/status").read_text())[1]
        print(most, len(error.message))
"""


@pytest.fixture(scope="module")
def attacks(good: bytes, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("attacks")
    found = members(good)
    paths = {}
    for name, change in ATTACKS.items():
        paths[name] = folder / name.replace(" ", "-")
        paths[name].write_bytes(archive(change(found)))
    return paths


def test_no_tampered_bundle_takes_more_than_300_megabytes(attacks: dict[str, Path]) -> None:
    paths = list(attacks.values())
    assert max(path.stat().st_size for path in paths) < 4 * MIB, "they are small, that is the point"
    done = subprocess.run(
        [sys.executable, "-c", _OPEN, *map(str, paths)],
        capture_output=True,
        text=True,
        timeout=200,
        check=True,
    )
    lines = [tuple(map(int, line.split())) for line in done.stdout.splitlines()]
    assert len(lines) == len(paths), done.stdout
    for name, (rss, letters) in zip(attacks, lines, strict=True):
        assert rss < MOST_RSS_KB, f"{name}: {rss} kB"
        assert letters < 1000, name


def test_a_number_that_is_not_finite_is_refused(good: bytes, tmp_path: Path) -> None:
    found = members(good)
    lines = found[1][1].replace(b"1000.0", b"1e999")
    assert lines != found[1][1]
    path = tmp_path / FILE
    path.write_bytes(archive(signed([found[0], (found[1][0], lines), *found[2:]])))
    with pytest.raises(LabError, match=r"rows\.jsonl: line \d+: not a row of the table"):
        Bundle.open(path, ROOM)


def test_the_attacks_are_real_gzip_files(attacks: dict[str, Path]) -> None:
    for path in attacks.values():
        with gzip.open(path) as file:
            assert len(file.read(512)) == 512
