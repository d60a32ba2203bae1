"""A short run before the proof: which keys, and which share of the pool, miss it as the advised server did.

What a cache is worth depends on how often it is missed. The load's own keys may miss it far less often than
the advised server's statements did, and then more memory seems to be worth nothing. So `as it is` is driven
with several distributions of keys, and with a pool that is a half or a quarter of its share of the data, and
the one whose misses are nearest is taken. Where none is near, a note says so.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from mydyno.core.units import parse_duration
from mydyno.prove.condition import Condition
from mydyno.prove.experiment import Load, Proposal
from mydyno.prove.levels import AS_IT_IS, Level
from mydyno.prove.provable import CONFIG, Value
from mydyno.prove.shape import scaled_value
from mydyno.server.variables.row import same_meaning

POOL = "innodb_buffer_pool_size"
OPTION = "distribution"
"""The option of sysbench's workloads that says how keys are drawn."""
DEFAULT_KEYS = "special"
"""Its default."""
_MOST_SECONDS = 10.0
"""Of measuring each candidate: enough to distinguish misses of 2% from 17%."""
_NEAR = 1.25
"""Misses that differ by no more than this factor are alike."""
_LEAST = 1e-5
"""Shares of misses below it are as good as none."""


@dataclass(frozen=True)
class Candidate:
    """How keys are drawn, and how much of its share of the pool the load has."""

    keys: str
    pool_share: float = 1.0

    @property
    def name(self) -> str:
        return self.keys if self.pool_share == 1.0 else f"{self.keys} and {self.pool_share:g} of the pool"

    @property
    def level(self) -> str:
        """Of the pilot's experiment: what a workload does by itself is measured as it is."""
        return AS_IT_IS if self == CANDIDATES[0] else self.name


CANDIDATES = (
    Candidate(DEFAULT_KEYS),
    Candidate("pareto"),
    Candidate("uniform"),
    Candidate("uniform", 0.5),
    Candidate("uniform", 0.25),
)


@dataclass(frozen=True)
class Choice:
    """The result of the pilot."""

    candidate: Candidate
    misses: float
    """Share of page requests that went to the disk, with this candidate."""
    note: str


def pilot_of(proposal: Proposal, condition: Condition, has_keys: bool) -> Proposal | None:
    """The pilot's experiment. None where it has nothing to find: the misses are not known, no level changes
    what holds data on a server of ours, or the load has no choice of keys (`has_keys`)."""
    pool = pool_as_it_is(proposal)
    if condition.misses is None or not has_keys or pool is None or not proposal.common.warm:
        return None
    now = proposal.levels.now
    levels: list[Level] = []
    for candidate in CANDIDATES[1:]:
        values = _values(proposal.load, candidate, now.values, pool)
        # A pool that is as small as one can be has no half.
        if all(values != level.values for level in (now, *levels)):
            levels.append(Level(candidate.name, values))
    name = f"{proposal.name[:58]}-pilot"
    seconds = min(parse_duration(proposal.load.measure), _MOST_SECONDS)
    load = replace(proposal.load, measure=f"{seconds:g}s", repeats=1, until=None)
    return replace(
        proposal, name=name, load=load, levels=replace(proposal.levels, alone=(), together=tuple(levels))
    )


def pool_as_it_is(proposal: Proposal) -> str | None:
    value = proposal.levels.now.values.get(f"{CONFIG}{POOL}", proposal.common.config.get(POOL))
    return None if value is None else str(value)


def choose(misses_of: Mapping[str, float], wanted: float) -> Choice | None:
    """The candidate whose share of misses is nearest on the scale of ratios. `misses_of`: by level.

    None where no trial of the pilot is valid.
    """
    tried = [(option, misses_of[option.level]) for option in CANDIDATES if option.level in misses_of]
    if not tried:
        return None
    candidate, misses = min(tried, key=lambda pair: abs(_distance(pair[1], wanted)))
    return Choice(candidate, misses, "; ".join(_notes(candidate, misses, wanted, tried)))


def _notes(
    candidate: Candidate, misses: float, wanted: float, tried: Sequence[tuple[Candidate, float]]
) -> Iterator[str]:
    yield (
        f"{wanted:.2%} of page requests missed the buffer pool of the advised server, {misses:.2%} miss "
        f"it here with {candidate.name} keys"
    )
    if abs(_distance(misses, wanted)) > math.log(_NEAR):
        factor = math.exp(abs(_distance(misses, wanted)))
        less = misses < wanted
        yield (
            f"that is {'less' if less else 'more'} by a factor of {factor:.1f}, and the nearest of "
            f"{len(tried)} loads that were tried: memory has {'more' if less else 'less'} effect there "
            "than measured here"
        )


def _distance(one: float, other: float) -> float:
    return math.log(max(one, _LEAST) / max(other, _LEAST))


def _values(load: Load, candidate: Candidate, now: Mapping[str, Value], pool: str) -> dict[str, Value]:
    share = scaled_value(POOL, pool, candidate.pool_share)
    return {
        **now,
        f"{CONFIG}{POOL}": pool if same_meaning(share, pool) else share,
        f"workload.{load.workload}.{OPTION}": candidate.keys,
    }
