"""The job files of fio: what an experiment configures, and what mydyno adds. Pure text."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from mydyno.lab.workload.external_program.fio import SteadyState
from mydyno.lab.workload.external_program.fio_jobs import JobSection, Stretch, size_of

_LARGEST_FILL = 1024**2
_FILES = ("nrfiles", "filename_format", "filesize", "openfiles")
_STOPS = ("runtime", "time_based", "ramp_time", "number_ios", "loops", "io_size")


@dataclass(frozen=True)
class Place:
    """Where the files are: a folder, or a block device that is the one file."""

    path: Path
    is_device: bool

    def of(self, section: JobSection) -> dict[str, str]:
        """The options that put the files of `section` there."""
        if self.is_device:
            return {"filename": escaped(self.path)}
        if section.files:
            return {"filename": ":".join(escaped(self.path / name) for name in section.files)}
        return {"directory": escaped(self.path)}


def escaped(path: Path) -> str:
    """fio takes a bare colon for the end of a file's name."""
    return str(path).replace(":", "\\:")


def measuring(stretch: Stretch, place: Place, *, seed: int, window_s: float, logs: Path) -> str:
    """The job file of one phase; its logs begin with `logs`."""
    window = str(round(window_s * 1000))
    common = {
        **_reporting(seed),
        "write_iops_log": str(logs),
        "write_lat_log": str(logs),
        "log_avg_msec": window,
        "iopsavgtime": window,
        "per_job_logs": "0",
    }
    return _written(common, ((section.name, _own(section, place)) for section in stretch.sections))


def steadying(stretch: Stretch, place: Place, state: SteadyState, *, seed: int) -> str:
    """The same load until it is steady."""
    common = {
        **_reporting(seed),
        "steadystate": state.criterion,
        "steadystate_duration": f"{round(state.seconds)}s",
        "runtime": f"{round(state.at_most)}s",
        "time_based": "1",
    }
    sections = (
        (section.name, {name: value for name, value in _own(section, place).items() if name not in _STOPS})
        for section in stretch.sections
    )
    return _written(common, sections)


def filling(stretches: Iterable[Stretch], place: Place) -> tuple[str, int]:
    """The job file that writes every file of all phases once, and how many bytes those are."""
    largest: dict[str, tuple[JobSection, int]] = {}
    for stretch in stretches:
        for section in stretch.sections:
            key = str(place.path) if place.is_device else ":".join(section.files) or f"{section.name}/"
            processes = 1 if place.is_device or section.files else section.numjobs
            known = largest.get(key)
            if known is None or size_of(section) * processes > size_of(known[0]) * known[1]:
                largest[key] = section, processes
    sections = [
        (section.name, _filling(section, processes, place)) for section, processes in largest.values()
    ]
    total = sum(size_of(section) * processes for section, processes in largest.values())
    return _written({"thread": "1", "group_reporting": "1"}, sections), total


def _filling(section: JobSection, processes: int, place: Place) -> dict[str, str]:
    size = size_of(section)
    # fio leaves out what does not fill a whole block.
    block = next(1 << power for power in range(20, -1, -1) if size % (1 << power) == 0)
    return {
        **place.of(section),
        **{name: section.options[name] for name in _FILES if name in section.options},
        "rw": "write",
        "bs": str(min(block, _LARGEST_FILL)),
        "size": str(size),
        "numjobs": str(processes),
        "ioengine": "psync",
        "direct": section.options.get("direct", "0"),
        "end_fsync": "1",
        # One job after the other: each finds the disks to itself.
        "stonewall": "1",
    }


def _reporting(seed: int) -> dict[str, str]:
    return {"group_reporting": "1", "thread": "1", "lat_percentiles": "1", "randseed": str(seed)}


def _own(section: JobSection, place: Place) -> dict[str, str]:
    left_out = ("filename", "group_reporting", "new_group")
    options = {name: value for name, value in section.options.items() if name not in left_out}
    return {**place.of(section), **options}


def _written(common: Mapping[str, str], sections: Iterable[tuple[str, Mapping[str, str]]]) -> str:
    lines: list[str] = []
    for name, options in (("global", common), *sections):
        lines += [f"[{name}]", *(f"{option}={value}" for option, value in options.items()), ""]
    return "\n".join(lines)
