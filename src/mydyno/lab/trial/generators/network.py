"""The network between a generator and the server, measured by the engine itself over the port of the load."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mydyno.lab.load import messages
from mydyno.lab.load.engine import Engine
from mydyno.lab.load.job import Job, Phase, Target, closed_loop, rounds, timed
from mydyno.lab.results.records import NetworkRecord
from mydyno.lab.trial.generators.driver import Generator, about, offset_of

_ROUNDS = 100
_CONNECTIONS = 4
"""Of the transfer: one would wait for the server between two results."""
_BYTES = 256 * 1024
"""Of a result, at most half of the server's max_allowed_packet."""
_SECONDS = 0.3


def measure_network(generator: Generator, target: Target, packet_bytes: int) -> NetworkRecord:
    """Takes about half a second; reads no table. `packet_bytes`: the server's max_allowed_packet.

    Raises EngineError with the name of the host.
    """
    with about(generator.name):
        return _measured(generator, target, min(_BYTES, packet_bytes // 2))


def _measured(generator: Generator, target: Target, size: int) -> NetworkRecord:
    host = generator.host
    asked = _run(generator, target, "DO 0", Phase(1, closed_loop(), rounds(_ROUNDS)))
    # On a slow network or a busy machine no result may end in time: then as long as one takes.
    for extent in (timed(0.0, _SECONDS), rounds(1)):
        transfer = Phase(_CONNECTIONS, closed_loop(), extent)
        sent = _run(generator, target, f"SELECT REPEAT('x', {size})", transfer)
        if sent.queries.count:
            break
    seconds, results = sent.measured_s, sent.queries.count
    facts = host.facts(Path("/"))
    return NetworkRecord(
        host=generator.name,
        cpus=facts.cpus,
        beside_server=generator.beside_server,
        round_trip_ns=asked.queries.latency.p50_ns,
        bytes_per_second=results * size / seconds if seconds and results else None,
        clock_error_s=offset_of(host).error,
    )


def _run(generator: Generator, target: Target, sql: str, phase: Phase) -> messages.PhaseEnd:
    """Raises EngineError when the server cannot be reached from there."""
    job = Job(
        target=target, seed=1, workload={"program": _program(sql)}, phases=(phase,), answer_within_s=20.0
    )
    with Engine(job, generator.host) as engine:
        (end,) = [message for message in engine if isinstance(message, messages.PhaseEnd)]
    return end


def _program(sql: str) -> dict[str, Any]:
    step = {"send": {"name": "statement", "sql": [sql]}}
    return {"name": "network", "transactions": [{"name": "statement", "steps": [step]}]}
