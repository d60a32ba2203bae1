"""A process of its own that runs commands against hostile servers, so that their memory can be measured.

    python -m cli.hostile_commands < RUNS

RUNS is a JSON list of {"mode", "command", "arguments", "seconds"}; `seconds` are all deadlines of a
connection, null: as for a user. Prints a line of JSON for each: {"mode", "command", "seconds", "code",
"output", "peak_mb"}.
"""

from __future__ import annotations

import contextlib
import io
import json
import sys
import time
import traceback

from stack.server.hostile_client import deadlines, peak_mb

from mydyno.cli.main import main as mydyno


def run(arguments: list[str], most: float | None) -> tuple[int, str]:
    """The exit code and all that is printed; -1 and a traceback for what the program does not expect."""
    output = io.StringIO()
    sys.argv = ["mydyno", *arguments]
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output), deadlines(most):
        try:
            mydyno()
        except SystemExit as end:
            return int(end.code or 0), output.getvalue()
        except Exception:
            return -1, output.getvalue() + traceback.format_exc()
    return 0, output.getvalue()


def main() -> None:
    for each in json.load(sys.stdin):
        began = time.monotonic()
        code, output = run(each["arguments"], each["seconds"])
        done = {
            "mode": each["mode"],
            "command": each["command"],
            "seconds": time.monotonic() - began,
            "code": code,
            "output": output,
            "peak_mb": peak_mb(),
        }
        print(json.dumps(done), flush=True)


if __name__ == "__main__":
    main()
