"""Limits of the server's process: by its systemd unit where there is one, by hand where there is none."""

from typing import Any

from advisor.builders import GIB, MARIADB, MYSQL_84, host, server
from advisor.disks import disk, process, storage
from advisor.rules.judging import finding, judged, sentences, settled
from mydyno.advisor.rule import Fine, NotHere, Unknown
from mydyno.advisor.targets import Targets
from mydyno.apply.finding import Severity
from mydyno.survey.facts import DiskSpeed, Host, Kernel, Memory, Process, Server

NEEDING = Targets(open_files=20_000)


def limited(files: int, **known: Any) -> Host:
    return host(process=process({"Max open files": (files, files)}, **known))


def test_a_service_gets_its_open_files_from_its_unit() -> None:
    low = limited(1024, open_files=400)
    found = finding("open-files-limit-of-process", server(), NEEDING, low)
    assert sentences(found) == ["LimitNOFILE=32768 for mariadb.service"]
    assert found.title == "The server may open 1024 files and needs up to 20000"
    assert found.severity is Severity.HIGH
    assert settled("open-files-limit-of-process", server(), NEEDING, low)


def test_a_server_at_its_limit_is_critical() -> None:
    at_the_end = limited(1024, open_files=1000)
    found = finding("open-files-limit-of-process", server(), NEEDING, at_the_end)
    assert found.severity is Severity.CRITICAL


def test_without_a_unit_the_limit_is_raised_by_hand() -> None:
    found = finding("open-files-limit-of-process", server(), NEEDING, limited(1024, unit=None))
    assert [change.kind for change in found.changes] == ["by hand"]


def test_the_hard_limit_is_what_the_server_can_raise_itself_to() -> None:
    machine = host(process=process({"Max open files": (1024, 65_536)}))
    assert isinstance(judged("open-files-limit-of-process", server(), NEEDING, machine), Fine)
    unlimited = host(process=process({"Max open files": (1024, None)}))
    assert isinstance(judged("open-files-limit-of-process", server(), NEEDING, unlimited), Fine)
    assert isinstance(judged("open-files-limit-of-process", server(), NEEDING, host()), Unknown)


def threads(properties: dict[str, str], unit: bool = True, nproc: int = 63_000) -> Host:
    more: dict[str, Any] = {} if unit else {"unit": None}
    return host(process=process({"Max processes": (nproc, nproc)}, properties, **more))


def test_each_connection_is_a_thread_that_the_unit_must_allow() -> None:
    machine = threads({"TasksMax": "1000", "LimitNPROC": "63000"})
    many = Targets(max_connections=2000)
    found = finding("process-limit", server(), many, machine)
    assert sentences(found) == ["TasksMax=8192 for mariadb.service (now 1000)"]
    assert settled("process-limit", server(), many, machine)
    assert isinstance(judged("process-limit", server(), Targets(max_connections=151), machine), Fine)
    low = finding("process-limit", server(), many, threads({}, unit=False, nproc=1024))
    assert [change.kind for change in low.changes] == ["by hand"]


def test_a_thread_pool_needs_few_threads() -> None:
    pooled = server(MARIADB, {"thread_handling": "pool-of-threads", "thread_pool_max_threads": "500"})
    machine = threads({"TasksMax": "1000"})
    assert isinstance(judged("process-limit", pooled, Targets(max_connections=20_000), machine), Fine)


def logins(*lines: str, files: int = 1024) -> Host:
    return host(kernel=Kernel(limits_conf=lines), process=process({"Max open files": (files, files)}, {}))


def test_limits_of_logins_do_not_reach_a_service() -> None:
    found = finding(
        "limits-conf-ignored", server(), host=logins("* soft nofile 65536", "* hard nofile 65536")
    )
    assert found.evidence[0] == "`* soft nofile 65536`; the running server has Max open files: 1024"
    assert "LimitNOFILE" in found.recommendation
    assert isinstance(judged("limits-conf-ignored", server(), host=logins("mysql hard nofile 1000")), Fine)
    assert isinstance(judged("limits-conf-ignored", server(), host=logins("backup - nofile 65536")), Fine)
    unlimited = finding("limits-conf-ignored", server(), host=logins("mysql - nofile unlimited"))
    assert len(unlimited.evidence) == 1


def test_without_a_unit_limits_conf_may_well_count() -> None:
    alone = host(process=process({"Max open files": (1024, 1024)}, unit=None))
    assert isinstance(judged("limits-conf-ignored", server(), host=alone), NotHere)


def test_large_pages_need_memory_that_may_be_locked() -> None:
    large = server(MYSQL_84, {"large_pages": "ON", "innodb_buffer_pool_size": str(4 * GIB)})
    machine = host(process=process({"Max locked memory": (8 << 20, 8 << 20)}))
    found = finding("locked-memory", large, Targets(), machine)
    assert sentences(found) == ["LimitMEMLOCK=infinity for mariadb.service"]
    assert settled("locked-memory", large, Targets(), machine)
    unlimited = host(process=process({"Max locked memory": (None, None)}))
    assert isinstance(judged("locked-memory", large, Targets(), unlimited), Fine)
    assert isinstance(judged("locked-memory", server(), Targets(), machine), NotHere)


def victim(score: int, resident: int, killed: int = 0, limit: int | None = None) -> Host:
    return host(
        memory_facts=Memory(total=16 * GIB, limit=limit),
        kernel=Kernel(counters={"oom_kill": killed}),
        process=process(oom_score_adj=score, resident_bytes=resident),
    )


def test_the_largest_process_is_ended_first_unless_its_unit_says_otherwise() -> None:
    found = finding("oom-score", server(), host=victim(0, 10 * GIB, killed=2))
    assert sentences(found) == ["OOMScoreAdjust=-600 for mariadb.service"]
    assert found.severity is Severity.MEDIUM
    assert settled("oom-score", server(), host=victim(0, 10 * GIB))
    assert isinstance(judged("oom-score", server(), host=victim(0, 2 * GIB)), Fine)
    assert isinstance(judged("oom-score", server(), host=victim(-600, 10 * GIB)), Fine)
    assert isinstance(judged("oom-score", server(), host=victim(0, 10 * GIB, limit=12 * GIB)), NotHere)


def grouped(limit: int | None) -> Host:
    return host(memory_facts=Memory(total=16 * GIB, limit=limit), process=process())


def test_a_group_smaller_than_the_servers_settings_ends_it() -> None:
    asked = server(variables={"innodb_buffer_pool_size": str(8 * GIB), "key_buffer_size": str(1 * GIB)})
    found = finding("memory-limit", asked, host=grouped(6 * GIB))
    assert found.severity is Severity.CRITICAL
    assert found.title == "The server's settings need 9.2G, its control group allows 6G"
    assert isinstance(judged("memory-limit", asked, host=grouped(12 * GIB)), Fine)
    assert isinstance(judged("memory-limit", asked, host=grouped(None)), NotHere)


def dirty(pages: float) -> Server:
    return server(status={"Innodb_buffer_pool_pages_dirty": pages})


def stopping(timeout: str, **properties: str) -> Process:
    return process(properties={"TimeoutStopUSec": timeout, **properties})


def turning(unit: Process) -> Host:
    return host(storage=storage(disks=(disk(kind="rotating"),)), process=unit)


def test_a_shutdown_has_the_time_to_write_its_dirty_pages() -> None:
    machine = turning(stopping("1min 30s"))
    found = finding("stop-timeout", dirty(75_000), host=machine)
    assert found.evidence[0] == (
        "75000 dirty pages / 150 writes/s (usual for a disk of the kind rotating) = 500 s; "
        "systemd waits 1m 30s"
    )
    assert sentences(found) == ["TimeoutStopSec=2040 for mariadb.service (now 1min 30s)"]
    assert settled("stop-timeout", dirty(75_000), host=machine)


def test_a_shutdown_without_a_foreseeable_end_is_waited_for() -> None:
    machine = turning(stopping("1min 30s"))
    assert sentences(finding("stop-timeout", dirty(10_000_000), host=machine)) == [
        "TimeoutStopSec=infinity for mariadb.service (now 1min 30s)"
    ]
    assert settled("stop-timeout", dirty(10_000_000), host=machine)


def test_a_fast_disk_and_a_unit_that_never_kills_need_no_longer_wait() -> None:
    speeds = (DiskSpeed(mount_point="/data", read_iops=90_000, write_iops=50_000),)
    fast = host(storage=storage(speeds=speeds), process=stopping("1min 30s"))
    assert isinstance(judged("stop-timeout", dirty(100_000), host=fast), Fine)
    for unit in (stopping("15min"), stopping("infinity"), stopping("1min 30s", SendSIGKILL="no")):
        assert isinstance(judged("stop-timeout", dirty(60_000), host=turning(unit)), Fine)
