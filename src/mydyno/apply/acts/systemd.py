"""Questions to systemd, by systemctl: the properties of a unit, and which unit a process is of."""

import re
from collections.abc import Iterable
from pathlib import Path

from mydyno.core.errors import ApplyError, MissingToolError, ServerError
from mydyno.machine.local import LocalHost
from mydyno.machine.protocol import Finished

_OF_A_SERVICE = re.compile(r"^(?:0:|\d+:name=systemd):/system\.slice/(?:.*/)?([^/]+\.service)$", re.MULTILINE)


def systemctl(*words: str, timeout_seconds: float = 60.0) -> Finished:
    """Runs it to its end, whatever that is. Raises ApplyError without systemd, or when it takes too long."""
    try:
        return LocalHost().run(["systemctl", "--no-pager", *words], timeout_seconds=timeout_seconds)
    except MissingToolError as error:
        raise ApplyError("there is no systemd here, so no unit can be changed") from error
    except ServerError as error:
        raise ApplyError(error.message, error.hint) from error


def properties(unit: str, names: Iterable[str]) -> dict[str, str]:
    """As `systemctl show` prints them, by the names that unit files have for them: TimeoutStopSec is shown as
    TimeoutStopUSec (org.freedesktop.systemd1(5)). Raises ApplyError when systemd does not answer."""
    shown = {re.sub("Sec$", "USec", name): name for name in names}
    done = systemctl("show", unit, *(f"--property={name}" for name in shown))
    if done.returncode != 0:
        raise ApplyError(f"systemd does not know {unit}: {done.stderr.strip()}")
    pairs = (line.split("=", 1) for line in done.stdout.splitlines() if "=" in line)
    return {shown[name]: value for name, value in pairs if name in shown}


def unit_of(cgroup: str) -> str | None:
    """The system's service, from the text of /proc/PID/cgroup; None: it is not one of systemd's services."""
    service = _OF_A_SERVICE.search(cgroup)
    return service[1] if service else None


def unit_of_process(pid: int) -> str | None:
    """The same of a process; None too when it has gone."""
    try:
        return unit_of(Path(f"/proc/{pid}/cgroup").read_text())
    except OSError:
        return None
