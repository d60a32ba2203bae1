"""The files and folders that commands write where users say: files of others are not replaced.

A file is written when it is absent or empty, or when its beginning shows that mydyno wrote it earlier, in the
same format; with --force also over anything else. An input of the same command is never replaced, --force or
not, and no two outputs go into one file. All of this is checked before the command starts its work, and again
before the file is replaced, which happens at once: a reader sees the old file or the new one.
"""

from __future__ import annotations

import re
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, BinaryIO

from mydyno.cli.declare import option
from mydyno.core.durable import replacing
from mydyno.core.errors import UsageError
from mydyno.core.writing import writing_hint

Force = Annotated[bool, option("--force", "Replace output files that mydyno did not write. Never an input.")]

_HEAD_BYTES = 16384


@dataclass(frozen=True)
class Format:
    """What mydyno writes into a file, and how such a file begins."""

    name: str
    start: re.Pattern[bytes]

    def wrote(self, path: Path) -> bool:
        """Whether the file at `path` begins as one that mydyno wrote. Raises OSError."""
        with path.open("rb") as file:
            return self.start.match(file.read(_HEAD_BYTES)) is not None


def _format(name: str, start: bytes) -> Format:
    return Format(name, re.compile(start, re.DOTALL))


PAGE = _format("a page", rb'\s*<!DOCTYPE html>.*?<meta name="generator" content="mydyno ')
ADVICE = _format("advice", rb'\{\s*"format": \d+,\s*"mydyno": "[^"]*",\s*"made_at": ')
FACTS = _format("facts", rb'\{\s*"format": \d+,\s*"mydyno": "[^"]*",\s*"read_at": ')
PROOF_EXPERIMENT = _format("an experiment of `mydyno prove`", rb"# Made by `mydyno prove` ")
EXPERIMENT = _format("an experiment", rb"(?!)")  # One that `mydyno new` wrote is edited by its user.
COMPARISON_JSON = _format("a comparison", rb'\{\s*"runs": \[[^]]*\],\s*"state": "\w+",\s*"allowed_loss": ')
COMPARISON_MARKDOWN = _format("a comparison", rb"<!-- mydyno compare -->")
COMPARISON_JUNIT = _format("a comparison", rb'<\?xml [^>]*\?>\s*<testsuite name="mydyno compare ')
TREND_JSON = _format("a trend", rb'\[\s*\{\s*"point": .*?"metric": .*?"unit": .*?"better": ')
PICTURE = _format(
    "a picture", rb"\x89PNG\r\n\x1a\n.{4}IHDR.{17}.{4}tEXtSoftware\x00mydyno|<!-- mydyno -->\s*<svg "
)
SERIES = _format("series", rb"# (HELP|TYPE) mydyno_")
DASHBOARD = _format("a dashboard", rb'\{\s*"__inputs": .*?"name": "DS_PROMETHEUS"')
SLOW_LOG = _format("a slow log", rb"(?!)")  # One that a server wrote begins like one of ours.
TRACE = _format("a trace", rb"\x89MYDYNO\n")
SQL_BENCH_REPORT = _format("a report", rb"Benchmark suite: +sql-bench [\d.]+, reimplemented by mydyno ")


@dataclass
class Outputs:
    """What one command writes. `inputs` are the files that it reads; those that are absent do not matter."""

    inputs: Iterable[Path | str | None] = ()
    force: bool = False
    _files: list[OutputFile] = field(default_factory=list, init=False)

    def file(self, option: str, path: Path | None, form: Format) -> OutputFile | None:
        """The file that `option` names, which may be written; None when it names none. Raises UsageError."""
        if path is None:
            return None
        output = OutputFile(option, path, form, self)
        output.check()
        for other in self._files:
            if other.path.resolve() == path.resolve() and not _is_stream(path):
                raise UsageError(f"{other.option} and {option} name the same file, {path}")
        self._files.append(output)
        return output

    def json(self, as_json: bool, path: Path | None, form: Format) -> OutputFile | None:
        """The file of `--json --out FILE`. Raises UsageError."""
        if path is not None and not as_json:
            raise UsageError("--out needs --json", f"--json --out {path}")
        return self.file("--out", path, form)

    def folder(self, option: str, path: Path | None) -> Path | None:
        """The folder that `option` names for a report: absent, empty, or with a report of mydyno in it.

        None when it names none. Raises UsageError.
        """
        if path is None:
            return None
        if path.exists() and not path.is_dir():
            raise UsageError(f"{option} {path} is a file, and a report is a folder", "name a folder")
        page = path / "report.html"
        try:
            is_ours = not path.exists() or not any(path.iterdir()) or (page.is_file() and PAGE.wrote(page))
        except OSError as error:
            raise _unwritable(option, path, error) from error
        if not (is_ours or self.force):
            raise UsageError(
                f"{option} {path} holds files, and no report that mydyno wrote",
                "name an empty folder; --force writes the report among those files",
            )
        return path

    def new_folder(self, option: str, path: Path) -> OutputFolder:
        """The folder that `option` names, which holds nothing unless --force is given. Raises UsageError."""
        if path.exists() and not path.is_dir():
            raise UsageError(f"{option} {path} is a file", "name a folder")
        try:
            is_empty = not path.exists() or not any(path.iterdir())
        except OSError as error:
            raise _unwritable(option, path, error) from error
        if not (is_empty or self.force):
            raise UsageError(
                f"{option} {path} holds files",
                "name a new folder; --force writes among those files and replaces those of the same names",
            )
        return OutputFolder(option, path, self)

    def is_input(self, path: Path) -> bool:
        """Whether `path` is one of the inputs, by whatever name or link."""
        return any(_same(path, Path(each)) for each in self.inputs if each is not None)


@dataclass(frozen=True)
class OutputFolder:
    """A folder that may be written."""

    option: str
    path: Path
    outputs: Outputs = field(repr=False)

    def write(self, texts: Mapping[str, str]) -> None:
        """Writes all files, by name, none of them before all may be. Raises UsageError."""
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise _unwritable(self.option, self.path, error) from error
        files = {name: OutputFile(self.option, self.path / name, EXPERIMENT, self.outputs) for name in texts}
        for file in files.values():
            file.check()
        for name, text in texts.items():
            files[name].write(text)


@dataclass(frozen=True)
class OutputFile:
    """A file that may be written."""

    option: str
    path: Path
    form: Format
    outputs: Outputs = field(repr=False)

    def check(self) -> None:
        """Raises UsageError when the file may not be written, with nothing changed."""
        if self.outputs.is_input(self.path):
            raise UsageError(
                f"{self.option} {self.path} is an input of this command and is not replaced",
                "name another file",
            )
        try:
            mode = self.path.stat().st_mode
        except FileNotFoundError:
            if not self.path.parent.is_dir():
                raise UsageError(
                    f"{self.option}: cannot write {self.path}: there is no folder {self.path.parent}"
                ) from None
            return
        except OSError as error:
            raise _unwritable(self.option, self.path, error) from error
        if stat.S_ISDIR(mode) or stat.S_ISBLK(mode):
            what = "folder" if stat.S_ISDIR(mode) else "block device"
            raise UsageError(f"{self.option} {self.path} is a {what}", "name a file")
        if not stat.S_ISREG(mode) or self.path.stat().st_size == 0 or self.outputs.force:
            return
        try:
            is_ours = self.form.wrote(self.path)
        except OSError as error:
            raise _unwritable(self.option, self.path, error) from error
        if not is_ours:
            raise UsageError(
                f"{self.option} {self.path} exists and is not {self.form.name} that mydyno wrote",
                "name another file, or replace this one with --force",
            )

    def write(self, content: str | bytes) -> None:
        """Writes the whole file. Raises UsageError, with the file as it was."""
        with self.open() as file:
            file.write(content.encode() if isinstance(content, str) else content)

    @contextmanager
    def open(self) -> Iterator[BinaryIO]:
        """The new file, which takes its name when the block has ended well. Raises UsageError."""
        self.check()
        try:
            if _is_stream(self.path):
                with self.path.open("wb") as file:
                    yield file
            else:
                with replacing(self.path) as file:
                    yield file
        except OSError as error:
            raise _unwritable(self.option, self.path, error) from error


def _unwritable(option: str, path: Path, error: OSError) -> UsageError:
    return UsageError(f"{option}: cannot write {path}: {error.strerror}", writing_hint(error, path))


def _is_stream(path: Path) -> bool:
    """A pipe, a terminal, /dev/null: there is nothing to replace."""
    return path.exists() and not path.is_file()


def _same(one: Path, other: Path) -> bool:
    try:
        return one.resolve() == other.resolve() or one.samefile(other)
    except OSError:
        return False
