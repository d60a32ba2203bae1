"""Variables as text for a terminal of 80 columns, and as plain data."""

import textwrap
from collections.abc import Iterable, Iterator
from typing import Any

from mydyno.core.units import format_bytes
from mydyno.lab.stack.server.release_variables import Changes, Variable, about
from mydyno.server.program.binary import ServerBinary
from mydyno.server.variables import Row, catalogue
from mydyno.server.variables.release import Family

_WIDTH = 80
_NAME = 46
_LEVELS = {
    "unsafe": "unsafe",
    "server crash": "loses about 1 s when the server crashes",
    "OS crash": "loses about 1 s when the machine crashes",
}


def nearest(pattern: str, binary: ServerBinary) -> str | None:
    """Names that may have been meant."""
    return " or ".join(catalogue().nearest(pattern.lower(), binary.options)) or None


def render_list(binary: ServerBinary, variables: Iterable[Variable]) -> str:
    """Two lines a variable: name and default, then its meaning. Those of other releases come last."""
    here = [each for each in variables if each.listed]
    elsewhere = [each for each in variables if not each.listed]
    lines = [f"{binary.version}: {len(here)} variable{'s' * (len(here) != 1)}"]
    for each in here:
        lines += ["", _head(each), *_means(each)]
    if elsewhere:
        lines += ["", f"not in {binary.version}"]
        for each in elsewhere:
            lines += ["", f"  {each.name}", *_means(each)]
            lines += _wrapped(each.row.history() if each.row else "", "      ")
    return "\n".join(lines) + "\n"


def render_one(binary: ServerBinary, variable: Variable) -> str:
    """Everything that is known of one variable."""
    facts = list(_facts(binary, variable))
    width = max(len(name) for name, _ in facts)
    lines = [variable.name]
    for name, text in facts:
        first, *rest = textwrap.wrap(text, _WIDTH - width - 4) or [""]
        lines += [f"  {name:{width}}  {first}", *(" " * (width + 4) + line for line in rest)]
    return "\n".join(lines) + "\n"


def render_changes(before: ServerBinary, after: ServerBinary, changes: Changes) -> str:
    """What a DBA goes through before an upgrade, the most dangerous first."""
    counts = (
        f"{len(changes.replaced)} replaced, {len(changes.removed)} removed, {len(changes.defaults)} "
        f"with another default, {len(changes.added)} added"
    )
    lines = [f"from {before.version} to {after.version}", counts]
    if changes.replaced:
        lines += ["", "replaced"]
        for one in changes.replaced:
            lines += [f"  {one.name}", *_wrapped(f"now {one.by}{_in_brackets(one.why)}", "      ")]
    if changes.removed:
        lines += ["", "removed"]
        for gone in changes.removed:
            lines += [f"  {gone.name}", *_wrapped(_farewell(after, gone.row), "      ")]
    if changes.defaults:
        lines += ["", "another default"]
        for change in changes.defaults:
            row = catalogue().get(change.name)
            values = _difference(change.before, change.after, row)
            lines += [f"  {change.name}", *_wrapped(values, "      ")]
    if changes.added:
        lines += ["", "added"]
        for each in changes.added:
            lines += [_head(each), *_means(each)]
    return "\n".join(lines) + "\n"


def as_json(binary: ServerBinary, variable: Variable) -> dict[str, Any]:
    """All that is known of one variable; null where it is not known."""
    row, running = variable.row, variable.running
    return {
        "name": variable.name,
        "release": str(binary.version),
        "listed": variable.listed,
        "default": variable.default,
        **(_row_json(row) if row else dict.fromkeys(_OF_ROW)),
        "dynamic": running.dynamic if running else None,
        "type": running.kind if running else None,
        "least": running.least if running else None,
        "most": running.most if running else None,
        "choices": list(running.choices) if running and running.choices else None,
        "sources": [catalogue().sources[key] for key in row.sources] if row else None,
    }


_OF_ROW = ("means", "unit", "layer", "history", "becomes", "instead", "memory", "losses", "new_defaults")


def _row_json(row: Row) -> dict[str, Any]:
    new_defaults = [_default_json(each.model_dump(mode="json")) for each in row.defaults]
    losses = [each.model_dump(mode="json", exclude_defaults=True) for each in row.losses]
    becomes = [each.name for each in row.becomes]
    values = (row.means, row.unit, row.layer, row.history(), becomes, row.instead, row.memory)
    return dict(zip(_OF_ROW, (*values, losses, new_defaults), strict=True))


def changes_json(before: ServerBinary, after: ServerBinary, changes: Changes) -> dict[str, Any]:
    """The same as render_changes, as plain data."""
    return {
        "from": str(before.version),
        "to": str(after.version),
        "replaced": [{"name": each.name, "by": each.by, "why": each.why} for each in changes.replaced],
        "removed": [as_json(after, each) for each in changes.removed],
        "defaults": [
            {"name": each.name, "before": each.before, "after": each.after, "since": each.since}
            for each in changes.defaults
        ],
        "added": [as_json(after, each) for each in changes.added],
    }


def _facts(binary: ServerBinary, variable: Variable) -> Iterator[tuple[str, str]]:
    row, running = variable.row, variable.running
    if variable.listed:
        yield f"{binary.version}", f"default {_value(variable.default, row)}"
    else:
        yield f"{binary.version}", "does not have it"
    if running is not None and running.dynamic is not None:
        yield "while it runs", "can be changed" if running.dynamic else "cannot be changed"
    if running is not None and running.least is not None:
        yield "bounds", f"{_value(running.least, row)} to {_value(running.most, row)}"
    if running is not None and running.choices:
        yield "choices", ", ".join(running.choices)
    if row is None:
        yield "catalogue", "has no row for it"
        return
    yield "means", row.means
    yield "kind", f"{row.unit}, {row.layer}"
    yield "history", row.history()
    for each in row.becomes:
        yield "elsewhere", f"{each.name}{_in_brackets(each.because)}"
    if row.instead:
        yield "instead", row.instead
    for default in row.defaults:
        yield "default of", f"{default.on.label} {default.since}: {default.to} (was {default.was})"
    if row.memory:
        yield "memory", row.memory
    for loss in row.losses:
        says = loss.says.replace("{setting}", f"{variable.name}={loss.value}").replace("{value}", "N")
        yield "durability", f"{_LEVELS[loss.level]}: {says}"
    for key in row.sources:
        yield "source", catalogue().sources[key]


def _head(variable: Variable) -> str:
    value = _value(variable.default, variable.row)
    name = f"  {variable.name}"
    room = _WIDTH - max(len(name), _NAME) - 1
    shown = value if len(value) <= room else f"{value[: max(room - 3, 1)]}..."
    return f"{name:{_NAME}} {shown}".rstrip()


def _means(variable: Variable) -> list[str]:
    if variable.row is None:
        return []
    return _wrapped(f"{variable.row.means} ({variable.row.unit}, {variable.row.layer})", "      ")


def _farewell(after: ServerBinary, row: Row | None) -> str:
    """Why a variable is gone and what to do about it."""
    if row is None:
        return "not in the catalogue"
    family = Family.of(after.version)
    life = row.life(family)
    gone = life.sentence(family) if life else f"{family.label} never had it"
    means = [each.because for each in row.dropped if each.values == "any" and each.holds(after.version)]
    advice = [about(family, text) for text in (row.instead, *means)]
    return "; ".join(filter(None, [gone, next(filter(None, advice), None)]))


def _value(value: str | None, row: Row | None) -> str:
    if value is None:
        return "(none)"
    if value == "":
        return "(empty)"
    if row is not None and row.unit == "bytes" and value.isdigit() and int(value) % 1024 == 0 and int(value):
        return format_bytes(int(value))
    return {"TRUE": "ON", "FALSE": "OFF"}.get(value, value)


def _difference(before: str | None, after: str | None, row: Row | None) -> str:
    """`old -> new`; of long lists only what went and what came."""
    old, new = (before or "").split(","), (after or "").split(",")
    if max(len(old), len(new)) < 3:
        return f"{_value(before, row)} -> {_value(after, row)}"
    went, came = [each for each in old if each not in new], [each for each in new if each not in old]
    parts = [("without ", went), ("with ", came)]
    return "; ".join(word + ", ".join(filter(None, each)) for word, each in parts if any(each))


def _default_json(default: dict[str, Any]) -> dict[str, Any]:
    since = default.pop("since")
    return {**default, "since": ".".join(map(str, since["numbers"]))}


def _in_brackets(text: str | None) -> str:
    return f" ({text})" if text else ""


def _wrapped(text: str, indent: str) -> list[str]:
    return textwrap.wrap(text, _WIDTH, initial_indent=indent, subsequent_indent=indent)
