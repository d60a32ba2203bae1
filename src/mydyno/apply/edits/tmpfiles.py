"""A switch of the kernel at each boot, written by systemd-tmpfiles: /etc/tmpfiles.d/mydyno.conf.

Of several lines for the same path the one in the file that comes first by name counts (tmpfiles.d(5)), so
mydyno's is refused where another file has one.
"""

from mydyno.apply.change import SetSysfs
from mydyno.apply.edits.texts import RefusedError, Texts, set_line

PATH = "/etc/tmpfiles.d/mydyno.conf"
_FOLDERS = ("/etc/tmpfiles.d", "/run/tmpfiles.d", "/usr/lib/tmpfiles.d")


def set_sysfs(texts: Texts, change: SetSysfs) -> None:
    """Raises RefusedError when another file writes it, too."""
    for folder in _FOLDERS:
        for name in texts.names(folder) or ():
            path = f"{folder}/{name}"
            if path == PATH or not name.endswith(".conf"):
                continue
            for number, line in enumerate((texts.get(path) or "").split("\n"), start=1):
                if line.split()[1:2] == [change.path]:
                    raise RefusedError(
                        f"{path}:{number} writes {change.path}, and only one file may",
                        f"let that line write {change.value}",
                    )
    old = texts.get(PATH)
    texts.put(PATH, set_line(old, f"w {change.path} ", f"w {change.path} - - - - {change.value}"))
