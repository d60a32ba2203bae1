"""The options by which commands find a server and its machine, or the facts that were saved of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from mydyno.cli.declare import option, option_group
from mydyno.cli.inputs import facts_of
from mydyno.cli.login_options import LoginOptions
from mydyno.cli.quantities import Duration, duration
from mydyno.core.errors import UsageError

if TYPE_CHECKING:
    from mydyno.survey.facts import System
    from mydyno.survey.host.machine import Machine

_SSH = re.compile(r"(?:ssh:(?://)?)?(?P<target>[^\s:/-][^\s:/]*)(?::(?P<port>\d{1,5}))?")

_WATCHED = Duration(10)


@option_group
class MachineOptions(LoginOptions):
    """A server and the machine that it runs on."""

    ssh: str | None = option(
        "--ssh USER@HOST",
        "The server's machine, by SSH with a key; local: this one; none: leave it out. Default: this"
        " one, if the server's process is seen here.",
    )

    @contextmanager
    def machine(self) -> Iterator[Machine | None]:
        """The machine that --ssh names; None without one."""
        from mydyno.survey.host.machine import LocalMachine
        from mydyno.survey.host.ssh import SshMachine

        if self.ssh is None or self.ssh == "none":
            yield None
        elif self.ssh == "local":
            yield LocalMachine()
        elif (match := _SSH.fullmatch(self.ssh)) is not None:
            port = int(match["port"]) if match["port"] else None
            with closing(SshMachine(match["target"], port)) as remote:
                yield remote
        else:
            raise UsageError(
                f"--ssh {self.ssh}: not a machine that can be read",
                "--ssh USER@HOST or USER@HOST:PORT, --ssh local, or --ssh none",
            )


@option_group
class SystemOptions(MachineOptions):
    """A server and its machine, or the facts that were saved of them."""

    other_ways = ", or --facts FILE"

    facts: Path | None = option("--facts FILE", "Facts that `mydyno facts` wrote, instead of a live system.")
    seconds: Duration = duration(
        "--for", "How long to watch the server's counters; Ctrl-C ends it early.", default=_WATCHED
    )
    measure: bool = option(
        "--measure",
        "Measure the data's disk with fio: half a minute of reads and writes in a file of at most 1G,"
        " which is removed at the end.",
        default=False,
    )

    @property
    def is_given(self) -> bool:
        return self.facts is not None or super().is_given

    def system(self) -> System:
        """The facts: read from the file, or surveyed now, with progress on standard error.

        Raises UsageError, ServerError, HostError, MissingToolError.
        """
        if self.facts is not None:
            return self._saved(self.facts)
        from mydyno.advisor.registry import variables
        from mydyno.cli.progress import showing_progress
        from mydyno.survey import survey

        login = self.login()
        with showing_progress() as show, self.machine() as machine:
            return survey(
                login,
                machine,
                settable=variables(),
                without_host=self.ssh == "none",
                seconds=self.seconds,
                measured=self.measure,
                report=show,
            )

    def _saved(self, path: Path) -> System:
        live = ("server", "socket", "host", "port", "defaults_file", "ssh", "measure")
        given = [name for name in live if getattr(self, name)]
        if given:
            raise UsageError(
                f"--facts and --{given[0].replace('_', '-')} exclude each other", "give one of them"
            )
        return facts_of(path)
