"""Does the server fit into the machine's memory, if every connection takes what it may?

Only what the experiment sets is counted, and max_connections with its default when a buffer of a connection
is set; a server's own defaults are small.
"""

from mydyno.lab.plan.point import Point
from mydyno.server.variables import catalogue
from mydyno.server.variables.memory import MemorySum

DEFAULT_MAX_CONNECTIONS = 151
"""Of MySQL since 5.5 and MariaDB."""
TIGHT = 0.9


def memory_sum(point: Point) -> MemorySum:
    """The sum for the settings of `point`, whose shares of memory are resolved."""
    config = point.setup.server.config

    def sizes(names: tuple[str, ...]) -> tuple[tuple[str, int], ...]:
        numbers = ((name, config[name].number) for name in names if name in config)
        return tuple((name, int(number)) for name, number in numbers if number is not None and number > 0)

    limit = config["max_connections"].number if "max_connections" in config else None
    return MemorySum(
        once=sizes(catalogue().of_memory("once")),
        per_connection=sizes(catalogue().of_memory("each connection")),
        max_connections=int(limit) if limit is not None else DEFAULT_MAX_CONNECTIONS,
    )
