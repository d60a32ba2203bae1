"""How many transactions a replica replays at a time.

A source commits in many sessions at once; a replica with a single applier replays one after another and
falls behind under load. With workers, transactions that did not touch the same rows, or were committed
together, are replayed together, and with the order of commits preserved readers see no state that the
source never had. MySQL has 4 workers by default since 8.0.27; MariaDB has none (slave_parallel_threads =
0).
"""

from mydyno.advisor.rules import *

_WORKERS = ("replica_parallel_workers", "slave_parallel_threads", "slave_parallel_workers")
_ORDER = ("replica_preserve_commit_order", "slave_preserve_commit_order")
_TYPE = ("replica_parallel_type", "slave_parallel_type")
_MOST = 8


@Rule(
    checks="the number of a replica's workers",
    why="A single applier cannot keep up with a source that commits in many sessions.",
    expected="a replica that falls behind catches up faster; one that keeps up gains nothing",
    risk="workers that wait for each other's locks retry transactions",
    sources=(
        "MySQL Reference Manual, Replica Server Options and Variables, replica_parallel_workers",
        "MariaDB Documentation, Parallel Replication",
    ),
    variables=(*_WORKERS, *_ORDER, *_TYPE),
)
def rule(system: System, _: Targets) -> Judgement:
    server = system.server
    if not server.role.replica or server.role.galera or server.role.group_replication:
        return NotHere("it is not a replica, or belongs to a cluster with its own appliers")
    name = _first(server, _WORKERS)
    workers = server.number(name) if name else None
    if name is None or workers is None or system.host is None:
        return Unknown("the number of workers or of CPUs")
    if workers > 1 or system.host.cpu.count < 2:
        return Fine(f"{workers} workers on {system.host.cpu.count} CPUs")
    if not server.release.is_mariadb and not _can_keep_order(server):
        return NotHere("the order of commits needs log_bin and log_slave_updates before MySQL 8.0.19")
    wanted = min(_MOST, max(4, system.host.cpu.count))
    options: dict[str, Setting] = {name: wanted}
    if order := _first(server, _ORDER):
        options[order] = True
    if kind := _first(server, _TYPE):
        options[kind] = "LOGICAL_CLOCK"
    changes = tuple(
        change.model_copy(update={"restart": True})  # Refused, or without effect, while the replica runs.
        for change in settings(server, options)
    )
    return finding(
        title="The replica replays one transaction after another",
        evidence=(f"{name} = {workers}, {system.host.cpu.count} CPUs", "its lag is not checked"),
        recommendation=", ".join(change.sentence() for change in changes),
        changes=changes,
        effect=better("latency", "medium"),
        restart=True,
    )


def _first(server: Server, names: tuple[str, ...]) -> str | None:
    return next((name for name in names if server.has(name)), None)


def _can_keep_order(server: Server) -> bool:
    if server.release.numbers < (5, 7, 5):
        return False
    updates = server.switch("log_replica_updates") or server.switch("log_slave_updates")
    return server.release.numbers >= (8, 0, 19) or bool(server.switch("log_bin") and updates)
