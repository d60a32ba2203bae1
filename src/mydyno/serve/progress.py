"""Where a run is, from its events: what is under way, how many trials are done, how long it takes. Pure."""

import json
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from mydyno.lab.trial.time_left import seconds_left

_MANY = (b'{"type": "measured"', b'{"type": "sampled"')
"""How events begin of which there is one each second; nothing here depends on them."""


@dataclass(frozen=True)
class UnderWay:
    """A trial that has begun and has not ended."""

    trial: str
    number: int
    planned: int
    block: int
    point: str
    host: str
    since: float
    """Seconds since 1970."""
    event: int
    """The number of its first event."""
    control: bool


@dataclass
class Progress:
    """A run as far as its events go. Each event is heard once, in their order."""

    heard: int = 0
    """The number of the last event."""
    started_at: float | None = None
    """Of the last start of the run, seconds since 1970."""
    ended: bool = False
    """The last start has ended by itself: finished, or interrupted by a signal."""
    planned: int = 0
    completed_before: int = 0
    expected_seconds: float = 0.0
    done: int = 0
    """Trials that the last start has ended."""
    last_at: float | None = None
    step: str = ""
    under_way: dict[tuple[str, str], UnderWay] = field(default_factory=dict)
    """By host and trial."""

    def hear(self, lines: Iterable[bytes]) -> None:
        """Whole lines of events.jsonl. One that a kill cut off is counted and left out."""
        for line in lines:
            self.heard += 1
            if line.startswith(_MANY):
                continue
            try:
                event = json.loads(line)
                self._hear(event["type"], event)
            except (ValueError, KeyError, TypeError):
                continue

    def _hear(self, kind: str, event: dict[str, Any]) -> None:
        self.last_at = float(event["at"])
        match kind:
            case "run-started":
                self.started_at, self.ended = float(event["at"]), False
                self.planned, self.completed_before = int(event["planned"]), int(event["completed"])
                self.expected_seconds, self.done = float(event["expected_seconds"]), 0
                self.under_way.clear()
                self.step = ""
            case "trial-started":
                host = str(event.get("host", ""))
                one = UnderWay(
                    trial=str(event["trial"]),
                    number=int(event["number"]),
                    planned=int(event["planned"]),
                    block=int(event["block"]),
                    point=str(event["point"]),
                    host=host,
                    since=float(event["at"]),
                    event=self.heard,
                    control=bool(event.get("control")),
                )
                self.under_way[host, one.trial] = one
            case "step" | "resting":
                self.step = str(event.get("text", ""))
            case "trial-finished":
                self.under_way.pop((str(event.get("host", "")), str(event["trial"])), None)
                self.done += not event.get("control")
            case "host-lost":
                self.under_way.pop((str(event.get("host", "")), str(event["trial"])), None)
            case "run-finished" | "run-interrupted":
                self.ended = True
                self.under_way.clear()

    def left_seconds(self, now: float | None = None) -> float | None:
        """Until the end of the run; None where it is not running, or the estimate has been passed."""
        if self.started_at is None or self.ended:
            return None
        elapsed = (time.time() if now is None else now) - self.started_at
        to_do = self.planned - self.completed_before
        return seconds_left(self.expected_seconds, to_do, self.done, elapsed) or None

    @property
    def stream_after(self) -> int:
        """The event after which a page listens that shows the trials under way from their beginning."""
        return min((one.event for one in self.under_way.values()), default=self.heard + 1) - 1
