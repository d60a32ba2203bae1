"""The number of concurrent statements beyond which throughput falls.

Up to some number of statements at work each one more adds to the throughput; beyond it they wait for CPUs
and for each other's locks, and throughput falls while latency grows. A guide of 2014 measured it on MySQL
5.5: constant up to 215 connections, falling beyond. The number is different on each machine, so it is
measured: the seconds in which the server was watched are sorted by Threads_running, and the third with most
of them is compared with the best third.

A thread pool (MariaDB, Percona Server) or a smaller pool of connections in the application keeps the number
of statements at work below it. A smaller max_connections does not: it refuses clients.
"""

from collections.abc import Sequence
from statistics import fmean, median, variance

from mydyno.advisor.rules import *
from mydyno.advisor.setting import in_force
from mydyno.survey.facts import Reading

_ENOUGH = 30
"""Readings: ten in each third."""
_FALL = 0.1
_ERRORS = 3.0
"""Standard errors of the difference: what chance alone does about once in a thousand times."""
_WIDER = 1.5
"""How many times as many statements must be at work, to be called more."""


@Rule(
    checks="statements/s compared with Threads_running, second by second",
    why="Statements beyond what the machine can run at once only wait for each other.",
    expected="more throughput and lower latency in the busiest seconds",
    risk="the cause may be other statements at those times; statements wait in the application instead",
    sources=(
        "N. Gunther, Guerrilla Capacity Planning, The Universal Scalability Law",
        "MariaDB Documentation, Thread Pool in MariaDB",
        "A Korean guide to max_connections and thread_cache, 2014: throughput falls beyond 215 connections",
    ),
)
def rule(system: System, _: Targets) -> Judgement:
    server = system.server
    readings = sorted(server.status.readings, key=lambda reading: reading.running)
    if len(readings) < _ENOUGH:
        return Unknown("throughput at different numbers of statements at once: watch for longer (--for 60s)")
    size = len(readings) // 3
    thirds = (readings[:size], readings[size:-size], readings[-size:])
    busiest, best = thirds[2], max(thirds, key=_throughput)
    most, least = _running(busiest), _running(best)
    if best is busiest or most < _WIDER * max(least, 1.0):
        return Fine(f"throughput does not fall up to {most:.0f} statements at once")
    fall = 1 - _throughput(busiest) / _throughput(best)
    error = (_squared_error(busiest) + _squared_error(best)) ** 0.5
    if fall < _FALL or _throughput(best) - _throughput(busiest) < _ERRORS * error:
        return Fine(f"throughput is about the same at {least:.0f} and at {most:.0f} statements at once")
    knee = max(reading.running for reading in best)
    cpus = system.host.cpu.count if system.host else None
    pooled = in_force(server, "thread_handling", "pool-of-threads")
    has_pool = server.has("thread_handling", "thread_pool_size") and not pooled
    return finding(
        title=f"Beyond {knee:.0f} statements at once throughput falls by {fall:.0%}",
        evidence=(
            f"{_throughput(best):,.0f} statements/s at about {least:.0f} at once,"
            f" {_throughput(busiest):,.0f} at about {most:.0f}: {fall:.0%} less",
            f"{len(readings)} readings, each third with {size}; standard error of the difference"
            f" {error:,.0f} statements/s",
            f"{cpus} CPUs: {knee / cpus:.1f} statements for each at the best" if cpus else None,
        ),
        recommendation=f"run no more than {knee:.0f} statements at once: "
        + ("a thread pool, or " if has_pool else "")
        + "smaller pools of connections in the application",
        changes=by_hand(
            f"limit the pools of all applications to {knee:.0f} connections in total"
            + (", or set thread_handling = pool-of-threads and restart" if has_pool else "")
        ),
        severity=Severity.MEDIUM,
        effect=better(
            "throughput",
            "medium",
            f"up to {_throughput(best) - _throughput(busiest):,.0f} statements/s more in the busiest "
            "seconds, and lower latency",
        ),
    )


def _throughput(readings: Sequence[Reading]) -> float:
    return fmean(reading.statements for reading in readings)


def _running(readings: Sequence[Reading]) -> float:
    return median(reading.running for reading in readings)


def _squared_error(readings: Sequence[Reading]) -> float:
    return variance(reading.statements for reading in readings) / len(readings)
