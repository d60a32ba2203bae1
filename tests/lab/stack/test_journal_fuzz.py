"""The lab's undo journal of any content: each line is an entry of its kind, or reported as damaged."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest
from mutation import mutations

from mydyno.core.errors import UndoError
from mydyno.lab.stack.journal import FILE_NAME, Journal, outstanding_in
from mydyno.lab.stack.undo import (
    DetachLoops,
    EndProcesses,
    LiftThrottle,
    RemoveMountRoot,
    RemoveTree,
    RestoreSysfs,
    RestoreVariables,
    StopArray,
    Undo,
    Unmount,
)
from mydyno.server.access.address import External

PRIVATE = Path("/nowhere/mydyno-0123456789ab")
WAYS: tuple[Undo, ...] = (
    RemoveTree(path=PRIVATE),
    EndProcesses(argument=f"--defaults-file={PRIVATE}/my.cnf"),
    DetachLoops(folder=PRIVATE),
    Unmount(path=PRIVATE / "data"),
    RemoveMountRoot(),
    StopArray(array=Path("/dev/md0"), members=(Path("/dev/loop0"),)),
    LiftThrottle(device="7:0", group=Path("/sys/fs/cgroup/blkio"), limits={"read_iops": 1}),
    RestoreSysfs(path=Path("/sys/block/loop0/queue/scheduler"), value="none"),
    RestoreVariables(
        server=External(host="127.0.0.1", user="a", password_file="/x"), before={"a": 1, "b": None}
    ),
)


def test_a_journal_of_any_content_is_read_and_no_entry_needs_more_than_a_receipt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = [
        f'{{"intend":{number},"undo":{way.model_dump_json()}}}\n' for number, way in enumerate(WAYS, start=1)
    ]
    text = "".join(
        [*lines, '{"undone":1}\n', '{"intend":10,"undo":' + WAYS[0].model_dump_json(), ',"instead_of":2}\n']
    )
    journal = tmp_path / FILE_NAME
    journal.write_text(text)
    assert len(outstanding_in(tmp_path)) == len(WAYS) - 1
    done: list[Undo] = []
    for kind in map(type, WAYS):
        monkeypatch.setattr(kind, "carry_out", lambda way: done.append(way))
    for changed in mutations([text.encode(), lines[-1].encode()]):
        journal.write_bytes(changed)
        assert all(way.sentence() for way in outstanding_in(tmp_path))
        opened = Journal(tmp_path)
        with suppress(UndoError):
            opened.replay()
    assert done
    assert not any(way.needs_receipt for way in done)
