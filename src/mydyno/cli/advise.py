"""`mydyno advise`: what to change on a system, with the evidence."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

from mydyno.cli import options, outputs, screen
from mydyno.cli.declare import option
from mydyno.cli.system_options import SystemOptions

_All = Annotated[bool, option("--all", "Also list the rules without a finding, and why.")]
_Out = Annotated[Path | None, option("--out FILE", "Also write the advice as JSON, for apply and prove.")]
_Html = Annotated[Path | None, option("--html FILE", "Also write a page for a browser.")]


def advise(
    target: SystemOptions,
    as_json: options.AsJson = False,
    everything: _All = False,
    out: _Out = None,
    html: _Html = None,
    force: outputs.Force = False,
) -> None:
    """Say what to change on a server and its machine, and why. Changes nothing.

    Reads a live system or saved facts. Findings come with the numbers and the arithmetic behind them, the
    lines to set for this release, the expected benefit, the risk, and whether a restart is needed. They are
    consistent with each other: there is one memory budget for all of them (docs/how-to/advice.md).

    ```text
    mydyno advise
    mydyno advise --host db1 --ask-password --ssh admin@db1 --for 60s
    mydyno advise --facts facts.json --out advice.json --html advice.html
    mydyno advise --json | jq '.findings[] | {rule, title}'
    ```
    """
    from mydyno.advisor import advise as advice_for
    from mydyno.advisor.report.advice_text import advice_lines
    from mydyno.cli.shown import show, width

    inputs = (target.facts, target.defaults_file, target.password_file)
    written = outputs.Outputs(inputs, force)
    file = written.file("--out", out, outputs.ADVICE)
    page = written.file("--html", html, outputs.PAGE)
    system = target.system()
    advice = advice_for(system, datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"))
    if file is not None:
        file.write(advice.to_json())
    if page is not None:
        from mydyno.advisor.report.page import advice_html

        page.write(advice_html(advice))
    if as_json:
        screen.echo_json_text(advice.to_json(), nl=False)
    else:
        show(advice_lines(advice, system, width(), everything, str(out) if out else None))
