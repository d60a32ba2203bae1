"""Experiment files by their path, and those that come with mydyno by their name."""

from collections.abc import Iterator
from pathlib import Path

from mydyno.core.errors import UsageError
from mydyno.core.nearest import did_you_mean

FOLDER = Path(__file__).parents[1] / "experiments"
"""What the repository has in `experiments`: part of the package, so that an installed mydyno has it too."""


def shipped() -> Iterator[str]:
    """The names of the experiments that come with mydyno."""
    return (path.stem for path in sorted(FOLDER.glob("*.yaml")))


def find(path: Path) -> Path:
    """The file at `path`, or, where there is none, the one of mydyno's that is meant.

    `thread-cache` and `experiments/thread-cache.yaml` mean the same. Raises UsageError for an unknown name.
    """
    if path.exists() or path.is_absolute() or ".." in path.parts:
        return path
    below = FOLDER.joinpath(*path.parts[1:] if path.parts[0] == "experiments" else path.parts)
    for candidate in (below, below.with_name(f"{below.name}.yaml")):
        if candidate.is_file():
            return candidate
    if len(path.parts) == 1 and not path.suffix:
        raise UsageError(
            f"there is no file {path}, and no experiment of mydyno's has that name",
            did_you_mean(path.name, list(shipped()), f"there are: {', '.join(shipped())}"),
        )
    return path
