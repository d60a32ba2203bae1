"""What `cache: cold` can do depends on the server as well."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lab.spec.builders import document
from lab.stack.builders import mariadb, mysql
from mydyno.core.facts import HostFacts
from mydyno.lab import plan, spec
from mydyno.lab.plan import Point
from mydyno.lab.stack import ServerBinary, Setting
from mydyno.lab.trial.preflight_binary import cache_notes

FACTS = HostFacts(8 * 2**30, 2, 2**40)


def point(cache: str) -> Point:
    text = document(setup=f"{{cache: {cache}}}")
    return plan.make(spec.loads(text, "example.yaml"), FACTS).points[0]


def without(binary: ServerBinary, *names: str, **more: str) -> ServerBinary:
    options = {name: value for name, value in binary.options.items() if name not in names}
    return replace(binary, options={**options, **more})


MARIADB_11 = without(mariadb(), "innodb_flush_method", innodb_data_file_buffering="FALSE")


@pytest.mark.parametrize(
    ("binary", "settings", "expected"),
    [
        (mariadb(), {}, "innodb_flush_method=O_DIRECT"),
        (mariadb(), {"innodb_flush_method": "fsync"}, None),
        (mysql(), {}, None),
        (mysql(), {"innodb_flush_method": "O_DIRECT"}, "innodb_flush_method=O_DIRECT"),
        (MARIADB_11, {}, "innodb_data_file_buffering=OFF"),
        (MARIADB_11, {"innodb_data_file_buffering": True}, None),
    ],
)
def test_cold_says_when_the_server_reads_its_tables_past_the_page_cache(
    binary: ServerBinary, settings: dict[str, Setting], expected: str | None
) -> None:
    notes = list(cache_notes(binary, settings, point("cold")))
    assert [expected is not None and expected in note for note in notes] == ([True] if expected else [])
    assert list(cache_notes(binary, settings, point("scan"))) == []


@pytest.mark.parametrize(
    ("setup", "expected"),
    [
        ("{cache: cold}", "the pages of the clone's files are dropped from this machine's page cache"),
        ("{cache: cold, host: uml, storage: {data: {disks: {size: 2G}}}}", "below its disks, stays warm"),
        ("{cache: cold, host: vm, storage: {data: {disks: {size: 2G}}}}", "go past this machine's"),
        ("{cache: scan}", "every table and index is read once before the first phase"),
        ("{cache: dump}", "loaded from the dataset's list of pages before the first phase"),
    ],
)
def test_the_plan_says_what_is_done_to_the_caches(setup: str, expected: str) -> None:
    made = plan.make(spec.loads(document(setup=setup), "example.yaml"), FACTS)
    (note,) = (note for note in made.points[0].notes if note.startswith("cache"))
    assert expected in note
    assert note in plan.render(made)
