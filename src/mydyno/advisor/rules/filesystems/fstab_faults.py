"""Faulty lines of /etc/fstab.

A space inside the options makes a field too many: `defaults,nobootwait, noatime` is in published guides,
and mount(8) then takes noatime for the dump number and drops the line, so the volume is not there after the
next boot, or the boot stops. nobootwait was an option of Ubuntu's old init alone; today an unknown option
makes the mount fail. nofail says the same to systemd, and x-systemd.device-timeout how long to wait.
"""

from collections.abc import Iterator

from mydyno.advisor.rules import *

_GONE = {"nobootwait": "nofail", "bootwait": "nothing: waiting is the default", "optional": "nofail"}
_FILE = "/etc/fstab"


@Rule(
    checks="whether every line of /etc/fstab can be read, and whether all options in it still exist",
    why="An invalid line is skipped at the next boot: the data is missing, or the boot stops.",
    expected="a working boot",
    sources=(
        "fstab(5), Linux manual page",
        "systemd.mount(5), nofail, x-systemd.device-timeout=",
        "Microsoft Azure documentation, Optimize MySQL Performance on Azure Linux VMs, which has such a line",
    ),
)
def rule(system: System, _: Targets) -> Judgement:
    entries = system.host.storage.fstab if system.host else ()
    if not entries:
        return Unknown(_FILE)
    faults = [fault for entry in entries for fault in _faults(entry)]
    if not faults:
        return Fine(f"{len(entries)} lines of {_FILE} can be read, and all options in them still exist")
    broken = any(entry.fault for entry in entries)
    return finding(
        title=faults[0] if len(faults) == 1 else f"{len(faults)} faults in {_FILE}",
        evidence=tuple(faults),
        recommendation="fix the lines before the next boot",
        changes=by_hand(
            f"fix {_FILE}, and verify it before a reboot", f"editor {_FILE}", "findmnt --verify --verbose"
        ),
        severity=Severity.HIGH if broken else Severity.MEDIUM,
        effect=better("stability", "large"),
    )


def _faults(entry: FstabEntry) -> Iterator[str]:
    where = f"{_FILE}:{entry.line}"
    if entry.fault:
        yield f"{where}: {entry.fault}"
    for option in entry.options:
        if option in _GONE and option not in (entry.fault or ""):
            yield f"{where}: {option} is no longer an option: write {_GONE[option]}"
    if "" in entry.options and not entry.fault:
        yield f"{where}: an empty option: a comma too many, or a space after one"
