"""Names that identify no one, the same one for a name everywhere: pure."""

import re
from collections.abc import Iterable

from mydyno.core.hiding import HOST, hider
from mydyno.core.words import words

HIDDEN = "hidden"

_OF_PATHS = {""} | words(
    """
    . .. / ~ root home Users bin sbin boot dev etc lib lib64 libexec local media mnt opt proc run
    share srv sys tmp usr var backup backups base binlog binlogs cache charsets conf.d data database
    db disk iblog innodb journal log logs mapper mariadb mariadbd mysql mysqld mysql-files
    mysql-keyring mariadb.conf.d mysql.conf.d my.cnf.d percona percona-server plugin raid redo relay
    slow ssd storage system systemd undo volumes docker by-id by-label by-uuid by-path block class
    kernel mm queue swap swapfile self status limits cgroup mountinfo fstab limits.conf limits.d
    security net vm transparent_hugepage enabled x86_64-linux-gnu aarch64-linux-gnu english
    mysql.sock mysqld.sock mysqld.pid mariadbd.pid my.cnf .my.cnf ib_buffer_pool ibdata1 ibtmp1
    mysql-bin mariadb-bin binlog.index tc.log relay-log.info master.info stderr error.log mysqld.log
    slow.log mysql-slow.log
    """
)
"""What paths of servers and of Linux are made of."""
_NUMBERED = re.compile(r"\d+|\d\d[-_](?:server|client|mysqld|mysqld_safe|mysql-clients|galera)\.cnf")
_DEVICE = re.compile(r"(?:sd[a-z]{1,2}|vd[a-z]|xvd[a-z]|hd[a-z]|nvme\d+n\d+p?|md|dm-|loop|sr|zram|mmcblk)\d*")
_FILE_TYPE = re.compile(r"\.(?:log|cnf|sock|pid|index|err|ibd|so|service|mount|conf)$")
_UNIT = re.compile(r"(?:mysql|mysqld|mariadb|mariadbd|percona)\.service")
_ACCOUNTS = frozenset({"mysql", "mariadb", "mysqld", "root", "nobody", "*"})
_ANY_HOST = frozenset({"%", "localhost", "127.0.0.1", "::1", "0.0.0.0", "::", "*", ""})

_ACCOUNT_IN_TEXT = re.compile(r"'[^']*'@'[^']*'")
_QUOTED = re.compile(r"(?<!\w)'[^']*'|`[^`]*`|\"[^\"]*\"")
_UNIT_IN_TEXT = re.compile(r"[\w@:.\\-]+\.service")
_PATH_IN_TEXT = re.compile(r"(?<![\w/.*])/(?=[\w.~-])[^\s'\"`,;:()]+")
_ADDRESS = re.compile(r"(?<![\w.])(?!127\.|0\.0\.0\.0)(?:\d{1,3}\.){3}\d{1,3}(?![\w.])")
_ADDRESS_6 = re.compile(r"(?<![\w:])(?:[0-9a-f]{1,4}:){3,7}[0-9a-f]{1,4}(?![\w:])", re.IGNORECASE)


class Pseudonyms:
    """Each kind of name has a separate series: `table1`, `index3`."""

    def __init__(self, hosts: Iterable[str]) -> None:
        self._known: dict[str, dict[str, str]] = {}
        self._hosts_in = hider(hosts)

    def name(self, kind: str, name: str) -> str:
        known = self._known.setdefault(kind, {})
        return known.setdefault(name, f"{kind}{len(known) + 1}")

    def table(self, name: str) -> str:
        """Of `schema.table`, both parts."""
        schema, _, table = name.partition(".")
        return f"{self.name('schema', schema)}.{self.name('table', table)}"

    def index(self, name: str) -> str:
        return name if name == "PRIMARY" else self.name("index", name)

    def column(self, name: str) -> str:
        return self.name("column", name)

    def volume(self, name: str) -> str:
        return self.name("volume", name)

    def device(self, name: str) -> str:
        return name if _DEVICE.fullmatch(name) else self.name("device", name)

    def unit(self, name: str) -> str:
        return name if _UNIT.fullmatch(name) else f"{self.name('unit', name)}.service"

    def account(self, name: str) -> str:
        return name if name in _ACCOUNTS or name.isdigit() else self.name("account", name)

    def host(self, name: str) -> str:
        return name if name in _ANY_HOST else HOST

    def address(self, name: str) -> str:
        """A socket's path, or `host:port`."""
        if name.startswith("/"):
            return self.path(name)
        host, colon, port = name.rpartition(":")
        return f"{self.host(host)}{colon}{port}" if port.isdigit() else HOST

    def path(self, path: str) -> str:
        """Its parts that belong to Linux or to every server stay."""
        return "/".join(map(self._part, path.split("/")))

    def place(self, place: str) -> str:
        """`FILE:LINE`."""
        path, colon, line = place.rpartition(":")
        return f"{self.path(path)}:{line}" if colon and line.isdigit() else self.path(place)

    def source(self, source: str) -> str:
        """What a mount is of: a device, `host:/export`, `UUID=...`, a file system without a device."""
        if "=" in source:
            return f"{source.partition('=')[0]}={HIDDEN}"
        if source.startswith("//"):
            return f"//{HOST}/{HIDDEN}"
        _, colon, path = source.partition(":")
        return f"{HOST}:{self.path(path)}" if colon else self.path(source)

    def text(self, text: str) -> str:
        """A sentence, without what it quotes and the accounts, paths, units and hosts in it."""
        text = _QUOTED.sub(f"'{HIDDEN}'", _ACCOUNT_IN_TEXT.sub("account", text))
        text = _UNIT_IN_TEXT.sub(lambda name: self.unit(name[0]), text)
        text = _PATH_IN_TEXT.sub(lambda path: self.path(path[0]), text)
        return self._hosts_in(_ADDRESS_6.sub(HOST, _ADDRESS.sub(HOST, text)))

    def _part(self, part: str) -> str:
        if part in _OF_PATHS or _NUMBERED.fullmatch(part) or _DEVICE.fullmatch(part):
            return part
        end = _FILE_TYPE.search(part)
        return self.name("name", part) + (end[0] if end else "")
