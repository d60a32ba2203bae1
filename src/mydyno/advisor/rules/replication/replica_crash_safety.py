"""Whether a replica finds its position again after a crash.

A replica keeps two positions: how far it has fetched, and how far it has applied. In files they are not
written together with the rows, so after a crash of the machine it applies a transaction twice or leaves one
out. In tables (MySQL 5.6 and later; the only way since 8.3) the applied position commits with the rows.
relay_log_recovery discards fetched events that may be torn and fetches them again from the applied
position.
"""

from mydyno.advisor.rules import *

_RECOVERY = "relay_log_recovery"
_REPOSITORIES = ("relay_log_info_repository", "master_info_repository")


@Rule(
    checks="relay_log_recovery and where a replica keeps its positions",
    why="Positions in files and torn relay logs make a replica differ from its source after a crash.",
    expected="after a power cut the replica continues where it was; no effect on speed",
    durability="raises: replayed rows and position agree after a crash",
    risk="relay logs not yet applied are fetched again: the source must still have them",
    sources=(
        "MySQL Reference Manual, Handling an Unexpected Halt of a Replica",
        "MariaDB Documentation, Replication and Binary Log System Variables, relay_log_recovery",
    ),
    variables=(_RECOVERY, *_REPOSITORIES),
)
def rule(system: System, _: Targets) -> Judgement:
    server = system.server
    if not server.role.replica:
        return NotHere("it is not a replica")
    if server.switch(_RECOVERY) is None:
        return Unknown(_RECOVERY)
    files = [name for name in _REPOSITORIES if (server.text(name) or "").upper() == "FILE"]
    if server.switch(_RECOVERY) and not files:
        return Fine("relay logs are recovered, and positions are kept in tables")
    wanted: dict[str, Setting] = {_RECOVERY: True, **dict.fromkeys(files, "TABLE")}
    changes = tuple(
        change.model_copy(update={"restart": True})  # Refused while the replica runs.
        for change in settings(server, wanted)
    )
    return finding(
        title="After a crash this replica may repeat or miss transactions",
        evidence=(
            f"{_RECOVERY} = {server.text(_RECOVERY)}",
            *(f"{name} = FILE: not written together with the rows" for name in files),
        ),
        recommendation=", ".join(change.sentence() for change in changes),
        changes=changes,
        severity=Severity.HIGH,
        effect=better("safety", "large"),
        durability="raises",
        durability_says="replay position and replayed rows agree after a crash",
        restart=True,
    )
