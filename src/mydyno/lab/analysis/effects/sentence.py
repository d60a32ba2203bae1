"""What each factor explains, in one sentence, and what is to be known when reading it."""

import re
from collections.abc import Iterator, Sequence

from mydyno.core.factors import last_part
from mydyno.core.plurals import counted
from mydyno.lab.analysis.bootstrap import Interval
from mydyno.lab.analysis.effects.effects import Effect, Effects

SET_ALONE = "No main effect is distinguished from noise"
NAMED = 5
"""Effects that the sentence names; the others are given as a sum."""
_WORTH_NAMING = 0.01
_WORTH_TELLING = 0.005


def sentence(of: Effects, differs: bool = False) -> str | None:
    """`array explains 71% of the variance in queries per second (95% CI 64 to 78), ..., noise 5%.`

    None where there is nothing to say. `differs`: the comparison of two points, which is another test, shows
    a difference; then this must not read as if there were none.
    """
    if not of.found:
        return None
    if of.noise is None:
        first, *others = [effect for effect in of.found if effect.factors][:NAMED]
        shares = ", ".join([f"{name(first)} {percent(first.share)}", *_others(others, [first])])
        return f"Not tested, {too_few_repetitions(of)}: {shares} of the variance in {of.metric.noun}."
    # What was set comes before the load under which it was measured.
    shown = sorted(of.shown, key=lambda effect: of.place in effect.factors)
    if not shown and differs:
        return (
            f"{percent(of.noise)} of the variance in {of.metric.noun} is noise (n={of.trials}): the analysis "
            "of variance, which tests all factors and loads together, needs more trials to show the "
            "difference that the comparison of the settings shows."
        )
    if not shown:
        return (
            "No factor is shown to explain more than the noise, which is "
            f"{percent(of.noise)} of the variance in {of.metric.noun} (n={of.trials})."
        )
    first, *others = shown
    named = [effect for effect in others if effect.share >= _WORTH_NAMING][: NAMED - 1]
    rest = [effect for effect in others if effect not in named]
    hidden = [effect for effect in of.found if not effect.shown]
    alone = f"{SET_ALONE}; " if of.place in first.factors and not differs else ""
    parts = [
        f"{alone}{name(first)} explains {percent(first.share)} of the variance in {of.metric.noun}"
        f"{_error(first.interval)}",
        *_others(named, [first]),
        *_sum(rest, "another effect" if len(rest) == 1 else counted(len(rest), "other effect")),
        *_sum(hidden, "effects not distinguished from noise"),
        f"noise {percent(of.noise)}",
    ]
    return f"{', '.join(parts)}."


def too_few_repetitions(of: Effects) -> str:
    """Why noise is not known: no point has a second trial, or too few have."""
    if not repeated(of):
        return "because no trial was repeated"
    return "because too few trials were repeated to estimate the noise"


def repeated(of: Effects) -> bool:
    """A point has a second trial."""
    return of.trials > of.combinations[0]


def _others(effects: Sequence[Effect], named: Sequence[Effect]) -> Iterator[str]:
    earlier = list(named)
    for effect in effects:
        alone = [each.factors[0] for each in earlier if len(each.factors) == 1]
        theirs = len(earlier) == 2 == len(alone) and set(effect.factors) == set(alone)
        yield f"{'their interaction' if theirs and not effect.also else name(effect)} {percent(effect.share)}"
        earlier.append(effect)


def _sum(effects: Sequence[Effect], called: str) -> Iterator[str]:
    share = sum(effect.share for effect in effects)
    if share >= _WORTH_TELLING:
        yield f"{called} {percent(share)}"


def screening(of: Effects) -> str | None:
    """What a design of few of the points finds out: which factors matter, in order, and what they may be
    taken for. None for designs whose points can be compared with each other, and without an answer.

    `1 of 11 factors affects queries per second: query_cache_type (ON over OFF: +32%).`
    """
    if of.design.points not in ("fraction", "plackett-burman") or not of.found or of.noise is None:
        return None
    shown = [effect for effect in of.shown if of.place not in effect.factors]
    mains = [effect for effect in shown if len(effect.factors) == 1]
    factors = sum(len(effect.factors) == 1 and of.place not in effect.factors for effect in of.found)
    if not mains:
        return f"None of {factors} factors is shown to affect {of.metric.noun} (n={of.trials})."
    affect = "affects" if len(mains) == 1 else "affect"
    largest_first = " (largest first)" if len(mains) > 1 else ""
    effects = "; ".join(_screened(effect, of.design.aliases) for effect in mains)
    pairs = "".join(f"; also {name(effect)}" for effect in shown if len(effect.factors) == 2)
    return f"{len(mains)} of {factors} factors {affect} {of.metric.noun}{largest_first}: {effects}{pairs}."


def _screened(effect: Effect, aliases: Sequence[str]) -> str:
    """`chunk (512K over 64K: +12%) or data×log, its alias`"""
    if len(effect.levels) == 2 and (change := _change(effect)) is not None:
        first, second = effect.levels
        text = f"{name(effect)} ({second.level} over {first.level}: {change})"
    else:
        text = name(effect)
    of_it = [text for left, _, text in (each.partition(" = ") for each in aliases) if left in effect.factors]
    return f"{text} or its alias {without_paths(of_it[0])}" if of_it else text


def _change(effect: Effect) -> str | None:
    """The second level over the first, in percent."""
    first, second = (level.value for level in effect.levels)
    return None if first is None or second is None else f"{100 * (second / first - 1):+.0f}%"


def without_paths(aliases: str) -> str:
    """`raid = cache×memory` of `storage.data.raid = server.cache×server.memory`."""
    return re.sub(r"[^\s×]+\.", "", aliases)


def name(effect: Effect) -> str:
    """`innodb_buffer_pool_size`; `the interaction of array and connections`; with those it may be instead."""
    if not effect.factors:
        return "all other interactions"
    if len(effect.factors) == 1:
        return short(effect.factors[0])
    pairs = [effect.factors, *effect.also]
    return "the interaction of " + " or of ".join(f"{short(one)} and {short(other)}" for one, other in pairs)


def short(factor: str) -> str:
    """The last part of its path, as titles have it; of each where several never vary apart."""
    return " or ".join(last_part(part) for part in factor.split(" or "))


def percent(share: float) -> str:
    """`71%`, `0.4%`, `less than 0.1%`"""
    if 0 < share < 0.001:
        return "less than 0.1%"
    return f"{_digits(100 * share)}%"


def _digits(value: float) -> str:
    return f"{value:.0f}" if value >= 0.95 or value == 0 else f"{value:.1f}"


def _error(interval: Interval | None) -> str:
    if interval is None:
        return ""
    return f" (95% CI {_digits(100 * interval.low)} to {_digits(100 * interval.high)})"


def remarks(of: Effects) -> tuple[str, ...]:
    """How the trials limit what can be said; empty where they do not."""
    if of.why is not None:
        return ()
    return (*_about_design(of), *_about_error(of), *_about_factors(of))


def _about_design(of: Effects) -> Iterator[str]:
    if of.design.points == "one-at-a-time":
        base = ", ".join(f"{short(factor)} = {level}" for factor, level in of.baseline.items())
        yield (
            f"Factors were changed one at a time from {base}: their interactions were not measured. Shares "
            "are those of a full design without interactions."
        )
    elif of.design.points == "plackett-burman":
        yield (
            "Main effects only: in a Plackett-Burman design each of them contains a part of every "
            "interaction of two other factors, so a small effect may be an interaction's."
        )
    elif of.design.points == "fraction" and of.design.aliases:
        yield (
            "A fraction of all points was measured; aliased effects: "
            f"{'; '.join(map(without_paths, of.design.aliases))}."
        )

    elif of.design.points == "all" and 2 * of.combinations[0] < of.combinations[1]:
        yield (
            f"Only {of.combinations[0]} of {of.combinations[1]} combinations of levels were measured: shares "
            "for all of them are extrapolated from those."
        )


def _about_error(of: Effects) -> Iterator[str]:
    if of.source == "interaction":
        yield (
            "Too few trials were repeated to estimate noise from them: the highest-order interaction is "
            "taken as noise, so shares and tests are conservative."
        )
    elif of.source == "lenth":
        yield (
            "No trial was repeated: noise is estimated from the sizes of the effects, most of which are "
            "assumed to be 0 (Lenth)."
        )
    elif of.source == "none":
        yield (
            "No trial was repeated"
            if not repeated(of)
            else "Too few trials were repeated to estimate the noise"
        ) + ": shares include noise, and no effect can be tested."


def _about_factors(of: Effects) -> Iterator[str]:
    for factor in of.confounded:
        yield f"{short(factor)} cannot be distinguished from the other factors or from blocks."
    for effect in of.found:
        if len(effect.factors) == 1 and " or " in effect.factors[0]:
            both = short(effect.factors[0]).replace(" or ", " and ")
            yield f"{both} always vary together: they are one factor here."
        if effect.durability is not None:
            labels = "; ".join(f"{level}: {label}" for level, label in effect.durability.items())
            yield f"Levels of {short(effect.factors[0])} differ in durability: {labels}."
    if of.constant:
        yield f"Only one level was measured of {', '.join(map(short, of.constant))}."
