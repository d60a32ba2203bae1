"""A server that is there already: looked at, its variables set for a while, and restored."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from mydyno.core.errors import ServerError, UndoError
from mydyno.core.server_variables import Setting
from mydyno.core.server_version import Version, parse_version
from mydyno.lab.stack.server.server import Server
from mydyno.lab.stack.site import Site
from mydyno.lab.stack.undo import RestoreVariables
from mydyno.server.access import dbapi
from mydyno.server.access.address import External
from mydyno.server.access.login import ANSWER_SECONDS, TOO_MANY_CONNECTIONS, Login, login_of
from mydyno.server.access.session import process_of, session, show_global, version_line
from mydyno.server.variables import Note, global_variables
from mydyno.server.variables.global_variables import resize_status, wait_for_resizing
from mydyno.server.variables.names import SettingProblem, Understood, understand
from mydyno.server.variables.setting_lock import SETTING_SECONDS, take_lock


@dataclass(frozen=True)
class ExternalFacts:
    """What is read of the server before anything is changed."""

    login: Login
    version: Version
    variables: Mapping[str, str]
    pid: int | None
    """Its process, when that can be seen from here."""

    @property
    def options(self) -> Mapping[str, str | None]:
        """What it knows by name, as a binary lists its options."""
        return self.variables


@dataclass(eq=False, kw_only=True)
class ExternalServer(Server):
    """A server that mydyno has not started, with the configured settings in force until `restore`."""

    _site: Site = field(repr=False)
    _undo: int | None = field(repr=False)

    def alive(self) -> bool:
        """Whether it lets one in, or says that too many are in already."""
        try:
            self.connect(answer_seconds=5).close()
        except dbapi.Error as error:
            return dbapi.number_of(error) == TOO_MANY_CONNECTIONS
        return True

    def connect(self, *, answer_seconds: int = ANSWER_SECONDS) -> dbapi.Connection[dbapi.Cursor]:
        """A new connection as the experiment's account. Raises dbapi.Error."""
        return self.login.connect(answer_seconds=answer_seconds)

    def variables(self) -> dict[str, str]:
        """`SHOW GLOBAL VARIABLES`: the settings in force. Raises ServerError when it does not answer."""
        with session(self.login, "SHOW GLOBAL VARIABLES") as cursor:
            return show_global(cursor, "VARIABLES")

    def restore(self) -> None:
        """Gives the variables their old values. The journal keeps that for a server that has gone.

        Raises UndoError when the server is there and does not take them.
        """
        try:
            self._site.undo(self._undo)
        except UndoError:
            if self.alive():
                raise


def look_at(external: External) -> ExternalFacts:
    """Connects, reads, and changes nothing.

    Raises UsageError when a file does not give the login, ServerError when there is no way in.
    """
    login = login_of(external)
    with session(login) as cursor:
        variables = show_global(cursor, "VARIABLES")
        version = parse_version(version_line(variables))
        return ExternalFacts(login, version, variables, process_of(cursor, login, variables))


def attach(site: Site, external: External, config: Mapping[str, Setting]) -> ExternalServer:
    """Sets the variables, the way back journalled before. Raises ServerError, and then all are restored."""
    facts = look_at(external)
    understood = understand(facts, config)
    if understood.problems:
        raise ServerError(f"{facts.login.address}: {'; '.join(map(str, understood.problems))}")
    settings = understood.settings
    undo = _set(site, external, facts.login, settings) if settings else None
    return ExternalServer(
        login=facts.login,
        version=facts.version,
        host=site.host,
        pid=facts.pid,
        settings=settings,
        _site=site,
        _undo=undo,
    )


def _set(site: Site, external: External, login: Login, settings: Mapping[str, Setting]) -> int | None:
    names = ", ".join(settings)
    with session(login, f"the settings ({names}) could not be read") as cursor:
        before = global_variables.read(cursor, settings)
    way = RestoreVariables(server=external.at_home, before=before)
    undo = site.intend(way)
    try:
        with session(login, "it refused a setting", SETTING_SECONDS) as cursor:
            take_lock(cursor, way.lock)
            resized = resize_status(cursor)
            for name, value in settings.items():
                global_variables.write(cursor, name, global_variables.as_value(value, before[name]))
            if "innodb_buffer_pool_size" in settings:
                wait_for_resizing(cursor, resized)
            ours = global_variables.read(cursor, settings)
        return site.intend(way.model_copy(update={"ours": ours}), instead_of=undo)
    except BaseException:
        site.undo(undo)
        raise


def understand_running(facts: ExternalFacts, config: Mapping[str, Setting]) -> Understood:
    """What this server makes of a configuration, with every setting as a problem that this account cannot
    give to it without a restart.

    Raises ServerError when the server does not answer.
    """
    understood = understand(facts, config)
    if not config:
        return understood
    with session(facts.login, "the settings that it accepts could not be read") as cursor:
        problems = [_of_a_session(cursor, problem) or problem for problem in understood.problems]
        refused = {name: global_variables.refusal(cursor, name) for name in understood.settings}
    problems += [
        SettingProblem(_written(name, understood), why) for name, why in refused.items() if why is not None
    ]
    return Understood(understood.settings, understood.notes, tuple(problems), understood.written_as)


def _of_a_session(cursor: dbapi.Cursor, problem: SettingProblem) -> SettingProblem | None:
    """The same setting, if it is unknown only because it has no global value."""
    why = global_variables.refusal(cursor, problem.name)
    return SettingProblem(problem.name, why) if why == global_variables.OF_A_SESSION else None


def _written(name: str, understood: Understood) -> str:
    """The setting of the experiment that became `name` on this server."""
    made = (note for note in understood.notes if isinstance(note, Note) and name in note.became)
    return next((note.name for note in made), name)
