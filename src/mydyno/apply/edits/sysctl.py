"""A kernel setting at each boot: /etc/sysctl.d/99-mydyno.conf.

Files are read by name, whatever folder they lie in, and the last one counts (sysctl.d(5)); `sysctl --system`
of procps reads /etc/sysctl.conf after all of them (sysctl(8)), and Debian gives systemd a link 99-sysctl.conf
to it. So a later line for the same setting would win: below /etc it is made a comment.
"""

import re
from collections.abc import Iterator

from mydyno.apply.change import SetSysctl
from mydyno.apply.edits.texts import RefusedError, Texts, set_line, switch_off

PATH = "/etc/sysctl.d/99-mydyno.conf"
_NAME = "99-mydyno.conf"
_FOLDERS = ("/etc/sysctl.d", "/run/sysctl.d", "/usr/local/lib/sysctl.d", "/usr/lib/sysctl.d", "/lib/sysctl.d")
"""The first of them that has a file of a name is the one from which that file is read."""
_MAIN = "/etc/sysctl.conf"
_SETTING = re.compile(r"^\s*-?\s*([^#;=\s]+)\s*=")


def set_sysctl(texts: Texts, change: SetSysctl) -> None:
    """Raises RefusedError when a file that is not below /etc sets it later."""
    for path, number in _later(texts, change.name):
        if not path.startswith("/etc/"):
            raise RefusedError(
                f"{path}:{number} sets {change.name} after {PATH} is read",
                f"put a file of the same name into /etc/sysctl.d with {change.name} = {change.value}",
            )
        switch_off(texts, path, number, f"{change.name} is set in {PATH}")
    old = texts.get(PATH)
    texts.put(PATH, set_line(old, f"{change.name} = ", f"{change.name} = {change.value}"))


def _later(texts: Texts, name: str) -> Iterator[tuple[str, int]]:
    """Lines that set it after mydyno's file has been read, the last of each file first."""
    folders: dict[str, str] = {}
    for folder in reversed(_FOLDERS):
        names = texts.names(folder) or ()
        folders |= {name: folder for name in names if name.endswith(".conf") and name > _NAME}
    paths = [f"{folder}/{name}" for name, folder in sorted(folders.items())]
    for path in dict.fromkeys(texts.real(path) for path in (_MAIN, *paths)):
        lines = (texts.get(path) or "").split("\n")
        for number in range(len(lines), 0, -1):
            setting = _SETTING.match(lines[number - 1])
            if setting and _plain(setting[1]) == _plain(name):
                yield path, number


def _plain(name: str) -> str:
    """`vm/swappiness` and `vm.swappiness` are the same; where a slash comes first, dots are the slashes."""
    first = re.search(r"[./]", name)
    return name.translate(str.maketrans("./", "/.")) if first and first[0] == "/" else name
