"""`mydyno explain`: the rules behind advice, and what one of them says of a system."""

from __future__ import annotations

from typing import Annotated

import typer

from mydyno.cli import completion
from mydyno.cli import reach as reaching

_Rule = Annotated[
    str | None,
    typer.Argument(
        metavar="[RULE]",
        help="A rule's name. Without it: all rules.",
        show_default=False,
        autocompletion=completion.rules,
    ),
]


def add_to(app: typer.Typer) -> None:
    app.command()(explain)


@reaching.options
def explain(reach: reaching.Reach, rule: _Rule = None) -> None:
    """List the rules of advice, or explain one: what it checks, why, what it brings and risks, its sources.

    With a server or saved facts it also says what the rule finds there or why it finds nothing, with the
    numbers.

    ```text
    mydyno explain
    mydyno explain redo-capacity
    mydyno explain redo-capacity --facts facts.json
    mydyno explain redo-capacity --server /run/mysqld/mysqld.sock
    ```
    """
    from mydyno.advisor import rule_of
    from mydyno.advisor.advice import allowed
    from mydyno.advisor.report.rule_text import list_lines, rule_lines
    from mydyno.advisor.unknowns import Known
    from mydyno.apply.finding import Finding
    from mydyno.cli.shown import show, width
    from mydyno.core.errors import UsageError

    asked = reach.server or reach.defaults_file or reach.facts
    if rule is None:
        if asked:
            raise UsageError(
                "which rule is to be explained for this system?",
                "mydyno explain RULE ..., or mydyno advise ... --all for all of them",
            )
        show(list_lines(width()))
        return
    found = rule_of(rule)
    if not asked:
        show(rule_lines(found, width()))
        return
    system = reach.system()
    judged = Known.of(system).judge(found)
    show(rule_lines(found, width(), allowed(system, judged) if isinstance(judged, Finding) else judged))
