"""Remounting: the options that are asked for, and, in private mount namespaces, that they come and go."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from mydyno.apply.acts.remount import mounted
from mydyno.core.errors import ApplyError

MOUNTINFO = """\
22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw,errors=remount-ro
23 22 254:16 / /srv/my\\040data rw,nosuid,noatime shared:2 - xfs /dev/vdb rw,attr2,inode64
24 22 0:30 / /over rw - tmpfs below rw
25 22 0:31 / /over rw,relatime - tmpfs above rw,size=64k
"""


def test_the_uppermost_mount_counts_with_options_of_mount_and_file_system() -> None:
    assert mounted("/", MOUNTINFO).options == ("rw", "relatime", "errors=remount-ro")
    assert mounted("/over", MOUNTINFO).source == "above"
    found = mounted("/srv/my data", MOUNTINFO)
    assert (found.source, found.options[:3]) == ("/dev/vdb", ("rw", "nosuid", "noatime"))
    with pytest.raises(ApplyError, match="nothing is mounted at /srv"):
        mounted("/srv", MOUNTINFO)


STORY = """
import subprocess, sys
from pathlib import Path
from mydyno.apply.acts.remount import Remount, mounted, remounting
from mydyno.apply.apply_context import ApplyContext

place, first, add, remove = sys.argv[1], sys.argv[2], sys.argv[3].split(","), sys.argv[4].split(",")
subprocess.run(["mount", "-t", "tmpfs", "-o", first, "tmpfs", place], check=True)
before, context = mounted(place), ApplyContext()
act = remounting(place, [each for each in add if each], [each for each in remove if each])
assert act is not None
act = Remount.model_validate_json(act.model_dump_json())
stands = [act.look(context).state]
act.do(context)
act.do(context)
stands.append(act.look(context).state)
print(*stands, ",".join(mounted(place).options))
assert remounting(place, [each for each in add if each], [each for each in remove if each]) is None
back = act.reversed()
back.do(context)
assert back.look(context).state == "after", back.look(context)
assert mounted(place) == before, (mounted(place), before)
"""


@pytest.mark.parametrize(
    ("first", "add", "remove", "becomes"),
    [
        ("size=64k,nosuid", "noatime", "", "rw,nosuid,noatime,size=64k"),
        ("size=64k,strictatime", "noatime", "", "rw,noatime,size=64k"),
        ("size=64k,noatime,nodiratime", "relatime", "noatime", "rw,nodiratime,relatime,size=64k"),
        ("size=64k,nodev,noexec,noatime", "", "noexec", "rw,nodev,noatime,size=64k"),
        ("size=64k", "noatime,nofail,x-systemd.device-timeout=5", "", "rw,noatime,size=64k"),
    ],
)
def test_a_remount_brings_the_options_and_its_reverse_what_was(
    tmp_path: Path, first: str, add: str, remove: str, becomes: str
) -> None:
    apart = ["unshare", "--mount", *([] if os.geteuid() == 0 else ["--map-root-user"])]
    done = subprocess.run(
        [*apart, sys.executable, "-c", STORY, str(tmp_path), first, add, remove],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0 and done.stderr.startswith("unshare:"):
        pytest.skip(f"no private mount namespace can be made here: {done.stderr}")
    assert done.returncode == 0, done.stderr
    first_stand, then, options = done.stdout.split()
    assert (first_stand, then) == ("before", "after")
    assert sorted(set(options.split(",")) - {"uid=0", "gid=0", "inode64"}) == sorted(becomes.split(","))
