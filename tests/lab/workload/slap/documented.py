"""The table of oddities as docs/reference/mysqlslap.md has it, with the default options' numbers in it."""

from __future__ import annotations

from mydyno.lab.workload.slap import Oddity, Options, met

_CHOICES = (
    Options(queries=100, guid_primary=True),
    Options(load_type="read"),
    Options(load_type="update", commit=2, detach=2),
)


def oddities() -> dict[str, Oddity]:
    """One of each, as three choices of options meet them with three clients."""
    return {one.name: one for options in _CHOICES for one in met(options, 3)}


def oddity_table() -> str:
    lines = ["| oddity | mysqlslap | with `--corrected` |", "|---|---|---|"]
    lines += [f"| `{one.name}` | {one.original} | {one.corrected} |" for one in oddities().values()]
    return "\n".join(lines) + "\n"
