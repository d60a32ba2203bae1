"""The `mydyno` command: its parts put together, errors turned into messages and exit codes."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from mydyno import __version__
from mydyno.cli import (
    advise,
    apply,
    baseline,
    bundle,
    cleanup,
    compare,
    datasets,
    digest,
    doctor,
    export,
    facts,
    gen_data,
    history,
    images,
    import_table,
    load,
    plan,
    prove,
    report,
    rollback,
    rules,
    run,
    runs,
    schema,
    screen,
    servers,
    slowlog,
    trend,
    variables,
    workload,
)
from mydyno.cli.application import Application
from mydyno.cli.arguments import refuse_typographic_dashes
from mydyno.core.errors import ExitCode, MydynoError
from mydyno.core.interruption import interruptible

app = Application(
    name="mydyno",
    cls=screen.Commands,
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
    "Experiments": (plan, run, load, workload, gen_data, schema),
    "Results": (report, compare, baseline, trend, runs, import_table, export, bundle),
    "Advice": (facts, advise, rules, prove, apply, rollback, history),
    "Queries": (digest, slowlog),
    "Machine": (doctor, cleanup, servers, variables, images, datasets),
}
"""The commands as the help lists them: by what people do."""


def _show_version(wanted: bool) -> None:
    if wanted:
        screen.echo(f"mydyno {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version and end."),
    ] = False,
) -> None:
    pass


for title, modules in PANELS.items():
    with app.panel(title):
        for module in modules:
            module.add_to(app)


def main() -> None:
    """Run the command line; the exit code says how it ended (docs/reference/cli.md)."""
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


if __name__ == "__main__":
    main()
