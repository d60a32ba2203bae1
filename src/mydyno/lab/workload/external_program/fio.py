"""workload.fio: the real fio, reading and writing files on a volume."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import (
    ConfigDict,
    Field,
    JsonValue,
    PlainSerializer,
    PlainValidator,
    PrivateAttr,
    SerializerFunctionWrapHandler,
    WithJsonSchema,
    create_model,
    model_serializer,
    model_validator,
)

from mydyno.core.beneath import read_below
from mydyno.core.document.base import Fault, Section, clash, refuse
from mydyno.core.document.quantities import Duration, DurationRule
from mydyno.core.document.spec_folder import spec_folder
from mydyno.core.server_files import VolumeName
from mydyno.core.units import parse_bytes
from mydyno.lab.workload.external_program import fio_jobs

_SIZE_ALLOWED = "bytes, as 4k, 512K, 1G"
_MOST = 65_536
_MOST_BYTES = 256 * 1024
"""Of a job file."""
_MIXED = ("rw", "randrw")
"""Patterns with reads and writes: only there has rwmixread a meaning."""
_WRITING = ("write", "randwrite", *_MIXED)


def _size(raw: Any) -> str:
    """A size in one spelling, so that two levels that mean the same are seen to be equal."""
    text = str(raw) if isinstance(raw, int) and not isinstance(raw, bool) else raw
    try:
        count = parse_bytes(text)
    except (TypeError, ValueError, AttributeError):
        raise refuse(Fault("is not a size", allowed=_SIZE_ALLOWED)) from None
    if count < 512:
        raise refuse(Fault("is too small", allowed="512 bytes or more"))
    return str(count) if count % 1024 else _exactly(count)


def _exactly(count: int) -> str:
    """`count` bytes with the largest suffix that leaves a whole number, as fio and people write it."""
    for power, suffix in ((4, "T"), (3, "G"), (2, "M"), (1, "k")):
        if count % 1024**power == 0:
            return f"{count // 1024**power}{suffix}"
    return str(count)


def _numbers(raw: Any) -> tuple[int, ...]:
    items = list(raw) if isinstance(raw, list | tuple) else [raw]
    allowed = f"a number from 1 to {_MOST:,}, or a list of them: one phase each"
    for index, item in enumerate(items):
        at = (index,) if isinstance(raw, list | tuple) else ()
        if not isinstance(item, int) or isinstance(item, bool) or not 1 <= item <= _MOST:
            raise refuse(Fault("is not a valid number", allowed, at=at))
        if items.index(item) != index:
            raise refuse(Fault(f"gives {item} twice", "each number once", at=at))
    if not items:
        raise refuse(Fault("is empty", allowed=allowed))
    return tuple(items)


def _percent(raw: Any) -> float:
    text = raw.strip().removesuffix("%") if isinstance(raw, str) and raw.strip().endswith("%") else None
    try:
        share = float(text) if text is not None else 0.0
    except ValueError:
        share = 0.0
    if not 0 < share <= 100:
        raise refuse(Fault("is not a percentage", allowed="more than 0% and at most 100%, as 2%"))
    return share


def _written_percent(share: float) -> str:
    return f"{share:g}%"


Size = Annotated[
    str,
    PlainValidator(_size),
    WithJsonSchema({"anyOf": [{"type": "integer", "minimum": 512}, {"type": "string"}]}),
]
"""Bytes as fio writes them: 4k is 4,096."""
_number = {"type": "integer", "minimum": 1, "maximum": _MOST}
Numbers = Annotated[
    tuple[int, ...],
    PlainValidator(_numbers),
    PlainSerializer(lambda numbers: numbers[0] if len(numbers) == 1 else list(numbers), when_used="json"),
    WithJsonSchema({"anyOf": [_number, {"type": "array", "minItems": 1, "items": _number}]}),
]
Percent = Annotated[
    float,
    PlainValidator(_percent),
    PlainSerializer(_written_percent, when_used="json"),
    WithJsonSchema({"type": "string", "pattern": r"^\s*\d+(\.\d+)?\s*%\s*$"}),
]
_Calls = Annotated[int, Field(ge=1, le=1_000_000)]


class _Steady(Section):
    """Before it is measured, the same load goes on until fio itself finds it steady."""

    on: Literal["iops", "bw", "iops_slope", "bw_slope"] = Field(
        description="What must be steady, in fio's words: I/Os or bytes per second, their values or the "
        "slope of a line through them.",
        examples=["iops"],
    )
    within: Percent = Field(description="How far it may stray, of its mean.", examples=["2%"])
    at_most: Annotated[float, DurationRule(at_least=1.0)] = Field(
        default=600.0,
        description="After so long without, it is measured all the same, and the trial is invalid.",
    )

    @property
    def seconds(self) -> float:
        """How long it must be steady."""
        seconds: float = getattr(self, "for")
        return seconds

    @property
    def criterion(self) -> str:
        """As fio's option `steadystate` has it."""
        return f"{self.on}:{_written_percent(self.within)}"


_for: dict[str, Any] = {
    "for": (
        Annotated[float, DurationRule(at_least=2.0)],
        Field(default=10.0, description="How long it must stay within."),
    )
}
SteadyState: type[_Steady] = create_model("SteadyState", __base__=_Steady, **_for)
"""`for` is a keyword of Python."""

_OF_PATTERN = (
    *("bs", "iodepth", "numjobs", "size", "runtime", "ramp_time", "time_based", "direct", "ioengine"),
    *("fsync", "fdatasync", "rwmixread", "files"),
)
"""Keys that a line or a job file says in its own words."""


def _one_way() -> list[JsonValue]:
    """For the JSON Schema: the keys that go with each way to say what is done."""
    needed: JsonValue = ["rw", "size", "runtime"]
    ways: list[JsonValue] = [{"required": needed, "properties": {"line": False, "job": False}}]
    for way, other in (("line", "job"), ("job", "line")):
        ways.append({"required": [way], "properties": dict.fromkeys(("rw", other, *_OF_PATTERN), False)})
    return ways


class FioOptions(Section):
    """The real fio, run as it is installed, on the files of a volume."""

    model_config = ConfigDict(json_schema_extra={"oneOf": _one_way()})

    rw: Literal["read", "write", "randread", "randwrite", "rw", "randrw"] | None = Field(
        default=None,
        description="What is done: reads, writes or both (`rw`, `randrw`), in order or at random.",
        examples=["randwrite"],
    )
    bs: Size = Field(default="4k", description="Size of each I/O.")
    iodepth: Numbers = Field(
        default=(1,), description="I/Os that each job has under way; a list: one phase each."
    )
    numjobs: Numbers = Field(default=(1,), description="Processes that do so; a list: one phase each.")
    size: Size | None = Field(
        default=None,
        description="What each job reads or writes in one pass, and the size of the file.",
        examples=["1G"],
    )
    runtime: Annotated[float, DurationRule(at_least=1.0)] | None = Field(
        default=None, description="How long each phase is measured.", examples=["30s"]
    )
    ramp_time: Duration = Field(default=0.0, description="Warm-up before it, which is not counted.")
    time_based: bool = Field(
        default=True,
        description="Begin again when `size` is done; `false`: end then, though the time is not up.",
    )
    direct: bool = Field(default=True, description="Past the page cache (O_DIRECT).")
    ioengine: Literal[
        "libaio", "io_uring", "posixaio", "sync", "psync", "vsync", "pvsync", "pvsync2", "mmap"
    ] = Field(default="libaio", description="How fio does its I/O. Only the first three know an iodepth.")
    fsync: _Calls | None = Field(default=None, description="An fsync after so many writes.")
    fdatasync: _Calls | None = Field(default=None, description="An fdatasync after so many writes.")
    rwmixread: Annotated[int, Field(ge=0, le=100)] | None = Field(
        default=None, description="Per cent of reads in `rw` and `randrw`; fio's own default is 50."
    )
    files: Literal["shared", "per-job"] = Field(
        default="shared",
        description="One file for all jobs, as most published command lines have it, or one for each.",
    )
    prefill: bool = Field(
        default=True,
        description="Fill the files with data before the run. Without, the first write of each block goes "
        "into an unwritten extent, which is other work than a database does.",
    )
    steady_state: SteadyState | None = Field(
        default=None,
        description="Wait for fio's own criterion before measuring: `{on: iops, within: 2%, for: 10s}`.",
    )
    volume: VolumeName = Field(default="data", description="The volume that the files are on.")
    line: str | None = Field(
        default=None,
        description="A command line of fio's in place of these keys; /path in it is the volume.",
        examples=["fio -filename=/path/test -rw=randwrite -bs=4k -size=1G -runtime=30"],
    )
    job: str | None = Field(
        default=None,
        description="A job file of fio, next to the experiment file: a phase for each job, or for jobs "
        "together up to the next `stonewall`.",
        examples=["oltp.fio"],
    )
    sha256: str | None = Field(
        default=None,
        pattern="^[0-9a-f]{64}$",
        description="Digest of the job file. mydyno writes it into its plan; in an experiment it refuses a "
        "file that has changed.",
    )
    _stretches: tuple[fio_jobs.Stretch, ...] = PrivateAttr()

    @classmethod
    def faults(cls, raw: Mapping[str, Any]) -> Iterable[Fault]:
        ways = [way for way in ("rw", "line", "job") if raw.get(way) is not None]
        if len(ways) != 1:
            fault = f"{' and '.join(ways)} are both given" if ways else "no work is given"
            yield Fault(fault, "rw: PATTERN, line: COMMAND or job: FILE", show_value=False, whole=True)
        elif ways != ["rw"]:
            for key in _OF_PATTERN:
                if raw.get(key) is not None:
                    yield clash(key, f"{key} is given, but the {ways[0]} has it", "leave it out")
        else:
            yield from _faults_of_pattern(raw)

    @model_validator(mode="after")
    def _reads(self) -> Self:
        try:
            if self.job is not None:
                self._stretches = fio_jobs.parse_file(self._text())
            elif self.line is not None:
                self._stretches = (fio_jobs.Stretch(None, (fio_jobs.parse_line(self.line),)),)
            else:
                self._stretches = tuple(self._made())
        except fio_jobs.WrongJobError as error:
            key = "line" if self.job is None else "job"
            where = "" if self.job is None else f"{Path(self.job).name}: "
            fault = error.fault
            message = where + fault.message
            raise refuse(
                Fault(message, fault.allowed, fault.nearest, at=(key,), show_value=False, whole=True)
            ) from None
        return self

    def _text(self) -> str:
        assert self.job is not None
        try:
            text = read_below(spec_folder(), spec_folder() / self.job, _MOST_BYTES).decode("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            why = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
            raise refuse(
                Fault(f"{self.job} cannot be read: {why}", at=("job",), show_value=False, whole=True)
            ) from None
        self._digest = hashlib.sha256(text.encode()).hexdigest()
        if self.sha256 not in (None, self._digest):
            raise refuse(Fault(f"{self.job} has changed", self._digest, at=("sha256",), whole=True))
        return text

    _digest: str | None = PrivateAttr(default=None)

    @model_serializer(mode="wrap", when_used="json")
    def _with_digest(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Keys that fio is not given are left out: they would be refused with a line or a file."""
        written: dict[str, Any] = {key: value for key, value in handler(self).items() if value is not None}
        if not self.ramp_time:
            written.pop("ramp_time")
        if self.rw is None:
            written = {key: value for key, value in written.items() if key not in _OF_PATTERN}
        if self._digest is not None:
            written["sha256"] = self._digest
        return written

    @property
    def stretches(self) -> tuple[fio_jobs.Stretch, ...]:
        """What fio runs, one phase each."""
        return self._stretches

    @property
    def places(self) -> tuple[str | int, ...]:
        """What distinguishes the phases."""
        return tuple(each.depth if each.label is None else each.label for each in self._stretches)

    def _made(self) -> Iterator[fio_jobs.Stretch]:
        combinations = list(product(self.iodepth, self.numjobs))
        depths = [depth * jobs for depth, jobs in combinations]
        for depth, jobs in combinations:
            label = f"{depth} x {jobs}" if len(set(depths)) < len(depths) else None
            yield fio_jobs.Stretch(label, (fio_jobs.JobSection("test", self._options(depth, jobs)),))

    def _options(self, depth: int, jobs: int) -> dict[str, str]:
        assert self.rw is not None
        assert self.size is not None
        assert self.runtime is not None
        options: dict[str, str | int | None] = {
            "filename": "test" if self.files == "shared" else None,
            "rw": self.rw,
            "rwmixread": self.rwmixread,
            "bs": self.bs,
            "size": self.size,
            "ioengine": self.ioengine,
            "iodepth": depth,
            "numjobs": jobs,
            "direct": int(self.direct),
            "runtime": f"{self.runtime * 1000:.0f}ms",
            "ramp_time": f"{self.ramp_time * 1000:.0f}ms" if self.ramp_time else None,
            "time_based": 1 if self.time_based else None,
            "fsync": self.fsync,
            "fdatasync": self.fdatasync,
        }
        return {name: str(value) for name, value in options.items() if value is not None}

    @cached_property
    def file_bytes(self) -> int:
        """About the bytes of all files at once."""
        named: dict[str, int] = {}
        for stretch in self._stretches:
            for section in stretch.sections:
                size = fio_jobs.size_of(section)
                if section.files:
                    named |= {name: max(size, named.get(name, 0)) for name in section.files}
                else:
                    named[f"{section.name}/"] = max(size * section.numjobs, named.get(f"{section.name}/", 0))
        return sum(named.values())

    @property
    def seconds(self) -> float:
        """About how long the phases take, the filling of files and the wait for steadiness left out."""
        return sum(max(map(fio_jobs.seconds_of, stretch.sections)) for stretch in self._stretches)


def _faults_of_pattern(raw: Mapping[str, Any]) -> Iterator[Fault]:
    pattern, engine = raw.get("rw"), raw.get("ioengine", "libaio")
    for key, example in (("size", "1G"), ("runtime", "30s")):
        if raw.get(key) is None:
            yield Fault(
                f"{key} is missing",
                f"for example {key}: {example}",
                at_key=True,
                show_value=False,
                whole=True,
            )
    if raw.get("rwmixread") is not None and pattern in fio_jobs.PATTERNS and pattern not in _MIXED:
        yield clash("rwmixread", f"rwmixread is given, but {pattern} is all one kind", "rw or randrw")
    if pattern in fio_jobs.PATTERNS and pattern not in _WRITING:
        for key in ("fsync", "fdatasync"):
            if raw.get(key) is not None:
                yield clash(key, f"{key} is given, but {pattern} writes nothing", "leave it out")
    deep = raw.get("iodepth", 1)
    depths = deep if isinstance(deep, list) else [deep]
    if engine in fio_jobs.SYNCHRONOUS and any(isinstance(depth, int) and depth > 1 for depth in depths):
        allowed = "iodepth: 1 with more numjobs, or ioengine: libaio"
        yield clash("iodepth", f"{engine} does one I/O at a time, whatever iodepth says", allowed)
