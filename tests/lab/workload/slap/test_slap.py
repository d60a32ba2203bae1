"""mysqlslap's auto-generated load: what each client sends, counted against mariadb-slap 10.11."""

from __future__ import annotations

import re
from typing import Any

import pytest
from pydantic import ValidationError

from lab.workload.slap.machine import Client
from mydyno.core.errors import UsageError
from mydyno.lab.workload import slap
from mydyno.lab.workload.slap import Options
from mydyno.lab.workload.slap.program import preload_insert, write

IDS = [f"id-{n}" for n in range(99)]


def client(clients: int = 1, **options: Any) -> Client:
    """What one of `clients` sends."""
    load = slap.build(Options(**options), clients, IDS)
    assert load.per_client is not None
    return Client(load.program).run(load.per_client)


def test_mixed_sends_273_inserts_and_227_selects_of_500_per_client() -> None:
    one = client(2, queries=1000, guid_primary=True)
    assert (one.count("insert"), one.count("select")) == (273, 227)
    assert [name for name, _ in one.sent[:13]] == ["insert", "select"] * 5 + ["insert"] * 2 + ["select"]


def test_write_inserts_11_texts_in_turn_after_10_of_the_rows_before() -> None:
    one = client(2, queries=10_000, guid_primary=True, load_type="write", int_columns=10, char_columns=10)
    assert len(one.sent) == 5000
    texts = [sql for _, sql in one.sent]
    assert texts[:11] == texts[11:22]
    assert len(set(texts)) == 11
    sql = write(Options(int_columns=10, char_columns=10))
    assert len({row.texts[0] for row in (*sql.pool, *sql.preload)}) == 21
    assert Options().rows + 2 * len(one.sent) == 10_099


def test_all_clients_have_the_same_texts_and_another_seed_others() -> None:
    assert client(1, load_type="write").sent == client(5, load_type="write").sent
    assert client(load_type="write", seed=2).sent != client(load_type="write").sent


@pytest.mark.parametrize(
    ("options", "pattern"),
    [
        ({"load_type": "read"}, r"SELECT intcol1,charcol1 FROM t1"),
        ({"load_type": "read", "guid_primary": True}, r"SELECT intcol1,charcol1 FROM t1"),
        ({"load_type": "key", "guid_primary": True}, r"SELECT intcol1,charcol1 FROM t1 WHERE id = 'id-0'"),
        (
            {"load_type": "update", "guid_primary": True},
            r"UPDATE t1 SET intcol1 = \d+,charcol1 = '\w{126}' WHERE id = 'id-0'",
        ),
        ({"load_type": "update"}, r"UPDATE t1 SET intcol1 = \d+,charcol1 = '\w{126}'"),
        ({"load_type": "write"}, r"INSERT INTO t1 VALUES \(\d+,'\w{126}'\)"),
        ({"load_type": "write", "guid_primary": True}, r"INSERT INTO t1 VALUES \(uuid\(\),\d+,'\w{126}'\)"),
        ({"load_type": "write", "autoincrement": True}, r"INSERT INTO t1 VALUES \(NULL,\d+,'\w{126}'\)"),
        (
            {"load_type": "write", "guid_primary": True, "secondary_indexes": 1, "corrected": True},
            r"INSERT INTO t1 VALUES \('0{8}-0000-0000-0000-0{12}','0{8}-[-0]+',\d+,'\w{126}'\)",
        ),
    ],
)
def test_each_load_type_sends_its_statement(options: dict[str, Any], pattern: str) -> None:
    for _, sql in client(**options).sent:
        assert re.fullmatch(pattern, sql)


def test_texts_lack_u_and_v_unless_corrected() -> None:
    texts = "".join(sql for _, sql in client(load_type="write", char_columns=20).sent)
    corrected = "".join(sql for _, sql in client(load_type="write", char_columns=20, corrected=True).sent)
    letters = set(re.sub(r"INSERT INTO t1 VALUES", "", texts))
    assert not letters & {"U", "V"}
    assert {"U", "V"} < set(re.sub(r"INSERT INTO t1 VALUES", "", corrected))


def test_the_table_has_its_columns_in_order() -> None:
    options = Options(int_columns=2, char_columns=1, int_indexes=True, secondary_indexes=1, guid_primary=True)
    create = write(options.model_copy(update={"engine": "innodb"})).create
    assert create.startswith(
        "CREATE TABLE t1 (id varchar(36) primary key,id0 varchar(36) unique key,"
        "intcol1 INT(32), INDEX(intcol1),intcol2 INT(32), INDEX(intcol2),"
        "charcol1 VARCHAR(128)) ENGINE = innodb"
    )
    assert "(id serial,intcol1 INT(32)" in write(Options(autoincrement=True)).create


def test_rows_before_the_load_are_one_less_than_configured_unless_corrected() -> None:
    assert Options().rows == 99
    assert Options(preload=7).rows == 6
    assert Options(preload=0).rows == 0
    assert Options(corrected=True).rows == 100


def test_a_number_that_does_not_divide_is_rounded_down_and_corrected_shared() -> None:
    load = slap.build(Options(queries=100), 3, IDS)
    assert (load.per_client, load.work) == (33, {"kind": "rounds", "rounds": 33})
    load = slap.build(Options(queries=100, corrected=True), 3, IDS)
    assert (load.per_client, load.work) == (None, {"kind": "events", "events": 100})


def test_fewer_statements_than_clients_are_refused() -> None:
    with pytest.raises(UsageError, match="2 queries for 3 clients: none would get any"):
        slap.build(Options(queries=2), 3, IDS)


def test_without_a_number_each_client_goes_through_the_pool_once() -> None:
    assert len(client(3).sent) == 11
    assert len(client(3, corrected=True).sent) == 10
    assert len(client(3, execute_number=7).sent) == 7


def test_a_commit_comes_after_every_n_statements_and_once_at_the_end() -> None:
    one = client(execute_number=25, commit=5)
    assert one.count("commit") == 6
    assert [name for name, _ in one.sent[-2:]] == ["commit", "commit"]
    assert slap.build(Options(commit=5), 1, IDS).program["session"] == ["SET AUTOCOMMIT=0"]


def test_detach_connects_again_before_statements_0_n_2n_and_so_on() -> None:
    assert client(execute_number=10, detach=5).connections == 3


def test_detach_counts_from_the_start_of_each_pass_through_the_texts_unless_corrected() -> None:
    # mariadb-slap 10.11 with 11 texts: before statements 0, 4, 8, 11, 15, 19, 22 and 26.
    assert client(execute_number=30, detach=4).connections == 1 + 8
    assert client(execute_number=40, detach=4, corrected=True).connections == 1 + 10
    own = slap.OwnSql(queries=("SELECT 1", "SELECT 2", "SELECT 3"), create=())
    load = slap.build(Options(execute_number=6, detach=2), 1, IDS, own)
    assert Client(load.program).run(6).connections == 1 + 4


@pytest.mark.parametrize(
    ("options", "own", "reported"),
    [
        (Options(), False, 0),
        (Options(queries=100), False, 33),
        (Options(execute_number=5), False, 5),
        (Options(), True, 2),
        (Options(queries=10), True, 3),
        (Options(execute_number=7), True, 7),
        (Options(queries=100, corrected=True), False, 33),
    ],
)
def test_the_reported_queries_of_a_client_are_those_of_mariadb_slap(
    options: Options, own: bool, reported: int
) -> None:
    sql = slap.OwnSql(queries=("SELECT 1", "SELECT 2"), create=()) if own else None
    assert slap.reported_per_client(options, 3, sql) == reported


def test_detach_loses_autocommit_unless_corrected() -> None:
    lost = slap.build(Options(execute_number=10, detach=5, commit=2), 1, IDS)
    assert lost.program["session"] == []
    assert Client(lost.program).run(10).count("set") == 1
    kept = slap.build(Options(execute_number=10, detach=5, commit=2, corrected=True), 1, IDS)
    assert kept.program["session"] == ["SET AUTOCOMMIT=0"]
    assert Client(kept.program).run(10).count("set") == 0


def test_transactions_need_clients_that_know_their_last_statement() -> None:
    with pytest.raises(UsageError, match="100 statements do not divide by 3 clients"):
        slap.build(Options(queries=100, commit=5, corrected=True), 3, IDS)


def test_connections_are_opened_within_the_time_unless_corrected() -> None:
    assert slap.build(Options(), 1, IDS).program["open"] == "lazy"
    assert slap.build(Options(corrected=True), 1, IDS).program["open"] == "phase"


def test_own_statements_are_gone_through_in_order_and_once_without_a_number() -> None:
    own = slap.OwnSql((), ("SELECT 1", "SELECT 2"))
    load = slap.build(Options(), 2, [], own)
    assert load.per_client == 2
    assert [sql for _, sql in Client(load.program).run(3).sent] == ["SELECT 1", "SELECT 2", "SELECT 1"]


def test_corrected_mixed_writes_half_of_the_time() -> None:
    one = client(queries=1000, corrected=True)
    assert (one.count("insert"), one.count("select")) == (500, 500)


def test_an_experiment_gets_the_table_and_asks_the_server_for_its_keys() -> None:
    resolved = slap.resolve(Options(load_type="key", guid_primary=True))
    assert resolved.tables == ("t1",)
    assert resolved.rows == 99
    assert resolved.data_bytes > 99 * 126
    assert resolved.statements_per_event == 1
    [table] = resolved.program["tables"]
    assert table["columns"] == ["id", "intcol1", "charcol1"]
    assert len(table["row"]) == 3
    assert resolved.program["dictionaries"]["ids"] == {"query": "SELECT id FROM t1"}


def test_one_dataset_serves_all_load_types_that_have_the_same_table() -> None:
    def dataset(**options: Any) -> Any:
        return slap.resolve(Options(guid_primary=True, **options)).dataset

    assert dataset(load_type="key") == dataset(load_type="write", commit=5)
    assert dataset() != dataset(int_columns=2)
    assert dataset() != dataset(engine="myisam")


def test_the_rows_before_the_load_have_their_keys_made_by_the_server() -> None:
    options = Options(guid_primary=True, secondary_indexes=1)
    sql = preload_insert(options, write(options).preload[0])
    assert re.fullmatch(r"INSERT INTO t1 VALUES \(uuid\(\),uuid\(\),\d+,'\w{126}'\)", sql)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"load_type": "key"}, "load type key needs a key"),
        ({"guid_primary": True, "autoincrement": True}, "a table has one primary key"),
        ({"queries": 5, "execute_number": 5}, "queries and execute_number exclude each other"),
        ({"int_columns": 0, "char_columns": 0}, "table t1 would have no columns"),
        ({"engine": "misam"}, "unknown storage engine"),
    ],
)
def test_options_that_do_not_go_together_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        Options(**options)


def test_a_misspelt_engine_is_refused_with_the_one_that_was_meant() -> None:
    assert slap.engine_names("innodb,MyISAM") == ("innodb", "MyISAM")
    with pytest.raises(UsageError) as caught:
        slap.engine_names("innodb,misam")
    assert str(caught.value) == "unknown storage engine 'misam'\n  hint: did you mean myisam?"


@pytest.mark.parametrize(("text", "found"), [("10", (10, False)), ("10:1", (10, True)), ("3:0", (3, False))])
def test_columns_are_given_with_or_without_an_index(text: str, found: tuple[int, bool]) -> None:
    assert slap.split_columns(text) == found


@pytest.mark.parametrize("text", ["", "x", "10:2", "1:1:1", "-1"])
def test_a_wrong_number_of_columns_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        slap.split_columns(text)


def test_numbers_of_clients_are_a_list() -> None:
    assert slap.number_list("1, 10,100") == (1, 10, 100)
    with pytest.raises(UsageError, match="'0' is not a number of clients"):
        slap.number_list("1,0")


def test_every_oddity_that_a_choice_meets_has_a_name() -> None:
    def names(clients: int = 1, **options: Any) -> set[str]:
        return {one.name for one in slap.met(Options(**options), clients)}

    always = {"one-row-less", "one-text-more", "same-data", "connect-in-time"}
    assert names(load_type="write") == always
    assert names() == always | {"uneven-mix", "full-scan"}
    assert names(guid_primary=True) == always | {"uneven-mix", "ascending-uuid"}
    assert names(load_type="update") == always | {"whole-table-update"}
    assert names(3, load_type="write", queries=100) == always | {"queries-left-out"}
    assert names(load_type="write", detach=2, commit=2) == always | {
        "detach-by-pass",
        "detach-loses-autocommit",
    }
