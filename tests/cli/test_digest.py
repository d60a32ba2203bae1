"""`mydyno digest` as it is typed: logs, saved digests, comparisons, and what is refused."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from queries.builders import digest, group, lognormal, sample
from typer.testing import CliRunner

from mydyno.cli.main import app
from mydyno.cli.progress import reading_text
from mydyno.core.errors import ExitCode, ServerError, UsageError
from mydyno.queries.comparison import Comparison
from mydyno.queries.saved import read_saved, to_json

LOG = """\
/usr/sbin/mysqld, Version: 8.0.36 (MySQL Community Server - GPL). started with:
Tcp port: 3306  Unix socket: /var/run/mysqld/mysqld.sock
Time                 Id Command    Argument
# Time: 2026-11-22T03:00:00.000000Z
# User@Host: web[web] @ app1 [10.0.0.11]  Id:    31
# Query_time: 0.500000  Lock_time: 0.000100 Rows_sent: 1  Rows_examined: 9000
SET timestamp=1795316400;
SELECT * FROM customer WHERE email = 'ann@example.com';
# Time: 2026-11-22T03:00:30.000000Z
# User@Host: web[web] @ app2 [10.0.0.12]  Id:    32
# Query_time: 0.700000  Lock_time: 0.000100 Rows_sent: 1  Rows_examined: 9000
SET timestamp=1795316430;
select * from customer where email = 'bob@example.com';
# Time: 2026-11-22T03:01:00.000000Z
# User@Host: report[report] @ app9 [10.0.0.40]  Id:    33
# Query_time: 0.900000  Lock_time: 0.000100 Rows_sent: 7  Rows_examined: 70000
SET timestamp=1795316460;
SELECT country, count(*) FROM customer GROUP BY country;
"""


@pytest.fixture
def log(tmp_path: Path) -> str:
    file = tmp_path / "slow.log"
    file.write_text(LOG)
    return str(file)


@pytest.fixture
def saved(tmp_path: Path) -> str:
    file = tmp_path / "night.json"
    file.write_text(to_json(sample()))
    return str(file)


def run(*arguments: str) -> str:
    answer = CliRunner().invoke(app, ["digest", *arguments])
    if answer.exception is not None:
        raise answer.exception
    return answer.stdout


def refused(*arguments: str) -> UsageError:
    with pytest.raises(UsageError) as error:
        run(*arguments)
    return error.value


def groups_of(*arguments: str) -> list[tuple[str, int]]:
    return [(each["fingerprint"], each["count"]) for each in json.loads(run(*arguments, "--json"))["groups"]]


def test_a_log_is_digested(log: str) -> None:
    text = run(log, "--time-zone", "UTC")
    unwrapped = " ".join(text.split())
    assert "slow.log: 933, 3 entries, 8.0.36 (MySQL Community Server - GPL)" in unwrapped
    assert "2026-11-22 03:00:00 to 03:01:00 UTC, 1 min 00 s\n" in text
    assert "1. select * from customer where email = ?\n" in text
    assert "slow.log:9, took 700 ms" in unwrapped
    assert "    select * from customer where email = 'bob@example.com'\n" in text


def test_times_are_those_of_the_zone_that_was_requested(log: str) -> None:
    assert "2026-11-22 04:00:00 to 04:01:00 CET" in run(log, "--time-zone", "Europe/Berlin")
    assert groups_of(log, "--time-zone", "Europe/Berlin", "--since", "2026-11-22 04:01") == [
        ("select country, count(*) from customer group by country", 1)
    ]


def test_a_window_is_from_its_first_moment_up_to_its_last(log: str) -> None:
    asked = ["--since", "2026-11-22T03:00:30Z", "--until", "2026-11-22T03:01:00Z"]
    assert groups_of(log, *asked) == [("select * from customer where email = ?", 1)]
    half = run(log, "--until", "2026-11-22T03:00:30Z", "--time-zone", "UTC")
    assert "2026-11-22 03:00:00 to 03:00:30 UTC, 30 s\n" in half


def test_a_window_without_anything_in_it_says_where_the_log_is(log: str) -> None:
    text = run(log, "--until", "2026-11-21", "--time-zone", "UTC")
    unwrapped = " ".join(text.split())
    assert "no entry matched; the entries are from 2026-11-22 03:00:00 to 03:01:00 UTC " in unwrapped


def test_filters_must_all_hold(log: str) -> None:
    both = ["--filter", "user = web", "--filter", "query_time > 600ms"]
    assert groups_of(log, *both) == [("select * from customer where email = ?", 1)]
    assert "2 entries left out by --filter" in run(log, *both)


def test_a_filter_that_cannot_be_read_is_refused(log: str) -> None:
    assert "colour" in refused(log, "--filter", "colour = red").message


def test_one_statement_is_found_again_by_its_id(log: str) -> None:
    _, second = json.loads(run(log, "--json"))["groups"]
    assert groups_of(log, "--filter", f"id={second['id']}") == [(second["fingerprint"], 1)]


def test_the_order_is_the_one_that_was_requested(log: str) -> None:
    assert [count for _, count in groups_of(log, "--order-by", "max")] == [1, 2]
    assert [count for _, count in groups_of(log, "--order-by", "count")] == [2, 1]
    assert "\nThe first by rows-examined.\n" in run(log, "--order-by", "rows-examined")
    assert "--order-by spins" in refused(log, "--order-by", "spins").message


def test_the_limit_is_one_of_what_is_shown_and_json_has_all_without_one(log: str) -> None:
    assert "and 1 more with 43% of the time (1 statement, 900 ms)" in run(log, "--limit", "1")
    assert len(groups_of(log)) == 2
    assert groups_of(log, "--limit", "1", "--order-by", "max")[0][1] == 1


def test_a_compressed_log_and_standard_input_are_read_alike(log: str, tmp_path: Path) -> None:
    packed = tmp_path / "slow.log.1.gz"
    packed.write_bytes(gzip.compress(LOG.encode()))
    assert groups_of(str(packed)) == groups_of(log)
    piped = subprocess.run(
        [sys.executable, "-m", "mydyno", "digest", "-", "--json"],
        input=packed.read_bytes(),
        capture_output=True,
        check=True,
    )
    assert json.loads(piped.stdout)["total"]["count"] == 3


def test_several_logs_are_one_digest(log: str, tmp_path: Path) -> None:
    again = tmp_path / "slow.log.1"
    again.write_text(LOG.replace("03:0", "04:0"))
    assert groups_of(log, str(again))[0][1] == 4


def test_a_log_that_is_not_there_does_not_hide_one_that_is(log: str, tmp_path: Path) -> None:
    text = run(log, str(tmp_path / "gone.log"))
    assert "problem  " in text
    assert "gone.log" in text
    assert "3 statements of 2 kinds" in text


def test_nothing_that_can_be_read_is_an_error_that_says_why(tmp_path: Path) -> None:
    assert "gone.log" in refused(str(tmp_path / "gone.log")).message
    binary = tmp_path / "binlog.000001"
    binary.write_bytes(b"\xfebin" + bytes(200))
    assert refused(str(binary)).message.startswith(f"nothing could be read: {binary}: ")


def test_an_empty_log_is_not_an_error(tmp_path: Path) -> None:
    (tmp_path / "slow.log").touch()
    assert "No statement was found.\n" in run(str(tmp_path / "slow.log"))


def test_a_log_in_which_nothing_was_slow_yet_is_not_an_error(tmp_path: Path) -> None:
    (tmp_path / "slow.log").write_text("".join(LOG.splitlines(keepends=True)[:3]))
    text = run(str(tmp_path / "slow.log"))
    assert "No statement was found.\n" in text
    assert "problem" not in text


def test_a_saved_digest_is_shown_as_its_log_would_be(log: str, tmp_path: Path) -> None:
    kept = tmp_path / "kept.json"
    kept.write_text(run(log, "--json"))
    assert run(str(kept)) == run(log)
    assert run(str(kept), "--json") == kept.read_text()


def test_what_was_requested_is_saved_with_it(log: str) -> None:
    found = read_saved(run(log, "--json", "--since", "2026-11-22T03:00:15Z").encode(), "it")
    assert found.since_us == 1_795_316_415_000_000
    assert found.seconds == 45


@pytest.mark.parametrize("narrower", [("--since", "-2h"), ("--until", "now"), ("--filter", "user = web")])
def test_a_saved_digest_cannot_be_narrowed_down(saved: str, narrower: tuple[str, str]) -> None:
    assert "is a saved digest: --since, --until and --filter cannot" in refused(saved, *narrower).message


def test_saved_digests_are_not_joined(saved: str, log: str) -> None:
    assert "cannot be joined with others" in refused(saved, log).message


def test_json_of_something_else_is_named_for_what_it_is(tmp_path: Path) -> None:
    other = tmp_path / "facts.json"
    other.write_text('{"server": null}')
    assert "facts.json is JSON, but not a digest of mydyno" in refused(str(other)).message


def test_two_logs_are_compared(log: str, tmp_path: Path) -> None:
    newer = tmp_path / "new.log"
    newer.write_text(LOG.replace("SELECT country, count(*)", "SELECT city, count(*)"))
    text = run("--compare", log, str(newer), "--time-zone", "UTC")
    assert text.startswith("OLD\n")
    assert "Statements: 1 new, 1 gone.\n" in text


def slower(tmp_path: Path) -> tuple[str, str]:
    old, new = tmp_path / "old.json", tmp_path / "new.json"
    old.write_text(to_json(digest(group("q", lognormal(200, 10_000, seed=1)))))
    new.write_text(to_json(digest(group("q", lognormal(200, 15_000, seed=2)))))
    return str(old), str(new)


def test_saved_digests_are_compared_and_the_numbers_are_there_for_programs(tmp_path: Path) -> None:
    old, new = slower(tmp_path)
    assert "  1. slower, load " in run("--compare", old, new)
    found = Comparison.model_validate_json(run("--compare", old, new, "--json"))
    assert [change.times for change in found.changes] == ["slower"]


def test_what_became_slower_than_allowed_fails_and_nothing_else_does(tmp_path: Path) -> None:
    old, new = slower(tmp_path)
    for allowed, code in (("20%", ExitCode.SLOWER), ("90%", 0)):
        answer = CliRunner().invoke(app, ["digest", "--compare", old, new, "--fail-if-slower", allowed])
        assert answer.exit_code == code
    assert "not a percentage" in refused("--compare", old, new, "--fail-if-slower", "much").message
    assert "needs something to compare with" in refused(old, "--fail-if-slower", "20%").message


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--order-by", "count"), "--compare and --order-by exclude each other"),
        (("--details", "3"), "--compare and --details exclude each other"),
        (("--explain", "3"), "--compare and --explain exclude each other"),
    ],
)
def test_a_comparison_takes_no_option_that_it_would_not_read(
    saved: str, arguments: tuple[str, str], says: str
) -> None:
    assert refused("--compare", saved, saved, *arguments).message == says


@pytest.mark.parametrize("columns", [80, 120])
def test_the_digest_fits_the_terminal(log: str, monkeypatch: pytest.MonkeyPatch, columns: int) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.chdir(Path(log).parent)  # A long path is not torn, so that it can be copied.
    assert max(map(len, run(Path(log).name).splitlines())) <= columns


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ("Query_time:sum", "time"),
        ("Query_time:max", "max"),
        ("Query_time:cnt", "count"),
        ("Rows_examined:sum", "rows-examined"),
    ],
)
def test_orders_of_pt_query_digest_are_accepted(log: str, theirs: str, ours: str) -> None:
    assert groups_of(log, "--order-by", theirs) == groups_of(log, "--order-by", ours)


def test_a_type_of_log_that_is_not_read_is_refused(log: str) -> None:
    assert groups_of(log, "--type", "slowlog") == groups_of(log)
    assert "--type binlog: not read" in refused(log, "--type", "binlog").message


def test_an_impossible_window_is_refused(log: str) -> None:
    message = refused(log, "--since", "2026-11-22", "--until", "2026-11-21").message
    assert message == "--since 2026-11-22 is not before --until 2026-11-21"


def test_what_only_performance_schema_takes_is_refused_for_logs(log: str) -> None:
    assert "--for watches performance_schema" in refused(log, "--for", "5").message
    assert "--explain needs a server" in refused(log, "--explain", "5").message


def test_what_only_logs_take_is_refused_for_performance_schema() -> None:
    for narrower in (("--since", "-2h"), ("--until", "now"), ("--filter", "user = web")):
        error = refused("--server", "/nowhere/mysqld.sock", *narrower)
        assert error.message.startswith(
            "--since, --until, --filter, --group-by and --merge-tables need a log"
        )
        assert error.hint == "--for DURATION counts what runs from now on; --from-table reads mysql.slow_log"


def test_a_server_that_cannot_be_reached_is_reported_before_the_log_is_read(tmp_path: Path) -> None:
    with pytest.raises(ServerError, match=r"/nowhere/mysqld\.sock"):
        run(str(tmp_path / "gone.log"), "--server", "/nowhere/mysqld.sock")


def test_without_a_log_and_a_server_both_are_offered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mydyno.cli.login_options._USUAL_SOCKETS", ("/nowhere/mysqld.sock",))
    assert "or a slow log: mydyno digest FILE" in str(refused())


def test_a_page_is_written_next_to_the_text(log: str, tmp_path: Path) -> None:
    page = tmp_path / "slow.html"
    assert "1. select * from customer" in run(log, "--html", str(page))
    assert page.read_text().startswith("<!DOCTYPE html>")
    assert "cannot write" in refused(log, "--html", str(tmp_path / "no" / "slow.html")).message


def test_a_reader_who_has_seen_enough_is_not_an_error(log: str) -> None:
    read, write = os.pipe()
    process = subprocess.Popen(
        [sys.executable, "-m", "mydyno", "digest", log], stdout=write, stderr=subprocess.PIPE
    )
    os.close(read)
    os.close(write)
    _, errors = process.communicate(timeout=60)
    assert errors == b""


def test_what_a_glance_does_not_need_is_not_loaded(log: str) -> None:
    look = (
        "import sys; from mydyno.cli.main import app;"
        f" app(['digest', {log!r}, '--details', '0'], standalone_mode=False);"
        " sys.exit(', '.join({'numpy', 'polars', 'rich', 'sqlglot', 'altair'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=False)
    assert done.stderr.strip() == ""


def test_how_far_reading_has_come_is_reported_with_what_is_left() -> None:
    gib = 1 << 30
    assert reading_text(gib, 4 * gib, 4_000_000, 2.0) == "25%: 1G of 4G, 512M/s, 6s left, 4,000,000 entries"
    assert reading_text(gib, None, 5, 2.0) == "1G, 512M/s, 5 entries"


def test_nothing_but_the_digest_is_said_without_a_terminal(log: str) -> None:
    answer = CliRunner().invoke(app, ["digest", log])
    assert answer.stderr == ""
    assert "\x1b" not in answer.stdout


def test_the_examples_of_the_documentation_print_what_they_show(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from cli.digest_document import PAGE, document

    monkeypatch.chdir(tmp_path)
    assert document(PAGE.read_text()) == PAGE.read_text(), "run: python tests/cli/digest_document.py"


def test_entries_are_grouped_by_what_was_requested(log: str) -> None:
    assert groups_of(log, "--group-by", "user") == [("web", 2), ("report", 1)]
    assert groups_of(log, "--group-by", "table") == [("customer", 3)]
    text = run(log, "--group-by", "host", "--details", "1", "--time-zone", "UTC")
    assert "One of 3 hosts" not in text
    assert "app9" in text
    assert "Indexes to try" not in text
    assert "cannot be grouped by `colour`" in refused(log, "--group-by", "colour").message


def test_numbered_tables_are_one_on_request(tmp_path: Path) -> None:
    file = tmp_path / "slow.log"
    file.write_text(LOG.replace("SELECT * FROM customer", "SELECT * FROM customer_1"))
    assert len(groups_of(str(file))) == 3
    merged = ("select * from customer_$ where email = ?", 1)
    assert merged in groups_of(str(file), "--merge-tables")


def test_digests_that_are_grouped_differently_are_not_compared(log: str, tmp_path: Path) -> None:
    kept = tmp_path / "kept.json"
    kept.write_text(run(log, "--json", "--group-by", "user"))
    assert "differ in --group-by" in refused("--compare", str(kept), log).message


def test_entries_are_written_as_a_log_and_no_input_is_replaced(log: str, tmp_path: Path) -> None:
    out = tmp_path / "web.log"
    run(log, "--filter", "user = web", "--out-log", str(out))
    assert groups_of(str(out)) == [("select * from customer where email = ?", 2)]
    before = Path(log).read_text()
    assert "is an input of this command" in refused(log, "--out-log", log, "--force").message
    assert Path(log).read_text() == before
    assert "exists" in refused(log, "--out-log", str(out)).message
    again = tmp_path / "again.log"
    command = [sys.executable, "-m", "mydyno", "digest", log, "--out-log", str(again)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as reader_leaves:
        assert reader_leaves.stdout is not None
        reader_leaves.stdout.close()
        reader_leaves.wait()
    assert groups_of(str(again)) == groups_of(log)


def test_errors_are_counted_by_their_number(tmp_path: Path) -> None:
    file = tmp_path / "slow.log"
    result = "# Schema: shop  Last_errno: 1205  Killed: 0\n# Query_time: 0.7"
    file.write_text(LOG.replace("# Query_time: 0.7", result))
    assert "errors    1205 LOCK_WAIT_TIMEOUT 50%" in run(str(file))
    assert groups_of(str(file), "--filter", "error = 1205")[0][1] == 1


def test_attributes_in_comments_filter_and_group(tmp_path: Path) -> None:
    file = tmp_path / "slow.log"
    file.write_text(LOG.replace("'ann@example.com'", "'ann@example.com' /*route='%2Flogin',db_driver='x'*/"))
    assert groups_of(str(file), "--filter", "tag.route = /login")[0][1] == 1
    assert groups_of(str(file), "--group-by", "tag.route") == [("(none)", 2), ("/login", 1)]


def test_a_history_says_what_is_new_and_a_digest_is_saved_once(log: str, tmp_path: Path) -> None:
    folder = tmp_path / "history"
    first = ["--until", "2026-11-22T03:00:45Z", "--time-zone", "UTC", "--history", str(folder)]
    assert "history   no earlier digest" in run(log, *first)
    run(log, *first)
    assert len(list(folder.iterdir())) == 1
    text = run(log, "--since", "2026-11-22T03:00:30Z", *first[2:])
    assert "history   new: in none of 1 earlier digest" in text
    assert "in 1 of 1 earlier digest; mean" in " ".join(text.split())
    assert len(list(folder.iterdir())) == 2


def test_an_export_of_cloudwatch_is_read_and_has_no_lines(log: str, tmp_path: Path) -> None:
    entries = LOG.partition("Argument\n")[2].split("# Time")[1:]
    events = [{"timestamp": 1, "message": f"# Time{entry}"} for entry in entries]
    file = tmp_path / "events.json"
    file.write_text(json.dumps({"events": events, "nextForwardToken": "f"}))
    assert groups_of(str(file)) == groups_of(log)
    assert "events.json, took 700 ms" in " ".join(run(str(file)).split())
    empty = tmp_path / "empty.json"
    empty.write_text(json.dumps({"events": [], "searchedLogStreams": []}))
    assert "an export without an entry of a slow log" in refused(str(empty)).message


def test_the_same_log_twice_is_counted_once(log: str, tmp_path: Path) -> None:
    packed = tmp_path / "copy.gz"
    packed.write_bytes(gzip.compress(LOG.encode()))
    text = run(log, log, str(packed))
    assert "it is the same file as" in " ".join(text.split())
    assert "it holds the same as" in " ".join(text.split())
    assert groups_of(log, log, str(packed))[0][1] == 2


def test_a_limit_holds_for_the_json_of_a_saved_digest_and_the_others_join_its_rest(saved: str) -> None:
    whole = sample()
    for order in ((), ("--order-by", "count")):
        found = json.loads(run(saved, "--json", "--limit", "2", *order))
        assert len(found["groups"]) == 2
        result = sum(group["count"] for group in found["groups"]) + found["rest"]["count"]
        assert result == sum(group.count for group in whole.groups) + (whole.rest.count if whole.rest else 0)


def test_any_order_will_do_where_the_filter_leaves_nothing(log: str) -> None:
    assert "no statement" in run(log, "--filter", "database = nowhere", "--order-by", "rows-examined").lower()


def test_json_is_written_group_by_group_in_bounded_memory(tmp_path: Path) -> None:
    """Of fingerprints as many as fit into a test's time; what they take each is what all take."""
    head = "# User@Host: a[a] @ h []\n# Query_time: 1.5  Lock_time: 0.0 Rows_sent: 1  Rows_examined: 2\n"
    file = tmp_path / "slow.log"
    file.write_text("".join(f"{head}SELECT c{number} FROM t;\n" for number in range(20_000)))
    script = (
        "import re, sys\nfrom mydyno.cli.main import app\n"
        "try:\n    app(['digest', *sys.argv[1:]])\n"
        # Not ru_maxrss, which begins with what the parent held.
        "finally:\n    status = open('/proc/self/status').read()\n"
        "    print(re.search(r'VmHWM:\\s+(\\d+)', status)[1], file=sys.stderr)"
    )

    def peak(*arguments: str) -> tuple[int, bytes]:
        command = [sys.executable, "-c", script, *arguments]
        done = subprocess.run(command, capture_output=True, check=True)
        return int(done.stderr.split()[-1]), done.stdout

    few, written = peak(str(file), "--json", "--limit", "1000")
    assert len(json.loads(written)["groups"]) == 1000
    most, written = peak(str(file), "--json")
    assert len(json.loads(written)["groups"]) == 20_000
    assert most < few + 20_000
    # And so is a saved digest read, whatever the order.
    saved = tmp_path / "all.json"
    saved.write_bytes(written)
    most, text = peak(str(saved))
    assert b"20,000" in text
    assert most < few + 20_000
    most, again = peak(str(saved), "--json", "--order-by", "count")
    assert sorted(again.split(b",")) == sorted(written.split(b","))
    assert most < few + 20_000
