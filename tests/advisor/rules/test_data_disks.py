"""What shares the disks of the data, who may read them, and what a host caches of them."""

from __future__ import annotations

from typing import Any

import pytest

from advisor.builders import MARIADB, host, server
from advisor.disks import disk, filesystem, process, storage
from advisor.rules.judging import finding, judged
from mydyno.advisor.rule import Fine, NotHere, Unknown
from mydyno.apply.change import ByHand
from mydyno.apply.finding import Finding, Severity
from mydyno.survey.facts import Host, Server, Use

GIB = 1 << 30


def azure(caching: str | None, uses: dict[str, str] | None = None) -> Host:
    there = storage(disks=(disk("sda", "virtual", host_caching=caching),), uses=uses)
    return host(storage=there, cloud="Microsoft Azure")


def doing(reads: int, writes: int) -> Server:
    return server(status={"Innodb_data_reads": reads, "Innodb_data_writes": writes})


def test_a_host_that_caches_writes_is_found() -> None:
    found = finding("azure-host-caching", doing(1, 1), host=azure("ReadWrite"))
    assert found.severity is Severity.HIGH
    assert "host caching: sda (data, redo log, binary log, undo): ReadWrite" in found.evidence


def test_a_cache_for_reading_is_fine_for_data_that_is_read_and_useless_under_logs() -> None:
    assert isinstance(judged("azure-host-caching", doing(900, 100), host=azure("ReadOnly")), Fine)
    found = finding("azure-host-caching", doing(100, 900), host=azure("ReadOnly"))
    assert found.severity is Severity.LOW
    assert "Innodb_data_reads = 100, Innodb_data_writes = 900 since the start" in found.evidence


def test_without_host_caching_or_azure_there_is_nothing_to_find() -> None:
    assert isinstance(judged("azure-host-caching", doing(1, 1), host=azure("None")), Fine)
    assert isinstance(judged("azure-host-caching", doing(1, 1), host=azure(None)), Unknown)
    assert isinstance(judged("azure-host-caching", doing(1, 1), host=host(storage=storage())), NotHere)


def owned(**known: Any) -> Host:
    data = Use(files="data", path="/RAID0/mysql", mount_point="/data", **known)
    there = storage().model_copy(update={"uses": (data,)})
    return host(storage=there, process=process())


def commands(found: Finding) -> str:
    return " ".join(text for each in found.changes if isinstance(each, ByHand) for text in each.commands)


def test_data_of_another_user_is_reported_with_the_command_that_fixes_it() -> None:
    found = finding("data-directory-rights", server(), host=owned(owner="root", mode=0o750, file_mode=0o640))
    assert found.title == "The data directory belongs to root, the server runs as mysql"
    assert "chown --recursive mysql: /RAID0/mysql" in commands(found)


def test_files_that_everybody_may_read_or_write_are_found() -> None:
    read = finding("data-directory-rights", server(), host=owned(owner="mysql", mode=0o755, file_mode=0o755))
    assert (read.title, read.severity) == ("Every account of the machine may read the tables", Severity.HIGH)
    assert "chown" not in commands(read)
    assert "! -type s" in commands(read)
    written = finding("data-directory-rights", server(), host=owned(owner="mysql", mode=0o777))
    assert written.severity is Severity.CRITICAL


@pytest.mark.parametrize(
    ("mode", "file_mode"), [(0o750, 0o640), (0o700, 0o666), (0o755, 0o640), (0o755, None)]
)
def test_files_that_are_shut_are_fine(mode: int, file_mode: int | None) -> None:
    shut = owned(owner="mysql", mode=mode, file_mode=file_mode)
    assert isinstance(judged("data-directory-rights", server(), host=shut), Fine)


def test_rights_that_were_not_read_are_unknown() -> None:
    assert isinstance(judged("data-directory-rights", server(), host=owned()), Unknown)


def logging(
    a_second: float, file_bytes: int = 0, kind: str = "ssd", free: int = 500 * GIB
) -> tuple[Server, Host]:
    data = filesystem(free_bytes=free, size_bytes=1000 * GIB)
    there = storage(data, disks=(disk("sda", kind),), uses={"slow log": "/data"})
    uses = tuple(
        each.model_copy(update={"file_bytes": file_bytes}) if each.files == "slow log" else each
        for each in there.uses
    )
    machine = host(storage=there.model_copy(update={"uses": uses}))
    variables = {"slow_query_log": "ON", "log_output": "FILE"}
    return server(MARIADB, variables, {"Slow_queries": a_second * 864_000}), machine


def test_a_slow_log_that_fills_the_disk_of_the_tables_is_found() -> None:
    the_server, machine = logging(50, free=10 * GIB)
    found = finding("slow-log-on-data-disk", the_server, host=machine)
    assert (found.title, found.severity) == (
        "The slow log fills the disk of the tables in 2 days",
        Severity.HIGH,
    )
    assert "50 a second x 1024 bytes = 4.1G a day" in found.evidence


def test_a_slow_log_that_is_large_or_takes_an_arm_away_is_found() -> None:
    for the_server, machine in (logging(0.1, file_bytes=200 * GIB), logging(30, kind="rotating")):
        assert finding("slow-log-on-data-disk", the_server, host=machine).severity is Severity.LOW


def test_a_slow_log_that_is_small_or_elsewhere_or_off_is_no_finding() -> None:
    the_server, machine = logging(0.1, kind="rotating")
    assert isinstance(judged("slow-log-on-data-disk", the_server, host=machine), Fine)
    apart = host(storage=storage(filesystem(free_bytes=1), filesystem("/log"), uses={"slow log": "/log"}))
    assert isinstance(judged("slow-log-on-data-disk", logging(900)[0], host=apart), Fine)
    off = server(variables={"slow_query_log": "OFF"})
    assert isinstance(judged("slow-log-on-data-disk", off, host=machine), NotHere)
    assert isinstance(judged("slow-log-on-data-disk", the_server, host=host()), Unknown)
