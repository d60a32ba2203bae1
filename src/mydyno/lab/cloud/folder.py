"""The files of a machine: configuration, user data, experiment, and how to use them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from mydyno.lab.cloud.catalogue import catalogue
from mydyno.lab.cloud.cloud_init import cloud_init
from mydyno.lab.cloud.experiment import Fixed, experiment_text
from mydyno.lab.cloud.machine import MOUNTS, USER, Choices, CloudMachine, machine_of
from mydyno.lab.cloud.providers import PROVIDER_WORDS
from mydyno.lab.cloud.tofu import rendered

CONFIGURATION, USER_DATA = "main.tf.json", "cloud-init.yaml"
EXPERIMENT, NOTES = "experiment.yaml", "README.md"
_NO_FIO = (
    f"`mydyno run` has no volume for fio over ssh, so there is no experiment.yaml: run fio on {MOUNTS}/data"
)


def machine_for(fixed: Fixed, choices: Choices) -> CloudMachine:
    """Raises UsageError for what no machine of the provider can be."""
    machine = machine_of(fixed.experiment.name, fixed.variant.setup, choices)
    if not fixed.has_fio:
        return machine
    return replace(machine, more_packages=("fio",), notes=(*machine.notes, _NO_FIO))


def files(fixed: Fixed, machine: CloudMachine) -> dict[str, str]:
    """Name -> text of each file. Raises UsageError when the experiment could not run over ssh."""
    words = PROVIDER_WORDS[machine.provider]
    experiment = {} if fixed.has_fio else {EXPERIMENT: experiment_text(fixed, machine)}
    return {
        CONFIGURATION: rendered(words.document(machine)),
        USER_DATA: cloud_init(machine, words.disk_names),
        **experiment,
        NOTES: "\n".join(_notes(fixed, machine, words.credentials)) + "\n",
    }


def _notes(fixed: Fixed, machine: CloudMachine, credentials: str) -> Iterator[str]:
    provider = catalogue().provider(machine.provider)
    yield f"# {machine.name} on {provider.title}"
    yield ""
    yield f"Made by `mydyno cloud export` of the experiment {fixed.experiment.name}. It costs money from"
    yield "`tofu apply` to `tofu destroy`."
    yield ""
    yield f"Machine: {machine.size}, in zone {machine.zone} of {machine.region}."
    yield ""
    yield from _table(machine)
    yield ""
    if machine.notes or fixed.workload_file:
        yield "Where it differs from the experiment, or may:"
        yield ""
        yield from (f"- {note}" for note in machine.notes)
        if fixed.workload_file:
            yield f"- experiment.yaml reads {fixed.workload_file}: copy it here"
        yield ""
    yield "```sh"
    yield f"# Credentials: {credentials}."
    yield "# `terraform` takes the same files."
    yield "tofu init"
    yield "tofu apply"
    yield "# Once: compare the fingerprint with the one that the machine's console shows, and accept it."
    yield f'ssh "{USER}@$(tofu output -raw address)" cloud-init status --wait'
    yield "mydyno hosts check --hosts hosts.yaml"
    if not fixed.has_fio:
        yield "mydyno run experiment.yaml --hosts hosts.yaml"
    yield "# The machine and all its disks, with what is on them:"
    yield "tofu destroy"
    yield "```"
    yield ""
    yield "`systemctl status mydyno-storage` on the machine shows why a volume was not built. The server"
    yield "there must be of the same release as the one here (docs/reference/hosts.md of mydyno)."
    yield ""
    yield "Sources of the sizes and limits:"
    yield ""
    yield from (f"- {source}" for source in _sources(machine))


def _table(machine: CloudMachine) -> Iterator[str]:
    yield "| volume | is | disks | IOPS a disk | host caching | mounted on |"
    yield "|---|---|---|---|---|---|"
    for volume in machine.volumes:
        disk = volume.disks[0]
        disks = f"{len(volume.disks)} x {disk.gib} GiB {machine.disk_kind}"
        cells = (volume.name, volume.described, disks, f"{disk.iops:,}", disk.caching, volume.mount_point)
        yield f"| {' | '.join(cells)} |"


def _sources(machine: CloudMachine) -> tuple[str, ...]:
    """Of what the catalogue says of this machine."""
    known = catalogue()
    size = known.provider(machine.provider).machines.get(machine.size)
    keys = (*(size.sources if size is not None else ()), *machine.kind.sources)
    return tuple(known.sources[key] for key in dict.fromkeys(keys))
