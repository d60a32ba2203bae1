"""What a search tries first: as shipped, the pool alone, a tuning sheet made durable, static advice. Pure."""

from collections.abc import Mapping
from typing import Any

from mydyno.lab.spec.paths import CONFIG_PATH
from mydyno.server.program.chunks import POOL
from mydyno.server.variables.names import Knows, understand
from mydyno.tune.history import SERVER_CONFIG
from mydyno.tune.space import Space

DEFAULT, POOL_ONLY, SHEET, ADVICE = "default", "pool only", "tuning sheet", "advice"

_SHEET: Mapping[str, Any] = {
    "innodb_log_file_size": "512M",
    "innodb_log_files_in_group": 2,
    "innodb_log_buffer_size": "128M",
    "innodb_flush_log_at_trx_commit": 1,
}
"""What a tuning guide of 2015 sets and a load can answer to, with 1 for its 2 of flushing at commit, which
makes it durable (experiments/tuned-vs-default.yaml has all of it). Its pool is that of the others here."""


def pool_of(space: Space, config: Mapping[str, Any]) -> Any | None:
    """The pool that all references get, so that they have the same memory: the largest of the space, else
    the setup's own; None: as shipped."""
    own = space.of(f"{CONFIG_PATH}{POOL}")
    return own.values[-1] if own is not None else config.get(POOL)


def starts(
    space: Space, config: Mapping[str, Any], advice: Mapping[str, Any], server: Knows
) -> dict[str, dict[str, Any]]:
    """Settings by their name; each takes the place of all settings of the server. Variables have the names
    that this server lists: those of a candidate are laid over them."""
    pool = pool_of(space, config)
    sized = {} if pool is None else {POOL: pool}
    found: dict[str, dict[str, Any]] = {DEFAULT: {}}
    if sized:
        found[POOL_ONLY] = sized
    found[SHEET] = {**sized, **_SHEET}
    if advice:
        found[ADVICE] = {**advice, **sized}
    return {name: {SERVER_CONFIG: dict(understand(server, each).settings)} for name, each in found.items()}
