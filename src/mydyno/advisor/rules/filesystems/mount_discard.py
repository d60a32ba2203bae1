"""How free blocks are reported to SSDs.

The option discard reports them at once, at each commit of the file system's journal after files were freed:
a DROP TABLE, a purge of binary logs or a temporary file then waits for the disk's discards, which some
disks do slowly and one after another. fstrim.timer does it once a week for all of it; that is what mount(8)
and most distributions prefer. btrfs's discard=async collects and is fine.
"""

from mydyno.advisor.rules import *

_AT_ONCE = ("discard", "discard=sync")
_REMOUNTED = ("ext4", "btrfs")
"""Those that change it by a remount."""
_TIMER = ByHand(says="let systemd trim once a week", commands=("systemctl enable --now fstrim.timer",))


@Rule(
    checks="whether and when free blocks are reported to SSDs",
    why="Discards at each commit make statements that free space wait for the disk; without discards an "
    "SSD slows down.",
    expected="drops and purges without pauses",
    risk="space of thin volumes comes back later",
    sources=("fstrim(8), Linux manual page", "ext4(5), discard", "xfs(5), discard", "btrfs(5), discard"),
)
def rule(system: System, _: Targets) -> Judgement:
    storage = system.host.storage if system.host else None
    mounted = [filesystem for filesystem, _ in places(system)]
    if storage is None or not mounted:
        return Unknown("the mount options under the server's files")
    able = [
        filesystem for filesystem in mounted if any(disk.discards for disk in storage.disks_of(filesystem))
    ]
    at_once = [filesystem for filesystem in mounted if set(_AT_ONCE) & set(filesystem.options)]
    if at_once:
        return _online(at_once, storage.trim_timer)
    if not able:
        return NotHere("no disk under the server's files takes discards")
    if storage.trim_timer is False and not all("discard=async" in filesystem.options for filesystem in able):
        return _never(able)
    timer = (
        "fstrim.timer is enabled" if storage.trim_timer else "whether fstrim.timer is enabled is not known"
    )
    return Fine(
        f"{', '.join(filesystem.mount_point for filesystem in able)}: no discard at each commit; {timer}"
    )


def _online(at_once: list[FileSystem], timer: bool | None) -> Finding:
    changes: list[Change] = [
        SetMountOptions(
            mount_point=filesystem.mount_point,
            add=("nodiscard",),
            remove=tuple(word for word in _AT_ONCE if word in filesystem.options),
            was=filesystem.options,
        )
        if filesystem.kind in _REMOUNTED
        else ByHand(
            says=f"remove discard from the line of {filesystem.mount_point} in /etc/fstab: {filesystem.kind} "
            "leaves it off from its next mount on"
        )
        for filesystem in at_once
    ]
    if timer is not True:
        changes.append(_TIMER)
    points = ", ".join(filesystem.mount_point for filesystem in at_once)
    return finding(
        title=f"{points}: freed blocks are discarded synchronously",
        evidence=(
            *(
                f"{filesystem.mount_point} ({filesystem.kind}) is mounted with discard"
                for filesystem in at_once
            ),
            f"fstrim.timer: {'not known' if timer is None else 'enabled' if timer else 'not enabled'}",
        ),
        recommendation="nodiscard, and fstrim.timer once a week",
        changes=tuple(changes),
        effect=better(
            "latency",
            "small",
            "dropped tables and purged logs do not wait for discards, which some disks do slowly",
        ),
        risk="on thin volumes the space comes back once a week, not at once",
    )


def _never(able: list[FileSystem]) -> Finding:
    points = ", ".join(filesystem.mount_point for filesystem in able)
    return finding(
        title=f"Free blocks are not reported to the disks under {points}",
        evidence=("no discard among the mount options, and fstrim.timer is not enabled",),
        recommendation="enable fstrim.timer",
        changes=(_TIMER,),
        effect=better(
            "throughput", "small", "an SSD that knows its free blocks keeps its speed of writing for longer"
        ),
        risk="the weekly trim takes I/O for some seconds or minutes",
    )
