"""Starts what one trial runs on: its layers in their order, and the check of the disks before the load."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mydyno.core.errors import LabError
from mydyno.core.server_files import FORGOTTEN
from mydyno.lab.plan import Point, dataset_of, tablespace_mib
from mydyno.lab.plan.layers import starts_from_base
from mydyno.lab.plan.statements import table_names, writes
from mydyno.lab.results.records import SelfCheckRecord
from mydyno.lab.spec import External, Storage
from mydyno.lab.stack import (
    BuiltLayers,
    DataDirectoryLayer,
    DatasetLayer,
    ExternalServerLayer,
    FrozenDataset,
    Layer,
    LoadedTables,
    Origin,
    RunningServer,
    Server,
    ServerBinary,
    ServerLayer,
    Setting,
    Stack,
    TablesLayer,
)
from mydyno.lab.stack.cache import PageCacheLayer, WarmPoolLayer
from mydyno.lab.stack.disk_base_layer import DiskBaseLayer
from mydyno.lab.stack.ground import Ground
from mydyno.lab.stack.ground.choose import ground_layer
from mydyno.lab.stack.storage import FLUSHES, MountedVolume, building_layers, described, loading_layers
from mydyno.lab.stack.storage.degrade import ThrottleLayer
from mydyno.lab.trial.attempt import Attempt, settings_of
from mydyno.lab.trial.generators.hosts import opening_of
from mydyno.lab.trial.own_data import load_own_data
from mydyno.lab.trial.preflight import Prepared
from mydyno.lab.trial.self_check import self_check
from mydyno.server.program.file_places import undo_settings
from mydyno.server.variables.names import canonical

# A raw device holds InnoDB's system tablespace, so that is where the tables have to be.
_ONE_TABLESPACE: dict[str, Setting] = {"innodb_file_per_table": "OFF"}

Load = Callable[[Server], Mapping[str, Any]]
"""Fills the tables of a new dataset and gives its facts."""


@dataclass(frozen=True)
class Running:
    """The built layers, and what the check of the disks measured; `ground` is None without storage."""

    layers: BuiltLayers
    self_checks: tuple[SelfCheckRecord, ...]

    @property
    def ground(self) -> Ground | None:
        grounds = self.layers.all(Ground)  # type: ignore[type-abstract]
        return grounds[-1] if grounds else None

    @property
    def volumes(self) -> Mapping[str, MountedVolume]:
        return {volume.volume: volume for volume in self.layers.all(MountedVolume)}

    @property
    def unflushed(self) -> list[str]:
        """Volumes with something to keep on which fsync(2) does not reach the disks' media."""
        kept = {name: volume for name, volume in self.volumes.items() if name not in FORGOTTEN}
        return [name for name, volume in kept.items() if volume.described.get(FLUSHES) == "no"]

    def described(self) -> Mapping[str, Mapping[str, str]]:
        """What was read back of each volume, by its name."""
        return described(self.layers)

    @property
    def server(self) -> Server | None:
        servers = self.layers.all(Server)  # type: ignore[type-abstract]
        return servers[-1] if servers else None

    @property
    def tables(self) -> Mapping[str, int]:
        """Rows of each table of the workload, as it was loaded."""
        frozen, loaded = self.layers.all(FrozenDataset), self.layers.all(LoadedTables)
        rows: Mapping[str, int] = (loaded[-1] if loaded else frozen[-1]).facts["tables"]
        return rows


def start_stack(
    stack: Stack,
    prepared: Prepared,
    attempt: Attempt,
    load: Load,
    fill: Callable[[Running], None],
) -> Running:
    """Starts everything that the trial needs; the disks are checked under their limits and before any load.

    `fill` makes the files of a load that goes to the disks themselves, at full speed.
    """
    point, folder, trial = attempt.point, attempt.folder, f"{attempt.planned.id} {attempt.folder}"
    storage, external = point.setup.storage, point.setup.server.external
    if external is not None:
        return Running(stack.move_to(_on_external(external, prepared, point, trial, load)), ())
    dataset = dataset_layers(prepared, point, load)
    base = [_base(point, layer, folder) for layer in dataset if starts_from_base(point.setup, point.workload)]
    ground = _ground(prepared, point, folder, trial)
    top = _server(prepared, point, folder, trial)
    if storage is None:
        return Running(stack.move_to([*dataset, *ground, *top]), ())
    loading = loading_layers(storage)
    limits = [layer for layer in loading if isinstance(layer, ThrottleLayer)]
    built = [*dataset, *base, *ground, *building_layers(storage)]
    checked = _check(stack.move_to([*built, *limits]), storage)
    # The clone is made at full speed, or comes with the disks; the limits are set again before the server
    # starts.
    clone, server = top[:1], top[1:]
    if not server:
        fill(Running(stack.move_to(built), checked))
    full = [*built, *clone, *loading, *server]
    return Running(stack.move_to(full), checked)


def dataset_layers(prepared: Prepared, point: Point, load: Load) -> list[DatasetLayer]:
    """Made on this machine, whatever the environment: a guest gets a clone of the same bytes."""
    if point.workload.fio_options is not None:
        return []
    maker = prepared.maker(point)
    own = prepared.own_data.get(point.id)
    config = own_settings(prepared, point, maker) | settings_of(point) | shaping(maker, point)
    if _on_raw_device(point):
        config["innodb_data_file_path"] = f"ibdata1:{tablespace_mib(point)}M"
    contents: dict[str, object] = {**dataset_of(point.workload), "seed": prepared.plan.dataset_seed}
    workload = point.workload
    origin = Origin(workload.generator, workload.options.model_dump(mode="json"))
    if own is None:
        return [DatasetLayer(maker, config, contents=contents, prepare=load, origin=origin)]

    def load_both(server: RunningServer) -> Mapping[str, Any]:
        load_own_data(server, own)
        return load(server)

    copied = own.data if own.data.is_files else None
    contents["own data"] = own.contents
    origin = Origin(own.data.path.name.partition(".")[0], {"path": str(own.data.path)})
    return [DatasetLayer(maker, config, contents=contents, prepare=load_both, origin=origin, copied=copied)]


def own_settings(prepared: Prepared, point: Point, binary: ServerBinary) -> dict[str, Setting]:
    """Those without which no server starts on the files of a backup."""
    own = prepared.own_data.get(point.id)
    written = (own.data.settings if own is not None else None) or {}
    return {name: value for name, value in written.items() if name in binary.options}


def shaping(binary: ServerBinary, point: Point) -> dict[str, Setting]:
    """The settings that the volumes of `point` require of its dataset and of every server on it."""
    storage = point.setup.storage
    undo = storage is not None and storage.undo is not None
    return {
        **(_ONE_TABLESPACE if _on_raw_device(point) else {}),
        **(undo_settings(binary, canonical(binary, settings_of(point))) if undo else {}),
    }


def _on_external(external: External, prepared: Prepared, point: Point, trial: str, load: Load) -> list[Layer]:
    """The settings come first: some of them shape the tables."""
    tables = TablesLayer(
        database=external.database,
        names=table_names(point.workload),
        contents={**dataset_of(point.workload), "seed": prepared.plan.dataset_seed},
        writes=writes(point.workload),
        trial=trial,
        prepare=load,
    )
    return [ExternalServerLayer(external, settings_of(point)), tables]


def _base(point: Point, dataset: DatasetLayer, folder: Path) -> Layer:
    """The disks as they are when storage is built and the dataset cloned."""
    assert point.setup.storage is not None
    return DiskBaseLayer(point.setup.host, point.setup.storage, dataset, folder)


def _on_raw_device(point: Point) -> bool:
    """Whether the server's tables are on a block device without a file system."""
    storage = point.setup.storage
    return storage is not None and storage.data.filesystem == "raw"


def _ground(prepared: Prepared, point: Point, folder: Path, trial: str) -> list[Layer]:
    setup = point.setup
    if setup.storage is None and setup.host.kind == "local":
        return []
    shown = _shown(prepared, point)
    return [
        ground_layer(
            prepared.ground(point),
            setup.storage,
            folder=folder,
            trial=trial,
            shown=shown,
            machines=prepared.machines,
        )
    ]


def _shown(prepared: Prepared, point: Point) -> tuple[Path, ...]:
    """What a guest needs of this machine to run the point's server."""
    if point.workload.fio_options is not None:
        return ()
    folder = prepared.binary(point).folder
    return () if folder is None else (folder,)


def _server(prepared: Prepared, point: Point, folder: Path, trial: str) -> list[Layer]:
    """The clone of the data, the server on it, and the caches; nothing for a load that goes to the disks."""
    if point.workload.fio_options is not None:
        return []
    setup, binary = point.setup, prepared.binary(point)
    return [
        DataDirectoryLayer(trial=trial),
        PageCacheLayer(drop=setup.cache == "cold"),
        ServerLayer(
            binary,
            own_settings(prepared, point, binary) | settings_of(point) | shaping(binary, point),
            folder=folder,
            port=setup.server.network.port,
            limits=setup.limits,
            opening=opening_of(prepared.plan.load, point, prepared.machines),
        ),
        *([WarmPoolLayer(setup.cache)] if setup.cache in ("scan", "dump") else []),
    ]


def clone_layers(prepared: Prepared, point: Point, folder: Path) -> list[Layer]:
    """A server on a fresh clone of the point's dataset, on this machine, for queries after the
    trials; `folder` gets its files."""

    def made(server: Server) -> Mapping[str, Any]:
        raise LabError("the dataset of a finished run is gone", "run it again")

    return [*dataset_layers(prepared, point, made), *_server(prepared, point, folder, f"after {folder.name}")]


def _check(built: BuiltLayers, storage: Storage) -> tuple[SelfCheckRecord, ...]:
    ground = built.of(Ground)  # type: ignore[type-abstract]
    checks: Sequence[tuple[SelfCheckRecord, ...]] = [
        self_check(ground, volume, storage) for volume in built.all(MountedVolume)
    ]
    return tuple(check for each in checks for check in each)
