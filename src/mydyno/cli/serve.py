"""`mydyno serve`: the lab in a browser."""

from __future__ import annotations

import sys
from contextlib import suppress
from functools import partial

from mydyno.cli import screen
from mydyno.cli.declare import option
from mydyno.cli.labs import LabOptions


def serve(
    lab: LabOptions = LabOptions(),
    listen: str = option(
        "--listen ADDRESS:PORT",
        "Where the pages are served; port 0 takes a free one.",
        default="127.0.0.1:8080",
    ),
    name: list[str] | None = option(
        "--name NAME", "Also answer to this name, as of a reverse proxy; may be given several times."
    ),
    allow_run: bool = option("--allow-run", "Runs can be started and stopped from the pages.", default=False),
) -> None:
    """Show the lab in a browser: all runs, a run while it is under way, reports, comparisons, trends.

    Prints the address to open, whose token is exchanged for a cookie. Reads the lab and changes nothing in
    it. Ends with Ctrl-C. See docs/how-to/serve.md for other machines and reverse proxies.

    ```text
    mydyno serve
    mydyno serve --lab /mnt/fast/lab --listen 127.0.0.1:0
    ```
    """
    from mydyno.lab.results.store import Lab
    from mydyno.serve import server
    from mydyno.serve.access import Access, kept_key
    from mydyno.serve.address import Names, bind, parse_listen
    from mydyno.serve.app import Pages
    from mydyno.serve.library import Library
    from mydyno.serve.starting import Runner

    wanted = parse_listen(listen)
    with lab.open():
        pass
    bound, where = bind(wanted)
    server.preload()
    access = Access(Names(where, tuple(name or ())), kept_key())
    opened = partial(Lab.open, write=False, trust=lab.trust)
    command = (sys.executable, "-m", "mydyno")
    runner = Runner(command, lab.folder, lab.trust) if allow_run else None
    if not where.loopback:
        screen.echo(
            f"warning: {where.host} can be reached from other machines, and the connection is not encrypted",
            err=True,
        )
    screen.echo(f"serving {lab.folder}: open {access.address}", err=True)
    with suppress(KeyboardInterrupt):
        server.serve(Pages(Library(lab.folder, opened), lab.trust, runner), access, bound)
