"""The groups of a digest examined one after the other, and their needs gathered by table."""

import re
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress

from mydyno.core.errors import ServerError
from mydyno.core.server_version import Version, parse_version
from mydyno.queries.candidates.candidate import Bundle, Surroundings, bundles, candidate, rank
from mydyno.queries.candidates.needs import Need, needs_of, tables_of_group
from mydyno.queries.candidates.schema import Schema, TableName
from mydyno.queries.records import Digest, Group, IndexCandidate, NoCandidate

_NAME = r"(?:(?:`(?:[^`]|``)+`|[^\s`.(,]+)\s*\.\s*)?(`(?:[^`]|``)+`|[^\s`.(,;]+)"
_WRITE = re.compile(
    r"\s*(?:(?:insert|replace)(?:\s+(?:low_priority|delayed|high_priority|ignore))*(?:\s+into)?"
    r"|update(?:\s+(?:low_priority|ignore))*|delete(?:\s+(?:low_priority|quick|ignore))*\s+from)\s+" + _NAME,
    re.IGNORECASE,
)


def look(digest: Digest, schema: Schema | None, most: int) -> Digest:
    """The digest with the candidates of its first `most` groups."""
    needs: list[Need] = []
    without: list[NoCandidate] = []
    for group in digest.groups[:most]:
        examined = needs_of(group, schema)
        needs += examined.needs
        if not examined.needs:
            without.append(NoCandidate(group=group.id, why=examined.why))
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
    named = (table for group in digest.groups[:most] for table in tables_of_group(group))
    return tuple(dict.fromkeys(named))


def _candidates(needs: list[Need], around: Surroundings) -> list[IndexCandidate]:
    by_table: dict[TableName, list[Need]] = {}
    for need in needs:
        by_table.setdefault(need.access.table, []).append(need)
    ranked: list[tuple[TableName, Bundle]] = [
        (table, bundle) for table, of_table in by_table.items() for bundle in bundles(of_table)
    ]
    ranked.sort(key=lambda each: (*rank(each[1]), each[0]))
    taken: dict[TableName, list[str]] = {}
    made: list[IndexCandidate] = []
    for table, bundle in ranked:
        definition = bundle.needs[0].access.definition
        names = taken.setdefault(table, [index.name for index in definition.indexes] if definition else [])
        made_of = candidate(bundle, names, around)
        if made_of is not None:
            names.append(made_of[0])
            made.append(made_of[1])
    return made


def _release(digest: Digest) -> Version | None:
    """The oldest server that the sources name."""
    versions: list[Version] = []
    for source in digest.sources:
        if source.server is not None:
            with suppress(ServerError):
                versions.append(parse_version(f"mysqld Ver {source.server}"))
    return min(versions, key=lambda each: each.numbers, default=None)


def writes(groups: Iterable[Group]) -> Counter[str]:
    """Statements that insert, change or delete, by the table's name in lower case without its database."""
    counted: Counter[str] = Counter()
    for group in groups:
        if (write := _WRITE.match(group.fingerprint)) is not None:
            name = write[1]
            if name.startswith("`"):
                name = name[1:-1].replace("``", "`")
            counted[name.casefold()] += group.count
    return counted
