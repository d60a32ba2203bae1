"""One trial that runs now: what was planned, and when it began."""

import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from mydyno.lab.plan import PlannedTrial, Point
from mydyno.lab.results.records import Invalidity, TrialRecord
from mydyno.lab.stack import Setting

_TIMESTAMP = "%Y-%m-%dT%H:%M:%SZ"


def settings_of(point: Point) -> dict[str, Setting]:
    """The settings as my.cnf takes them."""
    return {name: value.written for name, value in point.setup.server.config.items()}


@dataclass(frozen=True)
class Attempt:
    planned: PlannedTrial
    point: Point
    folder: Path
    """For its files while it runs; the lab makes it just before the stack is started."""
    host: str | None = None
    """The host of the fleet."""
    started_at: datetime = field(default_factory=lambda: datetime.now(UTC))
    clock: float = field(default_factory=time.monotonic)

    def record(self, reasons: tuple[Invalidity, ...], **measured: Any) -> TrialRecord:
        """Its record, valid without `reasons`; `measured` are further fields of a TrialRecord."""
        return TrialRecord(
            trial_id=self.planned.id,
            index=self.planned.index,
            block=self.planned.block,
            point_id=self.planned.point_id,
            levels=self.point.levels,
            seed=self.planned.seed,
            status="invalid" if reasons else "valid",
            invalidities=reasons,
            started_at=self.started_at.strftime(_TIMESTAMP),
            seconds=time.monotonic() - self.clock,
            host=self.host,
            **measured,
        )
