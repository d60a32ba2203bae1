"""What can be said of a script before anything runs: its traps, and what is wrong with it."""

import re
from collections.abc import Iterator, Sequence

from mydyno.core.beneath import BeneathError, steps_of
from mydyno.core.document.problems import Position, Problem, SpecErrors
from mydyno.core.errors import UsageError
from mydyno.core.nearest import nearest
from mydyno.lab.workload.smack import dictionary as dictionaries
from mydyno.lab.workload.smack import grammar
from mydyno.lab.workload.smack.barrel import expand, read_barrel
from mydyno.lab.workload.smack.generate import parse_command, traps_of
from mydyno.lab.workload.smack.traps import TrapAt, trap_at

_READS = re.compile(r"\s*(select|show|describe|explain|with|values|table)\b", re.IGNORECASE)

_NEED_CONNECTION = ("unload_query_barrel", "query", "run_save_result")


def check(script: grammar.Script, arguments: Sequence[str]) -> None:
    """Raises SpecErrors for everything that can be seen to be wrong: each with its place.

    `arguments` are those of the command line, without the file: `$1` is the first.
    """
    problems: list[Problem] = []
    for section in script.sections:
        try:
            _check_section(section, script)
        except SpecErrors as error:
            problems += error.problems
    problems += _Main(script, arguments).problems()
    if problems:
        raise SpecErrors(problems)


def _check_section(section: grammar.Section, script: grammar.Script) -> None:
    if section.kind == "dictionary":
        dictionaries.check(section, script.file)
        if section.text("source_type") == "file":
            _check_below(section, "source", script.file)
        if section.text("source_type") == "template":
            dictionaries.from_template(section, script.file, strict=False)
    elif section.kind == "client":
        read_barrel(section, script)
        _check_number(section, "port", script.file)
    elif section.kind == "query":
        expand(section, script.named("dictionary"), script.file, strict=False)
    elif section.kind == "table":
        _check_number(section, "min_rows", script.file)
        if section.text("data_file"):
            _check_below(section, "data_file", script.file)
        admin = client_of(section, script)
        if admin is None:
            clients = (one for one in script.sections if one.kind == "client")
            above = [one.name for one in clients if one.position < section.position]
            name = section.text("client")
            message = "the client of a table must be defined above it"
            near = nearest(name, above)
            raise SpecErrors.of(
                script.file, section.place("client"), message, name, ", ".join(above) or None, near
            )
        try:
            parse_command(section.text("gen_data_file"))
        except UsageError as error:
            place = section.place("gen_data_file")
            raise SpecErrors.of(script.file, place, error.message, allowed=error.hint) from None


def _check_below(section: grammar.Section, word: str, file: str) -> None:
    try:
        steps_of(section.text(word))
    except BeneathError as error:
        message = f"{word}: {error.strerror}"
        raise SpecErrors.of(
            file, section.place(word), message, section.text(word), dictionaries.BELOW
        ) from None


def _check_number(section: grammar.Section, word: str, file: str) -> None:
    text = section.text(word, "0")
    if not text.isdecimal():
        raise SpecErrors.of(file, section.place(word), f"{word} is not a number", text)


def client_of(table: grammar.Section, script: grammar.Script) -> grammar.Section | None:
    """The client that a table section names, if it is defined above it."""
    for one in script.sections:
        if one.kind == "client" and one.name == table.text("client") and one.position < table.position:
            return one
    return None


class _Main:
    """Walks through main once, as every process of the original would, and looks at what it names."""

    def __init__(self, script: grammar.Script, arguments: Sequence[str]) -> None:
        self._script = script
        self._arguments = arguments
        self._clients = script.named("client")
        self._started: set[str] = set()
        self._connected: set[str] = set()
        self._assigned: set[str] = set()
        self._reported: set[str] = set()

    def problems(self) -> list[Problem]:
        return [problem for line in self._script.main for problem in self._line(line)]

    def _line(self, line: grammar.Call | grammar.Assignment) -> Iterator[Problem]:
        if isinstance(line, grammar.Assignment):
            yield from self._expression(line.value, None)
            self._assigned.add(line.name)
            return
        if line.client not in self._clients:
            near = nearest(line.client, self._clients)
            yield self._problem(line.position, "unknown client", line.client, ", ".join(self._clients), near)
            return
        if line.method == "init":
            self._started.add(line.client)
        elif line.client not in self._started:
            message = f"{line.client}.init() has to come before its other lines"
            yield self._problem(line.position, message, f"{line.client}.{line.method}")
        if line.method == "connect":
            self._connected.add(line.client)
        elif line.method in _NEED_CONNECTION and line.client not in self._connected:
            message = f"{line.client}.connect() has to come before it"
            yield self._problem(line.position, message, f"{line.client}.{line.method}")
        for argument in line.arguments:
            yield from self._expression(argument, line.client)
        if line.method == "collect_threads":
            self._reported.add(line.client)
        if line.method == "run_save_result" and isinstance(line.arguments[0], grammar.Literal):
            yield from self._query(line.arguments[0])
        if line.method == "run_save_result" and isinstance(line.arguments[1], grammar.Literal):
            yield from self._result(line.arguments[1])

    def _result(self, target: grammar.Literal) -> Iterator[Problem]:
        if target.text == "-":
            return
        try:
            steps_of(target.text)
        except BeneathError as error:
            message, allowed = f"the result file: {error.strerror}", "- for the output, or the name of a file"
            yield self._problem(target.position, message, target.text, allowed)

    def _query(self, name: grammar.Literal) -> Iterator[Problem]:
        queries = self._script.named("query")
        if name.text not in queries:
            near = nearest(name.text, queries)
            yield self._problem(name.position, "unknown query", name.text, ", ".join(queries), near)

    def _expression(self, one: grammar.Expression, client: str | None) -> Iterator[Problem]:
        if isinstance(one, grammar.Joined):
            for part in one.parts:
                yield from self._expression(part, client)
        elif isinstance(one, grammar.Variable):
            yield from self._variable(one)
        elif isinstance(one, grammar.Figure):
            yield from self._figure(one, client)

    def _variable(self, one: grammar.Variable) -> Iterator[Problem]:
        if one.name.isdecimal():
            if int(one.name) > len(self._arguments):
                given = f"{len(self._arguments)} given after the file"
                yield self._problem(
                    one.position, f"argument ${one.name} is missing on the command line", given
                )
        elif one.name not in self._assigned:
            near = nearest(one.name, self._assigned)
            yield self._problem(one.position, "the variable has no value here", f"${one.name}", None, near)

    def _figure(self, one: grammar.Figure, client: str | None) -> Iterator[Problem]:
        text = "::".join(part for part in (one.client, one.type, one.param) if part)
        if one.client not in self._clients:
            near = nearest(one.client, self._clients)
            yield self._problem(one.position, "unknown client", one.client, ", ".join(self._clients), near)
        elif one.client not in self._reported:
            message = f"there is no figure before {one.client}.collect_threads()"
            yield self._problem(one.position, message, text)
        elif client not in (None, one.client):
            message = f"{client} runs apart from {one.client} and does not know its figures"
            yield self._problem(one.position, message, text)

    def _problem(
        self,
        position: Position,
        message: str,
        value: str,
        allowed: str | None = None,
        near: str | None = None,
    ) -> Problem:
        return Problem(self._script.file, position, message, value, allowed, near)


def traps(script: grammar.Script) -> list[TrapAt]:
    """The traps that the text alone shows, in the order of the file; data files are not looked at."""
    all_found = list(script.traps)
    tables = [one for one in script.sections if one.kind == "table"]
    for section in script.sections:
        if section.kind == "query":
            all_found += expand(section, script.named("dictionary"), script.file, strict=False)[1]
            if not section.says_yes("has_result_set") and _READS.match(section.text("query")):
                all_found.append(trap_at("unread-result", section.position, section.name))
        elif section.kind == "table":
            all_found += _of_table(section)
        elif section.kind == "dictionary":
            all_found += _of_dictionary(section, tables, script.file)
    for line in script.main:
        if (
            isinstance(line, grammar.Call)
            and line.method == "sleep"
            and line.arguments[1] != _zero(line.arguments[1])
        ):
            all_found.append(trap_at("sleep-milliseconds", line.arguments[1].position))
    unloads = [
        line
        for line in script.main
        if isinstance(line, grammar.Call) and line.method == "unload_query_barrel"
    ]
    for number, line in enumerate(unloads):
        if any(before.client == line.client for before in unloads[:number]):
            all_found.append(trap_at("new-connections", line.position, line.client))
    if unloads:
        all_found += [trap_at("inverted-times"), trap_at("silent-failure")]
    order = Position(2**31, 0)
    return sorted(dict.fromkeys(all_found), key=lambda one: one.position or order)


def _zero(argument: grammar.Expression) -> grammar.Expression:
    return grammar.Literal("0", argument.position)


def _of_table(section: grammar.Section) -> list[TrapAt]:
    at_hand = [
        trap_at("any-error-means-missing", section.position),
        trap_at("server-side-load", section.place("data_file")),
    ]
    place = section.place("gen_data_file")
    command = section.text("gen_data_file")
    parsed = parse_command(command)
    if parsed:
        at_hand += traps_of(parsed.form, place)
    elif command:
        at_hand.append(trap_at("shell-command", place, command))
    return at_hand


def _of_dictionary(section: grammar.Section, tables: list[grammar.Section], file: str) -> list[TrapAt]:
    at_hand: list[TrapAt] = []
    kind, source = section.text("type"), section.text("source_type")
    if kind == "rand":
        at_hand.append(trap_at("unseeded-choice", section.place("type")))
    if source == "list":
        at_hand += dictionaries.from_list(section, strict=False)[1]
    elif source == "template":
        at_hand += dictionaries.from_template(section, file, strict=False)[1]
    elif source == "file":
        below = [one.name for one in tables if one.position > section.position and _shares(one, section)]
        if below:
            place = section.place("source")
            at_hand.append(trap_at("dictionary-before-table", place, f"table {below[0]}"))
    return at_hand


def _shares(table: grammar.Section, dictionary: grammar.Section) -> bool:
    return table.text("data_file") == dictionary.text("source")
