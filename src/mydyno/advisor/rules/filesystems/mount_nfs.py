"""How a network file system is mounted.

With `soft` (or softerr) an I/O that the NFS server does not answer in time fails, where `hard` waits:
InnoDB then sees a failed write in the middle of its files and stops, or worse, the error is lost on the
way. `nolock` and local_lock keep locks on this machine alone: two servers can open the same data directory.
"""

from mydyno.advisor.rules import *

_KINDS = ("nfs", "nfs4")
_BAD = {
    "soft": "a write that is not answered in time fails",
    "softerr": "a write that is not answered in time fails",
    "nolock": "locks are not seen by other machines",
    "local_lock=all": "locks are not seen by other machines",
    "local_lock=posix": "locks are not seen by other machines",
}


@Rule(
    checks="whether NFS under the server's files is mounted with soft or without locks",
    why="A failed write in the middle of a data file is corruption; a late one is only late.",
    expected="a pause of the network is a wait, not a failed write",
    durability="raises: writes are retried until they succeed",
    risk="while the other machine is unavailable, the server hangs instead of failing",
    sources=("nfs(5), soft / hard, nolock, local_lock", "MySQL Reference Manual, Using NFS with MySQL"),
)
def rule(system: System, _: Targets) -> Judgement:
    mounted = require(places(system) or None, "the mount options under the server's files")
    far = [(filesystem, files) for filesystem, files in mounted if filesystem.kind in _KINDS]
    if not far:
        return NotHere("none of the server's files is on NFS")
    bad = [
        f"{filesystem.mount_point} ({files}): {option}: {_BAD[option]}"
        for filesystem, files in far
        for option in filesystem.options
        if option in _BAD
    ]
    if not bad:
        return Fine(f"{', '.join(filesystem.mount_point for filesystem, _ in far)}: hard, with locks")
    return finding(
        title="The server's files are mounted from another machine with options that can break them",
        evidence=tuple(bad),
        recommendation="mount with hard, and with locks",
        changes=by_hand("change the options in /etc/fstab and remount with the server stopped"),
        severity=Severity.CRITICAL,
        effect=better("safety", "large"),
        durability="raises",
        durability_says="no write is lost because the other machine was slow",
        restart=True,
    )
