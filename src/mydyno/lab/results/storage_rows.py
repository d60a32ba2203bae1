"""What a trial stood on, to rows of lab.sqlite and back: its ground, self-checks of it, data, remarks."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, fields

from mydyno.lab.results.records import (
    DataRecord,
    GroundRecord,
    Remark,
    SelfCheckRecord,
    TrialRecord,
    VolumeRecord,
)
from mydyno.lab.results.tables import insert, rows_by_trial, rows_of_run

_GROUND = tuple(field.name for field in fields(GroundRecord) if field.name != "volumes")
_DATA = tuple(field.name for field in fields(DataRecord))
_SELF_CHECK = tuple(field.name for field in fields(SelfCheckRecord))


@dataclass(frozen=True)
class Storage:
    """Of every trial of a run, by the trial's key."""

    grounds: Mapping[int, GroundRecord]
    self_checks: Mapping[int, list[SelfCheckRecord]]
    """A trial without any has an empty list."""
    remarks: Mapping[int, list[Remark]]
    data: Mapping[int, DataRecord]


def insert_storage(connection: sqlite3.Connection, key: int, trial: TrialRecord) -> None:
    """Write them into their tables. The caller owns the transaction."""
    if trial.ground is not None:
        _insert_ground(connection, key, trial.ground)
    if trial.data is not None:
        insert(connection, "trial_data", trial_key=key, **{name: getattr(trial.data, name) for name in _DATA})
    for position, check in enumerate(trial.self_checks):
        values = {name: getattr(check, name) for name in _SELF_CHECK}
        insert(connection, "self_checks", trial_key=key, position=position, **values)
    for position, remark in enumerate(trial.remarks):
        insert(
            connection,
            "remarks",
            trial_key=key,
            position=position,
            check_name=remark.check,
            message=remark.message,
        )


def select_storage(connection: sqlite3.Connection, run_id: int) -> Storage:
    """Those of every attempt at every trial of a run."""
    facts: dict[tuple[int, str], dict[str, str]] = defaultdict(dict)
    for row in rows_of_run(connection, run_id, "volume_facts", "volume_facts.position"):
        facts[row["trial_key"], row["volume"]][row["name"]] = row["value"]
    volumes = rows_by_trial(connection, run_id, "volumes", "position")
    self_checks: dict[int, list[SelfCheckRecord]] = defaultdict(list)
    for row in rows_of_run(connection, run_id, "self_checks", "self_checks.position"):
        self_checks[row["trial_key"]].append(SelfCheckRecord(**{name: row[name] for name in _SELF_CHECK}))
    remarks: dict[int, list[Remark]] = defaultdict(list)
    for row in rows_of_run(connection, run_id, "remarks", "remarks.position"):
        remarks[row["trial_key"]].append(Remark(check=row["check_name"], message=row["message"]))
    return Storage(
        grounds={
            row["trial_key"]: GroundRecord(
                **{name: row[name] for name in _GROUND},
                volumes=tuple(
                    VolumeRecord(name=volume["name"], facts=facts[row["trial_key"], volume["name"]])
                    for volume in volumes[row["trial_key"]]
                ),
            )
            for row in rows_of_run(connection, run_id, "grounds", "trial_key")
        },
        self_checks=self_checks,
        remarks=remarks,
        data={
            row["trial_key"]: DataRecord(**{name: row[name] for name in _DATA})
            for row in rows_of_run(connection, run_id, "trial_data", "trial_key")
        },
    )


def _insert_ground(connection: sqlite3.Connection, key: int, ground: GroundRecord) -> None:
    insert(connection, "grounds", trial_key=key, **{name: getattr(ground, name) for name in _GROUND})
    for position, volume in enumerate(ground.volumes):
        insert(connection, "volumes", trial_key=key, position=position, name=volume.name)
        for place, (name, value) in enumerate(volume.facts.items()):
            insert(
                connection,
                "volume_facts",
                trial_key=key,
                volume=volume.name,
                position=place,
                name=name,
                value=value,
            )
