"""What is advice worth? A server as shipped, the seven settings of a tuning sheet, MySQLTuner's advice, ours.

Starts a default server, fills it, loads it, and has the real MySQLTuner and mydyno look at that very
server meanwhile. Then the four are an experiment as any other: private servers, interleaved trials, the
same durability, four loads. Findings of mydyno's that would raise durability are left out, so that all are
alike; so is what is no server variable, since all four run on this machine.

    python benchmarks/advice_vs_peers.py [--size quick] [--release system] [--repeats N] [--out advice.yaml]

`--out` keeps the experiment file, `--lab` its results. Ends with 1 when durability differs, or when
mydyno's advice is shown to be worse than another anywhere.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from bench_support import configured_server, machine, print_table, run_engine, say

from mydyno.advisor import Advice, advise
from mydyno.advisor.registry import variables
from mydyno.apply.change import SetVariable
from mydyno.cli import display
from mydyno.cli.labs import LabOptions
from mydyno.cli.planning import prepare
from mydyno.core.document.yaml_text import block, comment
from mydyno.lab import workload
from mydyno.lab.analysis.holm import holm
from mydyno.lab.analysis.metrics import QUERIES_PER_SECOND
from mydyno.lab.analysis.verdict import ComparisonVerdict, judge_points
from mydyno.lab.results.records import ExperimentRecord, PointRecord, TrialRecord
from mydyno.lab.stack import RunningServer, understand
from mydyno.lab.trial.campaign import Campaign
from mydyno.machine.local import LocalHost
from mydyno.prove import mysqltuner
from mydyno.server.releases import binary_of
from mydyno.survey import survey

DEFAULT, SHEET, TUNER, OURS = "default", "tuning sheet", "MySQLTuner", "mydyno"
SEVEN: Mapping[str, str] = {
    "innodb_buffer_pool_size": "50% of memory",
    "innodb_log_file_size": "512M",
    "innodb_log_files_in_group": "2",
    "max_connections": "5000",
    "innodb_flush_log_at_trx_commit": "1",
    "innodb_log_buffer_size": "128M",
    "query_cache_size": "0",
}
"""Of a tuning guide of 2015 for a server of 14 GB, its pool of 7 GB as a share; with 1 in place of its 2 for
innodb_flush_log_at_trx_commit, which is as durable as the others."""
ALL: Mapping[str, str] = {"innodb_file_per_table": "on"}
"""One of the seven and the default, said by all: it shapes the files, and so one dataset serves them all."""
TABLES = 4
METRIC = QUERIES_PER_SECOND


@dataclass(frozen=True)
class Size:
    """How much is loaded and how long it is measured."""

    fits: int
    """Rows of each of four tables that fit the default buffer pool of 128M."""
    large: int
    """Rows of each of four tables that are several times as large as that."""
    connections: int
    warmup: str
    measure: str
    repeats: int
    watch_s: float
    """How long mydyno watches the server."""

    @property
    def io_bound(self) -> dict[str, str | int]:
        """Rows that are drawn evenly: sysbench's usual distribution keeps to a few pages."""
        return {"tables": TABLES, "table_size": self.large, "distribution": "uniform"}


SIZES = {
    "tiny": Size(1_000, 4_000, 2, "200ms", "500ms", 1, 2.0),
    "quick": Size(25_000, 400_000, 16, "1s", "5s", 5, 10.0),
    "full": Size(100_000, 2_000_000, 32, "10s", "60s", 10, 60.0),
}


@dataclass(frozen=True)
class Advised:
    """What each of the four would set, by the names of this release; `notes` what was not applied."""

    settings: Mapping[str, Mapping[str, str]]
    notes: tuple[str, ...]
    server: str


def ask(size: Size, release: str) -> Advised:
    """Both advisers' settings for one default server under load."""
    program = mysqltuner.fetch(say)
    chosen = workload.read("oltp-read-write").resolve(size.io_bound).program
    say("starting a default server and filling it")
    with configured_server({"program": chosen}, {}, release) as server:
        seconds = size.watch_s + 20.0
        work = {"kind": "timed", "warmup_s": 0.0, "measure_s": seconds}
        phases = [{"connections": size.connections, "work": work}]
        load = threading.Thread(target=run_engine, args=(server, {"program": chosen}, phases))
        say(f"{size.connections} connections load it for {seconds:g} s")
        load.start()
        try:
            say(f"mydyno looks at it for {size.watch_s:g} s")
            system = survey(server.login, settable=variables(), seconds=size.watch_s)
            say("MySQLTuner looks at it")
            report = mysqltuner.read_report(mysqltuner.run(program, server.login))
        finally:
            load.join()
        return advised(server, release, advise(system, datetime.now(UTC).isoformat()), report)


def advised(server: RunningServer, release: str, ours: Advice, report: mysqltuner.Report) -> Advised:
    """Settings that the binary takes; what it does not take is told."""
    notes: list[str] = []
    binary = binary_of(release)

    def taken(who: str, settings: Mapping[str, str]) -> dict[str, str]:
        kept = {}
        for name, value in settings.items():
            if problems := understand(binary, {name: value}).problems:
                notes.append(f"{who}: {name} = {value} is not applied: {problems[0].why}")
            else:
                kept[name] = value
        return kept

    tuner = mysqltuner.settings_of(report, server.variables())
    notes += [f"MySQLTuner: {line}: {why}" for line, why in tuner.left_out]
    return Advised(
        settings={
            DEFAULT: {},
            SHEET: SEVEN,
            TUNER: taken("MySQLTuner", tuner.values),
            OURS: taken("mydyno", variables_of(ours)),
        },
        notes=tuple(notes),
        server=f"{server.version}, MySQLTuner {report.version}, mydyno {ours.mydyno}",
    )


def variables_of(advice: Advice) -> dict[str, str]:
    """Server variables of the findings that keep the durability."""
    return {
        change.name: change.value
        for finding in advice.findings
        if finding.durability == "keeps"
        for change in finding.changes
        if isinstance(change, SetVariable)
    }


def experiment(found: Advised, size: Size, release: str, repeats: int) -> str:
    """The experiment file."""
    return "\n".join(lines_of(found, size, release, repeats)) + "\n"


def lines_of(found: Advised, size: Size, release: str, repeats: int) -> Iterator[str]:
    yield from comment(f"Made by benchmarks/advice_vs_peers.py on {machine()}.")
    yield from comment(f"{found.server}.")
    for note in found.notes:
        yield from comment(note)
    small = {"tables": TABLES, "table_size": size.fits}
    yield from block(
        {
            "experiment": "advice",
            "question": "What is advice worth: as shipped, a tuning sheet, MySQLTuner's, ours?",
            "setup": {"cache": "scan", "server": {"release": release}},
        },
        0,
    )
    yield from block(
        {
            "factors": {
                "advice": {
                    who: {"server.config": {**ALL, **values}} for who, values in found.settings.items()
                },
                "load": {
                    "read only": {"workload.oltp-read-only": small},
                    "read write": {"workload.oltp-read-write": small},
                    "write only": {"workload.oltp-write-only": small},
                    "I/O-bound": {"workload.oltp-read-write": size.io_bound},
                },
            }
        },
        0,
    )
    each = {"warmup": size.warmup, "measure": size.measure}
    yield from block(
        {"workload": {"oltp-read-only": small, "connections": size.connections, "each": each}}, 0
    )
    yield from block({"design": {"repeats": repeats, "seed": 1}}, 0)


def measure(file: Path, lab: Path) -> tuple[ExperimentRecord, list[TrialRecord]]:
    """The trials of an experiment file, as `mydyno run` measures them."""
    host, options = LocalHost(), LabOptions(lab)
    read, prepared = prepare(file, None, options, host, install=True)
    say(f"about {prepared.plan.estimate.seconds / 60:.0f} minutes")
    with options.open(write=True) as opened, display.for_stream() as show:
        run = Campaign(read, prepared, host, opened).go(show)
        return run.experiment, run.trials()


@dataclass(frozen=True)
class Held:
    """One of the four against another, under one load."""

    load: str
    left: str
    right: str
    found: ComparisonVerdict
    adjusted_p: float | None

    @property
    def sure(self) -> bool:
        return self.adjusted_p is not None and self.adjusted_p <= 0.05

    @property
    def worse(self) -> bool:
        ratio = self.found.overall.ratio.value
        return self.sure and ratio is not None and ratio < 1


def compared(
    trials: Sequence[TrialRecord], points: Sequence[PointRecord], pairs: Sequence[tuple[str, str]]
) -> list[Held]:
    """These pairs under each load, all corrected together."""
    by_levels = {(point.levels["load"], point.levels["advice"]): point for point in points}
    judged = [
        (load, left, right, judge_points(trials, by_levels[load, left], by_levels[load, right], METRIC))
        for load in dict.fromkeys(load for load, _ in by_levels)
        for left, right in pairs
    ]
    adjusted = holm([found.overall.ratio.p_value for *_, found in judged])
    return [Held(*each, p) for each, p in zip(judged, adjusted, strict=True)]


def print_results(record: ExperimentRecord, trials: Sequence[TrialRecord]) -> bool:
    """The tables; whether ours is nowhere worse and all are as durable."""
    who = record.factors["advice"]
    ours = compared(trials, record.compared_points, [(OURS, other) for other in who if other != OURS])
    others = compared(
        trials, record.compared_points, [(other, DEFAULT) for other in who if other not in (OURS, DEFAULT)]
    )
    print(f"\nRatios of queries per second (95% interval), n trials of each. {machine()}")
    print("* differs after correction for all of a table.\n")
    print_ratios(ours)
    print()
    print_ratios(others)
    durable = {trial.durability for trial in trials if trial.status == "valid"}
    print(f"\nDurability of all: {', '.join(map(str, durable)) or 'no valid trial'}.")
    for trial in trials:
        if trial.status != "valid":
            where = ", ".join(trial.levels.values())
            print(f"invalid: {trial.trial_id} ({where}): {trial.invalidities[0].message}")
    for one in ours:
        if one.worse:
            print(f"WORSE under {one.load}: {one.found.overall.sentence}")
    return len(durable) == 1 and not any(one.worse for one in ours)


def print_ratios(held: Sequence[Held]) -> None:
    columns = list(dict.fromkeys((one.left, one.right) for one in held))
    rows: dict[str, list[str]] = {}
    for one in held:
        rows.setdefault(one.load, [one.load]).append(cell(one))
    print_table(["load", *(f"{left} / {right}" for left, right in columns)], list(rows.values()))


def cell(held: Held) -> str:
    ratio = held.found.overall.ratio
    if ratio.value is None:
        return "no data"
    if ratio.interval is None:
        return f"{ratio.value:.2f}, n={ratio.n_left}"
    star = " *" if held.sure else ""
    return (
        f"{ratio.value:.2f} ({ratio.interval.low:.2f} to {ratio.interval.high:.2f}), n={ratio.n_left}{star}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--size", choices=list(SIZES), default="quick")
    parser.add_argument("--release", default="system", help="a server of `mydyno servers list`")
    parser.add_argument("--repeats", type=int, help="trials of each point")
    parser.add_argument("--out", type=Path, help="keep the experiment file here")
    parser.add_argument("--lab", type=Path, help="keep the results here")
    arguments = parser.parse_args()
    size = SIZES[arguments.size]
    found = ask(size, arguments.release)
    text = experiment(found, size, arguments.release, arguments.repeats or size.repeats)
    with tempfile.TemporaryDirectory(prefix="mydyno-advice-") as name:
        folder = Path(name)
        folder.chmod(0o755)  # The server runs as another user when root starts it.
        file = arguments.out or folder / "advice.yaml"
        file.write_text(text)
        print(text)
        record, trials = measure(file, arguments.lab or folder / "lab")
    if not print_results(record, trials):
        sys.exit(1)


if __name__ == "__main__":
    main()
