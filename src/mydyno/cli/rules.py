"""`mydyno rules`: the rules behind advice, and what one of them finds on a system."""

from typing import Annotated

from mydyno.cli import completion
from mydyno.cli.application import Application
from mydyno.cli.declare import argument
from mydyno.cli.system_options import SystemOptions

commands = Application(name="rules", help="List and explain the rules behind advice.")


@commands.command("list")
def list_rules() -> None:
    """List the rules of advice, by the layer that they are about.

    ```text
    mydyno rules list
    ```
    """
    from mydyno.advisor.report.rule_text import list_lines
    from mydyno.cli.shown import show, width

    show(list_lines(width()))


@commands.command("show")
def show_rule(
    system: SystemOptions,
    rule: Annotated[str, argument("RULE", "A rule's name.", autocompletion=completion.rules)],
) -> None:
    """Explain a rule: what it checks and why, its benefit, its risk, its sources.

    With a server or saved facts it also shows what the rule finds there, or why it finds nothing, with the
    numbers.

    ```text
    mydyno rules show redo-capacity
    mydyno rules show redo-capacity --facts facts.json
    mydyno rules show redo-capacity --socket /run/mysqld/mysqld.sock
    ```
    """
    from mydyno.advisor import rule_of
    from mydyno.advisor.advice import allowed
    from mydyno.advisor.report.rule_text import rule_lines
    from mydyno.advisor.unknowns import Known
    from mydyno.apply.finding import Finding
    from mydyno.cli.shown import show, width

    named = rule_of(rule)
    if not system.is_given:
        show(rule_lines(named, width()))
        return
    facts = system.system()
    judged = Known.of(facts).judge(named)
    show(rule_lines(named, width(), allowed(facts, judged) if isinstance(judged, Finding) else judged))
