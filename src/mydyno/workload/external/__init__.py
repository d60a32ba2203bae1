"""What sysbench and mysqlslap, the real programs, are asked to do. `mydyno.load.external` runs them."""

from mydyno.workload.external.slap import ExternalSlap
from mydyno.workload.external.sysbench import ExternalSysbench

__all__ = ["ExternalSlap", "ExternalSysbench"]
