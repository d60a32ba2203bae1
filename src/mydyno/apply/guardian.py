"""A small process that outlives this one, and restores when this one dies before it is done."""

import ctypes
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from mydyno.core.errors import MydynoError

_NAME = b"mydyno-guardian"
_PR_SET_NAME = 15


@contextmanager
def guarded(restore: Callable[[], object]) -> Iterator[None]:
    """Within this block a forked process waits for its end, and calls `restore` then.

    That does nothing where all has been done or restored, so it matters only when this process dies inside.

    The kernel closes the pipe between them whatever this process dies of. The guardian is the leader of a
    separate session, so a Ctrl-C or the end of a terminal does not reach it, and it has inherited the lock of
    the store, so no other mydyno begins before it is through. It is a fork and no new program because it then
    has the login in memory, and no file or argument needs to hold it.
    """
    here, there = os.pipe()
    sys.stdout.flush()
    sys.stderr.flush()
    parent = os.getpid()
    child = os.fork()
    if child == 0:
        os.close(there)
        _guard(here, parent, restore)
    os.close(here)
    try:
        yield
    finally:
        os.close(there)
        os.waitpid(child, 0)


def _guard(pipe: int, parent: int, restore: Callable[[], object]) -> None:
    """Never returns: what the forked stack would do on its way out is not the guardian's to do."""
    code = 0
    try:
        os.setsid()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE):
            signal.signal(number, signal.SIG_IGN)
        ctypes.CDLL(None).prctl(_PR_SET_NAME, _NAME, 0, 0, 0)
        os.read(pipe, 1)
        restore()
    except BaseException as error:
        code = 1
        if os.getppid() != parent:  # One that lives reports it by itself.
            text = str(error) if isinstance(error, MydynoError) else f"{type(error).__name__}: {error}"
            with suppress(OSError):  # The terminal may have gone; the journal has it, too.
                os.write(2, f"mydyno: {text}\n".encode())
    finally:
        os._exit(code)
