import pytest

from advisor.builders import GIB, MARIADB, MYSQL_57, MYSQL_84, a_role, server
from advisor.rules.judging import finding, judged, sentences
from mydyno.advisor.rule import Fine, NotHere, Unknown
from mydyno.apply.change import ByHand
from mydyno.apply.finding import Finding, Severity
from mydyno.survey.facts import Index, Role, Schema, Server, Table

ORDERS = Table(name="shop.orders", engine="InnoDB", rows=1000)
RULES = (
    "tables-without-primary-key",
    "unused-indexes",
    "redundant-indexes",
    "fragmented-tables",
    "auto-increment-exhaustion",
    "myisam-tables",
    "other-engines",
)


READ = {
    "tables": 10,
    "bytes_by_engine": {},
    "tables_by_engine": {},
    "without_primary_key": (),
    "other_engines": (),
    "fragmented": (),
    "nearly_full_counters": (),
    "unused_indexes": (),
    "redundant_indexes": (),
}
"""A schema that was read in full, without remarkable tables."""


def with_schema(version: str = MARIADB, role: Role | None = None, **known: object) -> Server:
    schema = Schema.model_validate({**READ, **known})
    return server(version, schema_facts=schema, role=role or a_role())


def commands(found: Finding) -> list[str]:
    return [text for change in found.changes if isinstance(change, ByHand) for text in change.commands]


@pytest.mark.parametrize("rule", RULES)
def test_a_tidy_schema_is_fine_and_one_not_looked_at_unknown(rule: str) -> None:
    assert isinstance(judged(rule, with_schema()), Fine)
    assert isinstance(judged(rule, server()), Unknown)


@pytest.mark.parametrize(
    ("version", "column"),
    [(MARIADB, " INVISIBLE,"), (MYSQL_84, " INVISIBLE,"), (MYSQL_57, "AUTO_INCREMENT,")],
)
def test_a_table_gets_a_key_that_no_statement_trips_over(version: str, column: str) -> None:
    found = finding("tables-without-primary-key", with_schema(version, without_primary_key=(ORDERS,)))
    assert commands(found)[0].startswith("ALTER TABLE `shop`.`orders` ADD COLUMN my_row_id BIGINT UNSIGNED")
    assert column in commands(found)[0]
    assert found.severity is Severity.MEDIUM


def test_a_table_without_a_key_is_worse_where_rows_are_replicated() -> None:
    copied = with_schema(role=a_role(source=True), without_primary_key=(ORDERS,))
    assert finding("tables-without-primary-key", copied).severity is Severity.HIGH


INDEX = Index(table="shop.orders", name="by_day", columns=("day",), covered_by="by_day_and_shop")


@pytest.mark.parametrize(
    ("version", "end"),
    [
        (MARIADB, "ALTER INDEX `by_day` IGNORED;"),
        (MYSQL_84, "ALTER INDEX `by_day` INVISIBLE;"),
        (MYSQL_57, "DROP INDEX `by_day`;"),
    ],
)
def test_an_unused_index_is_hidden_first_where_it_can_be(version: str, end: str) -> None:
    found = finding("unused-indexes", with_schema(version, unused_indexes=(INDEX,)))
    assert commands(found) == [f"ALTER TABLE `shop`.`orders` {end}"]


def test_an_index_that_is_to_be_dropped_as_redundant_is_not_hidden_too() -> None:
    both = with_schema(unused_indexes=(INDEX,), redundant_indexes=(INDEX,))
    assert isinstance(judged("unused-indexes", both), Fine)


def test_an_unused_index_stays_where_another_is_dropped_in_its_favour() -> None:
    longer = Index(table="shop.orders", name="by_day_and_shop", columns=("day", "shop"))
    both = with_schema(unused_indexes=(longer, INDEX), redundant_indexes=(INDEX,))
    dropped = commands(finding("redundant-indexes", both))
    assert dropped == ["ALTER TABLE `shop`.`orders` DROP INDEX `by_day`;"]
    assert isinstance(judged("unused-indexes", both), Fine)


def test_an_unused_index_that_is_hidden_already_is_dropped() -> None:
    hidden = INDEX.model_copy(update={"hidden": True})
    found = finding("unused-indexes", with_schema(MARIADB, unused_indexes=(hidden,)))
    assert commands(found) == ["ALTER TABLE `shop`.`orders` DROP INDEX `by_day`;"]


def test_a_young_server_knows_no_unused_indexes() -> None:
    schema = Schema(tables=1, unused_indexes=(INDEX,))
    young = server(status={"Uptime": 3600}, schema_facts=schema)
    assert isinstance(judged("unused-indexes", young), Unknown)
    uncounted = server(schema_facts=Schema(tables=1))
    assert isinstance(judged("unused-indexes", uncounted), Unknown)


def test_a_redundant_index_is_dropped_in_favour_of_the_longer_one() -> None:
    found = finding("redundant-indexes", with_schema(redundant_indexes=(INDEX,)))
    assert found.evidence == ("shop.orders.by_day (day) by by_day_and_shop",)
    assert commands(found) == ["ALTER TABLE `shop`.`orders` DROP INDEX `by_day`;"]


def test_empty_space_in_tables_is_worth_a_rebuild_from_a_gigabyte_on() -> None:
    empty = ORDERS.model_copy(update={"free_bytes": 3 * GIB, "data_bytes": GIB})
    found = finding("fragmented-tables", with_schema(fragmented=(empty,)))
    assert commands(found) == ["OPTIMIZE TABLE `shop`.`orders`;"]
    little = ORDERS.model_copy(update={"free_bytes": 20 << 20})
    assert isinstance(judged("fragmented-tables", with_schema(fragmented=(little,))), Fine)


@pytest.mark.parametrize(("used", "severity"), [(0.75, Severity.HIGH), (0.95, Severity.CRITICAL)])
def test_a_counter_near_its_end_is_urgent(used: float, severity: Severity) -> None:
    full = ORDERS.model_copy(update={"auto_increment_used": used})
    assert (
        finding("auto-increment-exhaustion", with_schema(nearly_full_counters=(full,))).severity is severity
    )
    half = ORDERS.model_copy(update={"auto_increment_used": 0.55})
    assert isinstance(judged("auto-increment-exhaustion", with_schema(nearly_full_counters=(half,))), Fine)


MYISAM = Table(name="old.log", engine="MyISAM", data_bytes=GIB)


def test_myisam_tables_are_moved_by_hand() -> None:
    old = with_schema(
        tables_by_engine={"MyISAM": 1, "InnoDB": 9},
        bytes_by_engine={"MyISAM": GIB},
        other_engines=(MYISAM,),
    )
    found = finding("myisam-tables", old)
    assert commands(found) == ["ALTER TABLE `old`.`log` ENGINE=InnoDB;"]
    assert found.severity is Severity.HIGH
    assert isinstance(judged("other-engines", old), Fine)


def test_other_engines_without_transactions_matter_in_a_cluster() -> None:
    memory = Table(name="app.session", engine="MEMORY")
    known = {"tables_by_engine": {"MEMORY": 1, "ROCKSDB": 2}, "other_engines": (memory,)}
    assert finding("other-engines", with_schema(**known)).severity is Severity.LOW
    found = finding("other-engines", with_schema(role=a_role(galera=True), **known))
    assert found.severity is Severity.HIGH
    assert commands(found) == ["ALTER TABLE `app`.`session` ENGINE=InnoDB;"]


def test_new_tables_are_innodb() -> None:
    old = server(variables={"default_storage_engine": "MyISAM"})
    assert sentences(finding("default-storage-engine", old)) == [
        "default_storage_engine = InnoDB (now MyISAM)"
    ]
    for engine in ("InnoDB", "ROCKSDB"):
        chosen = server(variables={"default_storage_engine": engine})
        assert isinstance(judged("default-storage-engine", chosen), Fine)


def test_torn_myisam_tables_are_repaired_where_there_are_some() -> None:
    some = Schema(tables=1, tables_by_engine={"MyISAM": 1})
    off = {"myisam_recover_options": "OFF"}
    assert sentences(finding("myisam-recovery", server(MYSQL_57, off, schema_facts=some))) == [
        "myisam_recover_options = BACKUP,FORCE (now OFF)"
    ]
    none = Schema(tables=1, tables_by_engine={"InnoDB": 1})
    assert isinstance(judged("myisam-recovery", server(MYSQL_57, off, schema_facts=none)), NotHere)
