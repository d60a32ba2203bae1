"""`mydyno variables`: what a server's variables are, mean and were before."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mydyno.cli import completion, options, screen
from mydyno.cli.declare import argument, option, option_group
from mydyno.core.errors import UsageError
from mydyno.core.server_release import SYSTEM

if TYPE_CHECKING:
    from mydyno.server.program.binary import ServerBinary


@option_group
class ReleaseOptions:
    """Which releases, and what is known of them."""

    release: str = option(
        "--release NAME",
        "The release (`mydyno servers list`).",
        autocompletion=completion.releases,
        default=SYSTEM,
    )
    changed_from: str | None = option(
        "--changed-from NAME",
        "Show instead what changed since this release: replaced, removed and added variables, and new "
        "defaults.",
        autocompletion=completion.releases,
    )
    ask_server: bool = option(
        "--ask-server",
        "Also start a temporary server of that release (a few seconds), for what its binary does not report: "
        "type, bounds, and what can be changed while it runs.",
        default=False,
    )


def variables(
    of: ReleaseOptions,
    pattern: str | None = argument(
        "PATTERN", "Part of a name, or a whole name, with * and ?; without it: all variables."
    ),
    as_json: options.AsJson = False,
) -> None:
    """Show server variables: default, unit, meaning, history, durability.

    Names and defaults come from the server's binary; the rest from mydyno's catalogue
    (docs/reference/variables.md). A full name shows everything that is known of a variable.

    ```text
    mydyno variables innodb_log
    mydyno variables query_cache_size --release mysql-5.6
    mydyno variables --release mysql-9.7 --changed-from mysql-5.6
    mydyno variables 'slave*' --json | jq '.[].becomes'
    ```
    """
    from mydyno.cli import variables_text as text
    from mydyno.lab.stack.server.ask_running import ask_running
    from mydyno.lab.stack.server.release_variables import matching
    from mydyno.server.releases import binary_of

    binary = binary_of(of.release)
    if of.changed_from is not None:
        if of.ask_server:
            raise UsageError(
                "--ask-server is for a single release", "leave out --changed-from or --ask-server"
            )
        _show_changes(binary_of(of.changed_from), binary, pattern, as_json)
        return
    reported = {}
    if of.ask_server:
        screen.echo(f"starting a temporary server of {binary.version}", err=True)
        reported = dict(ask_running(binary, binary.options))
    rows = matching(binary, pattern, reported)
    if not rows:
        nearest = text.nearest(pattern or "", binary)
        raise UsageError(
            f"no variable has {pattern!r} in its name", f"did you mean {nearest}?" if nearest else None
        )
    if as_json:
        screen.echo_json([text.as_json(binary, each) for each in rows])
    elif len(rows) == 1 or pattern in {each.name for each in rows}:
        (one,) = rows if len(rows) == 1 else [each for each in rows if each.name == pattern]
        screen.echo(text.render_one(binary, one), nl=False)
    else:
        screen.echo(text.render_list(binary, rows), nl=False)


def _show_changes(before: ServerBinary, after: ServerBinary, pattern: str | None, as_json: bool) -> None:
    from mydyno.cli import variables_text as text
    from mydyno.lab.stack.server.release_variables import changes

    changed = changes(before, after, pattern)
    if as_json:
        screen.echo_json(text.changes_json(before, after, changed))
    else:
        screen.echo(text.render_changes(before, after, changed), nl=False)
