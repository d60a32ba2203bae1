"""Dates and times as text, in a time zone that the reader chooses."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo

from mydyno.page.format import MISSING

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Zone:
    """None: the time zone of this machine."""

    of: tzinfo | None = None

    def at(self, time_us: int) -> datetime:
        """Raises OverflowError for what no calendar has."""
        return (_EPOCH + timedelta(microseconds=time_us)).astimezone(self.of)

    def moment(self, time_us: int | None) -> str:
        """`2026-11-22 03:00:12`; a dash for what is not known or in no calendar."""
        if time_us is None:
            return MISSING
        try:
            return f"{self.at(time_us):%Y-%m-%d %H:%M:%S}"
        except (OverflowError, ValueError, OSError):
            return MISSING

    def span(self, first_us: int, last_us: int) -> str:
        """`2026-11-22 03:00:00 to 04:00:00 UTC`: what is the same once, then the zone's name."""
        first, last = self.moment(first_us), self.moment(last_us)
        if MISSING in (first, last):
            return f"{first} to {last}"
        if first == last:
            return f"{first} {self.name(last_us)}".rstrip()
        if first.split()[0] == last.split()[0]:
            last = last.split()[1]
        return f"{first} to {last} {self.name(last_us)}".rstrip()

    def name(self, time_us: int) -> str:
        """`UTC`, `CET`: the zone's name at that time."""
        try:
            return f"{self.at(time_us):%Z}"
        except (OverflowError, ValueError, OSError):
            return ""
