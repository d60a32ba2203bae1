"""What can be found wrong with a server that is not mydyno's before anything is done to it."""

from collections.abc import Iterator

from mydyno.core.document.tree import Location
from mydyno.lab.plan import Plan, Point
from mydyno.lab.plan.statements import table_names
from mydyno.lab.spec import Experiment, External, Problem, Variant
from mydyno.lab.stack import ExternalFacts, look_at
from mydyno.lab.stack.server.external import understand_running
from mydyno.lab.stack.tables_layer import foreign_tables, refusal
from mydyno.lab.trial.attempt import settings_of
from mydyno.server.access.session import session
from mydyno.server.variables.names import Understood

_OUR_OWN = 2
"""Connections in addition to those of the load: the sampler's, and one that sets, reads and counts."""


def look_at_all(
    experiment: Experiment, plan: Plan
) -> tuple[dict[str, ExternalFacts], dict[str, tuple[str, ...]], list[Problem]]:
    """For points with an external server, by their ids: its facts, and notes on the settings, and all
    problems with them.

    Raises UsageError and ServerError when there is no way in.
    """
    known: dict[External, ExternalFacts] = {}
    facts: dict[str, ExternalFacts] = {}
    notes: dict[str, tuple[str, ...]] = {}
    problems: list[Problem] = []
    for point in plan.points:
        external = point.setup.server.external
        if external is None:
            continue
        if external not in known:
            known[external] = look_at(external)
        facts[point.id] = known[external]
        understood = understand_running(known[external], settings_of(point))
        notes[point.id] = tuple(map(str, understood.notes))
        variant = experiment.variant(point.levels)
        problems += _of_settings(understood, known[external], variant)
        problems += _of_server(point, external, known[external], variant)
    return facts, notes, problems


def _of_settings(understood: Understood, facts: ExternalFacts, variant: Variant) -> Iterator[Problem]:
    for each in understood.problems:
        location: Location = ("setup", "server", "config", each.name)
        message = f"{each.name}: {each.why} (checked with {_server_text(facts)})"
        yield variant.problem(
            location, message, nearest=" or ".join(f"'{name}'" for name in each.nearest) or None, at_key=True
        )


def _of_server(point: Point, external: External, facts: ExternalFacts, variant: Variant) -> Iterator[Problem]:
    transport = facts.login.transport
    if point.workload.external is not None and facts.login.socket is None and transport.requires_tls:
        message = f"ssl_mode {transport.mode} requires encryption, which this workload's program does not do"
        allowed = "a unix socket, or a workload of mydyno's engine"
        yield variant.problem(("setup", "server", "external"), message, allowed, at_key=True)
    if point.workload.external is not None and transport.compression and transport.compression.is_required:
        names = ",".join(transport.compression.algorithms)
        message = (
            f"compression_algorithms {names} requires compression, which this workload's program does not do"
        )
        allowed = f"{names},uncompressed, or a workload of mydyno's engine"
        yield variant.problem(("setup", "server", "external"), message, allowed, at_key=True)
    with session(facts.login, "its tables could not be read") as cursor:
        foreign = foreign_tables(cursor, external.database, table_names(point.workload))
    if foreign:
        message = f"{refusal(external.database, foreign)} ({_server_text(facts)})"
        yield variant.problem(("setup", "server", "external"), message, "another database", at_key=True)
    most = int(facts.variables.get("max_connections", "0") or 0)
    connections = max(point.workload.connections)
    if "max_connections" not in point.setup.server.config and 0 < most < connections + _OUR_OWN:
        message = f"the load uses {connections:,} connections, and the server allows {most:,}"
        message += f" ({_server_text(facts)})"
        allowed = f"at most {most - _OUR_OWN:,}, or server.config.max_connections"
        yield variant.problem(("workload", "connections"), message, allowed)


def _server_text(facts: ExternalFacts) -> str:
    return f"{facts.login.address}, {facts.version}"
