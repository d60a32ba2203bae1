"""Running the system's storage tools on an environment's host, with errors that carry what they said."""

from collections.abc import Sequence
from pathlib import Path

from mydyno.core.errors import MissingToolError, StorageError
from mydyno.machine.protocol import Finished, Host

# The package of Debian, and of what is made of it, that has each tool.
_TOOLS_OF = {
    "btrfs-progs": "btrfs mkfs.btrfs",
    "e2fsprogs": "dumpe2fs mkfs.ext2 mkfs.ext3 mkfs.ext4",
    "f2fs-tools": "mkfs.f2fs",
    "jfsutils": "mkfs.jfs",
    "mdadm": "mdadm",
    "reiserfsprogs": "mkfs.reiserfs",
    "util-linux": "blkid findmnt wipefs",
    "xfsprogs": "mkfs.xfs xfs_db",
}
PACKAGES = {tool: package for package, tools in _TOOLS_OF.items() for tool in tools.split()}

# mount(8) sends the user to the kernel's log, which the errors here quote.
_DMESG = "dmesg(1) may have"

# Formatting a large, slow disk takes its time; nothing here takes longer.
LONGEST_SECONDS = 1800.0


def run_tool(host: Host, argv: Sequence[str]) -> Finished:
    """Runs a tool to its end, whatever its return code. Raises MissingToolError naming its package."""
    try:
        return host.run(argv, timeout_seconds=LONGEST_SECONDS)
    except MissingToolError as error:
        package = PACKAGES.get(argv[0])
        hint = f"install it where the {host.name} host finds it: apt install {package}" if package else None
        raise MissingToolError(f"{argv[0]} was not found on the {host.name} host", hint) from error


def output_of(host: Host, argv: Sequence[str], doing: str) -> str:
    """What a tool that must succeed wrote. Raises StorageError: what it was for, and what it said."""
    done = run_tool(host, argv)
    if done.returncode != 0:
        raise StorageError(f"{doing} failed: {complaint(done)}", f"the command was: {' '.join(argv)}")
    return done.stdout


def complaint(done: Finished) -> str:
    """The lines that a tool complained with, on one line; without its options, which some of them add."""
    lines = (done.stderr.strip() or done.stdout.strip() or f"exit code {done.returncode}").splitlines()
    usage = next((at for at, line in enumerate(lines) if at and line.lower().startswith("usage:")), None)
    lines = lines[:usage]
    return "; ".join(line.strip() for line in lines[-3:] if not line.strip().startswith(_DMESG))


def setting(host: Host, path: Path) -> str | None:
    """What a file of sysfs or procfs says; None when there is none."""
    text = host.read_text(path)
    return text.strip() if text is not None else None


def write_setting(host: Host, path: Path, value: str) -> str | None:
    """Writes a file of sysfs. What the kernel said against it; None when it took it."""
    done = host.run(["tee", str(path)], stdin=value.encode())
    return None if done.returncode == 0 else complaint(done).removeprefix(f"tee: {path}: ")
