"""The groups of a digest looked at one after the other, and their needs gathered by table."""

from __future__ import annotations

from collections.abc import Iterable

from mydyno.core.errors import ServerError
from mydyno.core.server_version import Version, parse_version
from mydyno.queries.candidates.candidate import Bundle, Surroundings, bundles, candidate, rank
from mydyno.queries.candidates.needs import Need, needs_of, tables_of_group
from mydyno.queries.candidates.schema import Schema, TableName
from mydyno.queries.candidates.writes import writes
from mydyno.queries.records import Digest, Group, IndexCandidate, NoCandidate


def look(digest: Digest, schema: Schema | None, most: int) -> Digest:
    """The digest with what was found for its first `most` groups."""
    needs: list[Need] = []
    without: list[NoCandidate] = []
    for group in _looked_at(digest, most):
        looked = needs_of(group, schema)
        needs += looked.needs
        if not looked.needs:
            without.append(NoCandidate(group=group.id, why=looked.why))
    around = Surroundings(
        release=schema.release if schema is not None else _release(digest),
        writes=writes(digest.groups),
        has_schema=schema is not None,
    )
    return digest.model_copy(
        update={"candidates": tuple(_candidates(needs, around)), "without_candidate": tuple(without)}
    )


def tables(digest: Digest, most: int) -> tuple[TableName, ...]:
    """The tables that the first `most` groups read, each once."""
    found = (table for group in _looked_at(digest, most) for table in tables_of_group(group))
    return tuple(dict.fromkeys(found))


def _looked_at(digest: Digest, most: int) -> Iterable[Group]:
    return digest.groups[:most]


def _candidates(needs: list[Need], around: Surroundings) -> list[IndexCandidate]:
    by_table: dict[TableName, list[Need]] = {}
    for need in needs:
        by_table.setdefault(need.access.table, []).append(need)
    found: list[tuple[TableName, Bundle]] = [
        (table, bundle) for table, of_table in by_table.items() for bundle in bundles(of_table)
    ]
    found.sort(key=lambda each: (*rank(each[1]), each[0]))
    taken: dict[TableName, list[str]] = {}
    made: list[IndexCandidate] = []
    for table, bundle in found:
        definition = bundle.needs[0].access.definition
        names = taken.setdefault(table, [index.name for index in definition.indexes] if definition else [])
        made_of = candidate(bundle, names, around)
        if made_of is not None:
            names.append(made_of[0])
            made.append(made_of[1])
    return made


def _release(digest: Digest) -> Version | None:
    """The oldest server that the sources tell of."""
    found: list[Version] = []
    for source in digest.sources:
        if source.server is not None:
            try:
                found.append(parse_version(f"mysqld Ver {source.server}"))
            except ServerError:
                continue
    return min(found, key=lambda each: each.numbers, default=None)
