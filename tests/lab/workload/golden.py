"""What the reader says of each file in bad/, and the way to write it down again.

    python tests/lab/workload/golden.py

rewrites the expected messages; read the difference before you keep it.
"""

from __future__ import annotations

import os
from pathlib import Path

from mydyno.core.document.problems import SpecErrors
from mydyno.lab import workload

BAD = Path(__file__).parent / "bad"


def complaint(file: Path) -> str:
    """The message for `file`, read from its own folder. Raises AssertionError when it is accepted."""
    here = Path.cwd()
    os.chdir(file.parent)
    try:
        workload.read(Path(file.name))
    except SpecErrors as errors:
        return f"{errors}\n"
    finally:
        os.chdir(here)
    raise AssertionError(f"{file} is accepted")


if __name__ == "__main__":
    for bad in sorted(BAD.glob("*.yaml")):
        bad.with_suffix(".txt").write_text(complaint(bad), "utf-8")
