"""The `mydyno` command: its parts put together, arguments checked before any command reads them, errors
turned into messages and exit codes."""

import gc
import sys
from collections.abc import Iterable
from typing import Annotated

import typer

from mydyno.cli import (
    advise,
    apply,
    baseline,
    bundle,
    capture,
    cleanup,
    cloud,
    compare,
    datasets,
    digest,
    doctor,
    export,
    facts,
    gen_data,
    history,
    hosts,
    images,
    import_table,
    load,
    new,
    plan,
    prove,
    rehearse,
    replay,
    report,
    rollback,
    rules,
    run,
    runs,
    schema,
    screen,
    serve,
    servers,
    slowlog,
    synthesize,
    trace,
    trend,
    tune,
    variables,
    workload,
)
from mydyno.cli.application import Application
from mydyno.cli.declare import option
from mydyno.cli.spellings import Commands
from mydyno.core.errors import ExitCode, MydynoError, UsageError
from mydyno.core.interruption import interruptible

app = Application(
    name="mydyno",
    cls=Commands,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    help="""A dynamometer for MySQL and MariaDB.

Describe a machine and a load in one file; mydyno builds it, drives it, measures it, repeats it and says
with statistics what each choice buys.

```text
# what this machine can do
mydyno doctor
# what would be done, and how long it takes
mydyno plan experiments/thread-cache.yaml --size demo
# do it, and write the report
mydyno run experiments/thread-cache.yaml --size demo
mydyno load oltp-read-only --socket /run/mysqld/mysqld.sock --threads 64
```
""",
    epilog=f"Exit codes: {' · '.join(f'{code:d} {code.brief}' for code in ExitCode)}.",
)

PANELS = {
    "Experiments": (
        *(new.new, plan.plan, run.run, tune.tune, load.commands, workload.commands),
        *(gen_data.gen_data, schema.schema),
    ),
    "Results": (
        *(report.report, compare.compare, baseline.commands, trend.trend, runs.runs, serve.serve),
        *(import_table.import_, export.export, bundle.bundle, bundle.unbundle),
    ),
    "Advice": (
        *(facts.facts, advise.advise, rules.commands, prove.prove),
        *(apply.apply, rollback.rollback, history.history),
    ),
    "Queries": (
        *(digest.digest, slowlog.slowlog, capture.capture, trace.commands),
        *(replay.replay, rehearse.rehearse, synthesize.synthesize),
    ),
    "Machine": (
        *(doctor.doctor, cleanup.cleanup, hosts.commands, cloud.commands, servers.commands),
        *(variables.variables, images.commands, datasets.commands),
    ),
}
"""The commands as the help lists them: by what people do."""


def _show_version(wanted: bool) -> None:
    if wanted:
        from mydyno import __version__

        screen.echo(f"mydyno {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, option("--version", "Print the version and end.", callback=_show_version, is_eager=True)
    ] = False,
) -> None:
    pass


for panel, commands in PANELS.items():
    for command in commands:
        app.add(command, panel)


_DASHES = "‐‑‒–—―−"


def refuse_typographic_dashes(arguments: Iterable[str]) -> None:
    """Raises UsageError for an argument that begins with a dash as word processors make them.

    Commands copied from a page have them. mysqlslap ignores such an option, and then measures something else.
    """
    for argument in arguments:
        if argument[:1] in tuple(_DASHES):
            plain = "--" + argument.lstrip(_DASHES + "-")
            raise UsageError(
                f"{argument!r} begins with a typographic dash, so it is not an option",
                f"did you mean {plain}?",
            )


def main() -> None:
    """Run the command line; the exit code says how it ended (docs/reference/cli.md)."""
    # What a start loads stays until the end: looking for garbage among it took 8% of its CPU time.
    gc.set_threshold(20_000)
    screen.take_over()
    try:
        refuse_typographic_dashes(sys.argv[1:])
        with interruptible():
            app()
    except MydynoError as error:
        screen.echo(f"mydyno: {error.message}", err=True, fg=typer.colors.RED)
        if error.hint:
            screen.echo(f"  hint: {error.hint}", err=True)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        screen.echo("mydyno: interrupted", err=True)
        sys.exit(ExitCode.INTERRUPTED)
    except BrokenPipeError:
        screen.close()  # The reader of our output is gone (`mydyno ... | head`).
        sys.exit(0)
