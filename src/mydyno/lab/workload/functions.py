"""What an expression may use: the functions, in one table that checks calls and that the guide shows, and the
names at its place.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from mydyno.lab.workload.constants import Constant

Kind = Literal["number", "text", "any", "fixed number", "fixed text", "dictionary", "counter", "value"]
"""What an argument may be. `fixed`: known before the run, made of options and constants.

`dictionary` and `value` are names of such, `counter` is a name that the function itself gives."""


LETTERS = "abcdefghijklmnopqrstuvwxyz"
WORDS = {
    "row": "In a table: the number of the row, from 1.",
    "connection": "In a transaction: the number of the connection, from 1.",
    "connections": "In a transaction: how many connections the phase has.",
    "event": "In a transaction: how many events the connection has had in this phase.",
    "copy": "Inside `choose`, and in a table with `copies`: the number of the copy, from 1.",
}
"""Names that mean something by themselves."""
LITERALS: dict[str, Constant] = {"null": None, "true": 1, "false": 0, "True": 1, "False": 0, "None": None}


@dataclass(frozen=True)
class Parameter:
    name: str
    kind: Kind
    default: Constant = None
    required: bool = True


@dataclass(frozen=True)
class Function:
    """A function: how it is called, and the engine's operator that it becomes with the same arguments."""

    name: str
    parameters: tuple[Parameter, ...]
    about: str
    operator: str = ""
    """By default its name."""
    more: bool = False
    """Any number of arguments of the last kind."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "operator", self.operator or self.name)

    @property
    def signature(self) -> str:
        shown = [each.name if each.required else f"{each.name}={each.default!r}" for each in self.parameters]
        return f"{self.name}({', '.join(shown)}{', ...' if self.more else ''})"


def _number(name: str) -> Parameter:
    return Parameter(name, "number")


def _any(name: str) -> Parameter:
    return Parameter(name, "any")


def _fixed(name: str, default: int | float) -> Parameter:
    return Parameter(name, "fixed number", default, required=False)


def _text(name: str, default: str) -> Parameter:
    return Parameter(name, "fixed text", default, required=False)


def _by_name(*functions: Function) -> dict[str, Function]:
    return {function.name: function for function in functions}


_BOUNDS = (_number("low"), _number("high"))
_ITERATIONS = _fixed("iterations", 12)
_SPECIAL = (_ITERATIONS, _fixed("percent", 1), _fixed("share", 75))
_DICTIONARY = Parameter("dictionary", "dictionary")

DISTRIBUTIONS = _by_name(
    Function("uniform", _BOUNDS, "A whole number, each alike."),
    Function("gaussian", (*_BOUNDS, _ITERATIONS), "Bell-shaped: the mean of `iterations` uniform draws."),
    Function(
        "special",
        (*_BOUNDS, *_SPECIAL),
        "sysbench 1.0.20's own: `share` percent of the draws in the upper three quarters of a window of "
        "`percent` percent round the middle, the others bell-shaped.",
    ),
    Function(
        "special_corrected",
        (*_BOUNDS, *_SPECIAL),
        "The same with the whole of the window.",
        "special-corrected",
    ),
    Function("special_04", (*_BOUNDS, *_SPECIAL), "The one of sysbench 0.4.", "special-0.4"),
    Function(
        "pareto",
        (*_BOUNDS, _fixed("h", 0.2)),
        "Low numbers hot: the share `h` of them gets the share 1 - `h` of the draws.",
    ),
    Function(
        "zipfian",
        (*_BOUNDS, _fixed("exponent", 0.8)),
        "The k-th number as often as 1/k^`exponent` says; the lowest is hottest.",
    ),
)
DRAW_NAMES = tuple(function.operator for function in DISTRIBUTIONS.values())
"""What `draw` takes as its first argument."""

DRAW = Function(
    "draw",
    (
        Parameter("distribution", "fixed text"),
        *(*_BOUNDS, *_SPECIAL, _fixed("h", 0.2), _fixed("exponent", 0.8)),
    ),
    "A whole number from the distribution named by a text, an option say: " + ", ".join(DRAW_NAMES) + ".",
)
LAST = Function("last", (Parameter("name", "value"),), "The named value as it was drawn last.", "var")
LIST = Function(
    "list", (_number("n"), _any("each"), _text("between", ", ")), "`each` drawn `n` times, as one text."
)

FUNCTIONS = DISTRIBUTIONS | _by_name(
    DRAW,
    Function(
        "nurand",
        (Parameter("a", "fixed number"), *_BOUNDS, _fixed("c", 0)),
        "Non-uniform, as TPC-C 2.1.6 defines it.",
    ),
    Function("exponential", (_number("mean"),), "A number with a fraction, 0 or more."),
    Function(
        "pattern", (Parameter("shape", "fixed text"),), "A text: every `#` a digit, every `@` a letter a-z."
    ),
    Function(
        "letters",
        (_number("least"), _number("most"), _text("alphabet", LETTERS)),
        "A text of `least` to `most` letters, each length alike.",
    ),
    Function("pick", (_DICTIONARY,), "A word, each alike."),
    Function("next", (_DICTIONARY,), "The next word, each connection from its own start."),
    Function("word", (_DICTIONARY, _number("index")), "The word number `index`, from 0, round and round."),
    Function("unique", (), "A pseudo-random 32-bit number that no other draw gives."),
    Function(
        "counter",
        (
            Parameter("name", "counter"),
            *(_fixed("start", 1), _fixed("step", 1), _fixed("copies", 1)),
            Parameter("copy", "number", 1, required=False),
        ),
        "Counts over all connections; `name` is any word. With `copies`, each `copy` from 1 on counts by "
        "itself.",
    ),
    Function("min", (_any("a"), _any("b")), "The smaller."),
    Function("max", (_any("a"), _any("b")), "The larger."),
    Function("concat", (_any("a"),), "The texts, one after the other.", more=True),
    Function("times", (_number("n"), _any("text")), "The text `n` times over."),
    Function(
        "pad",
        (_any("a"), _number("width"), _text("with_", "0")),
        "`a` filled up on the left to `width` characters.",
    ),
    Function(
        "decimal",
        (_number("a"), Parameter("places", "fixed number")),
        "The whole number `a` with a decimal point before its last `places` digits.",
    ),
    Function(
        "substring",
        (_any("text"), _number("start"), _number("length")),
        "`length` characters from `start`, which counts from 0.",
    ),
    Function(
        "permute",
        (_number("i"), _number("n"), Parameter("key", "number", 0, required=False)),
        "Numbers 0 to n-1 in another order: each `i` another number, the same at every run.",
    ),
    LIST,
    LAST,
)


@dataclass(frozen=True)
class Names:
    """What an expression may name, at its place."""

    constants: Mapping[str, Constant] = field(default_factory=dict)
    values: frozenset[str] = frozenset()
    registers: frozenset[str] = frozenset()
    """Bound on every way to here."""
    perhaps: frozenset[str] = frozenset()
    """Bound on some ways to here."""
    dictionaries: frozenset[str] = frozenset()
    words: frozenset[str] = frozenset()

    def with_constants(self, more: Mapping[str, Constant]) -> Names:
        return replace(self, constants={**self.constants, **more})

    def with_number(self, number: int) -> Names:
        """Inside `repeat`, where `number` is the number of the repetition whatever else has that name."""
        names = self.with_constants({"number": number})
        return replace(names, values=self.values - {"number"}, registers=self.registers - {"number"})

    def all(self) -> list[str]:
        """In an order that is the same at every run."""
        sets = (self.values, self.registers, self.dictionaries, self.words)
        return [*self.constants, *(name for names in sets for name in sorted(names))]
