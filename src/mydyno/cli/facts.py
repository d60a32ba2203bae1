"""`mydyno facts`: a live server and its host, read into a file that advice can be given on elsewhere."""

from __future__ import annotations

from typing import Annotated

import typer

from mydyno.cli import reach as reaching
from mydyno.cli import screen

_Anonymous = Annotated[
    bool,
    typer.Option(
        "--anonymous",
        help="Replace names of hosts, schemas and tables, accounts and addresses; numbers and the server's"
        " own words stay.",
    ),
]


def add_to(app: typer.Typer) -> None:
    app.command()(facts)


@reaching.options
def facts(reach: reaching.Reach, anonymous: _Anonymous = False) -> None:
    """Read a live server and its host, and print what is known of them as JSON.

    Changes nothing. Passwords and what may be one are left out. What could not be read is told on standard
    error and kept in the facts, with what would let it be read.

    ```text
    mydyno facts > facts.json
    mydyno facts --server mysql://monitor@db1 --password-file ~/.monitor --host ssh:admin@db1 > facts.json
    mydyno facts --server /run/mysqld/mysqld.sock --for 60 --anonymous > facts.json
    mydyno advise --facts facts.json
    ```
    """
    from mydyno.survey.facts.anonymous import anonymous as anonymised

    system = reach.system()
    for unread in system.unread:
        hint = f" (hint: {unread.hint})" if unread.hint else ""
        screen.echo(f"not read: {unread.what}: {unread.why}{hint}", err=True)
    screen.echo_json((anonymised(system) if anonymous else system).to_json(), nl=False)
