"""What sysbench, mysqlslap and fio, the real programs, are asked to do. `mydyno.load` runs them."""

from mydyno.workload.external.fio import FioOptions
from mydyno.workload.external.slap import ExternalSlap
from mydyno.workload.external.sysbench import ExternalSysbench

__all__ = ["ExternalSlap", "ExternalSysbench", "FioOptions"]
