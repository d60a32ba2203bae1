"""What the lab notes of an experiment and of the machine that it is measured on. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from mydyno import __version__
from mydyno.catalogue import Note, Remark
from mydyno.catalogue.convert import text_of
from mydyno.host.environment import Environment
from mydyno.plan import Plan
from mydyno.results.records import (
    EXTERNAL_SERVER,
    LOAD_AVERAGE,
    UNSEEN_SERVER,
    ExperimentRecord,
    GroundRecord,
    PointRecord,
    SettingTranslation,
    VolumeRecord,
)
from mydyno.results.records import Environment as Facts
from mydyno.spec import Experiment, Host
from mydyno.spec.host import GUEST_MEMORY_BYTES
from mydyno.stack import ExternalFacts
from mydyno.trial.preflight import Prepared
from mydyno.trial.raising import Raised


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
        factors={factor.name: tuple(level.name for level in factor.levels) for factor in experiment.factors},
        points=tuple(
            PointRecord(point_id=point.id, levels=point.levels, title=point.title or "the only point")
            for point in plan.points
        ),
        planned_trials=len(plan.trials),
        work="ios" if all(point.workload.fio_options is not None for point in plan.points) else "queries",
        created_at=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        mydyno_version=__version__,
    )


_DISK_MODELS = {
    "local": "loop devices over files, or real disks; the blkio controller of this machine limits reads and "
    "writes each on their own",
    "uml": "files as block devices of User-Mode Linux; the guest's blkio controller limits reads and writes "
    "each on their own, and counts requests before they are merged",
    "vm": "files as virtio disks; QEMU limits reads and writes together, as cloud disks are limited",
}
"""What a disk of each ground is, what limits it, and how the limit counts."""


def ground_record(raised: Raised, host: Host) -> GroundRecord | None:
    """Where the storage of a trial stands, read back while it does; None when there is none."""
    ground = raised.ground
    if ground is None:
        return None
    # What a guest's kernel counts as memory is a little different at each boot.
    given = None if ground.kind == "local" else host.memory or GUEST_MEMORY_BYTES
    return GroundRecord(
        kind=ground.kind,
        kernel=ground.kernel,
        cpus=ground.cpus,
        memory_bytes=given or ground.host.facts(Path("/")).memory_bytes,
        budget=ground.budget,
        disk_model="; ".join(
            [_DISK_MODELS[ground.kind], *(f"{name}: {value}" for name, value in ground.described.items())]
        ),
        volumes=tuple(VolumeRecord(name=name, facts=facts) for name, facts in raised.described().items()),
    )


def environment_facts(machine: Environment, prepared: Prepared, engine_version: str) -> Facts:
    """The machine and its software by dotted names, for the lab and the report."""
    filesystem, load = machine.filesystem, machine.load_average
    servers = sorted({f"{binary.version} ({binary.path})" for binary in prepared.binaries.values()})
    return {
        "cpu.model": machine.cpu_model,
        "cpu.usable": machine.cpus,
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
        "server.binary": "; ".join(servers) or None,
        "engine.version": engine_version,
        "mydyno.version": __version__,
        **_external_facts(tuple(prepared.externals.values())),
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
