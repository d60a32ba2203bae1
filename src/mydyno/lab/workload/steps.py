"""Steps: what an event does, in order."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from mydyno.core.nearest import nearest
from mydyno.core.units import parse_duration
from mydyno.lab.workload.constants import Expression, is_constant, truth
from mydyno.lab.workload.expressions import compile_written, number_of
from mydyno.lab.workload.functions import Names
from mydyno.lab.workload.options import check_name
from mydyno.lab.workload.sql import Context, Tables, compile_sql, first_word
from mydyno.lab.workload.tables import Compiled
from mydyno.lab.workload.written import Gathered, Written

AROUND_KEYS = {
    "when": "A condition: where it does not hold, the step is skipped.",
    "else": "The steps for when the condition does not hold.",
    "choose": "A table with copies: one copy is chosen, each alike, for what is inside. "
    "`choose: {TABLE: NUMBER}` says which.",
    "repeat": "How many times.",
    "index": "With `repeat`: a name for the number of the pass, from 0.",
    "let": "NAME: EXPRESSION; draws it now and keeps it for the rest of the event.",
}
"""Go round an action, from outside to inside."""
ACTION_KEYS = {
    "steps": "A block of steps.",
    "use": "The name of one of the file's `blocks`, done here.",
    "mix": "A list of `{weight: NUMBER, steps: [...]}`; one of them is done, chosen by weight.",
    "pause": "Rests: a time, as `10ms`, or an expression in seconds.",
    "reconnect": "`true`: closes the connection and opens it again.",
    "end": "`done` or `failed`: leaves the event; a failed one is not counted as a transaction.",
}
STATEMENT_KEYS = {
    "read": "A name or a list of names for the first columns of the answer.",
    "row": "Which row is read: `first` (default) or `middle`, the row n/2, rounded up, of n.",
    "empty": "When there is no row: `fail` (default: error 1329, the event fails), `keep` (the names "
    "keep what they had) or `skip` (leaves the block that is around).",
    "expect_error": "The code of the error that the statement is to end with; anything else is an error.",
}
"""Go with `NAME: STATEMENT`."""
STEP_KEYS = {**AROUND_KEYS, **ACTION_KEYS, **STATEMENT_KEYS}


_MOST_DEPTH = 20


def check_keys(item: Written, entries: dict[str, Written]) -> None:
    """One action at most, and only keys that go with it. Raises Wrong."""
    named = [key for key in entries if key not in STEP_KEYS]
    actions = [key for key in entries if key in ACTION_KEYS]
    other_keys = [key for key in entries if key in AROUND_KEYS or key in ACTION_KEYS]
    for key in named:
        close = nearest(key, STEP_KEYS)
        is_statement = entries[key].text is not None
        if not is_statement or (close and (len(named) > 1 or actions)):
            message = "a step: unknown key"
            raise item.at(entries[key].key, message, key, f"{', '.join(STEP_KEYS)}, NAME: STATEMENT", close)
    if len(named) + len(actions) > 1:
        second = [*named, *actions][1]
        raise item.at(entries[second].key, "a step has one action", second, "a separate step for each")
    if not named and not actions and "let" not in entries and "else" not in entries:
        shown = other_keys[0] if other_keys else item.describe()
        raise item.at(item.position, "the step does nothing", shown, "steps: [...] or NAME: STATEMENT")
    for key in entries:
        if key in STATEMENT_KEYS and not named:
            raise item.at(entries[key].key, f"{key} goes with a statement", key, "NAME: STATEMENT")
    for key, needed in (("index", "repeat"), ("else", "when"), ("row", "read"), ("empty", "read")):
        if key in entries and needed not in entries:
            raise item.at(entries[key].key, f"{key} goes with {needed}", key, f"{needed} with it")


@dataclass(frozen=True)
class Scope:
    """What is known at one step."""

    names: Names
    tables: Tables

    def bind(self, *names: str) -> Scope:
        bound = self.names.registers | set(names)
        return replace(self, names=replace(self.names, registers=bound))

    def after(self, *ways: Scope) -> Scope:
        """Behind a fork of `ways`: what all of them bound is bound."""
        everywhere = frozenset.intersection(*(way.names.registers for way in ways))
        anywhere = frozenset.union(*(way.names.registers | way.names.perhaps for way in ways))
        names = replace(
            self.names, registers=everywhere, perhaps=self.names.perhaps | (anywhere - everywhere)
        )
        return replace(self, names=names)


@dataclass
class StepCompiler:
    """Compiles the steps of one transaction; problems go to `gathered`."""

    blocks: Mapping[str, Written]
    tables: Compiled
    gathered: Gathered
    prepared: bool
    depth: int = 0
    unfolding: list[str] = field(default_factory=list)

    def compile(self, written: Written, what: str, scope: Scope) -> tuple[list[Any], Scope]:
        """The engine's steps for a list, and what is known behind it. Raises Wrong when it is not a list."""
        if self.depth > _MOST_DEPTH:
            raise written.wrong(
                "the steps are nested too deeply", f"at most {_MOST_DEPTH} levels", show=False
            )
        items = written.items(what)
        self.depth += 1
        compiled: list[Any] = []
        for item in items:
            with self.gathered.here():
                steps, scope = self._step(item, scope)
                compiled += steps
        self.depth -= 1
        return compiled, scope

    def _step(self, item: Written, scope: Scope) -> tuple[list[Any], Scope]:
        if item.text is not None:
            return self._statement(item, None, {}, scope), scope
        if not item.is_mapping:
            raise item.wrong("this is not a step", "a statement, or a mapping such as {let: {id: id}}")
        entries = item.entries("a step")
        check_keys(item, entries)
        return self._around(item, entries, scope)

    def _around(self, item: Written, entries: dict[str, Written], scope: Scope) -> tuple[list[Any], Scope]:
        if "when" not in entries:
            return self._chosen(item, entries, scope)
        condition = compile_written(entries["when"], scope.names, "when")
        then, after_then = self._chosen(item, entries, scope)
        otherwise: list[Any] = []
        after_else = scope
        if "else" in entries:
            otherwise, after_else = self.compile(entries["else"], "else", scope)
        if is_constant(condition):
            return (then, after_then) if truth(condition) else (otherwise, after_else)
        ways = [way for steps, way in ((then, after_then), (otherwise, after_else)) if not _leaves(steps)]
        step: dict[str, Any] = {"if": condition, "steps": then}
        if otherwise:
            step["else"] = otherwise
        return [{"when": step}], scope.after(*(ways or [after_then, after_else]))

    def _chosen(self, item: Written, entries: dict[str, Written], scope: Scope) -> tuple[list[Any], Scope]:
        if "choose" not in entries:
            return self._repeated(item, entries, scope)
        name, number = self._choice(entries["choose"], scope)
        fixed = is_constant(number)
        if fixed:
            names = scope.names.with_constants({"copy": number})
        else:
            names = replace(scope.names, words=scope.names.words | {"copy"})
        tables = replace(scope.tables, chosen=name, number=number if fixed else None)
        inner = replace(scope, tables=tables, names=names)
        steps, after = self._repeated(item, entries, inner)
        after = replace(
            scope, names=replace(after.names, words=scope.names.words, constants=scope.names.constants)
        )
        if fixed or not steps:
            return steps, after
        return [{"let": ["copy", number]}, *steps], after

    def _choice(self, written: Written, scope: Scope) -> tuple[str, Expression]:
        """The table, and which copy of it."""
        number: Expression = None
        if written.is_mapping:
            entries = written.entries("choose")
            if len(entries) != 1:
                raise written.wrong("choose names one table", "choose: TABLE, or choose: {TABLE: NUMBER}")
            [(name, which)] = entries.items()
            number = compile_written(which, scope.names, "choose")
        else:
            name, which = written.text_of("choose"), written
        if name not in self.tables.copied:
            copied = list(self.tables.copied)
            if name in self.tables.single:
                raise written.at(
                    which.key, f"{name} has no copies to choose from", name, "a table with `copies`"
                )
            allowed = ", ".join(copied) or "no table here has copies"
            raise written.at(which.key, "unknown table", name, allowed, nearest(name, copied))
        copies = self.tables.copied[name]
        if is_constant(number) and number is not None and number not in range(1, copies + 1):
            raise written.wrong(f"{name} has no copy {number}", f"1 to {copies}")
        if number is None:
            return name, ["uniform", 1, copies] if copies > 1 else 1
        return name, number

    def _repeated(self, item: Written, entries: dict[str, Written], scope: Scope) -> tuple[list[Any], Scope]:
        if "repeat" not in entries:
            return self._bound(entries, scope)
        times = compile_written(entries["repeat"], scope.names, "repeat")
        if is_constant(times) and (not isinstance(times, int) or times < 0):
            raise entries["repeat"].wrong("repeat is not a number of times", "0 or more")
        inner = scope
        index = None
        if "index" in entries:
            index = entries["index"].text_of("index")
            check_name(index, entries["index"], "a name")
            inner = scope.bind(index)
        steps, after = self._bound(entries, inner)
        if times == 0 or not steps:
            return [], scope
        if times == 1 and index is None:
            return steps, after
        step: dict[str, Any] = {"times": times}
        if index is not None:
            step["index"] = index
        step["steps"] = steps
        return [{"repeat": step}], after if is_constant(times) else scope.after(scope, after)

    def _bound(self, entries: dict[str, Written], scope: Scope) -> tuple[list[Any], Scope]:
        lets: list[Any] = []
        if "let" in entries:
            for name, written in entries["let"].entries("let").items():
                check_name(name, written, "a name")
                lets.append({"let": [name, compile_written(written, scope.names, f"let {name}")]})
                scope = scope.bind(name)
        steps, scope = self._action(entries, scope)
        return [*lets, *steps], scope

    def _action(self, entries: dict[str, Written], scope: Scope) -> tuple[list[Any], Scope]:
        for name, written in entries.items():
            if name not in STEP_KEYS:
                return self._sent(name, written, entries, scope)
        if "steps" in entries:
            return self.compile(entries["steps"], "steps", scope)
        if "use" in entries:
            return self._used(entries["use"], scope)
        if "mix" in entries:
            return self._mixed(entries["mix"], scope)
        if "pause" in entries:
            return [{"pause_s": _seconds(entries["pause"], scope.names)}], scope
        if "reconnect" in entries:
            if entries["reconnect"].scalar is not True:
                raise entries["reconnect"].wrong("reconnect is not true", "reconnect: true")
            return [{"reconnect": True}], scope
        if "end" in entries:
            return [{"end": _word(entries["end"], "end", ("done", "failed"))}], scope
        return [], scope

    def _used(self, written: Written, scope: Scope) -> tuple[list[Any], Scope]:
        name = written.text_of("use")
        if name not in self.blocks:
            known = ", ".join(self.blocks) or "`blocks` has none"
            raise written.wrong("unknown block", known, nearest(name, self.blocks))
        if name in self.unfolding:
            raise written.wrong(f"the block {name} uses itself", "blocks without a circle")
        self.unfolding.append(name)
        try:
            return self.compile(self.blocks[name], f"blocks.{name}", scope)
        finally:
            self.unfolding.pop()

    def _mixed(self, written: Written, scope: Scope) -> tuple[list[Any], Scope]:
        mixed: list[dict[str, Any]] = []
        ways: list[Scope] = []
        for item in written.items("mix"):
            entries = item.entries("an item of mix")
            for wrong in item.only(("weight", "steps"), "an item of mix"):
                raise wrong
            if set(entries) != {"weight", "steps"}:
                raise item.wrong("an item of mix lacks weight or steps", "{weight: NUMBER, steps: [...]}")
            weight = number_of(entries["weight"], scope.names, "weight")
            steps, after = self.compile(entries["steps"], "steps", scope)
            if weight:
                mixed.append({"weight": weight, "steps": steps})
                ways.append(after)
        if not mixed:
            raise written.wrong("mix has nothing to choose from", "weights above 0", show=False)
        if len(mixed) == 1:
            return mixed[0]["steps"], ways[0]
        return [{"mix": mixed}], scope.after(*ways)

    def _sent(
        self, name: str, written: Written, entries: dict[str, Written], scope: Scope
    ) -> tuple[list[Any], Scope]:
        check_name(name, written, "a statement")
        steps = self._statement(written, name, entries, scope)
        return steps, scope.bind(*steps[0]["send"].get("read", {}).get("into", ()))

    def _statement(
        self, written: Written, name: str | None, entries: dict[str, Written], scope: Scope
    ) -> list[Any]:
        parts = compile_sql(written, "the statement", Context(scope.names, scope.tables))
        if self.prepared and any(isinstance(part, dict) and "raw" in part for part in parts):
            raise written.wrong(
                "raw text cannot be prepared", "values as :name, or prepared: false", show=False
            )
        sent: dict[str, Any] = {"name": name or first_word(str(parts[0])), "sql": parts}
        if any(isinstance(part, dict) and "copy" in part for part in parts) and scope.tables.chosen:
            sent["copies"] = self.tables.copied[scope.tables.chosen]
        if "read" in entries:
            sent["read"] = {
                "into": _into(entries["read"]),
                "row": _word(entries.get("row"), "row", ("first", "middle")),
                "empty": _word(entries.get("empty"), "empty", ("fail", "keep", "skip")),
            }
        if "expect_error" in entries:
            sent["expect_error"] = number_of(entries["expect_error"], scope.names, "expect_error", 1)
        return [{"send": sent}]


def _leaves(steps: list[Any]) -> bool:
    """Whether the event never goes on behind `steps`."""
    return bool(steps) and "end" in steps[-1]


def _into(written: Written) -> list[str]:
    items = written.items("read") if written.is_list else (written,)
    for item in items:
        check_name(item.text_of("read"), item, "a name")
    return [str(item.text) for item in items]


def _word(written: Written | None, what: str, choices: tuple[str, ...]) -> str:
    """One of the choices, the first when nothing is written. Raises Wrong."""
    if written is None:
        return choices[0]
    word = written.describe()
    if word not in choices:
        raise written.wrong(f"{what}: unknown value", ", ".join(choices), nearest(word, choices))
    return word


def _seconds(written: Written, names: Names) -> Expression:
    text = written.text
    if text is not None and re.fullmatch(r"\s*\d+(\.\d+)?\s*[a-z]+\s*", text):
        try:
            return parse_duration(text)
        except ValueError:
            raise written.wrong("this is not a time", "a time with its unit, as 10ms or 2s") from None
    seconds = compile_written(written, names, "pause")
    if is_constant(seconds) and (not isinstance(seconds, int | float) or seconds < 0):
        raise written.wrong("this is not a time", "a time as 10ms, or an expression in seconds")
    return seconds
