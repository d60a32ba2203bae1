"""Making a guest's root: a minimal suite with server and storage tools, packed read-only (erofs).

The same packages give the same bytes: mmdebstrap orders and dates what it writes by SOURCE_DATE_EPOCH,
the sources' addresses and the building machine's name are left out, and mkfs.erofs gets one time, one
owner and one identifier for everything.
"""

import hashlib
import os
import re
import shutil
import time
from pathlib import Path

from mydyno import __version__
from mydyno.core.errors import HostError
from mydyno.core.writing import writing
from mydyno.machine.cache_store import folder_elsewhere
from mydyno.machine.images.build import DOCUMENTS, EPOCH, Progress, need, now, watch
from mydyno.machine.images.store import ImageStore, RootImage, RootManifest
from mydyno.machine.images.suites import check_suite, reaching_settings, source_lines, sources_of
from mydyno.machine.local import LocalHost

PACKAGES = (
    *("mariadb-server-core", "fio", "mdadm", "util-linux", "mount"),
    *("e2fsprogs", "xfsprogs", "btrfs-progs", "jfsutils", "reiserfsprogs", "f2fs-tools"),
)

# Not the guest's business: /dev comes from its kernel, /etc/apt names this machine's sources, and the
# rest says when and where it was built.
_LEFT_OUT = (
    *("./dev/*", "./etc/apt/*", "./etc/hostname", "./etc/resolv.conf", "./etc/machine-id"),
    *("./var/log/*", "./var/cache/*", "./var/lib/apt/*", "./tmp/*", "./run/*"),
)

_UUID = "6d796479-6e6f-4000-8000-000000000000"
_VERSION, _HELP = "server-version.txt", "server-help.txt"

# Runs in mmdebstrap after everything is installed; "$1" is the new root.
_ASK_SERVER = (
    f'chroot "$1" /usr/sbin/mariadbd --no-defaults --version > "$1/{_VERSION}"; '
    f'chroot "$1" /usr/sbin/mariadbd --no-defaults --verbose --help > "$1/{_HELP}"'
)


def build_root(store: ImageStore, suite: str, progress: Progress) -> RootImage:
    """Builds the root of `suite` into the store: as root, or in a user namespace as an ordinary user.

    Raises MissingToolError, UsageError for an unknown suite, HostError.
    """
    check_suite(suite)
    ordinary = os.geteuid() != 0
    need("mmdebstrap", "mkfs.erofs", "tar", "unshare", *(["newuidmap"] if ordinary else []))
    started = time.monotonic()
    host = LocalHost()
    sources = sources_of(host, suite)
    with store.staging() as staging:
        log, tree = staging / "log", staging / "tree"
        with writing(staging):
            tree.mkdir()
            # The user ids that are lent to an ordinary user must get there, which a home may not allow.
            work = folder_elsewhere(staging) if ordinary else staging / "tmp"
            work.mkdir(mode=0o711)
            (work / "sources.list").write_text(source_lines(sources))
            # A proxy's address may hold a password; the name of the folder is secret.
            (work / "apt.conf").write_text(reaching_settings(host))
        watch(_mmdebstrap(staging, work, suite, ordinary), log, progress, what=f"installing {suite}")
        left_out = (f"--exclude={pattern}" for pattern in _LEFT_OUT)
        unpack = ["tar", "-x", "-f", str(staging / "root.tar"), "-C", str(tree), "-p", "--no-same-owner"]
        watch([*unpack, *left_out], log, progress, what="unpacking")
        # The tar has passed the user namespace; what mkfs.erofs must read may be closed to its owner.
        watch(["chmod", "-R", "u+rwX", str(tree)], log, progress, what="unpacking")
        version = _take_out(tree / _VERSION).strip()
        (staging / _HELP).write_text(_take_out(tree / _HELP))
        packages = installed_packages((tree / "var/lib/dpkg/status").read_text())
        image = staging / "image"
        image.mkdir()
        shutil.move(staging / _HELP, image / _HELP)
        pack = ["mkfs.erofs", "-x-1", f"-T{EPOCH}", f"-U{_UUID}", "--all-root", "--quiet"]
        watch([*pack, str(image / "root.erofs"), str(tree)], log, progress, what="packing")
        manifest = RootManifest(
            name=suite,
            suite=suite,
            mydyno=__version__,
            built=now(),
            seconds=round(time.monotonic() - started, 1),
            sources=tuple(source.shown() for source in sources),
            sha256=_sha256(image / "root.erofs"),
            size_bytes=(image / "root.erofs").stat().st_size,
            server=version,
            packages=packages,
        )
        manifest.write(image)
        place = store.folder / "roots" / suite
        store.put(image, place)
    return RootImage(place, manifest)


def _mmdebstrap(staging: Path, work: Path, suite: str, ordinary: bool) -> list[str]:
    """The command that writes `staging`/root.tar.

    As root it runs in mount and separate pid namespaces, so that a kill at any moment takes what it
    has mounted and started with it; an ordinary user's run makes such namespaces itself.
    """
    apart = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]
    return [
        *([] if ordinary else [*apart, "--propagation", "private"]),
        *("env", f"TMPDIR={work}", f"SOURCE_DATE_EPOCH={EPOCH}"),
        *("mmdebstrap", f"--mode={'unshare' if ordinary else 'root'}", "--variant=essential"),
        *(f"--dpkgopt=path-exclude=/usr/share/{name}/*" for name in DOCUMENTS),
        *(f"--aptopt={work / 'apt.conf'}", f"--include={','.join(PACKAGES)}"),
        *(f"--customize-hook={_ASK_SERVER}",),
        *("--format=tar", suite, str(staging / "root.tar"), str(work / "sources.list")),
    ]


def installed_packages(status: str) -> dict[str, str]:
    """Package -> version of a dpkg status file, sorted by name."""
    packages = {}
    for paragraph in status.split("\n\n"):
        fields = dict(re.findall(r"^(Package|Status|Version): (.+)$", paragraph, re.MULTILINE))
        if fields.get("Status", "").endswith(" installed"):
            packages[fields["Package"]] = fields["Version"]
    return dict(sorted(packages.items()))


def _take_out(file: Path) -> str:
    """A file's text, which must not stay in the image: the help names the building machine."""
    try:
        text = file.read_text(errors="replace")
    except OSError as error:
        raise HostError(f"the image's server did not answer: {file.name} was not written") from error
    file.unlink()
    return text


def _sha256(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
