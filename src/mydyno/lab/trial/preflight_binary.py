"""What only the server's binary knows of a point: its buffer pool, its caches, its volumes. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from mydyno.core.document.problems import Problem
from mydyno.core.server_files import VolumeName, home_of
from mydyno.core.server_variables import OFF_WORDS, option_name
from mydyno.lab.plan import Plan, Point
from mydyno.lab.spec import ConfigValue, Storage, Variant
from mydyno.lab.stack import ServerBinary, Setting
from mydyno.server.program.chunks import POOL, in_whole_chunks
from mydyno.server.program.file_places import KINDS, Place, has_binary_log, undo_settings
from mydyno.server.variables.convert import size_text

_SOMEWHERE = Place(Path("/"), Path("/"))


def cache_notes(binary: ServerBinary, settings: Mapping[str, Setting], point: Point) -> Iterator[str]:
    """`settings` are those of this very binary."""
    if point.setup.cache == "cold" and (setting := _direct(binary, settings)) is not None:
        yield (
            f"cache: cold has no effect on InnoDB's tables: {binary.version} bypasses the page cache "
            f"for them ({setting})"
        )


def _direct(binary: ServerBinary, settings: Mapping[str, Setting]) -> str | None:
    """The setting that has tables opened with O_DIRECT; MariaDB made several of one in 11.0."""
    in_force = {**binary.options, **settings}
    buffering = in_force.get("innodb_data_file_buffering")
    if buffering is not None:
        return "innodb_data_file_buffering=OFF" if str(buffering).lower() in OFF_WORDS else None
    method = str(in_force.get("innodb_flush_method"))
    return f"innodb_flush_method={method}" if method.upper().startswith("O_DIRECT") else None


def pool_of_share(
    binary: ServerBinary, config: Mapping[str, Setting], point: Point, variant: Variant, cpus: int
) -> int | None:
    """The bytes to ask for instead of the share that was worked out; None when there is none or it fits."""
    written = variant.setup.server.config.get(POOL)
    size = point.setup.server.config[POOL].number if written is not None and written.share else None
    if size is None:
        return None
    whole = in_whole_chunks(binary, config, int(size), cpus)
    return None if whole == size else whole


def share_notes(binary: ServerBinary, pool: int | None) -> Iterator[str]:
    """What a plan says of it."""
    if pool is not None:
        yield f"{POOL}: {size_text(pool)} here, since {binary.version} rounds it to whole chunks"


def with_pools(plan: Plan, pools: Mapping[str, int | None]) -> Plan:
    """The plan with those sizes, by the ids of its points."""
    points = []
    for point in plan.points:
        pool = pools.get(point.id)
        if pool is not None:
            server = point.setup.server
            config = {**server.config, POOL: ConfigValue(pool)}
            setup = point.setup.model_copy(update={"server": server.model_copy(update={"config": config})})
            point = point.model_copy(update={"setup": setup})
        points.append(point)
    return plan.model_copy(update={"points": tuple(points)})


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
    """What the volumes of `point` change in addition to where files are; `config` in listed names."""
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
