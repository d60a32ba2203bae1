"""Which combinations of levels are measured: one way a file. Pure combinatorics."""

from mydyno.lab.spec.designs.chosen import Chosen, choose

__all__ = ["Chosen", "choose"]
