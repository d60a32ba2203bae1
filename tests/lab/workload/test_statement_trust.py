"""SQL of a workload file that reaches files, accounts or the server itself needs --trust."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mydyno.lab.workload import builtin_names, read
from mydyno.lab.workload.smack.resolve import resolve_file
from mydyno.lab.workload.statement_trust import reaches, reaching_statements

CLASSIC = Path(__file__).parents[3] / "src" / "mydyno" / "lab" / "workload" / "smack"


@pytest.mark.parametrize(
    "sql",
    [
        "SET GLOBAL general_log_file = '/home/dba/.bashrc'",
        "set @@global.general_log = 1",
        "/* a comment */ SET  PERSIST general_log = 1",
        "/*!50000 SET */ GLOBAL general_log = 1",
        "-- x\nSET GLOBAL general_log = 1",
        "SET sql_mode = '', GLOBAL general_log = 1",
        "SET STATEMENT max_statement_time=1 FOR SET GLOBAL general_log = 1",
        "SELECT 'x' INTO OUTFILE '/home/dba/.profile'",
        "select 1 into dumpfile '/tmp/x'",
        "SELECT 'a\\' INTO OUTFILE '/tmp/x' -- '",
        "(SELECT LOAD_FILE('/etc/passwd'))",
        "LOAD DATA INFILE '/etc/passwd' INTO TABLE t",
        "LOAD DATA LOCAL INFILE '/etc/passwd' INTO TABLE t",
        "INSTALL PLUGIN x SONAME 'x.so'",
        "CREATE FUNCTION sys_exec RETURNS INT SONAME 'x.so'",
        "CREATE TABLE t (a INT) DATA DIRECTORY = '/tmp'",
        "CREATE TABLE t (a INT) ENGINE=`FEDERATED` CONNECTION='mysql://x@y/z/t'",
        "CREATE USER x",
        "CREATE EVENT e ON SCHEDULE EVERY 1 SECOND DO SET GLOBAL general_log = 1",
        "CREATE PROCEDURE p() SET GLOBAL general_log = 1",
        "CREATE SERVER s FOREIGN DATA WRAPPER mysql OPTIONS (HOST 'x')",
        "DROP DATABASE mysql",
        "DROP USER root",
        "GRANT ALL ON *.* TO x",
        "EXECUTE IMMEDIATE CONCAT('SET GLO', 'BAL general_log=1')",
        "PREPARE s FROM @q",
        "CALL sys.execute_prepared_stmt(@q)",
        "BEGIN NOT ATOMIC EXECUTE IMMEDIATE @q; END",
        "START REPLICA",
        "CHANGE MASTER TO MASTER_HOST='x'",
        "INSERT INTO mysql.plugin VALUES ('x', 'x.so')",
        "UPDATE `mysql` . global_priv SET priv = ''",
        "USE mysql",
        "SHUTDOWN",
        "KILL 1",
        "CLONE INSTANCE FROM x@y:3306 IDENTIFIED BY 'z'",
        "?",
    ],
)
def test_a_statement_that_reaches_further_needs_trust(sql: str) -> None:
    assert reaches(sql)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT c FROM t WHERE id = 1",
        "  (select 1) union (select 2)",
        "SELECT @@global.max_connections",
        "SHOW GLOBAL STATUS LIKE 'Com_%'",
        "SELECT user, host FROM mysql.user",
        "WITH a AS (SELECT 1) SELECT * FROM a",
        "INSERT INTO users (user, server) VALUES ('x', 'global')",
        "SET SESSION sort_buffer_size = 1048576",
        "SET @a = 1",
        "CREATE TEMPORARY TABLE t (a INT)",
        "CREATE OR REPLACE VIEW v AS SELECT 1",
        "CREATE PROCEDURE p() BEGIN UPDATE t SET a = a + 1; END",
        "ALTER TABLE t ADD INDEX (a)",
        "SELECT file_name, plugin FROM t",
        "DROP TABLE IF EXISTS t",
        "BEGIN",
        "START TRANSACTION READ ONLY",
        "COMMIT",
        "CALL p(1)",
        "",
    ],
)
def test_the_usual_statements_of_a_load_need_none(sql: str) -> None:
    assert not reaches(sql)


def test_the_workloads_that_come_with_mydyno_need_none() -> None:
    for name in builtin_names():
        assert list(reaching_statements(read(name).resolve({}).program)) == [], name
    for file in CLASSIC.glob("*.smack"):
        assert list(reaching_statements(resolve_file(file).program)) == [], file


def program(*parts: Any, **more: Any) -> dict[str, Any]:
    return {"transactions": [{"steps": [{"repeat": {"steps": [{"send": {"sql": list(parts)}}]}}]}], **more}


@pytest.mark.parametrize("place", ["session", "create", "then", "query"])
def test_every_place_of_a_program_that_has_sql_is_looked_at(place: str) -> None:
    bad = "SET GLOBAL general_log = 1"
    table = {"create": "CREATE TABLE t (a INT)", "then": []}
    found = {
        "session": program("BEGIN", session=[bad]),
        "create": program("BEGIN", tables=[{**table, "create": bad}]),
        "then": program("BEGIN", tables=[{**table, "then": [bad]}]),
        "query": program("BEGIN", dictionaries={"d": {"query": bad}}),
    }[place]
    assert list(reaching_statements(found)) == [bad]


def test_raw_parts_may_be_numbers_and_marks_but_no_words() -> None:
    rows = {"raw": ["list", 3, ["concat", "(", ["draw", "id"], ",", ["var", "id"], ")"], ","]}
    values = {"id": ["counter", "rows", 1, 1, 1, 0]}
    assert not list(reaching_statements(program("INSERT INTO t VALUES ", rows, values=values)))
    words = {"raw": ["concat", "INTO OUT", "FILE '/tmp/x'"]}
    assert list(reaching_statements(program("SELECT 1 ", words)))
    hidden = program("SELECT 1 ", {"raw": ["draw", "w"]}, values={"w": ["concat", "INTO OUT", "FILE 'x'"]})
    assert list(reaching_statements(hidden))
    assert list(reaching_statements(program("SET ", {"raw": ["row"]})))


@pytest.mark.parametrize(
    ("before", "after", "words", "refused"),
    [
        ("SELECT '", "'", ["apple", "pear"], False),
        ("SELECT '", "'", ["it\\'s"], False),
        ("SELECT '", "'", ["' INTO OUTFILE '/tmp/x"], True),
        ("SELECT '", "'", ["\\', LOAD_FILE(0x2f), \\'"], True),
        ("INSERT INTO t SELECT '", "'", ["\\' FROM mysql.user -- "], True),
        ("SELECT ''", "'/tmp/x'", [" INTO OUTFILE "], True),
        ("SELECT 1 ", "", ["INTO OUTFILE"], True),
        ("SELECT 1 + ", "", ["1", "2"], False),
    ],
)
def test_a_word_between_quotes_stays_there(before: str, after: str, words: list[str], refused: bool) -> None:
    made = program(before, {"raw": ["pick", "d"]}, after, dictionaries={"d": {"words": words}})
    assert bool(list(reaching_statements(made))) == refused
