from advisor.builders import MARIADB, MYSQL_57, MYSQL_84, server, variable
from advisor.rules.judging import finding, judged, sentences
from mydyno.advisor.rule import Fine, Unknown
from mydyno.survey.facts import Origin, Server, Variable

FILE = "/etc/mysql/my.cnf"


def written(value: str, line: int = 7, *overridden: str) -> Variable:
    return variable(value, origin=Origin(source="file", file=FILE, line=line, overridden=overridden))


def test_an_ignored_line_is_taken_out_with_its_place() -> None:
    old = server("mariadbd  Ver 10.5.29-MariaDB", {"innodb_large_prefix": written("ON", 12)})
    found = finding("deprecated-settings", old)
    assert sentences(found) == [f"take innodb_large_prefix out of {FILE}:12"]
    assert found.changes[0].kind == "remove server variable"


def test_a_deprecated_line_is_left_to_a_hand_with_the_new_name() -> None:
    old = server(
        MYSQL_84.replace("8.4.3", "8.0.36"),
        {"slave_parallel_workers": written("4"), "replica_parallel_workers": "4"},
    )
    found = finding("deprecated-settings", old)
    assert [change.kind for change in found.changes] == ["by hand"]
    assert "write replica_parallel_workers in its place" in found.changes[0].sentence()


def test_current_lines_are_fine_and_unknown_origins_are_not_judged() -> None:
    current = server(MARIADB, {"max_connections": written("300")})
    assert isinstance(judged("deprecated-settings", current), Fine)
    assert isinstance(judged("overridden-settings", current), Fine)
    assert isinstance(judged("changed-while-running", current), Fine)
    blind = server(MYSQL_57, {"max_connections": "300"})
    for rule in ("deprecated-settings", "overridden-settings", "changed-while-running"):
        assert isinstance(judged(rule, blind), Unknown)


def test_the_line_that_wins_and_those_that_lose_are_named() -> None:
    twice = server(variables={"max_connections": written("300", 40, f"{FILE}:9", "/etc/my.cnf:3")})
    found = finding("overridden-settings", twice)
    assert found.evidence == (f"max_connections: {FILE}:40 wins over {FILE}:9, /etc/my.cnf:3",)


def test_what_mydyno_has_written_over_a_line_is_meant() -> None:
    ours = Origin(source="file", file="/etc/mysql/conf.d/zz-mydyno.cnf", line=2, overridden=(f"{FILE}:9",))
    assert isinstance(
        judged("overridden-settings", server(variables={"max_connections": variable("300", origin=ours)})),
        Fine,
    )


def running(name: str, value: str, *overridden: str) -> Server:
    origin = Origin(source="set while running", overridden=overridden)
    return server(variables={name: variable(value, origin=origin)})


def test_what_no_file_has_is_lost_at_the_restart() -> None:
    found = finding("changed-while-running", running("max_connections", "800"))
    assert "max_connections = 800" in str(found.changes[0])


def test_what_tools_switch_and_what_mydyno_has_also_written_is_no_finding() -> None:
    assert isinstance(judged("changed-while-running", running("read_only", "ON")), Fine)
    applied = running("max_connections", "800", "/etc/mysql/conf.d/zz-mydyno.cnf:2")
    assert isinstance(judged("changed-while-running", applied), Fine)


def test_what_follows_from_a_line_is_not_overridden() -> None:
    follows = Origin(source="compiled", overridden=(f"{FILE}:9",))
    assert isinstance(
        judged("overridden-settings", server(variables={"log_bin": variable("ON", origin=follows)})), Fine
    )
