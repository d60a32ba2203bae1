from collections.abc import Mapping
from pathlib import Path

from mydyno.core.server_version import parse_version
from mydyno.lab.stack.server.initialise import place_settings, room_settings
from mydyno.machine.local import LocalHost
from mydyno.server.program.binary import ServerBinary

SIZE, MOST = "innodb_buffer_pool_size", "innodb_buffer_pool_size_max"


class SmallHost(LocalHost):
    """This machine, if it had the address space of a guest."""

    reservable_bytes = 1 << 30


def binary(options: Mapping[str, str | None]) -> ServerBinary:
    text = "mariadbd  Ver 10.11.19-MariaDB for Linux on x86_64"
    return ServerBinary(Path("/usr/sbin/mariadbd"), parse_version(text), options)


def test_a_server_that_would_set_aside_terabytes_gets_the_size_of_the_disk() -> None:
    result = room_settings(binary({SIZE: "134217728", MOST: "8796093022208"}), SmallHost())
    assert result == {MOST: 1 << 30}


def test_a_server_that_knows_no_such_option_gets_none() -> None:
    assert room_settings(binary({SIZE: "134217728"}), SmallHost()) == {}


def test_on_a_host_with_all_the_room_nothing_is_said() -> None:
    assert room_settings(binary({MOST: "8796093022208"}), LocalHost()) == {}


def test_a_program_next_to_its_share_folder_gets_the_places_that_were_compiled_in_for_another(
    tmp_path: Path,
) -> None:
    share = tmp_path / "share" / "mysql"
    (share / "english").mkdir(parents=True)
    (share / "english" / "errmsg.sys").write_bytes(b"")
    version = parse_version("mysqld  Ver 5.7.29 for Linux on x86_64 (MySQL Community Server (GPL))")
    options = {"secure_file_priv": "/var/lib/mysql-files", "character_sets_dir": "/usr/share/mysql/charsets/"}
    unpacked = ServerBinary(tmp_path / "mysqld", version, options)
    assert unpacked.share_folder == share
    places = place_settings(unpacked, Path("/data"), Path("/scratch"))
    assert places["basedir"] == str(tmp_path)
    assert places["secure_file_priv"] == ""
    assert (places["character_sets_dir"], places["lc_messages_dir"]) == (str(share), str(share))
    (share / "charsets").mkdir()
    assert "character_sets_dir" not in place_settings(unpacked, Path("/data"), Path("/scratch"))
