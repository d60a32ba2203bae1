"""What another machine has for building storage on it. Changes nothing there."""

from __future__ import annotations

from pathlib import Path

from mydyno.core.errors import HostError
from mydyno.core.facts import FarStorageFacts
from mydyno.machine.ground_facts import PROGRAMS, can_throttle, mountable
from mydyno.machine.hosts.host import RemoteHost

# The file for direct I/O has no name any more when it is written to.
_EXAMINE = """
modules="/lib/modules/$(uname -r)/kernel"
find "$modules/fs" "$modules/drivers/md" -name '*.ko*' 2>/dev/null | sed 's,.*/,module ,; s,[.]ko.*,,'
[ -e /dev/loop-control ] && echo loops
[ -e /proc/mdstat ] && echo md
unshare --mount --propagation private true 2>/dev/null && echo mounts
file="$1/direct-$$"; shift
if : > "$file"; then
    exec 3<> "$file"; rm -f "$file"
    dd if=/dev/zero of=/proc/self/fd/3 bs=4096 count=1 oflag=direct conv=notrunc 2>/dev/null && echo direct
fi
for program; do command -v "$program" >/dev/null && echo "program $program"; done
:
"""


def storage_facts(host: RemoteHost) -> FarStorageFacts:
    """Raises HostError."""
    done = host.run(["sh", "-c", _EXAMINE, "sh", str(host.folder / "programs"), *PROGRAMS])
    if done.returncode != 0:
        raise HostError(f"{host.name}: what it has for storage cannot be read: {done.stderr.strip()}")
    lines = done.stdout.splitlines()
    modules = {line.removeprefix("module ") for line in lines if line.startswith("module ")}
    return FarStorageFacts(
        root=host.is_root,
        kernel=host.hello.kernel,
        filesystems=mountable(host.read_text(Path("/proc/filesystems")), modules),
        md="md" in lines or "md-mod" in modules,
        loops="loops" in lines,
        throttling=can_throttle(
            host.read_text(Path("/proc/cgroups")),
            host.read_text(Path("/sys/fs/cgroup/cgroup.subtree_control")),
        ),
        programs=frozenset(line.removeprefix("program ") for line in lines if line.startswith("program ")),
        user=host.user,
        folder=str(host.folder),
        private_mounts="mounts" in lines,
        direct="direct" in lines,
    )
