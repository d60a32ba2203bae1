"""The functions of expressions: one table, which the compiler checks calls with and the guide shows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from mydyno.lab.workload.constants import Constant

Kind = Literal["number", "text", "any", "fixed number", "fixed text", "dictionary", "counter", "value"]
"""What an argument may be. `fixed`: known before the run, made of options and constants.

`dictionary` and `value` are names of such, `counter` is a name that the function itself gives."""


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
    operator: str
    more: bool = False
    """Any number of arguments of the last kind."""

    @property
    def signature(self) -> str:
        shown = [
            each.name if each.required else f"{each.name}={_literal(each.default)}"
            for each in self.parameters
        ]
        return f"{self.name}({', '.join(shown)}{', ...' if self.more else ''})"


def _literal(value: Constant) -> str:
    return repr(value)


def _number(name: str) -> Parameter:
    return Parameter(name, "number")


def _optional(name: str, kind: Kind, default: Constant) -> Parameter:
    return Parameter(name, kind, default, required=False)


_BOUNDS = (_number("low"), _number("high"))
_ITERATIONS = _optional("iterations", "fixed number", 12)
_SPECIAL = (_ITERATIONS, _optional("percent", "fixed number", 1), _optional("share", "fixed number", 75))
LETTERS = "abcdefghijklmnopqrstuvwxyz"

DISTRIBUTIONS: dict[str, Function] = {
    function.name: function
    for function in (
        Function("uniform", _BOUNDS, "A whole number, each alike.", "uniform"),
        Function(
            "gaussian",
            (*_BOUNDS, _ITERATIONS),
            "Bell-shaped: the mean of `iterations` uniform draws.",
            "gaussian",
        ),
        Function(
            "special",
            (*_BOUNDS, *_SPECIAL),
            "sysbench 1.0.20's own: `share` percent of the draws in the upper three quarters of a window of "
            "`percent` percent round the middle, the others bell-shaped.",
            "special",
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
            (*_BOUNDS, _optional("h", "fixed number", 0.2)),
            "Low numbers hot: the share `h` of them gets the share 1 - `h` of the draws.",
            "pareto",
        ),
        Function(
            "zipfian",
            (*_BOUNDS, _optional("exponent", "fixed number", 0.8)),
            "The k-th number as often as 1/k^`exponent` says; the lowest is hottest.",
            "zipfian",
        ),
    )
}
DRAW_NAMES = tuple(function.operator for function in DISTRIBUTIONS.values())
"""What `draw` takes as its first argument."""

DRAW = Function(
    "draw",
    (
        Parameter("distribution", "fixed text"),
        *_BOUNDS,
        *_SPECIAL,
        _optional("h", "fixed number", 0.2),
        _optional("exponent", "fixed number", 0.8),
    ),
    "A whole number from the distribution named by a text, an option say: " + ", ".join(DRAW_NAMES) + ".",
    "draw",
)
LAST = Function("last", (Parameter("name", "value"),), "The named value as it was drawn last.", "var")
LIST = Function(
    "list",
    (Parameter("n", "number"), Parameter("each", "any"), _optional("between", "fixed text", ", ")),
    "`each` drawn `n` times, as one text.",
    "list",
)

FUNCTIONS: dict[str, Function] = {
    **DISTRIBUTIONS,
    **{
        function.name: function
        for function in (
            DRAW,
            Function(
                "nurand",
                (Parameter("a", "fixed number"), *_BOUNDS, _optional("c", "fixed number", 0)),
                "Non-uniform, as TPC-C 2.1.6 defines it.",
                "nurand",
            ),
            Function(
                "exponential", (_number("mean"),), "A number with a fraction, 0 or more.", "exponential"
            ),
            Function(
                "pattern",
                (Parameter("shape", "fixed text"),),
                "A text: every `#` a digit, every `@` a letter a-z.",
                "pattern",
            ),
            Function(
                "letters",
                (_number("least"), _number("most"), _optional("alphabet", "fixed text", LETTERS)),
                "A text of `least` to `most` letters, each length alike.",
                "letters",
            ),
            Function("pick", (Parameter("dictionary", "dictionary"),), "A word, each alike.", "pick"),
            Function(
                "next",
                (Parameter("dictionary", "dictionary"),),
                "The next word, each connection from its own start.",
                "next",
            ),
            Function(
                "word",
                (Parameter("dictionary", "dictionary"), _number("index")),
                "The word number `index`, from 0, round and round.",
                "word",
            ),
            Function("unique", (), "A pseudo-random 32-bit number that no other draw gives.", "unique"),
            Function(
                "counter",
                (
                    Parameter("name", "counter"),
                    _optional("start", "fixed number", 1),
                    _optional("step", "fixed number", 1),
                    _optional("copies", "fixed number", 1),
                    _optional("copy", "number", 1),
                ),
                "Counts over all connections; `name` is any word. With `copies`, each `copy` from 1 on counts"
                " by itself.",
                "counter",
            ),
            Function("min", (Parameter("a", "any"), Parameter("b", "any")), "The smaller.", "min"),
            Function("max", (Parameter("a", "any"), Parameter("b", "any")), "The larger.", "max"),
            Function(
                "concat", (Parameter("a", "any"),), "The texts, one after the other.", "concat", more=True
            ),
            Function("times", (_number("n"), Parameter("text", "any")), "The text `n` times over.", "times"),
            Function(
                "pad",
                (Parameter("a", "any"), _number("width"), _optional("with_", "fixed text", "0")),
                "`a` filled up on the left to `width` characters.",
                "pad",
            ),
            Function(
                "decimal",
                (_number("a"), Parameter("places", "fixed number")),
                "The whole number `a` with a decimal point before its last `places` digits.",
                "decimal",
            ),
            Function(
                "substring",
                (Parameter("text", "any"), _number("start"), _number("length")),
                "`length` characters from `start`, which counts from 0.",
                "substring",
            ),
            Function(
                "permute",
                (_number("i"), _number("n"), _optional("key", "number", 0)),
                "Numbers 0 to n-1 in another order: each `i` another number, the same at every run.",
                "permute",
            ),
            LIST,
            LAST,
        )
    },
}

WORDS = {
    "row": "In a table: the number of the row, from 1.",
    "connection": "In a transaction: the number of the connection, from 1.",
    "connections": "In a transaction: how many connections the phase has.",
    "event": "In a transaction: how many events the connection has had in this phase.",
    "copy": "Inside `choose`, and in a table with `copies`: the number of the copy, from 1.",
}
"""Names that mean something by themselves."""

LITERALS: dict[str, Constant] = {"null": None, "true": 1, "false": 0, "True": 1, "False": 0, "None": None}
