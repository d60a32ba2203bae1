"""What an expression may use: the functions, in one table that checks calls and that the guide shows, and the
names at its place.
"""

from __future__ import annotations

import ast
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
    default: Constant
    required: bool


@dataclass(frozen=True)
class Function:
    """A function: how it is called, and the engine's operator that it becomes with the same arguments."""

    name: str
    parameters: tuple[Parameter, ...]
    about: str
    operator: str
    more: bool
    """Any number of arguments of the last kind."""

    @property
    def signature(self) -> str:
        shown = [each.name if each.required else f"{each.name}={each.default!r}" for each in self.parameters]
        return f"{self.name}({', '.join(shown)}{', ...' if self.more else ''})"


def _function(call: str, about: str, operator: str = "") -> Function:
    """`call`: a signature as Python's, whose annotations are the kinds of arguments. Without one an argument
    is a number, and with a default a fixed number or text; `*more` allows any number of further ones."""
    [made] = ast.parse(f"def {call}: ...").body
    assert isinstance(made, ast.FunctionDef)
    required = len(made.args.args) - len(made.args.defaults)
    defaults = [*[None] * required, *map(ast.literal_eval, made.args.defaults)]
    parameters = []
    for place, (argument, default) in enumerate(zip(made.args.args, defaults, strict=True)):
        kind: Kind = "number"
        if argument.annotation is not None:
            kind = ast.literal_eval(argument.annotation)
        elif place >= required:
            kind = "fixed text" if isinstance(default, str) else "fixed number"
        parameters.append(Parameter(argument.arg, kind, default, place < required))
    return Function(made.name, tuple(parameters), about, operator or made.name, made.args.vararg is not None)


def _by_name(*functions: Function) -> dict[str, Function]:
    return {function.name: function for function in functions}


_SPECIAL = "low, high, iterations=12, percent=1, share=75"

DISTRIBUTIONS = _by_name(
    _function("uniform(low, high)", "A whole number, each alike."),
    _function("gaussian(low, high, iterations=12)", "Bell-shaped: the mean of `iterations` uniform draws."),
    _function(
        f"special({_SPECIAL})",
        "sysbench 1.0.20's own: `share` percent of the draws in the upper three quarters of a window of "
        "`percent` percent round the middle, the others bell-shaped.",
    ),
    _function(
        f"special_corrected({_SPECIAL})", "The same with the whole of the window.", "special-corrected"
    ),
    _function(f"special_04({_SPECIAL})", "The one of sysbench 0.4.", "special-0.4"),
    _function(
        "pareto(low, high, h=0.2)",
        "Low numbers hot: the share `h` of them gets the share 1 - `h` of the draws.",
    ),
    _function(
        "zipfian(low, high, exponent=0.8)",
        "The k-th number as often as 1/k^`exponent` says; the lowest is hottest.",
    ),
)
DRAW_NAMES = tuple(function.operator for function in DISTRIBUTIONS.values())
"""What `draw` takes as its first argument."""

DRAW = _function(
    f"draw(distribution: 'fixed text', {_SPECIAL}, h=0.2, exponent=0.8)",
    "A whole number from the distribution named by a text, an option say: " + ", ".join(DRAW_NAMES) + ".",
)

FUNCTIONS = DISTRIBUTIONS | _by_name(
    DRAW,
    _function("nurand(a: 'fixed number', low, high, c=0)", "Non-uniform, as TPC-C 2.1.6 defines it."),
    _function("exponential(mean)", "A number with a fraction, 0 or more."),
    _function("pattern(shape: 'fixed text')", "A text: every `#` a digit, every `@` a letter a-z."),
    _function(
        f"letters(least, most, alphabet='{LETTERS}')",
        "A text of `least` to `most` letters, each length alike.",
    ),
    _function("pick(dictionary: 'dictionary')", "A word, each alike."),
    _function("next(dictionary: 'dictionary')", "The next word, each connection from its own start."),
    _function("word(dictionary: 'dictionary', index)", "The word number `index`, from 0, round and round."),
    _function("unique()", "A pseudo-random 32-bit number that no other draw gives."),
    _function(
        "counter(name: 'counter', start=1, step=1, copies=1, copy: 'number' = 1)",
        "Counts over all connections; `name` is any word. With `copies`, each `copy` from 1 on counts by "
        "itself.",
    ),
    _function("min(a: 'any', b: 'any')", "The smaller."),
    _function("max(a: 'any', b: 'any')", "The larger."),
    _function("concat(a: 'any', *more)", "The texts, one after the other."),
    _function("times(n, text: 'any')", "The text `n` times over."),
    _function("pad(a: 'any', width, with_='0')", "`a` filled up on the left to `width` characters."),
    _function(
        "decimal(a, places: 'fixed number')",
        "The whole number `a` with a decimal point before its last `places` digits.",
    ),
    _function(
        "substring(text: 'any', start, length)", "`length` characters from `start`, which counts from 0."
    ),
    _function(
        "permute(i, n, key: 'number' = 0)",
        "Numbers 0 to n-1 in another order: each `i` another number, the same at every run.",
    ),
    _function("list(n, each: 'any', between=', ')", "`each` drawn `n` times, as one text."),
    _function("last(name: 'value')", "The named value as it was drawn last.", "var"),
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
