"""The table, read once: every row under its name, checked against the others."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from functools import cache, cached_property
from importlib.resources import files

from pydantic import ValidationError, model_validator

from mydyno.core.nearest import several_nearest
from mydyno.core.record import Record
from mydyno.core.server_version import Version
from mydyno.server.variables.row import Memory, Row


class Catalogue(Record):
    """`variables` by name in the order of the file, and the `sources` that their facts are from."""

    sources: Mapping[str, str]
    """Key -> title and section."""
    variables: Mapping[str, Row]

    @model_validator(mode="after")
    def _whole(self) -> Catalogue:
        for name, row in self.variables.items():
            if name != name.lower() or "-" in name:
                raise ValueError(f"{name}: write it in small letters with underscores")
            if missing := [key for key in row.sources if key not in self.sources]:
                raise ValueError(f"{name}: no such source: {', '.join(missing)}")
            others = [each.name for each in row.becomes] + [each.by for each in row.becomes if each.by]
            others += [each.file for each in row.becomes if each.file]
            others += [each for loss in row.losses for each in (*loss.only_with, *loss.not_with)]
            if lost := [other for other in others if other not in self.variables]:
                raise ValueError(f"{name} names {', '.join(lost)}, of which there is no row")
        return self

    def get(self, name: str) -> Row | None:
        """The row of the variable with this plain name."""
        return self.variables.get(name)

    def __contains__(self, name: object) -> bool:
        return name in self.variables

    def of_memory(self, memory: Memory) -> tuple[str, ...]:
        """The variables that take memory in this way, in the order of the file."""
        return tuple(name for name, row in self.variables.items() if row.memory == memory)

    @cached_property
    def shaping(self) -> frozenset[str]:
        """The variables that shape the files of a dataset."""
        return frozenset(name for name, row in self.variables.items() if row.shapes_files)

    def names_of(self, version: Version) -> Iterator[str]:
        """Those that a binary of this release lists, as far as the table knows."""
        return (name for name, row in self.variables.items() if row.where == "option" and row.there(version))

    def nearest(self, name: str, more: Mapping[str, object]) -> tuple[str, ...]:
        """Names like `name` among those of the table and `more`."""
        return several_nearest(name, {*self.variables, *more}, cutoff=0.75)


def read(text: str) -> Catalogue:
    """The catalogue that `text` (TOML) describes. Raises ValueError that names the row and what is wrong."""
    try:
        return Catalogue.model_validate(tomllib.loads(text))
    except ValidationError as error:
        lines = [f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors()]
        raise ValueError("variables.toml is wrong:\n  " + "\n  ".join(lines)) from error
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"variables.toml is not TOML: {error}") from error


@cache
def catalogue() -> Catalogue:
    """The table that mydyno comes with."""
    return read(files("mydyno.server.variables").joinpath("variables.toml").read_text(encoding="utf-8"))
