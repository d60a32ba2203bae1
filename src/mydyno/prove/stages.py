"""Which levels are measured in the time that there is, and in which order: pure.

The first question is whether the advice as a whole is worth it, so where not all fits into the
time of a first answer, `all together` against `as it is` is a separate run. Each finding alone follows in a
second run, in the order of the advice, as many as the time allows.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from mydyno.prove.experiment import Proposal
from mydyno.prove.levels import Level

FIRST_ANSWER_SECONDS = 600.0
"""Within it there is to be an answer, whatever time all of it takes."""

Seconds = Callable[[Proposal], float]
"""How long the plan of an experiment says that it takes."""


@dataclass(frozen=True)
class Stages:
    """The runs in their order, and the levels for which there is no time."""

    runs: tuple[Proposal, ...]
    left: tuple[Level, ...]
    seconds: float
    """What the runs take."""
    whole_seconds: float
    """What they and those that are left would take."""


def stages_of(proposal: Proposal, seconds_of: Seconds, within: float) -> Stages:
    """`within`: seconds for all runs together. The first run is made even where it takes longer than that."""
    whole = seconds_of(proposal)
    levels = proposal.levels
    if whole <= min(within, FIRST_ANSWER_SECONDS) or len(levels.all) == 2:
        return Stages((proposal,), (), whole, whole)
    first_level = (*levels.together, *levels.alone)[0]
    first = with_levels(proposal, (first_level,))
    others = [level for level in (*levels.alone, *levels.together) if level is not first_level]
    first_seconds = seconds_of(first)

    def second(count: int) -> Proposal:
        return with_levels(proposal, others[:count], "alone")

    costs = {count: seconds_of(second(count)) for count in range(1, len(others) + 1)}
    taken = max((count for count, cost in costs.items() if first_seconds + cost <= within), default=0)
    return Stages(
        runs=(first, second(taken)) if taken else (first,),
        left=tuple(others[taken:]),
        seconds=first_seconds + costs.get(taken, 0.0),
        whole_seconds=first_seconds + costs[len(others)],
    )


def with_levels(proposal: Proposal, wanted: Sequence[Level], suffix: str = "") -> Proposal:
    """The same experiment with `as it is` and these levels only."""
    levels = proposal.levels
    chosen = replace(
        levels,
        alone=tuple(level for level in levels.alone if level in wanted),
        together=tuple(level for level in levels.together if level in wanted),
    )
    name = f"{proposal.name[: 63 - len(suffix)]}-{suffix}" if suffix else proposal.name
    return replace(proposal, name=name, levels=chosen)
