"""Small workloads and small answers for tests."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from mydyno.core.document.problems import SpecErrors
from mydyno.lab import workload

Program = dict[str, Any]


def program(text: str, **options: Any) -> Program:
    """The program of a workload file that begins after its name."""
    return workload.reads(f"workload: test\n{text}", "test.yaml").resolve(options).program


def steps(written: str, more: str = "") -> list[Any]:
    """The engine's steps for the list `written`, in flow style."""
    [transaction] = program(f"{more}\ntransactions:\n  event: {written}\n")["transactions"]
    compiled: list[Any] = transaction["steps"]
    return compiled


def sql(statement: str, more: str = "values: {id: 'uniform(1, 9)'}") -> list[Any]:
    """The parts of one statement."""
    [step] = steps(f"[{{look: {quoted(statement)}}}]", more)
    parts: list[Any] = step["send"]["sql"]
    return parts


def expression(written: str, more: str = "") -> Any:
    """The engine's expression for one that a `let` has."""
    [step, _] = steps(f"[{{let: {{it: {quoted(written)}}}}}, SELECT 1]", more)
    return step["let"][1]


def quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def complaints(text: str) -> list[str]:
    """What is said of a wrong workload, without the file's name."""
    try:
        program(text)
    except SpecErrors as errors:
        return [str(problem).removeprefix("test.yaml:") for problem in errors.problems]
    raise AssertionError("nothing is wrong with it")


def sent(event: list[Any]) -> Iterator[str]:
    """The first words of the statements of an event, one after the other; branches are not taken."""
    for step in event:
        [(kind, body)] = step.items()
        if kind == "send":
            yield str(body["sql"][0]).split()[0].upper()
        elif kind == "repeat":
            for _ in range(body["times"]):
                yield from sent(body["steps"])
        else:
            assert kind in ("let", "pause_s", "reconnect"), kind
