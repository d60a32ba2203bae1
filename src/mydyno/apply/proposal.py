"""What an advice would come to on this system: new texts, and what is left to the user. Nothing is done."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from mydyno.apply import change as kinds
from mydyno.apply.edits.fstab import set_mount_options
from mydyno.apply.edits.option_file import remove_variable, set_variable
from mydyno.apply.edits.sysctl import set_sysctl
from mydyno.apply.edits.texts import RefusedError, Texts
from mydyno.apply.edits.tmpfiles import set_sysfs
from mydyno.apply.edits.udev import Identity, set_block_device
from mydyno.apply.edits.unit import set_unit
from mydyno.apply.finding import Finding
from mydyno.apply.reading import Running
from mydyno.apply.refusals import Room, refuse_impossible
from mydyno.core.errors import ApplyError
from mydyno.server.variables.row import same_meaning

Present = Callable[[kinds.Change], str | None]
"""The value in force now; None: not known. May raise ApplyError: this machine does not have it."""


@dataclass(frozen=True)
class LeftOut:
    """A finding that is not carried out, and why."""

    finding: Finding
    because: str


@dataclass(frozen=True)
class Proposal:
    """The findings that are carried out, what becomes of the files, and what remains."""

    findings: tuple[Finding, ...]
    texts: Texts
    left_out: tuple[LeftOut, ...]

    @property
    def changes(self) -> tuple[kinds.Change, ...]:
        return tuple(change for each in self.findings for change in each.changes)

    @property
    def carried_out(self) -> tuple[str, ...]:
        """Ids of the findings of which not all is left to the user."""
        return tuple(
            each.rule
            for each in self.findings
            if not all(isinstance(change, kinds.ByHand) for change in each.changes)
        )

    @property
    def by_hand(self) -> tuple[tuple[str, kinds.ByHand], ...]:
        """What the user does, with the finding's id."""
        return tuple(
            (each.rule, change)
            for each in self.findings
            for change in each.changes
            if isinstance(change, kinds.ByHand)
        )


@dataclass(frozen=True)
class Ways:
    """How changes become texts on this system."""

    server: Running
    """Without its `reading` it is on another machine: only what it keeps by itself can be changed."""
    identities: Mapping[str, Identity] = field(default_factory=dict)
    """Of disks and arrays, by kernel name."""
    room: Room = field(default_factory=Room)
    """What its machine has."""


def propose(
    findings: Sequence[Finding],
    texts: Texts,
    ways: Ways,
    present: Present,
    insisted: Collection[str] = (),
) -> Proposal:
    """Lays the findings' edits over `texts`, each finding whole or not at all.

    A finding is left out when a value is neither what the advice saw nor what it wants, so that it has been
    changed since; those in `insisted`, named one by one by the user, are carried out all the same.
    """
    done: list[Finding] = []
    left: list[LeftOut] = []
    for finding in findings:
        tried = texts.branch()
        try:
            for change in finding.changes:
                now = present(change) if isinstance(change, kinds.SetVariable) else None
                refuse_impossible(change, ways.server.version, now, ways.room)
                _edit(tried, change, ways)
            # Where the files say it already it was decided so, and a server may have rounded the value.
            is_new = tried.changed() != texts.changed()
            if is_new and finding.rule not in insisted and (stale := next(_stale(finding, present), None)):
                left.append(LeftOut(finding, stale))
                continue
        except (RefusedError, ApplyError) as error:
            left.append(LeftOut(finding, str(error)))
            continue
        texts = tried
        done.append(finding)
    return Proposal(tuple(done), texts, tuple(left))


def _stale(finding: Finding, present: Present) -> Iterator[str]:
    for change in finding.changes:
        if (
            isinstance(change, kinds.ByHand | kinds.SetMountOptions | kinds.RemoveVariable)
            or change.was is None
        ):
            continue
        now = present(change)
        if now is not None and not same_meaning(now, change.was) and not same_meaning(now, change.value):
            yield (
                f"{change.target} was {change.was} when the advice was made, and is {now} now: "
                f"ask for advice again, or name it with --only to set it to {change.value} all the same"
            )


def _edit(texts: Texts, change: kinds.Change, ways: Ways) -> None:
    reading = ways.server.reading
    match change:
        case kinds.ByHand():
            return
        case kinds.SetVariable() if reading is None and ways.server.keeps_by_itself:
            return
        case _ if reading is None:
            raise RefusedError(
                "the server runs elsewhere, and mydyno changes files and the kernel only on its own machine",
                "run mydyno apply there",
            )
        case kinds.SetVariable():
            set_variable(texts, change, reading)
        case kinds.RemoveVariable():
            remove_variable(texts, change, reading)
        case kinds.SetSysctl():
            set_sysctl(texts, change)
        case kinds.SetSysfs():
            set_sysfs(texts, change)
        case kinds.SetQueue() | kinds.SetArray():
            set_block_device(texts, change, ways.identities)
        case kinds.SetMountOptions():
            set_mount_options(texts, change)
        case kinds.SetUnit():
            set_unit(texts, change)
