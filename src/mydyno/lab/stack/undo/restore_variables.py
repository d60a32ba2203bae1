"""Restoring the global variables of a server that is not mydyno's."""

import os
import stat
from pathlib import Path
from typing import ClassVar, Literal

from pydantic import Field

from mydyno.core.errors import MydynoError, ServerError, UndoError
from mydyno.lab.stack.undo.base import WayBack
from mydyno.server.access import dbapi
from mydyno.server.access.address import External
from mydyno.server.access.login import Login, explained, login_of
from mydyno.server.variables import global_variables
from mydyno.server.variables.global_variables import Value, wait_until_resized
from mydyno.server.variables.setting_lock import SETTING_SECONDS, new_lock, take_lock

_PASSES = 2
"""Some variables bound others (innodb_io_capacity and its maximum): what was refused first is taken then."""


class RestoreVariables(WayBack):
    """Set each variable to its value of `before`, unless another session has changed it meanwhile.

    `server` names the files that the password is in, never the password. `ours` is what mydyno's values
    became on the server; None: they were about to be set, and nothing is known of them.
    """

    kind: Literal["restore-variables"] = "restore-variables"
    needs_receipt: ClassVar[bool] = True
    server: External
    before: dict[str, Value]
    ours: dict[str, Value] | None = None
    lock: str = Field(default_factory=new_lock)
    """Of the sessions that set these, one at a time (setting_lock.py)."""

    def carry_out(self) -> tuple[str, ...]:
        """Raises UndoError when the server cannot be reached, or does not take a value back."""
        self._refuse_strange_file()
        try:
            login = login_of(self.server)
        except MydynoError as error:
            raise UndoError(f"{self._server_name()}: {error.message}", error.hint) from error
        try:
            with login.connect(answer_seconds=SETTING_SECONDS) as connection, connection.cursor() as cursor:
                take_lock(cursor, self.lock)
                wait_until_resized(cursor)
                return self._restore(cursor, login)
        except ServerError as error:
            raise UndoError(f"{self._server_name()}: {error.message}", error.hint) from error
        except (dbapi.Error, OSError, RuntimeError) as error:
            what = explained(error, login, f"{', '.join(self.before)} could not be restored")
            hint = "run `mydyno cleanup` again when it answers; a restart also restores the values of my.cnf"
            raise UndoError(what.message, hint) from error

    def sentence(self) -> str:
        return f"made sure that {self._server_name()} has its old {', '.join(self.before)}"

    def _refuse_strange_file(self) -> None:
        """The password comes from a file that no other user could have written. Raises UndoError."""
        home = self.server.at_home
        named = home.defaults_file or home.password_file
        if named is None:
            return
        try:
            about = Path(named).stat()
        except OSError as error:
            raise UndoError(f"{self._server_name()}: cannot read {named}: {error.strerror}") from error
        others = about.st_uid not in (os.geteuid(), 0) or about.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
        if others or not stat.S_ISREG(about.st_mode):
            raise UndoError(
                f"{self._server_name()}: {named} could have been written by another user: it is not used",
                f"chown it to this user or root and chmod 600 {named}, then run `mydyno cleanup` again",
            )

    def _restore(self, cursor: dbapi.Cursor, login: Login) -> tuple[str, ...]:
        current = global_variables.read(cursor, self.before)
        foreign = {
            name
            for name, value in current.items()
            if value != self.before[name] and self.ours is not None and value != self.ours[name]
        }
        mine = [name for name in reversed(self.before) if name not in foreign]
        for _ in range(_PASSES):
            now = global_variables.read(cursor, mine)
            for name in mine:
                if now[name] != self.before[name]:
                    global_variables.write(cursor, name, self.before[name])
        now = global_variables.read(cursor, mine)
        if kept := [f"{name} = {self.before[name]}" for name in mine if now[name] != self.before[name]]:
            raise UndoError(f"{login.address} does not accept the old {', '.join(kept)}", "set it manually")
        return tuple(
            f"{name} of {self._server_name()} was {self.before[name]} and is {current[name]} now, which "
            "another session has set since: left unchanged"
            for name in self.before
            if name in foreign
        )

    def _server_name(self) -> str:
        return (
            self.server.description
            if self.server.defaults_file
            else f"the server at {self.server.description}"
        )
