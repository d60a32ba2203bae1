from __future__ import annotations

from mydyno.apply.finding import Finding
from mydyno.prove.ground import Ground
from mydyno.prove.levels import Levels, levels_of
from mydyno.prove.provable import Tried, tried
from mydyno.prove.shape import scaled
from prove.builders import POOL, SYNC, THREADS, finding, variable


def levels(*findings: Finding, scale: float = 1.0) -> Levels:
    found = [tried(each, Ground("sandbox")) for each in findings]
    return levels_of(scaled([each for each in found if isinstance(each, Tried)], scale))


def names(found: Levels) -> list[str]:
    return [level.name for level in found.all]


def test_each_finding_is_alone_and_all_are_together() -> None:
    found = levels(POOL, THREADS)
    assert names(found) == ["as it is", "buffer-pool", "thread-cache", "all together"]
    assert found.now.values == {
        "server.config.innodb_buffer_pool_size": "134217728",
        "server.config.thread_cache_size": "8",
    }
    assert found.alone[0].values["server.config.thread_cache_size"] == "8"
    assert found.together[0].values == {
        "server.config.innodb_buffer_pool_size": "4G",
        "server.config.thread_cache_size": "32",
    }


def test_what_raises_durability_is_kept_out_of_all_together_and_is_in_the_safer_one() -> None:
    found = levels(POOL, THREADS, SYNC)
    assert names(found)[-2:] == ["all together", "all together and safer"]
    together, safer = (level.values for level in found.together)
    assert together["server.config.innodb_flush_log_at_trx_commit"] == "2"
    assert safer["server.config.innodb_flush_log_at_trx_commit"] == "1"


def test_what_lowers_durability_is_in_neither() -> None:
    faster = finding("lazy", variable("sync_binlog", "0", "1"), durability="lowers")
    assert names(levels(POOL, faster)) == ["as it is", "buffer-pool", "lazy"]


def test_a_single_finding_has_no_level_for_all_of_them() -> None:
    assert names(levels(SYNC)) == ["as it is", "flush-at-commit"]


def test_a_finding_that_changes_nothing_at_this_size_is_reported() -> None:
    small = finding("small-pool", variable("innodb_buffer_pool_size", "64M", "32M"))
    found = levels(small, THREADS, scale=0.001)
    assert names(found) == ["as it is", "thread-cache"]
    assert [each.finding.rule for each in found.untried] == ["small-pool"]


def test_a_value_that_is_not_known_as_it_is_is_set_where_the_finding_is_followed() -> None:
    found = levels(finding("pool", variable("innodb_buffer_pool_size", "1G", None)))
    assert found.now.values == {}
    assert found.alone[0].values == {"server.config.innodb_buffer_pool_size": "1G"}
