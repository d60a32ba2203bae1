"""The settings that a point configures."""

from __future__ import annotations

from mydyno.lab.plan import Point
from mydyno.lab.stack import Setting


def settings_of(point: Point) -> dict[str, Setting]:
    """The settings as my.cnf takes them."""
    return {name: value.written for name, value in point.setup.server.config.items()}
