"""Data of the user's own: a dump and a copied data directory become datasets of a real server."""

import gzip
import subprocess
from pathlib import Path

import pytest

from live.releases import release
from mydyno.core.errors import ServerError, UsageError
from mydyno.lab.spec import Data
from mydyno.lab.stack import (
    BuiltLayers,
    DataDirectoryLayer,
    DatasetLayer,
    RunningServer,
    ServerBinary,
    ServerLayer,
    Site,
    Stack,
)
from mydyno.lab.stack.own_data.source import recognise
from mydyno.lab.trial.own_data import Identified, identify, load_own_data
from mydyno.machine.trees import copy_tree
from mydyno.server.releases import binary_of

pytestmark = pytest.mark.live

SHOP = r"""-- a shop
CREATE DATABASE `shop`;
USE `shop`;
CREATE TABLE orders (id INT PRIMARY KEY, note VARCHAR(50)) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;
INSERT INTO orders VALUES (1,'it''s; \' two'),(2,'naïve — ☃');
DELIMITER ;;
CREATE TRIGGER t BEFORE INSERT ON orders FOR EACH ROW BEGIN SET NEW.note = 'x'; SET NEW.id = 1; END ;;
DELIMITER ;
USE `mysql`;
DELETE FROM user;
"""


def layer(binary: ServerBinary, own: Identified) -> DatasetLayer:
    def prepare(server: RunningServer) -> dict[str, object]:
        load_own_data(server, own)
        return {}

    copied = own.data if own.data.is_files else None
    return DatasetLayer(binary, {}, {"own data": own.contents}, prepare, copied=copied)


def rows(site: Site, binary: ServerBinary, dataset: DatasetLayer, sql: str) -> list[tuple[object, ...]]:
    """What a server on a clone says, as a trial starts it."""
    folder = site.lab / "trial"
    folder.mkdir(exist_ok=True)
    with Stack(site) as stack:
        built = stack.move_to([dataset, DataDirectoryLayer("t001"), ServerLayer(binary, {}, folder)])
        with built.of(RunningServer).connect() as connection, connection.cursor() as cursor:
            cursor.execute(sql)
            return list(cursor.fetchall())


def described(path: Path, **keys: str) -> Data:
    return Data(path=str(path), **keys)


def test_a_compressed_dump_is_loaded_with_its_trigger_and_without_its_accounts(
    site: Site, binary: ServerBinary, tmp_path: Path
) -> None:
    dump, change = tmp_path / "shop.sql.gz", tmp_path / "index.sql"
    dump.write_bytes(gzip.compress(SHOP.encode()))
    change.write_text("CREATE INDEX by_note ON orders (note);")
    own = identify(described(dump, schema_change=str(change)), binary)
    dataset = layer(binary, own)
    found = rows(site, binary, dataset, "SELECT id, note FROM shop.orders ORDER BY id")
    assert found == [(1, "it's; ' two"), (2, "naïve — ☃")]
    asked = "SELECT INDEX_NAME FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = 'shop' ORDER BY 1"
    assert rows(site, binary, dataset, asked) == [("by_note",), ("PRIMARY",)]
    triggers = "SELECT TRIGGER_NAME FROM information_schema.TRIGGERS WHERE TRIGGER_SCHEMA = 'shop'"
    assert rows(site, binary, dataset, triggers) == [("t",)]


def test_a_dump_of_the_servers_own_program_comes_back_as_it_was(
    site: Site, binary: ServerBinary, server: RunningServer, tmp_path: Path
) -> None:
    with server.connect() as connection, connection.cursor() as cursor:
        cursor.execute("CREATE DATABASE own_dump")
        cursor.execute("CREATE TABLE own_dump.t (a INT PRIMARY KEY, b BLOB, c DOUBLE)")
        cursor.execute("INSERT INTO own_dump.t VALUES (1, X'0027005C22', 0.1), (2, NULL, -1e300)")
        cursor.execute("CREATE VIEW own_dump.v AS SELECT a + 1 AS b FROM own_dump.t")
        cursor.execute("CHECKSUM TABLE own_dump.t")
        checksum = cursor.fetchall()[0][1]
    options = tmp_path / "client.cnf"
    options.touch(mode=0o600)
    options.write_text(f"[client]\nuser=root\npassword={server.login.password.reveal()}\n")
    command = ["mysqldump", f"--defaults-file={options}", f"--socket={server.socket}", "own_dump"]
    dump = tmp_path / "one.sql"
    dump.write_bytes(subprocess.run(command, check=True, capture_output=True).stdout)
    dataset = layer(binary, identify(described(dump, database="elsewhere"), binary))
    assert rows(site, binary, dataset, "CHECKSUM TABLE elsewhere.t") == [("elsewhere.t", checksum)]
    assert rows(site, binary, dataset, "SELECT * FROM elsewhere.v ORDER BY b") == [(2,), (3,)]


def test_a_statement_that_the_server_refuses_is_named_by_its_line(
    site: Site, binary: ServerBinary, tmp_path: Path
) -> None:
    dump = tmp_path / "new.sql"
    dump.write_text("CREATE DATABASE d;\nUSE d;\n\nCREATE TABLE t (a INT) COLLATE klingon_bin;\n")
    with pytest.raises(ServerError, match=r"new\.sql line 4: .*klingon_bin") as error:
        layer(binary, identify(described(dump), binary)).build(site, BuiltLayers())
    assert "collation" in (error.value.hint or "")
    assert not list((site.lab / "cache" / "datasets").glob("*/manifest.json"))


def copied(site: Site, binary: ServerBinary, dump: Path, to: Path) -> Path:
    """The data directory of a stopped server that has loaded `dump`."""
    dataset = layer(binary, identify(described(dump), binary)).build(site, BuiltLayers())
    copy_tree(site.host, dataset.data, to)
    return to


def test_a_data_directory_is_copied_and_left_as_it_is(
    site: Site, binary: ServerBinary, tmp_path: Path
) -> None:
    dump = tmp_path / "shop.sql"
    dump.write_text(SHOP)
    folder = copied(site, binary, dump, tmp_path / "data")
    (folder / "server-bin.000001").write_text("a binary log")
    before = {file.name: file.stat().st_mtime_ns for file in folder.iterdir()}
    dataset = layer(binary, identify(described(folder), binary))
    assert rows(site, binary, dataset, "SELECT COUNT(*) FROM shop.orders") == [(2,)]
    built = dataset.build(site, BuiltLayers())
    assert not (built.data / "server-bin.000001").exists()
    assert {file.name: file.stat().st_mtime_ns for file in folder.iterdir()} == before


def test_a_data_directory_that_a_server_has_open_is_refused(site: Site, server: RunningServer) -> None:
    with pytest.raises(UsageError, match=f"open .process {server.pid}") as error:
        recognise(server.datadir)
    assert "--from-server" in (error.value.hint or "")


@pytest.mark.slow
def test_a_data_directory_of_an_older_release_is_upgraded(
    site: Site, binary: ServerBinary, tmp_path: Path
) -> None:
    release("mariadb-10.5")
    dump = tmp_path / "shop.sql"
    dump.write_text(SHOP)
    folder = copied(site, binary_of("mariadb-10.5"), dump, tmp_path / "data")
    own = identify(described(folder), binary)
    assert own.data.said.startswith("MariaDB 10.5")
    dataset = layer(binary, own)
    assert rows(site, binary, dataset, "SELECT COUNT(*) FROM shop.orders") == [(2,)]
    roles = "SELECT COUNT(*) FROM information_schema.COLUMNS WHERE TABLE_NAME = 'global_priv'"
    assert rows(site, binary, dataset, roles) == [(3,)]
