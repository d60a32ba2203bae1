"""Effects, interactions and error strata against published analyses, simulated truth and a second opinion."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf
from statsmodels.stats.anova import anova_lm

from lab.analysis.effects_study import EASY, HARD, Truth, layout, simulated, study
from lab.analysis.splits import (
    filtration,
    half_fraction,
    oats,
    plackett_burman,
    run_of,
    steel,
    two_level,
    workstation,
)
from mydyno.lab.analysis.effects.effects import Effects, effects
from mydyno.lab.analysis.effects.errors import Errors, FTest, lenth_error
from mydyno.lab.analysis.effects.layout import Factor, Layout
from mydyno.lab.analysis.effects.variance import PLACE, Arrangement, Shares
from mydyno.lab.analysis.metrics import QUERIES_PER_SECOND
from mydyno.lab.results.records import DesignRecord


def analysed(of: Layout, values: np.ndarray) -> dict[tuple[str, ...], FTest]:
    found = Arrangement(of, "all", values.shape[1]).analyse(values)
    return {component.factors: component.tests[0] for component in found.components}


def told(found: Effects) -> dict[tuple[str, ...], float]:
    return {effect.factors: effect.share for effect in found.found}


def test_the_split_plot_of_yates_is_analysed_as_published():
    found = analysed(*oats())
    variety, nitrogen, both = found["variety",], found["nitrogen",], found["variety", "nitrogen"]
    assert variety.sum_of_squares == pytest.approx(1786.4, abs=0.05)
    assert (variety.degrees, variety.error_degrees) == (2, pytest.approx(10))
    assert variety.error == pytest.approx(601.33, abs=0.005)
    assert variety.f == pytest.approx(1.485, abs=5e-4)
    assert variety.p_value == pytest.approx(0.2724, abs=5e-5)
    assert nitrogen.sum_of_squares == pytest.approx(20020.5, abs=0.05)
    assert nitrogen.f == pytest.approx(37.69, abs=5e-3)
    assert (nitrogen.degrees, nitrogen.error_degrees) == (3, pytest.approx(45))
    assert both.f == pytest.approx(0.3028, abs=5e-5)
    assert both.error == pytest.approx(177.08, abs=5e-3)


def test_the_split_plot_of_box_hunter_and_hunter_without_blocks_is_analysed_as_published():
    found = analysed(*steel())
    temperature, coating, both = (
        found["temperature",],
        found["coating",],
        found["temperature", "coating"],
    )
    assert temperature.sum_of_squares / 2 == pytest.approx(13_260, abs=1)
    assert (temperature.error, temperature.error_degrees) == (pytest.approx(4813, abs=1), pytest.approx(3))
    assert temperature.f == pytest.approx(2.8, abs=0.06)
    assert coating.sum_of_squares / 3 == pytest.approx(1430, abs=1)
    assert (coating.error, coating.error_degrees) == (pytest.approx(124.5, abs=0.1), pytest.approx(9))
    assert coating.f == pytest.approx(11.5, abs=0.06)
    assert both.sum_of_squares / 6 == pytest.approx(545, abs=1)
    assert both.f == pytest.approx(4.4, abs=0.06)


def test_the_allocation_of_variation_of_jain_is_found_and_shrunk_by_what_noise_adds():
    of, values = workstation()
    variance = Arrangement(of, "all").analyse(values)
    squares = [component.tests[0].sum_of_squares for component in variance.components]
    assert squares == pytest.approx([5547, 1083, 300])
    assert variance.components[0].tests[0].error == pytest.approx(102 / 8)
    whole = 7032
    assert [100 * square / whole for square in squares] == pytest.approx([78.88, 15.40, 4.27], abs=0.005)
    shares = Shares(variance)
    found = [100 * shares.of(component)[0] for component in variance.components]
    # The published percentages hold a degree of freedom of noise each; omega squared does not.
    assert found == pytest.approx([100 * (square - 12.75) / (whole + 12.75) for square in squares])
    noise, _ = shares.noise
    assert sum(found) + 100 * noise == pytest.approx(100)


def test_an_unreplicated_factorial_is_tested_with_lenths_error_as_published():
    of, values = filtration()
    found = analysed(of, values)
    squares = {"A": 1870.56, "B": 39.06, "C": 390.06, "D": 855.56, "AC": 1314.06, "AD": 1105.56, "BC": 22.56}
    for name, square in squares.items():
        assert found[tuple(name)].sum_of_squares == pytest.approx(square, abs=0.01), name
    # Published for effects (differences of means of eight runs each): PSE 2.625, 5 degrees of freedom.
    assert found["A",].error == pytest.approx(2.625**2 * 16 / 4)
    assert found["A",].error_degrees == pytest.approx(5)
    shown = {factors for factors, test in found.items() if test.p_value < 0.05}
    assert shown == {("A",), ("C",), ("D",), ("A", "C"), ("A", "D")}


def test_lenths_error_leaves_out_what_stands_out():
    small = np.array([1.0, -2.0, 3.0, -1.5, 2.5, -0.5, 2.0])
    assert lenth_error(np.append(small, [500.0, -900.0]))[0] < 30
    assert lenth_error(np.zeros(7)) == (0.0, pytest.approx(7 / 3))


def test_a_whole_plot_factor_of_two_levels_is_tested_by_its_difference_in_each_block():
    of = layout(5, 2, 3)
    values = simulated(of, Truth(hard=0.03), 1, np.random.default_rng(4))
    found = analysed(of, values)[HARD,]
    differences = np.diff(values.reshape(5, 2, 3).mean(axis=2), axis=1).ravel()
    t = differences.mean() / (differences.std(ddof=1) / math.sqrt(5))
    assert found.error_degrees == pytest.approx(4)
    assert found.f == pytest.approx(t**2)


def test_counting_subplots_as_repetitions_of_whole_plots_is_the_error_that_is_not_made():
    null = Truth(plot_noise=0.05, trial_noise=0.02)
    naive = study(layout(4, 2, 4, plots=False), null, 1, 400, intervals=False)
    ours = study(layout(4, 2, 4), null, 1, 400, intervals=False)
    assert naive.rejected[HARD,] > 0.25, "a third of all experiments see what is not there"
    assert ours.rejected[HARD,] < 0.085, "5%, give or take what 400 experiments may"
    assert ours.rejected[EASY,] < 0.085
    assert ours.rejected[HARD, EASY] < 0.085
    assert ours.rejected[EASY,] > naive.rejected[EASY,], "nor is noise of plots charged to the others"


def test_what_places_change_is_tested_against_noise_of_its_own():
    # Blocks and plots are better at some numbers of connections than at others, as much as altogether.
    null = Truth(by_place=1.0, trial_noise=0.0, residual=0.01)
    found = study(layout(4, 2, 2), null, 4, 300, intervals=False)
    for effect in ((HARD,), (EASY,), (PLACE,), (HARD, PLACE), (EASY, PLACE)):
        assert found.rejected[effect] < 0.09, effect


def test_intervals_of_shares_hold_the_truth():
    for blocks, places, truth in (
        (4, 1, Truth(hard=0.1, easy=0.2, both=0.05)),
        (3, 3, Truth(hard=0.1, easy=0.2, both=0.05, place=0.3, hard_by_place=0.05)),
    ):
        found = study(layout(blocks, 2, 3), truth, places, 120)
        for effect, true in truth.shares(places).items():
            if effect in found.covered:
                assert found.covered[effect] >= 0.9, (effect, places)
                assert found.mean_share[effect] == pytest.approx(true, abs=0.015), (effect, places)


@pytest.mark.slow
def test_tests_keep_their_level_and_intervals_cover_where_trials_are_missing():
    random = np.random.default_rng(8)
    for _ in range(3):
        of = layout(5, 3, 3, keep=random.random(45) > 0.15)
        null = study(of, Truth(), 1, 2000, intervals=False)
        assert max(null.rejected.values()) < 0.07
        # Main effects are adjusted for each other, which is of use as far as they do not interact (type II).
        found = study(of, Truth(hard=0.1, easy=0.2), 1, 500)
        assert min(found.covered[effect] for effect in ((HARD,), (EASY,), (HARD, EASY))) > 0.91


def table(of: Layout, values: np.ndarray) -> pd.DataFrame:
    columns = {factor.names[0]: factor.codes.astype(str) for factor in of.factors}
    return pd.DataFrame(
        {"y": values[:, 0], "block": of.blocks.astype(str), "plot": of.plots[0].astype(str), **columns}
    )


def test_type_two_sums_of_squares_of_unbalanced_trials_agree_with_statsmodels():
    keep = np.random.default_rng(2).random(4 * 3 * 3) > 0.2
    of = replace(layout(4, 3, 3, keep=keep), plots=())
    values = simulated(of, Truth(hard=0.1, easy=0.1, both=0.05), 1, np.random.default_rng(3))
    found = analysed(of, values)
    data = table(replace(of, plots=(of.blocks,)), values)
    second = anova_lm(smf.ols("y ~ block + hard * easy", data).fit(), typ=2)
    for effect, row in {(HARD,): "hard", (EASY,): "easy", (HARD, EASY): "hard:easy"}.items():
        assert found[effect].sum_of_squares == pytest.approx(second.loc[row, "sum_sq"], rel=1e-8)
        assert found[effect].f == pytest.approx(second.loc[row, "F"], rel=1e-8)
        assert found[effect].p_value == pytest.approx(second.loc[row, "PR(>F)"], rel=1e-6)


def strata_of(of: Layout, values: np.ndarray) -> tuple[float, float]:
    """Variances of whole plots and of trials."""
    strata = Arrangement(of, "all").strata
    _, plot, trial = Errors.within(strata, values).mean_squares
    plots = strata.all[1]
    return (plot - trial) / plots.share_of(plots.space), trial


@pytest.mark.parametrize(("missing", "tolerance"), [(0.0, 0.002), (0.12, 0.1)])
def test_errors_of_a_split_plot_agree_with_a_mixed_model_fitted_by_reml(missing, tolerance):
    keep = np.random.default_rng(5).random(12 * 3 * 4) >= missing
    of = layout(12, 3, 4, keep=keep)
    truth = Truth(hard=0.1, easy=0.1, block_noise=0.05, plot_noise=0.04, trial_noise=0.02)
    values = simulated(of, truth, 1, np.random.default_rng(6))
    fitted = smf.mixedlm("y ~ block + hard * easy", table(of, values), groups="plot").fit(reml=True)
    plots, trials = strata_of(of, values)
    assert trials == pytest.approx(fitted.scale, rel=tolerance)
    assert plots == pytest.approx(fitted.cov_re.iloc[0, 0], rel=3 * tolerance)


def test_seed_003s_question_gets_its_answer_as_numbers():
    factors = {
        "storage.data.raid": ("1", "5", "10"),
        "server.config.innodb_buffer_pool_size": ("40%", "80%", "100%"),
    }
    memory, disks = {"40%": 0.4, "80%": 1.0, "100%": 2.2}, {"1": 0.7, "5": 0.8, "10": 1.5}

    def speed(levels, connections):
        raid, pool = levels.values()
        return memory[pool] * disks[raid] ** (0.3 if pool == "100%" else 1.0)

    found = effects(*run_of(factors, speed, blocks=4), QUERIES_PER_SECOND)
    shares = told(found)
    names = list(shares)
    assert names == [("server.config.innodb_buffer_pool_size",), ("storage.data.raid",), tuple(factors)]
    true = truth_of(factors, speed)
    for name, share in shares.items():
        assert share == pytest.approx(true[name], abs=0.01)
    assert sum(shares.values()) + found.noise == pytest.approx(1)
    pool = found.found[0]
    assert pool.shown
    assert pool.interval.contains(true[names[0]])
    assert math.prod(level.value for level in pool.levels) == pytest.approx(1)
    assert found.interaction.across in factors
    assert len(found.interaction.cells) == 9


def truth_of(factors, speed) -> dict[tuple[str, ...], float]:
    """Shares of a full table of two factors without noise."""
    one, other = factors
    logs = np.array([[math.log(speed({one: a, other: b}, 1)) for b in factors[other]] for a in factors[one]])
    rows, columns = logs.mean(axis=1) - logs.mean(), logs.mean(axis=0) - logs.mean()
    both = logs - logs.mean() - rows[:, None] - columns[None, :]
    sizes = {(one,): np.mean(rows**2), (other,): np.mean(columns**2), (one, other): np.mean(both**2)}
    return {name: size / logs.var() for name, size in sizes.items()}


def test_nothing_is_shown_where_there_is_nothing():
    found = effects(*run_of({"a": ("x", "y"), "b": ("x", "y")}, lambda *_: 1.0, seed=2), QUERIES_PER_SECOND)
    assert not found.shown
    assert found.noise > 0.6
    assert found.interaction is None


def test_connections_are_a_factor_of_their_own_within_the_trial():
    found = effects(
        *run_of(
            {"a": ("x", "y")},
            lambda levels, n: n**0.5 * (1.1 if levels["a"] == "y" and n > 10 else 1),
            connections=(1, 10, 40),
            noise=0.005,
        ),
        QUERIES_PER_SECOND,
    )
    assert next(iter(told(found))) == ("connections",)
    assert {effect.factors for effect in found.shown} >= {("connections",), ("a", "connections")}
    assert (found.interaction.lines, found.interaction.across) == ("a", "connections")
    assert [cell.at for cell in found.interaction.cells if cell.level == "y"] == [1, 10, 40]


def test_factors_that_never_vary_apart_are_one_and_are_named_together():
    points = [{"raid": "1", "disks": "2", "fs": fs} for fs in ("xfs", "ext4")]
    points += [{"raid": "10", "disks": "4", "fs": fs} for fs in ("xfs", "ext4")]
    factors = {"raid": ("1", "10"), "disks": ("2", "4"), "fs": ("xfs", "ext4")}
    found = effects(
        *run_of(factors, lambda levels, _: 2.0 if levels["raid"] == "10" else 1.0, points=points),
        QUERIES_PER_SECOND,
    )
    assert ("raid or disks",) in told(found)
    assert [level.level for level in found.found[0].levels] == ["1 / 2", "10 / 4"]


def test_a_factor_that_others_account_for_is_named_and_not_guessed():
    # Every server runs on a kernel of its own but two that share one: the kernel says nothing of its own.
    points = [{"server": name, "kernel": kernel} for name, kernel in (("a", "5"), ("b", "6"), ("c", "6"))]
    factors = {"server": ("a", "b", "c"), "kernel": ("5", "6")}
    found = effects(
        *run_of(factors, lambda levels, _: {"a": 1, "b": 1.2, "c": 1.5}[levels["server"]], points=points),
        QUERIES_PER_SECOND,
    )
    assert found.confounded == ("kernel",)
    assert [effect.factors for effect in found.found] == [("server",)]


def test_a_nested_factor_is_looked_at_where_it_applies():
    points = [
        {"raid": "1"},
        *({"raid": raid, "chunk": chunk} for raid in ("0", "5") for chunk in ("64K", "512K")),
    ]
    factors = {"raid": ("1", "0", "5"), "chunk": ("64K", "512K")}

    def speed(levels, _):
        return {"1": 1.0, "0": 2.0, "5": 1.5}[levels["raid"]] * (1.2 if levels.get("chunk") == "512K" else 1)

    found = effects(*run_of(factors, speed, points=points, blocks=4, noise=0.005), QUERIES_PER_SECOND)
    chunk = next(effect for effect in found.found if effect.factors == ("chunk",))
    assert (chunk.degrees, chunk.shown) == (1, True)
    assert [level.level for level in chunk.levels] == ["64K", "512K"]
    assert chunk.levels[1].value / chunk.levels[0].value == pytest.approx(1.2, rel=0.02)


def test_a_table_without_repetitions_takes_its_highest_interaction_for_noise():
    factors = {"fs": ("xfs", "jfs", "ext3"), "release": ("4.1", "5.0", "5.1")}
    speed = {"xfs": 1.5, "jfs": 1.6, "ext3": 1.0}
    found = effects(*run_of(factors, lambda levels, _: speed[levels["fs"]], blocks=1), QUERIES_PER_SECOND)
    assert found.source == "interaction"
    assert {effect.factors for effect in found.found} == {("fs",), ("release",)}
    assert [effect.factors for effect in found.shown] == [("fs",)]
    assert found.found[0].error_degrees == pytest.approx(4)


def test_a_table_with_holes_and_hardly_a_repetition_is_analysed_and_said_to_be_one():
    factors = {"machine": ("a", "b"), "fs": ("xfs", "jfs", "ext3"), "release": ("4.1", "5.0", "5.1")}
    speeds = {"xfs": 1.5, "jfs": 1.6, "ext3": 1.0}
    random = np.random.default_rng(3)
    every = [dict(zip(factors, levels, strict=True)) for levels in itertools.product(*factors.values())]
    points = [point for point in every if random.random() < 0.7]
    record, trials = run_of(factors, lambda levels, _: speeds[levels["fs"]], points=points, blocks=1)
    again = replace(trials[0], trial_id="again", block=2)
    found = effects(replace(record, imported=True), [*trials, again], QUERIES_PER_SECOND)
    assert (found.source, found.blocks) == ("interaction", 1)
    assert [effect.factors for effect in found.shown] == [("fs",)]
    assert found.combinations == (len(points), 18)


def test_connections_of_single_trials_give_the_interaction_that_is_taken_for_noise():
    factors = {"raid": ("1", "5", "10"), "pool": ("40%", "100%")}

    def speed(levels, n):
        return n**0.3 * {"1": 1, "5": 1.1, "10": 2}[levels["raid"]] ** (
            0.5 if levels["pool"] == "100%" else 1
        )

    found = effects(*run_of(factors, speed, blocks=1, connections=(1, 5, 10, 30)), QUERIES_PER_SECOND)
    assert found.source == "interaction"
    assert ("raid", "pool") in {effect.factors for effect in found.shown}


def test_single_trials_of_one_factor_are_reported_but_not_tested():
    found = effects(*run_of({"a": ("x", "y", "z")}, lambda *_: 1.0, blocks=1), QUERIES_PER_SECOND)
    assert found.source == "none"
    assert found.noise is None
    assert found.found[0].p_value is None
    assert found.found[0].interval is None


def test_one_at_a_time_holds_each_change_against_the_baseline_and_claims_no_interaction():
    base = {"a": "0", "b": "0", "c": "0"}
    points = [base, base | {"a": "1"}, base | {"b": "1"}, base | {"c": "1"}, base | {"c": "2"}]
    factors = {"a": ("0", "1"), "b": ("0", "1"), "c": ("0", "1", "2")}

    def speed(levels, _):
        return (1.5 if levels["a"] == "1" else 1) * {"0": 1, "1": 1.2, "2": 0.8}[levels["c"]]

    found = effects(
        *run_of(factors, speed, points=points, blocks=4, design=DesignRecord(points="one-at-a-time")),
        QUERIES_PER_SECOND,
    )
    by_name = {effect.factors: effect for effect in found.found}
    assert set(by_name) == {("a",), ("b",), ("c",)}
    assert found.baseline == base
    assert by_name["a",].levels[0].value == pytest.approx(1)
    assert by_name["a",].levels[1].value == pytest.approx(1.5, rel=0.05)
    assert [level.value for level in by_name["c",].levels] == pytest.approx([1, 1.2, 0.8], rel=0.05)
    # In a table of all 12 combinations, without interactions.
    sizes = {"a": math.log(1.5) ** 2 / 4, "c": np.var([0, math.log(1.2), math.log(0.8)])}
    assert by_name["a",].share / by_name["c",].share == pytest.approx(sizes["a"] / sizes["c"], rel=0.15)


def test_a_fraction_names_the_interactions_that_are_one_contrast():
    factors = dict.fromkeys("abcd", ("0", "1"))

    def speed(levels, _):
        return (1.4 if levels["a"] == "1" else 1) * (1.3 if levels["a"] == levels["b"] == "1" else 1)

    design = DesignRecord(points="fraction", aliases=("a×b = c×d", "a×c = b×d", "a×d = b×c"), resolution=4)
    found = effects(
        *run_of(factors, speed, points=half_fraction(), blocks=3, design=design), QUERIES_PER_SECOND
    )
    pairs = {effect.factors: effect.also for effect in found.found if len(effect.factors) == 2}
    assert pairs == {("a", "b"): (("c", "d"),), ("a", "c"): (("b", "d"),), ("a", "d"): (("b", "c"),)}
    assert {effect.factors for effect in found.shown} == {("a",), ("b",), ("a", "b")}


def test_a_plackett_burman_design_finds_the_few_that_matter_without_repetitions():
    factors = {f"f{number}": ("-", "+") for number in range(11)}

    def speed(levels, _):
        return (1.5 if levels["f2"] == "+" else 1) * (1.3 if levels["f7"] == "+" else 1)

    found = effects(
        *run_of(
            factors,
            speed,
            points=plackett_burman(11),
            blocks=1,
            design=DesignRecord(points="plackett-burman"),
        ),
        QUERIES_PER_SECOND,
    )
    assert found.source == "lenth"
    assert [effect.factors for effect in found.shown] == [("f2",), ("f7",)]
    assert all(len(effect.factors) == 1 for effect in found.found)


def test_controls_invalid_trials_and_constant_metrics_do_not_disturb():
    record, trials = run_of({"a": ("x", "y")}, lambda levels, _: 2.0 if levels["a"] == "y" else 1.0, blocks=4)
    plain = effects(record, trials, QUERIES_PER_SECOND)
    control = replace(record.points[0], point_id="p9", control_of="p0")
    more = [
        *trials,
        *(replace(trial, point_id="p9", trial_id=f"c{trial.trial_id}") for trial in trials[::2]),
        replace(trials[0], trial_id="bad", status="invalid"),
    ]
    with_control = replace(record, points=(*record.points, control))
    assert told(effects(with_control, more, QUERIES_PER_SECOND)) == told(plain)
    same = run_of({"a": ("x", "y")}, lambda *_: 1.0, noise=0.0)
    assert effects(*same, QUERIES_PER_SECOND).why == "queries per second is the same in every trial"
    assert effects(record, [], QUERIES_PER_SECOND).why == "no valid trial measured queries per second"
    assert effects(record, trials[::2], QUERIES_PER_SECOND).why == "the valid trials are all of one point"


def test_a_factor_of_whole_plots_in_a_record_is_tested_against_the_plots():
    factors = {"array": ("1", "5", "10"), "pool": ("40%", "100%")}
    record, trials = run_of(factors, lambda *_: 1.0, blocks=4)
    split = replace(record, design=DesignRecord(hard_factors=(("array",),)))
    found = {effect.factors: effect for effect in effects(split, trials, QUERIES_PER_SECOND).found}
    assert found["array",].error_degrees == pytest.approx(6)
    assert found["pool",].error_degrees == pytest.approx(9)
    free = {effect.factors: effect for effect in effects(record, trials, QUERIES_PER_SECOND).found}
    assert free["array",].error_degrees == pytest.approx(15)


def test_durability_of_levels_stands_beside_their_effect():
    record, trials = run_of({"flush": ("1", "2")}, lambda levels, _: 1.5 if levels["flush"] == "2" else 1.0)
    loose = "loses up to 1 s on OS crash"
    marked = [
        replace(trial, durability=loose if trial.levels["flush"] == "2" else "durable") for trial in trials
    ]
    assert effects(record, trials, QUERIES_PER_SECOND).found[0].durability is None
    assert effects(record, marked, QUERIES_PER_SECOND).found[0].durability == {"1": "durable", "2": loose}


def test_many_factors_of_two_levels_keep_their_names_apart():
    found = analysed(two_level("ABC", 2), np.random.default_rng(1).normal(size=(16, 1)))
    assert set(found) == {("A",), ("B",), ("C",), ("A", "B"), ("A", "C"), ("B", "C"), ()}
    assert all(test.error_degrees == pytest.approx(8) for test in found.values())


def test_blocks_that_are_single_trials_are_no_blocks():
    factor = Factor(("a",), ("x", "y"), np.array([0, 1] * 4))
    found = analysed(Layout((factor,), np.arange(8)), np.random.default_rng(1).normal(size=(8, 1)))
    assert found["a",].error_degrees == pytest.approx(6)
