"""workload.trace: the statements of a trace, on its connections and at its pace."""

import hashlib
import json
import subprocess
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, PrivateAttr, StringConstraints, ValidationError, model_validator

from mydyno.core.document.base import Fault, Section, refuse
from mydyno.core.document.quantities import Duration, DurationRule
from mydyno.core.document.spec_folder import spec_folder
from mydyno.core.errors import EngineError, UsageError
from mydyno.core.plurals import counted
from mydyno.core.record import Record
from mydyno.core.synthetic import SYNTHETIC
from mydyno.core.units import format_duration
from mydyno.machine.programs import find_program

LEAST_SPEED, MOST_SPEED = 0.001, 1000.0
_SPEEDS = "1x as it was, 0.5x, 4x, or max"
_EXPECTED = 20_000
"""Statements a second at full speed, to estimate the length of a plan."""


class TracedTable(Record):
    """A table as statements name it; `schema` is that which they ran in where they name none."""

    schema_name: str | None = Field(default=None, alias="schema")
    name: str


class Survey(Record):
    """What the replayed part of a trace is, and what a replay of it would do."""

    server: str | None
    source: str
    masked: bool
    resolution_us: int
    start_us: int | None
    statements: int
    connections: int
    peak_connections: int
    length_us: int
    trace_length_us: int
    fingerprints: int
    schemas: tuple[str, ...]
    without_schema: int
    tables: tuple[TracedTable, ...]
    replayed: int
    skipped: Mapping[str, int]

    @property
    def synthetic(self) -> bool:
        return self.source == SYNTHETIC


def parse_speed(written: Any) -> float | Literal["max"]:
    """`1x`, `0.5x`, `4`, `max`. Raises ValueError."""
    if written == "max":
        return "max"
    try:
        speed = float(str(written).strip().removesuffix("x"))
    except ValueError:
        raise ValueError(f"not a speed: {_SPEEDS}") from None
    if not LEAST_SPEED <= speed <= MOST_SPEED:
        raise ValueError(f"a speed is from {LEAST_SPEED:g}x to {MOST_SPEED:g}x, or max")
    return speed


def _speed(written: Any) -> float | Literal["max"]:
    try:
        return parse_speed(written)
    except ValueError:
        raise refuse(Fault("not a speed", _SPEEDS, whole=True)) from None


class TraceOptions(Section):
    """A trace is replayed from its start, once, in each trial: one phase, measured as a whole."""

    path: Annotated[str, StringConstraints(min_length=1)] = Field(
        description="The trace (`mydyno capture`), relative to the folder of the experiment file.",
        examples=["shop.trace"],
    )
    speed: Annotated[float | Literal["max"], BeforeValidator(_speed)] = Field(
        default=1.0,
        description="The pace: `1x` as it was, `0.5x`, `4x`, or `max`, as fast as possible.",
        examples=["4x"],
    )
    reads_only: bool | None = Field(
        default=None,
        description="Leave out what may change data. Without it: `true` on an external server, `false` on a "
        "server of mydyno's.",
    )
    start: Duration = Field(
        default=0.0, description="Replay the trace from here, as time since its start.", examples=["5m"]
    )
    length: Annotated[float, DurationRule(at_least=0.001)] | None = Field(
        default=None, description="Replay so much of the trace; without it to its end.", examples=["10m"]
    )
    schema_name: str | None = Field(
        default=None, description="The schema of statements whose schema the trace does not know."
    )
    sha256: str | None = Field(
        default=None,
        pattern="^[0-9a-f]{64}$",
        description="Digest of the trace. mydyno writes it into its plan; in an experiment it refuses a "
        "trace that has changed.",
    )
    _file: Path = PrivateAttr()

    @model_validator(mode="after")
    def _reads(self) -> Self:
        self._file = (spec_folder() / self.path).resolve()
        if not self._file.is_file():
            if self.sha256 is None:
                raise refuse(
                    Fault("there is no such file", "a trace that `mydyno capture` wrote", at=("path",))
                )
            return self
        digest = _digest(self._file, self._file.stat().st_mtime_ns)
        if self.sha256 not in (None, digest):
            raise refuse(Fault(f"{self.path} has changed", digest, at=("sha256",), whole=True))
        # The plan names the trace by what it holds.
        self.__dict__["sha256"] = digest
        return self

    @property
    def file(self) -> Path:
        return self._file

    def job(self, *, reads_only: bool) -> dict[str, Any]:
        """The engine's `workload.replay`."""
        return {
            "trace": str(self._file),
            "speed": None if self.speed == "max" else self.speed,
            "reads_only": self.reads_only if self.reads_only is not None else reads_only,
            "from_s": self.start,
            "for_s": self.length,
            "schema": self.schema_name,
        }

    @property
    def survey(self) -> Survey:
        """Reads the trace once. Raises UsageError for a file that cannot be read as a trace."""
        return survey(self.job(reads_only=False))

    @property
    def seconds(self) -> float:
        """Of one replay."""
        if self.speed == "max":
            return self.survey.statements / _EXPECTED
        return self.survey.length_us / 1e6 / self.speed

    @property
    def summary(self) -> str:
        """`12,345 statements of 200 connections in 10m, at 1x`; of a synthetic trace it says so first."""
        seen = self.survey
        pace = "as fast as possible" if self.speed == "max" else f"at {self.speed:g}x"
        kind = "synthetic trace, put together from statement digests: " if seen.synthetic else ""
        return (
            f"{kind}{counted(seen.statements, 'statement')} of {counted(seen.connections, 'connection')},"
            f" at most {seen.peak_connections:,} at a time, in {format_duration(seen.length_us / 1e6)},"
            f" {pace}"
        )


def survey(job: Mapping[str, Any]) -> Survey:
    """What a replay would do. Raises UsageError, EngineError, MissingToolError."""
    file = Path(job["trace"])
    changed = file.stat().st_mtime_ns if file.is_file() else 0
    return _survey(json.dumps({key: job[key] for key in sorted(job)}), changed)


@lru_cache(maxsize=16)
def _survey(job: str, changed: int) -> Survey:
    program = find_program("mydyno-engine")
    done = subprocess.run([program, "survey"], input=job, capture_output=True, text=True, check=False)
    try:
        answer = json.loads(done.stdout)
        if done.returncode:
            raise UsageError(answer["message"], answer.get("hint"))
        return Survey.model_validate(answer)
    except (ValueError, LookupError, ValidationError) as error:
        raise EngineError(
            f"unexpected output of {program} survey: {done.stderr.strip()[-300:] or error}",
            "mydyno and mydyno-engine come from different releases: install them together",
        ) from error


@lru_cache(maxsize=16)
def _digest(file: Path, changed: int) -> str:
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()
