"""What an advice would come to: whole findings, laid over each other, twice as good as once."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from advisor.strategies import Case, cases
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from apply.builders import every_kind, finding
from apply.edits.builders import MARIADB, MYSQL, reading, texts
from apply.tree import FSTAB, MAIN_CNF, SERVER_CNF
from mydyno.advisor import advise
from mydyno.apply.change import (
    ByHand,
    Change,
    SetArray,
    SetMountOptions,
    SetQueue,
    SetSysctl,
    SetSysfs,
    SetUnit,
    SetVariable,
)
from mydyno.apply.edits.option_file import Reading
from mydyno.apply.edits.texts import Texts
from mydyno.apply.finding import Finding
from mydyno.apply.proposal import Proposal, Ways, propose
from mydyno.apply.reading import Running
from mydyno.core.errors import ApplyError

SYSTEM = {
    "/etc/fstab": FSTAB,
    "/etc/mysql/my.cnf": MAIN_CNF,
    "/etc/mysql/mariadb.conf.d/50-server.cnf": SERVER_CNF,
    "/etc/sysctl.conf": "vm.swappiness=60\n",
}
VERSION = reading().version
HERE = Ways(Running(VERSION, reading()))
SWAPPINESS = SetSysctl(name="vm.swappiness", value="1", was="60")

_NAME = st.sampled_from(["vm.swappiness", "vm.dirty_ratio", "net.core.somaxconn"])
_NUMBER = st.integers(0, 10**6).map(str)
_CHANGE: st.SearchStrategy[Change] = st.one_of(
    st.builds(SetSysctl, name=_NAME, value=_NUMBER, was=st.none()),
    st.builds(
        SetVariable,
        name=st.sampled_from(["innodb_io_capacity", "innodb_io_capacity_max", "max_connections"]),
        value=st.one_of(_NUMBER, st.sampled_from(["1G", "ON", "a b", "x#y"])),
        was=st.none(),
        restart=st.booleans(),
    ),
    st.builds(
        SetQueue,
        disk=st.sampled_from(["sda", "nvme0n1"]),
        attribute=st.just("nr_requests"),
        value=_NUMBER,
        was=st.none(),
    ),
    st.builds(
        SetArray, array=st.just("md0"), attribute=st.just("stripe_cache_size"), value=_NUMBER, was=st.none()
    ),
    st.builds(
        SetSysfs,
        path=st.just("/sys/kernel/mm/transparent_hugepage/enabled"),
        value=st.sampled_from(["never", "madvise"]),
        was=st.none(),
    ),
    st.builds(
        SetUnit,
        unit=st.just("mariadb.service"),
        name=st.sampled_from(["LimitNOFILE", "TasksMax"]),
        value=_NUMBER,
        was=st.none(),
    ),
    st.builds(
        SetMountOptions,
        mount_point=st.sampled_from(["/", "/var/lib/mysql", "/nowhere"]),
        add=st.sets(st.sampled_from(["noatime", "nodiratime", "commit=30"])).map(tuple),
        remove=st.sets(st.sampled_from(["relatime", "discard"])).map(tuple),
        was=st.none(),
    ),
)


def proposed(
    *findings: Finding,
    over: Texts | None = None,
    present: Callable[[Change], str | None] = lambda change: None,
    insisted: Sequence[str] = (),
    ways: Ways = HERE,
) -> Proposal:
    return propose(findings, over or texts(SYSTEM), ways, present, insisted)


@given(st.lists(_CHANGE, max_size=8, unique_by=lambda change: change.target))
def test_what_has_been_laid_over_the_files_once_changes_nothing_the_second_time(
    changes: list[Change],
) -> None:
    findings = [finding(f"rule-{number}", change) for number, change in enumerate(changes)]
    once = proposed(*findings)
    files = {**SYSTEM, **{path: new for path, (_, new) in once.texts.changed().items()}}
    again = proposed(*findings, over=texts(files))
    assert again.texts.changed() == {}
    assert [left.finding.rule for left in again.left_out] == [left.finding.rule for left in once.left_out]


@given(st.permutations(range(8)))
def test_the_order_of_findings_does_not_matter_for_which_files_change(order: list[int]) -> None:
    findings = every_kind()
    wanted = proposed(*findings).texts.changed()
    found = proposed(*(findings[place] for place in order)).texts.changed()
    assert {path: sorted(new.splitlines()) for path, (_, new) in found.items()} == {
        path: sorted(new.splitlines()) for path, (_, new) in wanted.items()
    }


def test_a_value_that_is_neither_what_was_seen_nor_what_is_wanted_leaves_its_finding_out() -> None:
    advised = finding("swappiness", SWAPPINESS)
    for now, carried_out in (("60", True), ("1", True), ("30", False)):
        found = proposed(advised, present=lambda change, now=now: now)
        assert bool(found.findings) is carried_out
    insisted = proposed(advised, present=lambda change: "30", insisted=["swappiness"])
    assert insisted.findings == (advised,)


def test_what_is_not_there_at_all_leaves_its_finding_out_with_the_reason() -> None:
    def missing(change: Change) -> str | None:
        raise ApplyError("/sys/block/sdq/queue/scheduler cannot be read: No such file or directory")

    found = proposed(finding("scheduler", SWAPPINESS), present=missing)
    assert found.findings == ()
    assert "sdq" in found.left_out[0].because


def test_of_a_server_elsewhere_only_what_it_keeps_by_itself_can_be_changed() -> None:
    variable = SetVariable(name="max_connections", value="500", was=None, restart=False)
    findings = (finding("connections", variable), finding("swappiness", SWAPPINESS))
    keeping = proposed(*findings, ways=Ways(Running(MYSQL, None)))
    assert [each.rule for each in keeping.findings] == ["connections"]
    assert keeping.texts.changed() == {}
    forgetful = proposed(*findings, ways=Ways(Running(MARIADB, None)))
    assert [left.finding.rule for left in forgetful.left_out] == ["connections", "swappiness"]
    assert "run mydyno apply there" in forgetful.left_out[0].because


def test_what_the_user_does_is_shown_with_its_finding() -> None:
    by_hand = ByHand(says="give t a key")
    assert proposed(finding("no-key", by_hand)).by_hand == (("no-key", by_hand),)


@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
@given(cases())
def test_whatever_is_advised_can_be_written_to_files_once_and_for_all(case: Case) -> None:
    system = case.system
    findings = advise(system, "2026-11-21T20:00:00+00:00").findings
    known = Reading(system.server.release, ("/etc/mysql/my.cnf",), frozenset(system.server.variables))
    ways = Ways(Running(VERSION, known))
    once = proposed(*findings, ways=ways)
    for left in once.left_out:
        assert "fstab" in left.because, left
    files = {**SYSTEM, **{path: new for path, (_, new) in once.texts.changed().items()}}
    assert proposed(*findings, over=texts(files), ways=ways).texts.changed() == {}
