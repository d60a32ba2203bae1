"""What a file of another user may not do here unless the user says --trust, or yes at the terminal."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from mydyno.cli import screen

if TYPE_CHECKING:
    from mydyno.lab.plan import Plan
    from mydyno.lab.spec import Experiment, Problem


def refuse_untrusted(experiment: Experiment, plan: Plan, *, own_server: bool, own_data: bool) -> None:
    """The plan has not been run yet. Raises SpecErrors with all that needs --trust, each at its place.

    `own_server`, `own_data`: an external server, the data are the command line's choice. A server binary
    outside the known places is confirmed where there is a terminal.
    """
    from mydyno.core.document.problems import SpecErrors
    from mydyno.lab.spec.trust import trust_problems
    from mydyno.lab.workload.statement_trust import HINT

    variants = [experiment.variant(point.levels) for point in plan.points]
    problems = [
        problem
        for variant in variants
        for problem in trust_problems(variant, own_server=own_server, own_data=own_data)
    ]
    if problems:
        raise SpecErrors(problems, HINT)
    unknown = _unknown_binaries(experiment, plan)
    refused = [problem for path, problem in unknown.items() if not _is_allowed(path)]
    if refused:
        raise SpecErrors(refused, HINT)


def _unknown_binaries(experiment: Experiment, plan: Plan) -> dict[str, Problem]:
    """Each server binary that is in none of the known places, with the place that names it."""
    from mydyno.server.releases.find import is_known_server

    problems: dict[str, Problem] = {}
    for point in plan.points:
        path = point.setup.server.binary
        if path is None or path in problems or is_known_server(Path(path)):
            continue
        problems[path] = experiment.variant(point.levels).problem(
            ("setup", "server", "binary"),
            f"{path} needs --trust: it is a program that this file names, and no server of this machine's "
            "packages, of PATH or of `mydyno servers list`",
        )
    return problems


def _is_allowed(path: str) -> bool:
    if not sys.stdin.isatty():
        return False
    return screen.confirm(f"This file names the program {path}. Run it?", err=True)
