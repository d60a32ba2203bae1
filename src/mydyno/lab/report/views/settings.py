"""What the server really ran with, next to what was configured, and what differs between the points."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from mydyno.core.units import format_bytes
from mydyno.core.words import words
from mydyno.lab.report.evidence import Evidence, Setting
from mydyno.lab.results.records import DataRecord, TrialRecord

_OF_THE_SESSION = words(
    """
    gtid_binlog_pos gtid_binlog_state gtid_current_pos gtid_executed hostname identity insert_id last_gtid
    last_insert_id port pseudo_thread_id rand_seed1 rand_seed2 report_port server_uid server_uuid timestamp
    """
)
"""Differ from start to start whatever one asks for."""


@dataclass(frozen=True)
class Value:
    in_force: str | None
    """None where it is unknown or was not the same in all of the setting's trials."""
    configured: str | None
    """As written in the experiment; None when it is not set there."""


@dataclass(frozen=True)
class SettingRow:
    name: str
    values: tuple[Value, ...]
    """One for each setting."""

    @property
    def differs(self) -> bool:
        return len({value.in_force for value in self.values}) > 1


@dataclass(frozen=True)
class SettingsView:
    settings: tuple[Setting, ...]
    rows: tuple[SettingRow, ...]
    """What the experiment sets, and all else that differs; those that differ first. At the end
    how the data was cloned and how warm it was."""
    durability: tuple[str | None, ...]
    """The label of each setting; None where it is unknown or was not the same in all of its trials."""
    known: int
    """How many variables were read back from the server; 0 when none was."""
    translated: tuple[str, ...] = ()
    """A sentence for each setting that was written for another release, with the servers that have it."""

    @property
    def durability_differs(self) -> bool:
        return len(set(self.durability)) > 1


def settings_view(evidence: Evidence) -> SettingsView:
    settings = evidence.settings
    by_point = [_believed(evidence, setting.point_id) for setting in settings]
    in_force = [_steady([trial.settings_in_force for trial in trials]) for trials in by_point]
    configured = [_steady([trial.settings_asked for trial in trials]) for trials in by_point]
    rows = []
    for name in {name for mapping in (*in_force, *configured) for name in mapping}:
        values = tuple(
            Value(now.get(name), wanted.get(name)) for now, wanted in zip(in_force, configured, strict=True)
        )
        row = SettingRow(name, values)
        if any(value.configured is not None for value in values) or (
            row.differs and not incidental(row.name, [value.in_force for value in values])
        ):
            rows.append(row)
    beneath = [
        SettingRow(name, tuple(Value(value, None) for value in values))
        for name, values in data_rows(by_point)
    ]
    return SettingsView(
        settings=settings,
        rows=(*sorted(rows, key=lambda row: (not row.differs, row.name)), *beneath),
        durability=tuple(_one({trial.durability for trial in trials}) for trials in by_point),
        known=len({name for mapping in in_force for name in mapping}),
        translated=tuple(_translated(settings, by_point)),
    )


def _translated(settings: tuple[Setting, ...], by_point: list[list[TrialRecord]]) -> Iterator[str]:
    sentences: dict[str, dict[str, None]] = {}
    for setting, trials in zip(settings, by_point, strict=True):
        for each in (each for trial in trials for each in trial.translations):
            here = ", ".join(f"{name} = {value}" for name, value in each.became.items())
            became = f"became {here}" if here else "was left out"
            sentences.setdefault(f"{each.name} = {each.value} {became} ({each.why})", {})[setting.title] = (
                None
            )
    for sentence, titles in sentences.items():
        yield sentence if len(titles) == len(settings) else f"{sentence}: {'; '.join(titles)}"


def _believed(evidence: Evidence, point_id: str) -> list[TrialRecord]:
    """The valid trials of a point, or all of them when none is valid."""
    of_point = evidence.trials_of(point_id)
    return [trial for trial in of_point if trial.status == "valid"] or list(of_point)


def _steady(readings: list[Mapping[str, str]]) -> dict[str, str]:
    """The variables with one value in every reading: what varies from start to start is not a setting."""
    if not readings:
        return {}
    return {
        name: value
        for name, value in readings[0].items()
        if all(reading.get(name) == value for reading in readings[1:])
    }


def incidental(name: str, values: Sequence[str | None]) -> bool:
    """Paths of a private server, what is new at each start, and what not every server has."""
    paths = any(value is not None and value.startswith("/") for value in values)
    return name in _OF_THE_SESSION or paths or None in values


def _one(values: set[str | None]) -> str | None:
    return next(iter(values)) if len(values) == 1 else None


Row = tuple[str, tuple[str | None, ...]]
"""What it is, and its text for each setting; None where no trial has it."""


def data_rows(by_setting: Sequence[Sequence[TrialRecord]]) -> tuple[Row, ...]:
    """One row a fact, over the trials of each setting; empty where no server ran on a clone of a dataset."""
    known = [[trial.data for trial in trials if trial.data is not None] for trials in by_setting]
    if not any(known):
        return ()
    rows: dict[str, Callable[[list[DataRecord]], str | None]] = {
        "cache": lambda data: data[0].cache,
        "clone of the data": _cloned,
        "data in the page cache at the start": _page_cache,
        "buffer pool before the load": _pool,
    }
    return tuple(
        (name, tuple(text_of(data) if data else None for data in known)) for name, text_of in rows.items()
    )


def _cloned(data: list[DataRecord]) -> str:
    """`copy`; `copy, reflink` where trials differ."""
    return ", ".join(sorted({each.clone for each in data}))


def _page_cache(data: list[DataRecord]) -> str | None:
    """`98% of 112M`"""
    return _part([(each.cached_bytes, each.file_bytes) for each in data], format_bytes)


def _pool(data: list[DataRecord]) -> str | None:
    """`12% of 8192 pages`"""
    return _part([(each.pool_pages, each.pool_pages_total) for each in data], lambda pages: f"{pages} pages")


def _part(counts: Sequence[tuple[int | None, int | None]], write: Callable[[int], str]) -> str | None:
    """The shares of (part, whole), and the largest whole; None where none is known."""
    shares = [part / whole for part, whole in counts if part is not None and whole]
    return f"{_percent(shares)} of {write(max(whole or 0 for _, whole in counts))}" if shares else None


def _percent(shares: list[float]) -> str:
    low, high = (f"{share:.1%}".replace(".0%", "%") for share in (min(shares), max(shares)))
    return low if low == high else f"{low} to {high}"
