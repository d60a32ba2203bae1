"""A buffer pool asked for as a share, brought to the size that each point's server counts in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from mydyno.lab.plan import Plan, Point
from mydyno.lab.spec import ConfigValue, Variant
from mydyno.lab.stack import ServerBinary, Setting
from mydyno.server.program.chunks import POOL, in_whole_chunks
from mydyno.server.variables.convert import size_text


def pool_of_share(
    binary: ServerBinary, config: Mapping[str, Setting], point: Point, variant: Variant, cpus: int
) -> int | None:
    """The bytes to ask for instead of the share that was worked out; None when there is none or it fits."""
    written = variant.setup.server.config.get(POOL)
    size = point.setup.server.config[POOL].number if written is not None and written.share else None
    if size is None:
        return None
    whole = in_whole_chunks(binary, config, int(size), cpus)
    return None if whole == size else whole


def share_notes(binary: ServerBinary, pool: int | None) -> Iterator[str]:
    """What a plan says of it."""
    if pool is not None:
        yield f"{POOL}: {size_text(pool)} here, since {binary.version} rounds it to whole chunks"


def with_pools(plan: Plan, pools: Mapping[str, int | None]) -> Plan:
    """The plan with those sizes, by the ids of its points."""
    points = []
    for point in plan.points:
        pool = pools.get(point.id)
        if pool is not None:
            server = point.setup.server
            config = {**server.config, POOL: ConfigValue(pool)}
            setup = point.setup.model_copy(update={"server": server.model_copy(update={"config": config})})
            point = point.model_copy(update={"setup": setup})
        points.append(point)
    return plan.model_copy(update={"points": tuple(points)})
