"""Spaces, candidates and rounds of searches, as short as tests want them."""

from __future__ import annotations

from mydyno.tune.confirm import Compared, Confirmation
from mydyno.tune.history import Candidate, Heat, HeatEnd, Measured, Round
from mydyno.tune.reduce import Reduced, Worth
from mydyno.tune.result import Found
from mydyno.tune.scores import scores
from mydyno.tune.space import Dimension, Space

POOL, METHOD = "server.config.innodb_buffer_pool_size", "server.config.innodb_flush_method"
HANDLING, THREADS = "server.config.thread_handling", "server.config.thread_pool_size"

SPACE = Space(
    (
        Dimension(POOL, ("32M", "64M", "128M"), True),
        Dimension(METHOD, ("fsync", "O_DIRECT"), False),
        Dimension(HANDLING, ("one-thread-per-connection", "pool-of-threads"), False),
        Dimension(THREADS, (1, 2, 4), True, {HANDLING: ("pool-of-threads",)}),
    )
)


def candidate(number: int, origin: str = "tpe", **settings: object) -> Candidate:
    chosen = {f"server.config.{name}": value for name, value in settings.items()}
    return Candidate(number=number, origin=origin, settings=chosen, point=dict(SPACE.nearest(chosen)))


def round_of(heat: int, number: int, leader: int, **values: float | str | None) -> Round:
    """`t3=1200.0`: trial 3 had 1200 transactions a second; a text is why it failed; None: not measured."""
    results = []
    for name, value in values.items():
        own = int(name.removeprefix("t"))
        if isinstance(value, str):
            results.append(Measured(number=own, failure=value))
        else:
            results.append(Measured(number=own, values={} if value is None else {"throughput": value}))
    return Round(heat=heat, round=number, leader=leader, results=tuple(results), run=f"r{heat}", seconds=10.0)


def gain(name: str, ratio: float, outcome: str = "faster") -> Compared:
    return Compared(name, ratio, ratio * 0.95, ratio * 1.05, outcome, 5)


def found(confirmed: bool = True) -> Found:
    """Eight trials, of which the second was confirmed, with two of its three settings left."""
    candidates = {0: candidate(0, "start")}
    rounds = []
    for number in range(1, 9):
        pool = ("32M", "64M", "128M")[number % 3]
        candidates[number] = candidate(number, innodb_buffer_pool_size=pool, innodb_flush_method="fsync")
        value: float | str = "it ended with exit code 1" if number == 5 else 1000.0 + 100 * (number % 3)
        rounds.append(round_of(number, 1, 0, t0=1000.0, **{f"t{number}": value}))
    made = scores(candidates, rounds, ("throughput",))
    against = (gain("start", 1.4), gain("default", 1.5))
    refused = Confirmation(candidates[8], (gain("start", 1.01, "no-difference"),), "run", "it is not shown")
    held = Confirmation(candidates[2], against, "run", None, 2.5)
    worth = (
        Worth(POOL, "128M", gain("without pool", 1.3), True),
        Worth(METHOD, "fsync", gain("without method", 1.0, "no-difference"), False),
    )
    left = {POOL: "128M", "storage.data.scheduler": "none"}
    of_all = gain("all settings", 0.98, "no-difference")
    reduced = Reduced(left, worth, gain("start", 1.35), of_all, ("run",))
    return Found(
        name="example",
        release="MariaDB 10.11.19",
        at="2026-11-27T00:00:00Z",
        objectives=("throughput",),
        space=SPACE,
        constraints=("durability: durable",),
        scores=tuple(made.values()),
        heats=tuple(
            Heat(number=number, leader=0, candidates=(candidates[number],)) for number in range(1, 9)
        ),
        rounds=tuple(rounds),
        ends=tuple(HeatEnd(number=number, leader=0) for number in range(1, 9)),
        confirmations=(refused, held) if confirmed else (refused,),
        reduced=reduced if confirmed else None,
    )
