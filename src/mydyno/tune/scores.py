"""From the trials of a round to what each candidate was worth, and which constraints it broke. Pure."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from mydyno.core.units import bytes_or_none, format_bytes
from mydyno.lab.analysis.metrics import LATENCY_P99, QUERIES_PER_SECOND, SERVER_CPU, TRANSACTIONS_PER_SECOND
from mydyno.lab.analysis.metrics import Metric as Metric
from mydyno.lab.results.records import PhaseRecord, TrialRecord
from mydyno.lab.spec.search import FLOORS, Constraints, Prices
from mydyno.server.variables import catalogue
from mydyno.server.variables.durability import Level
from mydyno.server.variables.memory import MemorySum
from mydyno.tune.experiment import FACTOR
from mydyno.tune.history import Candidate, Measured, Round, Score, State
from mydyno.tune.racing import Noise, pooled

_BY_LABEL = {level.label: level for level in Level}
_FATAL = frozenset({"settings-in-force", "server-alive", "server-restart", "host-lost"})
"""Checks of a trial that speak against the candidate, not against the measurement: it ran with other settings
than those configured, or did not survive the load."""


def _cpu(phase: PhaseRecord) -> float | None:
    per_query = phase.costs.get(SERVER_CPU.name)
    if per_query is None or not phase.queries or not phase.transactions:
        return per_query
    return per_query * phase.queries / phase.transactions


_COST = "cost"
METRICS: Mapping[str, Metric] = {
    "throughput": TRANSACTIONS_PER_SECOND,
    "p99": LATENCY_P99,
    "cpu-per-transaction": Metric(
        "cpu_per_transaction", "CPU per transaction", "ns", "lower", _cpu, cost=True
    ),
    "cost": Metric(
        _COST, "cost per transaction", "", "lower", lambda phase: phase.costs.get(_COST), cost=True
    ),
}


def times(objective: str) -> str:
    """What follows a ratio to the start: 1.2 times a latency would be taken for a longer one."""
    return "times the start" if METRICS[objective].better == "higher" else "times as good as the start"


def metric_of(objective: str, trials: Sequence[TrialRecord]) -> Metric:
    """A load without transactions is measured by its queries."""
    phases = [phase for trial in trials for phase in trial.phases]
    if objective == "throughput" and phases and not any(each.transactions_per_second for each in phases):
        return QUERIES_PER_SECOND
    return METRICS[objective]


def measured(
    trials: Sequence[TrialRecord],
    candidates: Sequence[Candidate],
    objectives: Sequence[str],
    constraints: Constraints,
    prices: Prices | None = None,
) -> tuple[Measured, ...]:
    """What became of each candidate in one block. The first is the leader; after the loss of a host, trials
    on another host than the leader's count as not measured."""
    found, trials = [], priced(trials, prices)
    leading = _last(trials, candidates[0])
    metrics = {name: metric_of(name, trials) for name in objectives}
    for candidate in candidates:
        trial = _last(trials, candidate)
        if trial is None or (leading is not None and trial.host != leading.host):
            found.append(Measured(number=candidate.number))
        elif (reason := _failure(trial)) is not None:
            found.append(Measured(number=candidate.number, failure=reason))
        else:
            found.append(
                Measured(
                    number=candidate.number,
                    values=_values(trial, metrics),
                    violations=tuple(broken(trial, constraints)),
                )
            )
    return tuple(found)


def priced(trials: Sequence[TrialRecord], prices: Prices | None) -> Sequence[TrialRecord]:
    """The same with the price of what the server takes, per transaction, among the costs of each phase."""
    if prices is None:
        return trials
    return [_priced(trial, prices) for trial in trials]


def _priced(trial: TrialRecord, prices: Prices) -> TrialRecord:
    gib = 1 << 30
    fixed = prices.server + (prices.memory * memory_of(trial) + prices.disk * disk_of(trial)) / gib

    def with_cost(phase: PhaseRecord) -> PhaseRecord:
        cpu_ns = _cpu(phase) if prices.cpu else 0.0
        rate = phase.transactions_per_second or phase.queries_per_second
        if cpu_ns is None or not rate:
            return phase
        return replace(phase, costs={**phase.costs, _COST: fixed / rate + prices.cpu * cpu_ns / 1e9})

    return replace(trial, phases=tuple(map(with_cost, trial.phases)))


def _last(trials: Sequence[TrialRecord], candidate: Candidate) -> TrialRecord | None:
    """The candidate's last attempt."""
    own = [trial for trial in trials if trial.levels.get(FACTOR) == candidate.title]
    return max(own, key=lambda each: each.attempt, default=None)


def _failure(trial: TrialRecord) -> str | None:
    """Why the candidate itself is of no use; None where it was measured, or may be another time."""
    for reason in trial.invalidities:
        if not trial.measured or reason.check in _FATAL:
            return reason.message.splitlines()[0]
    return None


def _values(trial: TrialRecord, metrics: Mapping[str, Metric]) -> dict[str, float]:
    """Geometric means over the phases; a trial that is not valid has none."""
    if trial.status != "valid":
        return {}
    values = {}
    for name, metric in metrics.items():
        each = [value for phase in trial.phases if (value := metric.value(phase)) is not None and value > 0]
        if each and len(each) == len(trial.phases):
            values[name] = statistics.geometric_mean(each)
    return values


def broken(trial: TrialRecord, constraints: Constraints) -> Iterator[str]:
    """The constraints that the running server did not keep, a sentence each."""
    floor = FLOORS[constraints.durability]
    level = _BY_LABEL.get(trial.durability or "")
    if level is not None and level < floor:
        yield f"durability: {trial.durability}"
    if constraints.memory is not None and (taken := memory_of(trial)) > constraints.memory:
        yield f"memory: {format_bytes(taken)} of {format_bytes(constraints.memory)}"
    if constraints.disk is not None and (files := disk_of(trial)) > constraints.disk:
        yield f"disk: {format_bytes(files)} of {format_bytes(constraints.disk)}"
    slowest = max((phase.latency.p99_ns or 0 for phase in trial.phases), default=0) / 1e9
    if constraints.p99 is not None and slowest > constraints.p99:
        yield f"p99: {slowest * 1e3:.1f} ms of {constraints.p99 * 1e3:g} ms"


def memory_of(trial: TrialRecord) -> int:
    """Bytes that the server may take with the connections of the load, by its settings in force."""

    def sizes(names: Sequence[str]) -> tuple[tuple[str, int], ...]:
        read = ((name, bytes_or_none(trial.settings_in_force.get(name, ""))) for name in names)
        return tuple((name, size) for name, size in read if size)

    connections = max((phase.connections_asked for phase in trial.phases), default=0)
    table = catalogue()
    return MemorySum(
        sizes(table.of_memory("once")), sizes(table.of_memory("each connection")), connections
    ).total


def disk_of(trial: TrialRecord) -> int:
    """Bytes of the data files and of the redo log at its full size."""
    in_force = trial.settings_in_force
    redo = bytes_or_none(in_force.get("innodb_redo_log_capacity", ""))
    if redo is None:
        one = bytes_or_none(in_force.get("innodb_log_file_size", "")) or 0
        redo = one * (bytes_or_none(in_force.get("innodb_log_files_in_group", "1")) or 1)
    data = trial.data.file_bytes if trial.data is not None else None
    return redo + (data or 0)


def logs_to_leader(rounds: Sequence[Round], number: int, objective: str) -> list[float]:
    """The logarithm of the candidate's ratio to the leader, of each round that has both; larger is better."""
    logs = []
    for each in rounds:
        by_number = {result.number: result for result in each.results}
        own, leader = by_number.get(number), by_number.get(each.leader)
        one = own.values.get(objective) if own else None
        other = leader.values.get(objective) if leader else None
        if one and other:
            sign = 1 if METRICS[objective].better == "higher" else -1
            logs.append(sign * math.log(one / other))
    return logs


def noise_of(rounds: Sequence[Round], objective: str) -> Noise:
    """Pooled over all candidates that were measured more than once against the same leader."""
    pairs = {
        (each.leader, result.number)
        for each in rounds
        for result in each.results
        if result.number != each.leader
    }
    groups = []
    for leader, number in sorted(pairs):
        own = [each for each in rounds if each.leader == leader]
        groups.append(logs_to_leader(own, number, objective))
    return pooled(groups)


def scores(
    candidates: Mapping[int, Candidate],
    rounds: Sequence[Round],
    objectives: Sequence[str],
    stopped: frozenset[int] = frozenset(),
) -> dict[int, Score]:
    """Every candidate's score against the start: its ratio to its leader times that leader's own score."""
    made: dict[int, Score] = {}
    noise = noise_of(rounds, objectives[0])
    for number, candidate in candidates.items():
        made[number] = _score(candidate, rounds, objectives, noise, made, number in stopped)
    return made


def _score(
    candidate: Candidate,
    rounds: Sequence[Round],
    objectives: Sequence[str],
    noise: Noise,
    known: Mapping[int, Score],
    stopped: bool,
) -> Score:
    """Leaders come before those that are measured against them: their numbers are smaller."""
    number = candidate.number
    results = [each for one in rounds for each in one.results if each.number == number]
    violations = tuple(dict.fromkeys(text for each in results for text in each.violations))
    failure = next((each.failure for each in reversed(results) if each.failure), None)
    if number == 0:
        n = sum(bool(each.values) for each in results)
        state: State = "measured" if n else "unmeasured"
        ratios = dict.fromkeys(objectives, 0.0) if n else {}
        return Score(candidate, state, ratios, n, 0.0 if n else None, violations, failure)
    own = [each for each in rounds if each.leader != number]
    ratios, n = {}, 0
    for objective in objectives:
        logs = []
        for each in own:
            offset = known[each.leader].ratios.get(objective) if each.leader in known else None
            logs += [log + (offset or 0.0) for log in logs_to_leader([each], number, objective)]
        if logs:
            ratios[objective] = statistics.fmean(logs)
            n = max(n, len(logs))
    if objectives[0] not in ratios:
        unmeasured: State = "failed" if failure else "unmeasured"
        return Score(candidate, unmeasured, {}, 0, None, violations, failure, stopped)
    if failure:
        return Score(candidate, "failed", {}, n, None, violations, failure, stopped)
    return Score(candidate, "measured", ratios, n, noise.sd / math.sqrt(n), violations, None, stopped)
