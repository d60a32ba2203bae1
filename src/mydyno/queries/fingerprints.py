"""Our fingerprint of statements that come from elsewhere than a log: the engine has the lexer."""

import json
import subprocess
from collections.abc import Sequence

from pydantic import TypeAdapter, ValidationError

from mydyno.core.errors import EngineError
from mydyno.core.record import Record
from mydyno.machine.programs import find_program

_MOST_SECONDS = 60


class Fingerprint(Record):
    """As the groups of a digest have it."""

    id: str
    text: str
    is_cut: bool
    """Whether `text` shows the beginning only."""
    example: str
    """The statement with its secrets masked."""


_ANSWER = TypeAdapter(tuple[Fingerprint, ...])


def fingerprints(statements: Sequence[str]) -> tuple[Fingerprint, ...]:
    """In the order of the statements. Raises MissingToolError, EngineError."""
    program = find_program("mydyno-engine")
    # Secrets of statements travel on standard input only.
    given = "".join(f"{json.dumps(statement)}\n" for statement in statements)
    done = subprocess.run(
        [program, "fingerprint"],
        input=given.encode(),
        capture_output=True,
        check=False,
        timeout=_MOST_SECONDS,
    )
    if done.returncode:
        errors = done.stderr.decode(errors="replace").strip()
        raise EngineError(f"{program} fingerprint ended with {done.returncode}: {errors[-500:]}")
    try:
        answers = _ANSWER.validate_json(f"[{','.join(done.stdout.decode().splitlines())}]")
    except ValidationError as error:
        raise EngineError(
            f"unexpected output of mydyno-engine: {error.errors()[0]['msg']}",
            "mydyno and mydyno-engine come from different releases: install them together",
        ) from None
    if len(answers) != len(statements):
        raise EngineError(f"{program} fingerprint read {len(answers)} statements of {len(statements)}")
    return answers
