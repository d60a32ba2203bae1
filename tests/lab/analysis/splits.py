"""Published experiments, and made-up ones, laid out for the analysis of variance."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from lab.analysis.builders import measured
from lab.results.builders import experiment
from mydyno.lab.analysis.effects.layout import Factor, Layout, grouped
from mydyno.lab.results.records import DesignRecord, ExperimentRecord, PointRecord, TrialRecord

Numbers = NDArray[np.float64]

_OATS = """
111 130 157 174  117 114 161 141  105 140 118 156
 61  91  97 100   70 108 126 149   96 124 121 144
 68  64 112  86   60 102  89  96   89 129 132 124
 74  89  81 122   64 103 132 133   70  89 104 117
 62  90 100 116   80  82  94 126   63  70 109  99
 53  74 118 113   89  82  86 104   97  99 119 121
"""


def oats() -> tuple[Layout, Numbers]:
    """Yields of oats: 6 blocks of 3 varieties (whole plots) with 4 amounts of nitrogen (subplots). F. Yates,
    Complex Experiments, Supplement to the JRSS 2, 1935; analysed in Venables and Ripley, Modern Applied
    Statistics with S, 4th edition 2002, 10.2."""
    block, variety, nitrogen = np.indices((6, 3, 4)).reshape(3, -1)
    factors = (
        Factor(("variety",), ("Victory", "Golden Rain", "Marvellous"), variety),
        Factor(("nitrogen",), ("0", "0.2", "0.4", "0.6"), nitrogen),
    )
    values = np.array(_OATS.split(), dtype=float)
    return Layout(factors, block, (grouped(block, variety),)), values[:, None]


def steel() -> tuple[Layout, Numbers]:
    """Resistance of coated steel bars to corrosion: 6 heats of a furnace at 3 temperatures (whole plots,
    without blocks), 4 coatings each. Box, Hunter and Hunter, Statistics for Experimenters, 2nd edition 2005,
    table 9.1."""
    heats = {
        ("360", 0): (67, 73, 83, 89),
        ("370", 1): (65, 91, 87, 86),
        ("380", 2): (155, 127, 147, 212),
        ("380", 3): (108, 100, 90, 153),
        ("370", 4): (140, 142, 121, 150),
        ("360", 5): (33, 8, 46, 54),
    }
    rows = [
        (int(temperature) // 10 - 36, heat, coating, value)
        for (temperature, heat), values in heats.items()
        for coating, value in enumerate(values)
    ]
    temperature, heat, coating, values = (np.array(column) for column in zip(*rows, strict=True))
    factors = (
        Factor(("temperature",), ("360", "370", "380"), temperature),
        Factor(("coating",), ("C1", "C2", "C3", "C4"), coating),
    )
    return Layout(factors, np.zeros(24, dtype=np.int64), (heat,)), values.astype(float)[:, None]


def two_level(names: Sequence[str], repeats: int = 1) -> Layout:
    """A full factorial in standard order: the first factor changes fastest."""
    run = np.arange(2 ** len(names))
    factors = tuple(
        Factor((name,), ("-", "+"), np.repeat(run >> place & 1, repeats)) for place, name in enumerate(names)
    )
    return Layout(factors, np.zeros(run.size * repeats, dtype=np.int64))


def workstation() -> tuple[Layout, Numbers]:
    """MIPS of a workstation by memory and cache, three runs each. R. Jain, The Art of Computer Systems
    Performance Analysis, 1991, example 18.1."""
    values = [15, 18, 12, 45, 48, 51, 25, 28, 19, 75, 75, 81]
    return two_level(("memory", "cache"), 3), np.array(values, dtype=float)[:, None]


def filtration() -> tuple[Layout, Numbers]:
    """Rate of filtration by temperature, pressure, concentration, stirring; each combination once.
    D. C. Montgomery, Design and Analysis of Experiments, 8th edition 2012, example 6.2."""
    values = [45, 71, 48, 65, 68, 60, 80, 65, 43, 100, 45, 104, 75, 86, 70, 96]
    return two_level("ABCD"), np.array(values, dtype=float)[:, None]


def run_of(
    factors: Mapping[str, Sequence[str]],
    speed: Callable[[Mapping[str, str], int], float],
    *,
    points: Sequence[Mapping[str, str]] | None = None,
    blocks: int = 3,
    connections: Sequence[int] = (10,),
    design: DesignRecord | None = None,
    noise: float = 0.02,
    seed: int = 1,
) -> tuple[ExperimentRecord, list[TrialRecord]]:
    """Trials whose queries/s are 1000 times `speed(levels, connections)`, with log-normal noise."""
    random = np.random.default_rng(seed)
    wanted = (
        [dict(zip(factors, levels, strict=True)) for levels in itertools.product(*factors.values())]
        if points is None
        else points
    )
    made = tuple(
        PointRecord(point_id=f"p{number}", levels=levels, title=", ".join(levels.values()))
        for number, levels in enumerate(wanted)
    )
    trials = [
        measured(
            point,
            block,
            {
                each: 1000 * speed(point.levels, each) * float(np.exp(random.normal(0, noise)))
                for each in connections
            },
        )
        for block in range(blocks)
        for point in made
    ]
    record = replace(
        experiment(),
        factors={name: tuple(levels) for name, levels in factors.items()},
        points=made,
        planned_trials=len(trials),
        design=design or DesignRecord(),
    )
    return record, trials


def half_fraction() -> list[dict[str, str]]:
    """2^(4-1) with D = ABC: resolution IV, pairs in three couples."""
    return [
        {"a": str(a), "b": str(b), "c": str(c), "d": str((a + b + c) % 2)}
        for a in (0, 1)
        for b in (0, 1)
        for c in (0, 1)
    ]


PLACKETT_BURMAN = "++-+++---+-"


def plackett_burman(factors: int) -> list[dict[str, str]]:
    """The design of twelve runs: its row shifted round, and all low. Biometrika 33, 1946."""
    rows = [PLACKETT_BURMAN[-shift:] + PLACKETT_BURMAN[:-shift] for shift in range(11)] + ["-" * 11]
    return [{f"f{number}": row[number] for number in range(factors)} for row in rows]
