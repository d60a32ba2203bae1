"""sizes: overlays that make the same experiment smaller or larger, chosen with --size."""

from mydyno.core.document.problems import Findings
from mydyno.core.document.tree import Entry, Mapping, Node, overlay
from mydyno.core.nearest import nearest
from mydyno.lab.spec.design import SEQUENTIAL
from mydyno.lab.spec.factors import Setting, read_settings
from mydyno.lab.spec.generators import GENERATORS
from mydyno.lab.spec.paths import ROOTS

_FACTORS = "factors."
_ALLOWED = "a path into setup (server....), workload, design, sampling or factors"


def read_sizes(root: Mapping, findings: Findings) -> dict[str, tuple[Setting, ...]]:
    """Each size's settings, by name; what is wrong with them goes to `findings`."""
    section = root.get("sizes")
    if section is None:
        return {}
    if not isinstance(section, Mapping):
        findings.add(section.position, "sizes is not a mapping", section.describe(), "SIZE: {PATH: VALUE}")
        return {}
    return {name: _read_overlay(root, name, entry, findings) for name, entry in section.entries.items()}


def apply(root: Mapping, settings: tuple[Setting, ...]) -> Mapping:
    """The document with each setting's value in its place.

    A size that says how often to repeat in one way takes the place of the other way.
    """
    keys = {str(setting.location[1]) for setting in settings if setting.location[0] == "design"}
    if "repeats" in keys:
        root = _without_design(root, SEQUENTIAL)
    if "until" in keys:
        root = _without_design(root, ("repeats",))
    for setting in settings:
        root = overlay(root, setting.location, setting.entry)
    return root


def _without_design(root: Mapping, keys: tuple[str, ...]) -> Mapping:
    design = root.entries.get("design")
    if design is None or not isinstance(design.value, Mapping):
        return root
    kept = {key: entry for key, entry in design.value.entries.items() if key not in keys}
    return overlay(root, ("design",), Entry(design.key, Mapping(kept, design.value.position)))


def apply_level(root: Mapping, settings: tuple[Setting, ...]) -> Mapping:
    """The same for the level of a factor. A level that sets another generator of the workload than the one
    in place replaces that one, so that a factor can compare generators."""
    chosen = {one.location[1] for one in settings if one.location[0] == "workload" and len(one.location) > 1}
    workload = root.get("workload")
    if isinstance(workload, Mapping) and chosen & set(GENERATORS):
        others = set(GENERATORS) - chosen
        kept = {key: entry for key, entry in workload.entries.items() if key not in others}
        key = root.entries["workload"].key
        root = overlay(root, ("workload",), Entry(key, Mapping(kept, workload.position)))
    return apply(root, settings)


def _read_overlay(root: Mapping, size: str, entry: Entry, findings: Findings) -> tuple[Setting, ...]:
    value = entry.value
    if not isinstance(value, Mapping):
        allowed = "{PATH: VALUE, ...}, or {} to change nothing"
        findings.add(value.position, f"size {size} is not a mapping", value.describe(), allowed)
        return ()
    of_factors = {path: each for path, each in value.entries.items() if path.startswith(_FACTORS)}
    others = {path: each for path, each in value.entries.items() if path not in of_factors}
    settings = list(read_settings(Mapping(others, value.position), tuple(ROOTS), _ALLOWED, findings))
    for path, each in of_factors.items():
        name = path.removeprefix(_FACTORS)
        factors = _names(root.get("factors"))
        if name not in factors:
            likely = nearest(name, factors)
            known = ", ".join(f"{_FACTORS}{factor}" for factor in factors)
            findings.add(
                each.key, "unknown factor", path, known or "none", _FACTORS + likely if likely else None
            )
            continue
        settings.append(Setting(path, ("factors", name), each))
    return tuple(settings)


def _names(section: Node | None) -> list[str]:
    return list(section.entries) if isinstance(section, Mapping) else []
