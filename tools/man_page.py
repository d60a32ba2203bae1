"""The manual page mydyno(1), made of the commands' own help as docs/reference/cli.md is."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import typer.main

from mydyno.cli.spellings import placeholder

FILES = {
    "lab/": "Results, unless --lab or MYDYNO_LAB names another folder.",
    "~/.cache/mydyno/": "Releases, guest images, kernels.",
    "/var/lib/mydyno/, ~/.local/state/mydyno/": "The journal of mydyno apply, for rollback.",
}


def render(app: typer.Typer, exit_codes: Iterable[Any], variables: Iterable[Any]) -> str:
    """The page in the macros of man(7)."""
    group = typer.main.get_command(app)
    lines = [
        r".\" Written by `make docs` from the commands' own help.",
        '.TH MYDYNO 1 "" mydyno "User Commands"',
        ".SH NAME",
        r"mydyno \- a dynamometer for MySQL and MariaDB",
        ".SH SYNOPSIS",
        r".B mydyno",
        r".I COMMAND",
        "[OPTIONS] [ARGUMENTS]",
        ".SH DESCRIPTION",
        *_text(group.help or ""),
        ".SH OPTIONS",
        *_parameters(group),
        ".SH COMMANDS",
        *(line for name, command in _commands(group) for line in _command(name, command)),
        ".SH EXIT STATUS",
        *(line for code in exit_codes for line in _item(_bold(f"{code:d}"), code.meaning)),
        ".SH ENVIRONMENT",
        *(line for variable in variables for line in _item(_bold(variable.name), variable.meaning)),
        ".SH FILES",
        *(line for name, meaning in FILES.items() for line in _item(_bold(name), meaning)),
        ".SH SEE ALSO",
        r".BR mysql (1),",
        r".BR mariadb (1),",
        r".BR mysqldumpslow (1)",
    ]
    return "\n".join(lines) + "\n"


def _commands(group: Any, above: str = "") -> Iterator[tuple[str, Any]]:
    for name, command in group.commands.items():
        yield f"{above}{name}", command
        if hasattr(command, "commands"):
            yield from _commands(command, f"{above}{name} ")


def _command(name: str, command: Any) -> Iterator[str]:
    yield f".SS {_escaped(f'mydyno {name}')}"
    yield from _text(command.help or "")
    yield from _parameters(command)


def _parameters(command: Any) -> Iterator[str]:
    """Arguments first, as they are written; an argument without a help has nothing to say."""
    arguments = [one for one in command.params if one.param_type_name == "argument"]
    options = [one for one in command.params if one.param_type_name == "option" and not one.hidden]
    for one in arguments:
        if one.help:
            name = one.metavar or one.name.upper()
            name = name if one.required else f"[{name}]"
            yield from _item(_italic(f"{name}..." if one.nargs != 1 else name), one.help + _default(one))
    for one in options:
        names = ", ".join(_bold(name) for name in (*one.opts, *one.secondary_opts))
        value = placeholder(one)
        yield from _item(names + (" " + _italic(value) if value else ""), (one.help or "") + _default(one))


def _default(one: Any) -> str:
    shown = one.show_default
    if isinstance(shown, str):
        return f" [default: {shown}]"
    plain = isinstance(one.default, str | int | float | Path) and not isinstance(one.default, bool)
    return f" [default: {one.default}]" if shown and plain else ""


def _item(tag: str, text: str) -> Iterator[str]:
    yield ".TP"
    yield tag
    yield _inline(" ".join(text.split()))


def _text(markdown: str) -> Iterator[str]:
    """Paragraphs, and fenced examples as they are."""
    for block in re.split(r"(```text\n.*?```)", inspect.cleandoc(markdown), flags=re.DOTALL):
        if block.startswith("```"):
            yield from (".PP", ".nf", ".RS 4")
            yield from (_line(line) for line in block.splitlines()[1:-1])
            yield from (".RE", ".fi")
            continue
        for paragraph in re.split(r"\n\s*\n", block.strip()):
            if paragraph:
                yield ".PP"
                yield _inline(" ".join(paragraph.split()))


def _inline(text: str) -> str:
    """Markdown's `code` becomes bold."""
    parts = re.split(r"`([^`]*)`", text)
    return _safe("".join(_bold(part) if place % 2 else _escaped(part) for place, part in enumerate(parts)))


def _line(text: str) -> str:
    return _safe(_escaped(text))


def _bold(text: str) -> str:
    return rf"\fB{_escaped(text)}\fR"


def _italic(text: str) -> str:
    return rf"\fI{_escaped(text)}\fR"


def _escaped(text: str) -> str:
    """A hyphen that is copied from the page is the one of the keyboard."""
    return text.replace("\\", r"\e").replace("-", r"\-").replace("~", r"\(ti").replace("^", r"\(ha")


def _safe(line: str) -> str:
    r"""A line that begins with a dot or an apostrophe would be a macro: `\&` is of no width."""
    return rf"\&{line}" if line.startswith((".", "'")) else line
