"""What holds of any advice, on any system: it fits, agrees with itself, and is not given twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from functools import cached_property

import pytest
from hypothesis import HealthCheck, given, settings

from advisor.strategies import Case, cases
from mydyno.advisor import Advice, advise, after, read_advice, rule_of
from mydyno.advisor.targets import Targets, targets_of
from mydyno.advisor.targets.budget import budget
from mydyno.apply.allowed import refuse_foreign
from mydyno.apply.change import ByHand, Change, RemoveVariable, SetMountOptions, SetVariable
from mydyno.apply.finding import Finding
from mydyno.server.variables.durability import durability
from mydyno.survey.facts import Server, System

NOW = "2026-11-21T12:00:00Z"
POOL = "innodb_buffer_pool_size"


class Advised:
    """A system, its advice, and what it would be with all of it carried out, each worked out once."""

    def __init__(self, system: System) -> None:
        self.system = system

    @cached_property
    def targets(self) -> Targets:
        return targets_of(self.system)

    @cached_property
    def advice(self) -> Advice:
        return advise(self.system, NOW)

    @cached_property
    def changes(self) -> list[Change]:
        return carried_out(self.advice.findings)

    @cached_property
    def done(self) -> System:
        return after(self.system, self.changes)


Check = Callable[[Advised], None]


def carried_out(findings: Iterable[Finding]) -> list[Change]:
    """All changes that mydyno would make itself."""
    return [change for found in findings for change in found.changes if not isinstance(change, ByHand)]


def level(server: Server) -> int:
    return durability({name: found.value for name, found in server.variables.items()}).level


def fits_into_memory(it: Advised) -> None:
    """The worst case of the advised system is inside its memory, or it was reported that it cannot be; then
    the pool does not grow. What a managed service has is left to its console."""
    usable, before = it.targets.usable_bytes, it.system.server.number(POOL)
    if usable is None:
        return
    if it.targets.fits and it.system.server.role.managed is None:
        assert budget(it.done.server, {}).total <= usable
    elif before is not None:
        grown = it.done.server.number(POOL)
        assert grown is not None
        assert grown <= before


def sets_nothing_twice(it: Advised) -> None:
    """Mount options of one mount may come from several rules, each option once and not both ways."""
    targets = Counter(change.target for change in it.changes if not isinstance(change, SetMountOptions))
    assert [target for target, times in targets.items() if times > 1] == []
    mounts = [change for change in it.changes if isinstance(change, SetMountOptions)]
    for point in {change.mount_point for change in mounts}:
        added = [option for change in mounts if change.mount_point == point for option in change.add]
        removed = [option for change in mounts if change.mount_point == point for option in change.remove]
        assert len(set(added)) == len(added)
        assert len(set(removed)) == len(removed)
        assert not set(added) & set(removed)


def stays_inside_its_rules_variables(it: Advised) -> None:
    for found in it.advice.findings:
        for change in found.changes:
            if isinstance(change, SetVariable | RemoveVariable):
                assert change.name in rule_of(found.rule).variables, found.rule


def is_stable(it: Advised) -> None:
    """Nothing is left to do after all of it was done."""
    again = advise(it.done, NOW)
    left = {found.rule: carried_out([found]) for found in again.findings if carried_out([found])}
    assert left == {}


_FILLED = {
    "table_open_cache": "Open_tables",
    "table_definition_cache": "Open_table_definitions",
    "innodb_open_files": "Innodb_num_open_files",
    "innodb_log_file_size": "Innodb_checkpoint_age",
    "innodb_redo_log_capacity": "Innodb_checkpoint_age",
    "max_prepared_stmt_count": "Prepared_stmt_count",
}
"""The counter that shows how far a variable's room is used."""


def is_what_apply_carries_out(it: Advised) -> None:
    for change in it.changes:
        refuse_foreign(change)


def is_given_once(it: Advised) -> None:
    """A limit that was raised as advised is not raised further when the same load fills it again."""
    raised = {
        change.name: found.rule
        for found in it.advice.findings
        for change in found.changes
        if isinstance(change, SetVariable) and change.name in _FILLED
    }
    server = it.done.server
    filled = {_FILLED[name]: server.text(name) or "0" for name in raised}
    status = server.status.model_copy(update={"after": {**server.status.after, **filled}})
    full = it.done.model_copy(update={"server": server.model_copy(update={"status": status})})
    again = {
        change.name: change.sentence()
        for found in advise(full, NOW).findings
        for change in found.changes
        if isinstance(change, SetVariable) and change.name in raised
    }
    assert again == {}


def never_lowers_durability(it: Advised) -> None:
    lowering = [found.rule for found in it.advice.findings if found.durability == "lowers" and found.changes]
    assert lowering == []
    assert level(it.done.server) >= level(it.system.server)


def is_read_back_as_written(it: Advised) -> None:
    assert read_advice(it.advice.to_json(), "advice.json") == it.advice


CHECKS: tuple[Check, ...] = (
    fits_into_memory,
    sets_nothing_twice,
    stays_inside_its_rules_variables,
    is_stable,
    is_given_once,
    never_lowers_durability,
    is_read_back_as_written,
    is_what_apply_carries_out,
)
_QUIET = (HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much)


@settings(max_examples=25, suppress_health_check=_QUIET, derandomize=True)
@given(cases())
def test_all_advice(case: Case) -> None:
    advised = Advised(case.system)
    for check in CHECKS:
        check(advised)


@pytest.mark.slow
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_all_advice_at_length(check: Check) -> None:
    """Of one property at a time, so that a failure is shrunk to what breaks it."""

    @settings(max_examples=300, suppress_health_check=_QUIET)
    @given(cases())
    def of_any(case: Case) -> None:
        check(Advised(case.system))

    of_any()
