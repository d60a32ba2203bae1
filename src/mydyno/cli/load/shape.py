"""The shape of an ad-hoc load: the options of the command line as the `workload` section of an experiment."""

from typing import Any

from mydyno.cli.quantities import Duration
from mydyno.core.document.given import validated
from mydyno.core.errors import UsageError
from mydyno.lab.spec import Workload


def workload(generator: str, options: dict[str, Any], values: dict[str, Any]) -> Workload:
    """The load of these options. Raises SpecErrors, UsageError."""
    if values["poisson"] and values["rate"] is None:
        raise UsageError("--poisson needs --rate", "for example: --rate 5000 --poisson")
    given: dict[str, Any] = {
        generator: options,
        "connections": _connections(values["connections"]),
        "each": _each(values),
        "ramp": _duration(values["ramp"]),
        "pause": _duration(values["pause"]),
        "answer_within": _duration(values["query_timeout"]),
    }
    if values["rate"] is not None:
        given["arrival"] = {"poisson" if values["poisson"] else "fixed": f"{values['rate']}/s"}
    if values["active"] is not None:
        given["active"] = values["active"]
    if values["think"] is not None:
        kind, colon, time = values["think"].rpartition(":")
        given["think"] = {kind: time} if colon else time
    if not given["ramp"]:
        del given["ramp"]
    return validated(
        Workload, {key: value for key, value in given.items() if value is not None}, "command line"
    )


def _connections(text: str) -> list[int | str]:
    parts = [part.strip() for part in text.split(",")]
    return [int(part) if part.isdigit() else part for part in parts]


def _each(values: dict[str, Any]) -> dict[str, Any]:
    counts = {name: values[name] for name in ("rounds", "events") if values[name] is not None}
    return counts or {"warmup": _duration(values["warmup"]), "measure": _duration(values["seconds"])}


def _duration(value: Duration) -> str | None:
    return str(value) if value else None
