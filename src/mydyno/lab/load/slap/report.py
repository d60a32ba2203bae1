"""The report of mysqlslap, one block for each engine and number of clients, with our own lines below it."""

from dataclasses import asdict, dataclass
from typing import Any

from mydyno.core.plurals import plural
from mydyno.lab.load.failures import added
from mydyno.lab.load.messages import PhaseEnd


@dataclass(frozen=True)
class Pass:
    """One iteration. `seconds` is from the start of all clients to the end of the last one."""

    seconds: float
    statements: dict[str, int]
    statements_done: int
    p95_ms: float | None
    errors: dict[str, int]
    error_examples: dict[str, str]
    clients_reached: int
    interrupted: bool
    aborted: str | None

    @property
    def per_second(self) -> float | None:
        return self.statements_done / self.seconds if self.seconds else None


@dataclass(frozen=True)
class Block:
    """All iterations of one engine (None: the server's default) and one number of clients."""

    engine: str | None
    clients: int
    load_type: str
    per_client: int
    """As mysqlslap prints it: 0 without a number of queries."""
    passes: tuple[Pass, ...]

    @property
    def seconds(self) -> tuple[float, float, float]:
        """Average, least and most."""
        times = [one.seconds for one in self.passes]
        return sum(times) / len(times), min(times), max(times)

    @property
    def errors(self) -> dict[str, int]:
        return added(one.errors for one in self.passes)


def pass_of(end: PhaseEnd) -> Pass:
    started, ended = end.started_ns, end.ended_ns
    if end.measured_from_ns is not None and end.measured_to_ns is not None:
        started, ended = end.measured_from_ns, end.measured_to_ns
    p95 = end.queries.latency.p95_ns
    return Pass(
        seconds=(ended - started) / 1e9,
        statements={name: one.count for name, one in end.statements.items() if name != "connect"},
        statements_done=end.queries.count,
        p95_ms=None if p95 is None else p95 / 1e6,
        errors=end.errors,
        error_examples=end.error_examples,
        clients_reached=end.connections_reached,
        interrupted=end.interrupted,
        aborted=end.aborted,
    )


def as_text(block: Block, strict: bool) -> str:
    """The block with the blank line that ends it; under strict-compat without lines of our own."""
    average, least, most = block.seconds
    lines = ["Benchmark"]
    if block.engine:
        lines.append(f"\tRunning for engine {block.engine}")
    lines += [
        f"\tAverage number of seconds to run all queries: {average:.3f} seconds",
        f"\tMinimum number of seconds to run all queries: {least:.3f} seconds",
        f"\tMaximum number of seconds to run all queries: {most:.3f} seconds",
        f"\tNumber of clients running queries: {block.clients}",
        f"\tAverage number of queries per client: {block.per_client}",
    ]
    if not strict:
        lines += _own_lines(block)
    return "\n".join([*lines, ""])


def _own_lines(block: Block) -> list[str]:
    rates = [one.per_second for one in block.passes if one.per_second is not None]
    p95s = [one.p95_ms for one in block.passes if one.p95_ms is not None]
    errors = ", ".join(f"{code}: {count}" for code, count in sorted(block.errors.items())) or "0"
    lines = []
    if rates:
        mean = sum(rates) / len(rates)
        lines.append(f"\tStatements per second: {mean:,.0f} ({min(rates):,.0f} to {max(rates):,.0f})")
    if p95s:
        lines.append(f"\t95th percentile of a statement: {max(p95s):.3f} ms (largest of the iterations)")
    if any(one.interrupted or one.aborted for one in block.passes):
        done = block.passes[-1].statements_done
        lines.append(f"\tEnded early, after {done:,} {plural(done, 'statement')} of the last iteration")
    return [*lines, f"\tErrors: {errors}"]


def as_csv(block: Block) -> str:
    """The line of --csv: engine, load type, average, least, most, clients, queries per client."""
    times = ",".join(f"{value:.3f}" for value in block.seconds)
    return f"{block.engine or ''},{block.load_type},{times},{block.clients},{block.per_client}"


def figures(block: Block) -> dict[str, Any]:
    """The block as plain values for --json."""
    average, least, most = block.seconds
    return {
        "engine": block.engine,
        "clients": block.clients,
        "load_type": block.load_type,
        "queries_per_client": block.per_client,
        "seconds_average": average,
        "seconds_least": least,
        "seconds_most": most,
        "iterations": [{**asdict(one), "statements_per_second": one.per_second} for one in block.passes],
        "errors": sum(block.errors.values()),
        "errors_by_code": block.errors,
    }
