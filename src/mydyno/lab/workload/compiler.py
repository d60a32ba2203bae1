"""From definitions and the values of options to the program that the engine runs."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from mydyno.core.document.problems import SpecErrors
from mydyno.core.nearest import nearest
from mydyno.lab.workload.constants import Constant, Expression, uses
from mydyno.lab.workload.definitions import CONNECTION_KEYS, TRANSACTION_KEYS, Definitions
from mydyno.lab.workload.dictionaries import compile_dictionary
from mydyno.lab.workload.expressions import compile_written, constant_of, number_of
from mydyno.lab.workload.functions import Names
from mydyno.lab.workload.options import check_name
from mydyno.lab.workload.sql import Context, compile_fixed_sql
from mydyno.lab.workload.steps import Scope, StepCompiler
from mydyno.lab.workload.tables import OF_A_LOAD, Compiled, compile_tables, declare
from mydyno.lab.workload.written import Gathered, Written

Program = dict[str, Any]
_CHOICES = {"open": ("phase", "lazy", "event"), "lost": ("close", "reopen")}
_DRAWING_WORDS = ("pick", "next", "word")
_TRANSACTION_WORDS = frozenset({"connection", "connections", "event"})
_NOT_IN_ROWS = (*sorted(_TRANSACTION_WORDS), *OF_A_LOAD)


@dataclass(frozen=True)
class Product:
    program: Program
    tables: Compiled


def compile_program(definitions: Definitions, options: Mapping[str, Constant]) -> Product:
    """The program for these values of the options. Raises SpecErrors with everything that is wrong."""
    gathered = Gathered()
    product = _Compilation(definitions, options, gathered).run()
    if gathered.problems:
        raise SpecErrors(gathered.problems)
    return product


class _Compilation:
    def __init__(self, definitions: Definitions, options: Mapping[str, Constant], gathered: Gathered) -> None:
        self.definitions = definitions
        self.named = definitions.named
        self.settings = definitions.settings
        self.gathered = gathered
        self.names = Names(constants=dict(options), dictionaries=frozenset(self.named["dictionaries"]))

    def run(self) -> Product:
        self._constants()
        self.names = replace(self.names, values=frozenset(self.named["values"]))
        values = self._values()
        tables = declare(self.named["tables"], self.names, self.gathered)
        compile_tables(self.named["tables"], tables, self.names, self.gathered)
        dictionaries = self._dictionaries(tables)
        policy = self._policy()
        transactions = self._transactions(tables, bool(policy["prepared"]))
        checks = self._checks(tables)
        self._refuse_in_rows(tables, values, dictionaries)
        values, dictionaries = _only_used(values, dictionaries, [tables.programs, transactions])
        program = {
            "name": self.definitions.name,
            **policy,
            "dictionaries": dictionaries,
            "values": values,
            "tables": tables.programs,
            "transactions": transactions,
            "checks": checks,
        }
        return Product(program, tables)

    def _constants(self) -> None:
        for name, written in self.named["constants"].items():
            with self.gathered.here():
                self._check_new(name, written, "a constant", "options")
                constant = constant_of(written, self.names, f"constants.{name}")
                self.names = self.names.with_constants({name: constant})
            # A constant that is wrong is not unknown as well wherever it is used.
            self.names = self.names.with_constants({name: self.names.constants.get(name, 1)})

    def _check_new(self, name: str, written: Written, what: str, *others: str) -> None:
        """Raises Wrong when the name is taken."""
        check_name(name, written, what)
        for other in others:
            if name in self.named[other]:
                raise written.at(written.key, f"{name} is already one of the {other}", name, "another name")

    def _values(self) -> dict[str, Expression]:
        names = replace(self.names, words=_TRANSACTION_WORDS)
        values: dict[str, Expression] = {}
        for name, written in self.named["values"].items():
            with self.gathered.here():
                self._check_new(name, written, "a value", "options", "constants")
                values[name] = compile_written(written, names, f"values.{name}")
        for name, expression in values.items():
            if name in _reached(expression, values):
                with self.gathered.here():
                    raise self.named["values"][name].wrong(
                        f"{name} is drawn from itself", "values without a circle"
                    )
        return values

    def _dictionaries(self, tables: Compiled) -> dict[str, Any]:
        compiled: dict[str, Any] = {}
        for name, written in self.named["dictionaries"].items():
            with self.gathered.here():
                self._check_new(name, written, "a dictionary", "options", "constants", "values")
                compiled[name] = compile_dictionary(name, written, self.names, tables.columns, self.gathered)
        return compiled

    def _policy(self) -> dict[str, Any]:
        policy: dict[str, Any] = {
            "prepared": False,
            "open": "phase",
            "lost": "close",
            "retry": [],
            "session": [],
        }
        if (prepared := self.settings.get("prepared")) is not None:
            with self.gathered.here():
                policy["prepared"] = bool(constant_of(prepared, self.names, "prepared"))
        if (connection := self.settings.get("connection")) is not None:
            with self.gathered.here():
                self._connection(connection, policy)
        if (retry := self.settings.get("retry")) is not None:
            with self.gathered.here():
                policy["retry"] = [number_of(code, self.names, "retry", 1) for code in retry.items("retry")]
        return policy

    def _connection(self, written: Written, policy: dict[str, Any]) -> None:
        entries = written.entries("connection")
        self.gathered.add(*written.only(CONNECTION_KEYS, "connection"))
        for key, choices in _CHOICES.items():
            if key in entries:
                policy[key] = self._choice(entries[key], key, choices)
        if "session" in entries:
            context = Context(self.names)
            statements = entries["session"].items("connection.session")
            policy["session"] = [
                compile_fixed_sql(each, "connection.session", context) for each in statements
            ]

    def _choice(self, written: Written, key: str, choices: tuple[str, ...]) -> str:
        """One of the words, written as such or the value of an expression."""
        if written.text in choices:
            return str(written.text)
        text = written.text or ""
        known = text.isidentifier() and text not in self.names.constants
        value = written.describe() if known else constant_of(written, self.names, f"connection.{key}")
        if value not in choices:
            shown = str(value)
            raise written.wrong(
                f"connection.{key}: unknown value", ", ".join(choices), nearest(shown, choices)
            )
        return str(value)

    def _transactions(self, tables: Compiled, prepared: bool) -> list[Any]:
        compiled = []
        for name, written in self.named["transactions"].items():
            with self.gathered.here():
                weight, steps = self._transaction(name, written, tables, prepared)
                if weight and not _acts(steps) and not self.gathered.problems:
                    raise written.wrong_key(
                        f"{name} has no statement left with these options", "at least one"
                    )
                if weight:
                    compiled.append({"name": name, "weight": weight, "steps": steps})
        if not compiled and not self.gathered.problems:
            root = self.definitions.part.root
            section = root.get("transactions")
            message = "transactions has nothing to do" if section else "transactions is missing"
            example = "for example transactions: {look: [SELECT 1]}"
            self.gathered.add((section or root).wrong_key(message, example))
        return compiled

    def _transaction(
        self, name: str, written: Written, tables: Compiled, prepared: bool
    ) -> tuple[int, list[Any]]:
        weight, steps = 1, written
        if written.is_mapping:
            entries = written.entries(f"transactions.{name}")
            self.gathered.add(*written.only(TRANSACTION_KEYS, f"transactions.{name}"))
            if "steps" not in entries:
                raise written.wrong_key(f"transactions.{name} has no steps", "steps: [...]")
            if "weight" in entries:
                weight = number_of(entries["weight"], self.names, f"transactions.{name}.weight")
            steps = entries["steps"]
        compiler = StepCompiler(self.named["blocks"], tables, self.gathered, prepared)
        scope = Scope(replace(self.names, words=_TRANSACTION_WORDS), tables.names)
        return weight, compiler.compile(steps, f"transactions.{name}", scope)[0]

    def _refuse_in_rows(
        self, tables: Compiled, values: dict[str, Expression], dictionaries: dict[str, Any]
    ) -> None:
        """Rows are the same at every run, and made before there are connections and answers of a server."""
        for table in tables.programs:
            drawn = [table["let"], table["row"]]
            for name in _reached(drawn, values):
                if any(uses(values[name], each) for each in _NOT_IN_ROWS):
                    message = f"{name} needs a connection, and rows of {table['name']} draw it"
                    self._refuse("values", name, message)
            drawn += [values[name] for name in _reached(drawn, values)]
            for name in dict.fromkeys(_mentions(drawn, _DRAWING_WORDS)):
                if "words" not in dictionaries.get(name, {"words": []}):
                    message = f"{name} is known after the rows of {table['name']} only, and they draw from it"
                    self._refuse("dictionaries", name, message)

    def _refuse(self, section: str, name: str, message: str) -> None:
        self.gathered.add(self.named[section][name].wrong_key(message))

    def _checks(self, tables: Compiled) -> list[dict[str, str]]:
        context = Context(self.names, tables.names)
        checks = []
        for name, written in self.named["checks"].items():
            with self.gathered.here():
                checks.append({"name": name, "sql": compile_fixed_sql(written, f"checks.{name}", context)})
        return checks


def _mentions(compiled: Any, operators: tuple[str, ...]) -> Iterator[str]:
    """The names that operations of these kinds have as their first operand, anywhere inside."""
    if isinstance(compiled, dict):
        for value in compiled.values():
            yield from _mentions(value, operators)
    elif isinstance(compiled, list | tuple):
        if len(compiled) > 1 and compiled[0] in operators and isinstance(compiled[1], str):
            yield compiled[1]
        for value in compiled:
            yield from _mentions(value, operators)


def _acts(steps: list[dict[str, Any]]) -> bool:
    """Whether there is a step that does something beyond the event itself."""
    for step in steps:
        [(kind, body)] = step.items()
        if kind in ("send", "pause_s", "reconnect"):
            return True
        branches = body if kind == "mix" else [body] if kind in ("repeat", "when") else []
        if any(_acts([*branch["steps"], *branch.get("else", [])]) for branch in branches):
            return True
    return False


def _reached(compiled: Any, values: Mapping[str, Expression]) -> dict[str, None]:
    """The values that are drawn by what is compiled and by the values that it draws."""
    reached: dict[str, None] = {}
    waiting = [compiled]
    while waiting:
        for name in _mentions(waiting.pop(), ("draw",)):
            if name in values and name not in reached:
                reached[name] = None
                waiting.append(values[name])
    return reached


def _only_used(
    values: dict[str, Expression], dictionaries: dict[str, Any], compiled: list[Any]
) -> tuple[dict[str, Expression], dict[str, Any]]:
    reached = _reached(compiled, values)
    used = {name: values[name] for name in values if name in reached}
    words = set(_mentions([*compiled, used], _DRAWING_WORDS))
    return used, {name: each for name, each in dictionaries.items() if name in words}


def dataset_of(program: Program) -> dict[str, Any]:
    """What decides the bytes of the loaded tables, and nothing else: equal for equal tables."""
    values, dictionaries = _only_used(program["values"], program["dictionaries"], [program["tables"]])
    return {"tables": program["tables"], "values": values, "dictionaries": dictionaries}
