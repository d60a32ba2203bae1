"""What a User-Mode Linux guest is made of, and the command line and configuration that say so."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mydyno.machine.uml.kernels import UmlKernel

AGENT = "agent"
CONFIGURATION = "guest.json"

# Where bwrap puts this machine's root, when the kernel needs the libraries of another suite.
_HOST_ROOT = "/host"

# Their contents are hidden in the guest by its own file systems.
_HIDDEN = ("/tmp", "/var/tmp", "/run", "/dev")

# A kernel that panics ends itself by SIGABRT, which the first process of a namespace does not get. So
# that one is a shell, which ends after it.
_FIRST_PROCESS = ("sh", "-c", '"$@"; exit', "sh")


@dataclass(frozen=True)
class Share:
    """A folder of this machine that a guest sees at the same path."""

    path: Path
    read_only: bool


@dataclass(frozen=True)
class UmlMachine:
    """A guest to boot."""

    kernel: UmlKernel
    memory_bytes: int
    folder: Path
    """A private one; it holds the agent, the configuration, the disks, and what the kernel puts there."""
    disks: tuple[str, ...]
    """Files in `folder`, in the order of the guest's /dev/ubda, /dev/ubdb..."""
    shares: tuple[Share, ...]

    @property
    def mark(self) -> str:
        """The argument by which every process of this guest is known: it names the private folder."""
        return f'init="{self.folder / AGENT}"'

    def command_line(self, channel: int, isolation: Sequence[str]) -> list[str]:
        """The kernel's words behind `isolation`; `channel` is the descriptor of mydyno's stream."""
        disks = [f"ubd{number}={name}" for number, name in enumerate(self.disks)]
        return [
            *self._isolated(isolation),
            *(self.seen(self.kernel.binary), f"mem={self.memory_bytes // 1024}K", "quiet"),
            *("root=/dev/root", "rootfstype=hostfs", f"rootflags={self.seen(Path('/'))}", "ro"),
            # The folder is the working directory, so that the socket in it has a short name.
            *("uml_dir=./", "umid=uml"),
            # The console goes to standard output; nothing reads it or opens others.
            *("con=null", "con0=null,fd:1", "ssl=null", f"ssl0=fd:{channel}"),
            *disks,
            *(self.mark, "--", "init", f'"{self.folder / CONFIGURATION}"'),
        ]

    def configuration(self) -> dict[str, Any]:
        """The agent's settings: docs/reference/agent-protocol.md."""
        return {
            "modules": [str(module) for module in self.kernel.modules],
            "shares": [
                {
                    "filesystem": "hostfs",
                    "source": self.seen(share.path),
                    "target": str(share.path),
                    "read_only": share.read_only,
                }
                for share in self.shares
            ],
            "channel": {"tty": "/dev/ttyS0"},
            "hostname": "mydyno",
        }

    def _isolated(self, isolation: Sequence[str]) -> list[str]:
        libraries = self.kernel.libraries
        if libraries is None and not isolation:
            return ["env", "-C", str(self.folder)]
        if libraries is None:
            return [*isolation, f"--wd={self.folder}", "--", *_FIRST_PROCESS]
        return [
            *("bwrap", "--unshare-pid", "--die-with-parent"),
            *("--ro-bind", str(libraries), "/", "--bind", "/", _HOST_ROOT),
            *("--dev-bind", "/dev", "/dev", "--proc", "/proc"),
            *("--chdir", f"{_HOST_ROOT}{self.folder}", "--"),
        ]

    def seen(self, path: Path) -> str:
        """A path of this machine as the kernel's process sees it; the guest sees it as it is."""
        if self.kernel.libraries is None:
            return str(path)
        return _HOST_ROOT if path == Path("/") else f"{_HOST_ROOT}{path}"


def disk_name(index: int) -> str:
    """The guest's name of the disk at this place: `ubda` for 0."""
    return f"ubd{'abcdefghijklmnop'[index]}"


def hidden_folders(paths: Iterable[Path]) -> tuple[Share, ...]:
    """Shares, read-only, for those of the folders that a guest would hide."""
    hidden = [path for path in dict.fromkeys(paths) if any(path.is_relative_to(each) for each in _HIDDEN)]
    return tuple(Share(path, read_only=True) for path in hidden)
