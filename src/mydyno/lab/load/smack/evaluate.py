"""The value of an expression in `main`: texts joined, arguments, variables, figures of a report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mydyno.lab.load.smack.report import ClientReport
from mydyno.lab.workload.smack.grammar import Expression, Figure, Joined, Literal, Variable


def evaluate(
    expression: Expression,
    arguments: Sequence[str],
    variables: Mapping[str, str],
    reports: Mapping[str, ClientReport],
    strict: bool,
) -> str:
    """The text that `expression` stands for; `arguments[0]` is the file, `reports` the last of each client.

    A figure of a client that has no report here is empty, as is a query type that it did not run.
    """
    match expression:
        case Literal():
            return expression.text
        case Variable() if expression.name.isdecimal():
            return arguments[int(expression.name)]
        case Variable():
            return variables.get(expression.name, "")
        case Joined():
            parts = (evaluate(part, arguments, variables, reports, strict) for part in expression.parts)
            return "".join(parts)
        case Figure():
            report = reports.get(expression.client)
            return _figure(expression, report, strict) if report else ""


def _figure(figure: Figure, report: ClientReport, strict: bool) -> str:
    """Milliseconds with three decimals, rates with two, counts as they are.

    Under strict-compat all have six decimals, as the original writes every number (src/val.h of super-smack
    1.3): of milliseconds the whole ones, and 0 for a rate without time.
    """
    if figure.type is None:
        times = report.connect
        key = {"max_connect_time": "max_ms", "min_connect_time": "min_ms", "avg_connect_time": "mean_ms"}
        return _ms(getattr(times, key[figure.param]), strict)
    one = report.of_type(figure.type)
    if one is None:
        return ""
    match figure.param:
        case "num_queries":
            return f"{one.count:f}" if strict else str(one.count)
        case "q_per_s" if strict:
            return f"{one.q_per_s or 0:f}"
        case "q_per_s":
            return "n/a" if one.q_per_s is None else f"{one.q_per_s:.2f}"
        case "max_time":
            return _ms(one.times.max_ms, strict)
        case _:
            return f"{0:f}" if strict else _ms(one.times.min_ms, strict)


def _ms(value: float | None, strict: bool) -> str:
    if strict:
        return f"{int(value or 0):f}"
    return "n/a" if value is None else f"{value:.3f}"
