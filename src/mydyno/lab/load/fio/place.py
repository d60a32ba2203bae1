"""Where fio runs: that it is there, and that the place does for its files."""

from __future__ import annotations

from pathlib import Path

from mydyno.core.errors import MissingToolError, UsageError
from mydyno.lab.load.fio.jobfile import Place
from mydyno.lab.workload.external_program import FioOptions
from mydyno.machine.protocol import Host

FOLDER = "mydyno-fio"
"""On the volume; all files are in it."""


def version(host: Host) -> str:
    """`fio-3.33`. Raises MissingToolError, which names the package."""
    hint = "install it: apt-get install fio (Debian, Ubuntu)"
    try:
        told = host.run(["fio", "--version"])
    except MissingToolError as error:
        raise MissingToolError(error.message, hint) from None
    if told.returncode or not told.stdout.startswith("fio-3."):
        raise MissingToolError(f"fio --version said {told.stdout.strip()[:100]!r}; mydyno runs fio 3", hint)
    return told.stdout.strip()


def place_of(options: FioOptions, path: Path, host: Host) -> Place:
    """Raises UsageError for a place that is not there, or not made for these files."""
    kind = host.run(["stat", "--dereference", "--format=%F", str(path)])
    told = kind.stdout.strip()
    if told == "directory":
        return Place(path / FOLDER, is_device=False)
    if told != "block special file":
        what = told or kind.stderr.strip()
        raise UsageError(f"fio cannot work in {path}: {what}", "name a folder on the volume")
    for stretch in options.stretches:
        for section in stretch.sections:
            if len(section.files) != 1 or section.options.get("nrfiles", "1") != "1":
                raise UsageError(
                    f"{path} is a raw volume, which is one file, and job {section.name} has several",
                    "files: shared, or a file system on the volume",
                )
    return Place(path, is_device=True)
