from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from mydyno.lab.stack.undo.mounts import HeldMountRoot, remove_unheld


def test_the_folder_is_there_while_it_is_held_and_the_last_holder_removes_it(tmp_path: Path) -> None:
    root = tmp_path / "mydyno"
    first, second = HeldMountRoot(root), HeldMountRoot(root)
    first.let_go()
    first.let_go()
    assert root.is_dir()
    remove_unheld(root)
    assert root.is_dir()
    second.let_go()
    assert not root.exists()


def test_a_folder_with_something_in_it_stays(tmp_path: Path) -> None:
    held = HeldMountRoot(tmp_path / "mydyno")
    (tmp_path / "mydyno" / "data").mkdir()
    held.let_go()
    assert (tmp_path / "mydyno" / "data").is_dir()


def test_the_folder_of_a_killed_holder_can_be_removed(tmp_path: Path) -> None:
    root = tmp_path / "mydyno"
    script = (
        "import sys; from pathlib import Path; from mydyno.lab.stack.undo.mounts import HeldMountRoot;"
        "held = HeldMountRoot(Path(sys.argv[1])); print(flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script, root], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        remove_unheld(root)
        assert root.is_dir()
        holder.kill()
    remove_unheld(root)
    assert not root.exists()
    remove_unheld(root)


def test_holders_that_come_and_go_at_once_never_hold_a_folder_that_is_gone(tmp_path: Path) -> None:
    root = tmp_path / "mydyno"
    script = (
        "import sys; from pathlib import Path; from mydyno.lab.stack.undo.mounts import HeldMountRoot\n"
        "for _ in range(300):\n"
        "    held = HeldMountRoot(Path(sys.argv[1])); assert Path(sys.argv[1]).is_dir(); held.let_go()\n"
    )
    holders = [subprocess.Popen([sys.executable, "-c", script, root]) for _ in range(3)]
    assert [holder.wait(60) for holder in holders] == [0, 0, 0]
    assert not root.exists()
