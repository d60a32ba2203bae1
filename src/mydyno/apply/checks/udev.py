"""udev rules, read by udevadm(8) verify, which systemd has since 254."""

from __future__ import annotations

import tempfile
from pathlib import Path

from mydyno.core.errors import MissingToolError
from mydyno.machine.local import LocalHost


def udev_faults(new: str) -> list[str] | None:
    """None: there is no udevadm, or one that cannot check."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "99-mydyno.rules")
        path.write_text(new, encoding="utf-8", errors="surrogateescape")
        try:
            if LocalHost().run(["udevadm", "verify", "--help"]).returncode != 0:
                return None
            done = LocalHost().run(["udevadm", "verify", "--no-summary", str(path)])
        except MissingToolError:
            return None
    said = (done.stderr or done.stdout).replace(f"{path}:", "line ")
    return [line.strip() for line in said.splitlines() if line.strip()] if done.returncode != 0 else []
