"""Moments as a DBA writes them at three in the morning."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from mydyno.cli.moments import moment_us, until_us, zone_of
from mydyno.core.errors import UsageError

NOW = datetime(2026, 11, 22, 9, 30, tzinfo=UTC)
BERLIN = ZoneInfo("Europe/Berlin")


def read(text: str, zone: ZoneInfo | None = None) -> datetime:
    microseconds = moment_us(text, "--since", NOW, zone or UTC)
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=microseconds)


@pytest.mark.parametrize(
    ("text", "means"),
    [
        ("2026-11-22 03:00", "2026-11-22T03:00:00+00:00"),
        ("2026-11-22T03:00:00.5", "2026-11-22T03:00:00.500000+00:00"),
        ("2026-11-22T03:00:00Z", "2026-11-22T03:00:00+00:00"),
        ("2026-11-22T03:00+01:00", "2026-11-22T02:00:00+00:00"),
        ("2026-11-20", "2026-11-20T00:00:00+00:00"),
        ("03:00", "2026-11-22T03:00:00+00:00"),
        ("3:00:30", "2026-11-22T03:00:30+00:00"),
        ("now", "2026-11-22T09:30:00+00:00"),
        ("-2h", "2026-11-22T07:30:00+00:00"),
        ("2h ago", "2026-11-22T07:30:00+00:00"),
        ("90 m ago", "2026-11-22T08:00:00+00:00"),
        ("-1d", "2026-11-21T09:30:00+00:00"),
    ],
)
def test_a_moment_is_read_in_any_of_these_ways(text: str, means: str) -> None:
    assert read(text).isoformat() == means


def test_a_time_of_day_that_has_not_come_yet_is_yesterdays() -> None:
    assert read("22:00").isoformat() == "2026-11-21T22:00:00+00:00"


def test_without_a_zone_it_is_in_the_zone_that_was_requested() -> None:
    assert read("2026-11-22 03:00", BERLIN).isoformat() == "2026-11-22T02:00:00+00:00"
    assert read("2026-07-01 03:00", BERLIN).isoformat() == "2026-07-01T01:00:00+00:00"
    assert read("03:00", BERLIN).isoformat() == "2026-11-22T02:00:00+00:00"


@pytest.mark.parametrize(
    "text", ["", "yesterdayish", "25:00", "-2", "-2 fortnights", "2026-13-01", "ago", "-1e99d"]
)
def test_anything_else_is_refused_with_examples(text: str) -> None:
    with pytest.raises(UsageError, match=r"--since .*: not a time") as error:
        read(text)
    assert error.value.hint is not None
    assert "'2h ago'" in error.value.hint


def test_a_zone_is_utc_a_name_or_this_machines() -> None:
    assert zone_of("utc", "--time-zone") is UTC
    assert zone_of("Europe/Berlin", "--time-zone") == BERLIN
    assert zone_of(None, "--time-zone") is None


@pytest.mark.parametrize("name", ["Europe/Atlantis", "../../etc/passwd", "", "Europe"])
def test_no_zone_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="unknown time zone"):
        zone_of(name, "--time-zone")


@pytest.mark.parametrize(
    ("since", "until", "means"),
    [
        ("08:00", "09:00", "2026-11-22T09:00:00+00:00"),
        ("09:00", "9:40", "2026-11-22T09:40:00+00:00"),
        ("2026-11-22T09:00Z", "09:40", "2026-11-22T09:40:00+00:00"),
        ("23:00", "09:40", "2026-11-21T09:40:00+00:00"),
        ("2026-11-20", "09:40", "2026-11-21T09:40:00+00:00"),
        ("09:00", "08:00", "2026-11-22T08:00:00+00:00"),
        ("09:00", "-2h", "2026-11-22T07:30:00+00:00"),
    ],
)
def test_an_end_that_is_due_is_on_the_day_of_its_beginning(since: str, until: str, means: str) -> None:
    microseconds = until_us(until, moment_us(since, "--since", NOW, UTC), NOW, UTC)
    assert (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=microseconds)).isoformat() == means
