"""What the rules of mounts advise, on a real ext4 in a private mount namespace: done, fine, and put back."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.live

STORY = """
import subprocess, sys
from pathlib import Path

from advisor.builders import server, system
from advisor.disks import filesystem, stored
from mydyno.advisor import rule_of
from mydyno.apply.finding import Finding
from mydyno.advisor.targets import Targets
from mydyno.apply.acts.plan import live_acts
from mydyno.apply.acts.remount import mounted
from mydyno.apply.apply_context import ApplyContext

image, place = sys.argv[1:]
subprocess.run(["mount", "-o", "loop,strictatime,nobarrier,discard", image, place], check=True)


def changes():
    asked = system(server(), stored(filesystem(place, "ext4", mounted(place).options), trim_timer=True))
    judged = [
        rule_of(name).judge(asked, Targets()) for name in ("mount-atime", "mount-barriers", "mount-discard")
    ]
    return [change for found in judged if isinstance(found, Finding) for change in found.changes]


before, context = mounted(place), ApplyContext()
acts = live_acts(changes(), context, restart=False)
print(*(act.sentence().removeprefix(f"remount {place} ") for act in acts))
for act in acts:
    act.do(context)
    assert act.look(context).state == "after", act.look(context)
print(*mounted(place).options)
assert changes() == []
for act in acts:
    act.reversed().do(context)
assert mounted(place) == before, (mounted(place), before)
subprocess.run(["umount", place], check=True)
"""


def test_three_rules_change_one_mount_together_and_then_have_nothing_to_say(tmp_path: Path) -> None:
    if os.geteuid() != 0 or not Path("/dev/loop-control").exists() or shutil.which("mke2fs") is None:
        pytest.skip("a loop device with ext4 takes root, /dev/loop-control and e2fsprogs")
    image, place = tmp_path / "image", tmp_path / "place"
    place.mkdir()
    image.touch()
    os.truncate(image, 16 << 20)
    subprocess.run(["mke2fs", "-q", "-t", "ext4", str(image)], check=True)
    done = subprocess.run(
        [
            *("unshare", "--mount", "--propagation", "private"),
            *(sys.executable, "-c", STORY, str(image), str(place)),
        ],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0 and "mount:" in done.stderr.partition("Traceback")[0]:
        pytest.skip(f"no loop device can be mounted here: {done.stderr.splitlines()[0]}")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "with noatime and without discard,nobarrier,strictatime",
        "rw noatime",
    ]
