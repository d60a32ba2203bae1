"""The size of the buffer pool and into how many parts it should be cut, for several rules."""

from mydyno.advisor.innodb import GIB, is_mysql
from mydyno.advisor.targets import Targets
from mydyno.survey.facts import System

_MANY = 8


def pool_bytes(system: System, targets: Targets) -> int | None:
    """The pool as advised, or as it is."""
    return targets.buffer_pool_bytes or system.server.number("innodb_buffer_pool_size")


def instances_advised(system: System, pool_bytes: int) -> int | None:
    """For a pool of this size; None: MariaDB has only one, or it is not known.

    MySQL's manual wants 1G or more for each part. Below 8.4, whose own default follows size and CPUs, 8 is
    the default for any pool of 1G. More than that are left alone: they cost little, and the sizes that the
    pool can have depend on their number.
    """
    server = system.server
    now = server.number("innodb_buffer_pool_instances")
    if now is None or server.release.is_mariadb:
        return None
    cpus = system.host.cpu.count if system.host else 0
    large = pool_bytes >= _MANY * GIB and cpus >= _MANY
    if now == 1 and large and is_mysql(server.release, (5, 6, 0), (8, 4, 0)):
        return _MANY
    return now
