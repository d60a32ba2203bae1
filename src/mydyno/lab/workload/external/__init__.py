"""What sysbench, mysqlslap and fio, the real programs, are to do. `mydyno.lab.load` runs them."""

from mydyno.lab.workload.external.fio import FioOptions
from mydyno.lab.workload.external.slap import ExternalSlap
from mydyno.lab.workload.external.sysbench import ExternalSysbench

__all__ = ["ExternalSlap", "ExternalSysbench", "FioOptions"]
