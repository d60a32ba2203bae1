"""`.smack` files as workloads of experiments."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

import pytest

from mydyno.core.document.problems import SpecErrors
from mydyno.lab.workload.smack.generate import expected_bytes, lines, parse_command
from mydyno.lab.workload.smack.resolve import resolve_file

CLASSIC = Path(str(resources.files("mydyno.lab.workload.smack")))
TABLE = """client "c" { user "u"; }
table "t" { client "c"; create "create table t (a char(20), b int)"; data_file "t.dat"; %s }
query "q" { query "select 1"; type "one"; }
client "d" { user "u"; query_barrel "3 q"; }
main { c.init(); c.set_num_rounds($1); }
"""


def test_select_key_is_resolved_to_its_table_and_the_column_of_its_names() -> None:
    resolved = resolve_file(CLASSIC / "select-key.smack")
    [table] = resolved.program["tables"]
    assert table["rows"] == resolved.rows == 90_000
    assert table["columns"] == ["username", "pass", "uid", "gid"]
    alphabet = "abcdefghijklmnopqrstuvwxyz"
    assert table["row"] == [
        ["concat", ["letters", 12, 12, alphabet], ["row"]],
        ["letters", 25, 25, alphabet],
        ["row"],
        ["uniform", 0, 2**31 - 1],
    ]
    # Every 120th of 90,000 rows: 750 names.
    assert resolved.program["dictionaries"] == {
        "word": {"column": {"table": "http_auth", "column": "username", "every": 120}}
    }
    assert resolved.statements_per_event == 2
    assert resolved.tables == ("http_auth",)
    assert resolved.data_bytes > 5_000_000


def test_both_classic_scenarios_share_one_dataset() -> None:
    one, other = (resolve_file(CLASSIC / f"{name}.smack") for name in ("select-key", "update-select"))
    assert one.dataset == other.dataset


@pytest.mark.parametrize("form", ["%12-12s%n,%25-25s,%n,%d", "%d,%5-9s", "%8n,%12d"])
def test_the_expected_size_is_that_of_the_file(form: str) -> None:
    command = parse_command(f"gen-data -n 20000 -f {form}")
    assert command is not None
    made = sum(len(line) + 1 for line in lines(command.form, command.rows))
    assert expected_bytes(command) == pytest.approx(made, rel=0.005)


@pytest.mark.parametrize(
    ("attribute", "message"),
    [
        ("", "from a gen-data command, and it has none"),
        ('gen_data_file "seq 5";', "from a gen-data command, and it has none"),
        ('gen_data_file "gen-data -n 5 -f %n";', "table t has 2 columns, its gen-data format 1 fields"),
    ],
)
def test_rows_that_no_format_describes_are_refused(tmp_path: Path, attribute: str, message: str) -> None:
    file = tmp_path / "x.smack"
    file.write_text(TABLE % attribute)
    with pytest.raises(SpecErrors, match=message):
        resolve_file(file)


def test_the_only_client_with_a_barrel_is_taken_and_another_name_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "x.smack"
    file.write_text(TABLE % 'gen_data_file "gen-data -n 5 -f x%3-5s-,%4n";')
    resolved = resolve_file(file)
    assert resolved.options["client"] == "d"
    assert resolved.statements_per_event == 3
    with pytest.raises(SpecErrors, match="no client of this name has a barrel"):
        resolve_file(file, client="c")


@pytest.mark.parametrize("source", ["/etc/passwd", "/dev/zero", "../words"])
def test_the_words_of_a_dictionary_are_below_the_folder_of_its_file(tmp_path: Path, source: str) -> None:
    file = tmp_path / "x.smack"
    dictionary = f'dictionary "d" {{ type "rand"; source_type "file"; source "{source}"; delim ","; }}'
    file.write_text(f"{dictionary}\n{TABLE % ''}")
    with pytest.raises(SpecErrors, match=r"x\.smack:1:\d+: source: the path (is absolute|leads out)"):
        resolve_file(file)
