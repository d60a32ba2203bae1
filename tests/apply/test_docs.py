"""docs/how-to/apply.md and docs/reference/safety.md name the files and folders that the code writes."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

from typer.main import get_command_from_info
from typer.models import CommandInfo

from mydyno.apply.edits import option_file, sysctl, tmpfiles, udev, unit
from mydyno.cli.login_options import LoginOptions
from mydyno.cli.main import app

DOCS = Path(__file__).parents[2] / "docs"
APPLY = (DOCS / "how-to" / "apply.md").read_text()
SAFETY = (DOCS / "reference" / "safety.md").read_text()


def test_every_file_of_mydyno_is_named() -> None:
    for path in (sysctl.PATH, tmpfiles.PATH, udev.PATH, unit.drop_in("UNIT"), option_file.NAME):
        assert path in APPLY
        assert Path(path).name in SAFETY


def test_every_option_of_the_commands_is_documented() -> None:
    reaching = {field.name.replace("_", "-") for field in fields(LoginOptions)}
    for name in ("apply", "rollback"):
        (command,) = [each for each in app.registered_commands if (each.name or _called(each)) == name]
        words = get_command_from_info(command, pretty_exceptions_short=True, rich_markup_mode=None).params
        options = {option for each in words for option in each.opts if option.startswith("--")}
        own = {option for option in options if option.removeprefix("--") not in reaching}
        assert own
        assert not [option for option in own if f"`{option}" not in APPLY], name


def _called(command: CommandInfo) -> str:
    return command.callback.__name__ if command.callback else ""
