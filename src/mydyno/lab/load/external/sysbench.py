"""The real sysbench 1.0: its command lines and its tables. A phase is one `sysbench run`.

It has no warm-up; --report-checkpoints, which sets all counters back after that many seconds, makes one
without a second start. Its only arrival process besides the closed loop is Poisson (--rate).
"""

import os
import re
from collections.abc import Sequence

from mydyno.core.errors import UsageError
from mydyno.lab.load import messages
from mydyno.lab.load.external.foreign import Admin, ForeignProgram, Start, Step
from mydyno.lab.load.external.program import PrivateFolder, find, refuse_in_file
from mydyno.lab.load.external.sysbench_phase import SysbenchPhase
from mydyno.lab.load.job import Job, Phase, Target
from mydyno.lab.workload.external_program import ExternalSysbench
from mydyno.lab.workload.external_program.passed import dashed

_VERSION = re.compile(r"sysbench (1\.0\.\d+)")
_ROWS_SEED = 1
"""The rows of the tables are the same whatever the seed of the load."""
_LARGEST_SEED = 2**31 - 1
_IGNORED_BY_DEFAULT = "1213,1020,1205"
_STAGE = re.compile(r"(Creating table|Inserting \d+ records into|Creating a secondary index on) '(\w+)'")
_MOST_PASSWORD_BYTES = 200
"""Its option file is read in lines of at most 255 bytes (sysbench 1.0.20)."""


class Sysbench(ForeignProgram):
    """sysbench with one script on one server. A run drops nothing, and its tables stay."""

    def __init__(self, options: ExternalSysbench, job: Job, folder: PrivateFolder) -> None:
        self.program = find(["sysbench"], "sysbench", _VERSION)
        self.schema: str = job.target.database
        self._options = options
        self._job = job
        self._base = [str(self.program.path), *_way_in(job.target, folder)]

    def check(self, phase: Phase) -> None:
        if phase.arrival["kind"] == "fixed":
            raise UsageError(
                "sysbench does not support evenly spaced arrivals", "use {poisson: RATE}, which its --rate is"
            )
        rate = phase.arrival.get("rate")
        if rate is not None and rate != int(rate):
            raise UsageError(
                f"sysbench only supports whole rates, not {rate:g}/s", f"use {round(rate) or 1}/s"
            )
        work = phase.work
        if work["kind"] not in ("timed", "rounds", "events"):
            raise UsageError(f"sysbench cannot do work of the kind {work['kind']}")
        for name in ("warmup_s", "measure_s"):
            seconds = work.get(name, 0.0)
            if seconds != int(seconds):
                raise UsageError(
                    f"sysbench counts in whole seconds, not {seconds:g} s", f"use {int(seconds) + 1}s"
                )

    def missing(self, admin: Admin) -> bool:
        there = admin.tables(self.schema)
        return any(
            name not in there or admin.rows(self.schema, name) != self._options.rows
            for name in self._options.table_names
        )

    def preparation(self, admin: Admin) -> Sequence[Step]:
        if not self._job.drop_existing:
            admin.refuse_foreign(self.schema, self._options.table_names, "sysbench would replace its tables")
        threads = min(self._options.tables, len(os.sched_getaffinity(0)))
        return [
            Step(self._command("cleanup"), lambda line: None),
            Step(self._command("prepare", threads=threads, rand_seed=_ROWS_SEED), self._progress),
        ]

    def prepared(self, admin: Admin) -> list[messages.Table]:
        for name in self._options.table_names:
            admin.mark(self.schema, name)
        return [
            messages.Table(name=name, rows=admin.rows(self.schema, name))
            for name in self._options.table_names
        ]

    def argv(self, phase: Phase) -> Sequence[str]:
        work = phase.work
        limits: dict[str, object] = {}
        if work["kind"] == "timed":
            limits["time"] = int(work["warmup_s"] + work["measure_s"])
            if work["warmup_s"]:
                limits["report_checkpoints"] = int(work["warmup_s"])
        else:
            limits["time"] = 0
            limits["events"] = work["events"] if "events" in work else work["rounds"] * phase.connections
        if "rate" in phase.arrival:
            limits["rate"] = int(phase.arrival["rate"])
        return self._command(
            "run",
            threads=phase.connections,
            report_interval=max(1, round(self._job.interval_s)),
            percentile=self._options.percentile,
            histogram="on",
            rand_seed=(self._job.seed - 1) % _LARGEST_SEED + 1,  # 0 would mean the time of day.
            **limits,
        )

    def listener(self, start: Start) -> SysbenchPhase:
        ignored = (
            value for name, value in self._options.options.items() if dashed(name) == "mysql-ignore-errors"
        )
        codes = str(next(ignored, _IGNORED_BY_DEFAULT))
        return SysbenchPhase(start, self.program.name, "/".join(codes.split(",")))

    def _command(self, command: str, **own: object) -> list[str]:
        options = self._options
        asked: dict[str, object] = {
            "tables": options.tables,
            "table_size": options.table_size,
            "rand_type": options.distribution,
            "db_ps_mode": "auto" if options.prepared else "disable",
            **own,
            **{name: _written(value) for name, value in options.options.items()},
        }
        arguments = [f"--{name.replace('_', '-')}={value}" for name, value in asked.items()]
        return [*self._base, *arguments, options.script, command]

    def _progress(self, line: str) -> messages.Progress | None:
        match = _STAGE.match(line)
        if match is None:
            return None
        done = self._options.table_names.index(match[2])
        return messages.Progress(stage=line.rstrip("."), done=done, of=self._options.tables, t_ns=0)


def _written(value: str | int | float | bool) -> str:
    return ("on" if value else "off") if isinstance(value, bool) else str(value)


def _way_in(target: Target, folder: PrivateFolder) -> list[str]:
    """The options that lead to the server. A password goes into an option file: its lines are
    `name="value"` without any way to write a double quote."""
    where = (
        [f"--mysql-socket={target.socket}"]
        if target.socket
        else [f"--mysql-host={target.host}", f"--mysql-port={target.port}"]
    )
    options = [*where, f"--mysql-user={target.user}", f"--mysql-db={target.database}"]
    if not target.password.reveal():
        return options
    refuse_in_file(target.password, '"', _MOST_PASSWORD_BYTES, "sysbench")
    path = folder.hold(f'mysql-password="{target.password.reveal()}"\n')
    return [f"--config-file={path}", *options]
