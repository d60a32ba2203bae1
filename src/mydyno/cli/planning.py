"""From the command line to a checked plan: what `plan` and `run` have in common."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mydyno.host.protocol import Host
    from mydyno.spec import Experiment
    from mydyno.trial.preflight import Prepared


def prepare(file: Path, size: str | None, lab: Path, host: Host) -> tuple[Experiment, Prepared]:
    """Read, plan and check an experiment against this machine and its server. Changes nothing."""
    from mydyno import spec
    from mydyno.host.ground_facts import read_ground_facts
    from mydyno.plan import asked_disks, make
    from mydyno.trial import preflight

    experiment = spec.load(file, size)
    plan = make(experiment, host.facts(lab), read_ground_facts(asked_disks(experiment)))
    return experiment, preflight.check(experiment, plan, host)
