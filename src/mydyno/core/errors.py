"""Every error that mydyno raises on purpose, and the exit code that each ends the program with.

    MydynoError
    ├── UsageError          the command line asks for something impossible
    ├── SpecError           the experiment file is wrong
    ├── MissingToolError    this machine lacks a program or a right that the work needs
    ├── ServerError         a server could not be started, reached or stopped
    ├── EngineError         the load engine could not do its work
    ├── HostError           a guest did not start, or was lost
    ├── StorageError        disks, an array or a file system could not be built as configured
    │   └── MountRefusedError   the kernel does not mount a file system with these options
    ├── LabError            the results folder is busy, damaged, full or too new
    ├── UndoError           something could not be restored; the journal keeps it
    └── ApplyError          advice could not be carried out; everything is as it was before

An error says what went wrong and where; the hint, on a separate line, says how to fix it.
"""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """How the program ended. `brief` is for the help, `meaning` for docs/reference/cli.md."""

    brief: str
    meaning: str

    def __new__(cls, number: int, brief: str, meaning: str) -> ExitCode:
        code = int.__new__(cls, number)
        code._value_ = number
        code.brief, code.meaning = brief, meaning
        return code

    DONE = 0, "done", "done"
    FAILED = 1, "failed", "something that mydyno knows about went wrong"
    USAGE = (
        *(2, "wrong command line or experiment file"),
        "the command line asks for something impossible; the experiment file is wrong",
    )
    MISSING = (
        *(3, "something is missing on this machine"),
        "this machine lacks a program or a right that the work needs",
    )
    SERVER = (
        *(4, "server or engine failed"),
        "a server could not be started, reached or stopped; the load engine could not do its work; a guest "
        "did not start, or was lost; disks, an array or a file system could not be built as configured",
    )
    LAB = 5, "lab busy, full or too new", "the results folder is busy, damaged, full or too new"
    NOT_UNDONE = (
        *(6, "something could not be restored"),
        "something could not be restored; the journal keeps it, and `mydyno cleanup` tries again",
    )
    INVALID_TRIALS = (
        *(7, "finished, but some trials are invalid or failed"),
        "the run finished, but some of its trials are invalid or failed",
    )
    SLOWER = (
        *(8, "slower than allowed (compare, digest, rehearse)"),
        "`mydyno compare`, `mydyno digest --compare` or `mydyno rehearse`: slower than `--fail-if-slower` "
        "allows (a rehearsal also: fails or returns other rows), or with `--fail-if-unsure` perhaps so",
    )
    NOT_APPLIED = (
        *(9, "advice was not carried out, everything is as before"),
        "advice could not be carried out; everything is as it was before",
    )
    INTERRUPTED = (
        130,
        "Ctrl-C, SIGTERM or SIGHUP",
        "Ctrl-C, SIGTERM, SIGHUP: everything restored, finished trials safe",
    )


class MydynoError(Exception):
    """An expected failure: `message` for what and where, `hint` for the way out."""

    exit_code = ExitCode.FAILED

    def __init_subclass__(cls, exits: ExitCode | None = None) -> None:
        cls.exit_code = exits or cls.exit_code

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}\n  hint: {self.hint}" if self.hint else self.message


class UsageError(MydynoError, exits=ExitCode.USAGE): ...


class SpecError(MydynoError, exits=ExitCode.USAGE): ...


class MissingToolError(MydynoError, exits=ExitCode.MISSING): ...


class ServerError(MydynoError, exits=ExitCode.SERVER): ...


class EngineError(MydynoError, exits=ExitCode.SERVER): ...


class HostError(MydynoError, exits=ExitCode.SERVER): ...


class StorageError(MydynoError, exits=ExitCode.SERVER): ...


class MountRefusedError(StorageError):
    """It would be refused again: kernel and options stay the same."""

    def __init__(
        self, message: str, hint: str | None = None, *, filesystem: str, refused: tuple[str, ...] = ()
    ) -> None:
        """`refused`: those of the options, as configured, that the kernel named: it refuses them on any
        disks."""
        super().__init__(message, hint)
        self.filesystem = filesystem
        self.refused = refused


class LabError(MydynoError, exits=ExitCode.LAB): ...


class UndoError(MydynoError, exits=ExitCode.NOT_UNDONE): ...


class ApplyError(MydynoError, exits=ExitCode.NOT_APPLIED): ...
