"""How SSDs learn which blocks are free.

The option discard tells them at once, at each commit of the file system's journal after files were freed: a
DROP TABLE, a purge of binary logs or a temporary file then waits for the disk's discards, which some disks do
slowly and one after another. fstrim.timer does it once a week for all of it; that is what mount(8) and most
distributions prefer. btrfs's discard=async collects and is fine.
"""

from mydyno.advisor.rules import *

_AT_ONCE = ("discard", "discard=sync")
_REMOUNTED = ("ext4", "btrfs")
"""Those that change it by a remount."""
_TIMER = ByHand(says="let systemd trim once a week", commands=("systemctl enable --now fstrim.timer",))


def _judge(system: System, _: Targets) -> Judgement:
    storage = system.host.storage if system.host else None
    found = [each for each, _ in places(system)]
    if storage is None or not found:
        return Unknown("the mount options under the server's files")
    able = [each for each in found if any(disk.discards for disk in storage.disks_of(each))]
    at_once = [each for each in found if set(_AT_ONCE) & set(each.options)]
    if at_once:
        return _online(at_once, storage.trim_timer)
    if not able:
        return NotHere("no disk under the server's files takes discards")
    if storage.trim_timer is False and not all("discard=async" in each.options for each in able):
        return _never(able)
    timer = (
        "fstrim.timer is enabled" if storage.trim_timer else "whether fstrim.timer is enabled is not known"
    )
    return Fine(f"{', '.join(each.mount_point for each in able)}: no discard at each commit; {timer}")


def _online(at_once: list[FileSystem], timer: bool | None) -> Finding:
    changes: list[Change] = [
        SetMountOptions(
            mount_point=each.mount_point,
            add=("nodiscard",),
            remove=tuple(word for word in _AT_ONCE if word in each.options),
            was=each.options,
        )
        if each.kind in _REMOUNTED
        else ByHand(
            says=f"take discard out of the line of {each.mount_point} in /etc/fstab: {each.kind} "
            "leaves it off from its next mount on"
        )
        for each in at_once
    ]
    if timer is not True:
        changes.append(_TIMER)
    points = ", ".join(each.mount_point for each in at_once)
    return RULE.finding(
        title=f"{points}: freed blocks are discarded while somebody waits",
        evidence=(
            *(f"{each.mount_point} ({each.kind}) is mounted with discard" for each in at_once),
            f"fstrim.timer: {'not known' if timer is None else 'enabled' if timer else 'not enabled'}",
        ),
        recommendation="nodiscard, and fstrim.timer once a week",
        changes=tuple(changes),
        severity=Severity.LOW,
        effect=better(
            "latency",
            "small",
            "dropped tables and purged logs do not wait for discards, which some disks do slowly",
        ),
        risk="on thin volumes the space comes back once a week, not at once",
    )


def _never(able: list[FileSystem]) -> Finding:
    points = ", ".join(each.mount_point for each in able)
    return RULE.finding(
        title=f"Nobody tells the disks under {points} which blocks are free",
        evidence=("no discard among the mount options, and fstrim.timer is not enabled",),
        recommendation="enable fstrim.timer",
        changes=(_TIMER,),
        severity=Severity.LOW,
        effect=better(
            "throughput", "small", "an SSD that knows its free blocks keeps its speed of writing for longer"
        ),
        risk="the weekly trim takes I/O for some seconds or minutes",
    )


RULE = Rule(
    checks="whether SSDs are told of free blocks, and when",
    why="Discards at each commit make whoever frees space wait for the disk; none at all let it slow down.",
    expected="drops and purges without pauses",
    risk="space of thin volumes comes back later",
    sources=("fstrim(8), Linux manual page", "ext4(5), discard", "xfs(5), discard", "btrfs(5), discard"),
    judge=_judge,
)
