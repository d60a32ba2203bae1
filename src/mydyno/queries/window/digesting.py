"""From what was caught to a digest, through the engine, and into a file where that is wanted."""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from mydyno.core.errors import UsageError
from mydyno.queries.log import STANDARD_INPUT, read_logs
from mydyno.queries.records import Digest, Group
from mydyno.queries.window.watching import Log


def digest_of(log: Log, name: str, *, keep: BinaryIO | None = None, **options: Any) -> Digest:
    """What is in the log, which is called `name` in the digest. `keep` gets its text, too.

    Options are those of `read_logs`. Raises what reading the log raises, and what `read_logs` does.
    """
    with pipe_from(log, keep) as stream:
        digest = read_logs([STANDARD_INPUT], stdin=stream, **options)
    return _named(digest, name)


@contextmanager
def new_file(path: Path | None) -> Iterator[BinaryIO | None]:
    """A file that was not there: statements are for the eyes of its owner only. Raises UsageError."""
    if path is None:
        yield None
        return
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise UsageError(f"{path} exists already and is not overwritten", "--save another name") from None
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}", "does its folder exist?") from error
    with os.fdopen(descriptor, "wb") as file:
        yield file


@contextmanager
def pipe_from(log: Log, keep: BinaryIO | None) -> Iterator[int]:
    """The reading end of a pipe through which a thread sends the log's text."""
    reading, writing = os.pipe()
    failures: list[BaseException] = []

    def send() -> None:
        try:
            with os.fdopen(writing, "wb") as pipe:
                for block in log.blocks():
                    if keep is not None:
                        keep.write(block)
                    pipe.write(block)
        except BrokenPipeError:
            return  # Its reader has ended, and says why.
        except BaseException as error:
            failures.append(error)

    sender = threading.Thread(target=send, daemon=True)
    sender.start()
    try:
        yield reading
    finally:
        os.close(reading)
        sender.join()
    if failures:
        raise failures[0]


def _named(digest: Digest, name: str) -> Digest:
    return digest.model_copy(
        update={
            "sources": tuple(each.model_copy(update={"name": name}) for each in digest.sources),
            "problems": tuple(each.model_copy(update={"source": name}) for each in digest.problems),
            "groups": tuple(_group(each, name) for each in digest.groups),
        }
    )


def _group(group: Group, name: str) -> Group:
    if group.example is None:
        return group
    return group.model_copy(update={"example": group.example.model_copy(update={"source": name})})
