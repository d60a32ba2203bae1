"""Lines for the server in limits.conf, where systemd starts it.

/etc/security/limits.conf is read by pam_limits at login. A service does not log in, so those lines do
nothing for it, however often guides repeat them. Where they request less than the server has anyway, they
are only misleading; where they request more, the expected limit is not in force.
"""

from collections.abc import Iterator

from mydyno.advisor.rules import *

_LIMITS = {
    "nofile": ("Max open files", "LimitNOFILE", 1),
    "nproc": ("Max processes", "LimitNPROC", 1),
    "memlock": ("Max locked memory", "LimitMEMLOCK", 1024),
}
"""The word in limits.conf: the name in /proc/PID/limits, the unit's name for it, the bytes of its unit."""


@Rule(
    checks="whether limits.conf requests limits that a service does not get",
    why="limits.conf is read at login; a service has the limits of its systemd unit.",
    expected="limits in the place where they work",
    sources=(
        "pam_limits(8)",
        "systemd.exec(5), Process Properties",
        "Microsoft Azure documentation, Optimize MySQL Performance on Azure Linux VMs (limits.conf)",
    ),
)
def rule(system: System, _: Targets) -> Judgement:
    require(system.host and system.host.process, "how the server was started")
    unit = require(unit_of(system), NotHere("no systemd unit started the server"))
    unmet = list(_unmet(system))
    if not unmet:
        return Fine("limits.conf requests nothing that the server lacks")
    names = ", ".join(dict.fromkeys(name for _, name in unmet))
    return finding(
        title=f"limits.conf raises limits of the server that {unit.name} does not read",
        evidence=tuple(line for line, _ in unmet),
        recommendation=f"limits.conf is for logins: give a service its limits in its unit ({names})",
        changes=by_hand(
            f"drop the lines from limits.conf; where a limit is wanted, set {names} in a drop-in",
            f"systemctl edit {unit.name}",
        ),
        effect=better("insight", "small"),
    )


def _unmet(system: System) -> Iterator[tuple[str, str]]:
    """The lines that ask for more than the server has, in words, with the unit's name for each limit."""
    host = system.host
    if host is None or host.process is None:
        return
    users = {host.process.user or "mysql", "*"}
    for line in host.kernel.limits_conf:
        fields = line.split()
        if len(fields) != 4 or fields[0] not in users or fields[2] not in _LIMITS:
            continue
        name, property_name, scale = _LIMITS[fields[2]]
        limit = limit_of(system, name)
        if limit is None or limit.hard is None:
            continue
        requested = int(fields[3]) * scale if fields[3].isdigit() else None
        if requested is None or requested > limit.hard:
            yield f"`{line}`; the running server has {name}: {limit.hard}", property_name
