"""One combination of factor levels, complete: everything that a trial of it needs."""

from collections.abc import Iterator, Mapping

from mydyno.core.document.tree import Location, Scalar, find
from mydyno.core.facts import HostFacts
from mydyno.core.grounds import GROUNDS
from mydyno.core.raid import level_title
from mydyno.core.record import Record
from mydyno.core.units import format_bytes
from mydyno.lab.plan.data_size import tables_bytes
from mydyno.lab.spec import ConfigValue, Experiment, Problem, Server, Setup, SpecErrors, Variant, Workload
from mydyno.lab.spec.checks import idle_keys
from mydyno.lab.spec.volume_values import OLD_SCHEDULERS


class Point(Record):
    """`id` is p1, p2, ... in the order in which the file names the levels; the last factor varies fastest."""

    id: str
    levels: dict[str, str]
    """Factor -> level, as written in the file."""
    setup: Setup
    workload: Workload
    notes: tuple[str, ...] = ()
    """What the plan has made of what the file says, for people: a share as a size, an old name as today's."""
    control_of: str | None = None
    """The point that this one measures a second time (an A/A control)."""

    @property
    def starts_server(self) -> bool:
        """Whether mydyno starts the server of this point; else it is another's, or none is driven."""
        return self.workload.fio_options is None and self.setup.server.external is None

    @property
    def title(self) -> str:
        """For people: `thread_cache_size = 8`; empty for an experiment without factors."""
        title = ", ".join(f"{factor.rpartition('.')[2]} = {level}" for factor, level in self.levels.items())
        return title if self.control_of is None else f"{title} (A/A control)".lstrip()


def points_of(experiment: Experiment, facts: HostFacts) -> list[tuple[Point, Variant]]:
    """Every point with where the file describes it; shares of memory and of data are worked out.

    Raises SpecErrors when it is not known how much that is of which a value is a share.
    """
    points: list[tuple[Point, Variant]] = []
    problems: list[Problem] = []
    for number, levels in enumerate(experiment.combinations(), start=1):
        variant = experiment.variant(levels)
        wholes = {
            "memory": memory_bytes(variant.setup, facts),
            "data": tables_bytes(variant.workload) or None,
        }
        unknown = _unknown_shares(variant, wholes)
        problems += unknown
        if unknown:
            continue
        config = variant.setup.server.config
        resolved = {name: _resolved(value, wholes) for name, value in config.items()}
        server: Server = variant.setup.server.model_copy(update={"config": resolved})
        setup = variant.setup.model_copy(update={"server": server})
        point = Point(
            id=f"p{number}",
            levels=levels,
            setup=setup,
            workload=variant.workload,
            notes=notes_of(setup, variant),
        )
        points.append((point, variant))
    if problems:
        raise SpecErrors(problems)
    return points


def memory_bytes(setup: Setup, facts: HostFacts) -> int | None:
    """The memory of the host that the server is on; None when it is another's, which may be anywhere."""
    if setup.server.external is not None:
        return None
    if setup.host.is_guest:
        return setup.host.guest_memory_bytes
    if setup.host.is_fleet and facts.others:
        # The same settings everywhere, so a share is one of the smallest machine.
        known = [one.memory_bytes for one in facts.others.values() if one.memory_bytes is not None]
        return min(known, default=None)
    there = facts.others.get(setup.host.name, facts) if setup.host.name is not None else facts
    return there.memory_bytes


def _unknown_shares(variant: Variant, wholes: Mapping[str, int | None]) -> list[Problem]:
    made = variant.workload.generator
    messages = {
        "memory": "the machine's memory is not known, so nothing can be a share of it",
        "data": f"how much data {made} makes is not known before it runs, so nothing can be a share of it",
    }
    return [
        variant.problem(("setup", "server", "config", name), messages[value.share.of], "a size, as 2G")
        for name, value in variant.setup.server.config.items()
        if value.share is not None and wholes[value.share.of] is None
    ]


def _resolved(value: ConfigValue, wholes: Mapping[str, int | None]) -> ConfigValue:
    if value.share is None:
        return value
    whole = wholes[value.share.of]
    assert whole is not None, "refused before"
    return ConfigValue(value.share.size(whole))


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
