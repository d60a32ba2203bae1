"""What is said of effects: the words of docs/reference/statistics.md, for numbers that are known."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from lab.analysis.splits import half_fraction, plackett_burman, run_of
from mydyno.lab.analysis.bootstrap import Interval
from mydyno.lab.analysis.effects.effects import Effect, Effects, effects
from mydyno.lab.analysis.effects.levels import LevelRatio
from mydyno.lab.analysis.effects.sentence import percent, remarks, screening, sentence
from mydyno.lab.analysis.metrics import QUERIES_PER_SECOND
from mydyno.lab.results.records import DesignRecord

DOCUMENT = Path(__file__).parents[3] / "docs" / "reference" / "statistics.md"
POOL, ARRAY = "server.config.innodb_buffer_pool_size", "array"


def effect(*factors: str, share: float, p: float | None = 0.001, interval: Interval | None = None) -> Effect:
    return Effect(factors, share, interval, 1, 10.0, 8.0, p, p)


def found(*of: Effect, noise: float | None = 0.05, place: str = "") -> Effects:
    return Effects(
        metric=QUERIES_PER_SECOND,
        found=of,
        noise=noise,
        noise_interval=None,
        source="repetitions" if noise is not None else "none",
        trials=36,
        blocks=4,
        split=True,
        places=4 if place else 1,
        place=place,
        design=DesignRecord(),
        confounded=(),
        constant=(),
        combinations=(6, 6),
        baseline={},
        interaction=None,
    )


SEED_003 = found(
    effect(POOL, share=0.71, interval=Interval(0.643, 0.777)),
    effect(ARRAY, share=0.18),
    effect(POOL, ARRAY, share=0.06),
)
WITH_CONNECTIONS = found(
    effect("connections", share=0.62, interval=Interval(0.6, 0.64)),
    effect(POOL, share=0.3, interval=Interval(0.25, 0.34)),
    effect(ARRAY, "connections", share=0.02),
    effect(ARRAY, share=0.01, p=0.2),
    place="connections",
)
SAID = {
    "seed 003": SEED_003,
    "the load comes after what was set": WITH_CONNECTIONS,
    "nothing": found(effect(POOL, share=0.04, p=0.3), noise=0.96),
    "load alone": found(
        effect("connections", share=0.9, interval=Interval(0.85, 0.93)), noise=0.1, place="connections"
    ),
    "no repetitions": found(effect(POOL, share=0.8, p=None), effect(ARRAY, share=0.2, p=None), noise=None),
}


def test_every_sentence_about_effects_is_the_one_in_the_guide():
    section = DOCUMENT.read_text(encoding="utf-8").partition("## What each factor explains")[2]
    lines = re.findall(r"```text\n(.*?)```", section, re.DOTALL)[0].splitlines()
    assert [sentence(one) for one in SAID.values()] == lines


def test_shares_are_reported_with_no_more_digits_than_they_have():
    assert [percent(share) for share in (0.71, 0.06, 0.0096, 0.004, 0.0004, 0.0, 1.0)] == [
        "71%",
        "6%",
        "1%",
        "0.4%",
        "less than 0.1%",
        "0%",
        "100%",
    ]


def test_of_many_effects_the_smallest_are_summed_up():
    many = found(*(effect(f"f{number}", share=0.1) for number in range(7)), effect("g", share=0.008))
    result = sentence(many)
    assert result is not None
    assert result.endswith("f4 10%, 3 other effects 21%, noise 5%.")


def test_an_effect_that_may_be_another_is_reported_with_it():
    either = replace(effect("a", "b", share=0.5, interval=Interval(0.4, 0.6)), also=(("c", "x.d"),))
    assert (sentence(found(either)) or "").startswith("the interaction of a and b or of c and d explains 50%")


def test_a_screening_design_is_reported_as_the_factors_that_matter_in_their_order():
    design = DesignRecord(
        points="fraction", aliases=("server.a = x.b×y.c", "x.b = server.a×y.c"), resolution=3
    )
    levels = tuple(LevelRatio(level, value, None, 6) for level, value in (("off", 0.8), ("on", 1.2)))
    one = replace(
        found(
            replace(effect("server.a", share=0.5), levels=levels),
            effect("x.b", share=0.3),
            effect("z", share=0.01, p=0.4),
        ),
        design=design,
    )
    assert screening(one) == (
        "2 of 3 factors affect queries per second (largest first): a (on over off: +50%) "
        "or its alias b×c; b or its alias a×c."
    )
    assert screening(replace(one, found=one.found[2:])) == (
        "None of 1 factors is shown to affect queries per second (n=36)."
    )
    assert screening(replace(one, design=DesignRecord())) is None
    assert "aliased effects: a = b×c; b = a×c." in remarks(one)[0]


@pytest.mark.parametrize(
    ("design", "points", "said"),
    [
        ("one-at-a-time", None, "changed one at a time from a = 0, b = 0, c = 0"),
        ("plackett-burman", plackett_burman(4), "contains a part of every interaction of two other factors"),
        ("fraction", half_fraction(), "aliased effects: a×b = c×d"),
    ],
)
def test_what_a_design_cannot_see_is_reported(design, points, said):
    base = {"a": "0", "b": "0", "c": "0"}
    own = points or [base, *(base | {name: "1"} for name in base)]
    factors = {name: tuple(sorted({point[name] for point in own})) for name in own[0]}
    record = DesignRecord(points=design, aliases=("a×b = c×d",))
    one = effects(*run_of(factors, lambda *_: 1.0, points=own, design=record), QUERIES_PER_SECOND)
    assert said in " ".join(remarks(one))


def test_durability_and_confounding_are_reported_beside_the_effects():
    loose = {"1": "durable", "2": "loses up to 1 s on OS crash"}
    one = replace(
        found(
            replace(effect("x.flush", share=0.9), durability=loose),
            effect("x.raid or x.disks", share=0.01),
        ),
        confounded=("x.kernel",),
        constant=("x.mode",),
    )
    assert remarks(one) == (
        "kernel cannot be distinguished from the other factors or from blocks.",
        "Levels of flush differ in durability: 1: durable; 2: loses up to 1 s on OS crash.",
        "raid and disks always vary together: they are one factor here.",
        "Only one level was measured of mode.",
    )
