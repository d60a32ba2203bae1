"""Data files of a `.smack` script: made by gen-data, checked, and read into dictionaries."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from mydyno.core.errors import MydynoError, ServerError, UsageError
from mydyno.document.problems import Problem, SpecErrors
from mydyno.load.smack.settings import Emit, Settings
from mydyno.workload.smack import dictionary as dictionaries
from mydyno.workload.smack import generate
from mydyno.workload.smack.dictionary import Dictionary
from mydyno.workload.smack.grammar import Script, Section
from mydyno.workload.smack.traps import Found, found


def folder(script: Script, settings: Settings) -> Path:
    return settings.datadir or Path(script.file).parent


def populate(table: Section, path: Path, settings: Settings, emit: Emit) -> None:
    """Make a table's data file when it is missing.

    Raises UsageError for a command that nobody allowed and for a file that does not fit its command,
    ServerError when the command fails or the file cannot be written.
    """
    text = table.text("gen_data_file")
    command = generate.parse_command(text)
    if path.exists():
        if command:
            _check(path, command, settings, emit)
        return
    emit("output", f"Populating data file '{path}'")
    if command:
        body = generate.lines(command.form, command.rows, settings.seed, settings.strict)
        _write(path, "".join(line + "\n" for line in body).encode())
    elif not text:
        raise UsageError(f"{path} is missing, and table {table.name} has no gen_data_file to make it")
    elif not settings.allow_commands:
        raise UsageError(
            f"table {table.name} wants the shell command {text!r} to be run for its data",
            "run it yourself into the data file, or allow it by --allow-commands",
        )
    else:
        emit("note", f"running {text!r}")
        done = subprocess.run(text, shell=True, stdout=subprocess.PIPE, check=False)
        if done.returncode:
            raise ServerError(f"{text!r} failed with exit code {done.returncode}")
        _write(path, done.stdout)


def _write(path: Path, data: bytes) -> None:
    """All of the file or nothing: half a file would be taken for a whole one the next time."""
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        part.write_bytes(data)
        part.rename(path)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise MydynoError(
            f"cannot write {path}: {error.strerror}", "name another folder by --datadir"
        ) from None


def _check(path: Path, command: generate.Command, settings: Settings, emit: Emit) -> None:
    lines = path.read_bytes().split(b"\n")[:-1]
    commas = command.form.commas
    problem = None
    if len(lines) != command.rows:
        problem = f"it has {len(lines)} lines, its gen-data command makes {command.rows}"
    elif any(line.count(b",") != commas for line in lines):
        problem = f"not all of its lines have {commas + 1} fields, as its gen-data command makes"
    if problem is None:
        return
    if settings.strict:
        emit("note", found("stale-data-file", None, problem).tell(str(path), strict=True))
        return
    raise UsageError(f"{path} is stale: {problem}", "remove it to have it made anew, or use --strict-compat")


def rows(path: Path) -> list[list[str | None]]:
    r"""The fields of each line, by the rules of LOAD DATA with commas: \N is NULL.

    Raises UsageError for a file that cannot be read as UTF-8 text.
    """
    try:
        lines = path.read_bytes().decode().split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot load {path}: {error}") from None
    if not lines[-1]:
        lines.pop()
    return [[None if field == "\\N" else field for field in line.split(",")] for line in lines]


def read_dictionary(section: Section, script: Script, settings: Settings) -> tuple[Dictionary, list[Found]]:
    """The dictionary with its words. Raises SpecErrors at its place when its file is missing or damaged."""
    match section.text("source_type"):
        case "list":
            return dictionaries.from_list(section, settings.strict)
        case "template":
            return dictionaries.from_template(section, script.file, settings.strict)
    path = folder(script, settings) / section.text("source")
    try:
        data = path.read_bytes()
    except OSError as error:
        place = section.place("source")
        message = f"the file {path} of dictionary {section.name} cannot be read: {error.strerror}"
        allowed = "a file in --datadir, which a table above makes, too, when the table is missing"
        raise SpecErrors([Problem(script.file, place, message, allowed=allowed)]) from None
    return dictionaries.from_file(section, data, script.file, settings.strict)
