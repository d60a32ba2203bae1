"""The palette: legible on its paper, and settings told apart by every kind of eye."""

from __future__ import annotations

import itertools

import pytest

from lab.report.colour_vision import DEFICIENCIES, contrast, distance
from mydyno.page.charts import theme

PAPERS = {
    "light": (theme.PAPER, theme.SERIES),
    "dark": (theme.DARK[theme.PAPER], [*map(theme.DARK.get, theme.SERIES)]),
}
NOTICEABLE = 2.3


@pytest.mark.parametrize("kind", PAPERS)
def test_small_text_in_the_colour_of_a_setting_can_be_read(kind):
    paper, colors = PAPERS[kind]
    assert min(contrast(color, paper) for color in colors) >= 4.5


@pytest.mark.parametrize("kind", PAPERS)
def test_marks_and_words_stand_out_from_the_paper(kind):
    for color in (theme.INK, theme.MUTED, theme.INVALID):
        paper, _ = PAPERS[kind]
        shown = color if kind == "light" else theme.DARK[color]
        assert contrast(shown, paper) >= 4.5, color


@pytest.mark.parametrize("deficiency", DEFICIENCIES)
@pytest.mark.parametrize("kind", PAPERS)
def test_neighbours_are_far_apart_for_every_eye(kind, deficiency):
    _, colors = PAPERS[kind]
    apart = [distance(one, other, deficiency) for one, other in itertools.pairwise(colors)]
    assert min(apart) >= 4 * NOTICEABLE, [round(each, 1) for each in apart]


@pytest.mark.parametrize("deficiency", DEFICIENCIES)
@pytest.mark.parametrize("kind", PAPERS)
def test_no_two_settings_look_the_same_to_anyone(kind, deficiency):
    _, colors = PAPERS[kind]
    pairs = {pair: distance(*pair, deficiency) for pair in itertools.combinations(colors, 2)}
    assert min(pairs.values()) > NOTICEABLE, min(pairs, key=pairs.__getitem__)
    assert min(apart for pair, apart in pairs.items() if set(pair) <= set(colors[:4])) >= 3 * NOTICEABLE


def test_the_measure_of_distance_is_the_published_one():
    """Pure primaries far apart, greys a step apart close: and the simulation leaves greys alone."""
    assert distance("#000000", "#ffffff") == pytest.approx(100, abs=0.01)
    assert distance("#ff0000", "#00ff00") == pytest.approx(86.6, abs=0.1)
    assert distance("#808080", "#818181") < 0.5
    for deficiency in DEFICIENCIES:
        assert distance("#000000", "#ffffff", deficiency) == pytest.approx(100, abs=0.1)
    assert distance("#ff0000", "#00a000", "deuteranopia") < distance("#ff0000", "#00a000") / 2
