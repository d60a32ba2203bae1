"""The loop: heats of candidates against the leader, until the budget is spent.

Every decision is a function of the journal, so a search that was killed goes on where it stopped: a heat that
was begun is finished, and the lab measures only what is left of its round.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial

from mydyno import __version__
from mydyno.core.errors import UsageError
from mydyno.core.plurals import counted
from mydyno.core.units import format_bytes, format_duration
from mydyno.lab.plan.layers import changes_disks
from mydyno.lab.spec.search import number_of
from mydyno.server.program.chunks import POOL
from mydyno.tune import racing
from mydyno.tune.confirm import trials_to_confirm
from mydyno.tune.experiment import laid_over, settings_of, text
from mydyno.tune.history import (
    SERVER_CONFIG,
    Began,
    Candidate,
    Heat,
    HeatEnd,
    Measured,
    Round,
    Score,
    Settings,
)
from mydyno.tune.journal import Journal
from mydyno.tune.reduce import changes_of, short, trials_to_reduce
from mydyno.tune.samplers import Observation, proposals
from mydyno.tune.scores import logs_to_leader, measured, noise_of, scores, times
from mydyno.tune.screening import KEPT, PREDICTED, Screening
from mydyno.tune.screening import ORIGIN as SCREENING
from mydyno.tune.space import Point, Space, key_of
from mydyno.tune.task import Bench, Budget, Task, in_sound_order, trials_of

Say = Callable[[str], None]
_SEED_OF_HEATS = 7919
"""So that the heats' seeds are others than that of the experiment itself."""


@dataclass
class Search:
    """One search; `run` goes on until the budget is spent or the space has no more."""

    task: Task
    bench: Bench
    journal: Journal
    budget: Budget
    say: Say
    confirms: bool = True
    """The winner is confirmed and reduced afterwards, so heats end while there is time for that."""
    after_heat: Callable[[], None] = lambda: None

    def run(self) -> None:
        """Raises UsageError for a budget that is too small, MydynoError when nothing can be measured."""
        if not self.journal.events:
            self._check_budget()
            self.journal.append(
                Began(
                    mydyno=__version__,
                    name=self.task.base.name,
                    release=self.task.release,
                    fingerprint=self.task.fingerprint,
                    at=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
                    seconds=self.budget.lap(),
                )
            )
        else:
            self.say(f"continuing: {counted(self.tried, 'trial')} in {counted(len(self.heats), 'heat')}")
        while (heat := self.open_heat or self._next_heat()) is not None:
            self._race(heat)
            self.after_heat()

    # What the journal says.

    @property
    def heats(self) -> list[Heat]:
        return [each for each in self.journal.events if isinstance(each, Heat)]

    @property
    def rounds(self) -> list[Round]:
        return [each for each in self.journal.events if isinstance(each, Round)]

    @property
    def ends(self) -> list[HeatEnd]:
        return [each for each in self.journal.events if isinstance(each, HeatEnd)]

    @property
    def blocked(self) -> bool:
        """Whether servers have disturbed each other in slices."""
        return any(each.blocked for each in self.rounds)

    @property
    def open_heat(self) -> Heat | None:
        ended = {each.number for each in self.ends}
        return next((each for each in self.heats if each.number not in ended), None)

    @property
    def candidates(self) -> dict[int, Candidate]:
        start = self._candidate(0, "start", {})
        return {0: start} | {each.number: each for heat in self.heats for each in heat.candidates}

    @property
    def tried(self) -> int:
        return len(self.candidates) - 1

    @property
    def leader(self) -> int:
        return self.ends[-1].leader if self.ends else 0

    @property
    def spent_seconds(self) -> float:
        """Of all starts, as far as it is written."""
        return sum(each.seconds for each in self.journal.events if isinstance(each, Began | Round))

    def seconds_left(self) -> float:
        """Of the budget, for all that is still to be done; infinite without one in time."""
        return self.budget.seconds_left(self.spent_seconds)

    @property
    def scores(self) -> dict[int, Score]:
        stopped = frozenset(number for each in self.ends for number in each.stopped)
        return scores(self.candidates, self.rounds, self.task.search.objectives, stopped)

    @property
    def space(self) -> Space:
        """Without what a screening has dropped."""
        dropped = [path for each in self.ends for path in each.dropped]
        return self.task.space.without(dropped)

    @property
    def screening(self) -> Screening:
        """Around what led after the references."""
        leader = self.ends[0].leader if self.ends else 0
        return Screening(self.task.space, self.candidates[leader], self.task.defaults)

    # What is done next.

    def _next_heat(self) -> Heat | None:
        left = self._left()
        if left == 0:
            return None
        number = len(self.heats) + 1
        if number == 1 and (made := self._references()):
            # Whatever the budget: without them there is nothing to compare with.
            left = len(made)
        elif points := self.screening.points[self._tried(SCREENING) :]:
            made = self._over_leader(SCREENING, points[: self.task.search.candidates])
        else:
            made = self._proposed()
        first = self.tried + 1
        chosen = tuple(
            self._candidate(first + at, origin, settings) for at, (origin, settings) in enumerate(made[:left])
        )
        if not chosen:
            self.say("the space has no point that was not tried")
            return None
        heat = Heat(
            number=number,
            leader=self.leader,
            candidates=chosen,
            screening=all(each.origin == SCREENING for each in chosen),
        )
        self.journal.append(heat)
        return heat

    def _left(self) -> int:
        """Candidates that may still be begun."""
        if self.budget.seconds is not None and not self._has_time_for_a_heat():
            return 0
        if self.budget.trials is None:
            return self.task.search.candidates
        return max(0, self.budget.trials - self.tried)

    def _has_time_for_a_heat(self) -> bool:
        """Of the length of those before it, with confirmation and removal after it."""
        if not self.ends:
            return True
        after = self._seconds_each * self._trials_after
        if self.seconds_left() - after >= self.spent_seconds / len(self.ends):
            return True
        if after:
            self.say(f"the heats end: confirmation and removal take about {format_duration(after)}")
        return False

    @property
    def _trials_after(self) -> int:
        """Of confirmation and removal of the leader, or of one that changes what a screening keeps."""
        if not self.confirms:
            return 0
        changes = changes_of(self.task, self.candidates[self.leader])
        settings = max(len(changes), min(len(self.space), KEPT))
        return trials_to_confirm(self.task) + trials_to_reduce(self.task, settings)

    @property
    def _seconds_each(self) -> float:
        """Of a trial so far; 0 before the first."""
        rounds = [each for each in self.rounds if each.run]
        measured = sum(len(each.results) for each in rounds)
        return sum(each.seconds for each in rounds) / max(1, measured)

    def _measurements(self, screened: int, raced: int) -> float:
        """Of so many candidates, with those of the leader."""
        own = self.bench.hosts * screened + self.task.search.repeats * raced
        return own * (1 + 1 / self.task.search.candidates)

    def _check_budget(self) -> None:
        parts = ["the references"] if (least := len(self._references())) else []
        if points := self.screening.points:
            parts.append(f"a screening of {len(self.task.space)} settings")
            least += len(points)
        if self.budget.trials is not None and self.budget.trials < least:
            raise UsageError(
                f"--trials {self.budget.trials} is smaller than what comes before the search, "
                f"{counted(least, 'trial')}: {', and '.join(parts)}",
                f"--trials {least + 2 * self.task.search.candidates}, or a smaller space",
            )
        if self.budget.seconds is None:
            return
        seconds = self._seconds_at_least()
        if self.seconds_left() < seconds:
            parts += ["confirmation", "removal"] if self.confirms else []
            minutes = math.ceil(1.5 * seconds / 60)
            enough = f"{minutes}m" if minutes < 120 else f"{math.ceil(minutes / 60)}h"
            raise UsageError(
                f"the budget is smaller than what every search has, about {format_duration(seconds)}: "
                f"{', '.join(parts) or 'a trial of the start'}",
                f"--budget {enough}, a shorter workload.each, or a smaller space",
            )

    def _seconds_at_least(self) -> float:
        """Of references, screening, confirmation and removal, before anything is measured."""
        start = self._candidate(0, "start", {})
        made = [self._candidate(at, *each) for at, each in enumerate(self._references(), start=1)]
        racers = [start, *(each for each in made if self._refused(each) is None)]
        one_round, two_rounds = (self.bench.seconds(self._text(racers, 1, 1, rounds)) for rounds in (1, 2))
        each = (two_rounds - one_round) / len(racers)
        # What does not grow with the rounds is the loading of data, and the confirmation has other data.
        loading, datasets = one_round - each * len(racers), 2 if self.confirms else 1
        references = self.task.search.repeats * len(racers)
        screening = self._measurements(len(self.screening.points), 0)
        return loading * datasets + each * (references + screening + self._trials_after)

    def _references(self) -> list[tuple[str, Settings]]:
        """The first heat's; those that are the start itself are left out."""
        base, known = self.task.base, {key_of(settings_of(self.task.base, {}))}
        made: list[tuple[str, Settings]] = []
        for name, settings in self.task.references.items():
            key = key_of(settings_of(base, settings))
            if key not in known:
                known.add(key)
                made.append((name, settings))
        return made

    def _tried(self, origin: str) -> int:
        return sum(each.origin == origin for each in self.candidates.values())

    def _proposed(self) -> list[tuple[str, Settings]]:
        search, space, known = self.task.search, self.space, list(self.scores.values())
        made = []
        if self.screening.points and not self._tried(PREDICTED):
            error = noise_of(self.rounds, self.task.objective).sd
            predicted = self.screening.predicted(known, self.task.objective, error)
            made = self._over_leader(PREDICTED, predicted[: search.candidates])
        seen = [self._observation(each, space) for each in known if each.state != "unmeasured"]
        taken = {key_of(self._point(each.candidate, space)) for each in known}
        count, seed = search.candidates - len(made), self.task.base.seed
        shared = self.task.base.shares_disks
        costly = [each.path for each in space.dimensions if shared and changes_disks(each.path)]
        points = proposals(search.sampler, space, seen, taken, seed, count, costly)
        return [*made, *self._over_leader(search.sampler, points)]

    def _over_leader(self, origin: str, points: Sequence[Point]) -> list[tuple[str, Settings]]:
        """Settings outside of the space, those that a screening has dropped, and those that the point has as
        the leader has them stay exactly as they are: the nearest value of the space would change them."""
        leader = self.candidates[self.leader]
        known = {**self.task.defaults, **settings_of(self.task.base, leader.settings)}
        as_there = {path: value for path, value in leader.point.items() if path in known}
        return [
            (origin, laid_over(leader.settings, {k: v for k, v in point.items() if v != as_there.get(k)}))
            for point in points
        ]

    def _observation(self, score: Score, space: Space) -> Observation:
        point = self._point(score.candidate, space)
        values = tuple(score.ratios.get(each, 0.0) for each in self.task.search.objectives)
        return Observation(point, values if score.state == "measured" else None, len(score.violations))

    def _point(self, candidate: Candidate, space: Space) -> Point:
        return space.nearest({**self.task.defaults, **candidate.point})

    def _candidate(self, number: int, origin: str, settings: Settings) -> Candidate:
        configured = {**self.task.defaults, **settings_of(self.task.base, settings)}
        point: Point = self.task.space.nearest(configured)
        return Candidate(number=number, origin=origin, settings=dict(settings), point=dict(point))

    # One heat.

    def _race(self, heat: Heat) -> None:
        at_once, rounds = self.bench.hosts, self._rounds_of(heat)
        while True:
            own = [each for each in self.rounds if each.heat == heat.number]
            left = self._running(heat, own)
            if len(own) >= rounds or not left:
                break
            first = len(own) + 1
            self._measure(heat, range(first, min(first + at_once, rounds + 1)), left)
        self._end(heat)

    def _rounds_of(self, heat: Heat) -> int:
        """Where no test ends it early."""
        return self.bench.hosts if heat.screening else self.task.search.repeats

    def _running(self, heat: Heat, own: Sequence[Round]) -> list[Candidate]:
        """Those of the heat that neither failed nor were stopped."""
        noise = noise_of(self.rounds, self.task.objective)
        return [
            each
            for each in heat.candidates
            if not _has_failed(own, each.number)
            and not racing.is_worse(logs_to_leader(own, each.number, self.task.objective), noise)
        ]

    def _measure(self, heat: Heat, rounds: range, left: Sequence[Candidate]) -> None:
        """These rounds in one run, a block each."""
        leader = self.candidates[heat.leader]
        refused = {each.number: why for each in left if (why := self._refused(each)) is not None}
        racing_now = [each for each in left if each.number not in refused]
        failures = tuple(Measured(number=each, failure=why) for each, why in refused.items())
        if not racing_now:
            self.journal.append(
                Round(heat=heat.number, round=rounds[0], leader=heat.leader, results=failures)
            )
            return
        self.say(
            f"heat {heat.number}, {_numbered(rounds)}: {leader.title} against "
            + ", ".join(each.title.removeprefix("trial ") for each in racing_now)
            + self._time_left((self._rounds_of(heat) - rounds[0] + 1) * (len(racing_now) + 1))
        )
        racers, search = [leader, *racing_now], self.task.search
        made = partial(self._text, racers, heat.number, rounds[0], len(rounds))
        run, blocked = in_sound_order(self.bench.measure, made, self.blocked, self.say)
        trials, seconds = trials_of(run), self.budget.lap() / len(rounds)
        for number, block in zip(rounds, sorted({each.block for each in trials}), strict=True):
            own = [each for each in trials if each.block == block]
            results = failures + measured(own, racers, search.objectives, search.constraints, search.prices)
            self.journal.append(
                Round(
                    heat=heat.number,
                    round=number,
                    run=run.folder.name,
                    seconds=seconds,
                    leader=heat.leader,
                    results=results,
                    blocked=blocked,
                )
            )

    def _refused(self, candidate: Candidate) -> str | None:
        """Known before it is measured: too large a pool, or a value that the binary does not take."""
        configured = settings_of(self.task.base, candidate.settings)
        pool = number_of(configured.get(f"{SERVER_CONFIG}.{POOL}"))
        memory = self.task.search.constraints.memory
        if pool is not None and memory is not None and pool > memory:
            return f"memory: a pool of {format_bytes(int(pool))} of {format_bytes(memory)}"
        return self.bench.refused(self._text([candidate, self._other(candidate)], 0, 1))

    def _other(self, candidate: Candidate) -> Candidate:
        """A second level, which every factor needs."""
        return self.candidates[0 if candidate.number else 1]

    def _text(
        self,
        candidates: Sequence[Candidate],
        heat: int,
        number: int,
        rounds: int = 1,
        blocked: bool = False,
    ) -> str:
        only = len(candidates) == 1
        return text(
            self.task.base,
            f"heat-{heat}-{number}",
            candidates,
            question=f"Heat {heat} of the search {self.task.base.name}, "
            f"{_numbered(range(number, number + rounds))}",
            repeats=rounds,
            seed=self.task.base.seed + _SEED_OF_HEATS * heat + number,
            # One dataset for all heats: to load another takes as long as to measure a candidate.
            data_seed=self.task.base.seed,
            blocked=blocked,
            factor=not only,
        )

    def _end(self, heat: Heat) -> None:
        own = [each for each in self.rounds if each.heat == heat.number]
        objective = self.task.objective
        noise = noise_of(self.rounds, objective)
        logs = {each.number: logs_to_leader(own, each.number, objective) for each in heat.candidates}
        known = self.scores
        stopped = tuple(
            number
            for number, values in logs.items()
            if racing.is_worse(values, noise) and len(values) < self.task.search.repeats
        )
        better = [
            number
            for number, values in logs.items()
            if known[number].feasible and racing.is_better(values, noise)
        ]
        # A leader that breaks a constraint is no leader: the best that keeps them takes its place.
        if heat.leader in known and known[heat.leader].violations and not better:
            better = [number for number in logs if known[number].feasible]
        leader = max(better, key=lambda number: sum(logs[number]) / len(logs[number]), default=heat.leader)
        screened = heat.screening and self._tried(SCREENING) == len(self.screening.points)
        dropped = self.screening.dropped(list(known.values()), objective) if screened else ()
        self.journal.append(HeatEnd(number=heat.number, leader=leader, stopped=stopped, dropped=dropped))
        self._report(heat, leader, len(stopped))
        if screened:
            self._report_screening(known, dropped)

    def _report_screening(self, known: Mapping[int, Score], dropped: Sequence[str]) -> None:
        design, objective = self.screening, self.task.objective
        width = design.half_width(noise_of(self.rounds, objective).sd)
        self.say(f"screening: what the settings with the largest effects add, each +-{width:.1%}")
        changes = {each.path: each for each in design.dimensions}
        for path, effect in design.effects(list(known.values()), objective).items():
            if path not in dropped:
                change = f"{design.leader.point[path]} to {design.far(changes[path])}"
                self.say(f"  {short(path)}, {change}: {math.expm1(effect):+.1%}")

    def _report(self, heat: Heat, leader: int, stopped: int) -> None:
        known = self.scores
        failed = sum(known[each.number].state == "failed" for each in heat.candidates)
        parts = [f"heat {heat.number}: {self.candidates[leader].title} leads"]
        ratio = known[leader].ratio(self.task.objective)
        if leader and ratio is not None:
            parts[0] += f", {ratio:.2f} {times(self.task.objective)}"
        parts += [f"{count} {word}" for count, word in ((stopped, "stopped"), (failed, "failed")) if count]
        parts.append(
            counted(self.tried, "trial") + (f" of {self.budget.trials}" if self.budget.trials else "")
        )
        self.say("; ".join(parts))

    def _time_left(self, of_heat: int) -> str:
        """Of a budget in time, else of the heats; `of_heat`: measurements that this one still has."""
        if self.budget.seconds is not None:
            return f"; {format_duration(max(0, round(self.seconds_left())))} left"
        if self.budget.trials is None or not self._seconds_each:
            return ""
        later = max(0, self.budget.trials - self.tried)
        screened = min(later, len(self.screening.points) - self._tried(SCREENING))
        seconds = self._seconds_each * (of_heat + self._measurements(screened, later - screened))
        return f"; about {format_duration(max(1, round(seconds)))} left"


def _numbered(rounds: range) -> str:
    return f"round {rounds[0]}" if len(rounds) == 1 else f"rounds {rounds[0]} to {rounds[-1]}"


def _has_failed(rounds: Sequence[Round], number: int) -> bool:
    return any(each.number == number and each.failure for one in rounds for each in one.results)
