"""A private sshd on 127.0.0.1, with keys of its own, in a mount namespace of its own."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

_PACKAGES = ("openssh-server", "libwrap0")
_LIBRARIES = ("lib/x86_64-linux-gnu", "usr/lib/x86_64-linux-gnu")
# sshd wants a user of its own and the folder /run/sshd, which this machine need not have.
_START = """
mount --bind "$1/passwd" /etc/passwd
mount -t tmpfs -o mode=755 tmpfs /run
mkdir -m 755 /run/sshd
exec "$2" -D -e -r -f "$1/sshd_config"
"""


@dataclass(frozen=True)
class Sshd:
    port: int
    options: tuple[str, ...]
    """For ssh, before the target."""


@contextmanager
def private_sshd(folder: Path) -> Iterator[Sshd]:
    """Runs until the block ends; skips the test, aloud, where there can be none."""
    if os.geteuid() != 0:
        pytest.skip("a private sshd that runs commands needs root")
    program, environment = _program(folder)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    for name in ("host", "own"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / name], check=True)
    (folder / "authorized").write_text((folder / "own.pub").read_text())
    (folder / "known").write_text(f"[127.0.0.1]:{port} {(folder / 'host.pub').read_text()}")
    (folder / "passwd").write_text(
        Path("/etc/passwd").read_text() + "sshd:x:65533:65534::/run/sshd:/usr/sbin/nologin\n"
    )
    (folder / "sshd_config").write_text(
        f"Port {port}\nListenAddress 127.0.0.1\nHostKey {folder}/host\nPidFile none\nUsePAM no\n"
        f"AuthorizedKeysFile {folder}/authorized\nStrictModes no\nPermitRootLogin yes\n"
        "PasswordAuthentication no\nKbdInteractiveAuthentication no\n"
    )
    argv = ["unshare", "--mount", "setpriv", "--pdeathsig", "KILL", "--", "sh", "-ec", _START, "sh"]
    sshd = subprocess.Popen(
        [*argv, str(folder), str(program)], stderr=subprocess.PIPE, text=True, env=environment
    )
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


def _program(folder: Path) -> tuple[Path, dict[str, str]]:
    """This machine's sshd, or one unpacked from its package; and what it is started with."""
    here = shutil.which("sshd", path="/usr/sbin:/usr/local/sbin")
    if here:
        return Path(here), dict(os.environ)
    fetched = subprocess.run(
        ["apt-get", "download", "-q", *_PACKAGES], cwd=folder, capture_output=True, text=True, check=False
    )
    if fetched.returncode != 0:
        pytest.skip(f"there is no sshd, and its package cannot be had: {fetched.stderr.strip()}")
    root = folder / "root"
    for package in folder.glob("*.deb"):
        subprocess.run(["dpkg-deb", "--extract", package, root], check=True)
    libraries = ":".join(str(root / library) for library in _LIBRARIES)
    return root / "usr/sbin/sshd", {**os.environ, "LD_LIBRARY_PATH": libraries}
