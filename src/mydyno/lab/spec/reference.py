"""The reference part of docs/reference/experiment-file.md, made from the sections themselves.

    python -m mydyno.lab.spec.reference docs/reference/experiment-file.md

replaces the text between the two markers of that file.
"""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from mydyno.core.document.base import section_of
from mydyno.core.document.quantities import ConnectionsRule, CountRule, DurationRule, RateRule
from mydyno.core.document.sizes import BandwidthRule, SizeRule
from mydyno.core.server_files import VOLUMES
from mydyno.core.units import format_duration
from mydyno.lab.spec.experiment import Experiment
from mydyno.lab.spec.host import KernelRule
from mydyno.lab.spec.paths import is_config
from mydyno.lab.spec.volume_values import (
    RAIDS,
    SCHEDULERS,
    MountRule,
    RaidRule,
    SchedulerRule,
    SwitchRule,
    WordsRule,
)

BEGIN = "<!-- reference: begin (made by python -m mydyno.lab.spec.reference) -->"
END = "<!-- reference: end -->"
_WRITTEN_DIFFERENTLY: dict[str, str] = {
    "factors": "FACTOR: LEVELS",
    "sizes": "SIZE: {PATH: VALUE}",
    "arrival": "`closed`, `{fixed: RATE}`, `{poisson: RATE}`",
    "think": "TIME, `{exponential: TIME}`, `{uniform: TIME}`",
    "host": "`local`, `uml`, `vm`, `ssh`, `ssh:NAME`, or keys, see below",
    "external": "`mysql://USER@HOST:PORT/DATABASE`, or keys, see below",
    **{str(name): "keys as with `data`" for name in VOLUMES[1:]},
    "devices": "a list of keys, see below",
    "groups": "a list of test programs",
    "iodepth": "`1`, `[1, 16, 64]`",
    "numjobs": "`1`, `[1, 4, 16]`",
    "within": "`2%`",
    "until": "`±3%`, `3%`, `0.03`",
    "points": "`all`, `one-at-a-time`, `plackett-burman`, `{fraction: 1/2}`",
    "exclude": "`[{FACTOR: LEVEL}, {FACTOR: [LEVEL, LEVEL], FACTOR: LEVEL}]`",
    "only": "as `exclude`",
    "control": "`auto`, `true`, `false`",
    "options": "NAME: VALUE",
    "hosts": "`[c1, c2]`",
    "space": "PATH: `[A, B]`, or keys, see below",
    "values": "`[A, B, C]`",
    "range": "`[LOW, HIGH]`",
    "when": "PATH: VALUE or `[VALUE, VALUE]`",
    "network": "`false`, `true`, `{port: N}`",
}
_OF_RULE: dict[Any, str] = {
    ConnectionsRule: "`10`, `10..400 step 10`, `[1, 5, 10..50 step 10]`",
    BandwidthRule: "bandwidth: `50M` or `50M/s`",
    KernelRule: "version: `5.10`, `6.12`",
    RaidRule: ", ".join(f"`{level}`" for level in RAIDS),
    SchedulerRule: ", ".join(f"`{name}`" for name in SCHEDULERS),
    MountRule: "a list, or a text with commas",
    WordsRule: "a list, or a text",
    SwitchRule: "`yes`, `no`",
}
_LEAVES = {"Arrival", "Network", "Factor", "Think", "Condition"}
"""Sections that are written as one value, explained where they are used."""


def reference() -> str:
    """Markdown: a table of keys for the file and for each of its sections."""
    return "\n".join(_section(Experiment, "The file", "")) + "\n"


def with_reference(document: str) -> str:
    """`document` with the part between the markers generated. Raises ValueError without markers."""
    before, begin, rest = document.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"the document lacks {BEGIN} or {END}")
    return f"{before}{BEGIN}\n\n{reference()}\n{END}{after}"


def _section(section: type[BaseModel], title: str, path: str) -> Iterator[str]:
    yield f"### {title}"
    yield ""
    yield "| key | value | default | meaning |"
    yield "|---|---|---|---|"
    below: list[tuple[type[BaseModel], str]] = []
    for name, field in section.model_fields.items():
        child = section_of(field.annotation)
        if child is not None and child.__name__ not in _LEAVES and child not in [one for one, _ in below]:
            below.append((child, f"{path}{name}"))
        about = field.description or (child.__doc__ if child else "")
        yield f"| `{name}` | {_value(name, field)} | {_default(field)} | {about} |"
    for child, child_path in below:
        yield ""
        yield from _section(child, f"`{child_path}`", f"{child_path}.")


def _value(name: str, field: FieldInfo) -> str:
    # setup.host and the volume `log` have their own ways to be written; elsewhere they are plain values.
    plain = name in ("host", "log") and section_of(field.annotation) is None
    if name in _WRITTEN_DIFFERENTLY and not plain:
        return _WRITTEN_DIFFERENTLY[name]
    if is_config(field.annotation):
        return "VARIABLE: VALUE"
    if section_of(field.annotation) is not None:
        return "keys, see below"
    return next(_kinds(field.annotation, [*field.metadata]), "text")


def _kinds(annotation: Any, metadata: list[Any]) -> Iterator[str]:
    """What may be written, from the rule or the type in an annotation; the most informative first."""
    parts = [*metadata, *(part for arg in get_args(annotation) for part in (*get_args(arg), arg))]
    for part in parts:
        if isinstance(part, DurationRule):
            from_least = f" from {format_duration(part.at_least)}" if part.at_least else ""
            yield f"time{from_least}: `500ms`, `10s`, `2m`"
        elif isinstance(part, CountRule):
            yield f"number from {part.at_least:,}: `90000`, `20k`, `50M`"
        elif isinstance(part, RateRule):
            yield "rate: `1000/s`"
        elif isinstance(part, SizeRule):
            yield f"size: {part.bounds.replace('as ', 'as `')}`"
        elif type(part) in _OF_RULE:
            yield _OF_RULE[type(part)]
    for part in (annotation, *get_args(annotation)):
        if get_origin(part) is Literal:
            yield ", ".join(f"`{choice}`" for choice in get_args(part))
    types = {annotation, *parts}
    if bool in types:
        yield "`true`, `false`"
    if int in types:
        bounds = [bound for part in parts for bound in (part, *getattr(part, "metadata", ()))]
        least = next((bound.ge for bound in bounds if hasattr(bound, "ge")), None)
        most = next((bound.le for bound in bounds if hasattr(bound, "le")), None)
        yield _bounds(least, most)
    if float in types and not any(isinstance(part, DurationRule) for part in parts):
        yield "number"


def _parts(field: FieldInfo) -> list[Any]:
    return [*field.metadata, *(part for arg in get_args(field.annotation) for part in (*get_args(arg), arg))]


def _bounds(least: int | None, most: int | None) -> str:
    from_least = "" if least is None else f" from {least:,}"
    return f"number{from_least}" + ("" if most is None else f" to {most:,}")


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "required"
    if field.default_factory is not None:
        made = field.get_default(call_default_factory=True)
        written = made.model_dump(mode="json") if isinstance(made, BaseModel) else None
        return f"`{str(written).lower()}`" if isinstance(written, str | bool) else ""
    value = field.default
    if (
        value is None
        or value == ()
        or (not value and any(isinstance(part, SizeRule) for part in _parts(field)))
    ):
        return ""
    if isinstance(value, bool) and any(isinstance(part, SwitchRule) for part in _parts(field)):
        return "`yes`" if value else "`no`"
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    if isinstance(value, list):
        return "all"
    if isinstance(value, tuple):
        return f"`[{', '.join(map(str, value))}]`"
    if isinstance(value, float) and any(isinstance(part, DurationRule) for part in _parts(field)):
        return f"`{format_duration(value)}`" if value else "`0`"
    return f"`{value}`"


def main(path: Path) -> None:
    path.write_text(with_reference(path.read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
