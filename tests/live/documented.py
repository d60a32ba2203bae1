"""The mydyno commands in README.md and docs/*.md, as a reader would type them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer
import typer.main

from mydyno.cli.main import app

ROOT = Path(__file__).parents[2]
_FENCED = re.compile(r"^```\w*\n(.*?)^```", re.MULTILINE | re.DOTALL)
_INDENTED = re.compile(r"(?:^    .+\n)+", re.MULTILINE)
_COMMAND = re.compile(r"\s*(?:\$ )?(?:sudo )?(mydyno(?: .*)?)")
_FOLDERS = re.compile(
    r"^ *(?:\$ )?(?:sudo )?mkdir (?:-m \S+ |-\w+ )*(.+?)(?:   .*| #.*| && .*)?$", re.MULTILINE
)
_CONTINUED = re.compile(r" *\\\n *")
_EXPLANATION = re.compile(r"\s{3,}.*")
_SAVED = re.compile(r"`([\w-]+\.yaml)`:\n\n```yaml\n(.*?)^```", re.MULTILINE | re.DOTALL)
_SHELL = {"|", ">", ">>", "<", "&&", ";"}


@dataclass(frozen=True)
class Documented:
    """A command, and the page that shows it."""

    page: str
    text: str

    def __str__(self) -> str:
        return f"{self.page}: {self.text}"

    def words(self) -> list[str]:
        """Its arguments, up to a pipe or a redirection of the shell."""
        lexer = shlex.shlex(self.text, posix=True, punctuation_chars="|><;&")
        lexer.whitespace_split = True
        words = list(lexer)[1:]
        end = next((place for place, word in enumerate(words) if word in _SHELL), len(words))
        return words[:end]

    @property
    def output(self) -> str | None:
        """The file that its standard output goes to."""
        match = re.search(r" > (\S+)", self.text)
        return match[1] if match else None


def pages() -> list[tuple[str, str]]:
    """Name and text of each."""
    paths = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    return [(page.name, page.read_text("utf-8")) for page in paths]


def documented() -> list[Documented]:
    """Every command of every page and of every command's help, once each, in the order of reading.

    docs/reference/cli.md shows the help too, with its lines broken.
    """
    texts = [(page, text) for page, text in pages() if page != "cli.md"]
    texts += [("help", text) for text in _helps(typer.main.get_command(app))]
    return list(dict.fromkeys(Documented(page, each) for page, text in texts for each in commands(text)))


def _helps(command: Any) -> Iterator[str]:
    yield command.help or ""
    for each in getattr(command, "commands", {}).values():
        yield from _helps(each)


def _blocks(markdown: str) -> list[str]:
    without_fences = _FENCED.sub("\n", markdown)
    return [match[1] for match in _FENCED.finditer(markdown)] + _INDENTED.findall(without_fences)


def folders(markdown: str) -> Iterator[str]:
    """What code blocks have their reader make with mkdir before mydyno runs."""
    for block in _blocks(markdown):
        for names in _FOLDERS.findall(block):
            yield from shlex.split(names)


def commands(markdown: str) -> Iterator[str]:
    """The commands in code blocks. What stands after three spaces explains them."""
    for block in _blocks(markdown):
        for line in _CONTINUED.sub(" ", block).splitlines():
            if match := _COMMAND.fullmatch(line):
                first, rest = match[1][:6], match[1][6:].lstrip()
                yield f"{first} {_EXPLANATION.sub('', rest)}".strip()


def files() -> dict[str, str]:
    """The files that the pages have their reader save, by name: a name, a colon, and the file."""
    found = [each for _, text in pages() for each in _SAVED.findall(text)]
    assert len(found) == len(dict(found)), "two pages have a file of the same name"
    return dict(found)


def parse(words: list[str]) -> None:
    """Has the real command line read the arguments, without doing anything. Raises what it raises."""
    command: Any = typer.main.get_command(app)
    context = typer.Context(command, info_name="mydyno")
    while hasattr(command, "list_commands"):
        command = command.get_command(context, words[0])
        if command is None:
            raise ValueError(f"mydyno has no command {words[0]}")
        context = typer.Context(command, info_name=words[0], parent=context)
        words = words[1:]
    command.make_context(command.name, list(words), parent=context.parent)
