"""What only the binary can tell of `cache: cold`: whether it reads its tables past the page cache."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from mydyno.core.server_variables import OFF_WORDS
from mydyno.lab.plan import Point
from mydyno.lab.stack import ServerBinary, Setting


def cache_notes(binary: ServerBinary, settings: Mapping[str, Setting], point: Point) -> Iterator[str]:
    """`settings` are those of this very binary."""
    if point.setup.cache == "cold" and (setting := _direct(binary, settings)) is not None:
        yield (
            f"cache: cold has no effect on InnoDB's tables: {binary.version} bypasses the page cache "
            f"for them ({setting})"
        )


def _direct(binary: ServerBinary, settings: Mapping[str, Setting]) -> str | None:
    """The setting that has tables opened with O_DIRECT; MariaDB made several of one in 11.0."""
    in_force = {**binary.options, **settings}
    buffering = in_force.get("innodb_data_file_buffering")
    if buffering is not None:
        return "innodb_data_file_buffering=OFF" if str(buffering).lower() in OFF_WORDS else None
    method = str(in_force.get("innodb_flush_method"))
    return f"innodb_flush_method={method}" if method.upper().startswith("O_DIRECT") else None
