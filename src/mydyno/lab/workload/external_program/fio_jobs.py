"""What fio is to do, as sections of its job file: from a command line or from a file. Pure text.

Only options that say what is read and written, how and how much are taken: mydyno decides where the files
are and what is reported, and fio's options that run programs, replay traces, write logs or set up devices
have no business in an experiment.
"""

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from mydyno.core.document.base import Fault
from mydyno.core.nearest import nearest
from mydyno.core.units import parse_bytes, parse_duration
from mydyno.lab.workload.sql import typographic

SYNCHRONOUS = ("sync", "psync", "vsync", "pvsync", "pvsync2", "mmap")
"""Engines with one I/O at a time for each job, whatever iodepth says."""
ASYNCHRONOUS = ("libaio", "io_uring", "posixaio")
ENGINES = (*ASYNCHRONOUS, *SYNCHRONOUS)
DEFAULT_ENGINE = "psync"
"""Of fio on Linux."""
PATTERNS = ("read", "write", "randread", "randwrite", "rw", "randrw")

ALIASES = {
    "readwrite": "rw",
    "blocksize": "bs",
    "timeout": "runtime",
    "io_limit": "io_size",
    "io_size": "io_size",
    "wait_for_previous": "stonewall",
}
KNOWN = (
    *("rw", "rwmixread", "rwmixwrite", "rw_sequencer", "percentage_random"),
    *("bs", "bsrange", "bssplit", "blockalign", "bs_unaligned", "bs_is_seq_rand", "blocksize_range"),
    *("size", "io_size", "filesize", "number_ios", "loops"),
    *("filename", "directory", "filename_format", "nrfiles", "openfiles", "file_service_type"),
    *("fallocate", "create_serialize", "create_fsync", "create_on_open", "fadvise_hint", "overwrite"),
    *("runtime", "ramp_time", "time_based"),
    *("direct", "buffered", "sync", "fsync", "fdatasync", "end_fsync", "fsync_on_close", "invalidate"),
    *("ioengine", "iodepth", "iodepth_batch", "iodepth_batch_submit", "iodepth_batch_complete"),
    *("iodepth_batch_complete_min", "iodepth_batch_complete_max", "iodepth_low", "io_submit_mode"),
    *("serialize_overlap", "hipri", "fixedbufs", "registerfiles", "sqthread_poll", "userspace_reap"),
    *("numjobs", "nice", "cpus_allowed", "cpus_allowed_policy"),
    *("rate", "rate_min", "rate_iops", "rate_iops_min", "rate_process", "rate_cycle"),
    *("thinktime", "thinktime_spin", "thinktime_blocks", "thinktime_blocks_type"),
    *("latency_target", "latency_window", "latency_percentile", "max_latency"),
    *("random_distribution", "random_generator", "norandommap", "softrandommap"),
    *("refill_buffers", "scramble_buffers", "zero_buffers", "buffer_compress_percentage"),
    *("buffer_compress_chunk", "dedupe_percentage"),
    *("name", "description", "stonewall", "new_group", "group_reporting"),
)
"""Options of fio 3.33 (`fio --cmdhelp=all`) that touch nothing but the files of the job."""

_SEED = "use design.seed"
_OUTPUT = "its output is read by mydyno"
_PROGRAMS = "mydyno runs no programs of a workload"
_TRACES = "only what the experiment says is read and written"
_STEADY = "use the key `steady_state`"
_DEVICES = "use setup.storage"
TAKEN: dict[str, str] = {
    **dict.fromkeys(("randseed", "randrepeat", "allrandrepeat"), _SEED),
    **dict.fromkeys(("exec_prerun", "exec_postrun"), _PROGRAMS),
    **dict.fromkeys(("output", "output-format", "minimal", "status-interval", "eta"), _OUTPUT),
    **{f"write_{kind}_log": "mydyno keeps these logs itself" for kind in ("bw", "lat", "iops", "hist")},
    **dict.fromkeys(("log_avg_msec", "per_job_logs", "log_hist_msec", "unified_rw_reporting"), _OUTPUT),
    **dict.fromkeys(("lat_percentiles", "clat_percentiles", "slat_percentiles", "percentile_list"), _OUTPUT),
    **dict.fromkeys(("write_iolog", "read_iolog"), _TRACES),
    **dict.fromkeys(("steadystate", "ss", "steadystate_duration", "ss_dur", "ss_ramp"), _STEADY),
    **dict.fromkeys(("ioscheduler", "zonemode", "zonesize"), _DEVICES),
    "unlink": "mydyno removes the files itself",
    "wait_for": "use stonewall",
    "include": "mydyno reads one file",
    "thread": "jobs are always threads of one process, so that none outlives it",
    **dict.fromkeys(("offset", "startdelay"), "the files are filled and measured from their start"),
}
"""Options that mydyno does not pass on -> why, or what to write instead."""

_DEFAULT_SECTION = "test"
_PLACE = "/path/"
"""What the command lines that people publish have in the place of the volume's mount point."""
_SECTION = re.compile(r"\[(.*)\]")
_FILE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,99}")
_TIMES = ("ramp_time", "runtime")
_TIME = re.compile(r"\d+|\d+(\.\d+)?(us|ms|s|m|h|d)")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_. -]{0,63}")


@dataclass(frozen=True)
class JobSection:
    """One job of fio with its options, those of [global] included; file names are relative to the volume."""

    name: str
    options: Mapping[str, str]

    @property
    def numjobs(self) -> int:
        return int(self.options.get("numjobs", "1"))

    @property
    def engine(self) -> str:
        return self.options.get("ioengine", DEFAULT_ENGINE)

    @property
    def depth(self) -> int:
        """I/Os that it has under way at most."""
        each = 1 if self.engine in SYNCHRONOUS else int(self.options.get("iodepth", "1"))
        return each * self.numjobs

    @property
    def files(self) -> tuple[str, ...]:
        """The file names that it gives; empty when fio makes a name for each job."""
        return tuple(self.options["filename"].split(":")) if "filename" in self.options else ()

    @property
    def writes(self) -> bool:
        return self.options.get("rw", "read") not in ("read", "randread")


@dataclass(frozen=True)
class Stretch:
    """Jobs that run at the same time: one phase."""

    label: str | None
    sections: tuple[JobSection, ...]

    @property
    def depth(self) -> int:
        """I/Os under way at most, over all jobs."""
        return sum(section.depth for section in self.sections)


class WrongJobError(ValueError):
    """Something in a command line or a job file that is not accepted; `fault` says what."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.message)
        self.fault = fault


def wrong(message: str, allowed: str | None = None, likely: str | None = None) -> WrongJobError:
    return WrongJobError(Fault(message, allowed, likely, show_value=False, whole=True))


def parse_line(line: str) -> JobSection:
    """The job of a command line such as `fio -filename=/path/test -rw=randwrite -size=5G`. Raises
    WrongJobError."""
    plain = typographic(line)
    if plain is not None:
        raise wrong("the line has a typographic character, as word processors make them", "plain -", plain)
    try:
        program, *words = shlex.split(line)
    except ValueError as error:
        raise wrong(f"the line cannot be parsed: {error}", "fio -OPTION=VALUE ...") from None
    if PurePosixPath(program).name != "fio":
        raise wrong(f"the line begins with {program}", "fio -OPTION=VALUE ...")
    options: dict[str, str] = {}
    for name, value in _words(words):
        if name == "name" and "name" in options:
            raise wrong("the line has two jobs", "one job; a job file (`job: FILE`) may have several")
        options[name] = value
    name = options.pop("name", _DEFAULT_SECTION)
    return _checked(name, options)


def _words(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    """fio takes one dash for two, and the value after = or as the next word."""
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if not word.startswith("-"):
            raise wrong(f"{word} is not an option", "-OPTION=VALUE")
        name, equals, value = word.lstrip("-").partition("=")
        if not equals:
            value = rest.pop(0) if rest and not rest[0].startswith("-") else "1"
        yield _spelt(name), value


def parse_file(text: str) -> tuple[Stretch, ...]:
    """The phases of a job file: jobs run together up to the next `stonewall`. Raises WrongJobError."""
    groups: list[list[JobSection]] = []
    for name, options in _sections(text):
        walled = _is_set(options.pop("stonewall", "0"))
        section = _checked(name, options)
        if walled or not groups:
            groups.append([])
        groups[-1].append(section)
    if not groups:
        raise wrong("the file has no job", "[NAME] and its options below")
    labels = ["+".join(section.name for section in group) for group in groups]
    again = next((label for label in labels if labels.count(label) > 1), None)
    if again is not None:
        raise wrong(f"two phases of the file are called {again}", "a separate name for each")
    return tuple(Stretch(label, tuple(group)) for label, group in zip(labels, groups, strict=True))


def _sections(text: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Each job with what [global] says before it."""
    common: dict[str, str] = {}
    name: str | None = None
    own: dict[str, str] = {}
    for number, written in enumerate(text.splitlines(), 1):
        line = written.strip()
        if not line or line[0] in ";#":
            continue
        if match := _SECTION.fullmatch(line):
            if name not in (None, "global"):
                yield str(name), {**common, **own}
            name, own = match[1].strip(), {}
            if not _NAME.fullmatch(name):
                raise wrong(f"line {number}: {name!r} is not a job name", "letters, digits, . _ - and spaces")
            continue
        if name is None:
            raise wrong(f"line {number}: {line} is before the first section", "[global] or [NAME]")
        option, equals, value = line.partition("=")
        into = common if name == "global" else own
        into[_spelt(option.strip())] = value.strip() if equals else "1"
    if name not in (None, "global"):
        yield str(name), {**common, **own}


def _spelt(name: str) -> str:
    return ALIASES.get(name, name)


def _is_set(value: str) -> bool:
    return value not in ("0", "false")


def _checked(name: str, options: dict[str, str]) -> JobSection:
    for option, value in options.items():
        _check_known(option)
        if "$" in value or not value.isprintable():
            raise wrong(f"{option} has a variable or a control character in it", "a plain value")
    pattern = options.get("rw", "read").partition(":")[0]
    options = {
        **options,
        "rw": "rw" + options["rw"][9:] if pattern == "readwrite" else options.get("rw", "read"),
    }
    pattern = "rw" if pattern == "readwrite" else pattern
    if pattern not in PATTERNS:
        raise wrong(f"rw={pattern} is not taken", ", ".join(PATTERNS), nearest(pattern, PATTERNS))
    engine = options.get("ioengine", DEFAULT_ENGINE)
    if engine not in ENGINES:
        raise wrong(f"ioengine={engine} is not taken", ", ".join(ENGINES), nearest(engine, ENGINES))
    for option in ("iodepth", "numjobs"):
        if not re.fullmatch(r"[1-9]\d{0,4}", options.get(option, "1")):
            raise wrong(f"{option}={options[option]} is not a number from 1", f"{option}=NUMBER")
    if "filename" in options:
        options["filename"] = ":".join(_inside(path) for path in options["filename"].split(":"))
    if options.pop("directory", _PLACE).rstrip("/") != _PLACE.rstrip("/"):
        raise wrong("directory is outside the volume, or below it", f"directory={_PLACE.rstrip('/')}")
    if "/" in options.get("filename_format", ""):
        raise wrong("filename_format contains a folder", "a name without /")
    if "size" not in options:
        raise wrong(f"job {name} has no size", "size=1G, what each job reads or writes")
    section = JobSection(name, options)
    try:
        size_of(section)
    except ValueError:
        raise wrong(f"size={options['size']} is not a size", "bytes, as 1G") from None
    for option in _TIMES:
        if not _TIME.fullmatch(options.get(option, "0")):
            raise wrong(f"{option}={options[option]} is not a time", "30, 30s or 500ms")
    return section


def size_of(section: JobSection) -> int:
    """Bytes of the files of one of its processes."""
    return parse_bytes(section.options.get("filesize", section.options["size"]))


def seconds_of(section: JobSection, *, warmup: bool = True) -> float:
    """How long it goes on, as configured; 0 when its size alone ends it."""
    return sum(_seconds(section.options.get(option, "0")) for option in (_TIMES if warmup else ("runtime",)))


def _seconds(written: str) -> float:
    """fio's times: a bare number is seconds."""
    return float(written) if written.isdigit() else parse_duration(written)


def _check_known(option: str) -> None:
    if option in TAKEN:
        raise wrong(f"{option} is not passed on: {TAKEN[option]}")
    if option not in KNOWN:
        likely = nearest(option, (*KNOWN, *TAKEN))
        raise wrong(
            f"{option} is not an option of fio that mydyno passes on", "see docs/how-to/fio.md", likely
        )


def _inside(written: str) -> str:
    """The bare name of a file on the volume, whose place is written /path."""
    name = written.removeprefix(_PLACE)
    if not _FILE.fullmatch(name):
        likely = PurePosixPath(written).name
        raise wrong(
            f"filename={written} is outside the volume, or in a folder below it",
            f"{_PLACE}NAME or a bare name of letters, digits, . _ and -",
            f"{_PLACE}{likely}" if _FILE.fullmatch(likely) else None,
        )
    return name
