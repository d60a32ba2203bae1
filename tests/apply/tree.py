"""A small system in a folder: files below /etc, links, a kernel's files; and when two are the same."""

from __future__ import annotations

import fcntl
import stat
from pathlib import Path

from mydyno.apply.store.store import changes_folder

FSTAB = """\
# /etc/fstab: made by the installer
UUID=aaaa-1\t/\text4\terrors=remount-ro\t0\t1
UUID=aaaa-2   /var/lib/mysql   ext4   relatime,errors=remount-ro   0 2  # data
"""
SERVER_CNF = "[mysqld]\n# by hand\ninnodb_io_capacity = 100\nquery_cache_size = 16M\n"
MAIN_CNF = """\
[client-server]
socket = /run/mysqld/mysqld.sock
!includedir /etc/mysql/conf.d/
!includedir /etc/mysql/mariadb.conf.d/
"""


def make_system(root: Path) -> Path:
    """A Debian with MariaDB, as far as its files matter here, below `root`; gives `root`."""
    for folder in ("etc/mysql/conf.d", "etc/mysql/mariadb.conf.d", "etc/sysctl.d", "proc/sys/vm"):
        (root / folder).mkdir(parents=True)
    _write(root / "etc/fstab", FSTAB)
    _write(root / "etc/mysql/mariadb.cnf", MAIN_CNF)
    _write(root / "etc/mysql/mariadb.conf.d/50-server.cnf", SERVER_CNF, 0o640)
    _write(root / "etc/sysctl.conf", "vm.swappiness=60\nnet.ipv4.ip_forward=1\n")
    _write(root / "proc/sys/vm/swappiness", "60")
    (root / "etc/mysql/my.cnf").symlink_to("mariadb.cnf")
    (root / "etc/sysctl.d/99-sysctl.conf").symlink_to("/etc/sysctl.conf")
    return root


def picture(root: Path, *, times: bool = False) -> dict[str, tuple[object, ...]]:
    """All below `root` but mydyno's own folder: kind, mode, owner, bytes; times of files if asked."""
    found: dict[str, tuple[object, ...]] = {}
    for path in sorted(root.rglob("*")):
        name = str(path.relative_to(root))
        if name.startswith("var"):
            continue
        about = path.lstat()
        what: object = None
        if path.is_symlink():
            what = str(path.readlink())
        elif path.is_file():
            what = path.read_bytes()
        timed = times and stat.S_ISREG(about.st_mode) and not name.startswith("proc")
        time = about.st_mtime_ns if timed else None
        found[name] = (stat.filemode(about.st_mode), about.st_uid, about.st_gid, what, time)
    return found


def wait_for_the_guardian(root: Path) -> None:
    """It holds the store's lock until it is through."""
    lock = changes_folder(root) / "lock"
    if lock.exists():
        with lock.open() as file:
            fcntl.flock(file, fcntl.LOCK_EX)


def _write(path: Path, text: str, mode: int = 0o644) -> None:
    path.write_text(text)
    path.chmod(mode)
