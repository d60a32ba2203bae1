"""`mydyno cloud export`: an experiment's storage as a machine in a cloud."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from mydyno.cli import options, outputs, screen
from mydyno.cli.application import Application
from mydyno.cli.declare import option, option_group
from mydyno.cli.new_text import assigned
from mydyno.core.errors import UsageError

if TYPE_CHECKING:
    from mydyno.lab.cloud.machine import Caching, Choices

_LONGEST_KEY_BYTES = 64 * 1024

commands = Application(
    name="cloud",
    help="""Write an experiment's storage as a machine in a cloud: OpenTofu and cloud-init.

Nothing is created and no account is used: the files are for `tofu apply`.

```text
mydyno cloud export array.yaml --provider azure --out machine \\
  --ssh-key ~/.ssh/id_ed25519.pub --ssh-from 203.0.113.7/32
```
""",
)


@option_group
class MachineOptions:
    """What of the machine the experiment does not say."""

    panel = "Machine"

    region: str | None = option(
        "--region NAME", "The provider's region.", show_default="the first of the provider's table"
    )
    zone: str | None = option("--zone NAME", "The zone of the region.", show_default="the first one")
    machine_size: str | None = option(
        "--machine-size NAME",
        "The provider's size of machine.",
        show_default="the smallest known one with enough CPUs, memory, disks and IOPS",
    )
    disk_kind: str | None = option(
        "--disk-kind NAME",
        "The provider's kind of disk.",
        show_default="Premium_LRS, gp3 or pd-ssd",
    )
    caching: list[str] | None = option(
        "--caching VOLUME=MODE",
        "How the host caches the disks of a volume: none, read-only or read-write. Azure only. May be "
        "repeated.",
        show_default="none",
    )
    image: str | None = option(
        "--image NAME", "The system: debian-12 or ubuntu-24.04.", show_default="the provider's first one"
    )
    server: Literal["mariadb", "mysql"] = option(
        "--server", "Which server's binary is installed there.", default="mariadb"
    )


_Provider = Annotated[Literal["azure", "aws", "gcp"], option("--provider", "The cloud.")]
_SshKey = Annotated[Path, option("--ssh-key FILE", "Your public key, which may log in. Never a private key.")]
_SshFrom = Annotated[str, option("--ssh-from NETWORK", "The network that may use ssh, as 203.0.113.7/32.")]
_Out = Annotated[Path, option("--out FOLDER", "The folder to write, new or empty.")]


@commands.command()
def export(
    file: options.ExperimentFile,
    provider: _Provider,
    ssh_key: _SshKey,
    ssh_from: _SshFrom,
    out: _Out,
    machine: MachineOptions = MachineOptions(),
    size: options.Size = None,
    levels: list[str] | None = option(
        "--level FACTOR=LEVEL",
        "The level of a factor that varies storage or host: one machine has one. May be repeated.",
    ),
    force: Annotated[bool, option("--force", "Write into a folder that holds files.")] = False,
) -> None:
    """Write what makes the machine of an experiment: its disks, attached, assembled and mounted.

    From setup.storage and setup.host come the machine's size, the disks of each volume, arrays, file systems,
    mount options, I/O schedulers and limits. FOLDER gets main.tf.json for OpenTofu or Terraform,
    cloud-init.yaml, experiment.yaml (the experiment for that machine, over ssh) and README.md with the
    commands from `tofu init` to `tofu destroy`. Where a cloud disk cannot be what the experiment says, a note
    says so (docs/how-to/cloud-disks.md).

    ```text
    mydyno cloud export array.yaml --provider azure --out machine \\
      --ssh-key ~/.ssh/id_ed25519.pub --ssh-from 203.0.113.7/32
    mydyno cloud export raid-mysql --provider aws --out raid0 \\
      --level "array=RAID 0, 4 disks" --disk-kind io2 \\
      --ssh-key ~/.ssh/id_ed25519.pub --ssh-from 203.0.113.7/32
    ```
    """
    from mydyno.lab import spec
    from mydyno.lab.cloud.experiment import fix
    from mydyno.lab.cloud.folder import files, machine_for

    folder = outputs.Outputs((file, ssh_key), force).new_folder("--out", out)
    choices = _choices(provider, ssh_key, ssh_from, machine)
    fixed = fix(spec.load(file, size), _pairs("--level", levels or ()))
    planned = machine_for(fixed, choices)
    written = files(fixed, planned)
    folder.write(written)
    for note in planned.notes:
        screen.echo(f"note: {note}", err=True)
    screen.echo(f"{out}: {', '.join(written)}; {out / 'README.md'} says how to use them")


def _choices(
    provider: Literal["azure", "aws", "gcp"], ssh_key: Path, ssh_from: str, machine: MachineOptions
) -> Choices:
    """Raises UsageError for an option that cannot be what it is to be."""
    from mydyno.lab.cloud.checked import network, plain_name, public_key
    from mydyno.lab.cloud.machine import Choices

    return Choices(
        provider=provider,
        public_key=public_key(_text(ssh_key), str(ssh_key)),
        ssh_from=network(ssh_from),
        region=plain_name("--region", machine.region),
        zone=plain_name("--zone", machine.zone),
        size=plain_name("--machine-size", machine.machine_size),
        disk_kind=machine.disk_kind,
        image=machine.image,
        server=machine.server,
        caching=_caching(machine.caching or ()),
    )


def _text(key: Path) -> str:
    try:
        with key.open("rb") as file:
            return file.read(_LONGEST_KEY_BYTES).decode(errors="replace")
    except OSError as error:
        raise UsageError(f"--ssh-key {key} cannot be read: {error.strerror}") from error


def _pairs(flag: str, texts: Iterable[str]) -> dict[str, str]:
    pairs: dict[str, str] = {}
    for text in texts:
        name, value = assigned(text)
        if not name or not value:
            raise UsageError(f"{flag} {text}: not NAME=VALUE", f"{flag} NAME=VALUE")
        if name in pairs:
            raise UsageError(f"{flag} names {name} twice", "each one once")
        pairs[name] = value
    return pairs


def _caching(texts: Iterable[str]) -> dict[str, Caching]:
    from mydyno.lab.cloud.machine import CACHINGS

    chosen: dict[str, Caching] = {}
    for volume, mode in _pairs("--caching", texts).items():
        for known in CACHINGS:
            if mode == known:
                chosen[volume] = known
        if volume not in chosen:
            raise UsageError(f"--caching {volume}={mode}: unknown mode", f"one of {', '.join(CACHINGS)}")
    return chosen
