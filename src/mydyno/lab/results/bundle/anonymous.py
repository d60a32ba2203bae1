"""Names of machines, people and folders, taken out of a run.

What is replaced: the host names of the server and the environment, the folder of the lab, and the
owner's name in paths below /home and /Users. Numbers, settings and everything else stay.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any

from mydyno.core.hiding import HOST_SETTINGS, Hide, hider
from mydyno.lab.results.plain_rows import PlainRun, TableRows, Value
from mydyno.lab.results.records import EXTERNAL_SERVER, UNSEEN_SERVER


def hider_of(run: PlainRun, lab: str) -> Hide:
    """What takes the names of this run out of a text. `lab`: the folder of the lab now."""
    return hider(_host_names(run), {lab, *_labs(run)})


def hide_in_rows(run: PlainRun, hide: Hide) -> PlainRun:
    """Every text of every row, JSON in it too; folders of trials are names of mydyno's own."""
    return replace(
        run,
        tables={
            name: TableRows(
                table.columns, tuple(tuple(_hidden(value, hide) for value in row) for row in table.rows)
            )
            for name, table in run.tables.items()
        },
    )


def hide_in_file(path: str, content: bytes, hide: Hide) -> bytes:
    """A text file of a trial or a run; in JSON the values, not the names. Series hold no text."""
    if path.endswith(".parquet"):
        return content
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return hide(content.decode("latin-1")).encode("latin-1")
    if path.endswith(".json"):
        return json.dumps(_in_json(json.loads(text), hide), indent=1).encode()
    if path.endswith(".jsonl"):
        lines = (json.dumps(_in_json(json.loads(line), hide)) for line in text.splitlines())
        return "".join(f"{line}\n" for line in lines).encode()
    return hide(text).encode()


def _in_json(value: Any, hide: Hide) -> Any:
    if isinstance(value, str):
        return hide(value)
    if isinstance(value, list):
        return [_in_json(each, hide) for each in value]
    if isinstance(value, dict):
        return {name: _in_json(each, hide) for name, each in value.items()}
    return value


def _hidden(value: Value, hide: Hide) -> Value:
    return hide(value) if isinstance(value, str) else value


def _host_names(run: PlainRun) -> Iterator[str]:
    for name, value in _named(run, "settings", "in_force"):
        if name in HOST_SETTINGS:
            yield value
    for name, value in _named(run, "environments", "value"):
        if name in (EXTERNAL_SERVER, UNSEEN_SERVER):
            yield value.rpartition("@")[2].rpartition(":")[0].strip("[]") or value
        elif name.endswith("hostname"):
            yield value


def _labs(run: PlainRun) -> Iterator[str]:
    """Where the lab was when its servers ran: their data were in LAB/run/..."""
    for name, value in _named(run, "settings", "in_force"):
        if name == "datadir":
            yield from (str(parent.parent) for parent in PurePosixPath(value).parents if parent.name == "run")


def _named(run: PlainRun, table: str, column: str) -> Iterable[tuple[str, str]]:
    content = run.tables.get(table)
    if content is None:
        return
    name, value = content.columns.index("name"), content.columns.index(column)
    for row in content.rows:
        if isinstance(row[value], str):
            yield str(row[name]), str(row[value])
