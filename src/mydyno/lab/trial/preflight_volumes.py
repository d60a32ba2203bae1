"""Can the very server under test put its files on the volumes that an experiment gives them? Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from mydyno.core.server_files import VolumeName, home_of
from mydyno.core.server_variables import option_name
from mydyno.lab.plan import Point
from mydyno.lab.spec import Problem, Storage, Variant
from mydyno.lab.stack import ServerBinary, Setting
from mydyno.server.program.file_places import KINDS, Place, has_binary_log, undo_settings

_SOMEWHERE = Place(Path("/"), Path("/"))


def volume_problems(
    binary: ServerBinary, config: Mapping[str, Setting], point: Point, variant: Variant
) -> Iterator[Problem]:
    """What this server cannot do for the volumes of `point`, each at its line; `config` as it is written."""
    storage = point.setup.storage
    if storage is not None:
        yield from _places_said_twice(config, storage, variant)
        if storage.undo is not None:
            yield from _without_undo(binary, config, variant)


def _places_said_twice(
    config: Mapping[str, Setting], storage: Storage, variant: Variant
) -> Iterator[Problem]:
    written = {option_name(name): name for name in config}
    for kind in KINDS:
        home = home_of(kind.name, storage.volumes)
        # log_bin is a switch as well, and it is the experiment's.
        for name in kind.settings(_SOMEWHERE).keys() - {"log_bin"} if home != "data" else ():
            if name in written:
                yield variant.problem(
                    ("setup", "server", "config", written[name]),
                    f"storage.{home} already sets the place of the {kind.name}",
                    f"no {name}, or no storage.{home}",
                    at_key=True,
                )


def _without_undo(binary: ServerBinary, config: Mapping[str, Setting], variant: Variant) -> Iterator[Problem]:
    if "innodb_undo_directory" not in binary.options:
        yield variant.problem(
            _at("undo"),
            f"{binary.version} keeps undo logs in its system tablespace only: undo tablespaces "
            f"came with MySQL 5.6 and MariaDB 10.0 (checked with {binary.path})",
            "no storage.undo, or a newer server",
            at_key=True,
        )
    for name, value in config.items():
        if option_name(name) == "innodb_undo_tablespaces" and str(value) in ("0", "1"):
            yield variant.problem(
                ("setup", "server", "config", name),
                "storage.undo is for undo tablespaces, and the server would have none",
                "2 or more, or no storage.undo",
            )


def idle_problems(
    found: Sequence[tuple[ServerBinary, Mapping[str, Setting], Point, Variant]],
) -> Iterator[Problem]:
    """A volume for a binary log that no point of the experiment keeps; the settings in listed names."""
    with_one = [each for each in found if each[2].setup.storage and each[2].setup.storage.binlog is not None]
    if with_one and not any(has_binary_log(binary, config) for binary, config, _, _ in with_one):
        binary, _, _, variant = with_one[0]
        yield variant.problem(
            _at("binlog"),
            f"the binlog volume is never used: {binary.version} writes no binary log at any point",
            "log_bin: ON in setup.server.config, or no storage.binlog",
            at_key=True,
        )


def volume_notes(binary: ServerBinary, config: Mapping[str, Setting], point: Point) -> Iterator[str]:
    """What the volumes of `point` change beside where files lie; `config` in listed names."""
    storage = point.setup.storage
    if storage is None:
        return
    if storage.undo is not None:
        for name, value in undo_settings(binary, config).items():
            made = f"the dataset is made with {name}={value}"
            yield f"storage.undo: {made}, since {binary.version} creates none by default"
    if storage.binlog is not None and not has_binary_log(binary, config):
        yield "storage.binlog stays empty: no binary log is written here"


def _at(volume: VolumeName) -> tuple[str, ...]:
    return ("setup", "storage", volume)
