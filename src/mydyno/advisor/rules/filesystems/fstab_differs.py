"""Mount options in force that /etc/fstab does not have, or the other way round.

A remount by hand lasts until the next boot, a changed line of fstab begins then: until somebody knows which
of the two is meant, a reboot changes the server's behaviour. A file system that fstab does not name at all
is not there after a boot, unless a mount unit of its own brings it.
"""

from collections.abc import Iterator

from mydyno.advisor.rules import *

_WITHOUT_BARRIERS = {"nobarrier", "barrier=0", "barrier=none"}


def _judge(system: System, _: Targets) -> Judgement:
    host = system.host
    if host is None or not host.storage.fstab:
        return Unknown("/etc/fstab")
    if host.container:
        return NotHere("a container's mounts are not made by its fstab")
    if host.container is None:
        return Unknown("whether the server runs in a container")
    lines = {entry.mount_point: entry for entry in host.storage.fstab}
    found = places(system)
    if not found:
        return Unknown("the mount options under the server's files")
    told: list[str] = []
    for each, _files in found:
        entry = lines.get(each.mount_point)
        if entry is None:
            if each.mount_point != "/" and each.source.startswith("/dev/"):
                told.append(f"{each.mount_point} ({each.source}): no line in /etc/fstab")
            continue
        if entry.fault:  # fstab-faults tells of it
            continue
        told += (
            f"{each.mount_point}: {now} in force, {later} in /etc/fstab:{entry.line}"
            for now, later in _differences(each.options, entry.options)
        )
    if not told:
        return Fine(f"{', '.join(each.mount_point for each, _ in found)}: mounted as /etc/fstab says")
    return RULE.finding(
        title="The next boot mounts the server's files otherwise than now",
        evidence=tuple(told),
        recommendation="make /etc/fstab say what is meant",
        changes=by_hand(
            "decide which is meant, and bring fstab and the mount together",
            "findmnt --verify",
            "mount -o remount MOUNT_POINT",
        ),
        severity=Severity.MEDIUM,
        effect=better("stability", "small", "a reboot changes nothing"),
    )


def _differences(now: tuple[str, ...], later: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """What differs of what matters to a server: in force, and after the next boot."""
    in_force, planned = _meaning(now, force=True), _meaning(later, force=False)
    return ((in_force[key], planned[key]) for key in in_force if in_force[key] != planned[key])


def _meaning(options: tuple[str, ...], force: bool) -> dict[str, str]:
    """Options as what they bring, defaults filled in. The kernel names relatime, and strictatime by naming
    neither; in fstab naming neither is relatime."""
    words = set(options)
    neither = "strictatime" if force else "relatime"
    return {
        "atime": next((word for word in ("noatime", "strictatime", "relatime") if word in words), neither),
        "barriers": "no barriers" if words & _WITHOUT_BARRIERS else "barriers",
        "data": next((word for word in options if word.startswith("data=")), "data=ordered"),
        "discard": "discard" if words & {"discard", "discard=sync"} else "no discard",
        "writing": "ro" if "ro" in words else "rw",
    }


RULE = Rule(
    checks="whether the server's file systems are mounted as /etc/fstab says",
    why="What was changed by hand is gone after the next boot, and what stands in fstab begins then.",
    expected="a reboot without surprises",
    sources=("fstab(5), Linux manual page", "mount(8), remount", "systemd-fstab-generator(8)"),
    judge=_judge,
)
