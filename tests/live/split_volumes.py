"""A server on volumes of this machine, for the tests of where its files lie. Needs root and loop devices."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from mydyno.core.server_files import VOLUMES
from mydyno.lab.spec import Host, Storage
from mydyno.lab.stack import (
    BuiltLayers,
    DataDirectoryLayer,
    DatasetLayer,
    RunningServer,
    ServerBinary,
    ServerLayer,
    Setting,
    Site,
    Stack,
)
from mydyno.lab.stack.ground import Ground
from mydyno.lab.stack.ground.local import LocalGroundLayer
from mydyno.lab.stack.storage import building_layers, loading_layers
from mydyno.server.program.file_places import undo_settings

ALL = Storage.model_validate({name: {"disks": {"size": "256M"}} for name in VOLUMES})
ROWS = 400


def load_a_table(server: RunningServer) -> Mapping[str, object]:
    with server.connect() as connection, connection.cursor() as cursor:
        cursor.execute("CREATE DATABASE mydyno")
        cursor.execute("CREATE TABLE mydyno.t (id INT PRIMARY KEY, pad TEXT) ENGINE=InnoDB")
        rows = ", ".join(f"({number}, REPEAT('x', 500))" for number in range(ROWS))
        cursor.execute(f"INSERT INTO mydyno.t VALUES {rows}")
    return {}


def raised(
    stack: Stack, site: Site, binary: ServerBinary, storage: Storage, config: Mapping[str, Setting]
) -> BuiltLayers:
    """A server on a clone of a small dataset, its files on the volumes, as a trial has it."""
    folder = site.lab / "t001"
    folder.mkdir(exist_ok=True)
    shape = undo_settings(binary, config) if storage.undo is not None else {}
    return stack.move_to(
        [
            DatasetLayer(binary, {**config, **shape}, {"table": ROWS}, load_a_table),
            LocalGroundLayer(Host(), storage, folder, "t001"),
            *building_layers(storage),
            DataDirectoryLayer("t001"),
            *loading_layers(storage),
            ServerLayer(binary, {**config, **shape}, folder),
        ]
    )


def written_sectors(built: BuiltLayers, volume: str) -> int:
    """That the disks of a volume have been given so far (Linux, Documentation/block/stat.rst, field 7)."""
    names = [disk.path.name for disk in built.of(Ground).disks[volume]]  # type: ignore[type-abstract]
    return sum(int(Path(f"/sys/block/{name}/stat").read_text().split()[6]) for name in names)


def write(server: RunningServer) -> None:
    """Changes rows, with redo, undo and (where it is on) the binary log; sorts and groups through tmpdir."""
    with server.connect() as connection, connection.cursor() as cursor:
        for number in range(20):
            cursor.execute(f"UPDATE mydyno.t SET pad = REPEAT('y', {400 + number}) WHERE id % 20 = {number}")
        cursor.execute("CREATE TEMPORARY TABLE mydyno.scratch ENGINE=InnoDB SELECT * FROM mydyno.t")
        cursor.execute("ALTER TABLE mydyno.t ADD KEY (pad(20))")
        cursor.execute("SELECT COUNT(*) FROM mydyno.t")
        assert cursor.fetchone() == (ROWS,)
