"""Times and time zones as people write them on a command line."""

import re
from datetime import UTC, datetime, time, timedelta, tzinfo

from mydyno.core.errors import UsageError
from mydyno.core.units import parse_duration

_AGO = re.compile(r"-\s*(?P<minus>.+)|(?P<ago>.+?)\s+ago")
_HINT = "as 2026-11-22T03:00:00Z, '2026-11-22 03:00', 2026-11-22, 03:00 (the last one), -2h or '2h ago'"


def zone_of(name: str | None, option: str) -> tzinfo | None:
    """The time zone that `name` means; None, without a name, is this machine's. Raises UsageError."""
    if name is None:
        return None
    if name.upper() in ("UTC", "Z"):
        return UTC
    from zoneinfo import ZoneInfo

    try:
        return ZoneInfo(name)
    except (OSError, ValueError, KeyError):
        raise UsageError(f"{option} {name}: unknown time zone", "UTC, or a name like Europe/Berlin") from None


def moment_us(text: str, option: str, now: datetime, zone: tzinfo | None) -> int:
    """The time that `text` means, in microseconds since 1970; in `zone` unless the text has one.

    `now` is any time with a zone. Raises UsageError.
    """
    try:
        moment = _moment(text.strip(), now.astimezone(zone), zone)
    except (ValueError, OverflowError):
        raise UsageError(f"{option} {text}: not a time", _HINT) from None
    return round((moment - datetime(1970, 1, 1, tzinfo=UTC)) / timedelta(microseconds=1))


def until_us(text: str, since_us: int | None, now: datetime, zone: tzinfo | None) -> int:
    """The end of what began at `since_us`. A time of day that was last before that is of the same day: at
    03:05 `--since 02:30 --until 03:10` ends in five minutes. Raises UsageError."""
    until = moment_us(text, "--until", now, zone)
    if since_us is None or until > since_us or _time_of_day(text.strip()) is None:
        return until
    day = datetime.fromtimestamp(since_us / 1e6, UTC).astimezone(zone).date()
    return moment_us(text, "--until", _in(datetime.combine(day, time.max), zone), zone)


def _moment(text: str, now: datetime, zone: tzinfo | None) -> datetime:
    if text == "now":
        return now
    if (ago := _AGO.fullmatch(text)) is not None:
        return now - timedelta(seconds=parse_duration(ago["minus"] or ago["ago"]))
    if (of_day := _time_of_day(text)) is not None:
        today = _in(datetime.combine(now.date(), of_day), zone)
        return today if today <= now else _in(datetime.combine(now.date() - timedelta(1), of_day), zone)
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo is not None else _in(moment, zone)


def _time_of_day(text: str) -> time | None:
    """`03:00`, `03:00:30`, without a zone."""
    if re.fullmatch(r"\d{1,2}:[\d:.]+", text) is None:
        return None
    hour, _, rest = text.partition(":")
    return time.fromisoformat(f"{hour:0>2}:{rest}")


def _in(naive: datetime, zone: tzinfo | None) -> datetime:
    """In this machine's zone the offset is that of the moment, in summer and in winter."""
    return naive.astimezone() if zone is None else naive.replace(tzinfo=zone)
