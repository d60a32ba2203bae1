"""A run goes into a file and comes out of it the same; what is not the same is refused."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import shutil
import subprocess
import tarfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lab.report.builders import thread_cache_run
from lab.results.builders import (
    designed_experiment,
    experiment,
    imported_experiment,
    imported_trial,
    program_trial,
    save,
    storage_trial,
    translated_trial,
    trial,
)
from mydyno.core.errors import LabError
from mydyno.lab.report.evidence import gather
from mydyno.lab.report.views.page import page
from mydyno.lab.results.bundle import Bundle, bundle, unbundle
from mydyno.lab.results.bundle.archive import _checksum
from mydyno.lab.results.store import Lab

ROOM = 1 << 40
FILE = "run.mydyno.tar.gz"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A lab with a run of every kind of trial, between two others, and that run's bundle."""
    path = tmp_path_factory.mktemp("bundle")
    full_lab(path / "lab")
    bundled(path / "lab", path / FILE)
    return path


@pytest.fixture
def source(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made / "lab", tmp_path / "source"))


@pytest.fixture
def good(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(made / FILE, tmp_path / FILE))


def full_lab(path: Path) -> Path:
    with Lab.open(path, write=True) as lab:
        save(lab.run(experiment("0000000000000001"), "{}"), trial(1))
        run = lab.run(experiment(), '{"plan": 1}')
        run.record_environment({"cpu.model": "a \u2028 b", "cpu.count": 2, "os.virtualisation": None})
        save(run, program_trial(2))
        save(run, trial(1, valid=False))
        save(run, trial(1))
        save(run, storage_trial(3))
        save(run, translated_trial(4))
        save(lab.run(experiment("0000000000000002"), "{}"), trial(1))
    return path


def bundled(lab_path: Path, out: Path, **options: bool) -> Path:
    with Lab.open(lab_path, write=False) as lab:
        bundle(lab.find_run("thread-cache-toy-c0ffee01"), out, **options)
    return out


def taken(file: Path, lab_path: Path) -> tuple[str, bool]:
    with Lab.open(lab_path, write=True) as lab:
        run, was_here = unbundle(Bundle.open(file, ROOM), lab)
        return run.folder.name, was_here


def test_a_run_comes_out_as_it_went_in(source: Path, good: Path, tmp_path: Path) -> None:
    target = tmp_path / "target"
    with Lab.open(target, write=True) as lab:
        save(lab.run(experiment("0000000000000003"), "{}"), trial(1))
    assert taken(good, target) == ("thread-cache-toy-c0ffee01", False)
    with Lab.open(source, write=False) as ours, Lab.open(target, write=False) as theirs:
        one, other = (lab.find_run("thread-cache-toy-c0ffee01") for lab in (ours, theirs))
        assert other.experiment == one.experiment
        assert other.trials() == one.trials()
        assert other.environment() == one.environment()
        assert other.plan_json() == one.plan_json()
        assert other.histograms("t001") == one.histograms("t001")
        for attempt in (1, 2):
            assert other.samples("t001", attempt).equals(one.samples("t001", attempt))
        assert (other.trial_folder("t003") / "my.cnf").read_text().startswith("[mysqld]")
        assert other.plain() == one.plain()
        (here,) = [each for each in theirs.list_runs() if each.folder == other.folder.name]
        (there,) = [each for each in ours.list_runs() if each.folder == other.folder.name]
        assert here == there


def test_runs_of_every_kind_are_carried(tmp_path: Path) -> None:
    with Lab.open(tmp_path / "source", write=True) as lab:
        save(lab.run(designed_experiment(), "{}"), trial(1))
        save(lab.run(imported_experiment(), "{}"), imported_trial())
        for number, run in enumerate(lab.runs()):
            bundle(run, tmp_path / f"{number}.mydyno.tar.gz")
    with Lab.open(tmp_path / "source", write=False) as ours, Lab.open(tmp_path / "lab", write=True) as lab:
        for number, run in enumerate(ours.runs()):
            other, _ = unbundle(Bundle.open(tmp_path / f"{number}.mydyno.tar.gz", ROOM), lab)
            assert (other.experiment, other.trials()) == (run.experiment, run.trials())


def test_the_report_of_an_unbundled_run_is_that_of_the_original(tmp_path: Path) -> None:
    made = thread_cache_run()
    with Lab.open(tmp_path / "source", write=True) as lab:
        run = lab.run(made.experiment, "{}")
        run.record_environment(made.facts)
        for one in made.records:
            run.save_trial(
                replace(one, attempt=1),
                samples=made.samples(one.trial_id),
                intervals=made.intervals(one.trial_id),
                histograms={},
            )
        before = page(gather(run))
        bundle(run, tmp_path / FILE)
    taken(tmp_path / FILE, tmp_path / "lab")
    with Lab.open(tmp_path / "lab", write=False) as lab:
        after = page(gather(lab.find_run()))
    # The commands that do it again name the lab.
    lines = [
        each.line.replace(str(tmp_path / "source"), str(tmp_path / "lab")) for each in before.again.commands
    ]
    assert [each.line for each in after.again.commands] == lines
    assert replace(after, again=before.again) == before


def test_the_same_run_gives_the_same_bytes(good: Path, tmp_path: Path) -> None:
    taken(good, tmp_path / "other")
    again = bundled(tmp_path / "other", tmp_path / "again.mydyno.tar.gz")
    assert again.read_bytes() == good.read_bytes()


def test_tar_and_gzip_read_it_too(good: Path) -> None:
    with tarfile.open(good) as archive:
        names = archive.getnames()
        assert names[:3] == ["manifest.json", "rows.jsonl", "experiment.yaml"]
        assert "trials/t001.2/samples.parquet" in names
        manifest = json.load(archive.extractfile("manifest.json"))  # type: ignore[arg-type]
        for each in manifest["files"]:
            content = archive.extractfile(each["path"])
            assert content is not None
            assert hashlib.sha256(content.read()).hexdigest() == each["sha256"]


def test_a_lab_that_has_the_run_is_left_as_it_is(source: Path, good: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in (source / "runs").rglob("*")}
    assert taken(good, source) == ("thread-cache-toy-c0ffee01", True)
    assert {path: path.stat().st_mtime_ns for path in (source / "runs").rglob("*")} == before
    with Lab.open(source, write=False) as lab:
        assert len(lab.runs()) == 3


def test_a_run_whose_name_is_taken_by_other_content_gets_a_new_one(good: Path, tmp_path: Path) -> None:
    with Lab.open(tmp_path / "lab", write=True) as lab:
        save(lab.run(experiment(), "{}"), trial(1, queries_per_second=5))
    assert taken(good, tmp_path / "lab") == ("thread-cache-toy-c0ffee01-2", False)
    assert taken(good, tmp_path / "lab") == ("thread-cache-toy-c0ffee01-2", True)
    with Lab.open(tmp_path / "lab", write=True) as lab:
        # Measured anew beside both.
        assert lab.run(experiment(trials=1), "{}", again=True).folder.name.startswith("thread-cache-toy")


def test_without_series_the_numbers_remain(source: Path, tmp_path: Path) -> None:
    file = bundled(source, tmp_path / FILE, series=False)
    taken(file, tmp_path / "lab")
    with Lab.open(tmp_path / "lab", write=False) as lab:
        run = lab.find_run()
        assert len(run.trials()) == 5
        assert run.histograms("t001")
        assert len(gather(run).lost) == 5
        assert list(run.folder.rglob("*.parquet")) == []


def test_an_anonymous_bundle_names_no_host_and_no_folder(tmp_path: Path) -> None:
    lab_path = tmp_path / "secret-project"
    in_force = {
        "hostname": "db7.example.net",
        "datadir": "/home/jane/labs/acme/run/mydyno-1/data/",
        "port": "0",
    }
    with Lab.open(lab_path, write=True) as lab:
        run = lab.run(experiment(), json.dumps({"lab": str(lab_path)}))
        run.record_environment({"server.external": "10.0.0.7:3306", "cpu.model": "a"})
        folder = run.new_trial_folder("t001")
        (folder / "error.log").write_text("db7.example.net: started in /home/jane/labs/acme/run/x for jane\n")
        run.save_trial(
            replace(trial(1), settings_in_force=in_force),
            samples=made_samples(),
            intervals=made_samples(),
            histograms={},
        )
        run.events_file.write_text(json.dumps({"text": f"in {lab_path}/runs"}) + "\n")
    file = bundled(lab_path, tmp_path / FILE, anonymous=True)
    content = gzip.decompress(file.read_bytes())
    for name in (b"db7", b"example.net", b"/home/jane", b"acme", b"secret-project", b"10.0.0.7"):
        assert name not in content
    taken(file, tmp_path / "lab")
    with Lab.open(tmp_path / "lab", write=False) as lab:
        (found,) = lab.find_run().trials()
        assert found.settings_in_force["hostname"] == "some-host"
        assert found.settings_in_force["datadir"] == "/some/lab/run/mydyno-1/data/"
        assert found.phases == trial(1).phases


def made_samples() -> Any:
    return thread_cache_run(repeats=1).samples("t001")


def test_bundling_over_a_file_that_is_there_is_refused(source: Path, tmp_path: Path) -> None:
    (tmp_path / FILE).write_text("mine")
    with pytest.raises(LabError, match="exists already"):
        bundled(source, tmp_path / FILE)
    assert (tmp_path / FILE).read_text() == "mine"


def test_a_disk_that_is_full_leaves_no_half_bundle(source: Path, tmp_path: Path) -> None:
    with pytest.raises(LabError, match=r"cannot write the bundle .*/dev/full/x"):
        bundled(source, Path("/dev/full/x"))
    (source / "runs" / "thread-cache-toy-c0ffee01" / "trials" / "t001" / "dump").write_bytes(
        os.urandom(1 << 18)
    )
    small = tmp_path / "small"
    small.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "mydyno-test", str(small)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("mounting a small tmpfs needs root")
    try:
        with pytest.raises(LabError, match="No space left on device"):
            bundled(source, small / FILE)
        assert list(small.iterdir()) == []
    finally:
        subprocess.run(["umount", str(small)], check=True)


def test_a_file_whose_name_fits_no_bundle_is_named(source: Path, tmp_path: Path) -> None:
    (source / "runs" / "thread-cache-toy-c0ffee01" / "trials" / "t001" / ("x" * 200)).touch()
    with pytest.raises(LabError, match=r"trials/t001/xxx.* cannot be bundled"):
        bundled(source, tmp_path / FILE)
    assert not (tmp_path / FILE).exists()


# What is refused.


def refused(file: Path, lab_path: Path, match: str) -> None:
    with pytest.raises(LabError, match=match) as caught:
        Bundle.open(file, ROOM)
    assert str(file) in caught.value.message
    assert not lab_path.exists()


def members(file: Path) -> list[tuple[tarfile.TarInfo, bytes]]:
    with tarfile.open(file) as archive:
        return [(info, archive.extractfile(info).read()) for info in archive]  # type: ignore[union-attr]


def rewritten(file: Path, change: Callable[[list[tuple[tarfile.TarInfo, bytes]]], None]) -> Path:
    """The same archive with its members changed, and whatever sizes they need."""
    found = members(file)
    change(found)
    with tarfile.open(file, "w:gz", format=tarfile.USTAR_FORMAT) as archive:
        for info, content in found:
            if info.isreg():
                info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return file


def with_manifest(file: Path, change: Callable[[dict[str, Any]], None]) -> Path:
    """Its manifest changed by somebody who knows how to make its checksum."""

    def at_first(found: list[tuple[tarfile.TarInfo, bytes]]) -> None:
        content = json.loads(found[0][1])
        content.pop("sha256")
        change(content)
        found[0] = (found[0][0], json.dumps(content | {"sha256": _checksum(content)}).encode())

    return rewritten(file, at_first)


def test_one_that_is_cut_off_anywhere_is_refused(good: Path, tmp_path: Path) -> None:
    whole = good.read_bytes()
    for size in (*range(1, 200, 47), *range(200, len(whole), len(whole) // 17), len(whole) - 1):
        good.write_bytes(whole[:size])
        refused(good, tmp_path / "lab", "cut off|not a mydyno bundle|cannot be read")
    good.write_bytes(b"")
    refused(good, tmp_path / "lab", "not a mydyno bundle|cut off")


def test_one_with_any_byte_changed_is_refused(good: Path, tmp_path: Path) -> None:
    plain = bytearray(gzip.decompress(good.read_bytes()))
    # Between the members only: the zeros that fill a block say nothing.
    with tarfile.open(good) as archive:
        spans = [(info.offset_data, info.size) for info in archive if info.size]
    for start, size in spans:
        place = start + size // 2
        plain[place] ^= 1
        good.write_bytes(gzip.compress(bytes(plain), compresslevel=1))
        refused(good, tmp_path / "lab", "damaged or was tampered with|not a mydyno bundle")
        plain[place] ^= 1


def test_a_compressed_byte_that_flipped_is_refused(good: Path, tmp_path: Path) -> None:
    whole = bytearray(good.read_bytes())
    for place in range(12, len(whole), len(whole) // 13):
        whole[place] ^= 16
        good.write_bytes(bytes(whole))
        refused(good, tmp_path / "lab", "damaged|not a mydyno bundle|newer")
        whole[place] ^= 16


def test_a_file_too_many_too_few_or_in_another_place_is_refused(good: Path, tmp_path: Path) -> None:
    whole = good.read_bytes()

    def extra(found: list[tuple[tarfile.TarInfo, bytes]]) -> None:
        found.append((tarfile.TarInfo("trials/t001/more.txt"), b"more"))

    refused(rewritten(good, extra), tmp_path / "lab", "'trials/t001/more.txt' is in it, which")
    good.write_bytes(whole)
    refused(rewritten(good, lambda found: found.__delitem__(-1)), tmp_path / "lab", "is missing in it")
    good.write_bytes(whole)
    refused(rewritten(good, lambda found: found.__delitem__(3)), tmp_path / "lab", "where there is")
    good.write_bytes(whole + b"junk")
    refused(good, tmp_path / "lab", "damaged")
    good.write_bytes(whole + gzip.compress(b"more"))
    refused(good, tmp_path / "lab", "something follows")


@pytest.mark.parametrize(
    "path",
    [
        "../../etc/passwd",
        "/etc/passwd",
        "trials/t001/../../../x",
        "trials/t001/./x",
        "trials/t001//x",
        "trials/../x/y",
        "trials/.hidden/x",
        "trials/t001/a\nb",
        "trials/t001/a\\b",
        "report/report.html",
        "lab.sqlite",
        "",
    ],
)
def test_a_path_that_leads_elsewhere_is_refused(good: Path, tmp_path: Path, path: str) -> None:
    def lead_away(content: dict[str, Any]) -> None:
        content["files"][-1]["path"] = path

    refused(with_manifest(good, lead_away), tmp_path / "lab", "which is not a path in a run")


def test_a_file_of_a_trial_that_the_rows_do_not_know_is_refused(good: Path, tmp_path: Path) -> None:
    def elsewhere(content: dict[str, Any]) -> None:
        content["files"][-1]["path"] = "trials/t999/x"

    refused(with_manifest(good, elsewhere), tmp_path / "lab", "belongs to no trial")


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.DIRTYPE, tarfile.CHRTYPE, b"L"])
def test_a_link_a_folder_or_a_device_is_refused(good: Path, tmp_path: Path, kind: bytes) -> None:
    def linked(found: list[tuple[tarfile.TarInfo, bytes]]) -> None:
        found[-1][0].type, found[-1][0].linkname = kind, "/etc/passwd"

    refused(rewritten(good, linked), tmp_path / "lab", "a link, a folder or a device|damaged")


@pytest.mark.parametrize(
    ("size", "match"),
    [(10**15, "cannot hold the .* that it names"), (10**400, "bytes: Input should be less than")],
    ids=["more than it can hold", "more than any number"],
)
def test_absurd_sizes_are_refused_before_they_are_read(
    good: Path, tmp_path: Path, size: int, match: str
) -> None:
    def huge(content: dict[str, Any]) -> None:
        content["files"][-1]["bytes"] = size

    refused(with_manifest(good, huge), tmp_path / "lab", match)


def test_a_manifest_without_end_is_refused(tmp_path: Path) -> None:
    file = tmp_path / FILE
    info = tarfile.TarInfo("manifest.json")
    info.size = 7 << 30
    file.write_bytes(gzip.compress(info.tobuf(tarfile.USTAR_FORMAT) + bytes(1 << 20)))
    refused(file, tmp_path / "lab", r"manifest.json would have 7")


def test_one_that_is_larger_than_the_disk_is_refused(good: Path, tmp_path: Path) -> None:
    with pytest.raises(LabError, match=r"holds .*K, and the disk of the lab has 1000 free"):
        Bundle.open(good, 1000)


@pytest.mark.parametrize(("key", "what"), [("version", "bundle"), ("lab_format", "lab")])
def test_one_of_a_newer_version_is_refused(good: Path, tmp_path: Path, key: str, what: str) -> None:
    def newer(content: dict[str, Any]) -> None:
        content[key] = 999

    refused(with_manifest(good, newer), tmp_path / "lab", rf"newer mydyno \({what} format 999")


@pytest.mark.parametrize(
    "content",
    [b"", b"PK\x03\x04 a zip", b"\x1f\x8b", gzip.compress(b""), gzip.compress(b"x" * 2000)],
    ids=["empty", "zip", "two bytes", "empty gzip", "no tar"],
)
def test_a_foreign_file_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / FILE).write_bytes(content)
    refused(tmp_path / FILE, tmp_path / "lab", "not a mydyno bundle|cut off|cannot be read")


def test_a_tar_of_something_else_is_refused(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / FILE, "w:gz") as archive:
        archive.addfile(tarfile.TarInfo("README"), io.BytesIO())
    refused(tmp_path / FILE, tmp_path / "lab", "is not a mydyno bundle")


def test_a_bundle_that_is_not_there_is_named(tmp_path: Path) -> None:
    refused(tmp_path / FILE, tmp_path / "lab", "No such file")


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (b'{"table": "trials"', b'{"table": "sqlite_master"', "no table 'sqlite_master'"),
        (b'"in_force"', b'"in_farce"', "no column 'in_farce'"),
        (b'"valid"', b'"sound"', "CHECK constraint"),
        (b'{"table": "trials"', b'{"table": ["trials"]', "not the head of a table"),
        (b'"t003",1,', b'"t003",[1],', "not a row of the table 'trials'"),
        (b'"t003",1,2,1,"p1"', b'"t003",1,2,1,"p9"', "refers to one that is not there|KeyError"),
        (b'"t001.2"', b'"../x"', "cannot be the folder of a trial"),
    ],
)
def test_rows_that_fit_no_lab_are_refused(
    good: Path, tmp_path: Path, old: bytes, new: bytes, expected: str
) -> None:
    def forged(found: list[tuple[tarfile.TarInfo, bytes]]) -> None:
        rows = found[1][1]
        assert old in rows
        found[1] = (found[1][0], rows.replace(old, new))
        manifest = json.loads(found[0][1])
        manifest.pop("sha256")
        manifest["files"][0] |= {
            "bytes": len(found[1][1]),
            "sha256": hashlib.sha256(found[1][1]).hexdigest(),
        }
        found[0] = (found[0][0], json.dumps(manifest | {"sha256": _checksum(manifest)}).encode())

    refused(rewritten(good, forged), tmp_path / "lab", expected)


def test_a_bundle_of_an_older_lab_is_upgraded_on_its_way(tmp_path: Path) -> None:
    from mydyno.lab.results.plain_rows import PlainRun, TableRows
    from mydyno.lab.results.staged import StagedRun

    first = PlainRun(
        1,
        {
            "runs": TableRows(
                (
                    "run_id", "experiment", "size", "question", "source", "spec_file", "spec_text",
                    "plan_fingerprint", "seed", "planned_trials", "created_at", "mydyno_version",
                ),
                ((1, "x", "toy", None, None, "x.yaml", "experiment: x", "c0ffee", "1", 6, "2026", "0.1.0"),),
            ),
            "points": TableRows(("run_id", "point_id", "position", "title"), ((1, "p1", 0, "one"),)),
            "trials": TableRows(
                (
                    "trial_key", "run_id", "trial_id", "attempt", "position", "block", "point_id", "seed",
                    "status", "started_at", "seconds", "server_version", "durability", "folder",
                ),
                ((1, 1, "t001", 1, 0, 0, "p1", "5", "valid", "2026", 9.5, None, None, "t001"),),
            ),
        },
    )  # fmt: skip
    with StagedRun(1) as now:
        now.write(first.lines())
        now.finish()
        (run,) = (
            dict(zip(columns, *rows, strict=True)) for table, columns, rows in now.tables() if table == "runs"
        )
        assert (run["work"], now.trial_folders) == ("queries", {"t001"})
