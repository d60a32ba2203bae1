"""A private sshd, on 127.0.0.1 unless told, with keys of its own, in a mount namespace of its own.

Root's lets in root and `far`, an ordinary user whom only that namespace knows, with a separate home. Where an
ordinary user runs the tests, it lets in that user alone.
"""

from __future__ import annotations

import getpass
import os
import shutil
import socket
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from live.packages import unpacked
from mydyno.machine.cache_store import CacheStore
from mydyno.machine.images.unpacked import folder_of

_PACKAGES = ("openssh-server", "libwrap0")
_LIBRARIES = ("lib/x86_64-linux-gnu", "usr/lib/x86_64-linux-gnu")
# sshd wants a user of its own and the folder /run/sshd, which this machine need not have.
_START = """
mount --bind "$1/passwd" /etc/passwd
mount -t tmpfs -o mode=755 tmpfs /run
mkdir -m 755 /run/sshd
exec "$2" -D -e -r -f "$1/sshd_config"
"""


FAR = 64123
"""User and group id of `far`."""


@dataclass(frozen=True)
class Sshd:
    port: int
    user: str
    """The ordinary user that it lets in."""
    home: Path
    config: Path
    """A configuration of ssh in which `there` is that user, and `root` is root."""
    process: int
    options: tuple[str, ...]
    """For ssh, before the target."""


@contextmanager
def private_sshd(
    folder: Path, *, for_root: bool = True, address: str = "127.0.0.1", inside: Sequence[str] = ()
) -> Iterator[Sshd]:
    """Runs until the block ends; skips the test, aloud, where there can be none.

    `for_root`: the test logs in as root. `inside`: what its command begins with, to run in a namespace that
    has `address`.
    """
    is_root = os.geteuid() == 0
    if for_root and not is_root:
        pytest.skip("an sshd that lets root in needs root")
    program, environment = _program()
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    user = "far" if is_root else getpass.getuser()
    home = folder / "home"
    home.mkdir()
    if is_root:
        os.chown(home, FAR, FAR)
    for name in ("host", "own"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / name], check=True)
    (folder / "authorized").write_text((folder / "own.pub").read_text())
    (folder / "known").write_text(f"[{address}]:{port} {(folder / 'host.pub').read_text()}")
    (folder / "passwd").write_text(
        f"{Path('/etc/passwd').read_text()}sshd:x:65533:65534::/run/sshd:/usr/sbin/nologin\n"
        f"far:x:{FAR}:{FAR}::{home}:/bin/sh\n"
    )
    (folder / "sshd_config").write_text(
        f"Port {port}\nListenAddress {address}\nHostKey {folder}/host\nPidFile none\nUsePAM no\n"
        f"AuthorizedKeysFile {folder}/authorized\nStrictModes no\nPermitRootLogin yes\n"
        f"PasswordAuthentication no\nKbdInteractiveAuthentication no\nSetEnv XDG_CACHE_HOME={home}/.cache\n"
    )
    (folder / "ssh_config").write_text(
        f"Host there\n  User {user}\nHost root\n  User root\nHost *\n  HostName {address}\n  Port {port}\n"
        f"  IdentityFile {folder}/own\n  IdentitiesOnly yes\n  UserKnownHostsFile {folder}/known\n"
        "  GlobalKnownHostsFile /dev/null\n"
    )
    tied = ["setpriv", "--pdeathsig", "KILL", "--"]
    argv = [*inside, "unshare", "--mount", *tied, "sh", "-ec", _START, "sh", str(folder), str(program)]
    if not is_root:
        argv = [*tied, str(program), "-D", "-e", "-r", "-f", f"{folder}/sshd_config"]
    sshd = subprocess.Popen(argv, stderr=subprocess.PIPE, text=True, env=environment)
    try:
        assert sshd.stderr is not None
        said = []
        for line in sshd.stderr:
            said.append(line)
            if "Server listening" in line:
                break
        else:
            pytest.skip(f"sshd does not run here: {''.join(said)}")
        yield Sshd(
            port,
            user,
            home,
            folder / "ssh_config",
            sshd.pid,
            (
                *("-F", "none", "-i", str(folder / "own"), "-o", "IdentitiesOnly=yes"),
                *("-o", f"UserKnownHostsFile={folder}/known", "-o", "StrictHostKeyChecking=yes"),
            ),
        )
    finally:
        sshd.terminate()
        sshd.wait(10)
        if sshd.stderr is not None:
            sshd.stderr.close()


def _program() -> tuple[Path, dict[str, str]]:
    """This machine's sshd, or one unpacked from its package into mydyno's cache; and what it is started
    with."""
    here = shutil.which("sshd", path="/usr/sbin:/usr/local/sbin")
    if here:
        return Path(here), dict(os.environ)
    root = folder_of(_PACKAGES[0])
    if not root.is_dir():
        store = CacheStore(root.parent)
        with store.staging() as staging:
            # Another test may have fetched it meanwhile.
            if not root.is_dir():
                store.put(unpacked(_PACKAGES, staging), root)
    libraries = ":".join(str(root / library) for library in _LIBRARIES)
    return root / "usr/sbin/sshd", {**os.environ, "LD_LIBRARY_PATH": libraries}
