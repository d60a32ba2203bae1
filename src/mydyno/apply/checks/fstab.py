"""fstab, read by findmnt(8) --verify as mount will read it."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

from mydyno.core.errors import MissingToolError
from mydyno.machine.local import LocalHost

_IGNORED_LINE = re.compile(r"parse error at line (\d+)")


def fstab_faults(old: str, new: str) -> list[str] | None:
    """What findmnt finds wrong in the new text and did not in the old; None: there is no findmnt."""
    try:
        before, after = (_told(text) for text in (old, new))
    except MissingToolError:
        return None
    return [fault for fault in after if fault not in before]


def _told(text: str) -> list[str]:
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", errors="surrogateescape", newline="") as file:
        file.write(text)
        file.flush()
        done = LocalHost().run(["findmnt", "--verify", "--tab-file", str(Path(file.name))])
    return parse_verify(done.stdout, done.stderr)


def parse_verify(output: str, errors: str) -> list[str]:
    """Errors of `findmnt --verify`, each with the mount point under which it stands; warnings are none."""
    found = [f"line {line} cannot be read" for line in _IGNORED_LINE.findall(errors)]
    target = ""
    for line in output.splitlines():
        if line and not line[0].isspace():
            target = line.strip()
        elif line.strip().startswith("[E]"):
            found.append(f"{target}: {line.strip()[3:].strip()}")
    return found
