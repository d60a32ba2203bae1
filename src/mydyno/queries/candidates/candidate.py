"""From what groups need to the records of candidates: merged, put into order, written as ALTER TABLE."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from mydyno.core.server_version import Version
from mydyno.core.sql_names import quote
from mydyno.queries.candidates.choosing import Pattern, is_covering, merged
from mydyno.queries.candidates.existing import replaced, shown
from mydyno.queries.candidates.key_parts import key_parts, ordered
from mydyno.queries.candidates.needs import Need
from mydyno.queries.candidates.schema import Access, Definition, TableName
from mydyno.queries.records import Group, IndexCandidate
from mydyno.survey.facts.indexes import Part, TableIndex

MANY_INDEXES = 6
_EXPLAINED_GROUPS = 3
_SMALL_APPENDIX = 2
_NO_SCHEMA = "the schema was not read: an index that serves this may be there already"
_LONGEST_NAME = 64
_ONLINE_ENGINE = "innodb"


@dataclass
class Bundle:
    """Needs that one index serves."""

    pattern: Pattern
    needs: list[Need] = field(default_factory=list)

    @property
    def groups(self) -> list[Group]:
        """Each once, the one with the most time first."""
        groups = {need.group.id: need.group for need in self.needs}
        return sorted(groups.values(), key=lambda each: -each.query_time_us)


@dataclass(frozen=True)
class Surroundings:
    """What all candidates of a digest share."""

    release: Version | None
    writes: Mapping[str, int]
    """By table, in lower case."""
    has_schema: bool


def bundles(needs: Sequence[Need]) -> list[Bundle]:
    """Of one table. An index that another one begins with is served by that."""
    made: list[Bundle] = []
    for need in sorted(needs, key=lambda each: (-each.group.query_time_us, each.group.id)):
        for bundle in made:
            together = merged(bundle.pattern, need.choice.pattern)
            if together is not None:
                bundle.pattern = together
                bundle.needs.append(need)
                break
        else:
            made.append(Bundle(need.choice.pattern, [need]))
    return made


def candidate(
    bundle: Bundle, taken: Sequence[str], around: Surroundings
) -> tuple[str, IndexCandidate] | None:
    """The index' name, and its record; None where no key can hold its first column.

    `taken`: the names of indexes that the table has or is to get.
    """
    access, definition = bundle.needs[0].access, bundle.needs[0].access.definition
    spelled = {name: text for need in bundle.needs for name, text in need.access.spelled.items()}
    columns = ordered(bundle.pattern, definition, _as_named(bundle))
    keyed = key_parts(columns, definition, spelled, around.release)
    names = [part.column for part in keyed.parts]
    name, engine = index_name(names, taken), definition.engine if definition else None
    groups = bundle.groups
    if not names:
        return None
    return name, IndexCandidate(
        table=access.table.name,
        database=access.table.database or None,
        columns=tuple(names),
        statement=add_index(access.table, name, keyed.parts, engine, around.release),
        reasons=_reasons(bundle, keyed.parts),
        caveats=tuple(
            dict.fromkeys(
                [
                    *([] if around.has_schema else [_NO_SCHEMA]),
                    *(caveat for need in bundle.needs for caveat in (*need.choice.caveats, *need.caveats)),
                    *keyed.caveats,
                    *_of_table(access.table, definition, name, keyed.parts, around),
                    *_appendix(bundle, definition),
                ]
            )
        ),
        groups=tuple(each.id for each in groups),
        query_time_us=sum(each.query_time_us for each in groups),
    )


def rank(bundle: Bundle) -> tuple[int, float]:
    """By the time of its groups, then by the rows that they read in vain."""
    time = sum(each.query_time_us for each in bundle.groups)
    return -time, -max(need.per_row or 0.0 for need in bundle.needs)


def _as_named(bundle: Bundle) -> list[str]:
    """Columns in the order in which the statements name them, the one with the most time first."""
    names: list[str] = []
    for need in bundle.needs:
        names += [*need.access.equal, *need.choice.joined, *need.access.lists]
    return list(dict.fromkeys(names))


def _reasons(bundle: Bundle, parts: Sequence[Part]) -> tuple[str, ...]:
    groups = bundle.groups
    reasons: list[str] = []
    needs = sorted(bundle.needs, key=lambda need: -need.group.query_time_us)
    for need in needs[:_EXPLAINED_GROUPS]:
        begins = f"{need.group.id}: " if len(groups) > 1 else ""
        reasons += [f"{begins}{reason}" for reason in need.reasons]
        reasons.append(f"{begins}{need.choice.rule}")
    if any(need.access.locks for need in bundle.needs):
        reasons.append("without it InnoDB locks every row that is read, not only the matching ones")
    covered = _pattern(parts)
    if all(is_covering(need.access, covered) for need in bundle.needs) and not any(
        part.length for part in parts
    ):
        reasons.append("it is a covering index: the table's rows are not read")
    return tuple(dict.fromkeys(reasons))


def _of_table(
    table: TableName,
    definition: Definition | None,
    name: str,
    parts: Sequence[Part],
    around: Surroundings,
) -> list[str]:
    caveats: list[str] = []
    written = around.writes.get(table.name.casefold(), 0)
    if written:
        caveats.append(f"{written:,} statements of the digest write the table and would maintain the index")
    if definition is None:
        return caveats
    if len(definition.indexes) >= MANY_INDEXES:
        caveats.append(f"the table has {len(definition.indexes)} indexes already")
    new = TableIndex(str(table), name, unique=False, kind="BTREE", parts=tuple(parts))
    caveats += [f"{shown(each)} is redundant with it" for each in replaced(definition, new)]
    if not is_online(definition.engine, around.release):
        caveats.append("adding it blocks writes and copies the table")
    return caveats


def _appendix(bundle: Bundle, definition: Definition | None) -> list[str]:
    """The few columns that would make it covering."""
    if len(bundle.needs) != 1 or definition is None:
        return []
    access: Access = bundle.needs[0].access
    missing = (access.read or frozenset()) - frozenset().union(*bundle.pattern)
    columns = [definition.column(name) for name in sorted(missing)]
    if not 0 < len(columns) <= _SMALL_APPENDIX or any(
        column is None or (column.bytes or 0) > 255 for column in columns
    ):
        return []
    named = " and ".join(column.name for column in columns if column is not None)
    return [f"with {named} at its end it would be a covering index, but wider"]


def _pattern(parts: Sequence[Part]) -> Pattern:
    return tuple(frozenset((part.column.casefold(),)) for part in parts)


def index_name(columns: Sequence[str], taken: Collection[str]) -> str:
    """`ix_status_placed_at`: named after its columns, unlike all that the table has."""
    folded = {name.casefold() for name in taken}
    whole = f"ix_{'_'.join(columns)}"
    base = whole[:_LONGEST_NAME].rstrip()
    name, number = base, 2
    while name.casefold() in folded:
        ending = f"_{number}"
        name, number = base[: _LONGEST_NAME - len(ending)] + ending, number + 1
    return name


def add_index(
    table: TableName, name: str, parts: Sequence[Part], engine: str | None, release: Version | None
) -> str:
    """`engine` and `release` None where they are not known: then those of today.

    ALGORITHM and LOCK make the server refuse what would keep writers out or copy the table, instead of doing
    so (MySQL Reference Manual, "Online DDL Operations": since 5.6; MariaDB documentation, "InnoDB Online DDL
    Overview": since 10.0).
    """
    where = f"{quote(table.database)}.{quote(table.name)}" if table.database else quote(table.name)
    columns = ", ".join(quote(part.column) + (f"({part.length})" if part.length else "") for part in parts)
    online = ", ALGORITHM=INPLACE, LOCK=NONE" if is_online(engine, release) else ""
    return f"ALTER TABLE {where} ADD INDEX {quote(name)} ({columns}){online}"


def is_online(engine: str | None, release: Version | None) -> bool:
    """Whether an index can be added while others write."""
    if engine is not None and engine.casefold() != _ONLINE_ENGINE:
        return False
    return release is None or release.numbers >= ((10, 0, 0) if release.is_mariadb else (5, 6, 0))
