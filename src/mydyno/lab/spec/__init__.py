"""The experiment file: its sections as types, and a reader that points at the line that is wrong."""

from mydyno.core.document.problems import Position, Problem, SpecErrors
from mydyno.core.raid import Raid
from mydyno.lab.spec.arrays import usable_bytes
from mydyno.lab.spec.config_value import ConfigValue
from mydyno.lab.spec.data import Data
from mydyno.lab.spec.design import Design, PointsKind
from mydyno.lab.spec.experiment import Experiment, Variant
from mydyno.lab.spec.host import Host, kernel_version
from mydyno.lab.spec.load import load, loads
from mydyno.lab.spec.load_hosts import Load
from mydyno.lab.spec.load_shape import Each
from mydyno.lab.spec.sampling import Sampling
from mydyno.lab.spec.schema import json_schema
from mydyno.lab.spec.server import Server
from mydyno.lab.spec.setup import Setup
from mydyno.lab.spec.storage import FileSystem, Storage, Volume
from mydyno.lab.spec.workload import Workload
from mydyno.server.access.address import External

__all__ = [
    "ConfigValue",
    "Data",
    "Design",
    "Each",
    "Experiment",
    "External",
    "FileSystem",
    "Host",
    "Load",
    "PointsKind",
    "Position",
    "Problem",
    "Raid",
    "Sampling",
    "Server",
    "Setup",
    "SpecErrors",
    "Storage",
    "Variant",
    "Volume",
    "Workload",
    "json_schema",
    "kernel_version",
    "load",
    "loads",
    "usable_bytes",
]
