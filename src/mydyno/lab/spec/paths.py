"""Dotted paths (`server.config.max_connections`, `workload.each.rounds`): which exist, where they lead."""

import re
from collections.abc import Iterator
from typing import Any, get_args, get_origin

from pydantic import BaseModel

from mydyno.core.document.base import section_of
from mydyno.core.document.tree import Location
from mydyno.core.nearest import nearest
from mydyno.lab.spec.config_value import ConfigValue
from mydyno.lab.spec.design import Design
from mydyno.lab.spec.sampling import Sampling
from mydyno.lab.spec.server import variable_name
from mydyno.lab.spec.setup import Setup
from mydyno.lab.spec.workload import Workload

ROOTS: dict[str, type[BaseModel]] = {"workload": Workload, "design": Design, "sampling": Sampling}
"""Sections that a path names first; a path into the setup begins with the layer instead."""
FACTOR_ROOTS = ("workload",)
CONFIG_PATH = "server.config."


def location_of(path: str) -> Location | None:
    """Where in the document `path` leads; None when it leads nowhere."""
    if path.startswith(CONFIG_PATH):
        name = variable_name(path.removeprefix(CONFIG_PATH))
        return ("setup", "server", "config", name) if name else None
    first, *rest = path.split(".")
    if first in ROOTS:
        return (first, *rest) if rest and _leads_somewhere(ROOTS[first], rest) else None
    return ("setup", first, *rest) if _leads_somewhere(Setup, [first, *rest]) else None


def known_paths(*roots: str) -> list[str]:
    """Every fixed path under the setup and the given roots, in the order of the documentation."""
    paths = list(_paths_below(Setup, ""))
    for root in roots:
        paths += _paths_below(ROOTS[root], f"{root}.")
    return paths


def nearest_path(path: str, *roots: str) -> str | None:
    """The path that `path` probably stands for."""
    without_setup = path.removeprefix("setup.")
    if without_setup != path and location_of(without_setup):
        return without_setup
    if path.startswith("config."):
        return f"server.{path}"
    parts = path.split(".", 2)
    if len(parts) == 3 and nearest(".".join(parts[:2]), [CONFIG_PATH.rstrip(".")]):
        return CONFIG_PATH + parts[2]
    candidates = known_paths(*roots)
    by_end = [candidate for candidate in candidates if candidate.endswith(f".{path}")]
    likely = by_end[0] if by_end else nearest(path, candidates)
    if likely is None and re.fullmatch(r"[a-z]+([-_][a-z0-9]+)+", path):
        return CONFIG_PATH + variable_name(path)
    return likely


def is_config(annotation: Any) -> bool:
    return ConfigValue in get_args(annotation)


def _leads_somewhere(section: type[BaseModel], steps: list[str]) -> bool:
    field = section.model_fields.get(steps[0])
    if field is None:
        return False
    if len(steps) == 1:
        return True
    below = _below(field.annotation)
    return below is not None and _leads_somewhere(below, steps[1:])


def _below(annotation: Any) -> type[BaseModel] | None:
    """The section that a path goes on into; none leads into a list."""
    return None if get_origin(annotation) is tuple else section_of(annotation)


def _paths_below(section: type[BaseModel], prefix: str) -> Iterator[str]:
    for name, field in section.model_fields.items():
        yield prefix + name
        below = _below(field.annotation)
        if below is not None:
            yield from _paths_below(below, f"{prefix}{name}.")
