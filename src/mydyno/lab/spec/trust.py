"""What an experiment file may ask for only with `--trust`: a file of somebody else runs no code here."""

from __future__ import annotations

from collections.abc import Iterator

from mydyno.core.document.problems import Problem, shorten
from mydyno.core.document.tree import Location
from mydyno.lab.spec.experiment import Variant
from mydyno.lab.spec.generators import OwnFile
from mydyno.lab.spec.trusted_settings import trust_needed
from mydyno.lab.spec.workload import Workload
from mydyno.lab.workload.external_program.passed import dashed
from mydyno.lab.workload.external_program.slap import SQL_OPTIONS, ExternalSlap
from mydyno.lab.workload.statement_trust import WHY_STATEMENT, reaches, reaching_statements
from mydyno.server.access.address import External

_LOOPBACK = ("localhost", "127.0.0.1", "::1")


def trust_problems(variant: Variant, *, own_server: bool = False) -> Iterator[Problem]:
    """Everything in one combination of levels that needs trust, at its place in the file.

    `own_server`: the external server was chosen on the command line, not by the file.
    """
    server = variant.setup.server
    for name, value in server.config.items():
        if why := trust_needed(name, value, external=server.external is not None):
            message = f"{name} needs --trust: {why}"
            yield variant.problem(("setup", "server", "config", name), message, at_key=True)
    if server.external is not None and not own_server and _sends_password(server.external):
        message = f"password_file needs --trust: the password is sent to {server.external.host}"
        yield variant.problem(("setup", "server", "external", "password_file"), message, at_key=True)
    for location, sql in _of_workload(variant.workload):
        message = f"{shorten(sql)!r} needs --trust: {WHY_STATEMENT}"
        yield variant.problem(location, message)


def _of_workload(workload: Workload) -> Iterator[tuple[Location, str]]:
    """The statements of a file or of options that reach beyond the tables of the load, and where they are."""
    options = workload.options
    if isinstance(options, OwnFile):
        for sql in reaching_statements(options.resolve().program):
            yield ("workload", "file", "path"), sql
    if isinstance(options, ExternalSlap):
        for name, value in options.options.items():
            if dashed(name) in SQL_OPTIONS and any(map(reaches, str(value).split(";"))):
                yield ("workload", "mysqlslap", "options", name), str(value)


def _sends_password(external: External) -> bool:
    """Whether a password of this machine goes to a host that the file names."""
    return external.password_file is not None and external.host not in (None, *_LOOPBACK)
