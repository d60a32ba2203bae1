"""The examples of docs/how-to/sharing.md run, one after the other, in one folder."""

from __future__ import annotations

import io
import re
import shlex
from contextlib import redirect_stdout
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from lab.report.builders import thread_cache_run
from lab.report.export.test_export import STATUS
from mydyno.cli.main import app
from mydyno.lab.report.export.dashboard import dashboard
from mydyno.lab.report.export.dictionary import of_interval, of_sample
from mydyno.lab.report.export.exposition import TRIAL
from mydyno.lab.results.store import Lab

ROOT = Path(__file__).parents[4]
TEXT = (ROOT / "docs" / "how-to" / "sharing.md").read_text(encoding="utf-8")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = thread_cache_run(repeats=2, invalid=())
    with Lab.open(tmp_path / "lab", write=True) as lab:
        run = lab.run(made.experiment, "{}")
        for one in made.records:
            run.save_trial(
                replace(one, attempt=1),
                samples=made.samples(one.trial_id),
                intervals=made.intervals(one.trial_id),
                histograms={},
            )
    return tmp_path


def test_every_command_does_what_is_said(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    blocks = re.findall(r"```sh\n(.*?)```", TEXT, re.DOTALL)
    commands = [line for block in blocks for line in block.splitlines()]
    assert len(commands) == 10
    for command in commands:
        name, *arguments = shlex.split(command)
        assert name == "mydyno"
        if arguments[0] == "report":
            continue  # Drawing takes long, and is tested where it belongs.
        done = CliRunner().invoke(app, arguments)
        assert done.exit_code == 0, f"{command}: {done.exception}"
    assert (folder / "elsewhere" / "lab.sqlite").exists()
    assert (folder / "thread-cache.om").read_text().endswith("# EOF\n")
    assert (folder / "dashboard.json").read_text() == dashboard()
    (code,) = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
    result = io.StringIO()
    with redirect_stdout(result):
        exec(compile(code, "sharing.md", "exec"), {})
    assert "queries_per_second" in result.getvalue()


def test_every_metric_that_is_named_is_exported() -> None:
    columns = [f"status.{name}" for name in STATUS]
    for who in ("server", "client"):
        columns += [f"{who}.{what}" for what in ("cpu_user_s", "rss_bytes", "threads", "voluntary_switches")]
        columns += [f"{who}.{what}" for what in ("read_bytes", "write_bytes")]
    columns += ["host.cpu.user_s", "host.context_switches"]
    columns += [f"disk.vda.{what}" for what in ("reads", "read_bytes", "writes", "write_bytes", "busy_s")]
    intervals = ("queries_per_second", "transactions_per_second", "connections", "errors", "p50_ns")
    sources = [of_sample(each) for each in columns] + [of_interval(each, "queries") for each in intervals]
    sources.append(of_interval("queries_per_second", "ios"))
    metrics = {TRIAL} | {source.metric for source in sources if source is not None}
    known = {metric.name + ("_total" if metric.type == "counter" else "") for metric in metrics}
    named = set(re.findall(r"\bmydyno_\w+", TEXT)) - {"mydyno_status_NAME"}
    assert named - known == set()
