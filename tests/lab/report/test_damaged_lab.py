"""A lab whose numbers, tables or files were damaged: its readers say which file and what, in one error."""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import polars as pl
import pytest
from cli.test_compare import kept, small
from typer.testing import CliRunner

from mydyno.cli.main import app
from mydyno.core.errors import LabError, MydynoError
from mydyno.lab.report.build import report_json, tables
from mydyno.lab.report.evidence import gather
from mydyno.lab.report.export.tables import write_tables
from mydyno.lab.report.text import markdown, terminal
from mydyno.lab.report.views.page import page
from mydyno.lab.results.bundle import bundle
from mydyno.lab.results.sound import numbers_explained
from mydyno.lab.results.store import DATABASE, Lab

SECONDS = float(os.environ.get("MYDYNO_FUZZ_SECONDS", "4"))
SEED = int(os.environ.get("MYDYNO_FUZZ_SEED", "1"))
VALUES = (
    None, "abc", "", b"\xff", 0, -1, 1e308, -1e308, float("inf"), -float("inf"), 2**63 - 1,
    -(2**63), "9" * 5000, "[" * 3000, "{}", "nan", "1e999", 1e-320, "\x1b[2J",
)  # fmt: skip


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("damaged") / "lab"
    kept(path, small(1), "a" * 16)
    kept(path, small(2), "b" * 16, slower=0.9, day=2)
    with closing(sqlite3.connect(path / DATABASE)) as database:
        database.execute("PRAGMA journal_mode = DELETE")
    return path


@pytest.fixture
def lab(whole: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(whole, tmp_path / "lab"))


def changed(lab: Path, *statements: str) -> Path:
    with closing(sqlite3.connect(lab / DATABASE, isolation_level=None)) as database:
        database.execute("PRAGMA ignore_check_constraints = ON")
        for statement in statements:
            database.execute(statement)
    return lab


def read_everything(path: Path, out: Path) -> None:
    """What `runs`, `report`, `export` and `bundle` do with a lab, without the pictures."""
    with numbers_explained(path / DATABASE), Lab.open(path, write=False) as lab:
        lab.list_runs()
        run = lab.find_run()
        whole = page(gather(run))
        terminal(whole)
        markdown(whole, ())
        report_json(whole, {})
        tables({})
        write_tables(run, out, "json")
        bundle(run, out / "b.tar.gz")


def shown(lab: Path, *command: str) -> str:
    done = CliRunner().invoke(app, [*command, "--lab", str(lab)])
    assert isinstance(done.exception, LabError), (command, done.exception, done.output)
    return f"{done.exception.message}\n{done.exception.hint}"


COMMANDS = (("runs",), ("report",), ("compare", "thread-cache"), ("trend", "thread-cache"), ("bundle",))
DAMAGES = {
    "a text for a number": "UPDATE runs SET planned_trials = 'many'",
    "an infinite number": "UPDATE phases SET queries_per_second = 9e999",
    "a status that is none": "UPDATE trials SET status = 'great'",
    "a seed that is too long": f"UPDATE trials SET seed = '{'9' * 5000}'",
    "a design that is not JSON": "UPDATE runs SET design = '{'",
    "nested claims": f"UPDATE runs SET claims = '{'[' * 5000}'",
    "a missing table": "DROP TABLE phases",
    "a missing column": "ALTER TABLE trials RENAME COLUMN seconds TO minutes",
}

WHERE = {
    "a text for a number": "planned_trials",
    "an infinite number": "trial t001: phases.0.queries_per_second",
    "a status that is none": "trial t001: status",
    "a seed that is too long": "digits",
    "a design that is not JSON": "runs.design: Invalid JSON",
    "nested claims": "runs.claims: Invalid JSON",
    "a missing table": "phases in it is not a table",
    "a missing column": "table trials has no column seconds",
}
"""What the message must say of it."""


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_rows_are_one_error_that_names_the_database(lab: Path, damage: str) -> None:
    changed(lab, "PRAGMA foreign_keys = OFF", "DROP VIEW IF EXISTS curve", DAMAGES[damage])
    for command in (("report",), ("export", "--format", "csv"), ("bundle",)):
        said = shown(lab, *command).replace(str(lab), "LAB")
        assert "LAB/lab.sqlite is damaged or was changed by hand: " in said
        assert WHERE[damage] in said
        assert "disk" not in said


def test_damaged_pages_are_one_error_in_every_command(lab: Path) -> None:
    path = lab / DATABASE
    content = bytearray(path.read_bytes())
    content[4096 : len(content) // 2] = os.urandom(len(content) // 2 - 4096)
    path.write_bytes(content)
    for command in COMMANDS:
        said = shown(lab, *command)
        assert str(path) in said
        assert "disk" not in said.replace("disk image is malformed", "")


@pytest.mark.parametrize("file", ["samples.parquet", "intervals.parquet", "histograms.json"])
@pytest.mark.parametrize(
    "content", [b"", b"PAR1", b"PAR1" + bytes(100) + b"PAR1", b"[" * 100_000, b'{"0": 1}', b"\xff"]
)
def test_a_damaged_file_of_a_trial_is_named(lab: Path, file: str, content: bytes) -> None:
    for path in (lab / "runs").rglob(file):
        path.write_bytes(content)
    with Lab.open(lab, write=False) as opened:
        run = opened.find_run()
        read: Callable[[str], object] = getattr(run, file.partition(".")[0])
        with pytest.raises(LabError, match=file):
            read(run.trials()[0].trial_id)


def test_a_series_with_texts_for_numbers_is_named(lab: Path) -> None:
    for path in (lab / "runs").rglob("samples.parquet"):
        pl.read_parquet(path).with_columns(pl.lit("x").alias("t_s")).write_parquet(path)
    with Lab.open(lab, write=False) as opened:
        run = opened.find_run()
        with pytest.raises(LabError, match=r"samples\.parquet is damaged: its column t_s"):
            run.samples(run.trials()[0].trial_id)


def places(lab: Path) -> list[tuple[str, str]]:
    with closing(sqlite3.connect(lab / DATABASE)) as database:
        names = [row[0] for row in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        filled = [one for one in names if database.execute(f"SELECT count(*) FROM {one}").fetchone()[0]]
        return [(one, row[1]) for one in filled for row in database.execute(f"PRAGMA table_info({one})")]


def damages(chance: random.Random, lab: Path, where: list[tuple[str, str]]) -> Iterator[str]:
    """Damages some cells of the database, or some bytes of it or of a file; tells which."""
    if chance.random() < 0.2:
        path = chance.choice([lab / DATABASE, *sorted((lab / "runs").rglob("*.parquet"))])
        content = bytearray(path.read_bytes())
        for _ in range(chance.randint(1, 40)):
            content[chance.randrange(len(content))] = chance.randrange(256)
        path.write_bytes(content)
        yield str(path)
        return
    for _ in range(chance.randint(1, 3)):
        table, column = chance.choice(where)
        value = chance.choice(VALUES)
        rows = chance.choice(["", f" WHERE rowid % {chance.randint(2, 9)} = 0"])
        with closing(sqlite3.connect(lab / DATABASE, isolation_level=None)) as database:
            database.execute("PRAGMA foreign_keys = OFF")
            try:
                database.execute(f"UPDATE {table} SET {column} = ?{rows}", (value,))
                yield f"{table}.{column} = {str(value)[:20]!r}{rows}"
            except sqlite3.Error:
                continue


@pytest.mark.timeout(SECONDS + 120)
def test_a_lab_with_damage_anywhere_is_read_or_refused_with_one_error(whole: Path, tmp_path: Path) -> None:
    where = places(whole)
    ends = time.monotonic() + SECONDS
    number = refused = 0
    while number < 3 or time.monotonic() < ends:
        number += 1
        chance = random.Random(SEED * 1_000_003 + number)
        lab = Path(shutil.copytree(whole, tmp_path / "lab"))
        out = tmp_path / "out"
        out.mkdir()
        how = list(damages(chance, lab, where))
        try:
            read_everything(lab, out)
        except MydynoError:
            refused += 1
        except BaseException:
            print(f"MYDYNO_FUZZ_SEED={SEED}, number {number}: {how}")
            raise
        shutil.rmtree(lab)
        shutil.rmtree(out)
    print(f"{number} labs, {refused} refused")
