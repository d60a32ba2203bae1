"""Every error that mydyno raises on purpose, and the exit code each one ends the program with.

    MydynoError                 1  something mydyno knows about went wrong
    ├── UsageError              2  the command line asks for something impossible
    ├── SpecError               2  the experiment file is wrong
    ├── MissingToolError        3  this machine lacks a program or a right that the work needs
    ├── ServerError             4  a server could not be started, reached or stopped
    ├── EngineError             4  the load engine could not do its work
    ├── HostError               4  a guest did not start, or was lost
    ├── StorageError            4  disks, an array or a file system could not be built as asked
    ├── LabError                5  the results folder is busy, damaged, full or too new
    ├── UndoError               6  something could not be put back; the journal keeps it
    └── ApplyError              9  advice could not be carried out; everything is as it was before

An error says what went wrong and where; the hint, on a line of its own, says how to mend it.
Exit codes 7 (a run finished but some of its trials are invalid or failed) and 8 (`mydyno compare`,
`mydyno digest --compare`: slower than allowed) are outcomes, not errors, and 130 is Ctrl-C, as shells count
it. docs/cli.md lists them for users.
"""

from __future__ import annotations

EXIT_INVALID_TRIALS = 7
EXIT_SLOWER = 8
EXIT_INTERRUPTED = 130


class MydynoError(Exception):
    """An expected failure: `message` for what and where, `hint` for the way out."""

    exit_code = 1

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}\n  hint: {self.hint}" if self.hint else self.message


class UsageError(MydynoError):
    exit_code = 2


class SpecError(MydynoError):
    exit_code = 2


class MissingToolError(MydynoError):
    exit_code = 3


class ServerError(MydynoError):
    exit_code = 4


class EngineError(MydynoError):
    exit_code = 4


class HostError(MydynoError):
    exit_code = 4


class StorageError(MydynoError):
    exit_code = 4


class LabError(MydynoError):
    exit_code = 5


class UndoError(MydynoError):
    exit_code = 6


class ApplyError(MydynoError):
    exit_code = 9
