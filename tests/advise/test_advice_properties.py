"""What holds of any advice, on any system: it fits, agrees with itself, and is not given twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings

from advise.strategies import Case, cases
from mydyno.advise import advise, after, read_advice, rule_of
from mydyno.advise.change import ByHand, Change, RemoveVariable, SetMountOptions, SetVariable
from mydyno.advise.finding import Finding
from mydyno.advise.targets import targets_of
from mydyno.advise.targets.budget import budget
from mydyno.catalogue.durability import durability
from mydyno.facts import System

NOW = "2026-11-21T12:00:00Z"
Check = Callable[[System], None]


def carried_out(findings: tuple[Finding, ...]) -> list[Change]:
    """All changes that mydyno would make itself."""
    return [change for found in findings for change in found.changes if not isinstance(change, ByHand)]


def fits_into_memory(system: System) -> None:
    """The worst case of the advised system is inside its memory, or it was told that it cannot be; then
    the pool does not grow."""
    targets = targets_of(system)
    if targets.usable_bytes is None:
        return
    name = "innodb_buffer_pool_size"
    before = system.server.number(name)
    advised = after(system, carried_out(advise(system, NOW).findings)).server
    if targets.fits and system.server.role.managed is None:
        assert budget(advised, {}).total <= targets.usable_bytes
    elif before is not None:
        grown = advised.number(name)
        assert grown is not None
        assert grown <= before


def sets_nothing_twice(system: System) -> None:
    """Mount options of one mount may come from several rules, each option once and not both ways."""
    changes = carried_out(advise(system, NOW).findings)
    targets = Counter(change.target for change in changes if not isinstance(change, SetMountOptions))
    assert [target for target, times in targets.items() if times > 1] == []
    mounts = [change for change in changes if isinstance(change, SetMountOptions)]
    for point in {change.mount_point for change in mounts}:
        added = [option for change in mounts if change.mount_point == point for option in change.add]
        removed = [option for change in mounts if change.mount_point == point for option in change.remove]
        assert len(set(added)) == len(added)
        assert len(set(removed)) == len(removed)
        assert not set(added) & set(removed)


def stays_inside_its_rules_variables(system: System) -> None:
    for found in advise(system, NOW).findings:
        for change in found.changes:
            if isinstance(change, SetVariable | RemoveVariable):
                assert change.name in rule_of(found.rule).variables, found.rule


def is_stable(system: System) -> None:
    """Nothing is left to do after all of it was done."""
    changes = carried_out(advise(system, NOW).findings)
    again = advise(after(system, changes), NOW)
    left = {found.rule: found.changes for found in again.findings if carried_out((found,))}
    assert left == {}


def never_lowers_durability(system: System) -> None:
    findings = advise(system, NOW).findings
    changes = carried_out(findings)
    assert [found.rule for found in findings if found.durability == "lowers" and found.changes] == []
    before = durability({name: found.value for name, found in system.server.variables.items()})
    done = after(system, changes).server
    assert durability({name: found.value for name, found in done.variables.items()}).level >= before.level


def is_read_back_as_written(system: System) -> None:
    advice = advise(system, NOW)
    assert read_advice(advice.to_json(), "advice.json") == advice


CHECKS: tuple[Check, ...] = (
    fits_into_memory,
    sets_nothing_twice,
    stays_inside_its_rules_variables,
    is_stable,
    never_lowers_durability,
    is_read_back_as_written,
)
_QUIET = (HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much)


def holds(check: Check, examples: int, *, always_the_same: bool) -> None:
    """Looks for a system on which `check` fails."""

    @settings(
        max_examples=examples,
        suppress_health_check=_QUIET,
        derandomize=always_the_same,
        deadline=None,
    )
    @given(cases())
    def of_any(case: Case) -> None:
        check(case.system)

    of_any()


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_all_advice(check: Check) -> None:
    holds(check, examples=15, always_the_same=True)


@pytest.mark.slow
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_all_advice_at_length(check: Check) -> None:
    holds(check, examples=3000, always_the_same=False)
