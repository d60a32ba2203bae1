"""The interval in which a server is watched."""

from __future__ import annotations

from mydyno.survey.facts import Reading
from mydyno.survey.server.interval import Point, readings_of


def test_between_two_points_lies_a_reading() -> None:
    points = (Point(0.0, 10, 1000), Point(1.0, 20, 3000), Point(3.0, 40, 7000))
    assert readings_of(points) == (
        Reading(running=15, statements=2000),
        Reading(running=30, statements=2000),
    )


def test_points_too_near_and_counters_that_began_again_make_none() -> None:
    assert readings_of((Point(0.0, 1, 10), Point(0.01, 1, 20))) == ()
    assert readings_of((Point(0.0, 1, 10), Point(1.0, 1, 2))) == ()
    assert readings_of(()) == ()
