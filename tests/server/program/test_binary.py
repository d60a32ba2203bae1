from pathlib import Path

import pytest
from lab.stack.builders import GOLDEN, MARIADB_VERSION, mariadb

from mydyno.core.errors import MissingToolError, ServerError
from mydyno.machine.local import LocalHost
from mydyno.server.program import binary
from mydyno.server.program.binary import ServerBinary, find_binary, inspect_binary


def program(path: Path, text: str = "exit 0") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A machine without a server: only a folder of ours is searched."""
    monkeypatch.delenv("MYDYNO_SERVER", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setattr(binary, "_FOLDERS", (str(tmp_path / "sbin"),))
    return tmp_path


def test_a_missing_binary_is_reported_with_every_place_searched_and_what_to_install(bare: Path) -> None:
    with pytest.raises(MissingToolError) as caught:
        find_binary()
    assert f"{bare}/bin, {bare}/sbin" in caught.value.message
    assert "apt-get install mariadb-server-core" in str(caught.value.hint)


def test_folders_outside_an_ordinary_path_are_searched_too(bare: Path) -> None:
    server = program(bare / "sbin" / "mysqld")
    assert find_binary() == server


def test_mariadb_is_found_by_its_own_name_first(bare: Path) -> None:
    program(bare / "bin" / "mysqld")
    server = program(bare / "sbin" / "mariadbd")
    assert find_binary() == server


def test_the_environment_names_the_systems_server_and_a_path_names_it_over_that(
    bare: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(bare / "bin" / "mysqld")
    monkeypatch.setenv("MYDYNO_SERVER", str(program(bare / "mine")))
    assert find_binary() == bare / "mine"
    assert find_binary(program(bare / "other")) == bare / "other"


@pytest.mark.parametrize("what", ["missing", "folder", "plain"])
def test_a_named_binary_that_is_none_is_refused(bare: Path, what: str) -> None:
    (bare / "folder").mkdir()
    (bare / "plain").write_text("text")
    with pytest.raises(MissingToolError, match=f"the server binary {bare}/{what}"):
        find_binary(bare / what)


def test_a_wrong_name_in_the_environment_is_blamed_on_the_environment(
    bare: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MYDYNO_SERVER", "/nowhere/mysqld")
    with pytest.raises(MissingToolError, match=r"/nowhere/mysqld \(MYDYNO_SERVER\) does not exist"):
        find_binary()


def test_a_program_that_is_not_a_server_is_refused(open_folder: Path) -> None:
    path = program(open_folder / "mysqld", "echo sleep 9.1")
    with pytest.raises(ServerError, match="not a MySQL or MariaDB server"):
        inspect_binary(LocalHost(), path)


def test_a_client_that_answers_like_a_server_is_refused(open_folder: Path) -> None:
    path = program(open_folder / "mysqld", f"echo '{MARIADB_VERSION}'")
    with pytest.raises(ServerError, match=f"{path}: not a MySQL or MariaDB server"):
        inspect_binary(LocalHost(), path)


def test_a_binary_that_cannot_run_is_quoted(open_folder: Path) -> None:
    path = program(open_folder / "mysqld", "echo libaio.so.1: cannot open >&2; exit 127")
    with pytest.raises(ServerError, match=r"--version failed: libaio.so.1"):
        inspect_binary(LocalHost(), path)


def test_a_binary_is_read_again_only_when_it_has_changed(open_folder: Path) -> None:
    path = open_folder / "mysqld"
    help_text = (GOLDEN / "mariadb-10.11.19-help.txt").read_text()
    (open_folder / "help").write_text(help_text)

    def install(version: str) -> None:
        program(
            path,
            f"echo asked >> {open_folder}/asked\n"
            f'case "$*" in *--version*) echo "mysqld  Ver {version} for Linux" ;; '
            f"*) cat {open_folder}/help ;; esac",
        )

    (open_folder / "asked").touch()
    (open_folder / "asked").chmod(0o666)
    install("8.0.9")
    first = inspect_binary(LocalHost(), path)
    assert inspect_binary(LocalHost(), path) is first
    assert (open_folder / "asked").read_text().count("asked") == 2
    install("8.0.36")
    assert inspect_binary(LocalHost(), path).version.numbers == (8, 0, 36)


def test_an_unpacked_server_without_its_compiled_in_messages_uses_those_next_to_it(open_folder: Path) -> None:
    share = open_folder / "share"
    (share / "english").mkdir(parents=True)
    (share / "english" / "errmsg.sys").touch()
    (open_folder / "help").write_text((GOLDEN / "mariadb-10.11.19-help.txt").read_text())
    path = program(
        open_folder / "bin" / "mysqld",
        'case "$*" in *--version*) echo "mysqld  Ver 10.1.23-MariaDB for Linux" ;; '
        f"*--loose-lc-messages-dir={share}\\ *) cat {open_folder}/help ;; "
        "*) echo \"Can't find messagefile '/usr/local/mysql/share/errmsg.sys'\" >&2; exit 1 ;; esac",
    )
    assert inspect_binary(LocalHost(), path).version.numbers == (10, 1, 23)


def test_the_share_folder_next_to_a_binary_is_preferred_to_the_compiled_in_one(tmp_path: Path) -> None:
    path = tmp_path / "bin" / "mariadbd"
    (tmp_path / "compiled" / "charsets").mkdir(parents=True)
    options = {**mariadb().options, "character_sets_dir": f"{tmp_path}/compiled/charsets/"}
    unpacked = ServerBinary(path, mariadb().version, options)
    assert unpacked.share_folder == tmp_path / "compiled"
    (tmp_path / "share" / "mariadb" / "charsets").mkdir(parents=True)
    assert unpacked.share_folder == tmp_path / "share" / "mariadb"


def test_a_program_of_another_processor_in_a_private_root_is_reported_as_such(tmp_path: Path) -> None:
    program_file = tmp_path / "usr" / "sbin" / "mysqld"
    program_file.parent.mkdir(parents=True)
    # A 64-bit little-endian ELF header whose e_machine is that of SPARC version 9.
    program_file.write_bytes(b"\x7fELF\x02\x01\x01" + bytes(9) + b"\x02\x00\x2b\x00" + bytes(44))
    with pytest.raises(
        ServerError, match=rf"{program_file} is a program for .*, and this machine is"
    ) as raised:
        inspect_binary(LocalHost(), Path("/usr/sbin/mysqld"), tmp_path)
    assert "hint: take a build for this machine's processor" in str(raised.value)
