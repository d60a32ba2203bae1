"""`mydyno facts`: a live server and its machine, read into a file for advice elsewhere."""

from pathlib import Path
from typing import Annotated

from mydyno.cli import outputs, screen
from mydyno.cli.declare import option
from mydyno.cli.system_options import SystemOptions

_Out = Annotated[Path | None, option("--out FILE", "The file to write.", show_default="standard output")]


def facts(
    system: SystemOptions,
    anonymous: bool = option(
        "--anonymous",
        "Replace names of hosts, schemas, tables, accounts and addresses; numbers stay.",
        default=False,
    ),
    out: _Out = None,
    force: outputs.Force = False,
) -> None:
    """Read a live server and its machine, and print the facts as JSON.

    Changes nothing. Passwords and what may be one are left out. What could not be read is reported on
    standard error and in the facts, with what would make it readable.

    ```text
    mydyno facts --out facts.json
    mydyno facts --host db1 --ask-password --ssh admin@db1 --out facts.json
    mydyno facts --for 60s --anonymous > facts.json
    mydyno advise --facts facts.json
    ```
    """
    from mydyno.survey.facts.anonymous import anonymous as anonymised

    inputs = (system.facts, system.defaults_file, system.password_file)
    file = outputs.Outputs(inputs, force).file("--out", out, outputs.FACTS)
    known = system.system()
    for unread in known.unread:
        hint = f" (hint: {unread.hint})" if unread.hint else ""
        screen.echo(f"not read: {unread.what}: {unread.why}{hint}", err=True)
    text = (anonymised(known) if anonymous else known).to_json()
    if file is not None:
        file.write(text)
    else:
        screen.echo_json_text(text, nl=False)
