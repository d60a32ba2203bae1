"""Servers that differ in more than the factors: refused, unless the experiment says `unequal`. Pure.

What is in force is worked out from the settings and the defaults that each binary lists, before any server is
started; what a server works out when it starts is known from the catalogue, or not at all.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from mydyno.core.document.problems import Problem
from mydyno.core.server_version import Version
from mydyno.lab.analysis.comparability import Effective, Unequal, unequal
from mydyno.lab.plan import Point
from mydyno.lab.spec import Experiment
from mydyno.lab.stack import ExternalFacts, ServerBinary, Setting
from mydyno.lab.stack.server.release_variables import default_at
from mydyno.lab.trial.attempt import settings_of
from mydyno.server.program.file_places import has_binary_log
from mydyno.server.variables import catalogue
from mydyno.server.variables.convert import text_of
from mydyno.server.variables.release import Family

_METHOD, _BUFFERING = "innodb_flush_method", "innodb_data_file_buffering"
_CHARACTERS, _COLLATION = "character_set_server", "collation_server"


def effective(binary: ServerBinary, settings: Mapping[str, Setting], point: Point) -> Effective:
    """What will be in force on a server that mydyno starts; `settings` under the binary's own names."""
    known = {name: value for name, value in binary.options.items() if value is not None}
    # What it works out when it starts: its help may show something else.
    known[_METHOD] = _default(_METHOD, binary.version)
    if _METHOD in settings:
        known.pop(_BUFFERING, None)
    if _CHARACTERS in settings:
        known.pop(_COLLATION, None)
    elif _COLLATION in settings:
        known[_CHARACTERS] = text_of(settings[_COLLATION]).partition("_")[0]
    known |= {name: text_of(value) for name, value in settings.items()}
    known["log_bin"] = "ON" if has_binary_log(binary, settings) else "OFF"
    return _effective(known, binary.version, settings, point)


def effective_external(facts: ExternalFacts, settings: Mapping[str, Setting], point: Point) -> Effective:
    """The same of an external server: what it shows, and what will be set."""
    known = {**facts.variables, **{name: text_of(value) for name, value in settings.items()}}
    return _effective(known, facts.version, settings, point)


def _effective(
    known: Mapping[str, str], version: Version, settings: Mapping[str, Setting], point: Point
) -> Effective:
    return Effective(
        variables=known,
        mariadb=version.is_mariadb,
        numbers=version.numbers,
        written={name: text_of(value) for name, value in settings_of(point).items()},
        configured=settings.keys(),
    )


def _default(name: str, version: Version) -> str:
    row = catalogue().variables[name]
    return default_at([each for each in row.defaults if each.on is Family.of(version)], version).split()[0]


def found_unequal(servers: Sequence[tuple[Point, Effective]]) -> list[Unequal]:
    """What differs between the points and is not set by a factor."""
    return list(unequal((point.levels, server) for point, server in servers if point.control_of is None))


def unequal_problems(experiment: Experiment, properties: Sequence[Unequal]) -> Iterator[Problem]:
    """Those that the experiment does not allow."""
    for each in properties:
        if each.property.name not in experiment.unequal:
            yield Problem(
                experiment.file,
                experiment.position("server.config"),
                f"the servers differ in more than the factors: {each}",
                None,
                f"{each.property.variables[0]} in server.config, so that all have the same; "
                f"or unequal: [{each.property.name}]",
            )


def unequal_warnings(properties: Sequence[Unequal], allowed: Collection[str]) -> tuple[str, ...]:
    """What a plan says of those that the experiment allows."""
    return tuple(f"unequal: {each}" for each in properties if each.property.name in allowed)
