"""The environment that a trial's storage was built in, to rows of lab.sqlite and back."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Mapping

from mydyno.lab.results.records import GroundRecord, VolumeRecord
from mydyno.lab.results.tables import RecordTable, insert, rows_by_trial, rows_of_run

_GROUNDS = RecordTable("grounds", GroundRecord, elsewhere=("volumes",))


def insert_ground(connection: sqlite3.Connection, key: int, ground: GroundRecord) -> None:
    """Writes that of one trial. The caller owns the transaction."""
    _GROUNDS.insert(connection, ground, trial_key=key)
    for position, volume in enumerate(ground.volumes):
        insert(connection, "volumes", trial_key=key, position=position, name=volume.name)
        for place, (name, value) in enumerate(volume.facts.items()):
            at = {"trial_key": key, "volume": volume.name, "position": place}
            insert(connection, "volume_facts", **at, name=name, value=value)


def select_grounds(connection: sqlite3.Connection, run_id: int) -> Mapping[int, GroundRecord]:
    """Those of every attempt at every trial of a run, by the trial's key."""
    facts: dict[tuple[int, str], dict[str, str]] = defaultdict(dict)
    for row in rows_of_run(connection, run_id, "volume_facts", "volume_facts.position"):
        facts[row["trial_key"], row["volume"]][row["name"]] = row["value"]
    volumes = rows_by_trial(connection, run_id, "volumes", "position")
    return {
        (key := row["trial_key"]): _GROUNDS.record(
            row,
            volumes=tuple(
                VolumeRecord(name=one["name"], facts=facts[key, one["name"]]) for one in volumes[key]
            ),
        )
        for row in rows_of_run(connection, run_id, "grounds", "trial_key")
    }
