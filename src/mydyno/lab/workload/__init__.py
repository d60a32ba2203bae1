"""Workloads: what the server is driven with, as files of one dialect (docs/reference/workloads.md)."""

from mydyno.core.document.problems import SpecErrors
from mydyno.lab.workload.definitions import builtin_names
from mydyno.lab.workload.file import Resolved, WorkloadFile, read, reads
from mydyno.lab.workload.options import Options

__all__ = ["Options", "Resolved", "SpecErrors", "WorkloadFile", "builtin_names", "read", "reads"]
