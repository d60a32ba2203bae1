"""What the lab notes of an experiment and of the machine that it is measured on. Pure."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from mydyno import __version__
from mydyno.core.server_files import home_of
from mydyno.lab.plan import Plan
from mydyno.lab.results.records import (
    EXTERNAL_SERVER,
    LOAD_AVERAGE,
    OF_HOST,
    SERVER_HOST,
    UNSEEN_SERVER,
    ClaimRecord,
    DataRecord,
    DesignRecord,
    ExperimentRecord,
    GroundRecord,
    PointRecord,
    SettingTranslation,
    VolumeRecord,
)
from mydyno.lab.results.records import Environment as Facts
from mydyno.lab.spec import Experiment, Host, Setup
from mydyno.lab.stack import DataDirectory, ExternalFacts, FrozenDataset
from mydyno.lab.stack.cache import PageCache, WarmPool
from mydyno.lab.stack.server.placement import Placement
from mydyno.lab.trial.preflight import Prepared
from mydyno.lab.trial.running import Running
from mydyno.machine.environment import Environment
from mydyno.server.variables import Note, Remark
from mydyno.server.variables.convert import text_of


def experiment_record(experiment: Experiment, plan: Plan) -> ExperimentRecord:
    """The experiment as the lab keeps it."""
    return ExperimentRecord(
        name=experiment.name,
        question=experiment.question,
        source=experiment.source,
        size=experiment.size or "full",
        spec_text=experiment.text,
        spec_file=Path(experiment.file).name,
        plan_fingerprint=plan.fingerprint,
        seed=plan.seed,
        factors=_levels_in(experiment, plan),
        points=tuple(
            PointRecord(
                point_id=point.id,
                levels=point.levels,
                title=point.title or "the only point",
                control_of=point.control_of,
            )
            for point in plan.points
        ),
        planned_trials=len(plan.trials),
        work="ios" if all(point.workload.fio_options is not None for point in plan.points) else "queries",
        created_at=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        mydyno_version=__version__,
        design=DesignRecord(**plan.design.model_dump()),
        claims=tuple(_claims(experiment, _levels_in(experiment, plan))),
    )


def _claims(experiment: Experiment, levels: Mapping[str, Sequence[str]]) -> Iterator[ClaimRecord]:
    """Those about levels that are measured: a size of the file may have fewer."""
    for claim in experiment.claims:
        named = [*((claim.factor, each) for each in claim.order), *claim.where.items()]
        if all(level in levels[factor] for factor, level in named):
            yield ClaimRecord(factor=claim.factor, order=claim.order, where=claim.where, said=claim.said)


def _levels_in(experiment: Experiment, plan: Plan) -> dict[str, tuple[str, ...]]:
    """Factor -> the levels that some point has, in the order of the file: constraints may leave one out."""
    used = {(factor, level) for point in plan.points for factor, level in point.levels.items()}
    named = {factor.name: [level.name for level in factor.levels] for factor in experiment.factors}
    return {
        factor: tuple(level for level in levels if (factor, level) in used)
        for factor, levels in named.items()
    }


def ground_record(running: Running, host: Host) -> GroundRecord | None:
    """The environment of a trial's storage, read back while it is built; None when there is none."""
    ground = running.ground
    if ground is None:
        return None
    # What a guest's kernel counts as memory is a little different at each boot.
    given = host.guest_memory_bytes
    return GroundRecord(
        kind=ground.kind,
        kernel=ground.kernel,
        cpus=ground.cpus,
        memory_bytes=given or ground.host.facts(Path("/")).memory_bytes,
        budget=ground.budget,
        disk_model="; ".join(
            [ground.disk_model, *(f"{name}: {value}" for name, value in ground.described.items())]
        ),
        volumes=tuple(VolumeRecord(name=name, facts=facts) for name, facts in running.described().items()),
    )


def data_record(
    running: Running, setup: Setup, variables: Mapping[str, str], status: Mapping[str, str]
) -> DataRecord:
    """How the data was cloned and how warm it is; `status` is the server's before the first phase."""
    clone = running.layers.of(DataDirectory).clone
    pages = running.layers.of(PageCache)
    warmed = running.layers.all(WarmPool)
    return DataRecord(
        dataset=running.layers.of(FrozenDataset).name,
        clone=clone.how,
        clone_seconds=round(clone.seconds, 3),
        cache=setup.cache,
        file_bytes=pages.file_bytes,
        cached_bytes=pages.cached_bytes,
        warm_seconds=round(warmed[-1].seconds, 3) if warmed else None,
        pool_pages=_whole(status.get("Innodb_buffer_pool_pages_data")),
        pool_pages_total=_whole(status.get("Innodb_buffer_pool_pages_total")),
        page_bytes=_whole(variables.get("innodb_page_size")),
    )


def _whole(text: str | None) -> int | None:
    return int(text) if text is not None and text.isdigit() else None


def with_files(ground: GroundRecord, placement: Placement) -> GroundRecord:
    """The same, with which of the server's files were seen on each separate volume."""
    volumes = [volume.name for volume in ground.volumes]
    held: dict[str, list[str]] = {}
    for kind in placement.held:
        held.setdefault(home_of(kind, volumes), []).append(kind)
    return replace(
        ground,
        volumes=tuple(
            replace(volume, facts={**volume.facts, "files seen": ", ".join(held[volume.name])})
            if volume.name in held
            else volume
            for volume in ground.volumes
        ),
    )


def environment_facts(
    machines: Mapping[str | None, Environment], prepared: Prepared, engine_version: str
) -> Facts:
    """The machines that servers run on (None: this one) and their software by dotted names, for the lab and
    the report: those of a single machine as they are, else those of each host under its name."""
    servers = sorted({f"{binary.version} ({binary.path})" for binary in prepared.binaries.values()})
    alone = len(machines) == 1
    facts: dict[str, str | int | float | None] = {}
    for host, machine in machines.items():
        prefix = "" if alone or host is None else f"{OF_HOST}{host}."
        facts |= {f"{prefix}{name}": value for name, value in _machine_facts(machine).items()}
        if alone and host is not None:
            facts[SERVER_HOST] = host
    return {
        **facts,
        "server.binary": "; ".join(servers) or None,
        "engine.version": engine_version,
        "mydyno.version": __version__,
        **_external_facts(tuple(prepared.externals.values())),
    }


def _machine_facts(machine: Environment) -> Facts:
    filesystem, load = machine.filesystem, machine.load_average
    return {
        "cpu.model": machine.cpu_model,
        "cpu.usable": machine.cpus,
        "cpu.hardware_counters": machine.hardware_counters,
        "memory.bytes": machine.memory_bytes,
        "memory.transparent_hugepages": machine.transparent_hugepages,
        "memory.swappiness": machine.swappiness,
        "kernel.release": machine.kernel,
        "os.distribution": machine.distribution,
        "os.virtualisation": machine.virtualisation,
        LOAD_AVERAGE: load[0] if load else None,
        "filesystem.kind": filesystem.kind if filesystem else None,
        "filesystem.source": filesystem.source if filesystem else None,
        "filesystem.mount_point": filesystem.mount_point if filesystem else None,
        "filesystem.options": ",".join(filesystem.options) if filesystem else None,
        "disk.io_scheduler": machine.io_scheduler,
    }


def _external_facts(servers: Sequence[ExternalFacts]) -> dict[str, str]:
    """Nothing where mydyno starts all servers itself."""
    addresses = {
        EXTERNAL_SERVER: {server.login.address for server in servers},
        UNSEEN_SERVER: {server.login.address for server in servers if server.pid is None},
    }
    return {name: ", ".join(sorted(found)) for name, found in addresses.items() if found}


def translations_of(notes: Iterable[Note | Remark]) -> tuple[SettingTranslation, ...]:
    """Which settings became others on the trial's server, as the lab keeps them."""
    return tuple(
        SettingTranslation(
            name=note.name,
            value=note.value,
            became={name: text_of(value) for name, value in note.became.items()},
            why=note.why,
        )
        for note in notes
        if isinstance(note, Note)
    )
