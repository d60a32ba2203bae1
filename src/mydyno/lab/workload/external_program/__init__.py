"""What sysbench, mysqlslap and fio, the real programs, are to do. `mydyno.lab.load` runs them."""

from mydyno.lab.workload.external_program.fio import FioOptions
from mydyno.lab.workload.external_program.slap import ExternalSlap
from mydyno.lab.workload.external_program.sysbench import ExternalSysbench

__all__ = ["ExternalSlap", "ExternalSysbench", "FioOptions"]
