"""What a plan has made of what the file says, told so that nobody has to guess."""

from __future__ import annotations

from collections.abc import Iterator

from mydyno.core.document.tree import Location, Scalar, find
from mydyno.core.grounds import GROUNDS
from mydyno.core.raid import level_title
from mydyno.core.units import format_bytes
from mydyno.lab.spec import Setup, Variant
from mydyno.lab.spec.setup_checks import idle_keys
from mydyno.lab.spec.volume_values import OLD_SCHEDULERS


def notes_of(setup: Setup, variant: Variant) -> tuple[str, ...]:
    """Sentences about the point with this `setup`, whose shares are resolved, in the words of the file."""
    return (
        *_shares(setup, variant),
        *_old_schedulers(setup, variant),
        *_left_out(setup, variant),
        *_cache(setup),
    )


def _shares(setup: Setup, variant: Variant) -> Iterator[str]:
    for name, value in variant.setup.server.config.items():
        if value.share is not None:
            size = setup.server.config[name].number
            assert isinstance(size, int)
            yield f"{name}: {value.written} is {format_bytes(size)}"


def _old_schedulers(setup: Setup, variant: Variant) -> Iterator[str]:
    for name, volume in setup.storage.volumes.items() if setup.storage else ():
        place: Location = ("setup", "storage", name, "scheduler")
        node = find(variant.tree, place)
        if isinstance(node, Scalar) and node.text in OLD_SCHEDULERS:
            today = f"today {volume.scheduler}"
            yield f"storage.{name}.scheduler: {node.text} is of kernels before 5.0, {today}"


def _left_out(setup: Setup, variant: Variant) -> Iterator[str]:
    for location, key, used in idle_keys(setup, variant.tree):
        if not used and setup.storage is not None:
            volume = setup.storage.volumes[str(location[2])]
            array = "one disk" if volume.raid == "none" else level_title(volume.raid)
            yield f"storage.{location[2]}.{key} is left out: {array} has none"


def _cache(setup: Setup) -> Iterator[str]:
    """What is done for `cache`, and where it cannot do what its name says."""
    if setup.cache == "cold":
        yield f"cache: cold: {GROUNDS[setup.host.kind].cold_cache}"
    elif setup.cache == "scan":
        yield "cache: scan: every table and index is read once before the first phase"
    elif setup.cache == "dump":
        yield "cache: dump: the buffer pool is loaded from the dataset's list of pages before the first phase"
