"""What a path of the user's holds, by its files; and how it is identified.

    shop.sql.gz            dump         mysqldump, mariadb-dump
    metadata, *-schema.sql dump folder  mydumper
    mysql/, ibdata1        folder       a data directory, copied while its server was stopped
    xtrabackup_checkpoints backup       mariadb-backup, xtrabackup; prepared

Sources: MariaDB documentation, "Files Created by mariadb-backup"; Percona XtraBackup, "Index of files created
by Percona XtraBackup"; mydumper's README, "Files".
"""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from mydyno.core.errors import LabError, UsageError
from mydyno.core.folders import cache_folder
from mydyno.core.server_variables import Setting
from mydyno.lab.stack.datasets.manifest import recorded_releases
from mydyno.server.variables import catalogue

Kind = Literal["dump", "dump folder", "folder", "backup"]

DUMP_SUFFIXES = (".sql", ".sql.gz", ".sql.bz2", ".sql.xz", ".sql.zst")
_CHECKPOINTS = ("mariadb_backup_checkpoints", "xtrabackup_checkpoints")
_INFO = ("mariadb_backup_info", "xtrabackup_info")
_CANNOT = "a dump (.sql, .gz, .bz2, .xz, .zst), a mydumper folder, a data directory, or a prepared backup"
_SIZED = re.compile(r"(innodb_\w+|lower_case_table_names)\s*=\s*(\S+)")
_MEMORY = "data-checksums.jsonl"
_PORTION = 1 << 20


@dataclass(frozen=True)
class OwnData:
    """A recognised source."""

    path: Path
    kind: Kind
    family: Literal["MariaDB", "MySQL"] | None = None
    """Of the server that wrote a data directory; None for a dump, which any server may load."""
    release: tuple[int, ...] | None = None
    """Its numbers, where a file has them."""
    settings: Mapping[str, Setting] | None = None
    """Those that its backup program wrote down: without them no server starts on the files."""

    @property
    def is_files(self) -> bool:
        """Whether it is copied, not loaded."""
        return self.kind in ("folder", "backup")

    @property
    def said(self) -> str:
        """For messages: `MariaDB 10.5.29`."""
        numbers = "" if self.release is None else " " + ".".join(map(str, self.release))
        return f"{self.family or 'a dump'}{numbers}"

    def files(self) -> Iterator[Path]:
        """Every file, in the order of its path."""
        if self.path.is_file():
            yield self.path
            return
        yield from sorted(each for each in self.path.rglob("*") if each.is_file() and not each.is_symlink())

    def checksum(self) -> str:
        """32 hexadecimal digits over the names and contents of all files.

        Read once: while names, sizes and times of change stay the same, the cache remembers it. Raises
        LabError.
        """
        memory = cache_folder(_MEMORY)
        try:
            stamp = self._stamp()
            if (known := _remembered(memory, stamp)) is not None:
                return known
            digest = hashlib.blake2b(digest_size=16)
            for file in self.files():
                digest.update(f"{file.relative_to(self.path)}\0{file.stat().st_size}\0".encode())
                with file.open("rb") as opened:
                    while portion := opened.read(_PORTION):
                        digest.update(portion)
        except OSError as error:
            raise LabError(f"{error.filename or self.path} cannot be read: {error.strerror}") from error
        _remember(memory, stamp, digest.hexdigest())
        return digest.hexdigest()

    def _stamp(self) -> str:
        digest = hashlib.sha256(str(self.path).encode())
        for file in self.files():
            facts = file.stat()
            digest.update(f"{file}\0{facts.st_size}\0{facts.st_mtime_ns}\0{facts.st_ino}\n".encode())
        return digest.hexdigest()


def recognise(path: Path) -> OwnData:
    """What `path` holds. Raises UsageError: nothing that can be used, an unprepared backup, a data directory
    that a server has open."""
    path = path.resolve()
    if path.is_file():
        if path.name.lower().endswith(DUMP_SUFFIXES):
            return OwnData(path, "dump")
        raise UsageError(f"{path} has not the name of a dump", f"expected {_CANNOT}")
    if not path.is_dir():
        raise UsageError(f"there is no {path}", f"expected {_CANNOT}")
    if (checkpoints := _first(path, _CHECKPOINTS)) is not None:
        return _backup(path, checkpoints)
    if (path / "xtrabackup_stream").exists() or list(path.glob("*.xbstream"))[:1]:
        raise UsageError(f"{path} holds a stream of a backup", "unpack it first: mbstream -x or xbstream -x")
    if any(path.glob("*-schema.sql*")):
        return _mydumper(path)
    if (path / "mysql").is_dir() and (path / "ibdata1").exists():
        return _data_directory(path)
    raise UsageError(f"{path} holds no data that can be recognised", f"expected {_CANNOT}")


def _first(folder: Path, names: tuple[str, ...]) -> Path | None:
    return next((folder / name for name in names if (folder / name).is_file()), None)


def _backup(path: Path, checkpoints: Path) -> OwnData:
    info = _first(path, _INFO)
    text = info.read_text(errors="replace") if info is not None else ""
    mariadb = checkpoints.name.startswith("mariadb") or bool(re.search(r"maria-?(?:db-)?backup", text))
    program = "mariadb-backup" if mariadb else "xtrabackup"
    state = re.search(r"backup_type\s*=\s*(\S+)", checkpoints.read_text(errors="replace"))
    kind = state[1] if state else "unknown"
    # mariadb-backup writes log-applied when it has prepared; with xtrabackup that is --apply-log-only.
    if kind != "full-prepared" and not (mariadb and kind == "log-applied"):
        prepare = f"{program} --prepare --target-dir={path}"
        raise UsageError(f"{path} is a backup that is not prepared ({checkpoints.name}: {kind})", prepare)
    if any(path.rglob("*.qp")) or any(path.rglob("*.ibd.zst")):
        raise UsageError(
            f"{path} is compressed", f"{program} --decompress --target-dir={path}, then --prepare"
        )
    written = path / "backup-my.cnf"
    settings: dict[str, Setting] = {}
    if written.is_file():
        for name, value in _SIZED.findall(written.read_text(errors="replace")):
            if name in catalogue().shaping:
                settings[name] = value
    version = re.search(r"server_version\s*=\s*(\d+)\.(\d+)\.(\d+)", text)
    release = tuple(map(int, version.groups())) if version else _recorded(path)
    return OwnData(path, "backup", "MariaDB" if mariadb else "MySQL", release, settings)


def _mydumper(path: Path) -> OwnData:
    if not (path / "metadata").is_file():
        raise UsageError(f"{path} has no file metadata: mydumper did not finish", "dump again")
    if (data := next(path.glob("*.dat*"), None)) is not None:
        raise UsageError(
            f"{path} was dumped with --load-data or --csv ({data.name})", "dump again without that option"
        )
    return OwnData(path, "dump folder")


def _data_directory(path: Path) -> OwnData:
    if (holder := _holder(path / "ibdata1")) is not None:
        raise UsageError(
            f"a server has {path} open (process {holder})",
            "copy it while the server is stopped, or use --from-server, a dump or mariadb-backup",
        )
    family: Literal["MariaDB", "MySQL"] = "MariaDB" if (path / "aria_log_control").exists() else "MySQL"
    return OwnData(path, "folder", family, _recorded(path))


def _recorded(path: Path) -> tuple[int, ...] | None:
    """Numbers of the newest release that the files name."""
    numbers = [
        tuple(map(int, match.groups(default="0")))
        for text in recorded_releases(path).values()
        if (match := re.search(r"(\d+)\.(\d+)(?:\.(\d+))?", text))
    ]
    return max(numbers, default=None)


def _holder(file: Path) -> str | None:
    """The process that holds a lock on the file (proc(5), /proc/locks), as InnoDB does while it runs."""
    with suppress(OSError):
        inode = file.stat().st_ino
        for line in Path("/proc/locks").read_text().splitlines():
            words = line.split()
            place = next((word for word in words if word.count(":") == 2), "")
            if place.endswith(f":{inode}") and "WRITE" in words:
                return words[words.index("WRITE") + 1]
    return None


def _remembered(memory: Path, stamp: str) -> str | None:
    with suppress(OSError, ValueError, KeyError, TypeError):
        for line in memory.read_text().splitlines():
            entry = json.loads(line)
            if entry["stamp"] == stamp:
                return str(entry["checksum"])
    return None


def _remember(memory: Path, stamp: str, checksum: str) -> None:
    """Losing it costs another reading, so a cache that cannot be written is passed over."""
    with suppress(OSError):
        memory.parent.mkdir(parents=True, exist_ok=True)
        with memory.open("a") as file:
            file.write(json.dumps({"stamp": stamp, "checksum": checksum}) + "\n")
