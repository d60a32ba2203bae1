"""From the command line to a checked plan: what `plan` and `run` have in common."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from mydyno.cli.trust import refuse_untrusted
from mydyno.core.errors import MissingToolError

if TYPE_CHECKING:
    from mydyno.cli.labs import LabOptions
    from mydyno.core.facts import AskedDisk, FarStorageFacts, HostFacts
    from mydyno.lab.plan import Plan
    from mydyno.lab.spec import Experiment
    from mydyno.lab.trial.preflight import Prepared
    from mydyno.machine.hosts.machines import Machines
    from mydyno.machine.protocol import Host


def prepare(
    file: Path,
    size: str | None,
    lab: LabOptions,
    host: Host,
    *,
    own_server: bool = False,
    own_data: bool = False,
    install: bool = False,
    machines: Machines | None = None,
) -> tuple[Experiment, Prepared]:
    """Read, plan and check an experiment against this machine and its servers. Raises SpecErrors."""
    from mydyno.lab import spec

    read = spec.load(file, size)
    return prepare_read(
        read, lab, host, own_server=own_server, own_data=own_data, install=install, machines=machines
    )


def prepare_read(
    experiment: Experiment,
    lab: LabOptions,
    host: Host,
    *,
    own_server: bool = False,
    own_data: bool = False,
    install: bool = False,
    machines: Machines | None = None,
) -> tuple[Experiment, Prepared]:
    """The same of an experiment that was read.

    Changes nothing; but with `install` it first installs the releases that are missing. Without --trust
    no program is run that only the file names; `own_server`, `own_data`: an external server, the data are the
    command line's choice, not the file's. `machines` are those that it may run on besides. Raises SpecErrors.
    """
    from mydyno.lab.plan import asked_disks, make
    from mydyno.lab.trial import preflight
    from mydyno.lab.trial.lab_times import past_times
    from mydyno.machine.ground_facts import disk_facts, read_ground_facts
    from mydyno.server.releases import not_installed

    others, storage, left_out = others_of(experiment, machines)
    facts = replace(host.facts(lab.folder), others=others)
    past = past_times(lab.folder, facts, trust=lab.trust)
    disks = {disk: disk_facts(_owner(disk, host, machines), disk) for disk in asked_disks(experiment)}
    grounds = replace(read_ground_facts(), others=storage, disks=disks)
    plan = make(experiment, facts, grounds, past)
    plan = plan.model_copy(update={"warnings": (*plan.warnings, *left_out)})
    if not lab.trust:
        refuse_untrusted(experiment, plan, own_server=own_server, own_data=own_data)
    if install:
        refuse_missing_tools(plan)
        install_releases(not_installed(preflight.releases_of(plan)))
    return experiment, preflight.check(experiment, plan, host, machines)


def _owner(disk: AskedDisk, here: Host, machines: Machines | None) -> Host:
    """The machine whose disk it is. Raises HostError."""
    if disk.host is None:
        return here
    assert machines is not None, "its facts have been read"
    return machines.host(disk.host)


LONGEST = 3.0
"""Times the longest that a plan expects: the time limit of an allocation."""
_LIMIT_SECONDS = 600.0
"""More of it for what a plan does not expect, as a node that is lost."""


def machines_of(
    hosts: Path | None, launcher: str | None = None, partition: str | None = None, *, session: bool
) -> Machines:
    """Those of the file `hosts`, or the nodes of a Slurm partition.

    Raises SpecErrors, UsageError, HostError, MissingToolError.
    """
    from mydyno.core.errors import UsageError
    from mydyno.machine.hosts.entry import HostEntry, read_hosts
    from mydyno.machine.hosts.machines import Machines
    from mydyno.machine.hosts.slurm import nodes_of

    if launcher is None:
        if partition is not None:
            raise UsageError("--partition is given without a launcher", "--launcher slurm")
        return Machines(read_hosts(hosts) if hosts is not None else {}, session=session)
    if launcher != "slurm":
        raise UsageError(
            f"unknown launcher {launcher!r}", "--launcher slurm; machines over ssh are those of --hosts"
        )
    if hosts is not None or partition is None:
        raise UsageError(
            "--launcher slurm takes the nodes of a partition", "--partition NAME, without --hosts"
        )
    entries = {
        node: HostEntry(launcher="slurm", destination=node, partition=partition, address=address)
        for node, address in nodes_of(partition).items()
    }
    return Machines(entries, session=session)


def limit_seconds(plan: Plan) -> float:
    """How long its machines are needed at most."""
    return LONGEST * plan.estimate.high_seconds + _LIMIT_SECONDS


def others_of(
    experiment: Experiment, machines: Machines | None
) -> tuple[dict[str, HostFacts], dict[str, FarStorageFacts], tuple[str, ...]]:
    """What the other machines are that the experiment names, or of a fleet those that answer; what they have
    for storage; and what is wrong with the others of the fleet, a sentence each. Raises UsageError,
    HostError."""
    from mydyno.core.errors import HostError
    from mydyno.core.facts import HostFacts
    from mydyno.machine.hosts.machines import Machines

    machines = machines or Machines()
    hosts = [experiment.variant(levels).setup.host for levels in experiment.combinations()]
    named = dict.fromkeys(host.name for host in hosts if host.name is not None)
    if experiment.load is not None:
        machines.together((*named, *experiment.load.hosts))
    fleet = machines.fleet() if any(host.is_fleet for host in hosts) else ()
    there: dict[str, HostFacts] = {}
    storage: dict[str, FarStorageFacts] = {}
    lost: dict[str, HostError] = {}
    for name in (*named, *fleet):
        try:
            facts = machines.examine(name)
        except HostError as error:
            if name in named:
                raise
            lost[name] = error
            continue
        there[name] = HostFacts(facts.memory_bytes, facts.cpus, facts.free_bytes, kernel=facts.kernel)
        storage[name] = facts.storage
    if fleet and not there:
        reasons = "; ".join(f"{name}: {error.message}" for name, error in lost.items())
        raise HostError(
            f"no host of the fleet can be used: {reasons}", "`mydyno hosts check` shows each of them"
        )
    return (
        there,
        storage,
        tuple(f"{name} is left out of the fleet: {error.message}" for name, error in lost.items()),
    )


def refuse_missing_tools(plan: Plan) -> None:
    """Raises MissingToolError when trials cannot be built without a program that is not installed."""
    from mydyno.lab.plan.ground_checks import install_hint

    if plan.missing_tools:
        packages: dict[str | None, list[str]] = {}
        for tool in plan.missing_tools:
            packages.setdefault(tool.host, []).append(tool.package)
        raise MissingToolError(
            "; ".join(tool.lack for tool in plan.missing_tools),
            "; ".join(install_hint(names, host) for host, names in packages.items()),
        )


def install_releases(names: Iterable[str]) -> None:
    """Installs releases, with progress on standard error."""
    from mydyno.cli.progress import showing_progress
    from mydyno.server.releases import ReleaseStore, install, known_release

    for name in names:
        known = known_release(name)
        assert known is not None
        with showing_progress(prefix=f"installing {name}: ") as show:
            install(ReleaseStore(), name, known.provider, show)
