"""RUN files of sql-bench, as run-all-tests and `mydyno load sql-bench` write them, as a table. Pure.

The rules are those of compare-results of sql-bench 2.15: facts stand before `Totals per operation:`, and
after it every line of a name and five numbers is an operation. Seconds are those of the clock on the wall.
"""

import csv
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass

from mydyno.core.csv_cells import csv_cell
from mydyno.core.errors import UsageError
from mydyno.lab.results.records import ALL_OPERATIONS, OperationTotal

_TOTALS = "Totals per operation:"
_FACTS = ("Date of test", "Running tests on", "Arguments", "Comments")
_FACT = re.compile(rf"^({'|'.join(_FACTS)}|Server version):[ \t]*(\S.*)?$", re.MULTILINE)
_PROGRAM = re.compile(r"^(\S+):.*?total time:\s+([\d.]+)\s+(?:wallclock )?secs", re.MULTILINE | re.IGNORECASE)
_NUMBER = r"\s+([\d.]+)"
_OPERATION = re.compile(rf"^(\S+){_NUMBER}{_NUMBER}{_NUMBER}{_NUMBER}{_NUMBER}[ \t]*([+?]*)", re.MULTILINE)


@dataclass(frozen=True)
class RunFile:
    name: str
    """What follows RUN- in the file's name, or the whole name."""
    facts: dict[str, str]
    """The head's lines that are not empty, by their names."""
    programs: dict[str, float]
    """Seconds of each test program that ran to its end."""
    operations: dict[str, OperationTotal]
    total: OperationTotal | None

    @property
    def operation_totals(self) -> tuple[OperationTotal, ...]:
        """All rows of the totals, the sum last."""
        return (*self.operations.values(), *(() if self.total is None else (self.total,)))

    @property
    def server(self) -> str:
        return self.facts.get("Server version", "unknown")


def is_run_file(text: str) -> bool:
    return any(line.strip() == _TOTALS for line in text.splitlines())


def parse(text: str, name: str) -> RunFile:
    """The file with this name and text. Raises UsageError when it has no totals."""
    before, marker, after = text.partition(_TOTALS)
    operations = {row[0]: _total(*row) for row in _OPERATION.findall(after)}
    if not marker or not operations:
        raise UsageError(f"{name} is not a RUN file of sql-bench: it has no totals per operation")
    total = operations.pop(ALL_OPERATIONS, None)
    return RunFile(
        name=name.removeprefix("RUN-"),
        facts={fact: value.strip() for fact, value in _FACT.findall(before) if value.strip()},
        programs={program: float(seconds) for program, seconds in _PROGRAM.findall(before)},
        operations=operations,
        total=total,
    )


def _total(
    name: str, seconds: str, user: str, system: str, cpu: str, tests: str, flags: str
) -> OperationTotal:
    return OperationTotal(
        name=name,
        tests=round(float(tests)),
        elapsed_s=float(seconds),
        client_cpu_user_s=float(user),
        client_cpu_system_s=float(system),
        client_cpu_s=float(cpu),
        estimated="+" in flags,
        warned="?" in flags,
    )


def programs_of(runs: Sequence[RunFile]) -> list[str]:
    """The test programs that any of them ran, in their order."""
    return list(dict.fromkeys(program for run in runs for program in run.programs))


def as_csv(runs: Sequence[RunFile]) -> bytes:
    """A row for each run: its facts, the seconds of its programs and operations; missing ones are empty."""
    programs = programs_of(runs)
    operations = sorted({operation for run in runs for operation in run.operations})
    stream = io.StringIO(newline="")
    writer = csv.writer(stream)
    writer.writerow(
        [
            "run",
            "server",
            *_FACTS,
            "total",
            *map(csv_cell, programs),
            *(f"operation {one}" for one in operations),
        ]
    )
    for run in runs:
        seconds = [run.operations[one].elapsed_s if one in run.operations else "" for one in operations]
        total = "" if run.total is None else run.total.elapsed_s
        known = [csv_cell(run.facts.get(fact, "")) for fact in _FACTS]
        times = [run.programs.get(program, "") for program in programs]
        writer.writerow([csv_cell(run.name), csv_cell(run.server), *known, total, *times, *seconds])
    return stream.getvalue().encode()


def as_text(runs: Sequence[RunFile]) -> str:
    """The seconds of every operation side by side, with the tests of the first run that has it.

    A `*` marks another number of tests than that, `+` and `?` are the file's own.
    """
    lines = [
        f"{number}: {run.name}: {run.server}" + (f", {arguments}" if arguments else "")
        for number, run in enumerate(runs, 1)
        for arguments in [run.facts.get("Arguments", "")]
    ]
    operations = sorted({operation for run in runs for operation in run.operations})
    rows = [(name, [run.operations.get(name) for run in runs]) for name in operations]
    rows.append((ALL_OPERATIONS, [run.total for run in runs]))
    width = max(len(name) for name, _ in rows)
    lines += [
        "",
        f"{'operation':<{width}}   tests" + "".join(f"{number:>12}" for number in range(1, len(runs) + 1)),
    ]
    for name, totals in rows:
        tests = next((total.tests for total in totals if total), 0)
        lines.append(f"{name:<{width}} {tests:>7}" + "".join(_cell(total, tests) for total in totals))
    return "\n".join(lines)


def _cell(total: OperationTotal | None, tests: int) -> str:
    if total is None:
        return f"{'-':>12}"
    marks = ("+" * total.estimated) + ("?" * total.warned) + ("*" if total.tests != tests else "")
    return f"{f'{total.elapsed_s:.2f}{marks}':>12}"
