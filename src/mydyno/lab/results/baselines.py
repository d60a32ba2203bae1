"""Runs that were pinned under a name, which later ones are compared with: baselines.json in the lab.

The file is small and seldom written: whole or not at all, by one writer at a time (the lab's lock).
"""

from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from mydyno.core.durable import replace_file
from mydyno.core.errors import LabError, UsageError
from mydyno.core.nearest import nearest
from mydyno.lab.results.sound import first_fault

FILE = "baselines.json"


@dataclass(frozen=True)
class Baseline:
    name: str
    run: str
    """Name of the run's folder."""
    experiment: str
    pinned_at: str
    """ISO 8601, UTC."""


_BASELINES: TypeAdapter[tuple[Baseline, ...]] = TypeAdapter(tuple[Baseline, ...])


def read(lab: Path) -> tuple[Baseline, ...]:
    """Every baseline of the lab, in order of their names. Raises LabError when the file is damaged."""
    path = lab / FILE
    try:
        return _BASELINES.validate_json(path.read_bytes())
    except FileNotFoundError:
        return ()
    except OSError as error:
        raise LabError(f"cannot read {path}: {error.strerror}") from error
    except ValidationError as error:
        raise LabError(
            f"{path} is damaged: {first_fault(error)}",
            "delete it and pin the baselines again; it contains no measurements",
        ) from None


def find(lab: Path, name: str) -> Baseline:
    """The baseline of that name. Raises UsageError with the nearest."""
    known = {baseline.name: baseline for baseline in read(lab)}
    if name in known:
        return known[name]
    if not known:
        raise UsageError(f"the lab {lab} has no baseline", "`mydyno baseline pin RUN` creates one")
    likely = f"did you mean {near}? " if (near := nearest(name, known)) else ""
    raise UsageError(f"the lab {lab} has no baseline {name}", f"{likely}it has {', '.join(known)}")


def pin(lab: Path, baseline: Baseline) -> Baseline | None:
    """Keep it; what had its name before is given back. The caller holds the lab's lock."""
    kept = {each.name: each for each in read(lab)}
    before = kept.get(baseline.name)
    _write(lab, {**kept, baseline.name: baseline})
    return before


def unpin(lab: Path, name: str) -> Baseline:
    """Forget it; the run stays. Raises UsageError when there is none. The caller holds the lab's lock."""
    gone = find(lab, name)
    _write(lab, {each.name: each for each in read(lab) if each.name != name})
    return gone


def _write(lab: Path, baselines: dict[str, Baseline]) -> None:
    ordered = tuple(baselines[name] for name in sorted(baselines))
    replace_file(lab / FILE, _BASELINES.dump_json(ordered, indent=1).decode() + "\n")
