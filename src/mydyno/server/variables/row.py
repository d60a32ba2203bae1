"""One row of the table: what is known of one server variable, and whether two spellings of a value mean the
same. The file is checked when it is read."""

from collections.abc import Mapping
from typing import Literal, Self

from pydantic import Field, model_validator

from mydyno.core.record import Record
from mydyno.core.server_variables import OFF_WORDS, ON_WORDS, Setting
from mydyno.core.server_version import Version
from mydyno.core.units import bytes_or_none
from mydyno.server.variables.release import Family, Life, Written

Unit = Literal[
    "bytes", "pages", "rows", "count", "percent", "number", "days", "seconds", "milliseconds",
    "microseconds", "switch", "enumeration", "list", "text", "path", "port",
]  # fmt: skip
Layer = Literal[
    "memory", "redo log", "binary log", "undo", "InnoDB I/O", "InnoDB files", "InnoDB concurrency",
    "InnoDB statistics", "connections", "threads", "limits", "tables", "temporary tables", "optimiser",
    "query cache", "MyISAM and Aria", "replication", "network", "logs", "access", "SQL", "places",
    "instruments",
]  # fmt: skip
Memory = Literal[
    "once", "each connection", "each transaction", "each temporary table", "each operation",
    "each replica worker", "bound of all", "bound of a session",
]  # fmt: skip
"""What takes as much memory: the server when it starts, each connection at a time, or else."""
How = Literal[
    "same", "inverted", "times", "divided", "days to seconds", "seconds to days",
    "seconds to milliseconds", "milliseconds to seconds", "words", "switch and file",
]  # fmt: skip
Level = Literal["unsafe", "server crash", "OS crash"]


class _Limited(Record):
    """A fact of one family or both, from a release on."""

    on: Family | None = None
    since: Written | None = None

    def holds(self, version: Version) -> bool:
        mine = self.on is None or self.on is Family.of(version)
        return mine and (self.since is None or version.numbers >= self.since.numbers)


class Becomes(_Limited):
    """The variable of another release that does the same, and how a value is brought over."""

    name: str
    how: How = "same"
    by: str | None = None
    """`times` and `divided`: the variable that holds the other factor."""
    by_default: int | None = None
    """That factor when it is not set."""
    words: Mapping[str, str] = Field(default_factory=dict)
    """`words`: each value that can be brought over, as it is called there."""
    file: str | None = None
    """`switch and file`: the variable for the name of the file."""
    because: str | None = None

    @model_validator(mode="after")
    def _complete(self) -> Self:
        needs = {"times": self.by, "divided": self.by, "words": self.words, "switch and file": self.file}
        if self.how in needs and not needs[self.how]:
            raise ValueError(f"{self.name}: {self.how!r} needs `by`, `words` or `file`")
        return self


class Dropped(_Limited):
    """Values that mean nothing where the variable is not there (`any`: whatever value)."""

    values: tuple[str, ...] | Literal["any"]
    because: str

    def takes(self, value: Setting) -> bool:
        return self.values == "any" or any(same_value(value, each) for each in self.values)


class Refused(_Limited):
    """A value that a server knows the variable for, and cannot be given."""

    value: str
    because: str
    except_for: tuple[str, ...] = ()
    """Vendors that take it."""


class Hint(_Limited):
    """What to say of a setting that is passed on as it is. `words`: by its value; else `says` alone."""

    says: str
    words: Mapping[str, str] = Field(default_factory=dict)


class Loss(Record):
    """A value that costs durability. Exactly one of `value`, `other_than`, `above` and `absent`."""

    value: str | None = None
    other_than: tuple[str, ...] = ()
    above: int | None = None
    absent: bool = False
    """The server does not show the variable at all."""
    level: Level
    says: str
    """A sentence; {setting} and {value} stand for `name=value` and the value."""
    only_with: Mapping[str, str] = Field(default_factory=dict)
    """Other variables that must have these values; one that is not shown has none."""
    not_with: Mapping[str, str] = Field(default_factory=dict)
    every: str | None = None
    """The variable that says how many seconds pass between syncs."""

    @model_validator(mode="after")
    def _one_condition(self) -> Self:
        given = [self.value is not None, bool(self.other_than), self.above is not None, self.absent]
        if sum(given) != 1:
            raise ValueError("a loss has exactly one of value, other_than, above and absent")
        return self


class Fixed(_Limited):
    """Its value is settled when the data directory is made; with another one the server does not start."""

    because: str


class NewDefault(Record):
    """A default that another release changed."""

    on: Family
    since: Written
    to: str
    was: str


class Row(Record):
    """One variable under its plain name (small letters, underscores)."""

    unit: Unit
    layer: Layer
    means: str
    only: Family | None = None
    """The one family that ever had it; None: both."""
    mysql: Life = Life()
    mariadb: Life = Life()
    where: Literal["option", "plugin", "running"] = "option"
    """`plugin`: listed only by a server that loads it or is built with it. `running`: only a running server
    has it, no my.cnf."""
    becomes: tuple[Becomes, ...] = ()
    """In order of preference."""
    dropped: tuple[Dropped, ...] = ()
    refused: tuple[Refused, ...] = ()
    hints: tuple[Hint, ...] = ()
    instead: str | None = None
    """What to do where it is missing, for the error."""
    losses: tuple[Loss, ...] = ()
    memory: Memory | None = None
    shapes_files: bool = False
    """Whether files of a dataset are made differently under another value."""
    fixed: tuple[Fixed, ...] = ()
    defaults: tuple[NewDefault, ...] = ()
    sources: tuple[str, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _one_family(self) -> Self:
        for family in Family:
            if self.only is not None and family is not self.only and getattr(self, family) != Life():
                raise ValueError(
                    f"only {self.only.label} has it, but {family.label}'s releases are given too"
                )
        return self

    def life(self, family: Family) -> Life | None:
        """When the family had it; None: never."""
        if self.only is not None and self.only is not family:
            return None
        return self.mysql if family is Family.MYSQL else self.mariadb

    def there(self, version: Version) -> bool:
        """Whether the table says that this release has it."""
        life = self.life(Family.of(version))
        return life is not None and life.covers(version.numbers)

    def ignored(self, version: Version) -> bool:
        """Whether this release lists it without heeding it."""
        life = self.life(Family.of(version))
        return life is not None and life.ignored is not None and version.numbers >= life.ignored.numbers

    def fixed_because(self, version: Version) -> str | None:
        """Why existing data forbids another value; None: it can be changed."""
        return next((each.because for each in self.fixed if each.holds(version)), None)

    def history(self) -> str:
        """`MySQL removed it in 8.0.3; MariaDB has it`."""
        lives = [(family, self.life(family)) for family in Family]
        sentences = [life.sentence(family) for family, life in lives if life is not None]
        never = [family.label for family, life in lives if life is None]
        return "; ".join([*sentences, *(f"{title} never had it" for title in never)])


def same_value(value: Setting, written: str) -> bool:
    """Whether a setting's value means `written`: letter case and words for on and off do not matter."""
    word, other = str(value).strip().casefold(), written.casefold()
    if word == other:
        return True
    return any(word in words and other in words for words in (ON_WORDS, OFF_WORDS))


def same_meaning(one: str, other: str) -> bool:
    """Sizes, numbers and words for on and off are compared by what they mean: 1G is 1073741824."""
    return same_value(one, other) or _number(one) == _number(other) is not None


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return bytes_or_none(text)
