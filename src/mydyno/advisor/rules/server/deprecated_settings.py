"""Lines of option files that this release ignores, or that a later one will refuse.

A server ignores some old settings with only a warning in the error log, and the option file misleads its
readers. Others still work and are deprecated: the release that removes them refuses to start with "unknown
variable" at the upgrade. Ignored settings can be removed without any effect on the running server;
deprecated ones are for you to rename or remove.
"""

from collections.abc import Iterator

from mydyno.advisor.names import place
from mydyno.advisor.rules import *
from mydyno.core.server_version import Version
from mydyno.server.variables import catalogue
from mydyno.server.variables.release import Family
from mydyno.server.variables.row import Row
from mydyno.survey.facts import Origin

_REMOVABLE = (
    "innodb_adaptive_max_sleep_delay", "innodb_background_scrub_data_check_interval",
    "innodb_background_scrub_data_compressed", "innodb_background_scrub_data_interval",
    "innodb_background_scrub_data_uncompressed", "innodb_file_format", "innodb_large_prefix",
    "innodb_log_checksums", "innodb_log_compressed_pages", "innodb_log_optimize_ddl",
    "innodb_prefix_index_cluster_optimization", "innodb_replication_delay", "innodb_scrub_log",
    "innodb_scrub_log_speed", "innodb_thread_sleep_delay", "innodb_undo_logs",
)  # fmt: skip
"""Ignored ones that no rule sets in any release."""


@Rule(
    checks="settings of option files that this release ignores or has deprecated",
    why="Ignored lines mislead; deprecated ones prevent the next release from starting.",
    expected="the next release starts with this option file; nothing changes for the running server",
    risk="none known: removed lines had no effect",
    sources=(
        "MySQL Server Version Reference, Option and Variable Changes, of each release series",
        "MariaDB Documentation, Server System Variables, and InnoDB System Variables",
    ),
    variables=_REMOVABLE,
)
def rule(system: System, _: Targets) -> Judgement:
    server = system.server
    if not any(known.origin for known in server.variables.values()):
        return Unknown("which settings come from option files")
    ignored = list(_ignored(server))
    late = list(_deprecated(server))
    if not ignored and not late:
        return Fine("no line of an option file is ignored or deprecated")
    removed: list[Change] = [
        RemoveVariable(name=name, file=origin.file, line=origin.line, was=server.text(name))
        for name, origin in ignored
        if name in _REMOVABLE
    ]
    manual: list[Change] = [
        ByHand(says=f"remove {name} from {place(origin)}: this release ignores it")
        for name, origin in ignored
        if name not in _REMOVABLE
    ]
    manual += [ByHand(says=_advice(server, name, row, origin)) for name, row, origin in late]
    return finding(
        title=" and ".join(
            [
                *([f"{counted(len(ignored), 'setting', 'is')} ignored"] if ignored else []),
                *([f"{counted(len(late), 'setting', 'is')} deprecated"] if late else []),
            ]
        )
        + f" by {server.release}",
        evidence=(
            *(f"{name} ({place(origin)}) has no effect" for name, origin in ignored),
            *(f"{name} ({place(origin)}): {row.history()}" for name, row, origin in late),
        ),
        recommendation="remove or replace them before the next upgrade",
        changes=(*removed, *manual),
        effect=better("stability", "small"),
    )


def _written(server: Server) -> Iterator[tuple[str, Row, Origin]]:
    """The variables that an option file sets and of which the catalogue has a row."""
    for name, known in server.variables.items():
        row = catalogue().get(name)
        if (
            row is not None
            and known.origin is not None
            and known.origin.source == "file"
            and known.origin.file
        ):
            yield name, row, known.origin


def _ignored(server: Server) -> Iterator[tuple[str, Origin]]:
    return ((name, origin) for name, row, origin in _written(server) if row.ignored(server.release))


def _deprecated(server: Server) -> Iterator[tuple[str, Row, Origin]]:
    for name, row, origin in _written(server):
        if not row.ignored(server.release) and _is_deprecated(row, server.release):
            yield name, row, origin


def _is_deprecated(row: Row, release: Version) -> bool:
    life = row.life(Family.of(release))
    return life is not None and life.deprecated is not None and release.numbers >= life.deprecated.numbers


def _advice(server: Server, name: str, row: Row, origin: Origin) -> str:
    new = next(
        (
            successor.name
            for successor in row.becomes
            if server.has(successor.name) and successor.name != name
        ),
        None,
    )
    instead = (
        f"write {new} in its place" if new else (row.instead or "remove it before the next release does")
    )
    return f"{name} in {place(origin)} is deprecated: {instead}"
