"""What the reader says of each file in bad/, and the way to write it down anew.

    python tests/lab/spec/golden.py

rewrites the expected messages; read the difference before you keep it.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from mydyno.lab import spec

BAD = Path(__file__).parent / "bad"


def complaint(file: Path) -> str:
    """The message for `file`, read from its own folder. A first line `# --size NAME` chooses a size.

    Raises AssertionError when nothing is wrong with it.
    """
    here = Path.cwd()
    os.chdir(file.parent)
    try:
        first = file.read_bytes().split(b"\n")[0].decode("utf-8", "replace")
        chosen = re.fullmatch(r"# --size (\S+)", first)
        spec.load(Path(file.name), chosen.group(1) if chosen else None)
    except spec.SpecErrors as errors:
        return f"{errors}\n"
    finally:
        os.chdir(here)
    raise AssertionError(f"{file} is accepted")


if __name__ == "__main__":
    for bad in sorted(BAD.glob("*.yaml")):
        bad.with_suffix(".txt").write_text(complaint(bad), "utf-8")
