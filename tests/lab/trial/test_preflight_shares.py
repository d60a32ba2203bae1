"""A share of memory on servers that count their buffer pool in chunks."""

from pathlib import Path

from server.variables.releases import LISTED, MARIADB_1011, MYSQL_97

from mydyno.core.facts import HostFacts
from mydyno.core.server_version import Version
from mydyno.lab import spec
from mydyno.lab.plan import Plan, make
from mydyno.lab.stack import ServerBinary
from mydyno.lab.trial.attempt import settings_of
from mydyno.lab.trial.preflight_binary import pool_of_share, share_notes, with_pools

EXPERIMENT = """
experiment: example
setup: {server: {config: {innodb_buffer_pool_size: SIZE}}}
workload: {smack: {scenario: select-key}, connections: [1], each: {rounds: 1}}
"""


def planned(size: str, version: Version) -> tuple[Plan, list[str]]:
    experiment = spec.loads(EXPERIMENT.replace("SIZE", size), "example.yaml")
    plan = make(experiment, HostFacts(24100 * 2**20, 2, 2**40))
    (point,) = plan.points
    binary = ServerBinary(Path("/mysqld"), version, LISTED[version])
    pool = pool_of_share(binary, settings_of(point), point, experiment.variant(point.levels), 2)
    return with_pools(plan, {point.id: pool}), list(share_notes(binary, pool))


def test_a_share_becomes_whole_chunks_and_that_is_reported() -> None:
    plan, notes = planned("5% of memory", MYSQL_97)
    assert settings_of(plan.points[0]) == {"innodb_buffer_pool_size": 1280 * 2**20}
    assert notes == ["innodb_buffer_pool_size: 1280M here, since MySQL 9.7.4 rounds it to whole chunks"]


def test_a_share_stays_as_it_was_worked_out_where_it_fits() -> None:
    plan, notes = planned("5% of memory", MARIADB_1011)
    assert (settings_of(plan.points[0]), notes) == ({"innodb_buffer_pool_size": 1205 * 2**20}, [])


def test_a_size_that_was_asked_for_exactly_is_never_changed() -> None:
    plan, notes = planned("1205M", MYSQL_97)
    assert (settings_of(plan.points[0]), notes) == ({"innodb_buffer_pool_size": "1205M"}, [])
