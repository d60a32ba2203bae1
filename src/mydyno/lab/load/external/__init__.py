"""Load by the real programs, sysbench and mysqlslap: run, parsed and heard like our own engine."""

from mydyno.lab.load.external.driver import External

__all__ = ["External"]
