"""A separate process that runs commands against hostile servers, so that their memory can be measured.

    python -m cli.hostile_commands < RUNS

RUNS is a JSON list of [ARGUMENTS, SECONDS]; SECONDS are all deadlines of a connection, null: as for a user.
Prints a line of JSON for each: {"seconds", "code", "output", "errors", "peak_mb"}.
"""

from __future__ import annotations

import contextlib
import io
import json
import sys
import time
import traceback

from server.access.hostile_client import deadlines, peak_mb

from mydyno.cli.main import main as mydyno


def run(arguments: list[str], most: float | None) -> tuple[int, str, str]:
    """Exit code, standard output and standard error; -1 and a traceback when an exception is left over."""
    output, errors = io.StringIO(), io.StringIO()
    sys.argv = ["mydyno", *arguments]
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors), deadlines(most):
        try:
            mydyno()
        except SystemExit as end:
            return int(end.code or 0), output.getvalue(), errors.getvalue()
        except Exception:
            return -1, output.getvalue(), errors.getvalue() + traceback.format_exc()
    return 0, output.getvalue(), errors.getvalue()


def main() -> None:
    for arguments, most in json.load(sys.stdin):
        began = time.monotonic()
        code, output, errors = run(arguments, most)
        end = {
            "seconds": time.monotonic() - began,
            "code": code,
            "output": output,
            "errors": errors,
            "peak_mb": peak_mb(),
        }
        print(json.dumps(end), flush=True)


if __name__ == "__main__":
    main()
