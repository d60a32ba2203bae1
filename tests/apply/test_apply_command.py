"""`mydyno apply`, `rollback`, `history` on the image of a system: what is shown, refused, done, undone."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from apply.builders import advice_file, every_kind, finding
from apply.tree import make_system, picture
from mydyno.apply.change import SetMountOptions, SetSysctl, SetVariable
from mydyno.apply.finding import Finding
from mydyno.cli.main import app, main
from mydyno.core.errors import ApplyError, ServerError, UsageError


class Image:
    """A system below a folder, and the commands on it."""

    def __init__(self, folder: Path) -> None:
        self.root = make_system(folder / "system")
        self.file = folder / "advice.json"

    def run(self, *words: str) -> str:
        """What the command said. Raises what it raises."""
        done = CliRunner().invoke(app, [*words, "--root", str(self.root)], catch_exceptions=False)
        assert done.exit_code == 0, done.output
        return done.output

    def apply(self, *findings: Finding, words: tuple[str, ...] = ("--yes",)) -> str:
        return self.run("apply", str(advice_file(self.file, *findings)), *words)

    def text(self, path: str) -> str:
        return (self.root / path).read_text()


@pytest.fixture
def image(tmp_path: Path) -> Image:
    return Image(tmp_path)


def swappiness(value: str = "1") -> Finding:
    return finding("swappiness", SetSysctl(name="vm.swappiness", value=value, was="60"))


def test_everything_is_applied_once_and_taken_back_to_the_byte(image: Image) -> None:
    before = picture(image.root, times=True)
    assert "Done, and read back" in image.apply(*every_kind())
    applied = picture(image.root, times=True)
    assert image.text("etc/mysql/mariadb.conf.d/zz-mydyno.cnf").endswith(
        "[mariadb]\ninnodb_io_capacity = 2000\ninnodb_log_file_size = 1G\n"
    )
    assert "noatime" in image.text("etc/fstab")
    assert "#query_cache_size = 16M" in image.text("etc/mysql/mariadb.conf.d/50-server.cnf")
    assert "LimitNOFILE=65535" in image.text("etc/systemd/system/mariadb.service.d/zz-mydyno.conf")
    assert (image.root / "etc/mysql/my.cnf").is_symlink()
    assert "Nothing to do." in image.apply(*every_kind())
    assert picture(image.root, times=True) == applied
    image.run("rollback", "--yes")
    assert picture(image.root, times=True) == before


def test_a_dry_run_shows_every_difference_and_what_is_left_to_the_user_and_changes_nothing(
    image: Image,
) -> None:
    before = picture(image.root, times=True)
    done = image.apply(*every_kind(), words=("--dry-run",))
    assert "+++ b/etc/sysctl.d/99-mydyno.conf" in done
    assert "-UUID=aaaa-2   /var/lib/mysql   ext4   relatime,errors=remount-ro   0 2  # data" in done
    assert "no-key: give t a key\n    ALTER TABLE t ADD PRIMARY KEY (a)" in done
    assert "innodb_log_file_size = 1G (now 100663296)" in done
    assert picture(image.root, times=True) == before
    assert not (image.root / "var").exists()


def test_nobody_to_ask_is_no_yes(image: Image) -> None:
    before = picture(image.root)
    with pytest.raises(UsageError, match="standard input is not a terminal"):
        image.apply(swappiness(), words=())
    assert picture(image.root) == before


def test_a_server_that_is_not_there_is_reported_and_nothing_is_done_without_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MYDYNO_STATE", str(tmp_path / "state"))
    variable = SetVariable(name="max_connections", value="500", was="10", restart=False)
    file = advice_file(tmp_path / "advice.json", finding("connections", variable))
    words = ["apply", str(file), "--server", str(tmp_path / "none.sock"), "--dry-run"]
    with pytest.raises(ServerError, match=r"none\.sock: cannot get in"):
        CliRunner().invoke(app, words, catch_exceptions=False)
    (tmp_path / "client.cnf").write_text("[client]\nuser=root\n")
    words[2:4] = ["--defaults-file", str(tmp_path / "client.cnf")]
    with pytest.raises(UsageError, match="which server") as refused:
        CliRunner().invoke(app, words, catch_exceptions=False)
    assert "--offline" in (refused.value.hint or "")
    assert not (tmp_path / "state").exists()


@pytest.mark.parametrize(("answer", "says"), [("n", "Nothing was changed."), ("y", "Done, and read back.")])
def test_on_a_terminal_it_asks(image: Image, answer: str, says: str) -> None:
    before = picture(image.root)
    file = advice_file(image.file, swappiness())
    child, terminal = pty.fork()
    if child == 0:
        sys.stdin, sys.stdout = os.fdopen(0), os.fdopen(1, "w")
        sys.argv = ["mydyno", "apply", str(file), "--root", str(image.root)]
        try:
            main()
            sys.stdout.flush()
        finally:
            os._exit(0)
    os.write(terminal, f"{answer}\n".encode())
    said = all_of(terminal)
    os.waitpid(child, 0)
    assert "Apply these 2 changes? [y/N]" in said
    assert says in said
    assert (picture(image.root) == before) is (answer == "n")


def test_findings_are_chosen_by_id_and_an_unknown_one_is_reported_with_the_nearest(image: Image) -> None:
    image.apply(*every_kind(), words=("--yes", "--only", "swappiness,atime", "--except", "atime"))
    assert not (image.root / "etc/udev").exists()
    assert "vm.swappiness = 1" in image.text("etc/sysctl.d/99-mydyno.conf")
    with pytest.raises(UsageError, match="no finding swapiness") as refused:
        image.apply(*every_kind(), words=("--yes", "--only", "swapiness"))
    assert refused.value.hint == "did you mean swappiness?"


def test_a_finding_that_cannot_be_carried_out_is_left_out_whole_and_says_why(image: Image) -> None:
    done = image.apply(
        finding(
            "atime",
            SetSysctl(name="vm.dirty_ratio", value="10", was="20"),
            SetMountOptions(mount_point="/elsewhere", add=("noatime",), was=None),
        ),
        swappiness(),
    )
    assert "atime: no line of /etc/fstab mounts /elsewhere" in done
    assert "dirty_ratio" not in image.text("etc/sysctl.d/99-mydyno.conf")


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("{", "not an advice file"),
        ('{"format": 99, "mydyno": "9.0"}', "newer mydyno"),
        ("[]", "not an advice file"),
    ],
)
def test_a_file_that_is_no_advice_is_reported(image: Image, content: str, says: str) -> None:
    image.file.write_text(content)
    with pytest.raises(UsageError, match=says):
        image.run("apply", str(image.file))


def test_an_advice_without_a_release_cannot_be_brought_to_option_files(image: Image) -> None:
    advice_file(image.file, swappiness())
    image.file.write_text(image.file.read_text().replace("MariaDB 10.11.19 at", "something at"))
    with pytest.raises(UsageError, match="does not say for which release"):
        image.run("apply", str(image.file), "--yes")


def test_what_somebody_has_changed_since_is_shown_and_kept_unless_forced(image: Image) -> None:
    before = picture(image.root, times=True)
    image.apply(*every_kind())
    changed = image.root / "etc/sysctl.d/99-mydyno.conf"
    changed.write_text(changed.read_text() + "kernel.sysrq = 0\n")
    applied = picture(image.root)
    with pytest.raises(ApplyError, match=r"(?s)nothing was rolled back.*\+kernel.sysrq = 0") as refused:
        image.run("rollback", "--yes")
    assert "--force" in (refused.value.hint or "")
    assert picture(image.root) == applied
    image.run("rollback", "--yes", "--force")
    assert picture(image.root, times=True) == before


def test_a_changed_mode_is_a_change_too(image: Image) -> None:
    image.apply(*every_kind())
    (image.root / "etc/fstab").chmod(0o600)
    with pytest.raises(ApplyError, match="/etc/fstab: its mode or owner"):
        image.run("rollback", "--yes")


def test_of_two_applications_on_one_file_the_later_goes_first(image: Image) -> None:
    before = picture(image.root, times=True)
    image.apply(swappiness("1"))
    image.apply(swappiness("5"))
    later, earlier = (row["id"] for row in json.loads(image.run("history", "--json")))
    with pytest.raises(ApplyError) as refused:
        image.run("rollback", earlier, "--yes")
    assert refused.value.hint == f"roll back what was applied later first: mydyno rollback {later}"
    image.run("rollback", "--yes")
    assert "vm.swappiness = 1\n" in image.text("etc/sysctl.d/99-mydyno.conf")
    image.run("rollback", earlier, "--yes")
    assert picture(image.root, times=True) == before
    with pytest.raises(UsageError, match="nothing that mydyno has applied is in force"):
        image.run("rollback", "--yes")
    with pytest.raises(UsageError, match=f"{earlier} is not in force any more"):
        image.run("rollback", earlier, "--yes")


def test_history_shows_what_was_done_and_what_became_of_it(image: Image) -> None:
    assert "nothing has been applied here" in image.run("history")
    image.apply(*every_kind())
    image.run("rollback", "--yes")
    back, applied = json.loads(image.run("history", "--json"))
    assert (applied["state"], applied["says"]) == ("rolled back", f"by {back['id']}")
    assert (back["state"], back["says"]) == ("done", f"took back {applied['id']}")
    assert (applied["files"], applied["live"]) == (8, 0)
    assert applied["findings"] == [each.rule for each in every_kind() if each.rule != "no-key"]
    assert "+vm.swappiness = 1" in image.run("history", applied["id"])
    assert applied["id"] in image.run("history")


def test_a_folder_of_mydynos_that_somebody_uses_stays(image: Image) -> None:
    image.apply(*every_kind())
    other = image.root / "etc/systemd/system/mariadb.service.d/own.conf"
    other.write_text("[Service]\n")
    image.run("rollback", "--yes")
    assert other.exists()
    assert not (image.root / "etc/tmpfiles.d").exists()


def test_no_link_of_an_image_leads_out_of_it(image: Image, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (image.root / "etc/sysctl.d/99-sysctl.conf").unlink()
    (image.root / "etc/sysctl.d").rmdir()
    (image.root / "etc/sysctl.d").symlink_to(outside)
    (image.root / "etc/tmpfiles.d").symlink_to("../../../../../../../../../../../../tmp")
    image.apply(*every_kind())
    assert list(outside.iterdir()) == []
    assert (image.root / str(outside)[1:] / "99-mydyno.conf").exists()
    assert (image.root / "tmp/mydyno.conf").exists()


def test_a_password_in_a_changed_file_is_not_shown_and_the_kept_bytes_are_for_their_owner(
    image: Image,
) -> None:
    path = image.root / "etc/mysql/mariadb.conf.d/50-server.cnf"
    path.write_text("[mysqld]\nwsrep_sst_auth = sst:geheim\nquery_cache_size = 16M\nssl_passphrase=geheim2\n")
    path.chmod(0o600)
    done = image.apply(*every_kind())
    assert "#query_cache_size = 16M" in done
    assert "geheim" not in done
    assert "geheim" not in image.run("history", json.loads(image.run("history", "--json"))[0]["id"])
    assert path.stat().st_mode & 0o777 == 0o600
    kept = image.root / "var/lib/mydyno/changes"
    assert not [each for each in (kept, *kept.rglob("*")) if each.stat().st_mode & 0o077]


def test_a_new_fstab_with_a_fault_is_refused_and_one_that_was_there_does_not_count(image: Image) -> None:
    fstab = image.root / "etc/fstab"
    fstab.write_text(fstab.read_text() + "UUID=x /broken ext4 a, b 0 0\n")
    atime = next(each for each in every_kind() if each.rule == "atime")
    image.apply(atime)
    assert "noatime" in fstab.read_text()


def test_a_read_only_file_system_is_reported_before_anything_happens(image: Image) -> None:
    advice_file(image.file, swappiness())
    command = (
        'mount --bind "$1" "$1" && mount -o remount,ro,bind "$1" && '
        'exec "$0" -m mydyno apply "$2" --root "$1" --yes'
    )
    argv = ["unshare", "--map-root-user", "--mount", "sh", "-c", command]
    done = subprocess.run(
        [*argv, sys.executable, str(image.root), str(image.file)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 9, done.stderr
    assert "its file system is read-only, nothing was changed" in done.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_a_user_who_may_not_write_is_advised_to_be_root(image: Image, tmp_path: Path) -> None:
    advice_file(image.file, swappiness()).chmod(0o644)
    for folder in (tmp_path, *list(tmp_path.parents)[:3]):
        folder.chmod(folder.stat().st_mode | 0o055)
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.setuid(65534)
            image.run("apply", str(image.file), "--yes")
        except ApplyError as error:
            code = 0 if "cannot be written by this user" in error.message else 2
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_a_variable_of_a_group_that_would_lose_goes_where_it_wins(image: Image) -> None:
    main = image.root / "etc/mysql/mariadb.cnf"
    main.write_text(main.read_text() + "[mariadb]\nmax_connections = 10\n")
    image.apply(
        finding("connections", SetVariable(name="max_connections", value="500", was="10", restart=False))
    )
    assert main.read_text().endswith("[mariadb]\nmax_connections = 500\n")


def all_of(terminal: int) -> str:
    said = b""
    while True:
        try:
            said += os.read(terminal, 4096)
        except OSError:  # The other end of a terminal has been closed (EIO).
            os.close(terminal)
            return said.decode()
