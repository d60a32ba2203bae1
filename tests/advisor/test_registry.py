"""The rules as a whole: each is documented, none in another's way, and old guides' advice has its rule."""

import re
from collections import Counter
from importlib import import_module
from inspect import getsource
from pkgutil import walk_packages

import pytest

from mydyno.advisor import RULES, rule_of, rules
from mydyno.advisor.rule import LAYERS, Rule
from mydyno.core.errors import UsageError
from mydyno.server.variables import catalogue

LEAST = 60
SEEDS = {
    "RAID instead of single disks, its level by the workload (000, 002, 003)": ["raid-level"],
    "RAID 0 under a database: a disk that fails takes all (000)": ["raid-redundancy"],
    "the chunk's size (000, 002)": ["raid-chunk"],
    "redo and binary logs on disks of their own (003)": ["redo-apart"],
    "the I/O scheduler by the kind of disk (000, 002)": [
        *("scheduler-nvme", "scheduler-ssd", "scheduler-rotating", "scheduler-virtual"),
    ],
    "elevator= on the kernel's command line (000, 002)": ["elevator-parameter"],
    "noatime (000, 002)": ["mount-atime"],
    "the line of fstab: nobootwait, and the space in it (000, 002)": ["fstab-faults"],
    "the file system (000, 004)": ["filesystem-kind", "mount-barriers"],
    "open files in limits.conf and rc.local (000, 002)": [
        *("open-files-limit-of-process", "open-files-limit", "limits-conf-ignored"),
    ],
    "processes in limits.conf (000, 002)": ["process-limit"],
    "innodb_buffer_pool_size (000, 002, 003)": ["buffer-pool-size"],
    "innodb_log_file_size (000, 002)": ["redo-capacity"],
    "max_connections (000, 001, 002)": ["max-connections"],
    "innodb_file_per_table (000, 002)": ["file-per-table"],
    "innodb_flush_log_at_trx_commit (000, 002)": ["flush-at-commit"],
    "innodb_log_buffer_size by Innodb_log_waits (000, 002)": ["log-buffer"],
    "query_cache_size = 0 (000, 002)": ["query-cache"],
    "the slow log (000, 002)": ["slow-log", "long-query-time"],
    "thread_cache_size by Threads_created (001)": ["thread-cache", "thread-pool"],
    "the data copied to the array, datadir left on the root (000, 002)": ["data-on-root"],
}
"""What two old tuning guides say, and the rules that bring it up to date."""
BESIDE = {
    "the memory budget over RAM": ["memory-budget"],
    "I/O capacity by the measured disk": ["io-capacity"],
    "flush method and doublewrite": ["flush-method", "doublewrite"],
    "binary log sync": ["binary-log-sync"],
    "table caches": ["table-open-cache", "table-definition-cache"],
    "temporary tables": ["tmp-table-size"],
    "sort and join buffers that are too big": ["sort-buffer", "join-buffer"],
    "isolation, autoinc, deadlocks": ["isolation-level", "autoinc-lock-mode", "deadlocks"],
}
"""What they do not mention."""


def modules() -> list[str]:
    found = walk_packages(rules.__path__, f"{rules.__name__}.")
    return [module.name for module in found if not module.ispkg]


def test_an_id_is_the_name_of_its_file() -> None:
    for name in modules():
        module = import_module(name)
        if not name.endswith("__init__"):
            assert module.rule.id == name.rpartition(".")[2].replace("_", "-")


def test_ids_are_unique() -> None:
    assert [name for name, times in Counter(rule.id for rule in RULES).items() if times > 1] == []


def test_the_folders_of_the_rules_are_the_layers() -> None:
    assert {name.split(".")[3] for name in modules()} == set(LAYERS)


def test_a_rule_file_has_one_line_for_all_that_rules_share() -> None:
    shared = set(rules.__all__)
    for name in modules():
        imported = re.findall(r"^from mydyno\S* import (.+)$", getsource(import_module(name)), re.MULTILINE)
        assert "*" in imported
        assert not shared & {word for names in imported for word in names.split(", ")}


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_a_rule_says_what_it_checks_and_why_and_from_where(rule: Rule) -> None:
    for text in (rule.checks, rule.why, rule.expected, rule.durability, rule.risk):
        assert text.strip()
    assert rule.sources
    assert all(len(source) > 10 for source in rule.sources)
    explanation = import_module(rule.module).__doc__
    assert explanation is not None
    assert len(explanation) > 200, "the docstring is what `mydyno rules show` shows to a DBA"


def test_no_variable_is_set_by_two_rules() -> None:
    owners = Counter(name for rule in RULES for name in rule.variables)
    assert [name for name, times in owners.items() if times > 1] == []


def test_the_catalogue_has_a_row_for_every_variable_that_a_rule_sets() -> None:
    assert [name for rule in RULES for name in rule.variables if name not in catalogue()] == []


def test_a_rule_that_is_not_there_is_answered_with_the_nearest() -> None:
    with pytest.raises(UsageError) as refused:
        rule_of("swappyness")
    assert refused.value.hint == "did you mean swappiness?"


def test_there_are_many() -> None:
    assert len(RULES) >= LEAST


@pytest.mark.parametrize("item", [*SEEDS, *BESIDE])
def test_what_the_seeds_say_and_what_they_leave_out_has_its_rule(item: str) -> None:
    for name in {**SEEDS, **BESIDE}[item]:
        assert rule_of(name).sources
