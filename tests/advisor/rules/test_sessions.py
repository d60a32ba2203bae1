import pytest

from advisor.builders import GIB, MARIADB, MYSQL_57, MYSQL_84, server
from advisor.rules.judging import finding, judged, sentences
from mydyno.advisor.rule import Fine, NotHere, Unknown
from mydyno.advisor.targets import Targets
from mydyno.apply.finding import Severity

MIB = 1 << 20


@pytest.mark.parametrize(
    ("rule", "name"),
    [
        ("sort-buffer", "sort_buffer_size"),
        ("join-buffer", "join_buffer_size"),
        ("read-buffer", "read_buffer_size"),
        ("read-rnd-buffer", "read_rnd_buffer_size"),
    ],
)
def test_a_buffer_of_every_session_comes_down_to_its_target(rule: str, name: str) -> None:
    large = server(variables={name: str(64 * MIB), "max_connections": "500"})
    found = finding(rule, large, Targets(session_buffers={name: 2 * MIB}))
    assert sentences(found) == [f"{name} = {2 * MIB} (now {64 * MIB})"]
    assert any("500 connections x 64M = 31.2G" in line for line in found.evidence)
    assert isinstance(judged(rule, large, Targets(session_buffers={name: 64 * MIB})), Fine)
    assert isinstance(judged(rule, server()), Unknown)


def test_where_memory_is_short_large_buffers_matter_more() -> None:
    short = Targets(
        session_buffers={"sort_buffer_size": 2 * MIB},
        usable_bytes=8 * GIB,
        memory_bytes=7 * GIB,
        memory_now_bytes=40 * GIB,
    )
    large = server(variables={"sort_buffer_size": str(64 * MIB)})
    assert finding("sort-buffer", large, short).severity is Severity.MEDIUM


def test_joins_and_scans_without_an_index_are_found_by_the_digests_where_there_are_some() -> None:
    joining = server(
        MYSQL_84,
        variables={"performance_schema": "ON"},
        status={"Select_full_join": 6000, "Com_select": 30_000},
        before={"Select_full_join": 0},
    )
    found = finding("full-joins", joining)
    assert found.severity is Severity.HIGH
    assert "events_statements_summary_by_digest" in found.changes[0].model_dump()["commands"][0]
    assert isinstance(judged("full-joins", server(status={"Select_full_join": 6})), Fine)


def test_many_rows_read_by_scans_are_a_finding_and_few_are_none() -> None:
    scanning = {"Handler_read_rnd_next": 60_000_000, "Handler_read_key": 6000, "Select_scan": 600}
    found = finding("full-scans", server(status=scanning, before=dict.fromkeys(scanning, 0)))
    assert "100%" in found.title
    indexed = {"Handler_read_rnd_next": 6000, "Handler_read_key": 60_000_000}
    assert isinstance(judged("full-scans", server(status=indexed)), Fine)


@pytest.mark.parametrize("version", [MARIADB, MYSQL_57])
def test_a_query_cache_that_answers_little_is_switched_off(version: str) -> None:
    cached = server(
        version,
        variables={"query_cache_size": str(64 * MIB), "query_cache_type": "ON"},
        status={"Qcache_hits": 100, "Com_select": 10_000},
    )
    assert sentences(finding("query-cache", cached)) == [
        "query_cache_type = OFF (now ON)",
        f"query_cache_size = 0 (now {64 * MIB})",
    ]


def test_a_query_cache_that_answers_nearly_everything_is_left_alone() -> None:
    useful = server(
        variables={"query_cache_size": str(64 * MIB), "query_cache_type": "ON"},
        status={"Qcache_hits": 9500, "Com_select": 10_000},
    )
    assert isinstance(judged("query-cache", useful), Fine)


def test_the_memory_of_a_query_cache_that_is_off_is_freed_and_mysql_8_has_none() -> None:
    off = server(variables={"query_cache_size": str(64 * MIB), "query_cache_type": "OFF"})
    found = finding("query-cache", off)
    assert (sentences(found), found.severity) == ([f"query_cache_size = 0 (now {64 * MIB})"], Severity.LOW)
    default = server(variables={"query_cache_size": str(MIB), "query_cache_type": "OFF"})
    assert isinstance(judged("query-cache", default), Fine)
    assert isinstance(judged("query-cache", server(MYSQL_84)), NotHere)


def test_an_unused_key_buffer_is_given_to_others() -> None:
    unused = server(
        variables={"key_buffer_size": str(4 * GIB)}, status={"Key_blocks_used": 100, "Key_reads": 5}
    )
    assert sentences(finding("key-buffer", unused)) == [f"key_buffer_size = {272 * MIB} (now {4 * GIB})"]
    small = server(variables={"key_buffer_size": str(16 * MIB)}, status={"Key_blocks_used": 100})
    assert isinstance(judged("key-buffer", small), Fine)


def test_a_key_buffer_that_misses_is_left_to_the_user() -> None:
    missing = server(
        variables={"key_buffer_size": str(16 * MIB)},
        status={"Key_blocks_used": 13_000, "Key_reads": 60_000, "Key_read_requests": 600_000},
        before={"Key_reads": 0},
    )
    assert [change.kind for change in finding("key-buffer", missing).changes] == ["by hand"]


@pytest.mark.parametrize(
    ("version", "taken"),
    [
        (MYSQL_57, "a sort allocates all of it at the start"),
        (MYSQL_84, "a sort allocates memory as rows arrive, up to this size"),
        (MARIADB, "a sort allocates space for the maximum number of rows, up to this size"),
    ],
)
def test_how_a_sort_takes_its_buffer_is_said_for_the_release_at_hand(version: str, taken: str) -> None:
    large = server(version, variables={"sort_buffer_size": str(64 * MIB)})
    found = finding("sort-buffer", large, Targets(session_buffers={"sort_buffer_size": 2 * MIB}))
    assert taken in found.evidence[0]
