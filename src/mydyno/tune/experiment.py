"""Candidates as an experiment file, which the lab plans, runs and keeps as any other. Pure."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mydyno.core.document.yaml_text import block, comment, inline
from mydyno.core.errors import UsageError
from mydyno.lab.plan.layers import starts_from_base
from mydyno.lab.spec import Experiment
from mydyno.tune.history import SERVER_CONFIG, Candidate, Settings

FACTOR = "candidate"
_OWN = ("experiment", "question", "factors", "search", "sizes", "claims", "design")
"""Keys of the searched file that its heats do not have, or set themselves."""
_LONGEST = 64


@dataclass(frozen=True)
class Base:
    """What all candidates share."""

    name: str
    file: str
    keys: Mapping[str, Any]
    """The file without what is searched."""
    design: Mapping[str, Any]
    """Order and slices as the file has them."""
    config: Mapping[str, Any]
    """`setup.server.config`."""
    seed: int
    shares_disks: bool = False
    """Disks are built once for all candidates that have the same: guests start from copies of them."""


def base_of(experiment: Experiment) -> Base:
    """Raises UsageError for an experiment that cannot be searched."""
    if experiment.search is None:
        raise UsageError(f"{experiment.file} has no `search`", "docs/how-to/tune.md shows what it is made of")
    plain = experiment.plain()
    if plain.get("factors"):
        raise UsageError(
            f"{experiment.file} has factors, and a search has none: it makes its own",
            "`mydyno run` measures factors; move them into search.space",
        )
    setup = plain.get("setup") or {}
    config = (setup.get("server") or {}).get("config") or {}
    design = {key: value for key, value in (plain.get("design") or {}).items() if key in ("order", "slice")}
    return Base(
        name=experiment.name,
        file=experiment.file,
        keys={key: value for key, value in plain.items() if key not in _OWN and value is not None},
        design=design,
        config=config,
        seed=experiment.design.seed,
        shares_disks=starts_from_base(experiment.setup, experiment.workload),
    )


def fingerprint(base: Base, search: Mapping[str, Any], release: str) -> str:
    """Equal for searches whose trials can be taken for each other."""
    parts = [base.name, base.keys, base.design, base.seed, search, release]
    return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()[:12]


def text(
    base: Base,
    suffix: str,
    candidates: Sequence[Candidate],
    *,
    question: str,
    repeats: int,
    seed: int,
    data_seed: int | None = None,
    blocked: bool = False,
    factor: bool = True,
) -> str:
    """The experiment that measures these; the first one is what the others are compared with. Without
    `factor` it is the setup as it is; `blocked`: without slices, whatever the file has."""
    design = {**base.design, "repeats": repeats, "seed": seed, "control": False}
    if data_seed is not None:
        design["data_seed"] = data_seed
    if blocked:
        design = {**design, "order": "blocked"}
        design.pop("slice", None)
    document = {
        "experiment": f"{base.name[: _LONGEST - len(suffix) - 1].strip('-')}-{suffix}",
        "question": question,
        **base.keys,
    }
    lines = [
        *comment(f"Made by `mydyno tune` from {base.file.rpartition('/')[2]}."),
        *block(document, 0),
        *(["factors:", f"  {FACTOR}:", *_levels(base, candidates)] if factor else []),
        f"design: {inline(design)}",
    ]
    return "\n".join(lines) + "\n"


def _levels(base: Base, candidates: Iterable[Candidate]) -> Iterable[str]:
    for each in candidates:
        yield f"    {inline(each.title)}:"
        for path, value in (each.settings or {SERVER_CONFIG: dict(base.config)}).items():
            yield f"      {inline(path)}: {inline(value)}"


def settings_of(base: Base, settings: Settings) -> dict[str, Any]:
    """Path -> value of everything that is configured: the setup's own, and what is laid over it."""
    own = (
        {} if SERVER_CONFIG in settings else {f"{SERVER_CONFIG}.{name}": v for name, v in base.config.items()}
    )
    given: dict[str, Any] = {}
    for path, value in settings.items():
        if path == SERVER_CONFIG:
            given |= {f"{SERVER_CONFIG}.{name}": each for name, each in value.items()}
        else:
            given[path] = value
    return {**own, **given}


def laid_over(settings: Settings, changes: Mapping[str, Any]) -> dict[str, Any]:
    """The settings, with the values of these paths in them."""
    config = settings.get(SERVER_CONFIG)
    if config is None:
        return {**settings, **changes}
    prefix = f"{SERVER_CONFIG}."
    own = {path.removeprefix(prefix): value for path, value in changes.items() if path.startswith(prefix)}
    others = {path: value for path, value in changes.items() if not path.startswith(prefix)}
    return {**settings, **others, SERVER_CONFIG: {**config, **own}}
