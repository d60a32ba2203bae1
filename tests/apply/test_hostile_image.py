"""`apply`, `rollback`, `history` on an image whose journal, files and links somebody has made on purpose."""

from __future__ import annotations

import json
import os
import pty
import stat
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from apply.builders import advice_file, finding
from apply.test_apply_command import all_of
from apply.tree import make_system
from mydyno.apply.act import Act
from mydyno.apply.acts import ReadUnit, Remount, RestartServer, SetGlobals, WriteKernelFile
from mydyno.apply.apply_context import ApplyContext
from mydyno.apply.change import SetSysctl
from mydyno.apply.files.state import FileState, checksum
from mydyno.apply.rolling_back import way_back
from mydyno.apply.store.application import new_application
from mydyno.apply.store.store import Store, changes_folder, in_force
from mydyno.apply.transaction import carry_out, restore
from mydyno.cli.main import app, main
from mydyno.core.errors import ApplyError, LabError, MydynoError, UsageError

ID = "20260101-000000-000000"
PAYLOAD = b"#!/bin/sh\nid\n"


@pytest.fixture
def image(tmp_path: Path) -> Path:
    return make_system(tmp_path / "image")


@pytest.fixture
def advice(tmp_path: Path) -> str:
    change = SetSysctl(name="vm.swappiness", value="1", was="60")
    return str(advice_file(tmp_path / "advice.json", finding("swappiness", change)))


def state(content: bytes = PAYLOAD, **other: Any) -> dict[str, Any]:
    mine = {"uid": os.geteuid(), "gid": os.getegid()}
    return {"sha256": checksum(content), "mode": 0o644, **mine, **other}


def file_act(path: str, before: dict[str, Any] | None, after: dict[str, Any] | None, *folders: str) -> Any:
    return {"kind": "file", "path": path, "before": before, "after": after, "folders": list(folders)}


def journal(image: Path, *acts: Any) -> Path:
    """An application in the image, begun with all its acts and not ended."""
    folder = changes_folder(image) / ID
    (folder / "bytes").mkdir(parents=True)
    for content in (PAYLOAD, b""):
        (folder / "bytes" / checksum(content)).write_bytes(content)
    document = {"format": 1, "id": ID, "mydyno": "0.1.0", "made_at": "2026-01-01T00:00:00+00:00"}
    document |= {"does": "apply", "server": "MariaDB 10.11.19", "findings": ["swappiness"], "acts": acts}
    (folder / "application.json").write_text(json.dumps(document))
    lines = [{"begun": place} for place in range(len(acts))]
    (folder / "journal.jsonl").write_text("".join(json.dumps({"at": "x", **line}) + "\n" for line in lines))
    return folder


def run(*words: str) -> str:
    done = CliRunner().invoke(app, list(words), catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


def set_id_files(folder: Path) -> list[Path]:
    files = (path for path in folder.rglob("*") if not path.is_symlink())
    return [path for path in files if path.stat().st_mode & (stat.S_ISUID | stat.S_ISGID) and path.is_file()]


@pytest.mark.parametrize("path", ["/../../escaped", "/etc/../../escaped", "escaped", "//escaped", "/etc/./x"])
def test_a_path_that_climbs_is_no_path_of_a_journal(
    image: Path, advice: str, tmp_path: Path, path: str
) -> None:
    journal(image, file_act(path, state(mode=0o4755), None))
    for words in (("apply", advice, "--yes"), ("rollback", "--yes"), ("history", ID)):
        with pytest.raises(LabError, match="path"):
            run(*words, "--root", str(image))
    assert not (tmp_path / "escaped").exists()


@pytest.mark.parametrize("words", [("apply", "ADVICE"), ("rollback",)])
def test_the_journal_of_an_image_is_carried_out_only_after_a_yes(
    image: Path, advice: str, words: tuple[str, ...]
) -> None:
    journal(image, file_act("/etc/cron.d/x", state(), None, "/etc/cron.d"))
    words = tuple(advice if word == "ADVICE" else word for word in words)
    with pytest.raises(UsageError, match="standard input is not a terminal") as error:
        run(*words, "--root", str(image))
    assert "--yes" in (error.value.hint or "")
    assert not (image / "etc/cron.d").exists()


@pytest.mark.parametrize("answer", ["n", "y"])
def test_on_a_terminal_the_journal_of_an_image_is_shown_and_asked_about(image: Path, answer: str) -> None:
    journal(image, file_act("/etc/new", None, state()))
    (image / "etc/new").write_bytes(PAYLOAD)
    child, terminal = pty.fork()
    if child == 0:
        sys.stdin, sys.stdout = os.fdopen(0), os.fdopen(1, "w")
        sys.argv = ["mydyno", "rollback", "--root", str(image)]
        try:
            main()
            sys.stdout.flush()
        finally:
            os._exit(0)
    os.write(terminal, f"{answer}\n".encode())
    said = all_of(terminal)
    os.waitpid(child, 0)
    assert "remove /etc/new" in said
    assert "Restore it? [y/N]" in said
    assert (image / "etc/new").exists() is (answer == "n")


def test_a_link_in_the_way_of_a_journalled_file_leads_nowhere(
    image: Path, advice: str, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept").write_text("precious")
    (image / "link").symlink_to(outside)
    (image / "etc/file").symlink_to(outside / "kept")
    for path, before in (("/link/new", state()), ("/link/kept", None), ("/etc/file", state())):
        folder = journal(image, file_act(path, before, None if before else state(b"precious")))
        with pytest.raises(MydynoError, match="symbolic link"):
            run("apply", advice, "--root", str(image), "--yes")
        for name in ("application.json", "journal.jsonl"):
            (folder / name).unlink()
        for path_of_bytes in (folder / "bytes").iterdir():
            path_of_bytes.unlink()
        (folder / "bytes").rmdir()
        folder.rmdir()
    assert [path.name for path in outside.iterdir()] == ["kept"]
    assert (outside / "kept").read_text() == "precious"


def test_links_in_the_way_of_the_journal_itself_stay_inside(image: Path, advice: str, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (image / "var").mkdir()
    (image / "var/lib").symlink_to(outside)
    run("apply", advice, "--root", str(image), "--yes")
    assert list(outside.iterdir()) == []
    # As chroot(2) has it: an absolute link begins again at the root of the image.
    assert list((image / str(outside)[1:] / "mydyno/changes").glob("*/application.json"))


@pytest.mark.parametrize("name", ["application.json", "journal.jsonl", "bytes"])
def test_a_journal_behind_a_link_is_not_read(image: Path, advice: str, tmp_path: Path, name: str) -> None:
    folder = journal(image, file_act("/etc/x", state(), None))
    (folder / name).rename(tmp_path / name)
    (folder / name).symlink_to(tmp_path / name)
    with pytest.raises(MydynoError, match="link"):
        run("apply", advice, "--root", str(image), "--yes")
    assert not (image / "etc/x").exists()


@pytest.mark.parametrize("end", ["device", "fifo"])
def test_files_that_are_none_are_not_opened(image: Path, advice: str, end: str) -> None:
    target = image / "etc/sysctl.d/99-mydyno.conf"
    if end == "fifo":
        os.mkfifo(target)
    elif os.geteuid() == 0:
        os.mknod(target, stat.S_IFCHR | 0o600, os.makedev(1, 5))
    else:
        pytest.skip("only root makes devices")
    assert "is not a regular file" in run("apply", advice, "--root", str(image), "--yes")


def test_nothing_becomes_setuid_or_changes_its_owner(image: Path, advice: str) -> None:
    wanted = {
        "/etc/new": (state(mode=0o4755), None),
        "/etc/fstab": (state(mode=0o2755), state((image / "etc/fstab").read_bytes())),
        "/etc/sysctl.conf": (state(uid=12345), state((image / "etc/sysctl.conf").read_bytes())),
    }
    folder = journal(image, *(file_act(path, *states) for path, states in wanted.items()))
    for path in ("etc/fstab", "etc/sysctl.conf"):
        content = (image / path).read_bytes()
        (folder / "bytes" / checksum(content)).write_bytes(content)
    with pytest.raises(MydynoError) as error:
        run("apply", advice, "--root", str(image), "--yes")
    assert error.value.message.count("refused to give") == 3
    assert set_id_files(image) == []


def test_a_capability_of_a_journal_is_not_given() -> None:
    given = FileState(**state(attributes={"security.capability": "AQAAAgAgAAAAAAAAAAAAAAAAAAA="}))
    descriptor = os.memfd_create("file")
    try:
        given.give_to(descriptor, None)
        assert "security.capability" not in os.listxattr(f"/proc/self/fd/{descriptor}")
    finally:
        os.close(descriptor)


LIVE: tuple[Act, ...] = (
    RestartServer(unit="mariadb.service", first_run="", log=None, before={}, after={}),
    ReadUnit(unit="mariadb.service", before={}, after={}),
    Remount(mount_point="/", before=("relatime",), after=("noatime",)),
    WriteKernelFile(path="/proc/sys/vm/swappiness", before="60", after="1"),
    SetGlobals(before={"sort_buffer_size": 1}, after={"sort_buffer_size": 2}),
)


@pytest.mark.parametrize("act", LIVE, ids=lambda act: act.kind)
def test_no_act_of_an_image_reaches_this_machine(
    image: Path, advice: str, act: Act, monkeypatch: pytest.MonkeyPatch
) -> None:
    reached: list[Any] = []
    for name in ("do", "look", "take_back"):
        monkeypatch.setattr(type(act), name, lambda *words, name=name: reached.append((name, words)))
    journal(image, act.model_dump(mode="json"))
    for words in (("apply", advice), ("rollback",)):
        with pytest.raises(LabError, match="is not by mydyno, which changes only files of an image"):
            run(*words, "--root", str(image), "--yes")
    # Whatever way it came in.
    store, context = Store(changes_folder(image)), ApplyContext(root=image)
    entry = store.add(new_application("apply", "MariaDB 10.11.19", (), (act,)), ())  # type: ignore[arg-type]
    ways: tuple[Callable[[], object], ...] = (
        lambda: carry_out(entry, context, lambda line: None),
        lambda: restore(entry, context, "a reason"),
        lambda: way_back(entry, in_force([entry]), context, force=True),
    )
    for way in ways:
        with pytest.raises(ApplyError, match="it would change this machine"):
            way()
    assert reached == []


def test_the_journal_of_this_machine_is_not_read_where_others_can_write(tmp_path: Path) -> None:
    folder = tmp_path / "changes"
    folder.mkdir()
    folder.chmod(0o777)
    with pytest.raises(LabError, match="can be written by others than this user"):
        Store(folder).entries()
