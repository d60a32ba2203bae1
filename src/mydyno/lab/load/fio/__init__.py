"""Load on disks by the real fio: run, parsed and heard like our own engine."""

from mydyno.lab.load.fio.driver import Fio

__all__ = ["Fio"]
