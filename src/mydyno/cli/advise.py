"""`mydyno advise`: what to change on a live system, with the evidence."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from mydyno.cli import options, outputs, screen
from mydyno.cli import reach as reaching

_All = Annotated[bool, typer.Option("--all", help="Also tell of the rules without a finding, and why.")]
_Out = Annotated[
    Path | None,
    typer.Option("--out", metavar="FILE", help="Also write the advice as JSON, for apply and prove."),
]


def add_to(app: typer.Typer) -> None:
    app.command()(advise)


@reaching.options
def advise(
    reach: reaching.Reach,
    as_json: options.AsJson = False,
    everything: _All = False,
    out: _Out = None,
    force: outputs.Force = False,
) -> None:
    """Look at a live server and its host, or at saved facts, and say what to change and why. Changes nothing.

    Findings come with the numbers and the arithmetic behind them, the lines to set in this release's own
    names, what they should bring, what they may cost, and whether a restart is needed. All of them fit
    together: the memory budget is worked out once for all (docs/how-to/advice.md).

    ```text
    mydyno advise
    mydyno advise --server mysql://monitor@db1 --password-file ~/.monitor --host ssh:admin@db1 --for 60
    mydyno advise --facts facts.json --out advice.json
    mydyno advise --json | jq '.findings[] | {rule, title}'
    ```
    """
    from mydyno.advisor import advise as advice_for
    from mydyno.advisor.report.advice_text import advice_lines
    from mydyno.cli.shown import show, width

    inputs = (reach.facts, reach.defaults_file, reach.password_file)
    file = outputs.Outputs(inputs, force).file("--out", out, outputs.ADVICE)
    system = reach.system()
    advice = advice_for(system, datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"))
    if file is not None:
        file.write(advice.to_json())
    if as_json:
        screen.echo_json(advice.to_json(), nl=False)
    else:
        show(advice_lines(advice, system, width(), everything, str(out) if out else None))
