"""Which settings of a trial were translated, to rows of lab.sqlite and back."""

from __future__ import annotations

import json
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Mapping

from mydyno.lab.results.records import SettingTranslation
from mydyno.lab.results.tables import insert, rows_of_run


def insert_translations(
    connection: sqlite3.Connection, key: int, translations: Iterable[SettingTranslation]
) -> None:
    """Write those of one trial. The caller owns the transaction."""
    for position, each in enumerate(translations):
        became = json.dumps(dict(each.became))
        values = {"name": each.name, "value": each.value, "became": became, "why": each.why}
        insert(connection, "translations", trial_key=key, position=position, **values)


def select_translations(
    connection: sqlite3.Connection, run_id: int
) -> Mapping[int, list[SettingTranslation]]:
    """Those of every attempt at every trial of a run, by the trial's key; none: an empty list."""
    found: dict[int, list[SettingTranslation]] = defaultdict(list)
    for row in rows_of_run(connection, run_id, "translations", "translations.position"):
        became = json.loads(row["became"])
        one = SettingTranslation(name=row["name"], value=row["value"], became=became, why=row["why"])
        found[row["trial_key"]].append(one)
    return found
