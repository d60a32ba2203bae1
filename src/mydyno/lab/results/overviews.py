"""What a list of runs is filtered by, and the attempts of a run without what they measured."""

import sqlite3
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field

from mydyno.lab.results.files import DATABASE
from mydyno.lab.results.records import NOT_MEASURED, TrialStatus
from mydyno.lab.results.sound import sound


@dataclass(frozen=True)
class RunFacets:
    """What runs are searched and filtered by."""

    question: str = ""
    factors: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Factor -> its levels."""
    releases: tuple[str, ...] = ()
    """Versions of the servers of its trials."""


def run_facets(connection: sqlite3.Connection) -> dict[str, RunFacets]:
    """Those of every run, by its folder."""
    folders, questions = {}, {}
    for row in connection.execute("SELECT run_id, folder, question FROM runs"):
        folders[row["run_id"]], questions[row["run_id"]] = str(row["folder"]), str(row["question"] or "")
    factors: dict[int, dict[str, tuple[str, ...]]] = defaultdict(dict)
    for row in connection.execute(
        "SELECT run_id, factor, level FROM factor_levels ORDER BY run_id, factor_position, level_position"
    ):
        of_run = factors[row["run_id"]]
        of_run[str(row["factor"])] = (*of_run.get(str(row["factor"]), ()), str(row["level"]))
    releases: dict[int, list[str]] = defaultdict(list)
    for row in connection.execute(
        "SELECT DISTINCT run_id, server_version FROM trials WHERE server_version IS NOT NULL "
        "ORDER BY run_id, server_version"
    ):
        releases[row["run_id"]].append(str(row["server_version"]))
    return {
        folder: RunFacets(questions[run_id], factors.get(run_id, {}), tuple(releases.get(run_id, ())))
        for run_id, folder in folders.items()
    }


@dataclass(frozen=True)
class AttemptSummary:
    """One attempt at a trial as a plan of the run shows it, without what it measured."""

    trial_id: str
    attempt: int
    block: int
    point_id: str
    status: TrialStatus
    measured: bool
    """False where nothing was measured: the trial failed or was skipped."""
    seconds: float
    folder: str
    host: str | None
    reasons: tuple[str, ...]
    """Why it does not count."""
    fault: str | None = None
    """What is wrong with its numbers, where they cannot be right; then the other fields are not known."""


def list_attempts(connection: sqlite3.Connection, run_id: int) -> tuple[AttemptSummary, ...]:
    """Every attempt at every trial of a run, in the order in which they ended; one that is damaged too."""
    reasons: dict[int, list[str]] = defaultdict(list)
    unmeasured = set()
    for row in connection.execute(
        "SELECT i.* FROM invalidities i JOIN trials USING (trial_key) WHERE run_id = ? ORDER BY i.position",
        (run_id,),
    ):
        reasons[row["trial_key"]].append(str(row["message"]))
        if row["check_name"] in NOT_MEASURED:
            unmeasured.add(row["trial_key"])
    attempts = []
    for row in connection.execute("SELECT * FROM trials WHERE run_id = ? ORDER BY trial_key", (run_id,)):
        key = row["trial_key"]
        named = {name: row[name] for name in _OF_ATTEMPT}
        measured = key not in unmeasured
        try:
            one = sound(AttemptSummary(**named, measured=measured, reasons=tuple(reasons[key])))
        except (ValueError, TypeError) as error:
            where = str(row["trial_id"]), -1, -1, str(row["point_id"])
            one = AttemptSummary(
                *where, "invalid", False, 0.0, "", None, (), f"its numbers in {DATABASE} are damaged: {error}"
            )
        attempts.append(one)
    return tuple(attempts)


_OF_ATTEMPT = ("trial_id", "attempt", "block", "point_id", "status", "seconds", "folder", "host")
