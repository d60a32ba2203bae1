"""Mount options in force that /etc/fstab does not have, or the other way round.

A remount by hand lasts until the next boot, a changed line of fstab takes effect then: until they agree, a
reboot changes the server's behaviour. A file system that fstab does not name at all is not there after a
boot, unless a systemd mount unit mounts it.
"""

from collections.abc import Iterator

from mydyno.advisor.rules import *

_WITHOUT_BARRIERS = {"nobarrier", "barrier=0", "barrier=none"}


@Rule(
    checks="whether the server's file systems are mounted as /etc/fstab says",
    why="Changes made by hand are lost at the next boot, and fstab's options take effect.",
    expected="a reboot without surprises",
    sources=("fstab(5), Linux manual page", "mount(8), remount", "systemd-fstab-generator(8)"),
)
def rule(system: System, _: Targets) -> Judgement:
    host = system.host
    if host is None or not host.storage.fstab:
        return Unknown("/etc/fstab")
    if host.container:
        return NotHere("a container's mounts are not made by its fstab")
    if host.container is None:
        return Unknown("whether the server runs in a container")
    lines = {entry.mount_point: entry for entry in host.storage.fstab}
    mounted = require(places(system) or None, "the mount options under the server's files")
    differences: list[str] = []
    for filesystem, _files in mounted:
        entry = lines.get(filesystem.mount_point)
        if entry is None:
            if filesystem.mount_point != "/" and filesystem.source.startswith("/dev/"):
                differences.append(f"{filesystem.mount_point} ({filesystem.source}): no line in /etc/fstab")
            continue
        if entry.fault:  # reported by fstab-faults
            continue
        differences += (
            f"{filesystem.mount_point}: {now} in force, {later} in /etc/fstab:{entry.line}"
            for now, later in _differences(filesystem.options, entry.options)
        )
    if not differences:
        return Fine(
            f"{', '.join(filesystem.mount_point for filesystem, _ in mounted)}: mounted as /etc/fstab says"
        )
    return finding(
        title="The next boot mounts the server's files with other options",
        evidence=tuple(differences),
        recommendation="make /etc/fstab and the mounts agree",
        changes=by_hand(
            "decide which options are right, and set them in fstab and on the mount",
            "findmnt --verify",
            "mount -o remount MOUNT_POINT",
        ),
        severity=Severity.MEDIUM,
        effect=better("stability", "small"),
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
