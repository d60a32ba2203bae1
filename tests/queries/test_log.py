"""Slow logs, read by the real engine: whatever a log is, what could be read is told, and what could not."""

import gzip
import itertools
import json
import os
import random
import signal
import subprocess
import sys
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import get_args

import pytest

from mydyno.core.errors import EngineError, MissingToolError, UsageError
from mydyno.machine.programs import find_program
from mydyno.queries.log import Progress, read_logs
from mydyno.queries.records import Digest, ProblemKind

LIMIT_BYTES = 200 << 20
"""What the engine may have in memory, whatever it reads."""


def entry(statement: str, *, at: int = 1_767_225_600, user: str = "app") -> bytes:
    return (
        f"# User@Host: {user}[{user}] @ web1 [10.0.0.1]\n"
        f"# Query_time: 0.250000  Lock_time: 0.000010  Rows_sent: 1  Rows_examined: 100\n"
        f"SET timestamp={at};\n{statement};\n"
    ).encode()


def log(entries: int) -> bytes:
    return b"".join(
        entry(f"SELECT * FROM orders WHERE id = {n}", at=1_767_225_600 + n) for n in range(entries)
    )


def kinds(digest: Digest) -> list[str]:
    return [problem.kind for problem in digest.problems]


@pytest.fixture
def slow_log(tmp_path: Path) -> Path:
    path = tmp_path / "slow.log"
    path.write_bytes(log(100))
    return path


def test_a_log_is_digested_with_its_times_and_figures(slow_log: Path) -> None:
    digest = read_logs([str(slow_log)])
    assert [(group.count, group.fingerprint) for group in digest.groups] == [
        (100, "select * from orders where id = ?")
    ]
    assert digest.total.query_time_us == 25_000_000
    assert (digest.total.first_us, digest.total.last_us) == (1_767_225_600_000_000, 1_767_225_699_000_000)
    assert not digest.problems


def test_a_span_filters_and_a_limit_reach_the_engine(slow_log: Path) -> None:
    with slow_log.open("ab") as file:
        file.write(entry("DELETE FROM baskets", user="cleaner"))
    start = 1_767_225_600_000_000
    digest = read_logs([str(slow_log)], since_us=start, until_us=start + 10_000_000, limit=1, threads=2)
    assert (digest.total.count, digest.filtered, len(digest.groups)) == (11, 90, 1)
    assert digest.rest is not None
    assert digest.rest.count == 1
    cleaned = read_logs([str(slow_log)], filters=["user=cleaner", "statement~^DELETE"])
    assert [group.fingerprint for group in cleaned.groups] == ["delete from baskets"]


def test_rotated_logs_are_one_digest_in_any_order(tmp_path: Path) -> None:
    parts = {"slow.log": log(5), "slow.log.1": log(7), "slow.log.2.gz": gzip.compress(log(11))}
    for name, content in parts.items():
        (tmp_path / name).write_bytes(content)
    names = [str(tmp_path / name) for name in parts]
    for order in (names, names[::-1]):
        digest = read_logs(order)
        assert digest.total.count == 23
        assert [source.name for source in digest.sources] == order


def test_progress_is_reported_while_a_pipe_is_silent() -> None:
    source, sink = os.pipe()
    heard: list[Progress] = []
    result = threading.Event()

    def write() -> None:
        with os.fdopen(sink, "wb") as pipe:
            pipe.write(log(100))
            pipe.flush()
            result.wait(60)

    def hear(progress: Progress) -> None:
        heard.append(progress)
        result.set()

    writer = threading.Thread(target=write)
    writer.start()
    with os.fdopen(source, "rb") as pipe:
        digest = read_logs(["-"], stdin=pipe, report=hear)
    writer.join()
    assert digest.total.count == 100
    assert heard[0].of_bytes is None


def test_a_fifo_is_read_until_its_writer_ends(tmp_path: Path) -> None:
    path = tmp_path / "fifo"
    os.mkfifo(path)
    writer = threading.Thread(target=lambda: path.write_bytes(log(50)))
    writer.start()
    assert read_logs([str(path)]).total.count == 50
    writer.join()


def test_what_cannot_be_opened_is_a_problem_next_to_what_can(slow_log: Path, tmp_path: Path) -> None:
    digest = read_logs([str(tmp_path / "missing"), str(tmp_path), str(slow_log)])
    assert digest.total.count == 100
    assert [(problem.kind, problem.says.split(":")[0]) for problem in digest.problems] == [
        ("unreadable", "there is no such file"),
        ("unreadable", "this is a directory"),
    ]


def test_a_log_that_this_user_may_not_read_says_who_may(slow_log: Path) -> None:
    slow_log.chmod(0)
    if os.geteuid() == 0:
        # Root reads everything, so somebody else asks.
        for folder in slow_log.parents[:3]:
            folder.chmod(0o755)
        command = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
        said = subprocess.run(
            [*command, str(find_program("mydyno-engine")), "digest", str(slow_log)],
            capture_output=True,
            check=True,
        ).stdout
        problems = json.loads(said.splitlines()[0])["problems"]
    else:
        problems = [problem.model_dump() for problem in read_logs([str(slow_log)]).problems]
    assert [problem["kind"] for problem in problems] == ["unreadable"]
    assert "permission denied" in problems[0]["says"]


def test_of_broken_compression_all_before_the_break_is_reported(tmp_path: Path) -> None:
    rng = random.Random(1)
    entries = [entry(f"SELECT * FROM orders WHERE sku = '{rng.getrandbits(200):x}'") for _ in range(5_000)]
    packed = gzip.compress(b"".join(entries))
    path = tmp_path / "slow.log.gz"
    path.write_bytes(packed[: len(packed) * 3 // 4])
    digest = read_logs([str(path)])
    assert 3_000 < digest.total.count < 4_500
    assert "broken-compression" in kinds(digest)


def test_nothing_is_not_an_error_and_other_files_are_no_slow_logs(tmp_path: Path) -> None:
    (tmp_path / "empty").write_bytes(b"")
    (tmp_path / "notes").write_bytes(b"milk\nbread\n")
    (tmp_path / "binary").write_bytes(b"\xfebin" + bytes(100))
    (tmp_path / "packed").write_bytes(b"BZh91AY&SY" + bytes(100))
    digest = read_logs([str(tmp_path / name) for name in ("empty", "notes", "binary", "packed")])
    assert kinds(digest) == ["empty", "not-a-slow-log", "not-a-slow-log", "not-a-slow-log"]
    assert "bzcat" in digest.problems[3].says


def test_a_filter_that_cannot_be_understood_is_a_wrong_use(slow_log: Path) -> None:
    with pytest.raises(UsageError, match="compares nothing"):
        read_logs([str(slow_log)], filters=["slow"])


@pytest.mark.parametrize(
    ("script", "says"),
    [
        ("exit 3", r"without a digest \(exit code 3\)"),
        ("echo \"error: unrecognized subcommand 'digest'\" >&2; exit 2", "install them together"),
        ("echo nonsense", "unexpected output"),
        ("""echo '{"type":"digest","format":99}'""", "format 99"),
        ("""echo '{"type":"digest","format":1}'""", "sources"),
        ("""echo '{"type":"fatal","code":"internal","message":"no memory","hint":null}'""", "no memory"),
    ],
)
def test_an_engine_that_is_foreign_or_broken_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, says: str
) -> None:
    engine = tmp_path / "engine"
    engine.write_text(f"#!/bin/sh\n{script}\n")
    engine.chmod(0o755)
    monkeypatch.setenv("MYDYNO_ENGINE", str(engine))
    with pytest.raises(EngineError, match=says):
        read_logs(["slow.log"])


def test_a_missing_engine_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MYDYNO_ENGINE", "/nowhere/mydyno-engine")
    with pytest.raises(MissingToolError, match="/nowhere/mydyno-engine"):
        read_logs(["slow.log"])


def test_ctrl_c_keeps_what_was_read() -> None:
    source, sink = os.pipe()
    written = log(2_000)

    def interrupt(progress: Progress) -> None:
        if progress.read_bytes == len(written):
            raise KeyboardInterrupt

    with os.fdopen(source, "rb") as pipe, os.fdopen(sink, "wb") as never_ended:
        writer = threading.Thread(target=lambda: (never_ended.write(written), never_ended.flush()))
        writer.start()
        digest = read_logs(["-"], stdin=pipe, report=interrupt)
        writer.join()
    assert kinds(digest) == ["interrupted"]
    # Nobody knows yet whether the last one is whole.
    assert digest.total.count == 1_999


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_engine_with_what_was_read(tmp_path: Path, number: signal.Signals) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    command = [str(find_program("mydyno-engine")), "digest", "--progress", str(fifo)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as engine, fifo.open("wb") as pipe:
        assert engine.stdout is not None
        pipe.write(log(2_000))
        pipe.flush()
        heard = (json.loads(line) for line in engine.stdout)
        next(message for message in heard if message["read_bytes"] == len(log(2_000)))
        engine.send_signal(number)
        digest = next(message for message in heard if message["type"] == "digest")
        assert engine.wait() == 0
    assert [problem["kind"] for problem in digest["problems"]] == ["interrupted"]
    # Nobody knows yet whether the last one is whole.
    assert digest["total"]["count"] == 1_999


def digest_of_stream(parts: Iterable[bytes]) -> Digest:
    """Digests a stream; its engine never has more in memory than it may."""
    command = [str(find_program("mydyno-engine")), "digest", "-"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as engine:
        assert engine.stdin is not None
        assert engine.stdout is not None
        for part in parts:
            engine.stdin.write(part)
        engine.stdin.flush()
        # Before its end: what has ended has no memory to look at.
        status = Path(f"/proc/{engine.pid}/status").read_text()
        engine.stdin.close()
        message, *groups = map(json.loads, engine.stdout)
    high = next(line for line in status.splitlines() if line.startswith("VmHWM:"))
    assert int(high.split()[1]) << 10 < LIMIT_BYTES
    for each in (message, *groups):
        each.pop("type")
    assert message["groups"] == len(groups)
    return Digest.model_validate({**message, "groups": groups})


def test_a_long_stream_needs_no_more_memory_than_a_short_one() -> None:
    part = log(4_000)
    digest = digest_of_stream(itertools.repeat(part, 300))
    assert digest.total.count == 1_200_000
    assert digest.sources[0].bytes == 300 * len(part) > 200 << 20
    assert digest.groups[0].count == 1_200_000


def test_a_statement_of_100_mb_is_counted_whole_and_does_not_hide_what_follows() -> None:
    before, _, after = entry("INSERT INTO notes VALUES ('MIDDLE')").partition(b"MIDDLE")
    megabyte = bytes(range(64, 92)) * 37_450
    middle = [megabyte] * 100
    digest = digest_of_stream([log(3), before, *middle, after, log(5)])
    assert {group.fingerprint.split(" ")[0]: group.count for group in digest.groups} == {
        "select": 8,
        "insert": 1,
    }
    assert kinds(digest) == ["long-statement"]
    (insert,) = (group for group in digest.groups if group.fingerprint.startswith("insert"))
    assert insert.example is not None
    assert insert.example.is_cut
    assert insert.example.bytes == len("INSERT INTO notes VALUES ('')") + 100 * len(megabyte)


@pytest.mark.parametrize("newline", [b"", b"\n"], ids=["in one line", "in lines"])
def test_random_bytes_after_a_log_take_no_memory_and_hide_nothing_before_them(newline: bytes) -> None:
    noise = random.Random(1).randbytes(1 << 20).replace(b"\n", newline)
    digest = digest_of_stream(itertools.chain([log(5)], itertools.repeat(noise, 150)))
    assert digest.total.count >= 4
    assert digest.groups[0].fingerprint == "select * from orders where id = ?"
    assert digest.sources[0].bytes == len(log(5)) + 150 * len(noise)
    assert digest.problems


def test_the_command_starts_without_what_it_does_not_need(slow_log: Path) -> None:
    command = [sys.executable, "-X", "importtime", "-m", "mydyno", "digest", str(slow_log)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "select * from orders" in done.stdout.lower()
    imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "mydyno.queries.records" in imported
    for heavy in ("numpy", "polars", "scipy", "altair", "vl_convert", "pymysql"):
        assert heavy not in imported


def test_the_format_s_page_describes_every_kind_of_problem_of_a_log() -> None:
    page = (Path(__file__).parents[2] / "docs/reference/digest-format.md").read_text()
    of_logs = itertools.takewhile(lambda kind: kind != "digests-lost", get_args(ProblemKind))
    missing = [kind for kind in of_logs if f"| `{kind}` |" not in page]
    assert not missing
