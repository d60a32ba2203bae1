"""`mydyno load`: an ad-hoc load on any server, without an experiment file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mydyno.cli import options
from mydyno.core.errors import EXIT_INTERRUPTED, EngineError, UsageError
from mydyno.core.secrets import Secret

if TYPE_CHECKING:
    from mydyno.load.job import Target
    from mydyno.load.messages import Done, Hello, Message, PhaseEnd

_SERVER = "Server"
_LOAD = "Load"
_TABLES = "Tables"


def load(
    workload: Annotated[
        str,
        typer.Argument(
            help="oltp-point-select, oltp-read-only, oltp-read-write, oltp-write-only, smack-select-key or"
            " smack-update-select.",
            metavar="WORKLOAD",
            show_default=False,
        ),
    ],
    socket: Annotated[
        Path | None, typer.Option(help="Unix socket of the server.", rich_help_panel=_SERVER)
    ] = None,
    host: Annotated[str | None, typer.Option(help="Host of the server.", rich_help_panel=_SERVER)] = None,
    port: Annotated[
        int | None, typer.Option(help="Port of the server [default: 3306].", rich_help_panel=_SERVER)
    ] = None,
    user: Annotated[
        str | None, typer.Option(help="Account [default: root].", rich_help_panel=_SERVER)
    ] = None,
    defaults_file: Annotated[
        Path | None,
        typer.Option(help="Client option file with socket, user and password.", rich_help_panel=_SERVER),
    ] = None,
    password_file: Annotated[
        Path | None, typer.Option(help="File whose first line is the password.", rich_help_panel=_SERVER)
    ] = None,
    ask_password: Annotated[
        bool, typer.Option("--ask-password", help="Ask for the password.", rich_help_panel=_SERVER)
    ] = False,
    database: Annotated[
        str, typer.Option(help="Schema to work in; nothing is written outside it.", rich_help_panel=_SERVER)
    ] = "mydyno",
    connections: Annotated[
        int, typer.Option(min=1, max=100_000, help="Connections to hold.", rich_help_panel=_LOAD)
    ] = 8,
    seconds: Annotated[
        float, typer.Option(min=0.1, help="How long to measure.", rich_help_panel=_LOAD)
    ] = 10.0,
    warmup: Annotated[
        float, typer.Option(min=0.0, help="Seconds of load before measuring.", rich_help_panel=_LOAD)
    ] = 1.0,
    rounds: Annotated[
        int | None,
        typer.Option(
            min=1, help="Run this many transactions a connection instead of a time.", rich_help_panel=_LOAD
        ),
    ] = None,
    rate: Annotated[
        float | None,
        typer.Option(
            min=0.001,
            help="Open loop: transactions a second over all connections, latency from the intended start.",
            rich_help_panel=_LOAD,
        ),
    ] = None,
    poisson: Annotated[
        bool, typer.Option("--poisson", help="With --rate: Poisson arrivals.", rich_help_panel=_LOAD)
    ] = False,
    seed: Annotated[int, typer.Option(help="Seed of the random numbers.", rich_help_panel=_LOAD)] = 1,
    prepare: Annotated[
        str,
        typer.Option(
            help="if-missing: make the tables that are not there; create: make them anew; none.",
            rich_help_panel=_TABLES,
        ),
    ] = "if-missing",
    tables: Annotated[
        int | None, typer.Option(min=1, help="oltp: tables [default: 1].", rich_help_panel=_TABLES)
    ] = None,
    table_size: Annotated[
        int | None,
        typer.Option(min=1, help="oltp: rows a table [default: 10000].", rich_help_panel=_TABLES),
    ] = None,
    rows: Annotated[
        int | None, typer.Option(min=1, help="smack: rows [default: 90000].", rich_help_panel=_TABLES)
    ] = None,
    distribution: Annotated[
        str | None,
        typer.Option(
            help="oltp: special, uniform, gaussian or pareto [default: special].", rich_help_panel=_TABLES
        ),
    ] = None,
    prepared: Annotated[
        bool,
        typer.Option("--prepared", help="oltp: server-side prepared statements.", rich_help_panel=_LOAD),
    ] = False,
    as_json: options.AsJson = False,
) -> None:
    """Load any server for a while and print what it did.

    The password comes from --defaults-file, --password-file or --ask-password, never from the command
    line. Tables are made in the schema `mydyno` (see --database and --prepare) and are left there.

    ```text
    mydyno load oltp-read-only --socket /run/mysqld/mysqld.sock --connections 64 --seconds 10
    mydyno load oltp-read-write --defaults-file ~/.my.cnf --tables 4 --table-size 100000 --prepared
    mydyno load smack-select-key --host 127.0.0.1 --user bench --ask-password --rounds 100
    mydyno load oltp-point-select --socket /tmp/s.sock --rate 5000 --poisson --json
    ```
    """
    from mydyno.load import job as jobs

    target = _target(socket, host, port, user, database, defaults_file, password_file, ask_password)
    if poisson and rate is None:
        raise UsageError("--poisson needs --rate", "for example: --rate 5000 --poisson")
    if prepare not in ("none", "create", "if-missing"):
        raise UsageError(f"--prepare {prepare} is not known", "use none, create or if-missing")
    arrival = jobs.closed_loop() if rate is None else jobs.open_loop("poisson" if poisson else "fixed", rate)
    work = jobs.timed(warmup, seconds) if rounds is None else jobs.rounds(rounds)
    job = jobs.Job(
        target=target,
        seed=seed,
        workload=_workload(workload, tables, table_size, rows, distribution, prepared),
        prepare=prepare,
        phases=(jobs.Phase(connections=connections, arrival=arrival, work=work),),
    )
    hello, end, done = _drive(job, quiet=as_json)
    figures = result(workload, hello, end, done)
    typer.echo(json.dumps(figures, indent=2) if as_json else _as_text(figures, target.address))
    if done.exit == "interrupted":
        raise typer.Exit(EXIT_INTERRUPTED)
    if end.aborted:
        raise EngineError(f"the load ended early: {end.aborted}")
    if end.connections_reached < end.connections_asked:
        raise EngineError(
            f"only {end.connections_reached} of {end.connections_asked} connections could be opened"
            f" ({'; '.join(f'{code}: {text}' for code, text in end.error_examples.items())})",
            "raise max_connections on the server, or ask for fewer",
        )


def _target(
    socket: Path | None,
    host: str | None,
    port: int | None,
    user: str | None,
    database: str,
    defaults_file: Path | None,
    password_file: Path | None,
    ask_password: bool,
) -> Target:
    """Where to connect: the options given here win over the option file."""
    from mydyno.load import credentials
    from mydyno.load.job import Target

    file = credentials.read_option_file(defaults_file) if defaults_file else credentials.ClientOptions()
    if socket and (host or port):
        raise UsageError("--socket and --host exclude each other", "give one of them")
    if not (socket or host or port):
        socket, host, port = file.socket, file.host, file.port
        if socket and host in (None, "localhost"):
            host = port = None
    if not socket and not host:
        raise UsageError(
            "which server? neither --socket nor --host is given",
            "for a server on this machine: --socket /run/mysqld/mysqld.sock",
        )
    user = user or file.user or "root"
    password = file.password or Secret("")
    if password_file:
        password = credentials.read_password_file(password_file)
    elif ask_password:
        password = credentials.prompt(user)
    return Target(
        user=user,
        password=password,
        database=database,
        socket=socket if not host else None,
        host=host,
        port=(port or 3306) if host else None,
    )


def _workload(
    name: str,
    tables: int | None,
    table_size: int | None,
    rows: int | None,
    distribution: str | None,
    prepared: bool,
) -> dict[str, Any]:
    """The engine's workload object; options of the other family are refused rather than ignored."""
    from difflib import get_close_matches

    from mydyno.load import workloads

    if name not in workloads.NAMES:
        near = get_close_matches(name.replace("_", "-"), workloads.NAMES, 1)
        raise UsageError(
            f"there is no workload {name!r}" + (f"; did you mean {near[0]}?" if near else ""),
            f"the workloads are {', '.join(workloads.NAMES)}",
        )
    kind = workloads.kind(name)
    given: dict[str, dict[str, Any]] = {
        "sysbench": {
            "tables": tables,
            "table_size": table_size,
            "distribution": distribution,
            "prepared": prepared or None,
        },
        "smack": {"rows": rows},
    }
    for family, values in given.items():
        stray = [option for option, value in values.items() if value is not None]
        if family != kind and stray:
            raise UsageError(f"--{stray[0].replace('_', '-')} does not apply to {name}")
    return workloads.named(name, {k: v for k, v in given[kind].items() if v is not None})


def _drive(job: Any, quiet: bool) -> tuple[Hello, PhaseEnd, Done]:
    """Run the job, showing progress on standard error; Ctrl-C ends the phase early and keeps its figures."""
    import signal

    from mydyno.load import messages
    from mydyno.load.engine import Engine

    heard: dict[type, Message] = {}
    with Engine(job) as engine:
        before = signal.signal(signal.SIGINT, lambda number, frame: engine.request_stop())
        try:
            for message in engine:
                heard[type(message)] = message
                if not quiet:
                    _show(message)
        finally:
            signal.signal(signal.SIGINT, before)
    hello, end, done = (heard.get(kind) for kind in (messages.Hello, messages.PhaseEnd, messages.Done))
    if not (
        isinstance(hello, messages.Hello)
        and isinstance(end, messages.PhaseEnd)
        and isinstance(done, messages.Done)
    ):
        raise KeyboardInterrupt
    return hello, end, done


def _show(message: Message) -> None:
    from mydyno.load import messages

    match message:
        case messages.Hello():
            typer.echo(
                f"server {message.server_version}, seed {message.seed}, {message.reactors} reactors", err=True
            )
        case messages.Progress():
            typer.echo(f"preparing: {message.stage} {message.done} of {message.of}", err=True)
        case messages.Interval():
            seconds = (message.to_ns - message.from_ns) / 1e9
            p95 = "-" if message.p95_ns is None else f"{message.p95_ns / 1e6:.3f} ms"
            typer.echo(
                f"{message.to_ns / 1e9:6.1f}s  {message.connections} connections"
                f"  {message.queries / seconds:9.0f} queries/s  p95 {p95}  errors {message.errors}"
                + ("  (warm-up)" if message.warmup else ""),
                err=True,
            )
        case _:
            pass


def result(workload: str, hello: Hello, end: PhaseEnd, done: Done) -> dict[str, Any]:
    """The figures of one ad-hoc load, as --json prints them (docs/cli.md)."""
    from mydyno.trial.collect import phase_record

    phase = phase_record(end)
    return {
        "workload": workload,
        "server_version": hello.server_version,
        "seed": hello.seed,
        "connections": phase.connections_reached,
        "connections_asked": phase.connections_asked,
        "seconds": None
        if phase.measured_from_s is None or phase.measured_to_s is None
        else phase.measured_to_s - phase.measured_from_s,
        "queries": phase.queries,
        "transactions": phase.transactions,
        "queries_per_second": phase.queries_per_second,
        "transactions_per_second": phase.transactions_per_second,
        "errors": sum(phase.errors.values()) - end.retries,
        "errors_by_code": dict(phase.errors),
        "retries": end.retries,
        "reconnects": end.reconnects,
        "unanswered": end.unanswered,
        "latency_kind": phase.latency_kind,
        "latency": end.queries.latency.model_dump(exclude={"histogram"}),
        "transaction_latency": end.transactions.latency.model_dump(exclude={"histogram"}),
        "connect_latency": end.connects.latency.model_dump(exclude={"histogram"}),
        "statements": {
            kind: {
                "count": statement.count,
                "errors": statement.errors,
                "rows": statement.rows,
                "latency": statement.latency.model_dump(exclude={"histogram"}),
            }
            for kind, statement in end.statements.items()
        },
        "client_cpu_seconds": end.client_cpu.user_s + end.client_cpu.system_s,
        "client_cpu_user_seconds": end.client_cpu.user_s,
        "client_cpu_system_seconds": end.client_cpu.system_s,
        "client_peak_rss_bytes": done.peak_rss_bytes,
        "interrupted": end.interrupted,
        "aborted": end.aborted,
    }


def _as_text(figures: dict[str, Any], address: str) -> str:
    def rate(value: float | None) -> str:
        return "–" if value is None else f"{value:,.0f}"

    def ms(value: float | None) -> str:
        return "–" if value is None else f"{value / 1e6:.3f}"

    kind = "from sending" if figures["latency_kind"] == "service" else "from the intended start"
    rows = [("all queries", figures["queries"], figures["latency"])]
    rows += [(name, one["count"], one["latency"]) for name, one in figures["statements"].items()]
    rows.append(("transaction", figures["transactions"], figures["transaction_latency"]))
    rows.append(("connect", figures["connect_latency"]["count"], figures["connect_latency"]))
    seconds = figures["seconds"]
    lines = [
        f"{figures['workload']} on {figures['server_version']} at {address}",
        f"  {rate(figures['queries_per_second'])} queries/s, {rate(figures['transactions_per_second'])}"
        f" transactions/s over {'–' if seconds is None else f'{seconds:.1f}'} s with"
        f" {figures['connections']} of {figures['connections_asked']} connections (seed {figures['seed']})",
        f"  errors: {figures['errors']} {figures['errors_by_code'] or ''}".rstrip(),
        f"  client CPU: {figures['client_cpu_seconds']:.2f} s",
        "",
        f"  latency in ms, {kind}:",
        f"  {'':20}{'count':>11}{'mean':>10}{'p50':>10}{'p95':>10}{'p99':>10}{'p99.9':>10}{'max':>10}",
    ]
    for name, count, latency in rows:
        cells = (latency[k] for k in ("mean_ns", "p50_ns", "p95_ns", "p99_ns", "p999_ns", "max_ns"))
        lines.append(f"  {name:20}{count:>11,}" + "".join(f"{ms(cell):>10}" for cell in cells))
    return "\n".join(lines)


def add_to(app: typer.Typer) -> None:
    app.command()(load)
