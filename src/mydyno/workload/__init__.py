"""Workloads: what the server is driven with, as files of one dialect (docs/workloads.md)."""

from mydyno.document.problems import SpecErrors
from mydyno.workload.definitions import builtin_names
from mydyno.workload.file import Resolved, WorkloadFile, read, reads
from mydyno.workload.options import Options

__all__ = ["Options", "Resolved", "SpecErrors", "WorkloadFile", "builtin_names", "read", "reads"]
