"""Short ways to scripts and their parts, for tests."""

from __future__ import annotations

from typing import Any

from mydyno.lab.workload.smack import grammar, program
from mydyno.lab.workload.smack.dictionary import Dictionary
from mydyno.lab.workload.smack.grammar import Script, Section

MAIN = """main { c.init(); c.set_num_rounds($2); c.create_threads($1); c.connect(); c.unload_query_barrel();
c.collect_threads(); c.disconnect(); }"""


def script(sections: str, main: str = MAIN, *, strict: bool = False) -> Script:
    return grammar.parse(sections + main, "test.smack", strict)


def section(text: str, *, strict: bool = False) -> Section:
    return script(text, strict=strict).sections[0]


def words(*all_words: str, kind: str = "rand", name: str = "word") -> Dictionary:
    return Dictionary(name, kind, all_words)


def round_of(
    sections: str, *dictionaries: Dictionary, strict: bool = False, lane: program.Lane | None = None
) -> program.Round:
    """One round of the barrel of client c."""
    read = script(sections, strict=strict)
    return program.build(read, read.named("client")["c"], dictionaries, lane or program.Lane(), strict)


def sends(steps: list[dict[str, Any]]) -> list[tuple[str, Any]]:
    """(name, sql) of every statement, loops unrolled once."""
    found = []
    for step in steps:
        if "send" in step:
            found.append((step["send"]["name"], step["send"]["sql"]))
        elif "repeat" in step:
            found += sends(step["repeat"]["steps"]) * step["repeat"]["times"]
    return found


def statements(one: program.Round) -> list[tuple[str, Any]]:
    [transaction] = one.program["transactions"]
    return sends(transaction["steps"])
