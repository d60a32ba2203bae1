"""The experiment file: its sections as types, and a reader that points at the line that is wrong."""

from mydyno.document.problems import Position, Problem, SpecErrors
from mydyno.spec.arrays import Raid
from mydyno.spec.capacity import usable_bytes
from mydyno.spec.config_value import ConfigValue
from mydyno.spec.design import Design
from mydyno.spec.disks import Device, Disks
from mydyno.spec.experiment import Experiment, Variant
from mydyno.spec.external import External
from mydyno.spec.factors import Factor, Level
from mydyno.spec.host import Host, HostKind, kernel_version
from mydyno.spec.limits import Limits
from mydyno.spec.load import load, loads
from mydyno.spec.load_shape import Arrival, Each, Think
from mydyno.spec.points import Points, PointsKind
from mydyno.spec.sampling import Sampling
from mydyno.spec.schema import json_schema
from mydyno.spec.server import Network, Server
from mydyno.spec.setup import Setup
from mydyno.spec.storage import FileSystem, Storage, Volume
from mydyno.spec.volume_values import Scheduler
from mydyno.spec.workload import Workload

__all__ = [
    "Arrival",
    "ConfigValue",
    "Design",
    "Device",
    "Disks",
    "Each",
    "Experiment",
    "External",
    "Factor",
    "FileSystem",
    "Host",
    "HostKind",
    "Level",
    "Limits",
    "Network",
    "Points",
    "PointsKind",
    "Position",
    "Problem",
    "Raid",
    "Sampling",
    "Scheduler",
    "Server",
    "Setup",
    "SpecErrors",
    "Storage",
    "Think",
    "Variant",
    "Volume",
    "Workload",
    "json_schema",
    "kernel_version",
    "load",
    "loads",
    "usable_bytes",
]
